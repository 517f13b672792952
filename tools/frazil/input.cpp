// Reading files: "-" is standard input.
#include <cstdio>

#include "base/system/file.h"
#include "cli.h"

namespace frazil::cli {

Result<std::string> ReadFile(const std::string& path, const Limits& limits) {
  return path == "-" ? ReadStreamBytes(stdin, path, limits) : ReadFileBytes(path, limits);
}

Result<std::vector<sources::Source>> ReadNamedPrograms(const std::string& input,
                                                       const Limits& limits) {
  return sources::ReadNamed(input, {limits, true});
}

Result<ir::Program> ReadProgramFile(const std::string& input, const Limits& limits) {
  return sources::ReadProgram(input, {limits, true});
}

Result<ir::Program> ReadProgram(const std::string& input, const Limits& limits) {
  return sources::ReadProgramOrWords(input, {limits, true});
}

Result<void> WriteFile(const std::string& path, std::string_view bytes) {
  return WriteFileBytes(path, bytes);
}

}  // namespace frazil::cli
