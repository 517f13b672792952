// Kernels through the whole front end and the interpreter, against what CPython makes of the same source (oracle.py).
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "exec/meaning/interpreter.h"
#include "exec/value.h"
#include "frontends/python/python.h"
#include "ir/kernel.h"
#include "ir/text/text.h"

namespace frazil::frontends::python {
namespace {

namespace fs = std::filesystem;
using Kernels = Result<std::vector<Kernel>>;

struct Case {
  std::string file, line, kernel;
  std::vector<exec::Value> arguments;
  std::map<ir::ParamRole, int64_t> launch;
  std::vector<std::vector<uint64_t>> expected;
};

ir::Type TypeNamed(const std::string& name) {
  Result<ir::Type> type = ir::ParseType(name);
  EXPECT_TRUE(type) << name;
  return type ? *type : ir::types::I32;
}

std::vector<uint64_t> WordsOf(std::istringstream& in) {
  std::vector<uint64_t> words;
  for (std::string word; in >> word;) words.push_back(std::stoull(word, nullptr, 16));
  return words;
}

// Memory keeps elements in their own width; the words of a value are extended by their sign.
exec::Value BufferOf(ir::Type type, const std::vector<uint64_t>& words) {
  auto memory = std::make_shared<exec::Memory>(type, static_cast<int64_t>(words.size()));
  for (size_t i = 0; i < words.size(); ++i)
    memory->Set(static_cast<int64_t>(i), std::span(&words[i], 1));
  return exec::Value::Buffer(memory);
}

std::vector<Case> ReadCases(const std::string& text) {
  std::vector<Case> cases;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream in(line);
    std::string what, type;
    in >> what;
    if (what == "case") {
      Case& c = cases.emplace_back();
      in >> c.file >> c.line >> c.kernel;
      continue;
    }
    if (what == "end") continue;
    Case& c = cases.back();
    if (what == "scalar" || what == "buffer") in >> type;
    if (what == "scalar") c.arguments.push_back(exec::Value::Word(TypeNamed(type), WordsOf(in)[0]));
    if (what == "buffer") c.arguments.push_back(BufferOf(TypeNamed(type), WordsOf(in)));
    if (what == "expect") c.expected.push_back(WordsOf(in));
    if (what == "launch" || what == "blocks") {
      size_t role =
          static_cast<size_t>(what == "launch" ? ir::ParamRole::LanesX : ir::ParamRole::GridX);
      for (int64_t count; in >> count;) c.launch[static_cast<ir::ParamRole>(role++)] = count;
    }
  }
  return cases;
}

std::string RunPython(const std::string& arguments) {
  std::string command = "python3 -I " FRAZIL_KERNEL_SOURCES "/" + arguments;
  std::FILE* pipe = popen(command.c_str(), "r");
  std::string text;
  char buffer[65536];
  for (size_t got; (got = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;)
    text.append(buffer, got);
  EXPECT_EQ(pclose(pipe), 0) << command;
  return text;
}

std::string RunOracle(const std::vector<std::string>& files) {
  std::string arguments = "oracle.py";
  for (const std::string& file : files) arguments += " " + file;
  return RunPython(arguments);
}

std::vector<std::string> FilesIn(const std::string& folder) {
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".py") files.push_back(entry.path().string());
  std::ranges::sort(files);
  return files;
}

void RunCase(Case& c, const Kernel& kernel) {
  SCOPED_TRACE(c.file + ":" + c.line + " " + c.kernel);
  ir::KernelSignature signature = ir::SignatureOf(kernel.program);
  for (size_t p = c.arguments.size(); p < signature.params.size(); ++p) {
    ASSERT_TRUE(ir::IsLaunchRole(signature.params[p].role)) << signature.params[p].name;
    c.arguments.push_back(
        exec::Value::Int(ir::types::Index, c.launch.at(signature.params[p].role)));
  }
  Result<exec::Outcome> outcome = exec::Interpret(kernel.program, c.arguments);
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  ASSERT_FALSE(outcome->trap) << outcome->trap->ToString() << "\n" << ir::PrintText(kernel.program);
  size_t buffer = 0;
  for (const exec::Value& argument : c.arguments) {
    if (!argument.type.is_buffer()) continue;
    const std::vector<uint64_t>& want = c.expected.at(buffer++);
    for (size_t i = 0; i < want.size(); ++i) {
      uint64_t got = 0;
      argument.memory->Get(static_cast<int64_t>(i), std::span(&got, 1));
      ASSERT_EQ(got, want[i]) << "buffer " << buffer - 1 << " element " << i << "\n"
                              << ir::PrintText(kernel.program);
    }
  }
}

// Every kernel of the files, in at least one case; the number of cases.
size_t RunAll(const std::vector<std::string>& files) {
  std::vector<Kernels> parsed = ParsePythonFiles(files);
  std::map<std::pair<std::string, std::string>, const Kernel*> kernels;
  for (size_t i = 0; i < files.size(); ++i) {
    EXPECT_TRUE(parsed[i]) << parsed[i].error().ToString();
    if (!parsed[i]) return 0;
    for (const Kernel& kernel : *parsed[i]) kernels[{files[i], kernel.name}] = &kernel;
  }
  std::vector<Case> cases = ReadCases(RunOracle(files));
  std::map<std::pair<std::string, std::string>, int> runs;
  for (Case& c : cases) {
    auto kernel = kernels.find({c.file, c.kernel});
    EXPECT_NE(kernel, kernels.end()) << c.file << " " << c.kernel;
    if (kernel == kernels.end() || testing::Test::HasFailure()) return 0;
    RunCase(c, *kernel->second);
    ++runs[kernel->first];
  }
  for (const auto& [name, kernel] : kernels)
    EXPECT_GT(runs[name], 0) << name.first << " " << name.second;
  return cases.size();
}

TEST(KernelSources, GiveWhatPythonGives) {
  EXPECT_GE(RunAll(FilesIn(FRAZIL_KERNEL_SOURCES "/run")), 100u);
}

// Kernels that a script writes: SEED COUNT.
void RunRandom(const std::string& script, const char* default_count) {
  const char* seed = std::getenv("FRAZIL_KERNEL_SEED");
  const char* count = std::getenv("FRAZIL_KERNEL_COUNT");
  std::string file =
      (fs::temp_directory_path() / ("frazil_random_" + std::to_string(getpid()) + ".py")).string();
  std::ofstream(file) << RunPython(script + " " + (seed ? seed : "1") + " " +
                                   (count ? count : default_count));
  EXPECT_GE(RunAll({file}), 1u);
  if (testing::Test::HasFailure())
    ADD_FAILURE() << "the kernels are in " << file;
  else
    fs::remove(file);
}

TEST(KernelSources, RandomOnesGiveWhatPythonGives) { RunRandom("random_kernels.py", "60"); }

TEST(KernelSources, RandomConstantsGiveWhatPythonGives) { RunRandom("random_constants.py", "40"); }

}  // namespace
}  // namespace frazil::frontends::python
