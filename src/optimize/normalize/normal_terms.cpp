// Which rules: cancellation and units, nothing that only moves an op. Rules that change the order of floats' operations
// are not in the table at all; rules that are true but would break confluence with these (associativity, signs moving
// through products) are left to the e-graph, which compares instead of deciding.
#include "optimize/normalize/normal_terms.h"

#include <algorithm>

#include "base/check.h"
#include "optimize/fold.h"

namespace frazil::optimize {
namespace {

using ir::ConditionKind;
using ir::Pattern;
using ir::PatternNode;
using Kind = NormalTerm::Kind;

constexpr std::string_view RuleNames[] = {
    "add_zero",
    "sub_zero",
    "sub_self",
    "mul_one",
    "mul_zero",
    "add_sub_cancels",
    "sub_add_cancels",
    "sub_sub_cancels",
    "abs_abs",
    "min_self",
    "max_self",
    "xor_zero",
    "xor_constants",
    "select_same",
    "select_true",
    "select_false",
    "select_inner_true",
    "select_inner_false",
    "bitcast_u16",
    "bitcast_u32",
    "bitcast_u64",
    "bitcast_from_u16",
    "bitcast_from_u32",
    "bitcast_from_u64",
    "float_add_neg_zero",
    "float_sub_zero",
    "float_mul_one",
    "float_div_one",
    "float_min_self",
    "float_max_self",
};

uint64_t Mix(uint64_t h, uint64_t word) {
  h = (h ^ word) * 0x9e3779b97f4a7c15ull;
  return h ^ h >> 29;
}

uint64_t TypeWord(ir::Type type) {
  return static_cast<uint64_t>(type.scalar) | static_cast<uint64_t>(type.limbs) << 8;
}

ir::Type TypeAt(ir::PatternType pattern, ir::Type t) {
  return pattern.is_t ? t : ir::Type::Of(pattern.scalar);
}

uint32_t RootOf(const Pattern& pattern) { return static_cast<uint32_t>(pattern.nodes.size() - 1); }

// A float constant that is no NaN, or the one quiet NaN.
bool IsPlain(ir::Type type, uint64_t word) {
  uint64_t infinity = 0, quiet = 0;
  switch (type.scalar) {
    case ir::Scalar::F16: infinity = 0x7c00, quiet = 0x7e00; break;
    case ir::Scalar::BF16: infinity = 0x7f80, quiet = 0x7fc0; break;
    case ir::Scalar::F32: infinity = 0x7f800000, quiet = 0x7fc00000; break;
    case ir::Scalar::F64: infinity = 0x7ff0000000000000, quiet = 0x7ff8000000000000; break;
    default: return false;
  }
  return (word & ~(uint64_t{1} << (ir::BitsOf(type) - 1))) <= infinity || word == quiet;
}

bool IsArithmetic(const NormalTerm& term) {
  if (!ir::IsFloat(term.result.scalar)) return false;
  switch (term.kind) {
    case Kind::Constant: return IsPlain(term.result, term.words[0]);
    // Of one element a reduction is that element, and moves its bits; a prelude function may give its operand back.
    case Kind::Apply:
      return term.op != ir::Op::Select && term.op != ir::Op::Bitcast && IsScalarOp(term.op);
    default: return false;
  }
}

}  // namespace

std::span<const ir::Rule* const> NormalFormRules() {
  static const std::vector<const ir::Rule*> rules = [] {
    std::vector<const ir::Rule*> chosen;
    for (const ir::Rule& rule : ir::ParsedRules())
      if (std::ranges::find(RuleNames, rule.row->name) != std::end(RuleNames))
        chosen.push_back(&rule);
    CHECK(chosen.size() == std::size(RuleNames));
    return chosen;
  }();
  return rules;
}

NormalTerms::NormalTerms(std::span<const ir::Rule* const> rules, bool only_proved)
    : rules_(ir::OpCount), only_proved_(only_proved) {
  for (const ir::Rule* rule : rules)
    rules_[static_cast<size_t>(rule->left.root().op)].push_back(rule);
}

int NormalTerms::Compare(TermId a, TermId b) const {
  if (a == b) return 0;
  const NormalTerm &x = terms_[a], &y = terms_[b];
  // Constants last, as people write them; leaves by name; the rest by content's hash.
  const auto rank = [](const NormalTerm& t) {
    return t.kind == Kind::Constant ? 9 : static_cast<int>(t.kind);
  };
  if (rank(x) != rank(y)) return rank(x) < rank(y) ? -1 : 1;
  if (x.children.empty() && x.words != y.words) return x.words < y.words ? -1 : 1;
  if (x.hash != y.hash) return x.hash < y.hash ? -1 : 1;
  const auto key = [](const NormalTerm& t) {
    return std::pair(static_cast<int>(t.op), TypeWord(t.type) << 16 | TypeWord(t.result));
  };
  if (key(x) != key(y)) return key(x) < key(y) ? -1 : 1;
  if (x.words != y.words) return x.words < y.words ? -1 : 1;
  if (x.children.size() != y.children.size()) return x.children.size() < y.children.size() ? -1 : 1;
  for (size_t i = 0; i < x.children.size(); ++i)
    if (const int order = Compare(x.children[i], y.children[i]); order != 0) return order;
  return 0;
}

TermId NormalTerms::Intern(NormalTerm term) {
  uint64_t hash = Mix(static_cast<uint64_t>(term.kind) << 8 | static_cast<uint64_t>(term.op),
                      TypeWord(term.type) << 16 | TypeWord(term.result));
  for (uint64_t word : term.words) hash = Mix(hash, word);
  for (TermId child : term.children) hash = Mix(hash, terms_[child].hash);
  const auto [begin, end] = known_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    const NormalTerm& other = terms_[it->second];
    if (other.kind == term.kind && other.op == term.op && other.type == term.type &&
        other.result == term.result && other.words == term.words && other.children == term.children)
      return it->second;
  }
  term.hash = hash;
  term.uniform = term.kind != Kind::Slot && term.kind != Kind::Index;
  if (term.kind == Kind::Apply)
    for (TermId child : term.children) term.uniform &= terms_[child].uniform;
  term.arithmetic = IsArithmetic(term);
  const auto id = static_cast<TermId>(terms_.size());
  terms_.push_back(std::move(term));
  known_.emplace(hash, id);
  return id;
}

