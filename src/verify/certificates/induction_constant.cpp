// Loops with constant bounds. One turn is an affine map of the state (carried values, powers of the index); n turns are
// its n-th power, and that is the induction: the power is the map applied n times. Integers are taken without
// wrapping, X; a value of a wrapping type is X modulo 2^width, which sums and products respect. Where a value must be
// exact (checked ops, int<k>, widening), an interval that holds in every turn must lie within its type.
#include <algorithm>

#include <fmt/format.h>

#include "base/number/goldilocks.h"
#include "verify/internal/induction.h"
#include "verify/internal/polynomial.h"

namespace frazil::verify {
namespace {

using namespace ir::names;

constexpr size_t MaxCarried = 8;
constexpr size_t MaxDegree = 8;
constexpr uint32_t MaxBits = 8200;  // beyond this a bound bounds nothing

// sum of carried[k] X_k + sum of powers[j] i^j
struct Form {
  std::vector<BigInt> carried;
  std::vector<BigInt> powers;
};

using Matrix = std::vector<std::vector<BigInt>>;
using Bound = std::optional<BigInt>;  // nothing: too large to matter

bool IsInteger(ir::Type type) {
  return type.is_scalar() && (ir::IsFixedInt(type.scalar) || type.scalar == ir::Scalar::Int);
}

BigInt Magnitude(const BigInt& a) { return a.is_negative() ? -a : a; }

class Loop {
 public:
  Loop(const ConstantLoop& loop, std::string& why)
      : f_(*loop.function),
        inst_(*loop.inst),
        constant_(loop.constant),
        why_(why),
        forms_(f_.values.size()) {}

  std::optional<LoopFinals> Run() {
    if (!ReadBounds() || !ReadBody()) return std::nullopt;
    if (turns_.is_zero()) return LoopFinals{init_words_};
    MeasureBounds();
    if (!CheckExactness()) return std::nullopt;
    return Finals();
  }

 private:
  bool Fail(std::string why) {
    why_ = std::move(why);
    return false;
  }

  std::optional<BigInt> IntegerConstant(ValueId value) const {
    const auto words = constant_(value);
    const ir::Type type = f_.type(value);
    if (!words || !(IsInteger(type) || type.scalar == ir::Scalar::Field)) return std::nullopt;
    return BigInt::FromWords(*words, ir::IsSigned(type.scalar));
  }

  bool ReadBounds() {
    const std::optional<BigInt> lo = IntegerConstant(f_.operand(inst_, 0)),
                                hi = IntegerConstant(f_.operand(inst_, 1));
    if (!lo || !hi) return Fail("the bounds are not constants");
    low_ = *lo;
    step_ = BigInt(f_.word(inst_, 0));
    if (*hi > low_) {
      BigInt rest;
      BigInt::DivRem(*hi - low_ + step_ - 1, step_, turns_, rest);
    }
    last_ = low_ + step_ * turns_;  // one beyond the last index
    carried_count_ = inst_.results.count;
    if (carried_count_ > MaxCarried) return Fail("the loop carries too many values");
    for (uint32_t k = 0; k < carried_count_; ++k) {
      const ValueId value = f_.operand(inst_, 2 + k);
      const std::optional<BigInt> init = IntegerConstant(value);
      if (!init) return Fail("an initial value is not a constant integer or field element");
      inits_.push_back(*init);
      init_words_.push_back(*constant_(value));
    }
    return true;
  }

  bool ReadBody() {
    const ir::Region& body = f_.region(Function::region_of(inst_, 0));
    Form index;
    index.powers = {BigInt(0), BigInt(1)};
    forms_[Function::param_of(body, 0).index] = index;
    for (uint32_t k = 0; k < carried_count_; ++k) {
      Form form;
      form.carried.resize(k + 1);
      form.carried[k] = 1;
      forms_[Function::param_of(body, 1 + k).index] = form;
    }
    if (!ReadInsts(body)) return false;
    const Inst& yield = f_.inst(body.insts.back());
    if (yield.op != Op::Yield) return Fail("the body does not yield");
    for (uint32_t k = 0; k < carried_count_; ++k) {
      const std::optional<Form> form = FormOf(f_.operand(yield, k));
      if (!form) return Fail("a carried value is not linear");
      yields_.push_back(*form);
    }
    return true;
  }

