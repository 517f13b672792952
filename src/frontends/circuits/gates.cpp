// Knuth-Bendix completion of the six equations, done once and written down: H X H = Z and H H = I give H X = Z H
// (times H from the right) and H Z = X H; S S = Z gives Z S = S S S = S Z. Words that no rule touches have no two equal
// letters in a row, every H in front of an S or at the end, and every S behind its Z.
#include "frontends/circuits/gates.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace frazil::frontends::circuits {
namespace {

// Every right side is shorter, or as long and earlier in the order X < Z < S < H letter by letter: rewriting ends.
constexpr GateRule Rules[] = {
    {"XX", ""},   {"ZZ", ""},
    {"HH", ""},   {"SS", "Z"},  // four of the six; I I = I is that I is the empty word
    {"SZ", "ZS"},               // S S S two ways
    {"HX", "ZH"},               // H X H = Z, times H
    {"HZ", "XH"},               // the same, solved for X
};

constexpr struct {
  char gate;
  uint8_t class_index;
} Marks[] = {{'I', 0}, {'X', 21}, {'Z', 42}, {'S', 7}};

}  // namespace

std::span<const GateRule> GateRules() { return Rules; }

Result<GateWord> ReadGates(std::string_view letters) {
  GateWord word;
  for (size_t i = 0; i < letters.size(); ++i) {
    if (std::string_view("IXZSH").find(letters[i]) == std::string_view::npos)
      return Fail(Diag::BadCircuit,
                  fmt::format("'{}' is no gate: I, X, Z, S and H are", letters[i]),
                  {1, static_cast<uint32_t>(i + 1)});
    if (letters[i] != 'I') word += letters[i];
  }
  return word;
}

// The rewritten part is always a suffix of what was read so far, so one pass with a stack is enough: linear time but
// for letters that rules put back.
GateWord NormalGates(std::string_view word) {
  GateWord done, ahead(word.rbegin(), word.rend());
  while (!ahead.empty()) {
    done += ahead.back();
    ahead.pop_back();
    for (const GateRule& rule : GateRules()) {
      if (!std::string_view(done).ends_with(rule.left)) continue;
      done.resize(done.size() - rule.left.size());
      ahead.append(rule.right.rbegin(), rule.right.rend());
      break;
    }
  }
  return done;
}

bool SameGates(std::string_view a, std::string_view b) { return NormalGates(a) == NormalGates(b); }

Result<GateWord> GatesOf(std::span<const Call> calls) {
  GateWord word;
  for (size_t i = 0; i < calls.size(); ++i) {
    const Call& call = calls[i];
    const auto none = [&](std::string_view why) {
      return Fail(Diag::NotACircuit,
                  fmt::format("{} spells no gate: {}", CallKindName(call.kind), why),
                  call.location);
    };
    if (call.kind == CallKind::Copy) {
      const bool is_h = call.slots[0] == SlotOf(5) && call.slots[1] == SlotOf(6) &&
                        i + 1 < calls.size() && calls[i + 1].kind == CallKind::Mark &&
                        calls[i + 1].slots[0] == SlotOf(21);
      if (!is_h) return none("H is copy@c05->c06 . mark@c21");
      word += 'H';
      ++i;
      continue;
    }
    if (call.kind != CallKind::Mark) return none("gates are marks, and one copy");
    bool found = false;
    for (const auto& mark : Marks) {
      if (call.slots[0] != SlotOf(mark.class_index)) continue;
      found = true;
      if (mark.gate != 'I') word += mark.gate;
    }
    if (!found) return none(fmt::format("{} stands for none", SlotName(call.slots[0])));
  }
  return word;
}

std::string PrintGates(std::string_view word) {
  std::string text;
  for (char gate : word) {
    if (!text.empty()) text += " . ";
    if (gate == 'H') text += "copy@c05->c06 . mark@c21";
    for (const auto& mark : Marks)
      if (mark.gate == gate) text += fmt::format("mark@c{:02}", mark.class_index);
  }
  return text.empty() ? "mark@c00" : text;
}

Result<std::string> DescribeGates(std::string_view text) {
  const GateWord word = TRY(GatesOf(CallsOf(TRY(ParsePhrase(text)))));
  const GateWord normal = NormalGates(word);
  const auto letters = [](const GateWord& gates) {
    return gates.empty() ? "I" : fmt::to_string(fmt::join(gates, " "));
  };
  return fmt::format("{} = {}\n{}\n", letters(word), letters(normal), PrintGates(normal));
}

}  // namespace frazil::frontends::circuits
