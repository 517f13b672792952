// What the loops and branches around a place say: inside a loop from 0 to n, n is above 0.
#include <algorithm>
#include <memory>

#include "targets/llvm/facts.h"
#include "targets/llvm/order_facts.h"

namespace frazil::targets {
namespace {

using namespace ir::names;

constexpr int MostDeep = 6;  // orders, or instructions

bool IsDivision(Op op) {
  return op == Op::DivTrunc || op == Op::DivFloor || op == Op::RemTrunc || op == Op::RemFloor ||
         op == Op::DivChecked || op == Op::RemChecked;
}

// low < high, or <= where it is not strict.
struct Order {
  ValueId low, high;
  bool strict;
};

class Context {
 public:
  // `place` is an instruction: what stands around it, and before it. Inside of a loop in lanes no branch and no check says
  // anything: both arms run, and lanes are loaded that will not be wanted.
  Context(const Function& function, const FunctionFacts& facts, ir::InstId place, ir::InstId lanes)
      : function_(function), facts_(facts) {
    bool in_lanes = lanes.valid();
    for (ir::RegionId region = facts.region[place.index]; region.valid();) {
      if (!in_lanes) TakeChecks(region, place);
      const ir::InstId owner = facts.owner[region.index];
      if (!owner.valid()) break;
      const Inst& inst = function.inst(owner);
      if (inst.op == Op::For || inst.op == Op::Parallel) {
        const ValueId counter = Function::param_of(function.region(region), 0);
        const bool goes_up = inst.op == Op::Parallel || function.word(inst, 0) > 0;
        AddOrder(function.operand(inst, 0), function.operand(inst, 1), true);
        AddOrder(counter, function.operand(inst, 1), true);
        if (goes_up) AddOrder(function.operand(inst, 0), counter, false);
      }
      if (inst.op == Op::If && !in_lanes)
        Take(function.operand(inst, 0), region == Function::region_of(inst, 0));
      in_lanes = in_lanes && owner != lanes;
      region = facts.region[owner.index];
      place = owner;
    }
  }

  bool IsLess(ValueId a, ValueId b, bool strict, int depth = MostDeep) const {
    if (depth < 0) return false;
    __int128 most = facts_.ranges->Int(a).high, least = facts_.ranges->Int(b).low;
    for (const Order& order : orders_) {
      const bool is_low = IsSame(function_, a, order.low);
      const bool is_high = IsSame(function_, b, order.high);
      if (is_low && is_high && (order.strict || !strict)) return true;
      const int distance = order.strict ? 1 : 0;
      if (is_low) most = std::min(most, facts_.ranges->Int(order.high).high - distance);
      if (is_high) least = std::max(least, facts_.ranges->Int(order.low).low + distance);
    }
    if (strict ? most < least : most <= least) return true;
    if (depth == 0) return false;
    for (const Order& order : orders_)
      if (IsSame(function_, a, order.low) && !IsSame(function_, b, order.high) &&
          IsLess(order.high, b, strict && !order.strict, depth - 2))
        return true;
    // Below the lesser of two if below both; x - y is above 0 if y is below x and nothing wraps.
    const ir::InstId def = function_.values[b.index].def;
    if (!def.valid()) return false;
    const Inst& inst = function_.inst(def);
    auto operand = [&](uint32_t i) { return function_.operand(inst, i); };
    if (inst.op == Op::Min)
      return IsLess(a, operand(0), strict, depth - 1) && IsLess(a, operand(1), strict, depth - 1);
    if (inst.op != Op::Sub || facts_.ranges->Int(a).high > 0 || !IsWhole(operand(0), operand(1)))
      return false;
    return IsLess(operand(1), operand(0), strict, depth - 1);
  }

  // Not below 0, and below the length of a buffer, which is not negative itself.
  bool IsBelowLength(ValueId index, ValueId length) const {
    if (facts_.ranges->Int(index).low >= 0 && IsLess(index, length, /*strict=*/true)) return true;
    OrderFacts& sums = Sums();
    sums.AddNotNegative(length);
    return sums.IsNotNegative(index) && sums.IsLess(index, length, /*strict=*/true);
  }

  // From 0 to below the value, of which nothing else is known.
  bool IsBelow(ValueId index, ValueId value) const {
    const bool is_from_0 = facts_.ranges->Int(index).low >= 0 || Sums().IsNotNegative(index);
    return is_from_0 && IsSurelyLess(index, value, /*strict=*/true);
  }

