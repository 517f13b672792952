// What is refused, and where. refuse/*.txt: sources separated by lines of '---'; below each, after '=>', the places and
// parts of the messages that must come, one on each line: `3:9 message`. A message may be the source's or the hint's.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "frontends/python/python.h"

namespace frazil::frontends::python {
namespace {

namespace fs = std::filesystem;

struct Refusal {
  std::string where;  // file:line of the entry
  std::string source;
  std::vector<std::pair<std::string, std::string>> expected;  // "line:column", part of the message
};

std::vector<Refusal> ReadRefusals(const fs::path& path) {
  std::vector<Refusal> list;
  std::ifstream in(path);
  bool in_expected = false;
  int number = 0;
  list.push_back({path.filename().string() + ":1", "", {}});
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line == "---") {
      list.push_back({path.filename().string() + ":" + std::to_string(number + 1), "", {}});
      in_expected = false;
    } else if (line == "=>") {
      in_expected = true;
    } else if (in_expected) {
      size_t space = line.find(' ');
      list.back().expected.emplace_back(line.substr(0, space), line.substr(space + 1));
    } else {
      list.back().source += line + "\n";
    }
  }
  return list;
}

TEST(KernelRefusals, AreLocated) {
  std::vector<Refusal> refusals;
  for (const fs::directory_entry& entry : fs::directory_iterator(FRAZIL_KERNEL_SOURCES "/refuse"))
    for (Refusal& refusal : ReadRefusals(entry.path())) refusals.push_back(std::move(refusal));
  fs::path folder = fs::temp_directory_path() / ("frazil_refusals_" + std::to_string(getpid()));
  fs::create_directories(folder);
  std::vector<std::string> paths;
  for (size_t i = 0; i < refusals.size(); ++i) {
    paths.push_back((folder / ("k" + std::to_string(i) + ".py")).string());
    std::ofstream(paths.back()) << refusals[i].source;
  }
  std::vector<Result<std::vector<Kernel>>> answers = ParsePythonFiles(paths);
  for (size_t i = 0; i < refusals.size(); ++i) {
    SCOPED_TRACE(refusals[i].where + "\n" + refusals[i].source);
    EXPECT_FALSE(refusals[i].expected.empty());
    ASSERT_FALSE(answers[i]) << "accepted";
    std::string text = answers[i].error().ToString();
    EXPECT_NE(text.find(" error FRZ"), std::string::npos) << text;
    EXPECT_EQ(text.find("FRZ9901"), std::string::npos) << text;
    for (const auto& [place, message] : refusals[i].expected) {
      std::istringstream lines(text);
      bool found = false;
      for (std::string line; std::getline(lines, line);)
        found |= line.starts_with(paths[i] + ":" + place + ": error ") &&
                 line.find(message) != std::string::npos;
      EXPECT_TRUE(found) << "wanted " << place << " " << message << "\ngot    " << text;
    }
  }
  EXPECT_GE(refusals.size(), 60u);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace frazil::frontends::python
