#!/bin/sh
# Makes the folder that a machine with an NVIDIA GPU needs: the runner, its library, PTX of every test program that the cuda
# target takes, of random programs, of the digest programs and of the benchmarks.
#
#   scripts/gpu_bundle.sh BUILD OUT          then, on that machine:  OUT/frazil-gpu OUT programs kernels judge executor
#                                            random sweep measure
#   BUILD/bin/frazil-gpu-bundle OUT --digests     adds the CPU's digests of all 2^32 inputs (minutes)
set -eu
build=$1
out=$2
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$out"
cp "$build/bin/frazil-gpu" "$out/"
# The runner finds it beside itself.
cp -L "$(ldd "$build/bin/frazil-gpu" | awk '/libfmt/ { print $3 }')" "$out/"
"$build/bin/frazil-gpu-bundle" "$out" --programs "$root/tests/programs" --kernels "$root/stdlib/kernels" --random "${RANDOM_PROGRAMS:-400}" --sweeps --benches
