// Reads the rule table once into small matchers, then walks each basic block with a stack of finished instructions: after a
// rule fits, the walk steps back, because what it put there may fit again. Rules never cross a label, and never touch the
// instruction after skiz, which is skipped as a whole.
#include "targets/tasm/assembly/peephole.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/check.h"
#include "base/number/goldilocks.h"

namespace frazil::targets::tasm {
namespace {

namespace mt = machines::tasm;
namespace gl = goldilocks;
using mt::Opcode;

constexpr PeepholeRule Rules[] = {
#define FRAZIL_TASM_RULE(name, pattern, replacement, conditions) {name, pattern, replacement, conditions},
#include "ir/rules/rules_tasm.def"
#undef FRAZIL_TASM_RULE
};

constexpr std::string_view Letters = "abcijknm";
constexpr size_t LetterCount = Letters.size();
constexpr bool IsElement(size_t letter) { return letter < 3; }

using Binding = std::array<std::optional<uint64_t>, LetterCount>;

// A sum of products: numbers and letters joined by '+', '-', '*'.
struct Term {
  char sign;  // '+', '-', or '*' with what stands before
  bool is_letter;
  uint64_t value;  // number, or index into Letters
};
using Expression = std::vector<Term>;

struct Step {
  Opcode op;
  std::optional<Expression> argument;
};

struct Condition {
  Expression left, right;
  std::string_view relation;
};

struct Compiled {
  std::vector<Step> pattern, replacement;
  std::vector<Condition> conditions;
};

std::string_view Trim(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

std::vector<std::string_view> SplitAt(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!Trim(text).empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (!Trim(text.substr(0, end)).empty()) parts.push_back(Trim(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

Expression ReadExpression(std::string_view text) {
  Expression terms;
  char sign = '+';
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == ' ') {
      ++i;
    } else if (c == '+' || c == '-' || c == '*') {
      sign = c;
      ++i;
    } else if (c >= '0' && c <= '9') {
      uint64_t value = 0;
      const auto end = std::from_chars(text.data() + i, text.data() + text.size(), value).ptr;
      i = static_cast<size_t>(end - text.data());
      terms.push_back({sign, false, value});
    } else {
      const size_t letter = Letters.find(c);
      CHECK(letter != std::string_view::npos);
      terms.push_back({sign, true, letter});
      ++i;
    }
  }
  CHECK(!terms.empty());
  return terms;
}

std::vector<Step> ReadSteps(std::string_view text) {
  std::vector<Step> steps;
  for (std::string_view part : SplitAt(text, ';')) {
    const size_t space = std::min(part.find(' '), part.size());
    const std::optional<Opcode> op = mt::FindMnemonic(part.substr(0, space));
    CHECK(op.has_value());
    steps.push_back({*op, std::nullopt});
    if (space < part.size()) steps.back().argument = ReadExpression(part.substr(space));
    CHECK(steps.back().argument.has_value() == (mt::Info(*op).argument != mt::Argument::None));
  }
  return steps;
}

const std::vector<Compiled>& Table() {
  static const std::vector<Compiled> table = [] {
    std::vector<Compiled> compiled;
    for (const PeepholeRule& rule : Rules) {
      Compiled c{ReadSteps(rule.pattern), ReadSteps(rule.replacement), {}};
      CHECK(!c.pattern.empty());
      for (std::string_view text : SplitAt(rule.conditions, ',')) {
        for (std::string_view relation : {"!=", "<=", ">=", "<", ">", "="}) {
          const size_t at = text.find(relation);
          if (at == std::string_view::npos) continue;
          c.conditions.push_back({ReadExpression(text.substr(0, at)),
                                  ReadExpression(text.substr(at + relation.size())), relation});
          break;
        }
      }
      compiled.push_back(std::move(c));
    }
    return compiled;
  }();
  return table;
}

// Elements modulo p, all else as integers; one element letter makes it an expression of elements.
uint64_t Evaluate(const Expression& terms, const Binding& binding, bool elements) {
  uint64_t sum = 0, last = 0;
  char last_sign = '+';
  auto add = [&](uint64_t value, char sign) {
    if (elements) {
      sum = sign == '-' ? gl::Sub(sum, value) : gl::Add(sum, value);
    } else {
      sum = sign == '-' ? sum - value : sum + value;
    }
  };
  for (const Term& term : terms) {
    const uint64_t value = term.is_letter ? *binding[term.value] : term.value;
    if (term.sign == '*') {
      last = elements ? gl::Mul(last, value) : last * value;
      continue;
    }
    add(last, last_sign);
    last = value;
    last_sign = term.sign;
  }
  add(last, last_sign);
  return sum;
}

bool OfElements(const Expression& terms) {
  return std::ranges::any_of(terms,
                             [](const Term& t) { return t.is_letter && IsElement(t.value); });
}

bool Holds(const Condition& condition, const Binding& binding) {
  const bool elements = OfElements(condition.left) || OfElements(condition.right);
  const uint64_t left = Evaluate(condition.left, binding, elements);
  const uint64_t right = Evaluate(condition.right, binding, elements);
  // Integers here are small; a difference below 0 compares as one.
  const auto l = static_cast<int64_t>(left), r = static_cast<int64_t>(right);
  if (condition.relation == "=") return left == right;
  if (condition.relation == "!=") return left != right;
  if (condition.relation == "<") return l < r;
  if (condition.relation == ">") return l > r;
  if (condition.relation == "<=") return l <= r;
  return l >= r;
}

// A letter takes the argument where it first stands; after that, and numbers, must be equal.
bool Matches(const Step& step, const mt::Instruction& instruction, Binding& binding) {
  if (step.op != instruction.op) return false;
  if (!step.argument) return true;
  const Expression& e = *step.argument;
  if (e.size() == 1 && e[0].is_letter && e[0].sign == '+' && !binding[e[0].value]) {
    binding[e[0].value] = instruction.argument;
    return true;
  }
  for (const Term& term : e) {
    if (term.is_letter && !binding[term.value]) return false;
  }
  return Evaluate(e, binding, mt::Info(step.op).argument == mt::Argument::Element) ==
         instruction.argument;
}

bool InRange(Opcode op, uint64_t argument) {
  switch (mt::Info(op).argument) {
    case mt::Argument::Count: return argument >= 1 && argument <= 5;
    case mt::Argument::Place: return argument <= 15;
    default: return true;
  }
}

using Code = std::vector<mt::Instruction>;

// How far below its start a piece of code takes the stack; `height` becomes its net effect.
int64_t Dip(std::span<const mt::Instruction> code, int64_t& height) {
  int64_t lowest = 0;
  height = 0;
  for (const mt::Instruction& instruction : code) {
    const mt::OpcodeInfo& info = mt::Info(instruction.op);
    height += info.argument == mt::Argument::Count
                  ? info.delta * static_cast<int64_t>(instruction.argument)
                  : info.delta;
    lowest = std::min(lowest, height);
  }
  return -lowest;
}

// The machine crashes below sixteen words, so that a replacement may not go lower than the block went anyway.
bool StaysAbove(std::span<const mt::Instruction> before, std::span<const mt::Instruction> pattern,
                std::span<const mt::Instruction> made) {
  int64_t height = 0;
  const int64_t dip = Dip(made, height);
  if (dip <= Dip(pattern, height)) return true;
  const int64_t lowest = -Dip(before, height);
  return height - dip >= lowest;
}

// Applies the rule to the last instructions of `code`.
bool Apply(const Compiled& rule, Code& code, size_t begin) {
  const size_t n = rule.pattern.size();
  if (code.size() - begin < n) return false;
  const size_t at = code.size() - n;
  Binding binding;
  for (size_t i = 0; i < n; ++i) {
    if (!Matches(rule.pattern[i], code[at + i], binding)) return false;
  }
  for (const Condition& condition : rule.conditions) {
    if (!Holds(condition, binding)) return false;
  }
  Code made;
  for (const Step& step : rule.replacement) {
    mt::Instruction instruction{step.op, 0, -1, code.back().location};
    if (step.argument) {
      instruction.argument =
          Evaluate(*step.argument, binding, mt::Info(step.op).argument == mt::Argument::Element);
    }
    if (!InRange(step.op, instruction.argument)) return false;
    for (size_t i = 0; i < n; ++i) {
      if (code[at + i].op != step.op) continue;
      instruction.location = code[at + i].location;
      instruction.error_id = code[at + i].error_id;
    }
    made.push_back(instruction);
  }
  if (!StaysAbove(std::span(code).subspan(begin, at - begin), std::span(code).subspan(at), made))
    return false;
  code.resize(at);
  code.insert(code.end(), made.begin(), made.end());
  return true;
}

// By the last opcode of the pattern: rules are tried where an instruction was just added.
const std::vector<std::vector<const Compiled*>>& ByLast() {
  static const auto table = [] {
    std::vector<std::vector<const Compiled*>> by(256);
    for (const Compiled& rule : Table())
      by[static_cast<size_t>(rule.pattern.back().op)].push_back(&rule);
    return by;
  }();
  return table;
}

uint64_t Add(const mt::Instruction& instruction, Code& code, size_t begin) {
  uint64_t applied = 0;
  Code pending = {instruction};  // still to be added, last first
  while (!pending.empty()) {
    code.push_back(pending.back());
    pending.pop_back();
    for (const Compiled* rule : ByLast()[static_cast<size_t>(code.back().op)]) {
      if (!Apply(*rule, code, begin)) continue;
      ++applied;
      // What was put there, and may now end a pattern, is added anew.
      for (size_t i = 0; i < rule->replacement.size(); ++i) {
        pending.push_back(code.back());
        code.pop_back();
      }
      break;
    }
  }
  return applied;
}

bool IsControl(Opcode op) {
  switch (op) {
    case Opcode::Skiz:
    case Opcode::Call:
    case Opcode::Return:
    case Opcode::Recurse:
    case Opcode::RecurseOrReturn:
    case Opcode::Halt: return true;
    default: return false;
  }
}

}  // namespace

std::span<const PeepholeRule> PeepholeRules() { return Rules; }

uint64_t Peephole(mt::Program& program) {
  std::vector<bool> leader(program.code.size() + 1);
  for (const mt::Label& label : program.labels) leader[label.instruction] = true;
  for (const mt::Instruction& instruction : program.code) {
    if (instruction.op == Opcode::Call) leader[instruction.argument] = true;
  }
  std::vector<uint32_t> moved(program.code.size() + 1);
  Code code;
  code.reserve(program.code.size());
  size_t begin = 0;
  uint64_t applied = 0;
  bool skipped = false;
  for (size_t i = 0; i < program.code.size(); ++i) {
    if (leader[i]) begin = code.size();
    moved[i] = static_cast<uint32_t>(code.size());
    const mt::Instruction& instruction = program.code[i];
    const bool fixed = skipped || IsControl(instruction.op);
    skipped = instruction.op == Opcode::Skiz;
    if (!fixed) {
      applied += Add(instruction, code, begin);
      continue;
    }
    code.push_back(instruction);
    begin = code.size();
  }
  moved[program.code.size()] = static_cast<uint32_t>(code.size());
  for (mt::Instruction& instruction : code) {
    if (instruction.op == Opcode::Call) instruction.argument = moved[instruction.argument];
  }
  for (mt::Label& label : program.labels) label.instruction = moved[label.instruction];
  program.code = std::move(code);
  return applied;
}

}  // namespace frazil::targets::tasm
