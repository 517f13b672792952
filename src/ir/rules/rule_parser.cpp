// Reads the patterns and conditions of rules.def. Types are inferred by unification: an op's row says which of
// its operands and results share a type or are bool, a cast or a hole may name one, and what stays free is T.
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "base/number/float16.h"
#include "base/number/goldilocks.h"
#include "ir/rules/rules.h"

namespace frazil::ir {
namespace {

// Types of one rule as slots of a union-find: one per hole, per node and per op.
class TypeSlots {
 public:
  uint32_t New() {
    parent_.push_back(static_cast<uint32_t>(parent_.size()));
    fixed_.push_back(std::nullopt);
    return parent_.back();
  }
  uint32_t Find(uint32_t slot) const {
    while (parent_[slot] != slot) slot = parent_[slot];
    return slot;
  }
  bool Fix(uint32_t slot, PatternType type) {
    std::optional<PatternType>& fixed = fixed_[Find(slot)];
    if (fixed && *fixed != type) return false;
    fixed = type;
    return true;
  }
  bool Join(uint32_t a, uint32_t b) {
    a = Find(a);
    b = Find(b);
    if (a == b) return true;
    const std::optional<PatternType> type = fixed_[b];
    parent_[b] = a;
    return !type || Fix(a, *type);
  }
  PatternType Get(uint32_t slot) const { return fixed_[Find(slot)].value_or(PatternType{}); }

 private:
  std::vector<uint32_t> parent_;
  std::vector<std::optional<PatternType>> fixed_;
};

struct NodeSlots {
  uint32_t value;
  uint32_t op;
};

class RuleParser {
 public:
  explicit RuleParser(const RuleRow& row) : row_(row) { rule_.row = &row; }

  Result<Rule> Parse() {
    TRY_VOID(ParseWhole(row_.left, rule_.left, /*expression=*/false));
    TRY_VOID(ParseWhole(row_.right, rule_.right, /*expression=*/false));
    if (rule_.left.root().kind != PatternNode::Kind::Apply)
      return Bad("the left side must be an op");
    if (!slots_.Join(RootSlot(rule_.left), RootSlot(rule_.right)))
      return Bad("the sides differ in type");
    TRY_VOID(ParseConditions());
    Finish();
    return std::move(rule_);
  }

 private:
  std::unexpected<Error> Bad(std::string_view what) const {
    return Fail(Diag::BadToken, fmt::format("rule {}: {}", row_.name, what));
  }

