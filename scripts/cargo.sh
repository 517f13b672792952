#!/usr/bin/env bash
# cargo.sh CRATE PROFILE ARTIFACT OUTPUT: builds a crate of this project in .cache/<its path>, with exactly the
# versions of its Cargo.lock.in, and copies the artifact to OUTPUT.
#
# Cargo.lock.in is cargo's lock file with the registry's name left open: cargo says what it calls its registry.
set -euo pipefail
cd "$(dirname "$0")/.."
crate=$1 profile=$2 artifact=$3 output=$4
name=${crate//\//-}
folder=${FRAZIL_CACHE_DIR:-$PWD/.cache}/$name

fail() {
  echo "$name: $*" >&2
  exit 4
}

PATH=$PATH:${CARGO_HOME:-$HOME/.cargo}/bin
command -v cargo >/dev/null || fail "cargo is missing; scripts/setup.sh installs it where the machine offers it."

mkdir -p "$folder/src"
exec 9>"$folder/lock"
flock 9  # two presets may be built at the same time
# cargo goes by the times of files: what has not changed keeps its own.
cp -pu "$crate/Cargo.toml" "$folder/"
cp -pu "$crate"/src/*.rs "$folder/src/"

python3 - "$crate/Cargo.lock.in" "$folder" <<'PYTHON' || fail "cargo's lock file could not be written."
import json, pathlib, subprocess, sys
pinned, folder = pathlib.Path(sys.argv[1]).read_text(), pathlib.Path(sys.argv[2])
told = subprocess.run(["cargo", "metadata", "--no-deps", "--offline", "--format-version", "1"],
                      cwd=folder, capture_output=True, text=True, check=True).stdout
registry = json.loads(told)["packages"][0]["dependencies"][0]["source"]
filled, lock = pinned.replace("@registry@", registry), folder / "Cargo.lock"
if not lock.exists() or lock.read_text() != filled:
    lock.write_text(filled)
PYTHON

export CARGO_TARGET_DIR=$folder/target FRAZIL_BUILD_PROFILE=$profile
if ! (cd "$folder" && cargo build --profile "$profile" --locked --quiet --jobs "${JOBS:-$(nproc)}") 2>"$folder/build.log"; then
  cat "$folder/build.log" >&2
  if grep -qiE 'could not resolve|failed to (download|fetch|get)|network|spurious' "$folder/build.log"; then
    fail "cargo could not download the pinned packages: is there a network? (details: $folder/build.log)"
  fi
  fail "the crate could not be built; Rust 1.89 or newer is needed (details: $folder/build.log)."
fi
mkdir -p "$(dirname "$output")"
cp "$CARGO_TARGET_DIR/$profile/$artifact" "$output.part"
mv "$output.part" "$output"
