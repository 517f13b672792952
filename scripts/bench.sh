#!/usr/bin/env bash
# Builds and runs the benchmarks, alone on the machine as far as it can tell: one table on stdout and
# build/bench/results.json, each row with commit, date and machine. Arguments go to the program, which then measures only
# figures whose names contain one of them.
set -euo pipefail
cd "$(dirname "$0")/.."

# The load before our own build.
load=$(cut -d ' ' -f 1 /proc/loadavg)
scripts/build.sh release product frazil_bench kernel_usage
mkdir -p build/bench
if [[ ! -f build/bench/peers/libfrazil_peer_machine.so ]]; then
  scripts/peers.sh || echo "bench: without the Rust peers some figures stand alone" >&2
fi
if awk -v load="$load" 'BEGIN { exit !(load > 0.5) }'; then
  echo "bench: the machine is busy (load $load); the figures will be worse than they could be" >&2
fi
rm -f build/bench/*.json
build/release/bin/frazil_bench "$@"

# What the judge sees of the standard kernels and how long it takes; one at a time, so that the times are theirs.
if (($# == 0)); then
  build/release/bin/frazil audit build/release/bin/kernel_usage --jobs 1 --json >build/bench/judge.json
fi

# Field programs: heights against the frozen template lowering, and, with CORPUS=dir, code against hand-written code.
python3 bench/corpus/heights.py --frazil build/release/bin/frazil --json build/bench/heights.json
if [[ -n ${CORPUS:-} ]]; then
  python3 bench/corpus/compare.py --frazil build/release/bin/frazil --corpus "$CORPUS" --json build/bench/corpus.json
fi
python3 bench/rows.py collect build/bench
echo "bench: bench/rows.py record build/bench/results.json$( (($# == 0)) && echo " --whole") keeps these rows, bench/rows.py render puts them into docs/benchmarks.md"
