// Integers are computed as whole numbers: what leaves its type may have wrapped and is anything. Bounds of floats are
// computed in double and moved outward by more than a rounding.
#include "targets/llvm/ranges.h"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <limits>

namespace frazil::targets {

FloatRange Join(FloatRange a, FloatRange b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high), a.nan || b.nan};
}

namespace {

using namespace ir::names;
using Whole = __int128;

constexpr int MostDepth = 200;
constexpr double Infinity = std::numeric_limits<double>::infinity();
constexpr FloatRange Anything = {-Infinity, Infinity, true};

bool IsInt(Type type) {
  return type.is_scalar() && (ir::IsFixedInt(type.scalar) || type.scalar == Scalar::Bool);
}
bool IsWide(Type type) { return type.is_scalar() && ir::Contains(ir::sets::Wide, type.scalar); }

IntRange OfType(Type type) {
  if (!IsInt(type)) return {-(Whole{1} << 64), Whole{1} << 64};
  const int bits = ir::BitsOf(type);
  if (ir::IsSigned(type.scalar)) return {-(Whole{1} << (bits - 1)), (Whole{1} << (bits - 1)) - 1};
  return {0, (Whole{1} << bits) - 1};
}

IntRange Join(IntRange a, IntRange b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

Whole FloorDiv(Whole a, Whole b) {
  const Whole quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

// Two numbers of 64 bits without a sign have products beyond the signed 128 bits: such a range is that of no type.
IntRange Times(IntRange a, IntRange b) {
  using Wide = decltype(a.low);
  const auto product = [](Wide x, Wide y) {
    Wide result;
    constexpr auto Most = static_cast<Wide>(~static_cast<unsigned __int128>(0) >> 1);
    return __builtin_mul_overflow(x, y, &result) ? Most : result;
  };
  const auto [low, high] = std::minmax({product(a.low, b.low), product(a.low, b.high),
                                        product(a.high, b.low), product(a.high, b.high)});
  return {low, high};
}

// --- floats ---
bool HasInfinity(FloatRange a) { return a.low == -Infinity || a.high == Infinity; }
bool HasZero(FloatRange a) { return a.low <= 0 && a.high >= 0; }
bool MayCancel(FloatRange a, FloatRange b) {
  return (a.high == Infinity && b.low == -Infinity) || (a.low == -Infinity && b.high == Infinity);
}

FloatRange Rounded(Type type, double low, double high, bool nan) {
  if (std::isnan(low) || std::isnan(high)) return {-Infinity, Infinity, nan};
  if (type.scalar == Scalar::F32) {
    // An infinity has no error, and none of its own kind to be taken off.
    if (std::isfinite(low)) low -= std::abs(low) * 0x1p-22 + FLT_MIN;
    if (std::isfinite(high)) high += std::abs(high) * 0x1p-22 + FLT_MIN;
    if (low < -FLT_MAX) low = -Infinity;
    if (high > FLT_MAX) high = Infinity;
  } else {
    low = std::nextafter(std::nextafter(low, -Infinity), -Infinity);
    high = std::nextafter(std::nextafter(high, Infinity), Infinity);
  }
  return {low, high, nan};
}

// Bounds of a product; zero times infinity is no number, but what surrounds it is.
FloatRange Product(FloatRange a, FloatRange b) {
  auto times = [](double x, double y) { return x == 0 || y == 0 ? 0 : x * y; };
  const auto [low, high] = std::minmax(
      {times(a.low, b.low), times(a.low, b.high), times(a.high, b.low), times(a.high, b.high)});
  const bool nan =
      a.nan || b.nan || (HasZero(a) && HasInfinity(b)) || (HasInfinity(a) && HasZero(b));
  return {low, high, nan};
}

FloatRange Sum(FloatRange a, FloatRange b) {
  auto plus = [](double x, double y, double otherwise) {
    const double sum = x + y;
    return std::isnan(sum) ? otherwise : sum;
  };
  return {plus(a.low, b.low, -Infinity), plus(a.high, b.high, Infinity),
          a.nan || b.nan || MayCancel(a, b)};
}

FloatRange Quotient(FloatRange a, FloatRange b) {
  if (HasZero(b) || HasInfinity(b)) {
    const bool nan =
        a.nan || b.nan || (HasZero(a) && HasZero(b)) || (HasInfinity(a) && HasInfinity(b));
    return {-Infinity, Infinity, nan};
  }
  const auto [low, high] =
      std::minmax({a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high});
  return {low, high, a.nan || b.nan};
}

// The one that drops NaNs gives the other operand then.
FloatRange Extreme(FloatRange a, FloatRange b, bool is_max, bool drops) {
  FloatRange both = is_max ? FloatRange{std::max(a.low, b.low), std::max(a.high, b.high), false}
                           : FloatRange{std::min(a.low, b.low), std::min(a.high, b.high), false};
  if (!drops) {
    both.nan = a.nan || b.nan;
    return both;
  }
  if (a.nan) both = Join(both, {b.low, b.high, false});
  if (b.nan) both = Join(both, {a.low, a.high, false});
  both.nan = a.nan && b.nan;
  return both;
}

double NumberOf(Type type, uint64_t word) {
  return type.scalar == Scalar::F64 ? std::bit_cast<double>(word)
                                    : double{std::bit_cast<float>(static_cast<uint32_t>(word))};
}

// Bits of floats that are not negative are in the order of what they are.
FloatRange OfBits(Type type, IntRange bits) {
  const uint64_t infinity = type.scalar == Scalar::F64 ? 0x7ff0'0000'0000'0000u : 0x7f80'0000u;
  if (bits.low < 0 || bits.high > infinity) return Anything;
  return {NumberOf(type, static_cast<uint64_t>(bits.low)),
          NumberOf(type, static_cast<uint64_t>(bits.high)), false};
}

}  // namespace

ValueRanges::ValueRanges(const ir::Program& program, const ir::Function& function,
                         const std::vector<FloatRange>& floats)
    : program_(program),
      function_(function),
      region_(function.insts.size()),
      owner_(function.regions.size()) {
  for (uint32_t i = 0; i < floats.size(); ++i) floats_.emplace(function.param(i).index, floats[i]);
  for (uint32_t r = 0; r < function.regions.size(); ++r) {
    for (ir::InstId id : function.regions[r].insts) {
      const Inst& inst = function.inst(id);
      region_[id.index] = ir::RegionId(r);
      for (uint32_t i = 0; i < inst.regions.count; ++i) owner_[inst.regions.begin + i] = id;
      if (inst.op != Op::For && inst.op != Op::Parallel) continue;
      const ir::Region& body = function.region(ir::Function::region_of(inst, 0));
      loops_.emplace(ir::Function::param_of(body, 0).index, &inst);
    }
  }
}

const Inst& ValueRanges::LastOf(ir::RegionId region) const {
  return function_.inst(function_.region(region).insts.back());
}

IntRange ValueRanges::Int(ir::ValueId value) {
  if (const auto found = ints_.find(value.index); found != ints_.end()) return found->second;
  const IntRange type = OfType(function_.type(value));
  if (!IsInt(function_.type(value)) || depth_ >= MostDepth) return type;
  ++depth_;
  IntRange range = MakeInt(value);
  --depth_;
  if (range.low < type.low || range.high > type.high) range = type;
  return ints_[value.index] = range;
}

IntRange ValueRanges::MakeInt(ir::ValueId value) {
  if (const ir::InstId id = function_.values[value.index].def; id.valid()) {
    const Inst& inst = function_.inst(id);
    // Of what gives several values, each has a type of its own.
    const bool is_plain = inst.results.count == 1 && inst.regions.count == 0 && inst.op != Op::Call;
    return is_plain ? IntOf(inst) : OfType(function_.type(value));
  }
  const auto loop = loops_.find(value.index);
  return loop == loops_.end() ? OfType(function_.type(value)) : Counter(*loop->second);
}

// Of a turn that is made.
IntRange ValueRanges::Counter(const Inst& loop) {
  const Type type = function_.type(function_.operand(loop, 0));
  if (loop.op == Op::For && static_cast<int64_t>(function_.word(loop, 0)) <= 0) return OfType(type);
  const IntRange first = Int(function_.operand(loop, 0));
  const IntRange end = Int(function_.operand(loop, 1));
  const Whole last = std::max(first.low, end.high - 1);
  if (loop.op == Op::Parallel || first.low != first.high) return {first.low, last};
  return {first.low, last - (last - first.low) % static_cast<int64_t>(function_.word(loop, 0))};
}

IntRange ValueRanges::IntOf(const Inst& inst) {
  const IntRange type = OfType(inst.type);
  auto operand = [&](uint32_t i) { return Int(function_.operand(inst, i)); };
  switch (inst.op) {
    case Op::Const: {
      const uint64_t word = function_.words_of(inst)[0];
      const Whole number =
          ir::IsSigned(inst.type.scalar) ? Whole{static_cast<int64_t>(word)} : Whole{word};
      return {number, number};
    }
    case Op::Add: {
      const IntRange a = operand(0), b = operand(1);
      return {a.low + b.low, a.high + b.high};
    }
    case Op::Sub: {
      const IntRange a = operand(0), b = operand(1);
      return {a.low - b.high, a.high - b.low};
    }
    case Op::Mul: return Times(operand(0), operand(1));
    case Op::Min: {
      const IntRange a = operand(0), b = operand(1);
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    }
    case Op::Max: {
      const IntRange a = operand(0), b = operand(1);
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    }
    case Op::Select: return Join(operand(1), operand(2));
    case Op::Cast: {
      if (!IsInt(function_.type(function_.operand(inst, 0)))) return type;
      return operand(0);
    }
    case Op::DivFloor:
    case Op::RemFloor: {
      const IntRange a = operand(0), b = operand(1);
      if (b.low <= 0) return type;
      if (inst.op == Op::RemFloor)
        return {0, a.low >= 0 ? std::min(a.high, b.high - 1) : b.high - 1};
      return {std::min(FloorDiv(a.low, b.low), FloorDiv(a.low, b.high)),
              std::max(FloorDiv(a.high, b.low), FloorDiv(a.high, b.high))};
    }
    case Op::And: {
      const IntRange a = operand(0), b = operand(1);
      if (a.low >= 0 && b.low >= 0) return {0, std::min(a.high, b.high)};
      if (a.low >= 0) return {0, a.high};
      if (b.low >= 0) return {0, b.high};
      return type;
    }
    case Op::Or: {
      const IntRange a = operand(0), b = operand(1);
      if (a.low < 0 || b.low < 0) return type;
      // No bit above the highest of both, and no carries.
      Whole bits = 1;
      while (bits <= std::max(a.high, b.high)) bits *= 2;
      return {std::max(a.low, b.low), std::min({a.high + b.high, bits - 1, type.high})};
    }
    case Op::Shl: {
      const IntRange a = operand(0), b = operand(1);
      // What wraps is found to be outside of the type by whoever asks.
      if (a.low < 0 || a.high > INT64_MAX || b.low < 0 || b.high >= ir::BitsOf(inst.type))
        return type;
      return {a.low << static_cast<int>(b.low), a.high << static_cast<int>(b.high)};
    }
    case Op::Shr: {
      const IntRange a = operand(0), b = operand(1);
      if (a.low < 0 || b.low != b.high || b.low < 0) return type;
      const int amount = static_cast<int>(b.low) & (ir::BitsOf(inst.type) - 1);
      return {a.low >> amount, a.high >> amount};
    }
    case Op::Length: return {0, INT64_MAX};
    default: return type;
  }
}

FloatRange ValueRanges::Float(ir::ValueId value) {
  if (const auto found = floats_.find(value.index); found != floats_.end()) return found->second;
  const ir::InstId id = function_.values[value.index].def;
  if (!id.valid() || !IsWide(function_.type(value)) || depth_ >= MostDepth) return Anything;
  ++depth_;
  const Inst& inst = function_.inst(id);
  const FloatRange range = FloatOf(inst, value.index - inst.results.begin);
  --depth_;
  return floats_[value.index] = range;
}

// The range of a value where a comparison that it takes part in holds, or not.
FloatRange ValueRanges::Under(ir::ValueId value, ir::ValueId condition, bool holds,
                              FloatRange range) {
  const ir::InstId id = function_.values[condition.index].def;
  if (!id.valid()) return range;
  const Inst& compare = function_.inst(id);
  const bool is_below = compare.op == Op::Lt || compare.op == Op::Le;
  const bool is_above = compare.op == Op::Gt || compare.op == Op::Ge;
  const bool is_equal = compare.op == Op::Eq;
  if (!is_below && !is_above && !is_equal) return range;
  const ir::ValueId first = function_.operand(compare, 0), second = function_.operand(compare, 1);
  if (!IsWide(function_.type(first)) || (value != first && value != second)) return range;
  const FloatRange other = Float(value == first ? second : first);
  if (holds) range.nan = false;  // no comparison holds of what is no number
  if (is_equal || (!holds && (range.nan || other.nan))) return range;
  const bool is_least = (is_above == (value == first)) == holds;
  if (is_least)
    range.low = std::max(range.low, other.low);
  else
    range.high = std::min(range.high, other.high);
  return range.low > range.high ? Anything : range;  // that is never
}

// And where the branches around say something of it.
FloatRange ValueRanges::Inside(ir::ValueId value, ir::RegionId region) {
  FloatRange range = Float(value);
  while (owner_[region.index].valid()) {
    const ir::InstId owner = owner_[region.index];
    const Inst& inst = function_.inst(owner);
    if (inst.op == Op::If)
      range = Under(value, function_.operand(inst, 0), region == ir::Function::region_of(inst, 0),
                    range);
    region = region_[owner.index];
  }
  return range;
}

std::vector<FloatRange> ValueRanges::Arguments(const Inst& call) {
  const ir::RegionId home = region_[static_cast<size_t>(&call - function_.insts.data())];
  std::vector<FloatRange> ranges;
  for (uint32_t i = 0; i < call.operands.count; ++i)
    ranges.push_back(Inside(function_.operand(call, i), home));
  return ranges;
}

// Math functions never recurse; others are not looked into.
FloatRange ValueRanges::OfCall(const Inst& call, uint32_t result) {
  const ir::Function& callee = program_.functions[static_cast<size_t>(function_.word(call, 0))];
  if (!callee.is_prelude) return Anything;
  std::unique_ptr<ValueRanges>& ranges =
      callees_[static_cast<uint32_t>(&call - function_.insts.data())];
  if (ranges == nullptr) ranges = std::make_unique<ValueRanges>(program_, callee, Arguments(call));
  return ranges->Float(callee.operand(ranges->LastOf(callee.body), result));
}

FloatRange ValueRanges::OfTable(const Inst& lookup) const {
  const ir::Data& table = program_.data[static_cast<size_t>(function_.word(lookup, 0))];
  FloatRange range = {Infinity, -Infinity, false};
  for (const uint64_t word : table.words) {
    const double number = NumberOf(lookup.type, word);
    if (std::isnan(number)) return Anything;
    range = Join(range, {number, number, false});
  }
  return range;
}

FloatRange ValueRanges::FloatOf(const Inst& inst, uint32_t result) {
  const ir::RegionId home = region_[static_cast<size_t>(&inst - function_.insts.data())];
  auto operand = [&](uint32_t i) { return Inside(function_.operand(inst, i), home); };
  auto rounded = [&](FloatRange range) {
    return Rounded(inst.type, range.low, range.high, range.nan);
  };
  switch (inst.op) {
    case Op::Const: {
      const double number = NumberOf(inst.type, function_.words_of(inst)[0]);
      return std::isnan(number) ? Anything : FloatRange{number, number, false};
    }
    case Op::Add: return rounded(Sum(operand(0), operand(1)));
    case Op::Sub: {
      const FloatRange b = operand(1);
      return rounded(Sum(operand(0), {-b.high, -b.low, b.nan}));
    }
    case Op::Mul: return rounded(Product(operand(0), operand(1)));
    case Op::Fma: return rounded(Sum(Product(operand(0), operand(1)), operand(2)));
    case Op::Div: return rounded(Quotient(operand(0), operand(1)));
    case Op::Sqrt: {
      const FloatRange a = operand(0);
      return rounded(
          {std::sqrt(std::max(a.low, 0.0)), std::sqrt(std::max(a.high, 0.0)), a.nan || a.low < 0});
    }
    case Op::Neg: {
      const FloatRange a = operand(0);
      return {-a.high, -a.low, a.nan};
    }
    case Op::Abs:
    case Op::CopySign: {
      const FloatRange a = operand(0);
      const double most = std::max(std::abs(a.low), std::abs(a.high));
      return {inst.op == Op::Abs ? 0.0 : -most, most, a.nan};
    }
    case Op::Floor:
    case Op::Ceil:
    case Op::Trunc:
    case Op::Nearest: {
      const FloatRange a = operand(0);
      return {std::floor(a.low), std::ceil(a.high), a.nan};
    }
    case Op::Min: return Extreme(operand(0), operand(1), false, true);
    case Op::Max: return Extreme(operand(0), operand(1), true, true);
    case Op::Minimum: return Extreme(operand(0), operand(1), false, false);
    case Op::Maximum: return Extreme(operand(0), operand(1), true, false);
    case Op::Select: {
      const ir::ValueId condition = function_.operand(inst, 0);
      return Join(Under(function_.operand(inst, 1), condition, true, operand(1)),
                  Under(function_.operand(inst, 2), condition, false, operand(2)));
    }
    case Op::If: {
      FloatRange joined = {Infinity, -Infinity, false};
      for (uint32_t i = 0; i < inst.regions.count; ++i) {
        const ir::RegionId arm = ir::Function::region_of(inst, i);
        joined = Join(joined, Inside(function_.operand(LastOf(arm), result), arm));
      }
      return joined;
    }
    case Op::Call: return OfCall(inst, result);
    case Op::Lookup: return OfTable(inst);
    case Op::Bitcast: return OfBits(inst.type, Int(function_.operand(inst, 0)));
    case Op::Cast: {
      const ir::ValueId from = function_.operand(inst, 0);
      if (IsWide(function_.type(from))) return rounded(operand(0));
      if (!IsInt(function_.type(from))) return Anything;
      const IntRange a = Int(from);
      return rounded({static_cast<double>(a.low), static_cast<double>(a.high), false});
    }
    default: return Anything;
  }
}

}  // namespace frazil::targets
