// frazil check and frazil sign: is a program well formed, and what are its digests.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli.h"
#include "ir/digest.h"

namespace frazil::cli {
namespace {

size_t CountFunctions(const std::vector<sources::Source>& programs) {
  size_t count = 0;
  for (const sources::Source& named : programs) count += named.program.functions.size();
  return count;
}

size_t CountInsts(const std::vector<sources::Source>& programs) {
  size_t count = 0;
  for (const sources::Source& named : programs)
    for (const ir::Function& function : named.program.functions) count += function.insts.size();
  return count;
}

Result<int> Check(Session& session, const std::vector<std::string>& files) {
  int code = 0;
  auto list = nlohmann::ordered_json::array();
  for (const std::string& file : files) {
    Result<std::vector<sources::Source>> programs = ReadNamedPrograms(file, session.limits);
    if (!programs) {
      code = std::max(code, ExitCodeOf(ClassOf(programs.error().diag)));
      if (session.json)
        list.push_back({{"file", file},
                        {"ok", false},
                        {"id", DiagId(programs.error().diag)},
                        {"line", programs.error().location.line},
                        {"column", programs.error().location.column},
                        {"message", programs.error().message}});
      else
        Report(session, programs.error());
      continue;
    }
    const size_t functions = CountFunctions(*programs), insts = CountInsts(*programs);
    if (session.json)
      list.push_back(
          {{"file", file}, {"ok", true}, {"functions", functions}, {"instructions", insts}});
    else
      fmt::print("{}: ok, {} function{}, {} instructions\n", file, functions,
                 functions == 1 ? "" : "s", insts);
  }
  if (session.json) PrintJson({{"files", list}});
  return code;
}

Result<int> Sign(Session& session, const std::string& input) {
  ir::Program program = TRY(ReadProgram(input, session.limits));
  std::string exact = ir::ExactDigest(program);
  std::string shape = ir::ShapeDigest(program);
  if (session.json) {
    PrintJson({{"exact", exact}, {"shape", shape}, {"short", ir::ShortDigest(exact)}});
  } else {
    PrintFact(session, "exact", exact);
    PrintFact(session, "shape", shape);
    PrintFact(session, "short", ir::ShortDigest(exact));
  }
  return 0;
}

}  // namespace

void AddCheck(CLI::App& app, Session& session) {
  CLI::App* command = AddCommand(app, "check", "check .frz programs for well-formedness",
                                 "  frazil check examples/*.frz");
  auto files = std::make_shared<std::vector<std::string>>();
  command->add_option("files", *files, "programs")->required();
  SetBody(command, session, [&session, files] { return Check(session, *files); });
}

void AddSign(CLI::App& app, Session& session) {
  CLI::App* command = AddCommand(app, "sign", "print the two digests of a program",
                                 "  frazil sign examples/muladd.frz\n  frazil sign \"50 - 15\"");
  auto input = std::make_shared<std::string>();
  command->add_option("input", *input, "a .frz file, - or words")->required();
  SetBody(command, session, [&session, input] { return Sign(session, *input); });
}

}  // namespace frazil::cli
