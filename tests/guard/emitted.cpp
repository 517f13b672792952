// Programs that cover the forms of native code, each for every level, tuned; and the form that comes first for one level.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/check.h"
#include "guard.h"
#include "ir/text/text.h"
#include "targets/native/native.h"

namespace frazil::guard {
namespace {

std::string ReadAll(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Lines with an instruction are indented by two.
double CountInstructions(const std::string& llvm) {
  double count = 0;
  std::istringstream lines(llvm);
  for (std::string line; std::getline(lines, line);)
    count += line.starts_with("  ") && line.size() > 2 && line[2] != ' ' && line[2] != ']' ? 1 : 0;
  return count;
}

}  // namespace

Table Emitted(const std::string& folder) {
  Table rows;
  for (const auto& entry : std::filesystem::directory_iterator(folder + "/programs")) {
    const Result<ir::Program> program = ir::ParseText(ReadAll(entry.path()));
    CHECK(program.has_value());
    auto add = [&](exec::CpuLevel level, bool tuned) {
      targets::native::NativeOptions options;
      options.level = level;
      options.tuned = tuned;
      const Result<std::string> llvm = targets::native::EmitLlvm(*program, options);
      const Result<exec::NativeImage> image = targets::native::EmitImage(*program, options);
      CHECK(llvm.has_value() && image.has_value());
      rows[fmt::format("{} {} {}", entry.path().stem().string(), exec::CpuLevelName(level),
                       tuned ? "tuned" : "first")] = {CountInstructions(*llvm),
                                                      static_cast<double>(image->code.size())};
    };
    for (int i = 0; i < exec::CpuLevelCount; ++i) add(static_cast<exec::CpuLevel>(i), true);
    add(exec::CpuLevel::Avx512, false);
  }
  return rows;
}

}  // namespace frazil::guard
