// Runs the run lines of test programs on engines and compares: with what the line says, and bit for bit
// with the interpreter on the program as it is.
//
//   program_runner [--targets interp,wasm] [--verbose] FOLDER_OR_FILE...
//   program_runner --reject FOLDER_OR_FILE...

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <sstream>
#include <string>
#include <vector>

#include "exec/meaning/interpreter.h"
#include "ir/text/text.h"
#include "support/engine.h"
#include "support/test_file.h"

namespace frazil::tests {
namespace {

// Programs that one compiler run takes at a time.
constexpr size_t UnitSize = 200;
// The engine does this program, but not this launch of it.
constexpr std::string_view Refused = "refused";
constexpr int SkippedStatus = 77;

struct Case {
  const TestFile* file;
  const ir::Program* program;
  bool metered;
  std::vector<const RunLine*> runs;
};

struct Tally {
  std::string name;
  size_t files = 0, passed = 0, failed = 0, refused = 0;
};

class Runner {
 public:
  bool Load(const std::vector<std::string>& folders);
  Tally RunOn(Engine& engine);
  bool RunRejects();
  void Fault(const std::string& text) {
    fmt::print("FAIL {}\n", text);
    ++faults_;
  }
  size_t faults() const { return faults_; }
  size_t file_count() const { return files_.size(); }

 private:
  void RunCase(Engine& engine, const Case& test, Prepared& prepared, Tally& tally);
  std::string RunOne(Engine& engine, const Case& test, const RunLine& run,
                     exec::Callable& callable);