  bool ReadInsts(const ir::Region& region) {
    for (size_t i = 0; i + 1 < region.insts.size(); ++i) {
      const Inst& inst = f_.inst(region.insts[i]);
      if (inst.op == Op::If && constant_(f_.operand(inst, 0))) {
        if (!ReadChosenArm(inst)) return false;
      } else if (!ReadInst(inst) && !IsPure(inst)) {
        return Fail(fmt::format("'{}' in the body is not understood", ir::Info(inst.op).mnemonic));
      }
    }
    return true;
  }

  // An `if` whose condition is known is the arm it takes.
  bool ReadChosenArm(const Inst& inst) {
    const bool truth = (*constant_(f_.operand(inst, 0)))[0] != 0;
    const ir::Region& arm = f_.region(Function::region_of(inst, truth ? 0 : 1));
    if (!ReadInsts(arm)) return false;
    const Inst& yield = f_.inst(arm.insts.back());
    if (yield.op != Op::Yield) return Fail("an arm does not yield");
    for (uint32_t k = 0; k < inst.results.count; ++k) {
      forms_[inst.results.begin + k] = FormOf(f_.operand(yield, k));
    }
    return true;
  }

  // A value of the body, or a constant from outside.
  std::optional<Form> FormOf(ValueId value) const {
    if (forms_[value.index]) return forms_[value.index];
    const std::optional<BigInt> constant = IntegerConstant(value);
    if (!constant) return std::nullopt;
    Form form;
    form.powers = {*constant};
    return form;
  }

  static void AddScaled(std::vector<BigInt>& to, const std::vector<BigInt>& from,
                        const BigInt& factor) {
    if (to.size() < from.size()) to.resize(from.size());
    for (size_t i = 0; i < from.size(); ++i) to[i] = to[i] + from[i] * factor;
  }
  static Form Sum(Form a, const Form& b, const BigInt& factor) {
    AddScaled(a.carried, b.carried, factor);
    AddScaled(a.powers, b.powers, factor);
    return a;
  }
  static bool AllZero(const std::vector<BigInt>& v) {
    return std::ranges::all_of(v, [](const BigInt& x) { return x.is_zero(); });
  }
  static std::optional<BigInt> AsConstant(const Form& form) {
    if (!AllZero(form.carried)) return std::nullopt;
    for (size_t j = 1; j < form.powers.size(); ++j) {
      if (!form.powers[j].is_zero()) return std::nullopt;
    }
    return form.powers.empty() ? BigInt(0) : form.powers[0];
  }
  static std::optional<Form> Product(const Form& a, const Form& b) {
    if (const auto c = AsConstant(a)) return Sum(Form{}, b, *c);
    if (const auto c = AsConstant(b)) return Sum(Form{}, a, *c);
    if (!AllZero(a.carried) || !AllZero(b.carried)) return std::nullopt;
    Form product;
    product.powers.resize(a.powers.size() + b.powers.size());
    for (size_t i = 0; i < a.powers.size(); ++i) {
      for (size_t j = 0; j < b.powers.size(); ++j)
        product.powers[i + j] = product.powers[i + j] + a.powers[i] * b.powers[j];
    }
    while (!product.powers.empty() && product.powers.back().is_zero()) product.powers.pop_back();
    if (product.powers.size() > MaxDegree + 1) return std::nullopt;
    return product;
  }

  // Nothing that anybody would miss: a value without a form fails only those who need it.
  bool IsPure(const Inst& inst) const {
    if (inst.op == Op::Yield) return true;
    const bool choice = inst.op == Op::If || inst.op == Op::Switch;
    if (!choice && (inst.regions.count != 0 || !ir::IsRemovable(ir::Info(inst.op)))) return false;
    for (uint32_t i = 0; i < inst.regions.count; ++i) {
      for (ir::InstId inner : f_.region(Function::region_of(inst, i)).insts) {
        if (!IsPure(f_.inst(inner))) return false;
      }
    }
    return true;
  }

