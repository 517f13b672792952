// frazil build: kernels compiled ahead of time into C++ that links nothing of the compiler.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "aot/aot.h"
#include "cli.h"

namespace frazil::cli {
namespace {

struct BuildCommand {
  std::vector<std::string> files;
  std::string targets = "native;isa";
  aot::BuildOptions options;
};

nlohmann::ordered_json ToJson(const aot::FormReport& form) {
  nlohmann::ordered_json json = {{"form", form.form}};
  if (!form.level.empty()) json["level"] = form.level;
  json["bytes"] = form.bytes;
  json["evidence"] = EvidenceJson(form.evidence);
  return json;
}

nlohmann::ordered_json ToJson(const aot::KernelReport& kernel) {
  nlohmann::ordered_json json = {{"kernel", kernel.name},
                                 {"file", kernel.file},
                                 {"ops_before", kernel.ops_before},
                                 {"ops_after", kernel.ops_after},
                                 {"instructions", kernel.instructions},
                                 {"bytes_before", kernel.traffic_before.bytes},
                                 {"bytes_after", kernel.traffic_after.bytes},
                                 {"evidence", kernel.evidence},
                                 {"meaning", EvidenceJson(kernel.meaning)},
                                 {"forms", nlohmann::ordered_json::array()},
                                 {"native_bytes", kernel.native_bytes},
                                 {"isa_bytes", kernel.isa_bytes},
                                 {"in_pieces", kernel.in_pieces},
                                 {"targets", kernel.targets},
                                 {"milliseconds", kernel.ms},
                                 {"cached", kernel.cached},
                                 {"refusals", nlohmann::ordered_json::array()}};
  if (!kernel.guard.empty()) {
    json["guard"] = kernel.guard;
    json["guarded_meaning"] = EvidenceJson(kernel.guarded_meaning);
  }
  for (const aot::FormReport& form : kernel.forms) json["forms"].push_back(ToJson(form));
  for (const aot::Refusal& refusal : kernel.refusals)
    json["refusals"].push_back({{"target", refusal.target}, {"reason", refusal.reason}});
  return json;
}

// Those of files; else of kernels that nothing was made of, although all others were written.
std::vector<Error> ErrorsOf(const aot::Report& report) {
  std::vector<Error> errors = report.errors;
  if (!errors.empty()) return errors;
  for (const aot::KernelReport& kernel : report.kernels) {
    if (!kernel.targets.empty()) continue;
    const std::string why = kernel.refusals.empty() ? "" : ": " + kernel.refusals[0].reason;
    errors.push_back(
        {Diag::Unsupported,
         fmt::format("kernel '{}' was made for no target that was asked for{}", kernel.name, why),
         {},
         kernel.file,
         ""});
  }
  return errors;
}

// The table names every form that was not made; a function that is not there is more than that.
void WarnOfMissing(const aot::Report& report) {
  for (const aot::KernelReport& kernel : report.kernels)
    if (!kernel.targets.empty() && std::ranges::count(kernel.targets, "native") == 0)
      Say("frazil: warning: {} has no function in the header: it was made for {} only\n",
          kernel.name, fmt::join(kernel.targets, ", "));
}

Result<int> Build(Session& session, BuildCommand& command) {
  command.options.limits = session.limits;
  command.options.targets = TRY(aot::ParseTargets(command.targets));
  aot::Report report;
  {
    Progress progress(session, fmt::format("compiling {} file{}", command.files.size(),
                                           command.files.size() == 1 ? "" : "s"));
    report = TRY(aot::Build(command.files, command.options));
  }
  const std::vector<Error> errors = ErrorsOf(report);
  if (session.json) {
    nlohmann::ordered_json json = {{"kernels", nlohmann::ordered_json::array()},
                                   {"outputs", report.outputs},
                                   {"written", report.written},
                                   {"discarded", report.discarded},
                                   {"milliseconds", report.ms}};
    for (const aot::KernelReport& kernel : report.kernels)
      json["kernels"].push_back(ToJson(kernel));
    // One object: the first as every command says it, and all.
    for (const Error& error : errors) {
      const nlohmann::ordered_json each = ErrorJson(error)["error"];
      if (!json.contains("error")) json["error"] = each;
      json["errors"].push_back(each);
    }
    PrintJson(json);
  } else {
    if (report.errors.empty()) fmt::print("{}", aot::PrintTable(report));
    if (std::ranges::count(command.options.targets, aot::Target::Native) != 0)
      WarnOfMissing(report);
    for (const Error& error : errors) Report(session, error);
  }
  return errors.empty() ? 0 : ExitCodeOf(ClassOf(errors.back().diag));
}

}  // namespace

void AddBuild(CLI::App& app, Session& session) {
  CLI::App* command = AddCommand(
      app, "build", "compile kernels ahead of time into C++ functions",
      "  frazil build examples/kernels/saxpy.py --embed out\n"
      "  frazil build kernels/*.py --embed out --name my_ops --targets \"native;isa;ptx\"");
  auto options = std::make_shared<BuildCommand>();
  command->add_option("files", options->files, ".py, .json, .cir or .frz files")->required();
  command
      ->add_option("--embed", options->options.out,
                   "folder of the header, the C++ file and the rest")
      ->required();
  command->add_option("--name", options->options.name, "C++ namespace and name of the files")
      ->capture_default_str();
  command->add_option("--targets", options->targets, "some of native, isa, ptx, wasm, c")
      ->capture_default_str();
  command->add_option("--cache", options->options.cache,
                      "the store that keeps finished work (default: the user's)");
  command->add_flag("!--no-programs", options->options.programs,
                    "leave out what `frazil audit` judges the kernels by");
  AtLeastOne(command->add_option("--jobs", options->options.jobs,
                                 "processes at a time (default: one for each core)"));
  SetBody(command, session, [&session, options] { return Build(session, *options); });
}

}  // namespace frazil::cli
