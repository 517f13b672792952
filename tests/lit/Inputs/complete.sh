#!/usr/bin/env bash
# complete.sh SCRIPT: what the completion in SCRIPT offers for each line of standard input, whose last word is under the cursor
# (a trailing blank: a word not begun).
source "$1"
while IFS= read -r line; do
  read -ra COMP_WORDS <<<"frazil $line"
  if [[ $line == *" " ]]; then COMP_WORDS+=(""); fi
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  _frazil
  echo "$line: ${COMPREPLY[*]}"
done
