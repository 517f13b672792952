// Compares the tables with the test tree: every op on every type of its row, every kind of trap, every line
// of docs/semantics.md and every diagnostic of reading and checking must have a file. What is missing is
// printed, and the exit code is 1.
//
//   program_coverage PROGRAMS_FOLDER REJECT_FOLDER SEMANTICS_FILE

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "ir/text/text.h"
#include "support/test_file.h"

namespace frazil::tests {
namespace {

class Coverage {
 public:
  void Missing(const std::string& what) {
    fmt::print("MISSING {}\n", what);
    ++missing_;
  }
  void ReadPrograms(const std::string& folder);
  void ReadRejects(const std::string& folder);
  void CheckOps();
  void CheckTraps();
  void CheckSemantics(const std::string& path);
  void CheckDiagnostics();
  int Finish() const;

 private:
  std::set<std::pair<ir::Op, ir::Scalar>> ops_;
  std::set<ir::Trap> traps_;
  std::set<std::string> covers_;
  std::set<std::string> diagnostics_;
  size_t files_ = 0, checked_ = 0, missing_ = 0;
};

void Coverage::ReadPrograms(const std::string& folder) {
  for (const auto& path : FindTestFiles(folder)) {
    auto file = ReadTestFile(path, folder);
    if (!file) return Missing(file.error().ToString());
    auto program = ir::ParseText(file->text);
    if (!program) return Missing(path.string() + ": " + program.error().ToString());
    ++files_;
    for (const ir::Function& function : program->functions)
      for (const ir::Inst& inst : function.insts) ops_.insert({inst.op, inst.type.scalar});
    covers_.insert(file->covers.begin(), file->covers.end());
    if (file->covers.empty()) Missing(path.string() + ": a 'covers' line");
    for (const RunLine& run : file->runs) {
      if (run.trap) traps_.insert(run.trap->kind);
      if (!run.refused.empty()) diagnostics_.insert(run.refused);
    }
  }
}

void Coverage::ReadRejects(const std::string& folder) {
  for (const auto& path : FindTestFiles(folder)) {
    auto file = ReadTestFile(path, folder);
    if (!file) return Missing(file.error().ToString());
    ++files_;
    for (const ExpectedError& error : file->errors) diagnostics_.insert(error.id);
  }
}

void Coverage::CheckOps() {
  for (const ir::OpInfo& info : ir::AllOps()) {
    if (info.op == ir::Op::Tasm)
      continue;  // no target here runs it: src/ir/lower/expand_prover_ops_test.cpp
    if (info.types == ir::sets::None) {
      ++checked_;
      bool reached = false;
      for (auto [op, scalar] : ops_) reached |= op == info.op;
      if (!reached) Missing(fmt::format("op {}", info.mnemonic));
      continue;
    }
    for (int i = 0; i < ir::ScalarCount; ++i) {
      auto scalar = static_cast<ir::Scalar>(i);
      if (!ir::Contains(info.types, scalar)) continue;
      // `cast` never gives these, although its row says Any.
      bool no_cast =
          scalar == ir::Scalar::Bool || scalar == ir::Scalar::Int || scalar == ir::Scalar::Digest;
      if (info.op == ir::Op::Cast && no_cast) continue;
      ++checked_;
      if (!ops_.contains({info.op, scalar}))
        Missing(fmt::format("op {} on {}", info.mnemonic, ir::ScalarName(scalar)));
    }
  }
}

void Coverage::CheckTraps() {
  for (int i = 0; i < ir::TrapCount; ++i) {
    ++checked_;
    if (!traps_.contains(static_cast<ir::Trap>(i)))
      Missing(fmt::format("a run line that traps \"{}\"", ir::TrapName(static_cast<ir::Trap>(i))));
  }
}

void Coverage::CheckSemantics(const std::string& path) {
  std::ifstream stream(path);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  std::set<std::string> names;
  const std::regex pattern(R"(^- \[([a-z0-9_.]+)\])", std::regex::multiline);
  for (auto it = std::sregex_iterator(text.begin(), text.end(), pattern);
       it != std::sregex_iterator(); ++it)
    names.insert((*it)[1]);
  if (names.empty()) Missing(path + " has no named lines");
  for (const std::string& name : names) {
    ++checked_;
    if (!covers_.contains(name)) Missing(fmt::format("a program that covers [{}]", name));
  }
  for (const std::string& name : covers_)
    if (!names.contains(name))
      Missing(fmt::format("[{}] in {}, which a program says it covers", name, path));
}

void Coverage::CheckDiagnostics() {
  // The text form cannot make these: the reader answers FRZ0106 before dominance is looked at, and guards are
  // read by themselves. src/ir/check/check_test.cpp and src/ir/guard_test.cpp have them.
  const std::set<std::string> elsewhere = {"FRZ0203", "FRZ0213"};
#define FRAZIL_DIAG(name, id, error_class, title)                                                  \
  if (std::string_view(id) < "FRZ0304" && !elsewhere.contains(id)) {                               \
    ++checked_;                                                                                    \
    if (!diagnostics_.contains(id)) Missing(fmt::format("a file that expects {}, {}", id, title)); \
  }
#include "base/diagnostics.def"
#undef FRAZIL_DIAG
}

int Coverage::Finish() const {
  fmt::print("{} files, {} things to cover, {} missing\n", files_, checked_, missing_);
  return missing_ == 0 && files_ > 0 ? 0 : 1;
}

}  // namespace
}  // namespace frazil::tests

int main(int argc, char** argv) {
  if (argc != 4) {
    fmt::print("usage: program_coverage PROGRAMS_FOLDER REJECT_FOLDER SEMANTICS_FILE\n");
    return 1;
  }
  frazil::tests::Coverage coverage;
  coverage.ReadPrograms(argv[1]);
  coverage.ReadRejects(argv[2]);
  coverage.CheckOps();
  coverage.CheckTraps();
  coverage.CheckSemantics(argv[3]);
  coverage.CheckDiagnostics();
  return coverage.Finish();
}
