// Atoms are eliminated one by one, innermost first: where the form grows with an atom its lower bound is set, where it
// falls its upper bound. What is left mentions only values that are the same everywhere, each with a constant lower
// bound; then every coefficient must be positive. Facts of the place are subtracted where they cancel an atom.
#include <algorithm>

#include "ir/lanes/lane_forms.h"

namespace frazil::ir {
namespace {

constexpr int64_t MostCoefficient = int64_t{1} << 40;

int64_t Signed(uint64_t n) { return static_cast<int64_t>(n); }

IndexForm Negative(const IndexForm& form) { return IndexForm::Constant(0) - form; }

uint64_t Greatest(const IndexForm& form) {
  uint64_t greatest = 0;
  for (const auto& [product, coefficient] : form.terms())
    greatest = std::max(greatest, std::min(coefficient, 0 - coefficient));
  return greatest;
}

// Nothing where a coefficient might wrap, here or when a few of them are added: it would stand for another number.
std::optional<IndexForm> Times(const IndexForm& a, const IndexForm& b) {
  const auto size = static_cast<double>(std::max(a.size(), b.size()));
  if (static_cast<double>(Greatest(a)) * static_cast<double>(Greatest(b)) * size > 0x1p56)
    return std::nullopt;
  return a * b;
}

}  // namespace

SignProver::SignProver(const LaneForms& forms, const Knowledge& knowledge, Conditions* conditions)
    : forms_(forms), knowledge_(knowledge), conditions_(conditions) {
  // atom + k >= 0.
  for (const IndexForm& fact : knowledge.facts) {
    std::vector<ValueId> atoms = fact.Atoms();
    if (atoms.size() != 1 || fact.degree() != 1) continue;
    auto term = fact.terms().find({atoms[0].index});
    if (term == fact.terms().end() || term->second != 1) continue;
    auto constant = fact.terms().find({});
    // By words: of -2^63 there is no negative, and it then says nothing, which is safe.
    const int64_t least = constant == fact.terms().end() ? 0 : Signed(0 - constant->second);
    auto [place, is_new] = least_.emplace(atoms[0].index, least);
    if (!is_new) place->second = std::max(place->second, least);
  }
}

bool SignProver::Prove(const IndexForm& form, int depth) {
  if (--steps_left_ < 0 || depth < 0) return false;
  if (Greatest(form) > static_cast<uint64_t>(MostCoefficient)) return false;
  const size_t before = conditions_ == nullptr ? 0 : conditions_->size();
  if (IsPlain(form) || BySetting(form, depth) || ByFact(form, depth) || ByCondition(form))
    return true;
  if (conditions_ != nullptr) conditions_->resize(before);
  return false;
}

bool SignProver::IsPlain(const IndexForm& form) const {
  // Each atom becomes its least value plus a rest that is not negative.
  IndexForm shifted = form;
  for (ValueId atom : form.Atoms()) {
    if (!forms_.IsUniform(atom.index)) return false;
    auto found = least_.find(atom.index);
    int64_t least = found == least_.end() ? INT64_MIN : found->second;
    if (forms_.IsNonNegative(atom.index)) least = std::max<int64_t>(least, 0);
    if (least < -MostCoefficient || least > MostCoefficient) return false;
    if (least == 0) continue;
    IndexForm moved = IndexForm::Constant(0);
    for (const auto& [product, coefficient] : shifted.terms()) {
      std::optional<IndexForm> term = IndexForm::Constant(coefficient);
      for (uint32_t factor : product) {
        IndexForm value = IndexForm::Of(ValueId(factor));
        if (factor == atom.index) value = value + IndexForm::Constant(static_cast<uint64_t>(least));
        term = Times(*term, value);
        if (!term) return false;
      }
      moved = moved + *term;
    }
    shifted = moved;
  }
  return std::ranges::all_of(shifted.terms(),
                             [](const auto& term) { return Signed(term.second) >= 0; });
}

bool SignProver::BySetting(const IndexForm& form, int depth) {
  std::vector<ValueId> atoms = form.Atoms();
  for (auto atom = atoms.rbegin(); atom != atoms.rend(); ++atom) {
    auto bounds = knowledge_.bounds.find(atom->index);
    if (bounds == knowledge_.bounds.end()) continue;
    std::optional<IndexForm> slope = form.Coefficient(*atom);
    if (!slope) continue;
    const IndexForm rest = form.Without(*atom);
    const bool grows = Prove(*slope, depth - 1);
    if (!grows && !Prove(Negative(*slope), depth - 1)) continue;
    const std::optional<IndexForm> end =
        Times(*slope, grows ? bounds->second.low : bounds->second.high);
    return end && Prove(rest + *end, depth - 1);
  }
  return false;
}

bool SignProver::ByFact(const IndexForm& form, int depth) {
  for (const IndexForm& fact : knowledge_.facts) {
    for (ValueId atom : fact.Atoms()) {
      std::optional<IndexForm> inner = fact.Coefficient(atom), outer = form.Coefficient(atom);
      if (!inner || !outer || outer->size() == 0) continue;
      std::optional<int64_t> sign = inner->constant();
      if (!sign || (*sign != 1 && *sign != -1)) continue;
      const IndexForm times = *sign == 1 ? *outer : Negative(*outer);
      const std::optional<IndexForm> shift = Times(times, fact);
      if (shift && Prove(times, std::min(depth - 1, 2)) &&
          Prove(form - *shift, std::min(depth - 1, 4)))
        return true;
    }
  }
  return false;
}

// second - first + something that is not negative.
bool SignProver::ByCondition(const IndexForm& form) {
  if (conditions_ == nullptr) return false;
  std::optional<uint32_t> more, less;
  for (const auto& [product, coefficient] : form.terms()) {
    if (product.empty()) {
      if (Signed(coefficient) < 0) return false;
      continue;
    }
    std::optional<uint32_t> param = product.size() == 1 ? forms_.ParamOf(product[0]) : std::nullopt;
    const int64_t sign = Signed(coefficient);
    if (!param || (sign != 1 && sign != -1)) return false;
    std::optional<uint32_t>& place = sign == 1 ? more : less;
    if (place) return false;
    place = param;
  }
  if (!more || !less) return false;
  conditions_->emplace_back(*less, *more);
  return true;
}

}  // namespace frazil::ir