  static bool IsWordChar(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == ':' || c == '$' || c == '-';
  }
  void SkipSpace() {
    while (!text_.empty() && text_.front() == ' ') text_.remove_prefix(1);
  }
  bool Take(char c) {
    SkipSpace();
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  std::string_view Word() {
    SkipSpace();
    size_t n = 0;
    while (n < text_.size() && IsWordChar(text_[n])) ++n;
    const std::string_view word = text_.substr(0, n);
    text_.remove_prefix(n);
    return word;
  }

  Result<void> ParseWhole(std::string_view text, Pattern& pattern, bool expression) {
    text_ = text;
    node_slots_.emplace_back(&pattern, std::vector<NodeSlots>{});
    TRY_VOID(ParseNode(pattern, expression, 0));
    SkipSpace();
    if (!text_.empty()) return Bad(fmt::format("\"{}\" is left over", text_));
    return {};
  }

  std::vector<NodeSlots>& SlotsOf(const Pattern& pattern) {
    return std::ranges::find(node_slots_, &pattern,
                             &std::pair<Pattern*, std::vector<NodeSlots>>::first)
        ->second;
  }
  uint32_t RootSlot(const Pattern& pattern) { return SlotsOf(pattern).back().value; }

  Result<uint32_t> Push(Pattern& pattern, PatternNode node, NodeSlots slots) {
    pattern.nodes.push_back(std::move(node));
    SlotsOf(pattern).push_back(slots);
    return static_cast<uint32_t>(pattern.nodes.size() - 1);
  }

  Result<uint32_t> ParseNode(Pattern& pattern, bool expression, int depth) {
    if (depth > 16) return Bad("too deep");
    if (Take('{')) {
      if (expression) return Bad("braces inside braces or in a condition");
      const uint32_t child = TRY(ParseNode(pattern, /*expression=*/true, depth + 1));
      if (!Take('}')) return Bad("'}' is missing");
      const NodeSlots slots = {SlotsOf(pattern)[child].value, slots_.New()};
      return Push(pattern, {.kind = PatternNode::Kind::Computed, .children = {child}}, slots);
    }
    if (Take('(')) return ParseApply(pattern, expression, depth);
    return ParseLeaf(pattern, expression);
  }

  Result<std::optional<PatternType>> TakeType(std::string_view& word) const {
    const size_t colon = word.find(':');
    if (colon == std::string_view::npos) return std::optional<PatternType>{};
    const std::string_view name = word.substr(colon + 1);
    word = word.substr(0, colon);
    if (name == "T") return std::optional(PatternType{});
    for (int i = 0; i < ScalarCount; ++i) {
      const auto scalar = static_cast<Scalar>(i);
      if (ScalarName(scalar) == name) return std::optional(PatternType{false, scalar});
    }
    return Bad(fmt::format("unknown type {}", name));
  }

  Result<uint32_t> ParseApply(Pattern& pattern, bool expression, int depth) {
    std::string_view word = Word();
    const std::optional<PatternType> named = TRY(TakeType(word));
    const std::optional<Op> op = OpNamed(word);
    if (!op) return Bad(fmt::format("unknown op {}", word));
    const OpInfo& info = Info(*op);
    if (info.signature == "custom" || info.effect != Effect::Pure || !info.attributes.empty() ||
        *op == Op::Const) {
      return Bad(fmt::format("{} has no place in a pattern", word));
    }
    PatternNode node{.kind = PatternNode::Kind::Apply, .op = *op};
    while (!Take(')')) {
      if (text_.empty()) return Bad("')' is missing");
      node.children.push_back(TRY(ParseNode(pattern, expression, depth + 1)));
    }
    const NodeSlots slots = {slots_.New(), slots_.New()};
    if (named && !slots_.Fix(slots.op, *named)) return Bad("types do not fit");
    TRY_VOID(Constrain(pattern, node, slots, info.signature));
    return Push(pattern, std::move(node), slots);
  }

  // Operands and result as the row's signature says: "T,T->B".
  Result<void> Constrain(const Pattern& pattern, const PatternNode& node, NodeSlots slots,
                         std::string_view signature) {
    const size_t arrow = signature.find("->");
    if (signature.substr(arrow + 2).size() != 1) return Bad("an op of a pattern gives one value");
    size_t operand = 0;
    for (char c : signature.substr(0, arrow)) {
      if (c == ',') continue;
      if (operand == node.children.size())
        return Bad(fmt::format("too few operands of {}", Info(node.op).mnemonic));
      TRY_VOID(ConstrainOne(SlotsOf(pattern)[node.children[operand++]].value, slots.op, c));
    }
    if (operand != node.children.size())
      return Bad(fmt::format("too many operands of {}", Info(node.op).mnemonic));
    return ConstrainOne(slots.value, slots.op, signature.back());
  }
  Result<void> ConstrainOne(uint32_t value, uint32_t op, char letter) {
    bool fits = true;
    if (letter == 'T') fits = slots_.Join(value, op);
    if (letter == 'B') fits = slots_.Fix(value, {false, Scalar::Bool});
    if (letter == 'X') fits = slots_.Fix(value, {false, Scalar::Index});
    if (letter == 'F') fits = slots_.Fix(value, {false, Scalar::Field});
    if (!fits) return Bad("types do not fit");
    return {};
  }

  Result<uint32_t> ParseLeaf(Pattern& pattern, bool expression) {
    std::string_view word = Word();
    const std::optional<PatternType> named = TRY(TakeType(word));
    if (word.empty()) return Bad("a term is missing");
    PatternNode node;
    NodeSlots slots = {};
    const bool constant_hole = word.front() == '$';
    if (constant_hole || (word.front() >= 'a' && word.front() <= 'z')) {
      if (expression && !constant_hole) return Bad("an expression holds constants only");
      node.kind = constant_hole ? PatternNode::Kind::ConstantHole : PatternNode::Kind::Hole;
      node.hole = HoleNamed(word);
      slots = {hole_slots_[node.hole], slots_.New()};
    } else {
      TRY_VOID(ParseConstant(word, node));
      slots = {slots_.New(), slots_.New()};
    }
    if (named && !slots_.Fix(slots.value, *named)) return Bad("types do not fit");
    return Push(pattern, std::move(node), slots);
  }

  Result<void> ParseConstant(std::string_view word, PatternNode& node) const {
    using Special = PatternNode::Special;
    static constexpr std::pair<std::string_view, Special> names[] = {
        {"MIN", Special::Min},     {"MAX", Special::Max}, {"ONES", Special::Ones},
        {"NAN", Special::Nan},     {"INF", Special::Inf}, {"-0", Special::NegativeZero},
        {"WIDTH", Special::Width},
    };
    for (const auto& [name, special] : names) {
      if (word == name) {
        node.kind = PatternNode::Kind::Special;
        node.special = special;
        return {};
      }
    }
    node.kind = PatternNode::Kind::Number;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), node.number);
    if (error != std::errc{} || end != word.data() + word.size())
      return Bad(fmt::format("bad constant {}", word));
    return {};
  }

