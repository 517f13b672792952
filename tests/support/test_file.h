// A test program on disk: its text, and what its comment lines say about it.
//
//   // covers: int.wrap, int.div0       lines of docs/semantics.md that it is about
//   // run: ...                         support/run_line.h
//   // error: FRZ0202 at 3:7            it must not be accepted (tests/reject); or, at the end of the
//   %x = add %a, %b : i32  // error: FRZ0202      guilty line itself, where the column does not matter
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "support/run_line.h"

namespace frazil::tests {

struct ExpectedError {
  std::string id;
  Location location;  // column 0: any
};

struct TestFile {
  std::filesystem::path path;
  std::string name;  // below the folder that was searched, without .frz
  std::string text;
  std::vector<std::string> covers;
  std::vector<RunLine> runs;
  std::vector<ExpectedError> errors;
};

Result<TestFile> ReadTestFile(const std::filesystem::path& path,
                              const std::filesystem::path& folder);
// Every .frz file below the folder (or the file itself), in order of names.
std::vector<std::filesystem::path> FindTestFiles(const std::filesystem::path& folder);

}  // namespace frazil::tests
