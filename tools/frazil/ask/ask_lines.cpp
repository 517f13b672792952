// frazil ask --lines: many questions, one process. A line that has no answer does not stop the rest.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "ask.h"

namespace frazil::cli {
namespace {

// Without its end; nothing at the end of the input. What is longer than `most` is read to its end and kept only up to one
// byte more, so that whoever looks at its size sees it.
std::optional<std::string> NextLine(std::FILE* input, uint64_t most) {
  std::string line;
  int c = std::getc(input);
  if (c == EOF) return std::nullopt;
  for (; c != EOF && c != '\n'; c = std::getc(input))
    if (line.size() <= most) line.push_back(static_cast<char>(c));
  if (line.ends_with('\r')) line.pop_back();
  return line;
}

Result<Answer> AskLine(const std::string& line, uint32_t number, const AskOptions& options) {
  Result<Answer> answer =
      line.size() > options.limits.source_bytes
          ? Fail(Diag::LimitReached,
                 fmt::format("the line has more than --max-source-bytes {} bytes",
                             options.limits.source_bytes))
          : Ask(line, options);
  // Its place in the input, not in its line.
  if (!answer && answer.error().location.line != 0) answer.error().location.line = number;
  return answer;
}

}  // namespace

Result<int> AskLines(std::FILE* input, const AskOptions& options) {
  int code = 0;
  for (uint32_t number = 1;; ++number) {
    const std::optional<std::string> line = NextLine(input, options.limits.source_bytes);
    if (!line) break;
    const Result<Answer> answer = AskLine(*line, number, options);
    nlohmann::ordered_json json = {{"line", number}};
    json.update(answer ? AnswerJson(*answer) : ErrorJson(answer.error()));
    if (!answer) code = std::max(code, ExitCodeOf(ClassOf(answer.error().diag)));
    PrintJsonLine(json);
    // Nobody reads on: the rest need not be computed.
    if (std::fflush(stdout) != 0) break;
  }
  if (std::ferror(input) != 0)
    return Fail(Diag::FileUnreadable,
                fmt::format("standard input cannot be read: {}", std::strerror(errno)));
  return code;
}

}  // namespace frazil::cli
