#!/usr/bin/env bash
# oracle.sh PROGRAM: builds tools/oracle, the published Triton VM behind a line protocol, with the cargo of
# this machine, and puts the result at PROGRAM. All presets share one build, in .cache/oracle.
set -euo pipefail
cd "$(dirname "$0")/.."
program=$1
cache=${FRAZIL_CACHE_DIR:-$PWD/.cache}
folder=$cache/oracle

fail() {
  echo "oracle: $*" >&2
  exit 4
}

PATH=$PATH:${CARGO_HOME:-$HOME/.cargo}/bin
command -v cargo >/dev/null || fail "cargo is missing; scripts/setup.sh installs it where the machine offers it."

mkdir -p "$folder/src"
exec 9>"$folder/lock"
flock 9  # two presets may be built at the same time
# cargo goes by the times of files: what has not changed keeps its own.
cp -pu tools/oracle/Cargo.toml "$folder/"
cp -pu tools/oracle/src/*.rs "$folder/src/"

# The pinned versions, with the name that this machine's cargo has for its registry.
python3 - tools/oracle/Cargo.lock.in "$folder" <<'PYTHON' || fail "cargo's lock file could not be written."
import json, pathlib, subprocess, sys
pinned, folder = pathlib.Path(sys.argv[1]).read_text(), pathlib.Path(sys.argv[2])
told = subprocess.run(["cargo", "metadata", "--no-deps", "--offline", "--format-version", "1"],
                      cwd=folder, capture_output=True, text=True, check=True).stdout
registry = json.loads(told)["packages"][0]["dependencies"][0]["source"]
filled, lock = pinned.replace("@registry@", registry), folder / "Cargo.lock"
if not lock.exists() or lock.read_text() != filled:
    lock.write_text(filled)
PYTHON

# Without this LLVM pass: it takes minutes over the generated constraint code, whose functions are one block of
# a hundred thousand instructions, and brings nothing there.
export RUSTFLAGS="-C llvm-args=-disable-cgp"
export CARGO_TARGET_DIR=$folder/target
if ! (cd "$folder" && cargo build --release --locked --quiet --jobs "${JOBS:-$(nproc)}") 2>"$folder/build.log"; then
  cat "$folder/build.log" >&2
  if grep -qiE 'could not resolve|failed to (download|fetch|get)|network|spurious' "$folder/build.log"; then
    fail "cargo could not download the pinned packages: is there a network? (details: $folder/build.log)"
  fi
  fail "the oracle could not be built; Rust 1.89 or newer is needed (details: $folder/build.log)."
fi
mkdir -p "$(dirname "$program")"
cp "$CARGO_TARGET_DIR/release/frazil-oracle" "$program.part"
mv "$program.part" "$program"
