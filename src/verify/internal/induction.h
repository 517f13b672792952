// What a `for` loop gives, without running it: loops whose turn is linear in what they carry and polynomial in the
// index. See ir/certificate.h for what a certificate may claim.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ir/program.h"
#include "verify/internal/ranges.h"
#include "verify/internal/terms.h"

namespace frazil::verify {

// A loop whose bounds and initial values are constants.
struct ConstantLoop {
  const ir::Function* function;
  const ir::Inst* inst;
  // The constant of a value from outside the body, if it has one.
  std::function<std::optional<std::vector<uint64_t>>(ir::ValueId)> constant;
};
struct LoopFinals {
  std::vector<std::vector<uint64_t>> results;  // words, by result
};
// Nothing (and why) if the body does something else, or if a turn might trap. Otherwise the loop has no effect, no turn
// traps, and these are its results.
std::optional<LoopFinals> FinalsOf(const ConstantLoop& loop, std::string& why);

// A loop whose bounds are values: step 1, one carried value acc + f(i), wrapping integers or a field.
struct SymbolicLoop {
  const Terms* terms;
  const Ranges* ranges;
  ir::Type index_type;
  TermId low, high, index;
  TermId init, carried, yield;  // of the one carried value
  TermId closed;                // what is claimed
};
// Whether `closed` is what the loop gives, for every value of every leaf. The caller has seen that the body has no
// effect and cannot trap.
bool ClosedFormHolds(const SymbolicLoop& loop, std::string& why);

}  // namespace frazil::verify
