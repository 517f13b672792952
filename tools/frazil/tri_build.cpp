// frazil tri build: assembly, the judge's word on it, the nine heights, and what the next cliff costs.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <bit>
#include <nlohmann/json.hpp>

#include "ir/text.h"
#include "machines/tasm/bounds.h"
#include "machines/tasm/cliff.h"
#include "machines/tasm/proof_cost.h"
#include "tri.h"
#include "verify/tasm/tasm.h"

namespace frazil::cli {
namespace {

namespace vt = verify::tasm;

struct BuildCommand {
  TriOptions program;
  std::string output;
  bool explain = false;
  bool no_verify = false;
  bool quiet = false;  // facts only
};

struct Built {
  TriProgram program;
  TriInputs inputs;
  std::optional<vt::Answer> answer;
  mt::TraceResult trace;
};

// What is emitted is judged by the checker, which knows nothing of the lowering. A refuted program is never given out.
Result<std::optional<vt::Answer>> Judge(Session& session, const BuildCommand& command,
                                        const TriProgram& program) {
  if (command.no_verify || !program.lowered) return std::nullopt;
  Progress progress(session, "checking the lowering");
  vt::Options options;
  options.milliseconds = session.limits.verify_ms;
  // A function is judged as the program that calls it and does nothing else.
  const mt::Program assembly = command.program.callable
                                   ? TRY(targets::tasm::WithDriver(*program.ir, program.assembly,
                                                                   command.program.first_on_top))
                                   : program.assembly;
  vt::Answer answer = program.ir ? vt::Compare(*program.ir, assembly, options)
                                 : vt::Compare(program.lowered->tir, assembly, options);
  if (answer.kind == vt::Answer::Kind::Refuted)
    return Fail(
        Diag::NotProved,
        fmt::format("the assembly does not do what the program says ({}); this is a bug in Frazil, "
                    "and nothing is given out",
                    answer.counterexample ? answer.counterexample->difference : answer.reason));
  return answer;
}

std::string Describe(const vt::Answer& answer) {
  if (answer.kind == vt::Answer::Kind::Unknown) return "not proved: " + answer.reason;
  return fmt::format("{}: {}", verify::GradeName(answer.evidence.grade), answer.evidence.detail);
}

std::string Heights(const mt::TableProfile& profile) {
  std::vector<std::string> parts;
  for (int i = 0; i < mt::TableCount; ++i)
    parts.push_back(
        fmt::format("{} {}", mt::TableName(static_cast<mt::Table>(i)), profile.heights[i]));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string Power(uint64_t height) { return fmt::format("2^{}", std::bit_width(height) - 1); }

std::string Cost(uint64_t padded) {
  const mt::ProofCost cost = mt::EstimateProof(padded);
  return fmt::format("about {:.2g} s to prove, {:.0f} kB of proof, {:.1f} GB of memory",
                     cost.seconds, cost.bytes / 1000, cost.peak_bytes / 1e9);
}

std::string Basis(uint64_t padded) {
  return fmt::format(
      "measured proofs from {} to {} on {} cores, error {:.0f} % of the time, {:.0f} % of the "
      "size{}",
      Power(mt::ProofMeasuredFrom), Power(mt::ProofMeasuredTo), mt::ProofMeasuredCores,
      100 * mt::ProofSecondsError, 100 * mt::ProofBytesError,
      padded > mt::ProofMeasuredTo ? "; beyond that it is an extrapolation" : "");
}

std::string Payers(const mt::TableCliff& table) {
  constexpr size_t Most = 4;
  std::vector<std::string> parts;
  for (size_t i = 0; i < std::min(table.payers.size(), Most); ++i)
    parts.push_back(fmt::format("{} {:.0f}",
                                table.payers[i].label.empty() ? "program" : table.payers[i].label,
                                table.payers[i].rows));
  if (table.payers.size() > Most)
    parts.push_back(fmt::format("{} more", table.payers.size() - Most));
  return fmt::format("{}", fmt::join(parts, ", "));
}

void Explain(const Session& session, const mt::CliffReport& report) {
  const mt::TableCliff& binding = report.tables.front();
  PrintFact(session, "binding",
            fmt::format("{}: {} rows", mt::TableName(binding.table), binding.height));
  if (report.below != 0) {
    for (const mt::TableCliff& table : report.tables) {
      if (table.above == 0) continue;
      PrintFact(session, "",
                fmt::format("{} is {} rows above {}; who pays: {}", mt::TableName(table.table),
                            table.above, Power(report.below), Payers(table)));
    }
    PrintFact(
        session, "below",
        fmt::format("{}: {}{}", Power(report.below), Cost(report.below),
                    report.words_to_save && *report.words_to_save > 0
                        ? fmt::format("; {} words less would do for {}", *report.words_to_save,
                                      mt::TableName(report.words_table))
                        : ""));
  }
  PrintFact(session, "here", fmt::format("{}: {}", Power(report.padded), Cost(report.padded)));
  PrintFact(session, "above",
            fmt::format("{}: {}; {} rows and {} words are left before it", Power(report.padded * 2),
                        Cost(report.padded * 2), binding.left, report.words_to_add));
  PrintFact(session, "estimate", Basis(report.padded));
}

nlohmann::ordered_json ToJson(const mt::CliffReport& report) {
  nlohmann::ordered_json json = {{"line", report.Line()},
                                 {"padded", report.padded},
                                 {"below", report.below},
                                 {"words_to_add", report.words_to_add}};
  if (report.words_to_save) json["words_to_save"] = *report.words_to_save;
  for (const mt::TableCliff& table : report.tables) {
    nlohmann::ordered_json row = {{"table", mt::TableName(table.table)},
                                  {"height", table.height},
                                  {"above", table.above},
                                  {"left", table.left}};
    for (const mt::CliffPayer& payer : table.payers)
      row["payers"].push_back(
          {{"label", payer.label}, {"rows", payer.rows}, {"words", payer.words}});
    json["tables"].push_back(std::move(row));
  }
  const mt::ProofCost cost = mt::EstimateProof(report.padded);
  json["estimate"] = {
      {"seconds", cost.seconds}, {"bytes", cost.bytes}, {"basis", Basis(report.padded)}};
  return json;
}

// The program was not given what it reads: bounds instead of heights.
void PrintBounds(const Session& session, const mt::Program& program) {
  const mt::HeightBounds bounds = mt::StaticBounds(program);
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

void PrintText(Session& session, const BuildCommand& command, const Built& built) {
  if (command.output.empty() && !command.quiet)
    fmt::print("{}\n", mt::Print(built.program.assembly));
  fmt::print("{}\n",
             Bold(session, fmt::format("{} words, {} instructions", built.program.assembly.Words(),
                                       built.program.assembly.code.size())));
  if (built.answer) PrintFact(session, "lowering", Describe(*built.answer));
  if (command.program.callable) return;
  if (built.trace.run.crash) {
    PrintFact(session, "run", built.trace.run.crash->sentence);
    PrintBounds(session, built.program.assembly);
    return;
  }
  if (built.inputs.from_file) PrintFact(session, "inputs", "from the file's run line");
  PrintFact(session, "output", PrintElements(built.trace.run.output));
  PrintFact(session, "heights", Heights(built.trace.profile));
  PrintFact(session, "padded", std::to_string(built.trace.profile.PaddedHeight()));
  const mt::CliffReport report = mt::ExplainCliff(built.program.assembly, built.trace);
  PrintFact(session, "cliff", report.Line());
  if (command.explain) Explain(session, report);
}

nlohmann::ordered_json ToJson(const BuildCommand& command, const Built& built) {
  nlohmann::ordered_json json = {{"words", built.program.assembly.Words()},
                                 {"instructions", built.program.assembly.code.size()},
                                 {"assembly", mt::Print(built.program.assembly)}};
  if (built.answer)
    json["lowering"] = {{"verdict", vt::AnswerName(built.answer->kind)},
                        {"detail", Describe(*built.answer)}};
  if (command.program.callable) {
    const ir::Function& entry = built.program.ir->entry_function();
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
    return json;
  }
  if (built.trace.run.crash) {
    json["crash"] = built.trace.run.crash->sentence;
    return json;
  }
  json["output"] = built.trace.run.output;
  json["cycles"] = built.trace.run.cycles;
  for (int i = 0; i < mt::TableCount; ++i)
    json["heights"][std::string(mt::TableName(static_cast<mt::Table>(i)))] =
        built.trace.profile.heights[i];
  json["padded"] = built.trace.profile.PaddedHeight();
  json["cliff"] = ToJson(mt::ExplainCliff(built.program.assembly, built.trace));
  return json;
}

Result<int> Build(Session& session, const BuildCommand& command) {
  Built built;
  built.program = TRY(LoadTri(session, command.program));
  built.inputs = TRY(ReadTriInputs(command.program, built.program.source));
  built.answer = TRY(Judge(session, command, built.program));
  mt::RunLimits limits;
  limits.cycles = command.program.cycles;
  if (!command.program.callable) {
    Progress progress(session, "running");
    built.trace = mt::Trace(built.program.assembly, built.inputs.machine, limits);
  }
  if (!command.output.empty())
    TRY_VOID(WriteFile(command.output, mt::Print(built.program.assembly)));
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
  AddProgramOptions(command, options->program);
  AddInputOptions(command, options->program);
  command->add_option("-o,--output", options->output, "write the assembly there");
  command->add_flag("--explain-cliff", options->explain,
                    "which table binds, who pays, what the cliffs cost");
  command->add_flag(
      "--callable", options->program.callable,
      "the function of --fn for assembly to call: arguments and results on the stack");
  command->add_flag("--first-on-top", options->program.first_on_top,
                    "with --callable: the first argument and the first result lie on top");
  command->add_flag("--no-verify", options->no_verify, "do not ask the checker");
  command->add_flag("--quiet", options->quiet, "do not print the assembly");
  SetBody(command, session, [&session, options] { return Build(session, *options); });
}

}  // namespace frazil::cli