  bool ReadInst(const Inst& inst) {
    if (inst.results.count != 1 || inst.regions.count != 0) return false;
    const ValueId result = Function::result_of(inst);
    const ir::Type type = f_.type(result);
    if (inst.op == Op::Const) return true;  // through constant_
    if (!IsInteger(type) && type.scalar != ir::Scalar::Field) return false;
    std::vector<Form> operands;
    for (ValueId operand : f_.operands_of(inst)) {
      std::optional<Form> form = FormOf(operand);
      if (!form) return false;
      operands.push_back(std::move(*form));
    }
    std::optional<Form> form;
    if (inst.op == Op::Cast || inst.op == Op::CastChecked) {
      const ir::Type from = f_.type(f_.operand(inst, 0));
      if (!IsInteger(from)) return false;  // a field element is no integer
      // Narrowing keeps the low bits; anything else needs the value itself.
      const bool narrows = ir::IsFixedInt(type.scalar) && ir::IsFixedInt(from.scalar) &&
                           ir::BitsOf(type) <= ir::BitsOf(from);
      if (!narrows || inst.op == Op::CastChecked) exact_.push_back(f_.operand(inst, 0));
      form = operands[0];
    } else if (!operands.empty()) {
      form = RingResult(inst.op, operands[0], operands.back(), Sum, Product);
    }
    if (!form) return false;
    forms_[result.index] = std::move(form);
    if (ir::Info(inst.op).traps != 0) {  // exact operands and a result that fits cannot trap
      for (ValueId operand : f_.operands_of(inst)) exact_.push_back(operand);
      exact_.push_back(result);
    }
    return true;
  }

  // --- intervals ---------------------------------------------------------------------------------------------

  // The polynomial part over all indices, term by term.
  Interval PowersInterval(const std::vector<BigInt>& powers) const {
    const BigInt high = last_ - step_;
    Interval sum{0, 0};
    Interval power{1, 1};
    const Interval index{low_, high};
    for (const BigInt& coefficient : powers) {
      const Interval factor{coefficient, coefficient};
      const Interval part = *ExactInterval(Op::Mul, power, &factor);
      sum = *ExactInterval(Op::Add, sum, &part);
      power = *ExactInterval(Op::Mul, power, &index);
    }
    return sum;
  }

  // Bounds of every X_k at the start of every turn and after the last.
  void MeasureBounds() {
    majorants_ = Majorants();
    bool all_positive = !low_.is_negative();
    for (size_t k = 0; k < carried_count_; ++k) {
      all_positive = all_positive && !inits_[k].is_negative() &&
                     !PowersInterval(yields_[k].powers).low.is_negative();
      for (const BigInt& c : yields_[k].carried) all_positive = all_positive && !c.is_negative();
    }
    for (size_t k = 0; k < carried_count_; ++k) {
      if (!majorants_[k]) {
        bounds_.push_back(std::nullopt);
        continue;
      }
      Interval bound{-*majorants_[k], *majorants_[k]};
      if (all_positive) {
        bound.low = 0;
        // A sum of what is not negative never falls.
        const bool grows = k < yields_[k].carried.size() && yields_[k].carried[k] >= BigInt(1);
        if (grows) bound = {inits_[k], ExactFinal(k)};
      }
      bounds_.push_back(std::move(bound));
    }
  }

  // Y with Y_0 = |init| and Y' = max(|M|, 1) Y + |p|: never falls, and |X| <= Y in every turn.
  std::vector<Bound> Majorants() const {
    const size_t n = carried_count_ + 1;
    std::vector<std::vector<Bound>> power(n, std::vector<Bound>(n, BigInt(0)));
    for (size_t k = 0; k < carried_count_; ++k) {
      for (size_t j = 0; j < yields_[k].carried.size(); ++j)
        power[k][j] = Magnitude(yields_[k].carried[j]);
      power[k][k] = std::max(*power[k][k], BigInt(1));
      const Interval constant = PowersInterval(yields_[k].powers);
      power[k][carried_count_] = std::max(Magnitude(constant.low), Magnitude(constant.high));
    }
    power[carried_count_][carried_count_] = BigInt(1);
    std::vector<Bound> state;
    for (const BigInt& init : inits_) state.push_back(Magnitude(init));
    state.push_back(BigInt(1));
    const std::vector<uint64_t> bits = turns_.ToWords(2);
    for (uint32_t bit = 0; bit < turns_.bits(); ++bit) {
      if ((bits[bit / 64] >> (bit % 64) & 1) != 0) state = Times(power, state);
      power = Times(power, power);
    }
    state.pop_back();
    return state;
  }
  static void Accumulate(Bound& sum, const Bound& a, const Bound& b) {
    if (!sum) return;
    if ((a && a->is_zero()) || (b && b->is_zero())) return;
    if (!a || !b) {
      sum.reset();
      return;
    }
    *sum = *sum + *a * *b;
    if (sum->bits() > MaxBits) sum.reset();
  }
  static std::vector<Bound> Times(const std::vector<std::vector<Bound>>& m,
                                  const std::vector<Bound>& v) {
    std::vector<Bound> result(v.size(), BigInt(0));
    for (size_t i = 0; i < v.size(); ++i) {
      for (size_t j = 0; j < v.size(); ++j) Accumulate(result[i], m[i][j], v[j]);
    }
    return result;
  }
  static std::vector<std::vector<Bound>> Times(const std::vector<std::vector<Bound>>& a,
                                               const std::vector<std::vector<Bound>>& b) {
    std::vector<std::vector<Bound>> result(a.size(), std::vector<Bound>(a.size(), BigInt(0)));
    for (size_t i = 0; i < a.size(); ++i) {
      for (size_t j = 0; j < a.size(); ++j) {
        for (size_t k = 0; k < a.size(); ++k) Accumulate(result[i][j], a[i][k], b[k][j]);
      }
    }
    return result;
  }

