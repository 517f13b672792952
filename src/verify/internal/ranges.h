// Intervals of integer terms, as far as they follow from types, constants, casts and what is known of leaves.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>

#include "verify/internal/big_int.h"
#include "verify/internal/terms.h"

namespace frazil::verify {

struct Interval {
  BigInt low, high;
};

class Ranges {
 public:
  explicit Ranges(const Terms& terms) : terms_(terms) {}
  // What is known of a leaf beyond its type.
  void Know(TermId leaf, Interval interval);
  // Tells whether an op has run with these operands without a trap wherever a range is asked for. A term is also there where
  // it has not run, and then nothing is known of what a trap would have given; without this nothing has.
  void TellRuns(std::function<bool(const Terms::Node&)> has_run) { has_run_ = std::move(has_run); }
  // Integers and bool; nothing for others.
  std::optional<Interval> Of(TermId term, int depth = 8) const;
  // Whether the op can trap with these operands; false only if it cannot.
  bool MayTrap(ir::Op op, ir::Type type, std::span<const TermId> operands) const;

 private:
  std::optional<Interval> OfNode(const Terms::Node& node, int depth) const;
  const Terms& terms_;
  std::unordered_map<TermId, Interval> known_;
  std::function<bool(const Terms::Node&)> has_run_;
};

// Every value of an integer type or bool.
std::optional<Interval> IntervalOf(ir::Type type);
bool Within(const Interval& inner, const Interval& outer);
// The exact result of add, sub, mul, neg, abs, min or max on intervals.
std::optional<Interval> ExactInterval(ir::Op op, const Interval& a, const Interval* b);

}  // namespace frazil::verify
