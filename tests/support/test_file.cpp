// Reads test files: only whole comment lines and trailing `// error:` comments mean anything here.

#include "support/test_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace frazil::tests {
namespace {

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

void ReadCovers(std::string_view list, std::vector<std::string>& covers) {
  std::stringstream stream{std::string(list)};
  for (std::string name; std::getline(stream, name, ',');) covers.emplace_back(Trim(name));
}

Result<ExpectedError> ReadError(std::string_view text, uint32_t line, bool whole_line) {
  ExpectedError error;
  std::string_view rest = Trim(text);
  error.id = std::string(rest.substr(0, rest.find(' ')));
  error.location = {line, 0};
  size_t at = rest.find(" at ");
  if (at != std::string_view::npos) {
    std::string place(rest.substr(at + 4));
    if (std::sscanf(place.c_str(), "%u:%u", &error.location.line, &error.location.column) < 1)
      return Fail(Diag::BadUsage, "error line: expected 'at line:column'", {line, 1});
  } else if (whole_line) {
    error.location = {};
  }
  return error;
}

}  // namespace

Result<TestFile> ReadTestFile(const std::filesystem::path& path,
                              const std::filesystem::path& folder) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return Fail(Diag::FileUnreadable, fmt::format("cannot read {}", path.string()));
  std::stringstream content;
  content << stream.rdbuf();
  TestFile file{path,
                std::filesystem::relative(path, folder).replace_extension().string(),
                content.str(),
                {},
                {},
                {}};

  struct Pending {
    std::string text;
    uint32_t line;
  };
  std::vector<Pending> runs;
  std::stringstream lines(file.text);
  uint32_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::string_view trimmed = Trim(line);
    if (trimmed.starts_with("// covers:"))
      ReadCovers(trimmed.substr(10), file.covers);
    else if (trimmed.starts_with("// run:"))
      runs.push_back({std::string(trimmed.substr(7)), number});
    else if (trimmed.starts_with("//   |") && !runs.empty())
      runs.back().text += trimmed.substr(6);
    else if (size_t at = trimmed.find("// error:"); at != std::string_view::npos)
      file.errors.push_back(TRY(ReadError(trimmed.substr(at + 9), number, at == 0)));
  }
  for (const Pending& run : runs) file.runs.push_back(TRY(ParseRunLine(run.text, run.line)));
  return file;
}

std::vector<std::filesystem::path> FindTestFiles(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  if (std::filesystem::is_regular_file(folder)) return {folder};
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, error))
    if (entry.path().extension() == ".frz") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace frazil::tests
