#!/usr/bin/env bash
# The product in a minute: a sentence answered, one program through every stage, the same bits on every
# target, a program that sets, and a store that is tampered with. Each line that starts with `$` is a command you can type yourself.
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
for target in interp wasm c native; do
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
show loop examples/saxpy.frz --calls 20000

title "6. The next process starts solid, from the store"
show loop examples/saxpy.frz --calls 1000
show why examples/saxpy.frz

title "7. A store with flipped bits, and one that was forged: slower, never wrong"
cp -r "$FRAZIL_STORE" "$store/good"
for deed in corrupt forge; do
  rm -rf "$FRAZIL_STORE" && cp -r "$store/good" "$FRAZIL_STORE"
  echo "\$ python3 scripts/plant.py \$FRAZIL_STORE $deed"
  python3 scripts/plant.py "$FRAZIL_STORE" "$deed"
  show loop examples/saxpy.frz --calls 4 --no-compile
done

title "8. Do two programs mean the same?"
show verify examples/average.frz examples/average_again.frz
show verify examples/average.frz examples/average_wrong.frz || true  # refuted: exit code 2
