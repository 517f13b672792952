// frazil tri build: assembly, the judge's word on it, the nine heights, and what the next cliff costs.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "ir/text/text.h"
#include "tri.h"

namespace frazil::cli {
namespace {

struct BuildCommand {
  TriFlags flags;
  std::string output;
  bool explain = false;
  bool no_verify = false;
  bool quiet = false;  // facts only
};

std::string Heights(const mt::TableProfile& profile) {
  std::vector<std::string> parts;
  for (int i = 0; i < mt::TableCount; ++i)
    parts.push_back(
        fmt::format("{} {}", mt::TableName(static_cast<mt::Table>(i)), profile.heights[i]));
  return fmt::format("{}", fmt::join(parts, ", "));
}

// The program was not given what it reads: bounds instead of heights.
void PrintBounds(const Session& session, const mt::HeightBounds& bounds) {
  if (!bounds.halts) return;
  std::vector<std::string> parts;
  for (int i = 0; i < mt::TableCount; ++i) {
    const auto table = static_cast<mt::Table>(i);
    const uint64_t lower = bounds.lower[table], upper = bounds.upper[table];
    parts.push_back(fmt::format("{} {}", mt::TableName(table),
                                upper == lower           ? fmt::format("{}", lower)
                                : upper == mt::Unbounded ? fmt::format("at least {}", lower)
                                                         : fmt::format("{} to {}", lower, upper)));
  }
  PrintFact(session, "heights", fmt::format("{}", fmt::join(parts, ", ")));
  PrintFact(session, "", "exact ones need what the program reads: --input, --secret");
}

void PrintText(const Session& session, const BuildCommand& command, const tri::Built& built) {
  const mt::Program& assembly = built.assembly();
  if (command.output.empty() && !command.quiet) fmt::print("{}\n", mt::Print(assembly));
  fmt::print("{}\n", Bold(session, fmt::format("{} words, {} instructions", assembly.Words(),
                                               assembly.code.size())));
  if (built.lowering) PrintFact(session, "lowering", verify::Describe(*built.lowering));
  if (built.proposal) PrintFact(session, "lowering", "a proposal, not judged (--no-verify)");
  if (built.trace.run.crash) {
    PrintFact(session, "run", built.trace.run.crash->sentence);
    if (built.bounds) PrintBounds(session, *built.bounds);
  }
  if (!built.cliff) return;
  if (built.inputs.from_file) PrintFact(session, "inputs", "from the file's run line");
  PrintFact(session, "output", PrintElements(built.trace.run.output));
  PrintFact(session, "heights", Heights(built.trace.profile));
  PrintFact(session, "padded", std::to_string(built.trace.profile.PaddedHeight()));
  PrintFact(session, "cliff", built.cliff->Line());
  if (command.explain) PrintCliff(session, *built.cliff);
}

// What a caller of the function must know.
void AddSignature(const ir::Function& entry, nlohmann::ordered_json& json) {
  json["parameters"] = json["results"] = nlohmann::ordered_json::array();
  json["ram"] = false;  // whether the program itself uses RAM
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    if (entry.param_type(i).is_buffer()) {
      json["ram"] = true;
    } else {
      json["parameters"].push_back(ir::PrintType(entry, entry.param_type(i)));
    }
  }
  for (ir::Type type : entry.results) json["results"].push_back(ir::PrintType(entry, type));
}

nlohmann::ordered_json ToJson(const BuildCommand& command, const tri::Built& built) {
  nlohmann::ordered_json json = {{"words", built.assembly().Words()},
                                 {"instructions", built.assembly().code.size()},
                                 {"assembly", mt::Print(built.assembly())}};
  if (built.lowering)
    json["lowering"] = {{"verdict", verify::VerdictName(*built.lowering)},
                        {"detail", verify::Describe(*built.lowering)}};
  if (built.proposal)
    json["lowering"] = {{"verdict", "none"}, {"detail", "a proposal, not judged"}};
  if (command.flags.source.callable) AddSignature(built.ir->entry_function(), json);
  if (built.trace.run.crash) json["crash"] = built.trace.run.crash->sentence;
  if (!built.cliff) return json;
  json["output"] = built.trace.run.output;
  json["cycles"] = built.trace.run.cycles;
  json["heights"] = HeightsJson(built.trace.profile);
  json["padded"] = built.trace.profile.PaddedHeight();
  json["cliff"] = CliffJson(*built.cliff);
  return json;
}

Result<int> Build(Session& session, const BuildCommand& command) {
  const tri::Source source = TRY(SourceOf(command.flags));
  const tri::Built built =
      TRY(CallTri(session, command.flags.cycles, [&](const tri::Options& options) {
        return tri::Build(source, command.flags.inputs, options, !command.no_verify);
      }));
  if (!command.output.empty()) TRY_VOID(WriteFile(command.output, mt::Print(built.assembly())));
  if (session.json) {
    PrintJson(ToJson(command, built));
  } else {
    PrintText(session, command, built);
  }
  return 0;
}

}  // namespace

void AddTriBuild(CLI::App& tri, Session& session) {
  CLI::App* command = AddCommand(
      tri, "build", "lower a program to Triton VM assembly and say what its proof costs",
      "  frazil tri build examples/trident/fibonacci.tri --input 10\n"
      "  frazil tri build examples/trident/fibonacci.tri --input 10 --explain-cliff -o fib.tasm\n"
      "  frazil tri build std.tri --fn verify\n"
      "  frazil tri build std.tri --fn verify --callable -o verify.tasm");
  auto options = std::make_shared<BuildCommand>();
  AddProgramOptions(command, options->flags);
  AddInputOptions(command, options->flags);
  command->add_option("-o,--output", options->output, "write the assembly there");
  command->add_flag("--explain-cliff", options->explain,
                    "which table binds, who pays, what the cliffs cost");
  command->add_flag(
      "--callable", options->flags.source.callable,
      "the function of --fn for assembly to call: arguments and results on the stack");
  command->add_flag("--first-on-top", options->flags.source.first_on_top,
                    "with --callable: the first argument and the first result lie on top");
  command->add_flag("--no-verify", options->no_verify,
                    "ask nobody: what comes is a proposal that was not judged, and is not kept");
  command->add_flag("--quiet", options->quiet, "do not print the assembly");
  SetBody(command, session, [&session, options] { return Build(session, *options); });
}

}  // namespace frazil::cli