TermId NormalTerms::Leaf(Kind kind, ir::Type result, uint64_t which) {
  NormalTerm term{.kind = kind, .type = result, .result = result, .words = {which}};
  return Intern(std::move(term));
}

TermId NormalTerms::Constant(ir::Type type, std::span<const uint64_t> words) {
  return Intern({.kind = Kind::Constant,
                 .type = type,
                 .result = type,
                 .words = {words.begin(), words.end()}});
}

TermId NormalTerms::Reduce(ir::Type result, std::span<const uint64_t> words, TermId child) {
  return Intern({.kind = Kind::Reduce,
                 .op = ir::Op::Reduce,
                 .type = result,
                 .result = result,
                 .words = {words.begin(), words.end()},
                 .children = {child}});
}

TermId NormalTerms::Raw(ir::Op op, ir::Type type, ir::Type result,
                        std::span<const TermId> children) {
  NormalTerm term{.kind = Kind::Apply,
                  .op = op,
                  .type = type,
                  .result = result,
                  .children = {children.begin(), children.end()}};
  if (ir::Info(op).law == ir::Law::Commutes && Compare(term.children[1], term.children[0]) < 0)
    std::swap(term.children[0], term.children[1]);
  return Intern(std::move(term));
}

TermId NormalTerms::Apply(ir::Op op, ir::Type type, ir::Type result,
                          std::span<const uint64_t> words, std::span<const TermId> children) {
  std::vector<FoldOperand> operands;
  for (TermId child : children)
    if (terms_[child].kind == Kind::Constant)
      operands.push_back({terms_[child].result, terms_[child].words});
  if (!children.empty() && operands.size() == children.size()) {
    if (const std::optional<std::vector<uint64_t>> folded = Fold(op, type, result, words, operands))
      return Constant(result, *folded);
  }
  if (!words.empty()) {
    NormalTerm term{.kind = Kind::Apply,
                    .op = op,
                    .type = type,
                    .result = result,
                    .words = {words.begin(), words.end()},
                    .children = {children.begin(), children.end()}};
    return Intern(std::move(term));
  }
  return Rewrite(Raw(op, type, result, children));
}

