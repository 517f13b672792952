// Every file of refuse/ says in its first lines, `// error: line: text`, which errors it has: all of them, no others, each
// at its line. Nothing of it is built.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "frontends/trident/trident.h"

namespace frazil::frontends::trident {
namespace {

struct Expected {
  uint32_t line;
  std::string text;
};

std::vector<Expected> ExpectedOf(const std::string& text) {
  std::vector<Expected> expected;
  std::istringstream lines(text);
  const std::string start = "// error: ";
  for (std::string line; std::getline(lines, line) && line.starts_with(start);) {
    const size_t colon = line.find(": ", start.size());
    expected.push_back(
        {static_cast<uint32_t>(std::stoul(line.substr(start.size()))), line.substr(colon + 2)});
  }
  return expected;
}

TEST(Refuse, EveryFileWithItsErrors) {
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(FRAZIL_TRIDENT_REFUSE)) {
    if (entry.path().extension() != ".tri") continue;
    ++files;
    std::ifstream stream(entry.path());
    std::stringstream buffer;
    buffer << stream.rdbuf();
    const std::string name = entry.path().filename().string();
    const std::vector<Expected> expected = ExpectedOf(buffer.str());
    ASSERT_FALSE(expected.empty()) << name;
    std::vector<Error> errors;
    auto package = Load(buffer.str(), name, [](std::string_view) { return std::nullopt; }, &errors);
    if (package) EXPECT_FALSE(Build(*package, {}, &errors)) << name;
    std::string all;
    for (const Error& error : errors) all += error.ToString() + "\n";
    EXPECT_EQ(errors.size(), expected.size()) << name << "\n" << all;
    for (const Expected& one : expected)
      EXPECT_TRUE(std::any_of(errors.begin(), errors.end(),
                              [&](const Error& error) {
                                return error.location.line == one.line &&
                                       error.ToString().find(one.text) != std::string::npos;
                              }))
          << name << ": " << one.line << ": " << one.text << "\n"
          << all;
  }
  EXPECT_GE(files, 120u);
}

}  // namespace
}  // namespace frazil::frontends::trident
