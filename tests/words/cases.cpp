// Reads case files and judges; knows nothing of how a program is run.
#include "words/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

namespace frazil::tests {
namespace {

struct Prefix {
  std::string_view text;
  Expectation kind;
};
constexpr Prefix Prefixes[] = {{"refused: ", Expectation::Refused},
                               {"ambiguous", Expectation::Ambiguous},
                               {"no answer: ", Expectation::NoAnswer},
                               {"trap: ", Expectation::Trap},
                               {"limit: ", Expectation::Limit}};

Result<WordsCase> ParseLine(const std::string& file, uint32_t line, const std::string& text) {
  const size_t arrow = text.rfind(" => ");
  if (arrow == std::string::npos)
    return Fail(Diag::BadToken, fmt::format("{}:{}: no \" => \"", file, line));
  WordsCase result{file, line, text.substr(0, arrow), Expectation::Answer, text.substr(arrow + 4)};
  for (const Prefix& prefix : Prefixes) {
    if (!result.value.starts_with(prefix.text)) continue;
    result.kind = prefix.kind;
    result.value.erase(0, prefix.text.size());
    break;
  }
  return result;
}

}  // namespace

Result<std::vector<WordsCase>> LoadWordsCases(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".txt" && entry.path().filename() != "CMakeLists.txt")
      paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<WordsCase> cases;
  for (const auto& path : paths) {
    std::ifstream in(path);
    uint32_t line = 0;
    for (std::string text; std::getline(in, text);) {
      ++line;
      if (text.empty() || text[0] == '#') continue;
      cases.push_back(TRY(ParseLine(path.filename().string(), line, text)));
    }
  }
  return cases;
}

std::string CompareReading(const WordsCase& wanted,
                           const Result<frontends::words::Reading>& reading) {
  const bool must_read = wanted.kind == Expectation::Answer || wanted.kind == Expectation::Trap;
  if (reading) return must_read ? "" : fmt::format("is understood as \"{}\"", reading->canonical);
  const Error& error = reading.error();
  if (must_read) return fmt::format("is refused: {}", error.ToString());
  const Diag diag = wanted.kind == Expectation::Refused     ? Diag::NotUnderstood
                    : wanted.kind == Expectation::Ambiguous ? Diag::Ambiguous
                    : wanted.kind == Expectation::NoAnswer  ? Diag::NoAnswer
                                                            : Diag::LimitReached;
  if (error.diag != diag) return fmt::format("is refused in another way: {}", error.ToString());
  const std::string part = wanted.kind == Expectation::Refused ? "\"" + wanted.value : wanted.value;
  if (error.message.find(part) == std::string::npos)
    return fmt::format("does not name {}: {}", part, error.ToString());
  if (error.location.line == 0) return fmt::format("names no place: {}", error.ToString());
  return "";
}

std::string CompareAnswer(const WordsCase& wanted, const Result<std::string>& answer) {
  if (wanted.kind == Expectation::Answer) {
    if (!answer) return answer.error().ToString();
    return *answer == wanted.value ? "" : fmt::format("answers {}", *answer);
  }
  if (answer) return fmt::format("answers {}", *answer);
  if (answer.error().diag == Diag::Trapped &&
      answer.error().message.find(wanted.value) != std::string::npos)
    return "";
  return answer.error().ToString();
}

}  // namespace frazil::tests
