// Forms stay small: an expression that grows beyond MaxTerms stands as itself, so that no program can make
// the analysis slow.
#include "targets/native/loop_plan_index.h"

#include <algorithm>
#include <set>

namespace frazil::targets::native {
namespace {

using ir::Op;
constexpr size_t MaxTerms = 24;
constexpr uint32_t MaxDegree = 6;
constexpr uint32_t MaxDepth = 200;

}  // namespace

IndexForm IndexForm::Constant(uint64_t n) {
  IndexForm form;
  form.AddTerm({}, n);
  return form;
}

IndexForm IndexForm::Of(ir::ValueId value) {
  IndexForm form;
  form.AddTerm({value.index}, 1);
  return form;
}

void IndexForm::AddTerm(const std::vector<uint32_t>& product, uint64_t coefficient) {
  uint64_t& sum = terms_[product];
  sum += coefficient;
  if (sum == 0) terms_.erase(product);
}

IndexForm operator+(const IndexForm& a, const IndexForm& b) {
  IndexForm sum = a;
  for (const auto& [product, coefficient] : b.terms_) sum.AddTerm(product, coefficient);
  return sum;
}

IndexForm operator-(const IndexForm& a, const IndexForm& b) {
  IndexForm difference = a;
  for (const auto& [product, coefficient] : b.terms_) difference.AddTerm(product, 0 - coefficient);
  return difference;
}

IndexForm operator*(const IndexForm& a, const IndexForm& b) {
  IndexForm product;
  for (const auto& [left, x] : a.terms_)
    for (const auto& [right, y] : b.terms_) {
      std::vector<uint32_t> factors = left;
      factors.insert(factors.end(), right.begin(), right.end());
      std::sort(factors.begin(), factors.end());
      product.AddTerm(factors, x * y);
    }
  return product;
}

std::optional<int64_t> IndexForm::constant() const {
  if (terms_.empty()) return 0;
  if (terms_.size() > 1 || !terms_.begin()->first.empty()) return std::nullopt;
  return static_cast<int64_t>(terms_.begin()->second);
}

bool IndexForm::Mentions(ir::ValueId value) const {
  return std::ranges::any_of(terms_, [&](const auto& term) {
    return std::ranges::find(term.first, value.index) != term.first.end();
  });
}

std::optional<IndexForm> IndexForm::Coefficient(ir::ValueId value) const {
  IndexForm result;
  for (const auto& [product, coefficient] : terms_) {
    auto count = std::ranges::count(product, value.index);
    if (count > 1) return std::nullopt;
    if (count == 0) continue;
    std::vector<uint32_t> rest = product;
    rest.erase(std::ranges::find(rest, value.index));
    result.AddTerm(rest, coefficient);
  }
  return result;
}

IndexForm IndexForm::Without(ir::ValueId value) const {
  IndexForm result;
  for (const auto& [product, coefficient] : terms_)
    if (std::ranges::find(product, value.index) == product.end())
      result.AddTerm(product, coefficient);
  return result;
}

std::vector<ir::ValueId> IndexForm::Atoms() const {
  std::set<uint32_t> atoms;
  for (const auto& [product, coefficient] : terms_) atoms.insert(product.begin(), product.end());
  std::vector<ir::ValueId> values;
  for (uint32_t atom : atoms) values.emplace_back(atom);
  return values;
}

uint32_t IndexForm::degree() const {
  size_t degree = 0;
  for (const auto& [product, coefficient] : terms_) degree = std::max(degree, product.size());
  return static_cast<uint32_t>(degree);
}

const IndexForm& IndexForms::Of(ir::ValueId value) {
  auto found = forms_.find(value.index);
  if (found != forms_.end()) return found->second;
  if (depth_ >= MaxDepth) return forms_.emplace(value.index, IndexForm::Of(value)).first->second;
  ++depth_;
  IndexForm form = Make(value);
  --depth_;
  if (form.size() > MaxTerms || form.degree() > MaxDegree) form = IndexForm::Of(value);
  return forms_.emplace(value.index, std::move(form)).first->second;
}

IndexForm IndexForms::Make(ir::ValueId value) {
  ir::InstId def = function_.values[value.index].def;
  if (!def.valid() || function_.type(value) != ir::types::Index) return IndexForm::Of(value);
  const ir::Inst& inst = function_.inst(def);
  auto operand = [&](uint32_t i) -> const IndexForm& { return Of(function_.operand(inst, i)); };
  switch (inst.op) {
    case Op::Const:
      return IndexForm::Constant(static_cast<uint64_t>(function_.word(inst, 0)));
    case Op::Add:
      return operand(0) + operand(1);
    case Op::Sub:
      return operand(0) - operand(1);
    case Op::Neg:
      return IndexForm::Constant(0) - operand(0);
    case Op::Mul:
      return operand(0) * operand(1);
    case Op::Shl: {
      std::optional<int64_t> amount = operand(1).constant();
      if (!amount) return IndexForm::Of(value);
      return operand(0) * IndexForm::Constant(uint64_t{1} << (*amount & 63));
    }
    default:
      return IndexForm::Of(value);
  }
}

}  // namespace frazil::targets::native
