#!/usr/bin/env bash
# oracle.sh PROGRAM [quick|release]: builds tools/oracle, the published Triton VM behind a line protocol, with the
# cargo of this machine, and puts the result at PROGRAM. All presets share one build, in .cache/tools-oracle.
#
# quick, which tests use, takes two minutes and proves eight times slower than release, which takes ten; a machine
# that has a release build keeps it.
set -euo pipefail
cd "$(dirname "$0")/.."
program=$1
profile=${2:-quick}
if [[ -x ${FRAZIL_CACHE_DIR:-.cache}/tools-oracle/target/release/frazil-oracle ]]; then profile=release; fi
exec scripts/cargo.sh tools/oracle "$profile" frazil-oracle "$program"