  std::optional<Interval> IntervalOfForm(const Form& form) const {
    Interval sum = PowersInterval(form.powers);
    for (size_t k = 0; k < form.carried.size(); ++k) {
      if (form.carried[k].is_zero()) continue;
      if (!bounds_[k]) return std::nullopt;
      const Interval factor{form.carried[k], form.carried[k]};
      const Interval part = *ExactInterval(Op::Mul, *bounds_[k], &factor);
      sum = *ExactInterval(Op::Add, sum, &part);
    }
    return sum;
  }

  // What must be exact is: its form is its value, in every turn.
  bool CheckExactness() {
    for (uint32_t k = 0; k < carried_count_; ++k) {
      const ir::Type type = f_.type(Function::result_of(inst_, k));
      if (type.scalar == ir::Scalar::Int && !Fits(type, bounds_[k]))
        return Fail("a carried value may overflow");
    }
    for (ValueId value : exact_) {
      const std::optional<Form> form = FormOf(value);
      if (!form || !IsInteger(f_.type(value))) return Fail("an exact value is not an integer");
      if (!Fits(f_.type(value), IntervalOfForm(*form)))
        return Fail("an intermediate value may overflow");
    }
    return true;
  }
  static bool Fits(ir::Type type, const std::optional<Interval>& interval) {
    const std::optional<Interval> whole = IntervalOf(type);
    return whole && interval && Within(*interval, *whole);
  }

  // --- results -----------------------------------------------------------------------------------------------

  // The state after n turns modulo m: (X_0 .. X_{c-1}, 1, i, i^2 ...).
  std::vector<BigInt> StateAfter(const BigInt& modulus) const {
    size_t degree = 0;
    for (const Form& form : yields_)
      degree = std::max(degree, form.powers.empty() ? 0 : form.powers.size() - 1);
    const size_t n = carried_count_ + degree + 1;
    Matrix power(n, std::vector<BigInt>(n));
    for (size_t k = 0; k < carried_count_; ++k) {
      for (size_t j = 0; j < yields_[k].carried.size(); ++j)
        power[k][j] = yields_[k].carried[j].Mod(modulus);
      for (size_t j = 0; j < yields_[k].powers.size(); ++j)
        power[k][carried_count_ + j] = yields_[k].powers[j].Mod(modulus);
    }
    // (i + s)^j = sum of binomial(j, l) s^(j-l) i^l
    for (size_t j = 0; j <= degree; ++j) {
      BigInt binomial = 1;
      for (size_t l = j + 1; l-- > 0;) {
        BigInt entry = binomial;
        for (size_t e = 0; e < j - l; ++e) entry = entry * step_;
        power[carried_count_ + j][carried_count_ + l] = entry.Mod(modulus);
        if (l > 0) {
          BigInt rest;
          BigInt::DivRem(binomial * BigInt(static_cast<int64_t>(l)),
                         BigInt(static_cast<int64_t>(j - l + 1)), binomial, rest);
        }
      }
    }
    std::vector<BigInt> state;
    for (const BigInt& init : inits_) state.push_back(init.Mod(modulus));
    BigInt index_power = 1;
    for (size_t j = 0; j <= degree; ++j) {
      state.push_back(index_power.Mod(modulus));
      index_power = index_power * low_;
    }
    const std::vector<uint64_t> bits = turns_.ToWords(2);
    for (uint32_t bit = 0; bit < turns_.bits(); ++bit) {
      if ((bits[bit / 64] >> (bit % 64) & 1) != 0) state = TimesMod(power, state, modulus);
      if (bit + 1 < turns_.bits()) power = TimesMod(power, power, modulus);
    }
    return state;
  }
  static std::vector<BigInt> TimesMod(const Matrix& m, const std::vector<BigInt>& v,
                                      const BigInt& modulus) {
    std::vector<BigInt> result(v.size());
    for (size_t i = 0; i < v.size(); ++i) {
      for (size_t j = 0; j < v.size(); ++j) {
        if (!m[i][j].is_zero()) result[i] = result[i] + m[i][j] * v[j];
      }
      result[i] = result[i].Mod(modulus);
    }
    return result;
  }
  static Matrix TimesMod(const Matrix& a, const Matrix& b, const BigInt& modulus) {
    Matrix result(a.size(), std::vector<BigInt>(a.size()));
    for (size_t i = 0; i < a.size(); ++i) {
      for (size_t j = 0; j < a.size(); ++j) {
        for (size_t k = 0; k < a.size(); ++k) {
          if (!a[i][k].is_zero() && !b[k][j].is_zero())
            result[i][j] = result[i][j] + a[i][k] * b[k][j];
        }
        result[i][j] = result[i][j].Mod(modulus);
      }
    }
    return result;
  }

