#include "audit/matrix.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <sstream>

#include "arguments/arguments.h"
#include "audit/matrix_programs.h"
#include "base/system/file.h"
#include "frontends/circuits/circuits.h"
#include "ir/text/text.h"
#include "registry/targets.h"
#include "sources/sources.h"

namespace frazil::audit {
namespace {

struct Case {
  ir::Program program;
  std::vector<std::string> arguments;
};

// Python reads files: the row becomes one for a moment.
Result<ir::Program> ReadPython(std::string_view text, const Limits& limits) {
  std::string folder = (std::filesystem::temp_directory_path() / "frazil_matrix_XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr)
    return Fail(Diag::FileUnwritable, fmt::format("{} cannot be made", folder));
  const std::string path = folder + "/kernel.py";
  TRY_VOID(WriteFileBytes(path, text));
  Result<ir::Program> program = sources::ReadProgram(path, {limits, false});
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return program;
}

Result<Case> MakeCase(const MatrixProgram& row, const Limits& limits) {
  Case result;
  if (row.door == "words") {
    result.program = TRY(sources::ReadProgramOrWords(std::string(row.text), {limits, false}));
  } else if (row.door == "python") {
    result.program = TRY(ReadPython(row.text, limits));
  } else if (row.door == "trident" || row.door == "tir") {
    const bool is_tir = row.door == "tir";
    std::vector<sources::Source> programs = TRY(sources::ParseSources(
        is_tir ? "row.tir" : "row.tri",
        is_tir ? sources::Language::Tir : sources::Language::Trident, row.text, limits));
    result.program = std::move(programs[0].program);
  } else if (row.door == "circuit") {
    result.program = TRY(frontends::circuits::ParseCircuit(row.text));
  } else {
    std::string text = fmt::format("frz 1\nfunc @main{} {{\n{}}}\n", row.header, row.text);
    result.program = TRY(ir::ParseText(text, limits));
  }
  std::istringstream words{std::string(row.arguments)};
  for (std::string word; words >> word;) result.arguments.push_back(word);
  return result;
}

// The outcome as one comparable whole: results, output, trap and the buffers after the run.
Result<std::pair<exec::Outcome, std::vector<exec::Value>>> RunCase(const exec::Target& target,
                                                                   const Case& row,
                                                                   const Limits& limits) {
  std::vector<exec::Value> values =
      TRY(arguments::ParseArguments(row.program, row.arguments, limits));
  exec::RunContext context;
  context.limits = limits;
  exec::Outcome outcome = TRY(registry::RunOn(target, row.program, values, context));
  return std::pair(std::move(outcome), std::move(values));
}

MatrixCell RunCell(const exec::Target& target, const Case& row, const exec::Outcome& expected,
                   const std::vector<exec::Value>& buffers, const Limits& limits) {
  if (std::string why = target.Refuses(row.program); !why.empty()) return {{}, "refused", why};
  auto seen = RunCase(target, row, limits);
  if (!seen)
    return {{}, seen.error().diag == Diag::NoDevice ? "emits" : "failed", seen.error().message};
  bool same = seen->first.trap == expected.trap && seen->first.results == expected.results &&
              seen->first.output == expected.output && seen->second == buffers;
  return {{}, same ? "same" : "differs", ""};
}

}  // namespace

Result<void> RunMatrix(const Limits& limits,
                       const std::function<void(const MatrixRow& row)>& on_row,
                       const std::function<void(const MatrixCell& cell)>& on_cell) {
  const std::vector<const exec::Target*> targets = registry::AllTargets();
  for (const MatrixProgram& program : MatrixPrograms) {
    const Case row = TRY(MakeCase(program, limits));
    // The first is the interpreter.
    const auto expected = TRY(RunCase(*targets[0], row, limits));
    on_row({std::string(program.door), std::string(program.what)});
    for (const exec::Target* target : targets) {
      MatrixCell cell = RunCell(*target, row, expected.first, expected.second, limits);
      cell.target = target->name();
      on_cell(cell);
    }
  }
  return {};
}

}  // namespace frazil::audit