  uint32_t HoleNamed(std::string_view name) {
    const auto found = std::ranges::find(rule_.holes, name);
    if (found != rule_.holes.end()) return static_cast<uint32_t>(found - rule_.holes.begin());
    rule_.holes.emplace_back(name);
    hole_slots_.push_back(slots_.New());
    return static_cast<uint32_t>(rule_.holes.size() - 1);
  }

  Result<void> ParseConditions() {
    static constexpr std::pair<std::string_view, ConditionKind> names[] = {
        {"arith", ConditionKind::Arithmetic}, {"power", ConditionKind::Power},
        {"nonzero", ConditionKind::NonZero},  {"inwidth", ConditionKind::InWidth},
        {"signed", ConditionKind::Signed},    {"unsigned", ConditionKind::Unsigned},
        {"equals", ConditionKind::Equals},    {"holds", ConditionKind::Holds},
    };
    // Patterns of conditions are referred to by address while types are open.
    rule_.conditions.reserve(static_cast<size_t>(std::ranges::count(row_.conditions, ',')) + 1);
    const size_t holes = rule_.holes.size();
    std::string_view rest = row_.conditions;
    while (!rest.empty()) {
      const size_t comma = rest.find(',');
      text_ = rest.substr(0, comma);
      rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
      const std::string_view name = Word();
      const auto* found =
          std::ranges::find(names, name, &std::pair<std::string_view, ConditionKind>::first);
      if (found == std::end(names)) return Bad(fmt::format("unknown condition {}", name));
      rule_.conditions.push_back({.kind = found->second, .left = {}, .right = {}});
      TRY_VOID(ParseCondition(rule_.conditions.back()));
    }
    if (rule_.holes.size() != holes) return Bad("a condition names an unknown hole");
    return {};
  }

  Result<void> ParseCondition(RuleCondition& condition) {
    const ConditionKind kind = condition.kind;
    if (kind != ConditionKind::Signed && kind != ConditionKind::Unsigned) {
      node_slots_.emplace_back(&condition.left, std::vector<NodeSlots>{});
      const bool expression = kind != ConditionKind::Arithmetic;
      TRY_VOID(ParseNode(condition.left, expression, 0));
      const PatternNode& root = condition.left.root();
      condition.hole = root.hole;
      if (!expression && root.kind != PatternNode::Kind::Hole)
        return Bad("'arith' is about a hole");
      if (kind == ConditionKind::Holds &&
          !slots_.Fix(RootSlot(condition.left), {false, Scalar::Bool})) {
        return Bad("'holds' needs a comparison");
      }
    }
    if (kind == ConditionKind::Equals) {
      node_slots_.emplace_back(&condition.right, std::vector<NodeSlots>{});
      TRY_VOID(ParseNode(condition.right, true, 0));
      if (!slots_.Join(RootSlot(condition.left), RootSlot(condition.right)))
        return Bad("types do not fit");
    }
    SkipSpace();
    if (!text_.empty()) return Bad(fmt::format("\"{}\" is left over", text_));
    return {};
  }

