#!/usr/bin/env bash
# The product in a minute: a sentence answered, one program through every stage, the same bits on every
# target. Each line that starts with `$` is a command you can type yourself.
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
for target in interp wasm c; do
  show run examples/logistic.frz 3.9 0.5 1000 --target "$target"
  answers+=("$("$frazil" run examples/logistic.frz 3.9 0.5 1000 --target "$target")")
done
if [[ ${answers[0]} != "${answers[1]}" || ${answers[0]} != "${answers[2]}" ]]; then
  echo "demo: the targets disagree: ${answers[*]}" >&2
  exit 70
fi

title "4. Which door reaches which target"
show matrix
