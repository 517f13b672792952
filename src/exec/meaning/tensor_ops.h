// Tensor ops on tensor values, element by element in logical order: what the interpreter calls for
// each tensor instruction. Results are made by the caller, with their sizes; every size fits by
// then.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "exec/value.h"
#include "ir/op.h"

namespace frazil::exec {

// A buffer (no dims) or a tensor, as values of a running program.
struct Object {
  std::shared_ptr<Memory> memory;
  std::vector<int64_t> dims;
};

using Dims = std::span<const int64_t>;

// How far apart neighbors along each axis lie.
std::vector<int64_t> StridesOf(Dims dims);

// Element `at` of the result is element start + sum(at[i] * strides[i]): transpose, broadcast,
// slice.
void CopyStrided(const Object& from, int64_t start, std::span<const int64_t> strides, Object& to);
void Fill(std::span<const uint64_t> words, Object& to);
void Iota(size_t axis, Object& to);
void Concat(std::span<const Object* const> parts, size_t axis, Object& to);
// Traps where a pick lies outside of the axis.
std::optional<ir::Trap> Gather(const Object& from, const Object& picks, size_t axis, Object& to);

struct ReduceSpec {
  ir::ReduceKind kind;
  size_t axis;
  int64_t chains;
  int64_t block;
};
void Reduce(const Object& from, const ReduceSpec& spec, Object& to);

// `expired` is asked now and then; true ends it early, with false for an answer.
bool Matmul(const Object& a, const Object& b, bool fast, const std::function<bool()>& expired,
            Object& to);

}  // namespace frazil::exec
