// Proofs of rewrites. The reader of rules is a second one, written from the table's own description: the one that applies
// them is in the folder that is being judged.
#include "verify/tasm/terms/rules.h"

#include <fmt/core.h>

#include <cmath>
#include <map>
#include <optional>

#include "verify/tasm/engine.h"

namespace frazil::verify::tasm {

namespace gl = goldilocks;

namespace {

constexpr std::string_view Elements = "abc", Places = "ijk", Counts = "nm";

bool IsElement(char c) { return Elements.find(c) != std::string_view::npos; }
bool IsNumber(char c) {
  return Places.find(c) != std::string_view::npos || Counts.find(c) != std::string_view::npos;
}

// Sum of signed products of factors; a factor is a number or a letter.
struct Factor {
  char letter = 0;
  uint64_t number = 0;
};
struct Product {
  bool negative = false;
  std::vector<Factor> factors;
};
using Expression = std::vector<Product>;

struct Line {
  mt::Opcode op = mt::Opcode::Nop;
  Expression argument;
};
struct Condition {
  Expression left, right;
  std::string relation;
};
struct Rule {
  std::string text;
  std::vector<Line> pattern, replacement;
  std::vector<Condition> conditions;
  std::string letters;  // of places and counts
};

std::string_view Strip(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (!Strip(text.substr(0, end)).empty()) parts.push_back(Strip(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

Result<Expression> ReadExpression(std::string_view text) {
  Expression expression;
  bool negative = false, product = false;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == ' ') {
      ++i;
    } else if (c == '+' || c == '-') {
      negative = c == '-';
      product = false;
      ++i;
    } else if (c == '*') {
      product = true;
      ++i;
    } else {
      Factor factor;
      if (c >= '0' && c <= '9') {
        while (i < text.size() && text[i] >= '0' && text[i] <= '9') {
          factor.number = factor.number * 10 + static_cast<uint64_t>(text[i++] - '0');
        }
      } else if (IsElement(c) || IsNumber(c)) {
        factor.letter = c;
        ++i;
      } else {
        return Fail(Diag::BadTasm, fmt::format("`{}` is no expression of a rule", text));
      }
      if (product && !expression.empty()) {
        expression.back().factors.push_back(factor);
      } else {
        expression.push_back({negative, {factor}});
      }
      product = false;
    }
  }
  return expression;
}

Result<std::vector<Line>> ReadLines(std::string_view text, std::string& letters) {
  std::vector<Line> lines;
  for (std::string_view part : Split(text, ';')) {
    const size_t space = std::min(part.find(' '), part.size());
    const auto op = mt::FindMnemonic(part.substr(0, space));
    if (!op) return Fail(Diag::BadTasm, fmt::format("`{}` is no instruction", part));
    Line line{*op, TRY(ReadExpression(part.substr(space)))};
    if ((mt::Info(*op).argument == mt::Argument::None) != line.argument.empty()) {
      return Fail(Diag::BadTasm, fmt::format("`{}` has an argument too many or too few", part));
    }
    for (const Product& product : line.argument) {
      for (const Factor& factor : product.factors) {
        if (IsNumber(factor.letter) && letters.find(factor.letter) == std::string::npos)
          letters += factor.letter;
      }
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

bool HasElement(const Expression& expression) {
  for (const Product& product : expression) {
    for (const Factor& factor : product.factors) {
      if (IsElement(factor.letter)) return true;
    }
  }
  return false;
}

Result<Rule> ReadRule(std::string_view pattern, std::string_view replacement,
                      std::string_view conditions) {
  Rule rule;
  rule.text = fmt::format("{} -> {} if {}", pattern, replacement, conditions);
  rule.pattern = TRY(ReadLines(pattern, rule.letters));
  rule.replacement = TRY(ReadLines(replacement, rule.letters));
  for (std::string_view part : Split(conditions, ',')) {
    const size_t begin = part.find_first_of("=!<>");
    if (begin == std::string_view::npos)
      return Fail(Diag::BadTasm, fmt::format("`{}` compares nothing", part));
    const size_t end = part.find_first_not_of("=!<>", begin);
    if (end == std::string_view::npos)
      return Fail(Diag::BadTasm, fmt::format("`{}` compares nothing", part));
    Condition condition;
    condition.left = TRY(ReadExpression(part.substr(0, begin)));
    condition.right = TRY(ReadExpression(part.substr(end)));
    condition.relation = part.substr(begin, end - begin);
    if ((HasElement(condition.left) || HasElement(condition.right)) && condition.relation != "=" &&
        condition.relation != "!=") {
      return Fail(Diag::BadTasm, fmt::format("`{}`: elements are only equal or not", part));
    }
    rule.conditions.push_back(std::move(condition));
  }
  return rule;
}

using Numbers = std::map<char, int64_t>;

int64_t Integer(const Expression& expression, const Numbers& numbers) {
  int64_t sum = 0;
  for (const Product& product : expression) {
    int64_t value = product.negative ? -1 : 1;
    for (const Factor& factor : product.factors) {
      value *= factor.letter == 0 ? static_cast<int64_t>(factor.number) : numbers.at(factor.letter);
    }
    sum += value;
  }
  return sum;
}

Term Element(Terms& terms, const Expression& expression, const Numbers& numbers) {
  constexpr uint32_t Letters = 0xffff'0000u;
  Term sum = terms.Constant(0);
  for (const Product& product : expression) {
    Term value = terms.Constant(product.negative ? gl::P - 1 : 1);
    for (const Factor& factor : product.factors) {
      Term term = terms.Constant(gl::FromUint64(factor.number));
      if (IsElement(factor.letter))
        term = terms.Atom(Base::Loop, Letters, static_cast<uint64_t>(factor.letter));
      if (IsNumber(factor.letter)) term = terms.Constant(gl::FromInt64(numbers.at(factor.letter)));
      value = terms.Mul(value, term);
    }
    sum = terms.Add(sum, value);
  }
  return sum;
}

// The instructions of one instance; nothing if an argument is outside of its range.
struct Instance {
  mt::Program program;
  std::vector<Term> elements;
};
std::optional<Instance> Instantiate(Terms& terms, const std::vector<Line>& lines,
                                    const Numbers& numbers) {
  Instance instance;
  for (const Line& line : lines) {
    mt::Instruction instruction;
    instruction.op = line.op;
    Term element = NoTerm;
    const mt::Argument argument = mt::Info(line.op).argument;
    if (argument == mt::Argument::Element) {
      element = Element(terms, line.argument, numbers);
    } else if (argument != mt::Argument::None) {
      const int64_t value = Integer(line.argument, numbers);
      const bool count = argument == mt::Argument::Count;
      if (value < (count ? 1 : 0) || value > (count ? 5 : 15)) return std::nullopt;
      instruction.argument = static_cast<uint64_t>(value);
    }
    instance.program.code.push_back(instruction);
    instance.elements.push_back(element);
  }
  return instance;
}

bool Compare(int64_t a, const std::string& relation, int64_t b) {
  if (relation == "=") return a == b;
  if (relation == "!=") return a != b;
  if (relation == "<") return a < b;
  if (relation == "<=") return a <= b;
  if (relation == ">") return a > b;
  return relation == ">=" && a >= b;
}

// What the instances so far came to.
struct Proof {
  uint64_t instances = 0;  // of places and counts for which it was proved
  double error = 0;        // of all of them together
  bool inexact = false;
  std::string failure;  // the instance that was not, and why
};

// True: proved, or the rule does not apply.
bool ProveInstance(const Rule& rule, const Numbers& numbers, Proof& proof) {
  std::string values;
  for (auto [letter, value] : numbers) values += fmt::format(", {} = {}", letter, value);
  Terms terms(Seed({rule.text, values}));
  std::vector<Literal> assumed;
  for (const Condition& condition : rule.conditions) {
    if (!HasElement(condition.left) && !HasElement(condition.right)) {
      if (!Compare(Integer(condition.left, numbers), condition.relation,
                   Integer(condition.right, numbers)))
        return true;
      continue;
    }
    const Term difference = terms.Sub(Element(terms, condition.left, numbers),
                                      Element(terms, condition.right, numbers));
    assumed.push_back(condition.relation == "=" ? Zero(difference) : NonZero(difference));
  }
  const auto pattern = Instantiate(terms, rule.pattern, numbers);
  const auto replacement = Instantiate(terms, rule.replacement, numbers);
  if (!pattern || !replacement) return true;
  Heads heads;
  Budget budget;
  budget.deadline = Deadline::After(5000);
  for (const bool forth : {true, false}) {
    const Instance &leader = forth ? *pattern : *replacement,
                   &follower = forth ? *replacement : *pattern;
    Engine engine(terms, budget, true);
    engine.deep_stack = true;
    engine.assumed = assumed;
    auto failure =
        engine.Run(MakeTasmSide(leader.program, true, &heads, &leader.elements),
                   MakeTasmSide(follower.program, true, &heads, &follower.elements), forth);
    if (!failure) continue;
    proof.failure = failure->reason + values;
    return false;
  }
  proof.inexact |= terms.inexact_used();
  proof.error += terms.ErrorBound();
  ++proof.instances;
  return true;
}

bool Enumerate(const Rule& rule, size_t at, Numbers& numbers, Proof& proof) {
  if (at == rule.letters.size()) return ProveInstance(rule, numbers, proof);
  const char letter = rule.letters[at];
  const bool count = Counts.find(letter) != std::string_view::npos;
  for (int64_t value = count ? 1 : 0; value <= (count ? 5 : 15); ++value) {
    numbers[letter] = value;
    if (!Enumerate(rule, at + 1, numbers, proof)) return false;
  }
  return true;
}

}  // namespace

Result<Verdict> ProveRule(std::string_view pattern, std::string_view replacement,
                          std::string_view conditions) {
  const Rule rule = TRY(ReadRule(pattern, replacement, conditions));
  Proof proof;
  Numbers numbers;
  if (!Enumerate(rule, 0, numbers, proof)) return Unknown{proof.failure};
  if (proof.instances == 0) return Unknown{"it applies nowhere"};
  Evidence evidence{Grade::Proved, "symbolic execution",
                    fmt::format("{} instances", proof.instances), 0};
  if (!proof.inexact) return Proved{std::move(evidence)};
  evidence.grade = Grade::Algebraic;
  evidence.detail += fmt::format("; error at most 2^-{:.0f}", std::floor(-std::log2(proof.error)));
  return Tested{std::move(evidence)};
}

}  // namespace frazil::verify::tasm