TermId NormalTerms::Rewrite(TermId term) {
  for (const ir::Rule* rule : rules_[static_cast<size_t>(terms_[term].op)]) {
    if (!MatchRoot(*rule, term)) continue;
    ++rewrites_;
    // Building rewrites in turn, and matches: the bindings have to be this call's own.
    const Match match = match_;
    const TermId built = Build(RootOf(match.rule->right));
    if (built == NoTerm) continue;
    return built;
  }
  return term;
}

std::vector<TermId> NormalTerms::StepsAtRoot(TermId term) {
  std::vector<TermId> results;
  if (terms_[term].kind != Kind::Apply) return results;
  raw_ = true;
  all_ = &results;
  for (const ir::Rule* rule : rules_[static_cast<size_t>(terms_[term].op)]) MatchRoot(*rule, term);
  all_ = nullptr;
  raw_ = false;
  return results;
}

bool NormalTerms::MatchRoot(const ir::Rule& rule, TermId term) {
  match_.rule = &rule;
  match_.typed = false;
  match_.holes.assign(rule.holes.size(), NoTerm);
  goals_.clear();
  return SolveApply(rule.left.root(), term, 0);
}

bool NormalTerms::BindType(ir::PatternType pattern, ir::Type type) {
  if (!pattern.is_t) return ir::Type::Of(pattern.scalar) == type;
  if (match_.typed) return match_.type == type;
  if (!ir::Contains(match_.rule->row->types, type.scalar)) return false;
  if (only_proved_ && !ir::RuleRecordedAsProved(*match_.rule->row, type.scalar)) return false;
  match_.type = type;
  match_.typed = true;
  return true;
}

bool NormalTerms::SolveApply(const PatternNode& pattern, TermId id, size_t goal) {
  const NormalTerm& term = terms_[id];
  if (term.kind != Kind::Apply || term.op != pattern.op ||
      term.children.size() != pattern.children.size())
    return false;
  const bool typed = match_.typed;
  if (BindType(pattern.op_type, term.type) && BindType(pattern.type, term.result)) {
    const size_t count = pattern.children.size(), goals = goals_.size();
    const std::vector<TermId> children = term.children;
    const bool swaps = ir::Info(pattern.op).law == ir::Law::Commutes;
    for (int turn = 0; turn < (swaps ? 2 : 1); ++turn) {
      for (size_t i = 0; i < count; ++i)
        goals_.push_back({pattern.children[i], children[turn == 0 ? i : count - 1 - i]});
      if (Solve(goal)) return true;
      goals_.resize(goals);
    }
  }
  match_.typed = typed;
  return false;
}

