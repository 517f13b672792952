#!/usr/bin/env bash
# clang-tidy with the list of .clang-tidy over src and tools. Slow, so it is a command and not a test.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v clang-tidy-22 >/dev/null; then
  echo "tidy: clang-tidy-22 is missing; install the package of that name." >&2
  exit 4
fi
scripts/build.sh release product
git ls-files -z 'src/*.cpp' 'tools/*.cpp' |
  xargs -0 -n 1 -P "${JOBS:-$(nproc)}" clang-tidy-22 --quiet -p build/release
