#include "arguments/arguments.h"

#include <fmt/format.h>

#include "ir/text/text.h"

namespace frazil::arguments {
namespace {

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// "[1, [2, 3]]" as its leaves, in order; false if the brackets do not match.
bool SplitList(std::string_view text, std::vector<std::string_view>& leaves) {
  int depth = 0;
  size_t start = std::string_view::npos;
  char before = ' ';  // the last character that is no blank
  for (size_t i = 0; i < text.size(); before = text[i] == ' ' ? before : text[i], ++i) {
    char c = text[i];
    if (before == ',' && (c == ',' || c == ']')) return false;  // an element is missing
    if (before == '[' && c == ',') return false;
    if (c == '[' || c == ']' || (c == ',' && depth > 0)) {
      if (start != std::string_view::npos) leaves.push_back(Trim(text.substr(start, i - start)));
      start = std::string_view::npos;
      depth += (c == '[') - (c == ']');
      if (depth < 0) return false;
    } else if (c == '(') {
      // A tuple (extension element, digest) is one leaf.
      size_t close = text.find(')', i);
      if (close == std::string_view::npos) return false;
      leaves.push_back(text.substr(i, close - i + 1));
      i = close;
    } else if (c != ' ' && start == std::string_view::npos) {
      if (depth == 0) return false;
      start = i;
    }
  }
  return depth == 0;
}

Result<std::shared_ptr<exec::Memory>> ParseElements(ir::Type element, std::string_view text,
                                                    const Limits& limits) {
  std::vector<std::string_view> leaves;
  if (!text.starts_with('[') || !SplitList(text, leaves))
    return Fail(Diag::WrongArgument,
                fmt::format("'{}' is no list of elements such as [1, 2, 3]", text.substr(0, 40)));
  auto memory = std::make_shared<exec::Memory>(element, static_cast<int64_t>(leaves.size()));
  for (size_t i = 0; i < leaves.size(); ++i)
    memory->Set(static_cast<int64_t>(i), TRY(ir::ParseLiteral(element, leaves[i], limits)));
  return memory;
}

}  // namespace

Result<exec::Value> ParseArgument(const ir::Function& function, uint32_t param,
                                  const std::string& text, std::span<const exec::Value> earlier,
                                  const Limits& limits) {
  ir::Type type = function.param_type(param);
  std::string_view trimmed = Trim(text);
  if (type.is_scalar()) {
    return exec::Value::Scalar(type, TRY(ir::ParseLiteral(type, trimmed, limits)));
  }
  if (type.is_buffer()) {
    for (uint32_t i = 0; i < earlier.size(); ++i) {
      if (earlier[i].type.is_buffer() && trimmed == ParamName(function, i))
        return exec::Value::Buffer(earlier[i].memory);
    }
  }
  std::shared_ptr<exec::Memory> memory = TRY(ParseElements(type.element(), trimmed, limits));
  if (type.is_buffer()) return exec::Value::Buffer(std::move(memory));
  std::vector<int64_t> dims;
  int64_t size = 1;
  for (ir::Dim dim : function.shape(type)) {
    if (dim.is_symbol() && dim.param() >= earlier.size())
      return Fail(Diag::WrongArgument, "a tensor is sized by a parameter that comes after it");
    dims.push_back(dim.is_symbol() ? static_cast<int64_t>(earlier[dim.param()].word) : dim.value);
    size *= dims.back();
  }
  if (size != memory->length())
    return Fail(Diag::WrongArgument,
                fmt::format("the tensor has {} elements, {} given", size, memory->length()));
  return exec::Value::Tensor(std::move(memory), std::move(dims));
}

Result<std::vector<exec::Value>> ParseArguments(const ir::Program& program,
                                                const std::vector<std::string>& texts,
                                                const Limits& limits) {
  const ir::Function& entry = program.entry_function();
  if (texts.size() != entry.param_count())
    return Fail(Diag::WrongArgumentCount,
                fmt::format("@{} takes {} argument{}, {} given", entry.name, entry.param_count(),
                            entry.param_count() == 1 ? "" : "s", texts.size()));
  std::vector<exec::Value> values;
  for (uint32_t i = 0; i < texts.size(); ++i) {
    Result<exec::Value> value = ParseArgument(entry, i, texts[i], values, limits);
    if (!value) {
      value.error().message = fmt::format("argument {}: {}", i + 1, value.error().message);
      return std::unexpected(std::move(value.error()));
    }
    values.push_back(std::move(*value));
  }
  return values;
}

std::string ParamName(const ir::Function& function, uint32_t param) {
  const bool named = param < function.value_names.size() && !function.value_names[param].empty();
  return named ? function.value_names[param] : std::to_string(param);
}

std::vector<std::string> PrintArguments(const ir::Function& function,
                                        std::span<const exec::Value> values) {
  std::vector<std::string> words;
  for (uint32_t i = 0; i < values.size(); ++i) {
    std::string word = exec::PrintValue(values[i]);
    for (uint32_t j = 0; j < i && function.param_type(i).is_buffer(); ++j) {
      if (values[j].memory != values[i].memory) continue;
      word = ParamName(function, j);
      break;
    }
    words.push_back(std::move(word));
  }
  return words;
}

Result<std::vector<exec::Value>> ParseStream(const std::vector<std::string>& texts,
                                             const Limits& limits) {
  std::vector<exec::Value> values;
  for (const std::string& text : texts) {
    size_t colon = text.find(':');
    if (colon == std::string::npos)
      return Fail(Diag::WrongArgument,
                  fmt::format("'{}': a stream element is written type:value, as in field:5", text));
    ir::Type type = TRY(ir::ParseType(std::string_view(text).substr(0, colon)));
    if (!type.is_scalar()) return Fail(Diag::WrongArgument, "streams carry scalars");
    std::string_view literal = std::string_view(text).substr(colon + 1);
    values.push_back(exec::Value::Scalar(type, TRY(ir::ParseLiteral(type, literal, limits))));
  }
  return values;
}

std::string PrintStreamElement(const exec::Value& value) {
  return fmt::format("{}:{}", ir::ScalarOrBufferName(value.type), exec::PrintValue(value));
}

std::string PrintShortened(const exec::Memory& memory) {
  constexpr int64_t Shown = 8;
  if (memory.length() <= 2 * Shown) {
    return exec::PrintValue(exec::Value::Buffer(std::make_shared<exec::Memory>(
        memory.element(), memory.length(), const_cast<std::byte*>(memory.data()))));
  }
  std::string text = "[";
  for (int64_t i = 0; i < Shown; ++i) {
    uint64_t words[64] = {};
    std::span<uint64_t> element(words, ir::WordsOf(memory.element()));
    memory.Get(i, element);
    text += ir::PrintLiteral(memory.element(), element) + ", ";
  }
  return text + fmt::format(".. {} elements]", memory.length());
}

}  // namespace frazil::arguments
