// With n = hi - lo turns and f(lo + t) = sum of c_j C(t, j), the sum is that of c_j C(n, j+1). The c_j are forward
// differences, hence integer combinations of the coefficients. C(n, k) modulo 2^64 without a division: of k consecutive
// numbers every other one is even, and the halves are consecutive again:
//
//   C(n, 2r)   = C(n >> 1, r) * product of the odd ones ((n - 1 - 2t) | 1) / (1 * 3 * ... * (2r - 1))
//   C(n, 2r+1) = C(n, 2r) * (n - 2r) / (2r + 1)
//
// and odd numbers have inverses. In a field all of k! has one.
#include "optimize/loops/symbolic_sum.h"

#include "base/number/goldilocks.h"
#include "optimize/fold.h"
#include "optimize/loops/ring_ops.h"

namespace frazil::optimize {
namespace {

using namespace ir::names;

constexpr size_t MostSymbolicDegree = 6;  // what the checker follows

uint64_t InverseOfOdd(uint64_t odd) {
  uint64_t x = odd;  // right in the lowest 3 bits; each step doubles them
  for (int i = 0; i < 5; ++i) x *= 2 - odd * x;
  return x;
}

ir::Type UnsignedOf(ir::Type type) {
  switch (ir::BitsOf(type)) {
    case 8: return ir::types::U8;
    case 16: return ir::types::U16;
    case 32: return ir::types::U32;
    default: return ir::types::U64;
  }
}

class SumReader {
 public:
  SumReader(const Function& function, const Inst& loop, SymbolicSums& sums)
      : f_(function),
        loop_(loop),
        body_(function.region(Function::region_of(loop, 0))),
        e_(sums.formula),
        sums_(sums),
        inside_(function.values.size(), false),
        forms_(function.values.size()) {}

  bool Read() {
    for (uint32_t i = 0; i < body_.params.count; ++i) inside_[body_.params.begin + i] = true;
    for (ir::InstId id : body_.insts)
      for (uint32_t r = 0; r < f_.inst(id).results.count; ++r)
        inside_[f_.inst(id).results.begin + r] = true;
    index_type_ = f_.type(Function::param_of(body_, 0));
    forms_[body_.params.begin] =
        Form{index_type_, {e_.Number(index_type_, 0), e_.Number(index_type_, 1)}, -1, true};
    for (uint32_t k = 0; k < loop_.results.count; ++k) {
      const ir::Type type = f_.type(Function::param_of(body_, k + 1));
      if (!ir::IsFixedInt(type.scalar) && type.scalar != ir::Scalar::Field) return false;
      forms_[body_.params.begin + 1 + k] = Form{type, {}, static_cast<int>(k), false};
    }
    for (ir::InstId id : body_.insts) {
      const Inst& inst = f_.inst(id);
      if (inst.op == Op::Yield) break;
      if (!ReadInst(inst)) return false;
    }
    return Close();
  }

 private:
  struct Form {
    ir::Type type;
    std::vector<ExprId> coefficients;  // by power of the index
    int carried = -1;                  // plus this carried value
    bool is_index = false;             // the index itself, as an exact integer
  };

  std::optional<Form> Of(ValueId value) {
    if (inside_[value.index]) return forms_[value.index];
    const ir::Type type = f_.type(value);
    if (!type.is_scalar()) return std::nullopt;
    return Form{type, {Leaf(value)}, -1, false};
  }

  ExprId Leaf(ValueId value) {
    const ir::InstId def = f_.values[value.index].def;
    if (def.valid() && f_.inst(def).op == Op::Const)
      return e_.Constant(f_.type(value), f_.words_of(f_.inst(def)));
    return e_.Value(value, f_.type(value));
  }