  // Does that follow in one way or the other?
  bool IsSurelyLess(ValueId a, ValueId b, bool strict) const {
    return IsLess(a, b, strict) || Sums().IsLess(a, b, strict);
  }

  bool IsShort(ValueId value) const {
    constexpr int64_t Most = (int64_t{1} << 62) - 1;
    return Sums().IsNotNegative(value) && Sums().IsAtMost(value, Most);
  }

  bool IsNotZero(ValueId value) const {
    const IntRange range = facts_.ranges->Int(value);
    if (range.low > 0 || range.high < 0) return true;
    if (const Inst* const either = DefinitionOf(value, Op::Or);
        either != nullptr && IsInt(value) &&
        (IsNotZero(function_.operand(*either, 0)) || IsNotZero(function_.operand(*either, 1))))
      return true;
    auto is_zero = [&](ValueId other) {
      const IntRange number = facts_.ranges->Int(other);
      return number.low == 0 && number.high == 0;
    };
    if (std::ranges::any_of(divisors_,
                            [&](ValueId other) { return IsSame(function_, value, other); }))
      return true;
    return std::ranges::any_of(unequal_,
                               [&](auto pair) {
                                 const auto [a, b] = pair;
                                 return (IsSame(function_, value, a) && is_zero(b)) ||
                                        (IsSame(function_, value, b) && is_zero(a));
                               }) ||
           Sums().IsNotZero(value);
  }

  // Below the number of elements of a shape.
  bool IsInShape(ValueId index, const ir::Shape& shape) const {
    __int128 known = 1;
    for (ir::Dim dim : shape) known = dim.is_symbol() ? -1 : known < 0 ? known : known * dim.value;
    const IntRange range = facts_.ranges->Int(index);
    if (known >= 0 && range.low >= 0 && range.high < known) return true;
    return IsInVolume(index, {}, shape, MostDeep);
  }

  std::optional<bool> Decide(ValueId condition) const {
    const ir::InstId def = function_.values[condition.index].def;
    if (!def.valid() || function_.inst(def).operands.count != 2) return std::nullopt;
    const Inst& inst = function_.inst(def);
    const ValueId a = function_.operand(inst, 0), b = function_.operand(inst, 1);
    if (!IsInt(a) || !IsInt(b)) return std::nullopt;
    switch (inst.op) {
      case Op::Lt: return Either(IsSurelyLess(a, b, true), IsSurelyLess(b, a, false));
      case Op::Le: return Either(IsSurelyLess(a, b, false), IsSurelyLess(b, a, true));
      case Op::Gt: return Either(IsSurelyLess(b, a, true), IsSurelyLess(a, b, false));
      case Op::Ge: return Either(IsSurelyLess(b, a, false), IsSurelyLess(a, b, true));
      case Op::Eq: return Either(false, IsSurelyLess(a, b, true) || IsSurelyLess(b, a, true));
      case Op::Ne: return Either(IsSurelyLess(a, b, true) || IsSurelyLess(b, a, true), false);
      default: return std::nullopt;
    }
  }

 private:
  // Made when something is asked that the orders alone do not say.
  OrderFacts& Sums() const {
    if (sums_ != nullptr) return *sums_;
    sums_ = std::make_unique<OrderFacts>(function_, *facts_.ranges);
    for (ValueId length : lengths_) sums_->AddNotNegative(length);
    for (size_t i = orders_.size(); i > 0; --i)
      sums_->Add(orders_[i - 1].low, orders_[i - 1].high, orders_[i - 1].strict);
    return *sums_;
  }

  const Inst* DefinitionOf(ValueId value, Op op) const {
    const ir::InstId def = function_.values[value.index].def;
    return def.valid() && function_.inst(def).op == op ? &function_.inst(def) : nullptr;
  }

  // Is it below a bound that makes, times these, the number of elements; or row * width + column with a column below the
  // width, and a row of which that can be said of? There are as many elements: nothing of it wraps.
  bool IsInVolume(ValueId index, const std::vector<ValueId>& times, const ir::Shape& shape,
                  int depth) const {
    const auto with = [&](ValueId factor) {
      std::vector<ValueId> factors = times;
      factors.push_back(factor);
      return factors;
    };
    if (facts_.ranges->Int(index).low >= 0)
      for (const Order& order : orders_)
        if (order.strict && IsSame(function_, index, order.low) &&
            IsVolume(with(order.high), shape))
          return true;
    const Inst* const sum = DefinitionOf(index, Op::Add);
    if (sum == nullptr || depth == 0) return false;
    for (uint32_t i : {0u, 1u}) {
      const Inst* const row = DefinitionOf(function_.operand(*sum, i), Op::Mul);
      const ValueId column = function_.operand(*sum, 1 - i);
      if (row == nullptr || facts_.ranges->Int(column).low < 0) continue;
      for (const Order& order : orders_) {
        if (!order.strict || !IsSame(function_, column, order.low)) continue;
        for (uint32_t k : {0u, 1u})
          if (IsSame(function_, function_.operand(*row, k), order.high) &&
              IsInVolume(function_.operand(*row, 1 - k), with(order.high), shape, depth - 1))
            return true;
      }
    }
    return false;
  }

