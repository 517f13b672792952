// Reads a body op by op. Two things are kept of every value: its form, which for a wrapping type holds modulo 2^width,
// and, as long as nothing wraps, its range over all turns, which is what lets checked ops stay and casts go to a wider
// type. Ranges of carried values come from the number of turns: an accumulator adds at most turns times the range of
// what it adds.
#include "optimize/loops/recurrence.h"

#include <algorithm>

#include "base/number/goldilocks.h"
#include "optimize/loops/ring_ops.h"

namespace frazil::optimize {
namespace {

using namespace ir::names;

bool IsField(ir::Type type) { return type.scalar == ir::Scalar::Field; }

const Inst* ConstantOf(const Function& f, ValueId value) {
  const ir::InstId def = f.values[value.index].def;
  return def.valid() && f.inst(def).op == Op::Const ? &f.inst(def) : nullptr;
}

class Reader {
 public:
  Reader(const Function& function, const Inst& loop, Recurrence& recurrence)
      : f_(function),
        body_(function.region(Function::region_of(loop, 0))),
        r_(recurrence),
        forms_(function.values.size()) {}

  // Twice: first without knowing the ranges of carried values, then with what follows from the first reading.
  bool Read() {
    const Inst& yield = f_.inst(body_.insts.back());
    std::vector<std::optional<Interval>> ranges(r_.types.size());
    for (size_t k = 0; k < r_.types.size(); ++k) ranges[k] = RangeOf(r_.types[k]);
    strict_ = false;
    if (!ReadBody(ranges)) return false;
    for (uint32_t k = 0; k < r_.types.size(); ++k) {
      std::optional<LinearForm> form = Of(f_.operand(yield, k));
      if (!form) return false;  // a value from outside that is no constant
      ranges[k] = AccumulatorRange(k, *form);
    }
    strict_ = true;
    if (!ReadBody(ranges)) return false;
    for (uint32_t k = 0; k < r_.types.size(); ++k) r_.yields.push_back(*Of(f_.operand(yield, k)));
    return true;
  }

 private:
  LinearForm Blank(ir::Type type) const {
    return {type, std::vector<Big>(r_.types.size()), {}, std::nullopt};
  }

  bool ReadBody(const std::vector<std::optional<Interval>>& ranges) {
    LinearForm index = Blank(r_.index_type);
    index.polynomial = {0, 1};
    const Big last = r_.lo + Big::FromUint64(r_.turns - 1) * Big(r_.step);
    index.range = Interval{r_.lo, last};
    forms_[Function::param_of(body_, 0).index] = std::move(index);
    for (uint32_t k = 0; k < r_.types.size(); ++k) {
      LinearForm carried = Blank(r_.types[k]);
      carried.carried[k] = 1;
      carried.range = ranges[k];
      forms_[Function::param_of(body_, k + 1).index] = std::move(carried);
    }
    for (ir::InstId id : body_.insts) {
      const Inst& inst = f_.inst(id);
      if (inst.op == Op::Yield) continue;
      std::optional<LinearForm> form = ReadInst(inst);
      if (!form) return false;
      forms_[Function::result_of(inst).index] = std::move(form);
    }
    return true;
  }

  // acc + g(i): between its start and turns times what it adds. Others keep the range of their type, which is no
  // promise: a wrapping value may still wrap.
  std::optional<Interval> AccumulatorRange(uint32_t k, const LinearForm& yield) const {
    if (IsField(r_.types[k])) return std::nullopt;
    for (uint32_t j = 0; j < r_.types.size(); ++j)
      if (!(yield.carried[j] == Big(j == k ? 1 : 0))) return std::nullopt;
    const Interval index = *forms_[Function::param_of(body_, 0).index]->range;
    Interval added{0, 0}, power{1, 1};
    for (const Big& coefficient : yield.polynomial) {
      added = added + power * Interval{coefficient, coefficient};
      power = power * index;
    }
    const Big turns = Big::FromUint64(r_.turns), zero = 0;
    const Big start = *Big::Of(r_.types[k], r_.inits[k]);
    const Interval range{start + (added.low < zero ? turns * added.low : zero),
                         start + (zero < added.high ? turns * added.high : zero)};
    if (added.low.overflowed() || added.high.overflowed() || !range.Within(*RangeOf(r_.types[k])))
      return std::nullopt;
    return range;
  }

