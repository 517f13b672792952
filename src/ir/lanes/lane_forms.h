// Indices as one `parallel` sees them (internal to independence.cpp): forms over its counter, over values that are the
// same in every iteration, and over values of an iteration's own, with what is known of their sizes.
//
// A counter that is taken apart (i // n, i % n) becomes its digits: i = n * quotient + remainder with
// 0 <= remainder < n. Digits are atoms without a value in the function; their numbers lie above those of its values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/lanes/index_form.h"
#include "ir/program.h"

namespace frazil::ir {

// No run gets through this many iterations.
inline constexpr int ExecutedBits = 48;

// What holds where an access stands.
struct Knowledge {
  struct Bounds {
    IndexForm low, high;  // inclusive
  };
  std::map<uint32_t, Bounds>
      bounds;  // atoms of an iteration's own; later numbers may be bounded by earlier ones
  std::vector<IndexForm> facts;  // each is >= 0
  // Atoms that count turns of loops which run whole in every iteration, and the counter of the iterations: their product
  // is executed, hence small.
  std::vector<uint32_t> executed;
};

class LaneForms {
 public:
  LaneForms(const Function& function, const Inst& parallel);

  const IndexForm& Of(ValueId value);
  // An upper bound of a value that is no sum or product of its operands, such as a u32 product: it may have wrapped.
  IndexForm UpperOf(ValueId value);

  bool IsInside(ValueId value) const { return inside_[value.index]; }
  bool IsUniform(uint32_t atom) const { return atom < uniform_.size() && uniform_[atom]; }
  // Uniform is also the counter of a loop whose turns are phases: all iterations of a phase see the same.
  void MarkUniform(ValueId value) { uniform_[value.index] = true; }
  ValueId counter() const { return counter_; }

  struct Digit {
    uint32_t atom;
    std::optional<IndexForm> extent;  // 0 <= digit < extent, where that is known
  };
  // What the counter is made of, most significant last; only the counter itself where nothing takes it apart.
  const std::vector<Digit>& digits() const { return digits_; }

  // Width in bits of what an atom can be, as an unsigned number: 63 where nothing is known.
  int BitsOfAtom(uint32_t atom) const;
  // What a form can be as a whole number, that is without wrapping; cut off far outside of 64 bits. `executed` as in
  // Knowledge: of the loops around.
  struct Range {
    __int128 low, high;
  };
  using Atoms = std::vector<uint32_t>;
  Range RangeOf(const IndexForm& form, const Atoms& executed = {});
  // The value of 64 bits, read as signed, is at least, or at most, the whole number: that one does not lie above, or
  // below, all of them. A comparison says as much of whole numbers.
  bool IsNoLess(const IndexForm& form, const Atoms& executed = {}) {
    return RangeOf(form, executed).high <= INT64_MAX;
  }
  bool IsNoMore(const IndexForm& form, const Atoms& executed = {}) {
    return RangeOf(form, executed).low >= INT64_MIN;
  }
  // At most so many turns does a loop make.
  uint64_t MostTurns(const Inst& loop);
  bool IsNonNegative(uint32_t atom) const;
  // The function parameter that an atom is.
  std::optional<uint32_t> ParamOf(uint32_t atom) const;
  // Where the counter of a loop, or of a fold, starts and ends.
  IndexForm LowOf(const Inst& loop);
  ValueId EndOf(const Inst& loop) const;
  // v in [low, high) for the counter of a loop.
  Knowledge::Bounds BoundsOfLoop(const Inst& loop);

 private:
  struct Split {
    IndexForm divisor;
    uint32_t quotient, remainder;
  };
  struct Parts {
    IndexForm quotient, remainder;
  };
  IndexForm Make(ValueId value);
  IndexForm MakeCast(ValueId value, const Inst& inst);
  IndexForm Expand(const IndexForm& form) const;
  void MarkInside(RegionId region);
  void FindUniform(RegionId region, bool own_phases);
  void FindSplits(RegionId region);
  void AddSplit(const Inst& inst);
  std::optional<uint32_t> WholeOf(ValueId value) const;
  std::optional<Parts> Divide(uint32_t whole, const IndexForm& divisor, int depth);
  void FindDigits(uint32_t atom, const std::optional<IndexForm>& extent);
  Range RangeOfAtom(uint32_t atom);
  Range RangeOfProduct(const Atoms& product, Atoms executed);
  uint32_t AtomAbove(uint32_t atom);
  Range RangeOfCounter(const Inst& loop, Range type);

  const Function& function_;
  const Inst& parallel_;
  ValueId counter_;
  std::vector<bool> inside_;                       // by value
  std::vector<bool> uniform_;                      // by value
  std::unordered_map<uint32_t, Split> splits_;     // by atom
  std::unordered_map<uint32_t, IndexForm> taken_;  // by value: parts of the counter, over atoms
  uint32_t next_atom_;
  std::vector<Digit> digits_;
  static constexpr uint32_t MaxDepth = 100;
  FormTable forms_{MaxDepth};
  std::unordered_map<uint32_t, const Inst*> loops_;  // by counter
  std::unordered_map<uint32_t, Range> ranges_;       // by atom
};

// form / divisor, where that is exact.
std::optional<IndexForm> DivideExactly(const IndexForm& form, const IndexForm& divisor);

// Is the form >= 0 wherever the knowledge holds? Where parameters decide it, and conditions may be set, first <= second
// is added to them (numbers of parameters).
class SignProver {
 public:
  using Conditions = std::vector<std::pair<uint32_t, uint32_t>>;
  SignProver(const LaneForms& forms, const Knowledge& knowledge, Conditions* conditions = nullptr);
  bool IsNonNegative(const IndexForm& form) { return Prove(form, 10); }

 private:
  bool Prove(const IndexForm& form, int depth);
  bool IsPlain(const IndexForm& form) const;
  bool BySetting(const IndexForm& form, int depth);
  bool ByFact(const IndexForm& form, int depth);
  bool ByCondition(const IndexForm& form);

  const LaneForms& forms_;
  const Knowledge& knowledge_;
  Conditions* conditions_;
  std::map<uint32_t, int64_t> least_;  // constant lower bounds of atoms
  int steps_left_ = 2000;
};

}  // namespace frazil::ir
