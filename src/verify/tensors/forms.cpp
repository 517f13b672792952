#include "verify/tensors/forms.h"

#include <algorithm>

#include "verify/internal/polynomial.h"

namespace frazil::verify::tensors {

using ir::Op;
using ir::Type;

namespace {

constexpr size_t MostForms = 100'000;
constexpr size_t MostIndices = 64;

uint64_t Mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdu;
}

// Of a node that holds one, so that everything in it fits.
Polynomial SumOf(const Node& node) {
  Polynomial sum;
  size_t next = 0;
  for (size_t i = 0; i < node.words.size(); i += 2) {
    Polynomial product = Polynomial::Number(static_cast<int64_t>(node.words[i]));
    for (uint64_t k = 0; k < node.words[i + 1]; ++k)
      product = *product.Times(Polynomial::Atom(node.children[next++]));
    sum = *sum.Plus(product);
  }
  return sum;
}

bool Binds(Kind kind) { return kind == Kind::Fold || kind == Kind::Chain || kind == Kind::Loop; }

}  // namespace

size_t Forms::Hash::operator()(const Node& node) const {
  uint64_t hash = static_cast<uint64_t>(node.kind) | static_cast<uint64_t>(node.op) << 8 |
                  static_cast<uint64_t>(node.type.scalar) << 16 |
                  static_cast<uint64_t>(node.type.limbs) << 24 |
                  static_cast<uint64_t>(node.from) << 32;
  for (const uint64_t word : node.words) hash = Mix(hash, word);
  for (const FormId child : node.children) hash = Mix(hash, child);
  return hash;
}

FormId Forms::Intern(Node node) {
  if (nodes_.size() >= MostForms) {
    is_exhausted_ = true;
    return 0;
  }
  const auto [at, is_new] = ids_.try_emplace(node, static_cast<FormId>(nodes_.size()));
  if (!is_new) return at->second;
  Extra extra;
  if (node.kind == Kind::Index) {
    if (indices_.size() < MostIndices)
      extra.open = 1ull << indices_.size();
    else
      is_exhausted_ = true;
    indices_.push_back(at->second);
  } else {
    for (const FormId child : node.children) {
      extra.open |= extras_[child].open;
      extra.height = std::max(extra.height, extras_[child].height);
    }
    if (Binds(node.kind)) ++extra.height;
  }
  nodes_.push_back(std::move(node));
  extras_.push_back(extra);
  return at->second;
}

FormId Forms::Number(int64_t number) {
  return Intern({.type = ir::types::Index, .words = {static_cast<uint64_t>(number)}});
}

FormId Forms::Constant(Type type, std::span<const uint64_t> words) {
  if (IsWord(type)) return Number(static_cast<int64_t>(words[0]));
  return Intern({.type = type, .words = {words.begin(), words.end()}});
}

FormId Forms::Param(uint32_t param) { return Intern({.kind = Kind::Param, .words = {param}}); }

FormId Forms::Element(uint32_t param, std::span<const FormId> indices) {
  return Intern(
      {.kind = Kind::Element, .words = {param}, .children = {indices.begin(), indices.end()}});
}

std::optional<int64_t> Forms::NumberOf(FormId id) const {
  const Node& node = nodes_[id];
  if (node.kind != Kind::Constant || !IsWord(node.type)) return std::nullopt;
  return static_cast<int64_t>(node.words[0]);
}

// --- polynomials ------------------------------------------------------------------------------------------------
FormId Forms::OfPolynomial(const Polynomial& polynomial) {
  if (const auto number = polynomial.AsNumber()) return Number(*number);
  if (const auto atom = polynomial.AsAtom()) return *atom;
  Node node{.kind = Kind::Sum, .type = ir::types::Index};
  for (const auto& [monomial, factor] : polynomial.terms()) {
    const size_t before = node.children.size();
    for (const FormId atom : monomial)
      if (atom != NoForm) node.children.push_back(atom);
    node.words.push_back(static_cast<uint64_t>(factor));
    node.words.push_back(node.children.size() - before);
  }
  return Intern(std::move(node));
}

Polynomial Forms::PolynomialOf(FormId form) const {
  if (const auto number = NumberOf(form)) return Polynomial::Number(*number);
  const Node& node = nodes_[form];
  return node.kind == Kind::Sum ? SumOf(node) : Polynomial::Atom(form);
}

// Of words; nothing where a factor does not fit.
std::optional<FormId> Forms::OfWords(Op op, std::span<const FormId> children) {
  const auto result = RingResult(
      op, PolynomialOf(children[0]), PolynomialOf(children.back()),
      [](const Polynomial& a, const Polynomial& b, int64_t factor) { return a.Plus(b, factor); },
      [](const Polynomial& a, const Polynomial& b) { return a.Times(b); });
  if (!result) return std::nullopt;
  return OfPolynomial(*result);
}

