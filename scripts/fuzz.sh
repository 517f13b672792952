#!/usr/bin/env bash
# Runs every fuzz target under libFuzzer for FUZZ_SECONDS each (default 60), then FUZZ_PROGRAMS random
# programs (default 100000) on all engines from a fresh seed, FUZZ_TENSOR_PROGRAMS random graphs of tensor ops (default
# 1000000) fused and unfused and, one in 500, as native code, then 190,000 mutants before the judges of meaning
# (tests/judges). New inputs are kept in build/fuzz/corpus; a crash is written to build/fuzz/crashes and ends the run with
# exit code 1, and so does a mismatch or a judge that was fooled.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${FUZZ_SECONDS:-60}

scripts/build.sh fuzz fuzzers
mkdir -p build/fuzz/crashes
shopt -s nullglob
programs=(build/fuzz/bin/fuzz_*)
if ((${#programs[@]} == 0)); then
  echo "fuzz: there is no fuzz target yet (tests/fuzz)." >&2
  exit 1
fi
number=0
for program in "${programs[@]}"; do
  name=${program##*/fuzz_}
  number=$((number + 1))
  found=build/fuzz/corpus/$name
  mkdir -p "$found"
  folders=("$found")
  if [[ -d tests/fuzz/corpus/$name ]]; then folders+=("tests/fuzz/corpus/$name"); fi
  if [[ $name == frz ]]; then folders+=(tests/programs); fi
  if [[ $name == judges_* ]]; then folders+=(tests/fuzz/corpus/judges); fi
  echo "== [$number/${#programs[@]}] $name for $seconds s"
  if ! "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/crashes/$name-" "${folders[@]}" 2>"build/fuzz/$name.log"; then
    tail -40 "build/fuzz/$name.log" >&2
    echo "fuzz: $name found an input that breaks it; it is in build/fuzz/crashes." >&2
    exit 1
  fi
  grep -E 'number_of_executed_units|peak_rss_mb' "build/fuzz/$name.log" || true
done

seed=${FUZZ_SEED:-$(date +%s)}
count=${FUZZ_PROGRAMS:-100000}
scripts/build.sh release differential judges
for target in batch,reprinted,canonical,lowered wasm c-gcc c-clang; do
  echo "== $count random programs from seed $seed: $target"
  build/release/bin/differential --count "$count" --seed "$seed" --targets "$target" --out build/fuzz/mismatches
done
tensors=${FUZZ_TENSOR_PROGRAMS:-1000000}
echo "== $tensors random graphs of tensor ops from seed $seed: fused, unfused, native"
build/release/bin/differential --tensors 1 --count "$tensors" --seed "$seed" --tuples 2 --size 10 --every 500 \
  --targets fused,offered,native-fused --out build/fuzz/mismatches
echo "== the judges of meaning under attack from seed $seed"
build/release/bin/judges --seed "$seed" --jobs "${JOBS:-2}"
echo "fuzz: ${#programs[@]} targets without a crash, $count random programs without a mismatch"
