// frazil tri: programs over the Goldilocks field for Triton VM. This file has what its commands share.
#include "tri.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace frazil::cli {

Error TakeLast(Session& session, std::vector<Error> errors) {
  Error last = std::move(errors.back());
  errors.pop_back();
  if (session.json) {
    if (!errors.empty()) {
      std::swap(last, errors.front());
      last.message += fmt::format(" (and {} more)", errors.size());
    }
    return last;
  }
  for (const Error& error : errors) Report(session, error);
  return last;
}

void PrintWarnings(const Session& session, const std::vector<Error>& warnings) {
  if (session.json) return;
  for (const Error& warning : warnings) Say("frazil: warning: {}\n", warning.ToString());
}

void AddProgramOptions(CLI::App* command, TriFlags& flags) {
  command->add_option("file", flags.source.file, "a .tri, .tir, .tasm or .frz file")->required();
  command->add_option("--fn", flags.source.function, "a library function instead of main");
  command->add_option("--sizes", flags.source.sizes, "its size arguments, as in 8,8")
      ->delimiter(',');
  command->add_option("--path", flags.source.search, "a folder with more modules")
      ->allow_extra_args(false);
  command->add_option("--cfg", flags.source.cfg, "a flag that holds for #[cfg(...)]")
      ->allow_extra_args(false);
  OneOf(command->add_option("--profile", flags.profile, "instruction set; dot: the releases"),
        {"dot", "horner"})
      ->capture_default_str();
  command->add_flag("--contracts", flags.source.contracts,
                    "requires and ensures become assertions");
}

void AddInputOptions(CLI::App* command, TriFlags& flags) {
  command->add_option("--input", flags.inputs.input, "public input, as in 1,2,3")
      ->allow_extra_args(false);
  command
      ->add_option("--secret", flags.inputs.secret,
                   "secret input in the order of reading, as in 4,5; a digest as 1:2:3:4:5")
      ->allow_extra_args(false);
  command->add_option("--ram", flags.inputs.ram, "the prover's RAM, as in 17=5,18=6")
      ->allow_extra_args(false);
  command->add_option("--cycles", flags.cycles, "stop Triton VM after so many cycles")
      ->capture_default_str();
}

Result<tri::Source> SourceOf(const TriFlags& flags) {
  tri::Source source = flags.source;
  source.profile = TRY(tri::ProfileNamed(flags.profile));
  return source;
}

nlohmann::ordered_json HeightsJson(const mt::TableProfile& profile) {
  nlohmann::ordered_json json;
  for (int i = 0; i < mt::TableCount; ++i)
    json[std::string(mt::TableName(static_cast<mt::Table>(i)))] = profile.heights[i];
  return json;
}

std::string_view StandingName(tri::Standing standing) {
  switch (standing) {
    case tri::Standing::Admitted: return "admitted";
    case tri::Standing::Written: return "written";
    case tri::Standing::Proposal: break;
  }
  return "proposal";
}

void PrintStanding(const Session& session, tri::Standing standing) {
  if (standing == tri::Standing::Written) return;
  PrintFact(session, "assembly",
            standing == tri::Standing::Admitted ? "judged and admitted by `frazil tri build`"
                                                : "not judged (`frazil tri build` does that)");
}

std::string PrintElements(const std::vector<uint64_t>& elements) {
  return fmt::format("{}", fmt::join(elements, ", "));
}

void AddTri(CLI::App& app, Session& session) {
  CLI::App* tri =
      app.add_subcommand("tri", "programs over the Goldilocks field: build, run, prove, profile");
  tri->footer(
      "Examples:\n"
      "  frazil tri run examples/trident/fibonacci.tri --input 10\n"
      "  frazil tri build examples/trident/fibonacci.tri --explain-cliff\n"
      "  frazil tri prove examples/trident/fibonacci.tri --input 10 -o fib.proof");
  tri->require_subcommand(1);
  tri->fallthrough();
  AddTriBuild(*tri, session);
  AddTriRun(*tri, session);
  AddTriProve(*tri, session);
  AddTriProfile(*tri, session);
  AddTriSource(*tri, session);
}

}  // namespace frazil::cli
