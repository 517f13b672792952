// Helpers of this folder's tests: programs from text, runs on both sides, headers through real compilers.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "exec/meaning/after_trap.h"
#include "exec/meaning/interpreter.h"
#include "ir/text/test_text.h"
#include "ir/text/text.h"
#include "targets/c/c.h"

namespace frazil::targets::c::testing {

inline ir::Program Parse(std::string_view text) { return ir::Parsed(text); }

inline std::string Header(std::string_view text, const std::string& symbol = "f",
                          bool metered = false) {
  exec::EmitOptions options;
  options.symbol = symbol;
  options.metered = metered;
  Result<std::string> header = EmitHeader(Parse(text), options);
  EXPECT_TRUE(header.has_value()) << header.error().ToString();
  return header ? std::move(*header) : "";
}

// A folder of this process, removed at its end.
class Folder {
 public:
  Folder() {
    std::string pattern = std::filesystem::temp_directory_path() / "frazil-test-XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return path_ / name;
  }
  std::string Path(const std::string& name) const { return path_ / name; }
  std::string Read(const std::string& name) const {
    std::ifstream file(path_ / name);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

 private:
  std::filesystem::path path_;
};

// Exit status of a shell command; what it prints goes to `log` of the folder.
inline int Shell(const Folder& folder, const std::string& command) {
  const int status = std::system((command + " > " + folder.Path("log") + " 2>&1").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

// Every compiler and language that headers promise to be free of warnings under.
inline const std::vector<std::string>& Compilers() {
  static const std::vector<std::string> commands = {
      "gcc-12 -std=c11",
      "clang-22 -std=c11",
      "gcc-12 -std=gnu11 -march=native -O3",
      "clang-22 -std=gnu11 -march=native -O3",
      "g++-12 -std=c++17 -x c++",
      "clang++-22 -std=c++17 -x c++",
  };
  return commands;
}

// Where tensor ops have become loops, a trap may name another op.
inline bool HasTensors(const ir::Program& program) {
  for (const ir::Function& function : program.functions) {
    for (const ir::ValueInfo& value : function.values)
      if (value.type.is_tensor()) return true;
    for (const ir::Inst& inst : function.insts)
      if (inst.op == ir::Op::TensorStore || inst.op == ir::Op::Barrier) return true;
  }
  return false;
}

inline bool SameOutcome(const exec::Outcome& a, const exec::Outcome& b, bool kind_only) {
  if (a.trap.has_value() != b.trap.has_value() || a.output != b.output) return false;
  if (a.trap) return kind_only ? a.trap->kind == b.trap->kind : a.trap == b.trap;
  return a.results == b.results;
}

inline std::string Describe(const exec::Outcome& outcome) {
  std::string text = outcome.trap ? "trap: " + outcome.trap->ToString() : "";
  for (const exec::Value& value : outcome.results) text += " " + exec::PrintValue(value);
  text += " | output:";
  for (const exec::Value& value : outcome.output) text += " " + exec::PrintValue(value);
  return text;
}

// Runs the callable and the interpreter on copies of the arguments and compares everything to the bit.
inline void ExpectSame(const ir::Program& program, exec::Callable& callable,
                       const std::vector<exec::Value>& arguments, const exec::RunContext& context,
                       const std::string& what) {
  std::vector<exec::Value> mine = exec::CopyValues(arguments);
  std::vector<exec::Value> theirs = exec::CopyValues(arguments);
  Result<exec::Outcome> actual = callable.Run(mine, context);
  Result<exec::Outcome> expected = exec::Interpret(program, theirs, context);
  ASSERT_TRUE(expected.has_value()) << what << ": " << expected.error().ToString();
  ASSERT_TRUE(actual.has_value()) << what << ": " << actual.error().ToString();
  ASSERT_TRUE(SameOutcome(*actual, *expected, HasTensors(program)))
      << what << "\n  c:      " << Describe(*actual) << "\n  interp: " << Describe(*expected)
      << "\n"
      << ir::PrintText(program);
  if (expected->trap) {
    const auto wrong = exec::WrongAfterTrap(*exec::InterpreterProgram::Create(program), arguments,
                                            theirs, mine, context);
    ASSERT_FALSE(wrong) << what << " after " << expected->trap->ToString() << " argument "
                        << wrong->argument << ", element " << wrong->element << "\n"
                        << ir::PrintText(program);
    return;
  }
  ASSERT_EQ(mine, theirs) << what << "\n" << ir::PrintText(program);
}

}  // namespace frazil::targets::c::testing