  std::deque<TestFile> files_;
  std::deque<ir::Program> programs_;
  std::vector<Case> cases_;
  size_t faults_ = 0;
};

bool Runner::Load(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders)
    for (const auto& path : FindTestFiles(folder)) {
      auto file = ReadTestFile(path, folder);
      if (file)
        files_.push_back(std::move(*file));
      else
        Fault(fmt::format("{}: {}", path.string(), file.error().ToString()));
    }
  return faults_ == 0;
}

std::string Runner::RunOne(Engine& engine, const Case& test, const RunLine& run,
                           exec::Callable& callable) {
  auto arguments = MakeArguments(run, *test.program);
  if (!arguments) return arguments.error().ToString();
  auto context = MakeContext(run, *test.program);
  if (!context) return context.error().ToString();
  // A launch that must be refused may have parts of buffers: those are not copied.
  auto before = run.refused.empty() ? exec::CopyValues(*arguments) : *arguments;
  auto outcome = callable.Run(*arguments, *context);
  if (!run.refused.empty()) {
    if (outcome) return "is not refused";
    return run.refused == DiagId(outcome.error().diag) ? "" : outcome.error().ToString();
  }
  if (!outcome && engine.may_refuse() && outcome.error().diag == Diag::Unsupported)
    return std::string(Refused);
  if (!outcome) return outcome.error().ToString();
  auto reference_arguments = exec::CopyValues(before);
  auto reference = exec::Interpret(*test.program, reference_arguments, *context);
  if (!reference) return "interpreter: " + reference.error().ToString();
  if (outcome->trap && !engine.leaves_memory() && *arguments == before)
    *arguments = reference_arguments;
  TrapDetail detail = engine.trap_detail(*test.program);
  std::string difference = CompareWithRunLine(run, *test.program, *outcome, *arguments, detail);
  if (!difference.empty()) return difference;
  difference = CompareOutcomes({*test.program, before, *context}, *reference, reference_arguments,
                               *outcome, *arguments, detail);
  return difference.empty() ? "" : "unlike the interpreter: " + difference;
}

void Runner::RunCase(Engine& engine, const Case& test, Prepared& prepared, Tally& tally) {
  if (!prepared) {
    if (engine.may_refuse() && prepared.error().diag == Diag::Unsupported) {
      tally.refused += test.runs.size();
      return;
    }
    tally.failed += test.runs.size();
    Fault(fmt::format("{} on {}: {}", test.file->path.string(), engine.name(),
                      prepared.error().ToString()));
    return;
  }
  for (const RunLine* run : test.runs) {
    std::string difference = RunOne(engine, test, *run, **prepared);
    if (difference == Refused) {
      ++tally.refused;
      continue;
    }
    if (difference.empty()) {
      ++tally.passed;
      continue;
    }
    ++tally.failed;
    Fault(fmt::format("{}:{} on {}: {}", test.file->path.string(), run->line, engine.name(),
                      difference));
  }
}

Tally Runner::RunOn(Engine& engine) {
  if (cases_.empty()) {
    for (const TestFile& file : files_) {
      auto program = ir::ParseText(file.text);
      if (!program) {
        Fault(fmt::format("{}: {}", file.path.string(), program.error().ToString()));
        continue;
      }
      if (file.runs.empty()) Fault(fmt::format("{} has no run line", file.path.string()));
      programs_.push_back(std::move(*program));
      for (bool metered : {false, true}) {
        Case test{&file, &programs_.back(), metered, {}};
        for (const RunLine& run : file.runs)
          if (run.has_fuel == metered) test.runs.push_back(&run);
        if (!test.runs.empty()) cases_.push_back(test);
      }
    }
  }
  Tally tally{std::string(engine.name()), files_.size()};
  for (bool metered : {false, true}) {
    std::vector<const Case*> wanted;
    for (const Case& test : cases_)
      if (test.metered == metered) wanted.push_back(&test);
    for (size_t begin = 0; begin < wanted.size(); begin += UnitSize) {
      size_t end = std::min(wanted.size(), begin + UnitSize);
      std::vector<const ir::Program*> programs;
      for (size_t i = begin; i < end; ++i) programs.push_back(wanted[i]->program);
      auto prepared = engine.Prepare(programs, metered);
      for (size_t i = begin; i < end; ++i) RunCase(engine, *wanted[i], prepared[i - begin], tally);
    }
  }
  return tally;
}

bool Runner::RunRejects() {
  size_t passed = 0;
  for (const TestFile& file : files_) {
    auto program = ir::ParseText(file.text);
    if (file.errors.size() != 1) {
      Fault(fmt::format("{}: needs exactly one expected error", file.path.string()));
    } else if (program) {
      Fault(fmt::format("{}: is accepted, expected {}", file.path.string(), file.errors[0].id));
    } else {
      const Error& error = program.error();
      const Location expected = file.errors[0].location;
      bool same_line = expected.line == 0 || error.location.line == expected.line;
      bool same_column = expected.column == 0 || error.location.column == expected.column;
      bool same = file.errors[0].id == DiagId(error.diag) && same_line && same_column;
      if (same && ClassOf(error.diag) != ErrorClass::Internal)
        ++passed;
      else
        Fault(fmt::format("{}: expected {} at {}:{}, got: {}", file.path.string(),
                          file.errors[0].id, expected.line, expected.column, error.ToString()));
    }
  }
  fmt::print("{} files that must be refused\n{} passed, {} failed\n", files_.size(), passed,
             faults_);
  return faults_ == 0 && !files_.empty();
}

int Main(int argc, char** argv) {
  std::vector<std::string> folders, targets;
  bool reject = false;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument == "--reject") {
      reject = true;
    } else if (argument == "--targets" && i + 1 < argc) {
      std::stringstream list(argv[++i]);
      for (std::string name; std::getline(list, name, ',');) targets.push_back(name);
    } else {
      folders.push_back(argument);
    }
  }
  if (targets.empty()) targets = EngineNames();
  Runner runner;
  runner.Load(folders);
  if (reject) return runner.RunRejects() ? 0 : 1;

  std::vector<Tally> tallies;
  for (const std::string& name : targets) {
    auto engine = MakeEngine(name);
    if (engine)
      tallies.push_back(runner.RunOn(**engine));
    else
      runner.Fault(engine.error().ToString());
  }
  fmt::print("{:<12} {:>6} {:>8} {:>8} {:>8}\n", "target", "files", "passed", "failed", "refused");
  size_t passed = 0, refused = 0;
  for (const Tally& tally : tallies) {
    fmt::print("{:<12} {:>6} {:>8} {:>8} {:>8}\n", tally.name, tally.files, tally.passed,
               tally.failed, tally.refused);
    passed += tally.passed;
    refused += tally.refused;
  }
  fmt::print("{} passed, {} failed\n", passed, runner.faults());
  // A target that this machine cannot run refuses everything.
  if (runner.faults() == 0 && passed == 0 && refused > 0) return SkippedStatus;
  return runner.faults() == 0 && passed > 0 ? 0 : 1;
}

}  // namespace
}  // namespace frazil::tests

int main(int argc, char** argv) { return frazil::tests::Main(argc, argv); }
