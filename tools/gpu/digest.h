// The digest of a unary f32 function: for every 2^20 inputs, in the order of their bits, one 64-bit sum of
//   mix(bits of x << 32 | bits of f(x))        mix: the finalizer of splitmix64
// Sums may be made in any order. The program that computes them is IR, so that every target runs the same one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/program.h"

namespace frazil::gpu {

constexpr uint64_t InputsPerChunk = 1024;  // one sum of the program
constexpr uint64_t InputsPerDigest = 1 << 20;
constexpr uint64_t DigestCount = (uint64_t{1} << 32) / InputsPerDigest;
constexpr uint64_t ChunksPerDigest = InputsPerDigest / InputsPerChunk;

struct UnaryFunction {
  std::string name;  // "exp", "cast.i32"
  ir::Op op;
  ir::Type result;  // f32, or what a cast gives
};

// Every unary function of f32: arithmetic, prelude, conversions.
std::vector<UnaryFunction> UnaryFunctions();

// (first chunk: index, chunks: index, out: buffer<u64>): out[t] is the sum of chunk first + t.
ir::Program DigestProgram(const UnaryFunction& function);

// Sums of chunks to digests.
std::vector<uint64_t> FoldChunks(std::span<const uint64_t> chunks);

}  // namespace frazil::gpu
