// Which floats have to be made the one quiet NaN, and where (decision 0003): a machine's arithmetic may give a NaN of any
// bits, and it matters only once something moves these bits.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "ir/facts/liveness.h"

namespace frazil::ir {

struct NanFacts {
  std::vector<bool> canonical;  // by value, moved somewhere: must be the one NaN if it is a NaN
  std::vector<bool> lazy;  // by value: result of a loop whose carried value may be any NaN inside
};

// Does the instruction hand on the bits of this operand?
bool Moves(const Inst& inst, uint32_t operand);

// Is a word of f32 or f64 a number, or an infinity?
bool IsNumber(Type type, uint64_t word);

// `is_arithmetic`: arithmetic makes it, so it may be a NaN of any bits. `is_plain`: a constant that making canonical
// would not change.
NanFacts FindNans(const LivenessQuestion& question, const Liveness& liveness,
                  const std::function<bool(ValueId)>& is_arithmetic,
                  const std::function<bool(ValueId)>& is_plain);

}  // namespace frazil::ir
