#!/usr/bin/env bash
# Builds the Rust peers of the benchmarks (bench/peers/rust) into build/bench/peers. The machine is built as its
# authors publish it, which takes ten minutes, once.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PATH:${CARGO_HOME:-$HOME/.cargo}/bin
if ! command -v cargo >/dev/null; then
  echo "peers: cargo is missing, so the Rust peers are left out" >&2
  exit 4
fi
echo "building the Rust peers (ten minutes, once)"
RUSTFLAGS="-C target-cpu=native" scripts/cargo.sh bench/peers/rust/field release libfrazil_peer_field.so \
  build/bench/peers/libfrazil_peer_field.so
scripts/cargo.sh bench/peers/rust/machine release libfrazil_peer_machine.so build/bench/peers/libfrazil_peer_machine.so
