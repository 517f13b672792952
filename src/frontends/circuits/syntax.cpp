// Names, equality and printing of circuits: everything about the tree that is not reading it.
#include "frontends/circuits/syntax.h"

#include <bit>
#include <cmath>
#include <iterator>
#include <span>

#include <fmt/format.h>

namespace frazil::frontends::circuits {
namespace {

constexpr std::string_view Generators[] = {"mark",  "copy",     "swap",   "merge",  "split",
                                           "quote", "evaluate", "reduce", "softmax"};
constexpr std::string_view Merges[] = {"add", "mul",  "min",     "max",  "abs", "exp",
                                       "log", "sqrt", "sigmoid", "tanh", "gelu"};
constexpr std::string_view Splits[] = {"sub", "div"};
constexpr std::string_view Reduces[] = {"sum", "min", "max"};

std::span<const std::string_view> VariantsOf(Generator generator) {
  switch (generator) {
    case Generator::Merge: return Merges;
    case Generator::Split: return Splits;
    case Generator::Reduce: return Reduces;
    default: return {};
  }
}

std::string Postfix(uint8_t twist, bool mirror) {
  std::string text = twist != 0 ? fmt::format("^+{}", twist) : "";
  return mirror ? text + "~" : text;
}

std::string PrintSigil(const Sigil& sigil) {
  std::string text = fmt::format("c{:02}{}", sigil.class_index, Postfix(sigil.twist, sigil.mirror));
  return sigil.page >= 0 ? text + fmt::format("@{}", sigil.page) : text;
}

std::string PrintBranches(std::span<const Sequence> branches) {
  std::string text;
  for (size_t b = 0; b < branches.size(); ++b) {
    if (b != 0) text += " || ";
    for (size_t i = 0; i < branches[b].items.size(); ++i) {
      const Term& term = branches[b].items[i];
      if (i != 0) text += " . ";
      text += term.group.empty() ? PrintOperation(term.operation)
                                 : "(" + PrintBranches(term.group) + ")";
    }
  }
  return text;
}

}  // namespace

std::string_view GeneratorName(Generator generator) {
  return Generators[static_cast<size_t>(generator)];
}

std::string_view VariantName(Generator generator, uint8_t variant) {
  const std::span<const std::string_view> names = VariantsOf(generator);
  return variant < names.size() ? names[variant] : "";
}

std::optional<uint8_t> VariantNamed(Generator generator, std::string_view name) {
  const std::span<const std::string_view> names = VariantsOf(generator);
  for (uint8_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return i;
  return std::nullopt;
}

bool operator==(const Number& a, const Number& b) {
  if (a.is_integer != b.is_integer) return false;
  if (a.is_integer) return a.integer == b.integer;
  return (std::isnan(a.value) && std::isnan(b.value)) ||
         std::bit_cast<uint64_t>(a.value) == std::bit_cast<uint64_t>(b.value);
}

Number IntegerNumber(int64_t value) { return {static_cast<double>(value), value, true}; }

Number RealNumber(double value) {
  const bool whole = std::abs(value) < 0x1p53 && value == std::trunc(value) &&
                     !(value == 0 && std::signbit(value));
  return whole ? IntegerNumber(static_cast<int64_t>(value)) : Number{value, 0, false};
}

bool operator==(const Operation& a, const Operation& b) {
  return a.generator == b.generator && a.variant == b.variant && a.target == b.target &&
         a.first == b.first && a.last == b.last && a.context == b.context && a.number == b.number &&
         a.second == b.second;
}
bool operator==(const Term& a, const Term& b) {
  return a.group == b.group && (!a.group.empty() || a.operation == b.operation);
}
bool operator==(const Sequence& a, const Sequence& b) { return a.items == b.items; }
bool operator==(const Phrase& a, const Phrase& b) {
  return a.scratch == b.scratch && a.transform == b.transform && a.branches == b.branches;
}

std::string PrintNumber(const Number& number) {
  if (number.is_integer) return fmt::format("{}", number.integer);
  if (std::isnan(number.value)) return "nan";
  if (number.value == 0) return "-0";  // +0 is an integer
  return fmt::format("{}", number.value);
}

std::string PrintOperation(const Operation& operation) {
  std::string text(GeneratorName(operation.generator));
  const std::string_view variant = VariantName(operation.generator, operation.variant);
  if (!variant.empty()) text += fmt::format(".{}", variant);
  text += "@";
  switch (operation.target) {
    case TargetKind::Single: return text + PrintSigil(operation.first);
    case TargetKind::Range:
      return text + fmt::format("c[{}..{}]{}", operation.first.class_index, operation.last,
                                Postfix(operation.first.twist, operation.first.mirror));
    case TargetKind::Pair:
      return text + fmt::format("{}{}{}", PrintSigil(operation.first),
                                operation.generator == Generator::Swap ? "<->" : "->",
                                PrintSigil(operation.second));
    case TargetKind::Triple:
      return text + fmt::format("{}[{},{}]", PrintSigil(operation.first),
                                operation.number ? PrintNumber(*operation.number)
                                                 : PrintSigil(operation.context),
                                PrintSigil(operation.second));
  }
  return text;
}

std::string PrintPhrase(const Phrase& phrase) {
  std::string text;
  if (phrase.transform.rotate != 0) text += fmt::format("R+{}", phrase.transform.rotate);
  if (phrase.transform.twist != 0) text += fmt::format("T+{}", phrase.transform.twist);
  if (phrase.transform.mirror) text += "~";
  if (!text.empty()) text += "@ ";
  std::string scratch;
  for (const Sigil& sigil : phrase.scratch)
    scratch += (scratch.empty() ? "scratch " : ", ") + PrintSigil(sigil);
  if (!scratch.empty()) scratch += ": ";
  return scratch + text + PrintBranches(phrase.branches);
}

}  // namespace frazil::frontends::circuits