  // Some number that is not negative is below the bound: where the bound is 0 or another one, it is the other one.
  ValueId OtherThanZero(ValueId bound) const {
    const Inst* const select = DefinitionOf(bound, Op::Select);
    if (select == nullptr) return bound;
    for (uint32_t i : {1u, 2u}) {
      const IntRange range = facts_.ranges->Int(function_.operand(*select, i));
      if (range.low == 0 && range.high == 0) return function_.operand(*select, 3 - i);
    }
    return bound;
  }

  // Is the product of these the number of elements? Each is a bound of something.
  bool IsVolume(std::vector<ValueId> factors, const ir::Shape& shape) const {
    __int128 constant = 1, wanted = 1;
    std::vector<ValueId> values, sizes;
    while (!factors.empty()) {
      const ValueId factor = OtherThanZero(factors.back());
      factors.pop_back();
      const IntRange range = facts_.ranges->Int(factor);
      if (const Inst* const product = DefinitionOf(factor, Op::Mul)) {
        factors.push_back(function_.operand(*product, 0));
        factors.push_back(function_.operand(*product, 1));
      } else if (range.low == range.high && range.low >= 0 && range.low < INT32_MAX) {
        constant *= range.low;
      } else {
        values.push_back(factor);
      }
      if (values.size() > shape.size() || constant > INT64_MAX) return false;
    }
    for (ir::Dim dim : shape) {
      if (dim.is_symbol())
        sizes.push_back(function_.param(dim.param()));
      else
        wanted *= dim.value;
    }
    std::ranges::sort(values, {}, &ValueId::index);
    std::ranges::sort(sizes, {}, &ValueId::index);
    return constant == wanted && values == sizes;
  }

  // Branches before the place that end in a trap: behind them their condition does not hold.
  void TakeChecks(ir::RegionId region, ir::InstId place) {
    for (ir::InstId id : function_.region(region).insts) {
      if (id == place) break;
      const Inst& inst = function_.inst(id);
      if (inst.op == Op::Alloc) lengths_.push_back(function_.operand(inst, 0));
      if (IsDivision(inst.op)) divisors_.push_back(function_.operand(inst, 1));
      if (inst.op == Op::Assert) Take(function_.operand(inst, 0), true);
      if (inst.op == Op::If && AlwaysTraps(Function::region_of(inst, 0)))
        Take(function_.operand(inst, 0), false);
    }
  }

  bool AlwaysTraps(ir::RegionId region) const {
    return std::ranges::any_of(function_.region(region).insts, [&](ir::InstId id) {
      const Inst& inst = function_.inst(id);
      return inst.op == Op::Load && facts_.ranges->Int(function_.operand(inst, 1)).high < 0;
    });
  }

  void AddOrder(ValueId low, ValueId high, bool strict) {
    orders_.push_back({low, high, strict});
    // What is below the lesser of two is below both; what is above the greater, above both.
    if (const Inst* const least = DefinitionOf(high, Op::Min))
      for (uint32_t i : {0u, 1u}) AddOrder(low, function_.operand(*least, i), strict);
    if (const Inst* const most = DefinitionOf(low, Op::Max))
      for (uint32_t i : {0u, 1u}) AddOrder(function_.operand(*most, i), high, strict);
  }

  static std::optional<bool> Either(bool is_true, bool is_false) {
    if (is_true) return true;
    return is_false ? std::optional(false) : std::nullopt;
  }
  // The difference of two such numbers is what it is, without wrapping.
  bool IsWhole(ValueId x, ValueId y) const {
    const IntRange a = facts_.ranges->Int(x), b = facts_.ranges->Int(y);
    return a.high - b.low <= INT64_MAX && a.low - b.high >= INT64_MIN &&
           function_.type(x) == ir::types::Index;
  }
  bool IsInt(ValueId value) const {
    const ir::Type type = function_.type(value);
    return type.is_scalar() && ir::IsFixedInt(type.scalar);
  }

