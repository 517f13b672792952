// Strict on purpose: an example whose line has a slip is no example.
#include "run_line.h"

#include <charconv>

namespace frazil::tests {
namespace {

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t end; (end = text.find(separator)) != std::string_view::npos;
       text.remove_prefix(end + 1))
    parts.push_back(text.substr(0, end));
  parts.push_back(text);
  return parts;
}

bool Number(std::string_view text, uint64_t* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

bool Secret(std::string_view part, std::vector<exec::Value>* secret) {
  std::vector<uint64_t> words;
  for (const std::string_view word : Split(part, ':')) {
    words.emplace_back();
    if (!Number(word, &words.back())) return false;
  }
  if (words.size() != 1 && words.size() != 5) return false;
  secret->push_back(words.size() == 1 ? exec::Value::Word(ir::types::Field, words[0])
                                      : exec::Value::Scalar(ir::types::Digest, words));
  return true;
}

bool Flag(std::string_view flag, std::string_view values, RunLine* line) {
  for (const std::string_view part : Split(values, ',')) {
    uint64_t value = 0;
    if (flag == "--input") {
      if (!Number(part, &value)) return false;
      line->input.push_back(exec::Value::Word(ir::types::Field, value));
    } else if (flag == "--secret") {
      if (!Secret(part, &line->secret)) return false;
    } else if (flag == "--ram") {
      const size_t equals = part.find('=');
      uint64_t address = 0;
      if (equals == std::string_view::npos || !Number(part.substr(0, equals), &address) ||
          !Number(part.substr(equals + 1), &value))
        return false;
      line->ram.emplace_back(address, value);
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<RunLine> ReadRunLine(std::string_view source) {
  constexpr std::string_view Mark = "\n// run: ", Arrow = "-> ";
  const size_t start = source.find(Mark);
  if (start == std::string_view::npos) return std::nullopt;
  std::string_view text = source.substr(start + Mark.size());
  text = text.substr(0, text.find('\n'));
  const size_t arrow = text.find(Arrow);
  if (arrow == std::string_view::npos) return std::nullopt;
  RunLine line;
  for (const std::string_view part : Split(text.substr(arrow + Arrow.size()), ',')) {
    line.output.emplace_back();
    if (!Number(part, &line.output.back())) return std::nullopt;
  }
  std::vector<std::string_view> words = Split(text.substr(0, arrow), ' ');
  while (!words.empty() && words.back().empty()) words.pop_back();
  if (words.size() % 2 != 0) return std::nullopt;
  for (size_t i = 0; i < words.size(); i += 2) {
    if (!Flag(words[i], words[i + 1], &line)) return std::nullopt;
  }
  return line;
}

}  // namespace frazil::tests