// --- scalar ops -------------------------------------------------------------------------------------------------
FormId Forms::Apply(Op op, Type type, ir::Scalar from, std::span<const uint64_t> words,
                    std::span<const FormId> children) {
  switch (op) {
    FRAZIL_CASES(Ring)
      if (IsWord(type))
        if (const std::optional<FormId> form = OfWords(op, children)) return *form;
      break;
    case Op::Cast:
    case Op::Bitcast:
      if (IsWord(type) && IsWord(Type::Of(from))) return children[0];
      break;
    case Op::Select: return Select(type, children[0], children[1], children[2]);
    FRAZIL_CASES(Comparison) return Compare(op, type, children[0], children[1]);
    case Op::Not:
      if (const Node& node = nodes_[children[0]];
          type == ir::types::Bool && node.kind == Kind::Apply && node.op == Op::Not)
        return node.children[0];
      break;
    default: break;
  }
  const bool converts = op == Op::Cast || op == Op::CastChecked || op == Op::Bitcast;
  Node node{.kind = Kind::Apply,
            .op = op,
            .type = type,
            .from = converts ? from : ir::Scalar::Bool,
            .words = {words.begin(), words.end()},
            .children = {children.begin(), children.end()}};
  if (ir::Info(op).law == ir::Law::Commutes) std::ranges::sort(node.children);
  return Intern(std::move(node));
}

FormId Forms::Select(Type type, FormId condition, FormId first, FormId second) {
  if (first == second) return first;
  const Node& node = nodes_[condition];
  if (node.kind == Kind::Constant) return node.words[0] != 0 ? first : second;
  if (node.kind == Kind::Apply && node.op == Op::Not) {
    condition = node.children[0];
    std::swap(first, second);
  }
  return Intern({.kind = Kind::Apply,
                 .op = Op::Select,
                 .type = type,
                 .children = {condition, first, second}});
}

// Comparisons are `eq`, `lt` and (of floats) `le`, or `not` of these.
FormId Forms::Compare(Op op, Type type, FormId a, FormId b) {
  const bool is_float = ir::IsFloat(type.scalar);
  if (op == Op::Gt || op == Op::Ge) {
    std::swap(a, b);
    op = op == Op::Gt ? Op::Lt : Op::Le;
  }
  const bool negated = op == Op::Ne || (op == Op::Le && !is_float);
  if (op == Op::Ne) op = Op::Eq;
  if (op == Op::Le && !is_float) {
    op = Op::Lt;
    std::swap(a, b);
  }
  FormId form = NoForm;
  if (a == b && !is_float) {
    const uint64_t holds = op == Op::Eq ? 1 : 0;
    form = Constant(ir::types::Bool, std::span(&holds, 1));
  } else {
    if (op == Op::Eq && b < a) std::swap(a, b);
    form = Intern({.kind = Kind::Apply, .op = op, .type = type, .children = {a, b}});
  }
  if (!negated) return form;
  if (nodes_[form].kind == Kind::Constant) {
    const uint64_t holds = nodes_[form].words[0] == 0 ? 1 : 0;
    return Constant(ir::types::Bool, std::span(&holds, 1));
  }
  return Intern({.kind = Kind::Apply, .op = Op::Not, .type = ir::types::Bool, .children = {form}});
}

// --- indices ----------------------------------------------------------------------------------------------------
FormId Forms::Open(FormId size) {
  if (NumberOf(size) == 1) return Number(0);
  for (uint64_t which = 0;; ++which) {
    const FormId index = Intern(
        {.kind = Kind::Index, .type = ir::types::Index, .words = {which}, .children = {size}});
    if (is_exhausted_) return index;
    if (std::ranges::find(open_, index) != open_.end()) continue;
    open_.push_back(index);
    return index;
  }
}

void Forms::Close(FormId index) {
  if (const auto at = std::ranges::find(open_, index); at != open_.end()) open_.erase(at);
}

FormId Forms::Bind(Node node, size_t first, FormId index) {
  uint32_t height = 0;
  for (const FormId child : node.children) height = std::max(height, extras_[child].height);
  if (nodes_[index].kind == Kind::Index) {
    const FormId name =
        Intern({.kind = Kind::Bound, .type = ir::types::Index, .words = {height + 1}});
    std::unordered_map<FormId, FormId> done;
    for (size_t i = first; i < node.children.size(); ++i)
      node.children[i] = Renamed(node.children[i], index, name, done);
  }
  return Intern(std::move(node));
}

// Nothing is simplified again: that was done where the size of the index was known.
FormId Forms::Renamed(FormId id, FormId index, FormId name,
                      std::unordered_map<FormId, FormId>& done) {
  if ((extras_[id].open & extras_[index].open) == 0 || is_exhausted_) return id;
  if (id == index) return name;
  if (const auto known = done.find(id); known != done.end()) return known->second;
  Node node = nodes_[id];
  for (FormId& child : node.children) child = Renamed(child, index, name, done);
  FormId result = NoForm;
  if (node.kind == Kind::Sum) {
    result = OfPolynomial(SumOf(node));
  } else {
    if ((node.kind == Kind::Apply && ir::Info(node.op).law == ir::Law::Commutes))
      std::ranges::sort(node.children);
    result = Intern(std::move(node));
  }
  done.emplace(id, result);
  return result;
}

}  // namespace frazil::verify::tensors