  bool ReadInst(const Inst& inst) {
    if (inst.regions.count != 0 || inst.results.count != 1 || ir::Info(inst.op).traps != 0)
      return false;
    std::optional<Form>& place = forms_[inst.results.begin];
    if (inst.op == Op::Const) {
      place = Form{inst.type, {e_.Constant(inst.type, f_.words_of(inst))}, -1, false};
      return true;
    }
    const bool ring = ir::IsFixedInt(inst.type.scalar) || inst.type.scalar == ir::Scalar::Field;
    std::vector<Form> operands;
    for (ValueId operand : f_.operands_of(inst)) {
      std::optional<Form> form = Of(operand);
      if (!form || !ring) return false;
      operands.push_back(std::move(*form));
    }
    if (const std::optional<int> sign = SignInSum(inst.op)) {
      if (*sign < 0 && operands.back().carried >= 0) return false;
      const Form last =
          *sign > 0 ? operands.back() : Scaled(operands.back(), e_.Number(inst.type, -1));
      place = operands.size() == 2 ? Sum(operands[0], last) : last;
    } else if (IsProduct(inst.op)) {
      place = Product(operands[0], operands[1]);
    } else if (inst.op == Op::Cast) {
      place = Converted(operands[0], inst.type);
    }
    return place.has_value();
  }

  std::optional<Form> Sum(const Form& a, const Form& b) {
    if (a.carried >= 0 && b.carried >= 0) return std::nullopt;
    Form sum{a.type, a.coefficients, std::max(a.carried, b.carried), false};
    for (size_t i = 0; i < b.coefficients.size(); ++i) {
      if (i < sum.coefficients.size())
        sum.coefficients[i] = e_.Add(sum.coefficients[i], b.coefficients[i]);
      else
        sum.coefficients.push_back(b.coefficients[i]);
    }
    return sum;
  }

  Form Scaled(Form form, ExprId by) {
    for (ExprId& coefficient : form.coefficients) coefficient = e_.Mul(coefficient, by);
    form.is_index = false;
    return form;
  }

  std::optional<Form> Product(const Form& a, const Form& b) {
    if (a.carried >= 0 || b.carried >= 0) return std::nullopt;
    if (a.coefficients.size() + b.coefficients.size() > MostSymbolicDegree + 2) return std::nullopt;
    Form product{a.type, {}, -1, false};
    product.coefficients.assign(a.coefficients.size() + b.coefficients.size() - 1,
                                e_.Number(a.type, 0));
    for (size_t i = 0; i < a.coefficients.size(); ++i)
      for (size_t j = 0; j < b.coefficients.size(); ++j)
        product.coefficients[i + j] =
            e_.Add(product.coefficients[i + j], e_.Mul(a.coefficients[i], b.coefficients[j]));
    return product;
  }

  // The index keeps its value in any type; other polynomials hold modulo their width and may only lose bits.
  std::optional<Form> Converted(const Form& from, ir::Type to) {
    if (from.carried >= 0) return std::nullopt;
    if (from.is_index)
      return Form{to,
                  {e_.Number(to, 0), e_.Number(to, 1)},
                  -1,
                  ir::IsFixedInt(to.scalar) && ir::BitsOf(to) > ir::BitsOf(from.type) &&
                      ir::IsSigned(to.scalar)};
    if (from.coefficients.size() == 1)
      return Form{to, {e_.Cast(from.coefficients[0], to)}, -1, false};
    if (!ir::IsFixedInt(to.scalar) || ir::BitsOf(to) > ir::BitsOf(from.type)) return std::nullopt;
    Form form{to, from.coefficients, -1, false};
    for (ExprId& coefficient : form.coefficients) coefficient = e_.Cast(coefficient, to);
    return form;
  }

  // --- the formula ----------------------------------------------------------------------------------------------
  ExprId Times(ExprId a, uint64_t constant) {
    return e_.Mul(a, e_.Constant(ir::types::U64, std::span(&constant, 1)));
  }

  // Modulo 2^64, n and the result being u64.
  ExprId Binomial(ExprId n, uint64_t k) {
    if (k == 1) return n;
    if (k % 2 == 1) {
      ExprId below = Binomial(n, k - 1);
      ExprId last = e_.Sub(n, e_.Number(ir::types::U64, static_cast<int64_t>(k - 1)));
      return Times(e_.Mul(below, last), InverseOfOdd(k));
    }
    const uint64_t r = k / 2;
    ExprId product = Binomial(e_.Shr(n, 1), r);
    uint64_t odd = 1;
    for (uint64_t t = 0; t < r; ++t) {
      ExprId factor =
          e_.Or(e_.Sub(n, e_.Number(ir::types::U64, static_cast<int64_t>(1 + 2 * t))), 1);
      product = e_.Mul(product, factor);
      odd *= 2 * t + 1;
    }
    return Times(product, InverseOfOdd(odd));
  }