  void Finish() {
    for (auto& [pattern, slots] : node_slots_) {
      for (size_t i = 0; i < pattern->nodes.size(); ++i) {
        pattern->nodes[i].type = slots_.Get(slots[i].value);
        pattern->nodes[i].op_type = slots_.Get(slots[i].op);
      }
    }
    for (uint32_t slot : hole_slots_) rule_.hole_types.push_back(slots_.Get(slot));
  }

  const RuleRow& row_;
  Rule rule_;
  std::string_view text_;
  TypeSlots slots_;
  std::vector<uint32_t> hole_slots_;
  std::vector<std::pair<Pattern*, std::vector<NodeSlots>>> node_slots_;
};

// Bits of the float that is exactly `value`; all small integers and the specials are.
uint64_t FloatBits(double value, Scalar type) {
  switch (type) {
    case Scalar::F16: return float16::F16::FromDouble(value);
    case Scalar::BF16: return float16::BF16::FromDouble(value);
    case Scalar::F32: return std::bit_cast<uint32_t>(static_cast<float>(value));
    default: return std::bit_cast<uint64_t>(value);
  }
}

// In the representation of constants: sign- or zero-extended to 64 bits.
uint64_t Extended(uint64_t bits, Scalar type) {
  const int width = BitsOf(Type::Of(type));
  if (width == 64) return bits;
  bits &= (uint64_t{1} << width) - 1;
  if (IsSigned(type) && (bits >> (width - 1)) != 0) bits |= ~uint64_t{0} << width;
  return bits;
}

std::optional<uint64_t> SpecialInteger(PatternNode::Special special, Scalar type) {
  using Special = PatternNode::Special;
  const int width = BitsOf(Type::Of(type));
  const uint64_t ones = ~uint64_t{0} >> (64 - width);
  const bool is_signed = IsSigned(type);
  switch (special) {
    case Special::Min: return is_signed ? Extended(uint64_t{1} << (width - 1), type) : 0;
    case Special::Max: return is_signed ? ones >> 1 : ones;
    case Special::Ones: return Extended(ones, type);
    case Special::Width: return static_cast<uint64_t>(width);
    default: return std::nullopt;
  }
}

std::optional<uint64_t> SpecialFloat(PatternNode::Special special, Scalar type) {
  using Special = PatternNode::Special;
  switch (special) {
    case Special::Nan: return FloatBits(std::numeric_limits<double>::quiet_NaN(), type);
    case Special::Inf: return FloatBits(std::numeric_limits<double>::infinity(), type);
    case Special::NegativeZero: return FloatBits(-0.0, type);
    default: return std::nullopt;
  }
}

}  // namespace

Result<Rule> ParseRule(const RuleRow& row) { return RuleParser(row).Parse(); }

std::optional<std::vector<uint64_t>> PatternConstant(const PatternNode& node, Type type) {
  const Scalar scalar = type.scalar;
  if (node.kind == PatternNode::Kind::Special) {
    std::optional<uint64_t> word;
    if (IsFloat(scalar)) word = SpecialFloat(node.special, scalar);
    if (IsFixedInt(scalar) || scalar == Scalar::Bool) word = SpecialInteger(node.special, scalar);
    if (!word) return std::nullopt;
    return std::vector{*word};
  }
  if (node.kind != PatternNode::Kind::Number) return std::nullopt;
  const int64_t number = node.number;
  if (IsFloat(scalar)) return std::vector{FloatBits(static_cast<double>(number), scalar)};
  if (IsFixedInt(scalar)) return std::vector{Extended(static_cast<uint64_t>(number), scalar)};
  if (scalar == Scalar::Field) return std::vector{goldilocks::FromInt64(number)};
  if (scalar == Scalar::XField) return std::vector<uint64_t>{goldilocks::FromInt64(number), 0, 0};
  if (scalar == Scalar::Bool && (number == 0 || number == 1))
    return std::vector{static_cast<uint64_t>(number)};
  if (scalar == Scalar::Int) {
    std::vector<uint64_t> words(type.limbs, number < 0 ? ~uint64_t{0} : 0);
    words[0] = static_cast<uint64_t>(number);
    return words;
  }
  return std::nullopt;
}

}  // namespace frazil::ir
