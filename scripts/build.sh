#!/usr/bin/env bash
# build.sh PRESET [TARGET...]: sets the machine up if needed, configures the preset once, builds.
# Ninja runs CMake again by itself when a CMake file changes or a source file comes or goes.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
folder=build/$preset

scripts/setup.sh
mkdir -p "$folder"
if [[ ! -f $folder/build.ninja || CMakePresets.json -nt $folder/build.ninja ]]; then
  echo "configuring $preset"
  if ! cmake --preset "$preset" >"$folder/configure.log" 2>&1; then
    cat "$folder/configure.log" >&2
    echo "build: the preset $preset could not be configured (the reason stands above)." >&2
    exit 1
  fi
  touch "$folder/build.ninja"
fi
NINJA_STATUS="[$preset %f/%t] " ninja -C "$folder" -j "${JOBS:-$(nproc)}" "$@"