bool NormalTerms::Solve(size_t goal) {
  if (goal == goals_.size()) return match_.typed && Conditions() && Found();
  const Goal now = goals_[goal];
  const PatternNode& pattern = match_.rule->left.nodes[now.pattern];
  const bool typed = match_.typed;
  switch (pattern.kind) {
    case PatternNode::Kind::Apply: return SolveApply(pattern, now.term, goal + 1);
    case PatternNode::Kind::Hole:
    case PatternNode::Kind::ConstantHole: {
      if (pattern.kind == PatternNode::Kind::ConstantHole &&
          terms_[now.term].kind != Kind::Constant)
        return false;
      if (match_.holes[pattern.hole] != NoTerm)
        return match_.holes[pattern.hole] == now.term && Solve(goal + 1);
      if (!BindType(pattern.type, terms_[now.term].result)) return false;
      match_.holes[pattern.hole] = now.term;
      if (Solve(goal + 1)) return true;
      match_.holes[pattern.hole] = NoTerm;
      break;
    }
    default: {
      if (terms_[now.term].kind != Kind::Constant ||
          !BindType(pattern.type, terms_[now.term].result))
        break;
      std::vector<uint64_t> words;
      if (Evaluate(match_.rule->left, now.pattern, words) && words == terms_[now.term].words &&
          Solve(goal + 1))
        return true;
      break;
    }
  }
  match_.typed = typed;
  return false;
}

// The rules of the normal form need no other conditions; one that has others never matches.
bool NormalTerms::Conditions() const {
  return std::ranges::all_of(match_.rule->conditions, [&](const ir::RuleCondition& condition) {
    return condition.kind == ConditionKind::Arithmetic &&
           terms_[match_.holes[condition.hole]].arithmetic;
  });
}

bool NormalTerms::Found() {
  if (all_ == nullptr) return true;
  const Match match = match_;
  if (const TermId built = Build(RootOf(match.rule->right)); built != NoTerm)
    all_->push_back(built);
  match_ = match;
  return false;  // look for more
}

bool NormalTerms::Evaluate(const Pattern& pattern, uint32_t index,
                           std::vector<uint64_t>& words) const {
  const PatternNode& node = pattern.nodes[index];
  switch (node.kind) {
    case PatternNode::Kind::Hole:
    case PatternNode::Kind::ConstantHole: {
      const TermId bound = match_.holes[node.hole];
      if (bound == NoTerm || terms_[bound].kind != Kind::Constant) return false;
      words = terms_[bound].words;
      return true;
    }
    case PatternNode::Kind::Number:
    case PatternNode::Kind::Special: {
      std::optional<std::vector<uint64_t>> constant =
          ir::PatternConstant(node, TypeAt(node.type, match_.type));
      if (!constant) return false;
      words = std::move(*constant);
      return true;
    }
    case PatternNode::Kind::Computed: return Evaluate(pattern, node.children[0], words);
    case PatternNode::Kind::Apply: break;
  }
  std::vector<std::vector<uint64_t>> values(node.children.size());
  std::vector<FoldOperand> operands;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!Evaluate(pattern, node.children[i], values[i])) return false;
    operands.push_back({TypeAt(pattern.nodes[node.children[i]].type, match_.type), values[i]});
  }
  std::optional<std::vector<uint64_t>> folded = Fold(node.op, TypeAt(node.op_type, match_.type),
                                                     TypeAt(node.type, match_.type), {}, operands);
  if (!folded) return false;
  words = std::move(*folded);
  return true;
}

TermId NormalTerms::Build(uint32_t index) {
  const PatternNode& node = match_.rule->right.nodes[index];
  if (node.kind == PatternNode::Kind::Hole || node.kind == PatternNode::Kind::ConstantHole)
    return match_.holes[node.hole];
  const Match match = match_;
  const ir::Type result = TypeAt(node.type, match.type);
  if (node.kind != PatternNode::Kind::Apply) {
    std::vector<uint64_t> words;
    return Evaluate(match.rule->right, index, words) ? Constant(result, words) : NoTerm;
  }
  std::vector<TermId> children;
  for (uint32_t child : node.children) {
    children.push_back(Build(child));
    match_ = match;
    if (children.back() == NoTerm) return NoTerm;
  }
  const ir::Type type = TypeAt(node.op_type, match.type);
  return raw_ ? Raw(node.op, type, result, children) : Apply(node.op, type, result, {}, children);
}

}  // namespace frazil::optimize
