// Texts of small programs over scalars, for tests of passes and judges: straight lines of one type, a choice, a sum.
#pragma once

#include <fmt/format.h>

#include <cctype>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace frazil::ir {

// The lines of ops of one type, written without signs: "s = add a b; z = const 0" is %s = add %a, %b and %z = const 0.
inline std::string OpLines(std::string_view type, std::string_view ops) {
  std::string text;
  const auto word = [&] {
    ops.remove_prefix(std::min(ops.find_first_not_of(' '), ops.size()));
    const size_t end = std::min(ops.find_first_of(" ;"), ops.size());
    const std::string_view found = ops.substr(0, end);
    ops.remove_prefix(end);
    return found;
  };
  const auto value = [](std::string_view name) {
    const bool named = !name.empty() && std::isalpha(static_cast<unsigned char>(name[0])) != 0;
    return (named ? "%" : "") + std::string(name);
  };
  while (!ops.empty()) {
    const std::string result = value(word());
    word();  // =
    text += fmt::format("  {} = {} {}", result, word(), value(word()));
    while (!ops.empty() && ops[0] == ' ') text += ", " + value(word());
    text += fmt::format(" : {}\n", type);
    ops.remove_prefix(ops.empty() ? 0 : 1);
  }
  return text;
}

// A function of parameters of one type that gives the result of its last op, or what stands behind all ops: "..; s". Without
// the first line of a text.
inline std::string OpsFunction(std::string_view type, std::string_view params, std::string_view ops,
                               std::string_view name = "main") {
  std::string declared;
  for (size_t at = 0; at < params.size();) {
    const size_t end = std::min(params.find(' ', at), params.size());
    declared +=
        fmt::format("{}%{}: {}", declared.empty() ? "" : ", ", params.substr(at, end - at), type);
    at = end + 1;
  }
  const auto trimmed = [](std::string_view text) {
    return text.substr(std::min(text.find_first_not_of(' '), text.size()));
  };
  std::string_view last =
      trimmed(ops.substr(ops.rfind(';') + 1));  // all of them where there is one
  if (!last.contains('=')) ops = ops.substr(0, ops.rfind(';'));
  return fmt::format("func @{}({}) -> ({}) {{\n{}  return %{}\n}}\n", name, declared, type,
                     OpLines(type, ops), last.substr(0, last.find(' ')));
}

// %r = if ..: the lines of an arm, which may be none, and what it yields.
struct Arm {
  std::string_view lines;
  std::string_view value;
};
inline std::string ChoiceLines(std::string_view condition, std::string_view type, const Arm& then,
                               const Arm& otherwise) {
  return fmt::format(
      "  %r = if {} -> ({}) {{\n{}    yield {}\n  }} else {{\n{}    yield {}\n  }}\n", condition,
      type, then.lines, then.value, otherwise.lines, otherwise.value);
}

// %q = switch ..: an arm for each case, the last for all others.
inline std::string SwitchLines(std::string_view on, std::string_view type,
                               std::initializer_list<std::pair<std::string_view, Arm>> arms) {
  std::string text = fmt::format("  %q = switch {} -> ({}) {{\n", on, type);
  for (const auto& [label, arm] : arms)
    text += fmt::format("  {} {{\n{}    yield {}\n  }}\n", label, arm.lines, arm.value);
  return text + "  }\n";
}

// %sum is the sum of the numbers from `low` to below `high`: a loop that counts in the type of the sum, or counts in another one
// and checks.
inline std::string SumLines(std::string_view type, std::string_view low, std::string_view high,
                            std::string_view index = "") {
  const std::string add = index.empty() ? fmt::format("    %next = add %acc, %i : {}\n", type)
                                        : fmt::format(
                                              "    %wide = cast.checked %i : {0}\n"
                                              "    %next = add.checked %acc, %wide : {0}\n",
                                              type);
  return fmt::format(R"(  %low = const {1} : {3}
  %high = const {2} : {3}
  %start = const 0 : {0}
  %sum = for %i = %low to %high step 1 carry (%acc = %start) {{
{4}    yield %next
  }}
)",
                     type, low, high, index.empty() ? type : index, add);
}

// %a and %b are two neighbors of Fibonacci's sequence after a number of turns that is a value of type `index`: two carried values
// that change places.
inline std::string FibonacciLines(std::string_view type, std::string_view index,
                                  std::string_view turns) {
  return fmt::format(R"(  %first = const 0 : {1}
  %zero = const 0 : {0}
  %one = const 1 : {0}
  %a, %b = for %i = %first to {2} step 1 carry (%x = %zero, %y = %one) {{
    %s = add %x, %y : {0}
    yield %y, %s
  }}
)",
                     type, index, turns);
}

}  // namespace frazil::ir
