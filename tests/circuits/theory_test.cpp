// Why the normal form is one. Rewriting ends (weights) and is confluent (every critical pair, modulo exchanging
// operands of commuting ops, joins); programs have equal normal forms exactly if an independent model of slots says so;
// and wrong rules, planted, are found by execution.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include <gtest/gtest.h>

#include "ir/digest.h"
#include "optimize/normalize/normalize_state.h"
#include "optimize/reduce.h"
#include "random_circuit.h"

namespace frazil {
namespace {

namespace circuits = frontends::circuits;
using namespace test_circuits;
using ir::Pattern;
using ir::PatternNode;
using optimize::NormalTerm;
using optimize::NormalTerms;
using optimize::TermId;

// --- termination -----------------------------------------------------------------------------------------------
TEST(NormalFormTheory, EveryRuleMakesTermsLighter) {
  for (const ir::Rule* rule : optimize::NormalFormRules()) {
    const optimize::DirectedRule directed{rule, false, rule->row->types, false};
    EXPECT_TRUE(optimize::MakesLighter(directed)) << rule->row->name;
  }
}

TEST(NormalFormTheory, EveryRuleIsProvedForSomeType) {
  for (const ir::Rule* rule : optimize::NormalFormRules()) {
    bool proved = false;
    for (int t = 0; t < ir::ScalarCount; ++t)
      proved |= ir::RuleRecordedAsProved(*rule->row, static_cast<ir::Scalar>(t));
    EXPECT_TRUE(proved) << rule->row->name;
  }
}

// --- confluence -------------------------------------------------------------------------------------------------
// Patterns with types put in; holes are numbered apart for two rules.
struct Tree {
  int hole = -1;          // >= 0: a hole
  bool constant = false;  // a hole for constants
  bool is_literal = false;
  std::vector<uint64_t> words = {};
  ir::Op op = ir::Op::Const;
  ir::Type type = {}, result = {};
  std::vector<std::shared_ptr<const Tree>> children = {};
};
using TreePtr = std::shared_ptr<const Tree>;
using Bindings = std::map<int, TreePtr>;

TreePtr Instance(const Pattern& pattern, uint32_t index, ir::Type t, int base) {
  const PatternNode& node = pattern.nodes[index];
  const auto at = [&](ir::PatternType type) { return type.is_t ? t : ir::Type::Of(type.scalar); };
  Tree tree;
  tree.result = at(node.type);
  switch (node.kind) {
    case PatternNode::Kind::ConstantHole: tree.constant = true; [[fallthrough]];
    case PatternNode::Kind::Hole: tree.hole = base + static_cast<int>(node.hole); break;
    case PatternNode::Kind::Apply:
      tree.op = node.op;
      tree.type = at(node.op_type);
      for (uint32_t child : node.children) {
        const TreePtr made = Instance(pattern, child, t, base);
        if (!made) return nullptr;
        tree.children.push_back(made);
      }
      break;
    default: {
      const std::optional<std::vector<uint64_t>> words = ir::PatternConstant(node, tree.result);
      if (!words) return nullptr;
      tree.is_literal = true;
      tree.words = *words;
    }
  }
  return std::make_shared<const Tree>(std::move(tree));
}

TreePtr Resolve(TreePtr tree, const Bindings& bindings) {
  while (tree->hole >= 0) {
    const auto found = bindings.find(tree->hole);
    if (found == bindings.end()) break;
    tree = found->second;
  }
  return tree;
}

bool Occurs(int hole, const TreePtr& tree, const Bindings& bindings) {
  const TreePtr at = Resolve(tree, bindings);
  if (at->hole >= 0) return at->hole == hole;
  return std::ranges::any_of(at->children,
                             [&](const TreePtr& child) { return Occurs(hole, child, bindings); });
}

// Every most general way to make all pairs equal, operands of commuting ops in both orders.
void Unify(std::vector<std::pair<TreePtr, TreePtr>> pairs, Bindings bindings,
           std::vector<Bindings>& found) {
  while (!pairs.empty()) {
    TreePtr a = Resolve(pairs.back().first, bindings), b = Resolve(pairs.back().second, bindings);
    pairs.pop_back();
    if (a == b || (a->hole >= 0 && a->hole == b->hole)) continue;
    if (a->result != b->result) return;
    if (a->hole < 0) std::swap(a, b);
    if (a->hole >= 0) {
      if (b->hole >= 0 && a->constant) std::swap(a, b);  // the narrower hole stays
      if (a->constant && b->hole < 0 && !b->is_literal) return;
      if (Occurs(a->hole, b, bindings)) return;
      bindings[a->hole] = b;
      continue;
    }
    if (a->is_literal != b->is_literal || a->op != b->op || !(a->type == b->type)) return;
    if (a->is_literal) {
      if (a->words != b->words) return;
      continue;
    }
    if (ir::Info(a->op).law == ir::Law::Commutes) {
      std::vector<std::pair<TreePtr, TreePtr>> crossed = pairs;
      crossed.emplace_back(a->children[0], b->children[1]);
      crossed.emplace_back(a->children[1], b->children[0]);
      Unify(std::move(crossed), bindings, found);
    }
    for (size_t i = 0; i < a->children.size(); ++i)
      pairs.emplace_back(a->children[i], b->children[i]);
  }
  found.push_back(std::move(bindings));
}

// Holes that are left become different opaque values: leaves, or results of arithmetic, or constants.
TermId Ground(NormalTerms& terms, const TreePtr& tree, const Bindings& bindings, bool arithmetic,
              uint64_t constant) {
  const TreePtr at = Resolve(tree, bindings);
  if (at->is_literal) return terms.Constant(at->result, at->words);
  if (at->hole >= 0) {
    if (at->constant) {
      const int bits = ir::BitsOf(at->result);
      uint64_t word =
          (constant + static_cast<uint64_t>(at->hole)) & (bits == 64 ? ~0ull : (1ull << bits) - 1);
      if (ir::IsSigned(at->result.scalar) && bits < 64 && (word >> (bits - 1) & 1) != 0)
        word |= ~0ull << bits;
      return terms.Constant(at->result, std::span(&word, 1));
    }
    const TermId leaf =
        terms.Leaf(NormalTerm::Kind::Slot, at->result, static_cast<uint64_t>(at->hole));
    if (!arithmetic || !ir::IsFloat(at->result.scalar)) return leaf;
    return terms.Raw(ir::Op::Floor, at->result, at->result, std::span(&leaf, 1));
  }
  std::vector<TermId> children;
  for (const TreePtr& child : at->children)
    children.push_back(Ground(terms, child, bindings, arithmetic, constant));
  return terms.Raw(at->op, at->type, at->result, children);
}

TermId Normal(NormalTerms& terms, TermId id) {
  const NormalTerm term = terms[id];
  if (term.kind != NormalTerm::Kind::Apply) return id;
  std::vector<TermId> children;
  for (TermId child : term.children) children.push_back(Normal(terms, child));
  return terms.Apply(term.op, term.type, term.result, term.words, children);
}

// One step of any rule at any place.
std::vector<TermId> Steps(NormalTerms& terms, TermId id) {
  std::vector<TermId> steps = terms.StepsAtRoot(id);
  const NormalTerm term = terms[id];
  for (size_t i = 0; i < term.children.size(); ++i) {
    for (TermId child : Steps(terms, term.children[i])) {
      std::vector<TermId> children = term.children;
      children[i] = child;
      steps.push_back(terms.Raw(term.op, term.type, term.result, children));
    }
  }
  return steps;
}

void Positions(const TreePtr& tree, std::vector<TreePtr>& out) {
  if (tree->hole >= 0 || tree->is_literal) return;
  out.push_back(tree);
  for (const TreePtr& child : tree->children) Positions(child, out);
}

// The rules' critical pairs; how many there are, and those that do not join.
int CriticalPairs(std::span<const ir::Rule* const> rules, bool only_proved,
                  std::vector<std::string>& apart) {
  int pairs = 0;
  for (const ir::Rule* outer : rules)
    for (int t = 0; t < ir::ScalarCount; ++t) {
      const ir::Type type = ir::Type::Of(static_cast<ir::Scalar>(t));
      if (!ir::Contains(outer->row->types, type.scalar) || type.scalar == ir::Scalar::Int) continue;
      const TreePtr left =
          Instance(outer->left, static_cast<uint32_t>(outer->left.nodes.size() - 1), type, 0);
      if (!left) continue;
      std::vector<TreePtr> places;
      Positions(left, places);
      for (const ir::Rule* inner : rules)
        for (int u = 0; u < ir::ScalarCount; ++u) {
          const ir::Type other = ir::Type::Of(static_cast<ir::Scalar>(u));
          if (!ir::Contains(inner->row->types, other.scalar) || other.scalar == ir::Scalar::Int)
            continue;
          const TreePtr part = Instance(
              inner->left, static_cast<uint32_t>(inner->left.nodes.size() - 1), other, 100);
          if (!part) continue;
          for (const TreePtr& place : places) {
            std::vector<Bindings> unifiers;
            Unify({{place, part}}, {}, unifiers);
            for (const Bindings& bindings : unifiers)
              for (bool arithmetic : {false, true})
                for (uint64_t constant : {0ull, 1ull, 0x80ull}) {
                  ++pairs;
                  NormalTerms terms(rules, only_proved);
                  const TermId term = Ground(terms, left, bindings, arithmetic, constant);
                  const TermId normal = Normal(terms, term);
                  for (TermId step : Steps(terms, term))
                    if (Normal(terms, step) != normal)
                      apart.push_back(fmt::format("{} over {} at {}", outer->row->name,
                                                  inner->row->name, ir::ScalarName(type.scalar)));
                }
          }
        }
    }
  return pairs;
}

TEST(NormalFormTheory, CriticalPairsJoin) {
  // As the table is, and as it will be once every rule is proved for every type of its row.
  for (bool only_proved : {true, false}) {
    std::vector<std::string> apart;
    const int pairs = CriticalPairs(optimize::NormalFormRules(), only_proved, apart);
    EXPECT_GT(pairs, 1000);
    EXPECT_TRUE(apart.empty()) << apart.size() << " of " << pairs << ", such as " << apart[0];
    printf("%d critical pairs\n", pairs);
  }
}

TEST(NormalFormTheory, TheSearchFindsPairsThatDoNotJoin) {
  // add_neg and neg_add: -(a + (-b)) is -(a - b) one way and (-a) - (-b) the other.
  std::vector<const ir::Rule*> rules;
  for (const ir::Rule& rule : ir::ParsedRules())
    if (rule.row->name == "add_neg" || rule.row->name == "neg_add") rules.push_back(&rule);
  std::vector<std::string> apart;
  CriticalPairs(rules, false, apart);
  EXPECT_FALSE(apart.empty());
}

// --- equal normal forms exactly where the model of slots is equal ---------------------------------------------------
// Slots hold names; a mark undoes a mark, an addition knows no order, an absolute value is taken once. Nothing else.
class Model {
 public:
  std::string State(std::string_view text) {
    std::map<circuits::SlotId, std::string> slots;
    for (int c = 0; c < 3; ++c)
      slots[circuits::SlotOf(static_cast<uint8_t>(c))] = fmt::format("c{}", c);
    const std::vector<circuits::Step> steps = *circuits::StepsOf(*circuits::ParsePhrase(text));
    for (const circuits::Step& step : steps) {
      const std::string source = slots[step.source], context = slots[step.context];
      std::string& destination = slots[step.destination];
      switch (step.kind) {
        case circuits::StepKind::Mark:
          destination =
              source.starts_with("m(") ? source.substr(2, source.size() - 3) : "m(" + source + ")";
          break;
        case circuits::StepKind::Copy: destination = source; break;
        case circuits::StepKind::Swap: std::swap(slots[step.source], destination); break;
        case circuits::StepKind::Split: destination = "s(" + source + "," + context + ")"; break;
        case circuits::StepKind::Merge:
          if (static_cast<circuits::MergeVariant>(step.variant) == circuits::MergeVariant::Abs)
            destination = source.starts_with("b(") ? source : "b(" + source + ")";
          else
            destination = "a(" + std::min(source, context) + "," + std::max(source, context) + ")";
          break;
        default: ADD_FAILURE(); break;
      }
    }
    std::string state;
    for (const auto& [slot, value] : slots) state += value + ";";
    return state;
  }
};

TEST(NormalFormTheory, EqualExactlyWhereTheModelIs) {
  // Every circuit uses all slots for writing, so that all programs have the same parameters.
  const std::string all = "copy@c00->c00 . copy@c01->c01 . copy@c02->c02";
  std::map<std::string, std::string> digest_of, state_of;
  Model model;
  uint64_t count = 0;
  const auto look = [&](const std::string& text) {
    ++count;
    const std::string state = model.State(text.substr(3));
    const std::string digest =
        ir::ExactDigest(optimize::Normalize(*circuits::ParseCircuit(all + text))->program);
    const auto [a, new_state] = digest_of.emplace(state, digest);
    ASSERT_EQ(a->second, digest) << text << " has the state " << state;
    const auto [b, new_digest] = state_of.emplace(digest, state);
    ASSERT_EQ(b->second, state) << text;
  };
  const std::vector<std::string> wide = Alphabet(3, {"merge.add", "split.sub"}, {"merge.abs"}, {});
  for (const std::string& a : wide)
    for (const std::string& b : wide) look(" . " + a + " . " + b);
  const std::vector<std::string> narrow = [] {
    std::vector<std::string> words = Alphabet(3, {}, {}, {});
    for (const char* word :
         {"merge.add@c00[c01,c02]", "split.sub@c02[c01,c00]", "merge.abs@c01[c01,c01]"})
      words.push_back(word);
    return words;
  }();
  for (const std::string& a : narrow)
    for (const std::string& b : narrow)
      for (const std::string& c : narrow)
        for (const std::string& d : narrow) look(" . " + a + " . " + b + " . " + c + " . " + d);
  printf("%llu circuits, %zu normal forms\n", static_cast<unsigned long long>(count),
         digest_of.size());
  EXPECT_GT(digest_of.size(), 1000u);
}

TEST(NormalFormTheory, IndependentStepsCommute) {
  const std::vector<std::string> alphabet =
      Alphabet(4, {"merge.add", "split.sub"}, {"merge.abs"}, {"reduce.sum", "softmax"});
  Random random(3);
  int swaps = 0;
  for (int i = 0; i < 3000; ++i) {
    std::vector<std::string> words;
    for (int k = 0; k < 5; ++k) words.push_back(alphabet[random.Below(alphabet.size())]);
    const auto text = [&] {
      return fmt::format(
          "copy@c00->c00 . copy@c01->c01 . copy@c02->c02 . copy@c03->c03 . {} . {} . {} . {} . {}",
          words[0], words[1], words[2], words[3], words[4]);
    };
    const std::string before =
        ir::ExactDigest(optimize::Normalize(*circuits::ParseCircuit(text()))->program);
    const size_t at = random.Below(4);
    // Independent: accepted as branches.
    if (!circuits::StepsOf(*circuits::ParsePhrase(words[at] + " || " + words[at + 1]))) continue;
    std::swap(words[at], words[at + 1]);
    ++swaps;
    ASSERT_EQ(ir::ExactDigest(optimize::Normalize(*circuits::ParseCircuit(text()))->program),
              before)
        << text();
  }
  EXPECT_GT(swaps, 100);
}

// --- planted wrong rules
// ----------------------------------------------------------------------------------------------
constexpr ir::ScalarSet AllNumbers = ir::sets::Fixed | ir::sets::Float;
const ir::RuleRow Wrong[] = {
    {"wrong_abs", "(abs a)", "a", AllNumbers, ""},
    {"wrong_sub", "(sub a b)", "(add a b)", AllNumbers, ""},
    {"wrong_min", "(min a b)", "a", AllNumbers, ""},
    {"wrong_xor", "(xor a $c)", "a", AllNumbers, ""},
    {"wrong_add_zero", "(add a 0)", "a", ir::sets::Float, ""},        // -0
    {"wrong_mul_one", "(mul a 1)", "a", ir::sets::Float, ""},         // the payload of a NaN
    {"wrong_cancel", "(add (sub a b) b)", "a", ir::sets::Float, ""},  // rounding
    {"wrong_min_self", "(min a a)", "a", ir::sets::Float, ""},        // the payload of a NaN
};

TEST(NormalFormTheory, PlantedWrongRulesAreFound) {
  std::vector<std::string> alphabet =
      Alphabet(3, {"merge.add", "split.sub", "merge.min"}, {"merge.abs"}, {});
  for (const char* word : {"merge.add@c00[0,c01]", "merge.mul@c01[1,c02]", "merge.add@c02[0,c00]"})
    alphabet.push_back(word);
  for (const ir::RuleRow& row : Wrong) {
    const ir::Rule wrong = *ir::ParseRule(row);
    std::vector<const ir::Rule*> rules(optimize::NormalFormRules().begin(),
                                       optimize::NormalFormRules().end());
    rules.push_back(&wrong);
    Random random(11);
    bool found = false;
    int tried = 0;
    for (; tried < 30000 && !found; ++tried) {
      std::string text;
      for (uint64_t k = random.Below(4) + 1; k > 0; --k)
        text += (text.empty() ? "" : " . ") + alphabet[random.Below(alphabet.size())];
      const ir::Program program = *circuits::ParseCircuit(text);
      optimize::NormalState state = *optimize::ReadState(program, NormalTerms(rules, false));
      const ir::Program fused = optimize::WriteState(program, state);
      found = After(program, 4, 3, static_cast<uint64_t>(tried)) !=
              After(fused, 4, 3, static_cast<uint64_t>(tried));
    }
    EXPECT_TRUE(found) << row.name;
    printf("%s found by circuit %d\n", std::string(row.name).c_str(), tried);
  }
}

}  // namespace
}  // namespace frazil