  std::optional<LinearForm> Of(ValueId value) const {
    if (forms_[value.index]) return forms_[value.index];
    const Inst* constant = ConstantOf(f_, value);
    if (constant == nullptr) return std::nullopt;
    return Constant(constant->type, f_.words_of(*constant));
  }

  std::optional<LinearForm> Constant(ir::Type type, std::span<const uint64_t> words) const {
    LinearForm form = Blank(type);
    if (IsField(type)) {
      form.polynomial = {Big::FromUint64(words[0])};
      return form;
    }
    std::optional<Big> value = Big::Of(type, words);
    if (!value) return std::nullopt;
    form.polynomial = {*value};
    form.range = Interval{*value, *value};
    return form;
  }

  std::optional<LinearForm> ReadInst(const Inst& inst) const {
    if (inst.regions.count != 0 || inst.results.count != 1) return std::nullopt;
    if (inst.op == Op::Const) return Constant(inst.type, f_.words_of(inst));
    if (!IsField(inst.type) && !RangeOf(inst.type)) return std::nullopt;
    std::vector<LinearForm> operands;
    for (ValueId operand : f_.operands_of(inst)) {
      std::optional<LinearForm> form = Of(operand);
      if (!form) return std::nullopt;
      operands.push_back(std::move(*form));
    }
    if (const std::optional<int> sign = SignInSum(inst.op)) {
      LinearForm zero = Blank(inst.type);
      zero.range = Interval{0, 0};
      return Sum(inst, operands.size() == 2 ? operands[0] : zero, operands.back(), *sign);
    }
    if (IsProduct(inst.op)) return Product(inst, operands[0], operands[1]);
    switch (inst.op) {
      case Op::Shl: return Shifted(inst, operands[0]);
      case Op::Cast:
      case Op::CastChecked: return Converted(inst, operands[0]);
      default: return std::nullopt;
    }
  }

  // Sets the range of a result; false where a checked op might trap.
  bool Settle(const Inst& inst, LinearForm& form, std::optional<Interval> exact) const {
    for (const Big& coefficient : form.polynomial)
      if (coefficient.overflowed()) return false;
    for (const Big& coefficient : form.carried)
      if (coefficient.overflowed()) return false;
    if (IsField(inst.type)) return true;
    const Interval whole = *RangeOf(inst.type);
    if (exact && exact->Within(whole)) form.range = exact;
    if (ir::Info(inst.op).traps == 0 || form.range) return true;
    // In the first reading the ranges of carried values are not known yet.
    if (strict_) return false;
    form.range = whole;
    return true;
  }

  Big Residue(ir::Type type, const Big& value) const {
    return IsField(type) ? Big::FromUint64(value.Field()) : value;
  }

  std::optional<LinearForm> Sum(const Inst& inst, const LinearForm& a, const LinearForm& b,
                                int64_t sign) const {
    LinearForm sum = Blank(inst.type);
    for (size_t k = 0; k < sum.carried.size(); ++k)
      sum.carried[k] = Residue(inst.type, a.carried[k] + Big(sign) * b.carried[k]);
    sum.polynomial.resize(std::max(a.polynomial.size(), b.polynomial.size()));
    for (size_t i = 0; i < sum.polynomial.size(); ++i) {
      const Big left = i < a.polynomial.size() ? a.polynomial[i] : Big();
      const Big right = i < b.polynomial.size() ? b.polynomial[i] : Big();
      sum.polynomial[i] = Residue(inst.type, left + Big(sign) * right);
    }
    std::optional<Interval> exact;
    if (a.range && b.range) exact = sign > 0 ? *a.range + *b.range : *a.range - *b.range;
    if (!Settle(inst, sum, exact)) return std::nullopt;
    return sum;
  }

  static bool IsPolynomial(const LinearForm& form) {
    return std::ranges::all_of(form.carried, [](const Big& c) { return c == Big(0); });
  }

