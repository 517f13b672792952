// What a program reads: written on a command line or in its file's run line.
#include <fmt/format.h>

#include <charconv>

#include "base/number/goldilocks.h"
#include "frazil/tri/internal/program.h"

namespace frazil::tri {
namespace {

// A field element: a number below p, or a negative one above -p.
Result<uint64_t> ParseElement(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() ||
      value >= goldilocks::P)
    return Fail(Diag::WrongArgument,
                fmt::format("'{}' is no field element: a number from -(p-1) to p-1, p = {}", text,
                            goldilocks::P));
  return negative ? goldilocks::Neg(value) : value;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

Result<std::vector<uint64_t>> ParseElements(std::string_view text) {
  std::vector<uint64_t> elements;
  if (text.find_first_not_of(' ') == std::string_view::npos) return elements;
  for (std::string_view part : Split(text, ',')) elements.push_back(TRY(ParseElement(part)));
  return elements;
}

namespace {

Result<void> AddSecrets(std::string_view text, Inputs& inputs) {
  if (text.find_first_not_of(' ') == std::string_view::npos) return {};
  for (std::string_view part : Split(text, ',')) {
    if (!part.contains(':')) {
      inputs.machine.secret.push_back(TRY(ParseElement(part)));
      inputs.hints.push_back(exec::Value::Word(ir::types::Field, inputs.machine.secret.back()));
      continue;
    }
    const std::vector<std::string_view> words = Split(part, ':');
    if (words.size() != 5)
      return Fail(
          Diag::WrongArgument,
          fmt::format("'{}': a digest is five elements, first to last, as in 1:2:3:4:5", part));
    mt::Digest digest;
    for (size_t i = 0; i < 5; ++i) digest[i] = TRY(ParseElement(words[i]));
    inputs.machine.digests.push_back(digest);
    inputs.hints.push_back(exec::Value::Scalar(ir::types::Digest, digest));
  }
  return {};
}

Result<void> AddRam(std::string_view text, Inputs& inputs) {
  for (std::string_view part : Split(text, ',')) {
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos)
      return Fail(Diag::WrongArgument,
                  fmt::format("'{}': a word of RAM is written address=value", part));
    inputs.machine.ram[TRY(ParseElement(part.substr(0, equals)))] =
        TRY(ParseElement(part.substr(equals + 1)));
  }
  return {};
}

// "// run: --input 1,2 --secret 3 -> 7": the words after a flag, up to the next blank.
Result<bool> ReadRunLine(std::string_view source, Inputs& inputs) {
  constexpr std::string_view Mark = "// run:";
  const size_t start = source.find(Mark);
  if (start == std::string_view::npos) return false;
  std::string_view line = source.substr(start + Mark.size());
  line = line.substr(0, line.find('\n'));
  const size_t arrow = line.find("->");
  if (arrow != std::string_view::npos) inputs.expected = TRY(ParseElements(line.substr(arrow + 2)));
  std::string_view flag;
  for (std::string_view word : Split(line.substr(0, arrow), ' ')) {
    if (word.empty()) continue;
    if (word.starts_with("--")) {
      flag = word;
    } else if (flag == "--input") {
      for (uint64_t element : TRY(ParseElements(word))) inputs.machine.input.push_back(element);
    } else if (flag == "--secret") {
      TRY_VOID(AddSecrets(word, inputs));
    } else if (flag == "--ram") {
      TRY_VOID(AddRam(word, inputs));
    } else {
      return Fail(Diag::WrongArgument,
                  fmt::format("the file's run line has '{}', which is no flag", word));
    }
  }
  return true;
}

}  // namespace

std::vector<mt::Inputs> TypicalInputs(std::string_view source) {
  Inputs inputs;
  const Result<bool> found = ReadRunLine(source, inputs);
  if (!found || !*found) return {};
  return {std::move(inputs.machine)};
}

Result<Inputs> ReadInputs(const InputTexts& texts, std::string_view source) {
  Inputs inputs;
  if (texts.input.empty() && texts.secret.empty() && texts.ram.empty()) {
    inputs.from_file = TRY(ReadRunLine(source, inputs));
    return inputs;
  }
  for (const std::string& text : texts.input)
    for (uint64_t element : TRY(ParseElements(text))) inputs.machine.input.push_back(element);
  for (const std::string& text : texts.secret) TRY_VOID(AddSecrets(text, inputs));
  for (const std::string& text : texts.ram) TRY_VOID(AddRam(text, inputs));
  return inputs;
}

}  // namespace frazil::tri
