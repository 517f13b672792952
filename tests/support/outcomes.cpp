// Outcomes compared bit for bit, and runs written down as run lines.

#include <fmt/format.h>

#include "exec/meaning/after_trap.h"
#include "ir/text/text.h"
#include "support/run_line.h"

namespace frazil::tests {

using exec::Value;

bool SameTrap(const exec::TrapInfo& a, const exec::TrapInfo& b, TrapDetail detail) {
  return a.kind == b.kind && a.op == b.op &&
         (detail == TrapDetail::KindAndOp || a.index == b.index);
}

namespace {

std::string CompareValues(const char* what, const std::vector<Value>& expected,
                          const std::vector<Value>& actual) {
  if (expected.size() != actual.size())
    return fmt::format("{} {}s instead of {}", actual.size(), what, expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    if (!(expected[i] == actual[i]))
      return fmt::format("{} {} is {} instead of {}", what, i, exec::PrintValue(actual[i]),
                         exec::PrintValue(expected[i]));
  return "";
}

}  // namespace

std::string CompareOutcomes(const Call& call, const exec::Outcome& expected,
                            const std::vector<Value>& expected_arguments,
                            const exec::Outcome& actual, const std::vector<Value>& actual_arguments,
                            TrapDetail detail) {
  auto describe = [](const exec::Outcome& outcome) {
    return outcome.trap ? outcome.trap->ToString() : std::string("no trap");
  };
  bool same_trap = expected.trap.has_value() == actual.trap.has_value();
  if (same_trap && expected.trap) same_trap = SameTrap(*expected.trap, *actual.trap, detail);
  if (!same_trap) return fmt::format("{} instead of {}", describe(actual), describe(expected));
  if (auto text = CompareValues("output", expected.output, actual.output); !text.empty())
    return text;
  if (expected.trap) {
    const auto program = exec::InterpreterProgram::Create(call.program);
    if (!program) return program.error().ToString();
    const auto wrong = exec::WrongAfterTrap(*program, call.arguments, expected_arguments,
                                            actual_arguments, call.context);
    if (!wrong) return "";
    return fmt::format("element {} of argument {} after the trap: {} instead of {}", wrong->element,
                       wrong->argument, exec::PrintValue(actual_arguments[wrong->argument]),
                       exec::PrintValue(expected_arguments[wrong->argument]));
  }
  if (auto text = CompareValues("result", expected.results, actual.results); !text.empty())
    return text;
  return CompareValues("argument", expected_arguments, actual_arguments);
}

namespace {

std::string ListOf(const exec::Memory& memory) {
  std::string list = "[";
  std::vector<uint64_t> words(ir::WordsOf(memory.element()));
  for (int64_t i = 0; i < memory.length(); ++i) {
    memory.Get(i, words);
    if (i > 0) list += ", ";
    list += ir::PrintLiteral(memory.element(), words);
  }
  return list + "]";
}

std::string TextOf(const Value& value) {
  return value.type.is_scalar() ? ir::PrintLiteral(value.type, value.scalar_words())
                                : ListOf(*value.memory);
}

std::string StreamOf(const std::vector<Value>& values) {
  std::string list = "[";
  for (const Value& value : values)
    list += fmt::format("{}{}:{}", list.size() > 1 ? ", " : "", TextOf(value),
                        ir::ScalarOrBufferName(value.type));
  return list + "]";
}

std::string NameOf(const ir::Function& function, size_t param) {
  const auto& names = function.value_names;
  if (param < names.size() && !names[param].empty()) return names[param];
  return std::to_string(param);
}

}  // namespace

std::string PrintRunLine(const ir::Program& program, const std::vector<Value>& arguments,
                         const exec::RunContext& context, const exec::Outcome& expected,
                         const std::vector<Value>& arguments_after) {
  std::string line = "(";
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (i > 0) line += ", ";
    size_t first = 0;
    while (arguments[i].memory && arguments[first].memory != arguments[i].memory) ++first;
    bool is_alias = arguments[i].memory && first < i;
    line += is_alias ? NameOf(program.entry_function(), first) : TextOf(arguments[i]);
  }
  line += ") ";
  if (expected.trap) {
    line += fmt::format("traps \"{}\" in {}", ir::TrapName(expected.trap->kind),
                        ir::Info(expected.trap->op).mnemonic);
    if (expected.trap->index >= 0) line += fmt::format(" at {}", expected.trap->index);
  } else if (expected.results.size() == 1) {
    line += "== " + TextOf(expected.results[0]);
  } else {
    std::string results;
    for (const Value& value : expected.results)
      results += (results.empty() ? "" : ", ") + TextOf(value);
    line += fmt::format("== ({})", results);
  }
  // In a parallel the line cannot tell which elements may hold anything; whoever repeats the run finds out.
  const bool memory_is_exact = !expected.trap || expected.trap->index == -1;
  for (size_t i = 0; i < arguments.size() && memory_is_exact; ++i)
    if (arguments[i].type.is_buffer() && !(arguments[i] == arguments_after[i]))
      line +=
          fmt::format("; {} = {}", NameOf(program.entry_function(), i), TextOf(arguments_after[i]));
  if (!expected.output.empty()) line += "; output " + StreamOf(expected.output);
  if (!context.input.empty()) line += "; input " + StreamOf(context.input);
  if (!context.hints.empty()) line += "; hints " + StreamOf(context.hints);
  const Limits defaults;
  if (context.limits.fuel != defaults.fuel) line += fmt::format("; fuel {}", context.limits.fuel);
  if (context.limits.depth != defaults.depth)
    line += fmt::format("; depth {}", context.limits.depth);
  if (context.limits.memory_bytes != defaults.memory_bytes)
    line += fmt::format("; memory {}", context.limits.memory_bytes);
  return line;
}

}  // namespace frazil::tests
