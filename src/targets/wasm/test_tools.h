// What the unit tests of this folder share: programs from text, and the tools that give further
// opinions.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "exec/meaning/interpreter.h"
#include "exec/target.h"
#include "ir/text/test_text.h"
#include "ir/text/text.h"
#include "targets/wasm/wasm.h"

namespace frazil::targets::wasm {

inline ir::Program Parsed(std::string_view body) {
  return ir::Parsed("frz 1\n" + std::string(body));
}

inline exec::Artifact Emitted(const ir::Program& program, bool metered = false) {
  exec::EmitOptions options;
  options.metered = metered;
  Result<exec::Artifact> artifact = MakeWasmTarget()->Emit(program, options);
  EXPECT_TRUE(artifact) << (artifact ? "" : artifact.error().ToString());
  return artifact ? std::move(*artifact) : exec::Artifact{};
}

inline std::unique_ptr<exec::Callable> Loaded(const ir::Program& program, bool metered = false) {
  Result<std::unique_ptr<exec::Callable>> callable =
      MakeWasmTarget()->Load(Emitted(program, metered));
  EXPECT_TRUE(callable) << (callable ? "" : callable.error().ToString());
  return callable ? std::move(*callable) : nullptr;
}

inline std::string Hex(std::string_view bytes) {
  std::string text;
  for (char c : bytes) {
    char digits[4];
    std::snprintf(digits, sizeof digits, "%02x ", static_cast<unsigned char>(c));
    text += digits;
  }
  if (!text.empty()) text.pop_back();
  return text;
}

// A folder that goes away with the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "frazil_wasm_XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  std::string Write(const std::string& name, std::string_view content) const {
    std::string path = path_ / name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  std::string Read(const std::string& name) const {
    std::ifstream file(path_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

// Runs a shell command; its exit code, and what it printed.
inline int RunTool(const std::string& command, std::string& output) {
  output.clear();
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return -1;
  char buffer[4096];
  while (size_t size = fread(buffer, 1, sizeof buffer, pipe)) output.append(buffer, size);
  int status = pclose(pipe);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace frazil::targets::wasm