  ExprId FieldBinomial(ExprId n, uint64_t k) {
    uint64_t factorial = 1;
    ExprId product = n;
    for (uint64_t i = 1; i < k; ++i) {
      product = e_.Mul(product, e_.Sub(n, e_.Number(ir::types::Field, static_cast<int64_t>(i))));
      factorial *= i + 1;
    }
    const uint64_t inverse = goldilocks::Invert(factorial);
    return e_.Mul(product, e_.Constant(ir::types::Field, std::span(&inverse, 1)));
  }

  // Coefficients of f(lo + t) in the basis C(t, 0), C(t, 1), ...
  std::vector<ExprId> Differences(std::vector<ExprId> p, ExprId lo) {
    const size_t degree = p.size() - 1;
    for (size_t i = 0; i < degree; ++i)
      for (size_t j = degree; j-- > i;) p[j] = e_.Add(p[j], e_.Mul(lo, p[j + 1]));
    // t^m = sum of j! S(m, j) C(t, j), with j! S(m, j) = j (row[j] + row[j-1]) of the row before.
    std::vector<int64_t> row = {1};
    std::vector<ExprId> c(p.size(), e_.Number(e_.TypeOf(lo), 0));
    for (size_t m = 0; m < p.size(); ++m) {
      for (size_t j = 0; j < row.size(); ++j)
        c[j] = e_.Add(c[j], e_.Mul(p[m], e_.Number(e_.TypeOf(lo), row[j])));
      std::vector<int64_t> next(row.size() + 1, 0);
      for (size_t j = 1; j < next.size(); ++j)
        next[j] = static_cast<int64_t>(j) * ((j < row.size() ? row[j] : 0) + row[j - 1]);
      row = std::move(next);
    }
    return c;
  }

  bool Close() {
    const Inst& yield = f_.inst(body_.insts.back());
    const ExprId lo = Leaf(f_.operand(loop_, 0)), hi = Leaf(f_.operand(loop_, 1));
    const ExprId n = e_.Cast(e_.Cast(e_.Sub(hi, lo), UnsignedOf(index_type_)), ir::types::U64);
    for (uint32_t k = 0; k < loop_.results.count; ++k) {
      std::optional<Form> form = Of(f_.operand(yield, k));
      if (!form || form->carried != static_cast<int>(k)) return false;
      while (form->coefficients.size() > 1 && e_.IsNumber(form->coefficients.back(), 0))
        form->coefficients.pop_back();
      const ExprId init = Leaf(f_.operand(loop_, 2 + k));
      ExprId sum = init;
      if (!form->coefficients.empty()) {
        sums_.degree = std::max(sums_.degree, form->coefficients.size() - 1);
        const std::vector<ExprId> c = Differences(form->coefficients, e_.Cast(lo, form->type));
        const bool field = form->type.scalar == ir::Scalar::Field;
        for (size_t j = 0; j < c.size(); ++j) {
          if (e_.IsNumber(c[j], 0)) continue;
          const ExprId binomial = field ? FieldBinomial(e_.Cast(n, form->type), j + 1)
                                        : e_.Cast(Binomial(n, j + 1), form->type);
          sum = e_.Add(sum, e_.Mul(c[j], binomial));
        }
      }
      sums_.results.push_back(e_.Select(e_.Less(lo, hi), sum, init));
    }
    return true;
  }

  const Function& f_;
  const Inst& loop_;
  const ir::Region& body_;
  Formula& e_;
  SymbolicSums& sums_;
  ir::Type index_type_;
  std::vector<bool> inside_;
  std::vector<std::optional<Form>> forms_;
};

}  // namespace

std::optional<SymbolicSums> ReadSums(const Function& function, const Inst& loop) {
  if (loop.op != Op::For || loop.results.count != 1 || function.word(loop, 0) != 1)
    return std::nullopt;
  SymbolicSums sums;
  if (!SumReader(function, loop, sums).Read()) return std::nullopt;
  return sums;
}

}  // namespace frazil::optimize
