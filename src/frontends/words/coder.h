// Arithmetic that knows its ranges. The lowering runs twice over the same code: first measuring,
// where every operation only says between which bounds its result lies, then emitting, in the one
// type that holds all of them. So no intermediate result can be forgotten, and nothing ever wraps.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "frontends/words/big.h"
#include "ir/builder.h"

namespace frazil::frontends::words {

// A whole number at run time, lo <= value <= hi.
struct Val {
  Big lo, hi;
  ir::ValueId id = {};    // invalid: a constant that is emitted where it is used, or measuring
  int64_t literal = -1;   // the number node it comes from
  bool constant = false;  // of our own making: emitted where it is used
  // No operation stands behind it. (Whether `id` is valid differs between the two passes; decisions
  // must not.)
  bool written() const { return constant || literal >= 0; }
  bool point() const { return lo == hi; }
  bool is(int64_t value) const { return point() && lo == Big(value); }
};

// A yes or no at run time; `known` where the ranges decide it.
struct Truth {
  ir::ValueId id;
  std::optional<bool> known;
};

enum class Overflow : uint8_t {
  Never,    // the ranges prove it
  Checked,  // nothing bounds the value: trap rather than wrap
};

class Coder {
 public:
  Coder() = default;  // measuring
  // Emitting, with what a measuring coder found.
  Coder(const Coder& measured, ir::FunctionBuilder& builder)
      : builder_(&builder), type_(measured.type()), used_(measured.used_) {}

  // The narrowest of i32, i64 and int<k> for all that was measured.
  ir::Type type() const;
  bool too_wide() const { return too_wide_; }
  void NeedBits(uint32_t bits) { bits_ = std::max(bits_, bits); }

  Val Const(const Big& value) { return {value, value, {}, -1, true}; }
  Val Literal(const Big& value, uint32_t node);
  // The same, with its constant emitted here: for values that are used several times.
  Val Hold(Val value);
  static Val Between(const Big& lo, const Big& hi) { return {lo, hi, {}, -1}; }  // only a range

  Val Add(const Val& a, const Val& b);
  Val Subtract(const Val& a, const Val& b);
  Val Multiply(const Val& a, const Val& b);
  Val Divide(const Val& a, const Val& b);     // towards zero
  Val Remainder(const Val& a, const Val& b);  // with the dividend's sign
  Val Negate(const Val& a);
  Val Absolute(const Val& a);
  Val Minimum(const Val& a, const Val& b);
  Val Maximum(const Val& a, const Val& b);
  Val Select(const Truth& condition, const Val& a, const Val& b);
  // The results of operations whose bounds only the caller knows.
  Val AddWithin(const Val& a, const Val& b, const Val& range, Overflow overflow = Overflow::Never);
  Val MultiplyWithin(const Val& a, const Val& b, const Val& range,
                     Overflow overflow = Overflow::Never);

  Truth Compare(ir::Op op, const Val& a, const Val& b);
  Truth Both(const Truth& a, const Truth& b);
  Truth Constant(bool value);

  using Vals = std::vector<Val>;
  enum class Counter : uint8_t { Used, Unused };
  // from <= i < to. Carried values keep within the ranges of `carried` (whose ids are not used); so
  // do the results.
  Vals For(const Val& from, const Val& to, int64_t step, const Vals& inits, const Vals& carried,
           Counter counter_use, const std::function<Vals(const Val& i, const Vals&)>& body);
  Vals While(const Vals& inits, const Vals& carried, const std::function<Truth(const Vals&)>& test,
             const std::function<Vals(const Vals&)>& body);
  Val If(const Truth& condition, const Val& range, const std::function<Val()>& then_body,
         const std::function<Val()>& else_body);

  ir::ValueId Id(const Val& value);
  ir::ValueId Id(const Truth& truth) const { return truth.id; }

 private:
  bool emitting() const { return builder_ != nullptr; }
  void Note(const Big& lo, const Big& hi);
  Val Emit(ir::Op plain, ir::Op checked, const Val& a, const Val* b, const Big& lo, const Big& hi,
           Overflow overflow = Overflow::Never);
  ir::ValueId ConstantOf(ir::Type type, const Big& value);
  ir::ValueId Bound(const Val& value, ir::Type counter);
  Vals Carried(const Vals& ranges, std::span<const ir::ValueId> ids) const;
  ir::Values Ids(const Vals& values);

  ir::FunctionBuilder* builder_ = nullptr;
  ir::Type type_ = ir::types::I32;
  uint32_t bits_ = 1;
  bool too_wide_ = false;
  std::vector<bool> used_;  // number nodes whose constant is an operand of something
};

}  // namespace frazil::frontends::words