  std::optional<LinearForm> Product(const Inst& inst, const LinearForm& a,
                                    const LinearForm& b) const {
    if (!IsPolynomial(a)) {
      if (!IsPolynomial(b)) return std::nullopt;
      return Product(inst, b, a);
    }
    if (!IsPolynomial(b) && a.polynomial.size() > 1) return std::nullopt;
    LinearForm product = Blank(inst.type);
    const Big scale = a.polynomial.empty() ? Big() : a.polynomial[0];
    for (size_t k = 0; k < product.carried.size(); ++k)
      product.carried[k] = Residue(inst.type, scale * b.carried[k]);
    if (!a.polynomial.empty() && !b.polynomial.empty()) {
      product.polynomial.resize(a.polynomial.size() + b.polynomial.size() - 1);
      for (size_t i = 0; i < a.polynomial.size(); ++i)
        for (size_t j = 0; j < b.polynomial.size(); ++j)
          product.polynomial[i + j] =
              Residue(inst.type, product.polynomial[i + j] + a.polynomial[i] * b.polynomial[j]);
    }
    if (product.polynomial.size() > MostDegree + 1) return std::nullopt;
    std::optional<Interval> exact;
    if (a.range && b.range) exact = *a.range * *b.range;
    if (!Settle(inst, product, exact)) return std::nullopt;
    return product;
  }

  std::optional<LinearForm> Shifted(const Inst& inst, const LinearForm& a) const {
    const Inst* constant = ConstantOf(f_, f_.operand(inst, 1));
    if (constant == nullptr) return std::nullopt;
    const auto bits = static_cast<uint64_t>(ir::BitsOf(inst.type));
    LinearForm scale = Blank(inst.type);
    scale.polynomial = {Big::PowerOfTwo(static_cast<uint32_t>(f_.words_of(*constant)[0] % bits))};
    scale.range = Interval{scale.polynomial[0], scale.polynomial[0]};
    return Product(inst, scale, a);
  }

  // Exact values keep their form in any type that holds them; others only where bits are dropped.
  std::optional<LinearForm> Converted(const Inst& inst, const LinearForm& from) const {
    if (IsField(from.type)) return std::nullopt;
    LinearForm to = from;
    to.type = inst.type;
    to.range.reset();
    if (IsField(inst.type)) {
      if (!from.range || !IsPolynomial(from)) return std::nullopt;
      for (Big& coefficient : to.polynomial) {
        if (coefficient.overflowed()) return std::nullopt;
        coefficient = Big::FromUint64(coefficient.Field());
      }
      return to;
    }
    if (!Settle(inst, to, from.range)) return std::nullopt;
    // A form that holds modulo 2^width only, or that names carried values of another width, may lose bits, not gain.
    auto bits = [](ir::Type type) {
      return type.scalar == ir::Scalar::Int ? 64u * type.limbs
                                            : static_cast<uint32_t>(ir::BitsOf(type));
    };
    const bool narrower = bits(inst.type) <= bits(from.type);
    if (!narrower && (!from.range || !IsPolynomial(from))) return std::nullopt;
    return to;
  }

  const Function& f_;
  const ir::Region& body_;
  Recurrence& r_;
  std::vector<std::optional<LinearForm>> forms_;
  bool strict_ = false;
};

}  // namespace

uint64_t TurnCount(ir::Type type, uint64_t lo, uint64_t hi, int64_t step) {
  const bool empty =
      ir::IsSigned(type.scalar) ? static_cast<int64_t>(lo) >= static_cast<int64_t>(hi) : lo >= hi;
  return empty ? 0 : (hi - lo - 1) / static_cast<uint64_t>(step) + 1;
}

std::optional<Recurrence> ReadRecurrence(const Function& function, const Inst& loop) {
  if (loop.op != Op::For || loop.results.count == 0 || loop.results.count > MostCarried)
    return std::nullopt;
  const Inst* lo = ConstantOf(function, function.operand(loop, 0));
  const Inst* hi = ConstantOf(function, function.operand(loop, 1));
  if (lo == nullptr || hi == nullptr) return std::nullopt;
  Recurrence recurrence;
  recurrence.index_type = lo->type;
  recurrence.step = function.word(loop, 0);
  recurrence.turns =
      TurnCount(lo->type, function.words_of(*lo)[0], function.words_of(*hi)[0], recurrence.step);
  if (recurrence.turns == 0) return std::nullopt;
  recurrence.lo = *Big::Of(lo->type, function.words_of(*lo));
  for (uint32_t k = 0; k < loop.results.count; ++k) {
    const Inst* init = ConstantOf(function, function.operand(loop, 2 + k));
    if (init == nullptr || (!IsField(init->type) && !RangeOf(init->type))) return std::nullopt;
    const std::span<const uint64_t> words = function.words_of(*init);
    recurrence.types.push_back(init->type);
    recurrence.inits.emplace_back(words.begin(), words.end());
  }
  if (!Reader(function, loop, recurrence).Read()) return std::nullopt;
  return recurrence;
}

}  // namespace frazil::optimize
