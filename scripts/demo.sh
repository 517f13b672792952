#!/usr/bin/env bash
# The product in a few minutes: a sentence answered, one program through every stage, the same bits on every target, a
# program that sets, a store that is tampered with, a Python kernel that becomes a C++ function, a circuit, a program
# that is proved. Each line that starts with `$` is a command you can type yourself.
set -euo pipefail
cd "$(dirname "$0")/.."
frazil=build/release/bin/frazil
if [[ ! -x $frazil ]]; then
  echo "demo: $frazil is not there; run 'make' first." >&2
  exit 4
fi
if [[ -t 1 ]]; then bold=$'\e[1m' plain=$'\e[0m'; else bold="" plain=""; fi

title() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
show() { # show ARGUMENTS: prints the command as a person would type it, then runs it
  local word line="frazil"
  for word in "$@"; do
    if [[ $word == *[!A-Za-z0-9_./=-]* ]]; then line+=" \"$word\""; else line+=" $word"; fi
  done
  echo "\$ $line"
  "$frazil" "$@"
  echo
}

title "1. A sentence becomes a program, is run as WASM, and is answered"
show ask "Sum 1 to 1000000"

title "2. One small program, stage by stage"
for stage in ir canonical wat c; do
  show emit examples/muladd.frz --to "$stage"
done

title "3. The same program, the same bits, on every target"
answers=()
for target in interp isa wasm c native; do
  show run examples/logistic.frz 3.9 0.5 1000 --target "$target"
  answers+=("$("$frazil" run examples/logistic.frz 3.9 0.5 1000 --target "$target")")
done
for answer in "${answers[@]}"; do
  if [[ $answer != "${answers[0]}" ]]; then
    echo "demo: the targets disagree: ${answers[*]}" >&2
    exit 70
  fi
done

title "4. Which door reaches which target"
show matrix

title "5. A program called in a loop sets: interpreted, observed, compiled in another process, verified, admitted"
store=$(mktemp -d)
trap 'rm -rf "$store"' EXIT
export FRAZIL_STORE=$store/store
show loop examples/horner.frz --calls 200000

title "6. The next process starts solid, from the store"
show loop examples/horner.frz --calls 1000
show why examples/horner.frz

title "7. A store with flipped bits, and one that was forged: slower, never wrong"
cp -r "$FRAZIL_STORE" "$store/good"
for deed in corrupt forge; do
  rm -rf "$FRAZIL_STORE" && cp -r "$store/good" "$FRAZIL_STORE"
  echo "\$ python3 scripts/plant.py \$FRAZIL_STORE $deed"
  python3 scripts/plant.py "$FRAZIL_STORE" "$deed"
  show loop examples/horner.frz --calls 4 --no-compile
done

title "8. Do two programs mean the same?"
show verify examples/average.frz examples/average_again.frz
show verify examples/average.frz examples/average_wrong.frz || true  # refuted: exit code 2

title "9. A Python kernel, run at once: portable instructions on the tile interpreter, no compiler"
echo "\$ cat examples/kernels/saxpy.py"
cat examples/kernels/saxpy.py
echo
show kernel run examples/kernels/saxpy.py --bind "a=2,x=iota:1000000,y=ones:1000000"
show emit examples/kernels/saxpy.py --to isa

title "10. The same kernel ahead of time: a C++ function with its machine code, verified, linked without any compiler"
out=$store/kernels
show build examples/kernels/saxpy.py examples/kernels/mandelbrot.py --embed "$out" --name my_ops
cat >"$out/main.cpp" <<'CPP'
#include <cstdio>
#include <vector>

#include "my_ops.hpp"

int main() {
  std::vector<float> x(8, 1.0f), y(8, 2.0f);
  if (!my_ops::saxpy(2.0f, x, y)) return 1;  // n is the common length
  std::vector<unsigned> picture(78 * 66);
  if (!my_ops::mandelbrot(picture, 78, 66, -2.1f, -1.2f, 0.036f, 64)) return 1;
  std::printf("y[0] = %g\n", y[0]);
  for (int row = 0; row < 66; row += 3) {
    for (int column = 0; column < 78; ++column) std::putchar(" .:-=+*#%@"[picture[row * 78 + column] * 9 / 64]);
    std::putchar('\n');
  }
}
CPP
echo "\$ cat main.cpp"
cat "$out/main.cpp"
clang++-22 -std=c++20 -O2 -Isrc -I"$out" "$out/main.cpp" "$out/my_ops.cpp" build/release/libfrazil_embed.a \
  build/release/libfrazil_base.a -lfmt -lpthread -o "$out/main"
echo "\$ ./main"
"$out/main"

title "11. A circuit, its normal form, and a kernel as a circuit"
echo "\$ cat examples/chain.cir"
cat examples/chain.cir
show emit examples/chain.cir --to circuit
show emit stdlib/kernels/activation/sigmoid.py --to circuit

title "12. What lanes do to each other"
show kernel run examples/kernels/racy.py --bind x=ones:8 --sanitize || true  # exit code 1: a race is found

title "13. A program over a field: run on Triton VM and as native code, its proof's cost explained"
echo "\$ cat examples/trident/fibonacci.tri"
cat examples/trident/fibonacci.tri
echo
show tri run examples/trident/fibonacci.tri --input 90
show tri run examples/trident/fibonacci.tri --input 90 --target native
show tri build examples/trident/fibonacci.tri --input 90 --explain-cliff
show tri profile examples/trident/merkle_membership.tri
show verify examples/tasm/double.tasm examples/tasm/double_again.tasm
show verify examples/tasm/double.tasm examples/tasm/double_wrong.tasm || true  # refuted: exit code 2

title "14. A STARK proof of it, and of a sentence"
if [[ ! -x build/release/bin/frazil-oracle ]]; then
  echo "(left out: the published Triton VM could not be built here; it needs Rust's cargo)"
  exit 0
fi
show tri prove examples/trident/fibonacci.tri --input 10 -o "$store/fib.proof"
show tri verify-proof "$store/fib.proof" --program examples/trident/fibonacci.tri
show ask "Sum 1 to 100" --target tasm