  void Take(ValueId condition, bool holds) {
    const ir::InstId def = function_.values[condition.index].def;
    if (!def.valid() || function_.inst(def).operands.count != 2) return;
    const Inst& inst = function_.inst(def);
    const ValueId a = function_.operand(inst, 0), b = function_.operand(inst, 1);
    if (inst.op == Op::And && holds) {
      Take(a, true);
      Take(b, true);
      return;
    }
    if (!IsInt(a) || !IsInt(b)) return;
    const bool is_equal = inst.op == (holds ? Op::Eq : Op::Ne);
    if (is_equal) {
      orders_.push_back({a, b, false});
      orders_.push_back({b, a, false});
    }
    if (inst.op == (holds ? Op::Ne : Op::Eq)) unequal_.emplace_back(a, b);
    if (inst.op == Op::Lt) orders_.push_back(holds ? Order{a, b, true} : Order{b, a, false});
    if (inst.op == Op::Le) orders_.push_back(holds ? Order{a, b, false} : Order{b, a, true});
    if (inst.op == Op::Gt) orders_.push_back(holds ? Order{b, a, true} : Order{a, b, false});
    if (inst.op == Op::Ge) orders_.push_back(holds ? Order{b, a, false} : Order{a, b, true});
  }

  const Function& function_;
  const FunctionFacts& facts_;
  std::vector<Order> orders_;  // the innermost first
  std::vector<std::pair<ValueId, ValueId>> unequal_;
  std::vector<ValueId> divisors_;  // what was divided by before
  std::vector<ValueId> lengths_;   // of scratch that was made before
  mutable std::unique_ptr<OrderFacts> sums_;
};

}  // namespace

bool SurelyRuns(const Function& function, const FunctionFacts& facts, const Inst& loop,
                ir::InstId lanes) {
  const ir::InstId id(static_cast<uint32_t>(&loop - function.insts.data()));
  return Context(function, facts, id, lanes)
      .IsSurelyLess(function.operand(loop, 0), function.operand(loop, 1), /*strict=*/true);
}

std::optional<bool> Decided(const Function& function, const FunctionFacts& facts,
                            const Inst& branch) {
  const ir::InstId id(static_cast<uint32_t>(&branch - function.insts.data()));
  return Context(function, facts, id, ir::InstId()).Decide(function.operand(branch, 0));
}

bool IsShortBound(const Function& function, const FunctionFacts& facts, const Inst& loop,
                  uint32_t bound) {
  const ir::InstId id(static_cast<uint32_t>(&loop - function.insts.data()));
  return Context(function, facts, id, ir::InstId()).IsShort(function.operand(loop, bound));
}

bool DivisorMayBeZero(const Function& function, const FunctionFacts& facts, const Inst& division) {
  const ir::InstId id(static_cast<uint32_t>(&division - function.insts.data()));
  const ValueId divisor = function.operand(division, 1);
  if (const auto words = ConstantOf(function, facts, divisor))
    return std::ranges::all_of(*words, [](uint64_t word) { return word == 0; });
  return !Context(function, facts, id, ir::InstId()).IsNotZero(divisor);
}

bool IsInsideAt(const Function& function, const FunctionFacts& facts, ir::InstId access,
                ir::InstId lanes) {
  const Inst& inst = function.inst(access);
  const ValueId buffer = function.operand(inst, 0), index = function.operand(inst, 1);
  if (IsInside(function, facts, buffer, index)) return true;
  const Context context(function, facts, access, lanes);
  if (const auto shape = facts.shapes.find(buffer.index);
      shape != facts.shapes.end() && context.IsInShape(index, shape->second))
    return true;
  const ir::InstId made = function.values[buffer.index].def;
  if (made.valid() && function.inst(made).op == Op::Alloc &&
      context.IsBelowLength(index, function.operand(function.inst(made), 0)))
    return true;
  if (std::ranges::any_of(TouchedBelow(function, facts, access, lanes),
                          [&](ValueId end) { return context.IsBelow(index, end); }))
    return true;
  const bool is_below = std::ranges::any_of(function.insts, [&](const Inst& length) {
    return length.op == Op::Length && function.operand(length, 0) == buffer &&
           context.IsBelowLength(index, Function::result_of(length));
  });
  return is_below || WasInside(function, facts, access, lanes);
}

}  // namespace frazil::targets
