// Reads run lines. The pieces of a line are split at brackets and separators only; the literals in them
// are read by ir::ParseLiteral, so they mean here what they mean in a program.

#include "support/run_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "ir/text/text.h"

namespace frazil::tests {
namespace {

using exec::Value;
using ir::Type;

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

// Splits at a separator outside of brackets and quotes.
std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  int depth = 0;
  bool quoted = false;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    char c = i < text.size() ? text[i] : separator;
    if (c == '"') quoted = !quoted;
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (i == text.size() || (c == separator && depth == 0 && !quoted)) {
      parts.emplace_back(Trim(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  if (parts.size() == 1 && parts[0].empty()) parts.clear();
  return parts;
}

bool ReadNumber(std::string_view text, int64_t* number) {
  text = Trim(text);
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc{} && end == text.data() + text.size();
}

auto Bad(const RunLine& run, std::string why) {
  return Fail(Diag::BadUsage, fmt::format("run line: {}: {}", why, run.text), {run.line, 1});
}

bool Consume(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text = Trim(text.substr(prefix.size()));
  return true;
}

// The text of one bracketed group at the start, which is taken off; nothing if there is none.
std::optional<std::string_view> TakeGroup(std::string_view& text) {
  if (text.empty() || (text[0] != '(' && text[0] != '[')) return std::nullopt;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '[') ++depth;
    if ((text[i] == ')' || text[i] == ']') && --depth == 0) {
      std::string_view group = text.substr(1, i - 1);
      text = Trim(text.substr(i + 1));
      return group;
    }
  }
  return std::nullopt;
}

Result<void> ReadTrap(RunLine& run, std::string_view text) {
  size_t close = text.find('"', 1);
  if (text.empty() || text[0] != '"' || close == std::string_view::npos)
    return Bad(run, "trap kind must be quoted");
  auto kind = ir::TrapNamed(text.substr(1, close - 1));
  if (!kind) return Bad(run, "no such trap kind");
  text = Trim(text.substr(close + 1));
  if (!Consume(text, "in ")) return Bad(run, "expected 'in' and the op that traps");
  size_t space = text.find(' ');
  auto op = ir::OpNamed(text.substr(0, space));
  if (!op) return Bad(run, "no such op");
  int64_t index = -1;
  text = space == std::string_view::npos ? "" : Trim(text.substr(space));
  if (Consume(text, "at ") && !ReadNumber(text, &index))
    return Bad(run, "expected an iteration after 'at'");
  run.trap = exec::TrapInfo{*kind, *op, index};
  return {};
}

Result<void> ReadClause(RunLine& run, std::string_view clause) {
  for (auto [word, stream] :
       {std::pair{"input", &run.input}, {"output", &run.output}, {"hints", &run.hints}})
    if (clause.starts_with(word) &&
        Trim(clause.substr(std::string_view(word).size())).starts_with("[")) {
      *stream = std::string(Trim(clause.substr(std::string_view(word).size())));
      return {};
    }
  for (auto [word, limit] : {std::pair{"fuel ", &run.limits.fuel},
                             {"depth ", &run.limits.depth},
                             {"memory ", &run.limits.memory_bytes}}) {
    if (!Consume(clause, word)) continue;
    int64_t number = 0;
    if (!ReadNumber(clause, &number)) return Bad(run, "a limit is a number");
    *limit = static_cast<uint64_t>(number);
    run.has_limits = true;
    run.has_fuel |= limit == &run.limits.fuel;
    return {};
  }
  size_t equals = clause.find('=');
  if (equals == std::string_view::npos) return Bad(run, fmt::format("unknown clause '{}'", clause));
  run.buffers[std::string(Trim(clause.substr(0, equals)))] =
      std::string(Trim(clause.substr(equals + 1)));
  return {};
}

// The elements of a list, as text, with repetitions and ranges written out.
Result<void> Flatten(const RunLine& run, std::string_view list, std::vector<std::string>& out) {
  std::string_view rest = Trim(list);
  auto inner = rest.starts_with('[') ? TakeGroup(rest) : std::nullopt;
  if (!inner) return Bad(run, fmt::format("expected a list instead of '{}'", list));
  for (const std::string& item : Split(*inner, ',')) {
    if (item.starts_with('[')) {
      TRY_VOID(Flatten(run, item, out));
      continue;
    }
    size_t times = item.rfind(" x "), dots = item.find(" .. ");
    if (times != std::string::npos) {
      int64_t count = 0;
      if (!ReadNumber(std::string_view(item).substr(times + 3), &count) || count < 0 ||
          count > 1'000'000)
        return Bad(run, "bad count after 'x'");
      out.insert(out.end(), static_cast<size_t>(count), std::string(Trim(item.substr(0, times))));
    } else if (dots != std::string::npos) {
      int64_t first = 0, last = 0;
      if (!ReadNumber(item.substr(0, dots), &first) || !ReadNumber(item.substr(dots + 4), &last) ||
          last - first > 1'000'000)
        return Bad(run, "bad range");
      for (int64_t i = first; i <= last; ++i) out.push_back(std::to_string(i));
    } else {
      out.push_back(item);
    }
  }
  return {};
}

Result<std::shared_ptr<exec::Memory>> ReadMemory(const RunLine& run, Type element,
                                                 std::string_view list) {
  std::vector<std::string> items;
  TRY_VOID(Flatten(run, list, items));
  auto memory = std::make_shared<exec::Memory>(element, static_cast<int64_t>(items.size()));
  for (size_t i = 0; i < items.size(); ++i)
    memory->Set(static_cast<int64_t>(i), TRY(ir::ParseLiteral(element, items[i])));
  return memory;
}

// The dimensions of a tensor type, its symbols bound to the arguments.
std::vector<int64_t> DimsOf(const ir::Function& entry, Type type,
                            const std::vector<Value>& arguments) {
  std::vector<int64_t> dims;
  for (ir::Dim dim : entry.shape(type))
    dims.push_back(dim.is_symbol() ? static_cast<int64_t>(arguments[dim.param()].word) : dim.value);
  return dims;
}

// A parameter without a name is known by its number.
int ParamNamed(const ir::Function& function, std::string_view name) {
  int64_t number = -1;
  if (ReadNumber(name, &number) && number >= 0 && number < function.param_count())
    return static_cast<int>(number);
  for (uint32_t i = 0; i < function.param_count(); ++i)
    if (function.param(i).index < function.value_names.size() &&
        function.value_names[function.param(i).index] == name)
      return static_cast<int>(i);
  return -1;
}

// `x` or `x[a:b]`: memory of an earlier argument.
Result<Value> ReadAlias(const RunLine& run, const ir::Function& entry, std::string_view text,
                        const std::vector<Value>& arguments) {
  size_t bracket = text.find('[');
  int param = ParamNamed(entry, text.substr(0, bracket));
  if (param < 0 || !arguments[static_cast<size_t>(param)].memory)
    return Bad(run, "no such buffer parameter");
  const auto& memory = arguments[static_cast<size_t>(param)].memory;
  if (bracket == std::string_view::npos) return Value::Buffer(memory);
  std::string_view range = text.substr(bracket + 1, text.size() - bracket - 2);
  size_t colon = range.find(':');
  int64_t from = 0, to = 0;
  if (colon == std::string_view::npos || !ReadNumber(range.substr(0, colon), &from) ||
      !ReadNumber(range.substr(colon + 1), &to) || from < 0 || to < from || to > memory->length())
    return Bad(run, "bad part of a buffer");
  std::byte* data = memory->data() + from * ir::BytesOf(memory->element());
  return Value::Buffer(std::make_shared<exec::Memory>(memory->element(), to - from, data));
}

Result<Value> ReadArgument(const RunLine& run, const ir::Function& entry, uint32_t i,
                           const std::vector<Value>& arguments) {
  const std::string& text = run.arguments[i];
  Type type = i < entry.param_count() ? entry.param_type(i) : ir::types::I32;
  if (type.is_scalar()) return Value::Scalar(type, TRY(ir::ParseLiteral(type, text)));
  if (!text.starts_with('[')) return ReadAlias(run, entry, text, arguments);
  size_t end = text.rfind(']');
  auto memory = TRY(ReadMemory(run, type.element(), std::string_view(text).substr(0, end + 1)));
  if (type.is_buffer()) return Value::Buffer(memory);
  std::vector<int64_t> dims = DimsOf(entry, type, arguments);
  if (end + 1 < text.size()) {
    dims.clear();
    for (const std::string& part : Split(std::string_view(text).substr(end + 2), 'x')) {
      dims.emplace_back();
      if (!ReadNumber(part, &dims.back())) return Bad(run, "bad dimensions");
    }
  }
  return Value::Tensor(memory, dims);
}

std::optional<Type> StreamType(const ir::Program& program, ir::Op op) {
  for (const ir::Function& function : program.functions)
    for (const ir::Inst& inst : function.insts)
      if (inst.op == op)
        return inst.type;
      else if (op == ir::Op::Hint && inst.op == ir::Op::MerkleStep)
        return ir::types::Digest;
  return std::nullopt;
}

Result<std::vector<Value>> ReadStream(const RunLine& run, const ir::Program& program, ir::Op op,
                                      const std::optional<std::string>& list) {
  std::vector<Value> values;
  if (!list) return values;
  std::vector<std::string> items;
  TRY_VOID(Flatten(run, *list, items));
  auto default_type = StreamType(program, op);
  for (std::string_view item : items) {
    size_t colon = item.rfind(':');
    if (colon == std::string_view::npos && !default_type)
      return Bad(run, "stream values need a type, as in 7:i32");
    Type type = colon == std::string_view::npos ? *default_type
                                                : TRY(ir::ParseType(item.substr(colon + 1)));
    values.push_back(Value::Scalar(type, TRY(ir::ParseLiteral(type, item.substr(0, colon)))));
  }
  return values;
}

// One scalar, buffer or tensor against its expected text; empty if it fits.
Result<std::string> CompareValue(const RunLine& run, const std::string& expected,
                                 const Value& actual) {
  if (expected == "_") return "";
  Type element = actual.type.element();
  std::vector<std::string> items = {expected};
  int64_t count = 1;
  if (!actual.type.is_scalar()) {
    items.clear();
    TRY_VOID(Flatten(run, expected, items));
    count = actual.memory->length();
  }
  if (count != static_cast<int64_t>(items.size()))
    return fmt::format("{} elements instead of {}", count, items.size());
  std::vector<uint64_t> words(ir::WordsOf(element));
  for (int64_t i = 0; i < count; ++i) {
    const std::string& item = items[static_cast<size_t>(i)];
    if (item == "_") continue;
    if (actual.type.is_scalar())
      words.assign(actual.scalar_words().begin(), actual.scalar_words().end());
    else
      actual.memory->Get(i, words);
    if (TRY(ir::ParseLiteral(element, item)) != words)
      return fmt::format("{}{} instead of {}",
                         actual.type.is_scalar() ? "" : fmt::format("[{}] is ", i),
                         ir::PrintLiteral(element, words), item);
  }
  return "";
}

Result<std::string> CompareBuffers(const RunLine& run, const ir::Program& program,
                                   const std::vector<Value>& arguments) {
  for (const auto& [name, list] : run.buffers) {
    int param = ParamNamed(program.entry_function(), name);
    if (param < 0) return Bad(run, fmt::format("no parameter '{}'", name));
    std::string difference = TRY(CompareValue(run, list, arguments[static_cast<size_t>(param)]));
    if (!difference.empty()) return fmt::format("{}: {}", name, difference);
  }
  return "";
}

Result<std::string> CompareAll(const RunLine& run, const ir::Program& program,
                               const exec::Outcome& outcome, const std::vector<Value>& arguments,
                               TrapDetail detail) {
  if (run.output) {
    std::vector<Value> expected = TRY(ReadStream(run, program, ir::Op::Output, run.output));
    if (expected.size() != outcome.output.size())
      return fmt::format("{} values of output instead of {}", outcome.output.size(),
                         expected.size());
    for (size_t i = 0; i < expected.size(); ++i)
      if (!(expected[i] == outcome.output[i]))
        return fmt::format("output {} is {} instead of {}", i, exec::PrintValue(outcome.output[i]),
                           exec::PrintValue(expected[i]));
  }
  if (outcome.trap) {
    if (!run.trap) return "traps: " + outcome.trap->ToString();
    if (!SameTrap(*outcome.trap, *run.trap, detail))
      return fmt::format("{} instead of {}", outcome.trap->ToString(), run.trap->ToString());
    return CompareBuffers(run, program, arguments);
  }
  if (run.trap) return "does not trap";
  std::vector<std::string> expected = {*run.results};
  if (outcome.results.size() != 1) {
    std::string_view rest = *run.results;
    auto group = TakeGroup(rest);
    if (!group) return Bad(run, "several results stand in parentheses");
    expected = Split(*group, ',');
  }
  if (expected.size() != outcome.results.size())
    return fmt::format("{} results instead of {}", outcome.results.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    if (std::string difference = TRY(CompareValue(run, expected[i], outcome.results[i]));
        !difference.empty())
      return fmt::format("result {}: {}", i, difference);
  return CompareBuffers(run, program, arguments);
}

}  // namespace

Result<RunLine> ParseRunLine(std::string_view text, uint32_t line) {
  RunLine run;
  run.line = line;
  run.text = Trim(text);
  std::vector<std::string> clauses = Split(run.text, ';');
  if (clauses.empty()) return Bad(run, "empty");
  std::string_view rest = clauses[0];
  auto arguments = rest.starts_with('(') ? TakeGroup(rest) : std::nullopt;
  if (!arguments) return Bad(run, "arguments stand in parentheses");
  run.arguments = Split(*arguments, ',');
  if (Consume(rest, "=="))
    run.results = std::string(rest);
  else if (Consume(rest, "traps "))
    TRY_VOID(ReadTrap(run, rest));
  else if (Consume(rest, "refused "))
    run.refused = std::string(rest);
  else
    return Bad(run, "expected '==', 'traps' or 'refused' after the arguments");
  for (size_t i = 1; i < clauses.size(); ++i) TRY_VOID(ReadClause(run, clauses[i]));
  return run;
}

Result<std::vector<Value>> MakeArguments(const RunLine& run, const ir::Program& program) {
  const ir::Function& entry = program.entry_function();
  std::vector<Value> arguments(run.arguments.size());
  // Scalars first: tensors need their symbols.
  for (bool scalars : {true, false})
    for (uint32_t i = 0; i < arguments.size(); ++i) {
      bool is_scalar = i >= entry.param_count() || entry.param_type(i).is_scalar();
      if (is_scalar == scalars) arguments[i] = TRY(ReadArgument(run, entry, i, arguments));
    }
  return arguments;
}

Result<exec::RunContext> MakeContext(const RunLine& run, const ir::Program& program) {
  exec::RunContext context;
  context.input = TRY(ReadStream(run, program, ir::Op::Input, run.input));
  context.hints = TRY(ReadStream(run, program, ir::Op::Hint, run.hints));
  context.limits = run.limits;
  return context;
}

std::string CompareWithRunLine(const RunLine& run, const ir::Program& program,
                               const exec::Outcome& outcome, const std::vector<Value>& arguments,
                               TrapDetail detail) {
  auto difference = CompareAll(run, program, outcome, arguments, detail);
  return difference ? *difference : difference.error().ToString();
}

}  // namespace frazil::tests