  // With a bound in hand the exact value is the small residue of a large enough modulus.
  BigInt ExactFinal(size_t k) const {
    const BigInt modulus = BigInt::PowerOfTwo(majorants_[k]->bits() + 2);
    const BigInt value = StateAfter(modulus)[k];
    return value * 2 >= modulus ? value - modulus : value;
  }

  LoopFinals Finals() const {
    uint32_t bits = 64;
    bool field = false;
    for (uint32_t k = 0; k < carried_count_; ++k) {
      const ir::Type type = f_.type(Function::result_of(inst_, k));
      bits = std::max(bits, 64 * ir::WordsOf(type));
      field = field || type.scalar == ir::Scalar::Field;
    }
    // One modulus for all: residues modulo 2^bits and modulo p can both be read off.
    const BigInt p = BigInt::FromUnsigned(goldilocks::P);
    const BigInt modulus = field ? BigInt::PowerOfTwo(bits) * p : BigInt::PowerOfTwo(bits);
    const std::vector<BigInt> state = StateAfter(modulus);
    LoopFinals finals;
    for (uint32_t k = 0; k < carried_count_; ++k)
      finals.results.push_back(WordsOfResult(k, state[k], p));
    return finals;
  }
  std::vector<uint64_t> WordsOfResult(uint32_t k, const BigInt& value, const BigInt& p) const {
    const ir::Type type = f_.type(Function::result_of(inst_, k));
    if (type.scalar == ir::Scalar::Field) return value.Mod(p).ToWords(1);
    std::vector<uint64_t> words = value.ToWords(ir::WordsOf(type));
    if (type.scalar == ir::Scalar::Int) return words;
    const int width = ir::BitsOf(type);
    if (width == 64) return words;
    words[0] &= (uint64_t{1} << width) - 1;
    if (ir::IsSigned(type.scalar) && (words[0] >> (width - 1)) != 0)
      words[0] |= ~uint64_t{0} << width;
    return words;
  }

  const Function& f_;
  const Inst& inst_;
  const std::function<std::optional<std::vector<uint64_t>>(ValueId)>& constant_;
  std::string& why_;
  std::vector<std::optional<Form>> forms_;
  BigInt low_, step_, turns_, last_;
  uint32_t carried_count_ = 0;
  std::vector<BigInt> inits_;
  std::vector<std::vector<uint64_t>> init_words_;
  std::vector<Form> yields_;
  std::vector<ValueId> exact_;
  std::vector<Bound> majorants_;
  std::vector<std::optional<Interval>> bounds_;
};

}  // namespace

std::optional<LoopFinals> FinalsOf(const ConstantLoop& loop, std::string& why) {
  return Loop(loop, why).Run();
}

}  // namespace frazil::verify
