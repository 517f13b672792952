// frazil kernel: what a kernel's parameters are, assembly of the portable machine, and running kernels (kernel_run.cpp).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli.h"
#include "ir/text/text.h"
#include "kernel_file.h"
#include "machines/simt/text.h"

namespace frazil::cli {
namespace {

nlohmann::ordered_json ShowOne(const Session& session, const ir::KernelSignature& signature) {
  nlohmann::ordered_json json = {{"kernel", signature.name},
                                 {"params", nlohmann::ordered_json::array()}};
  for (const ir::KernelParam& param : signature.params) {
    std::vector<std::string> of;
    for (uint32_t buffer : param.buffers) of.push_back(signature.params[buffer].name);
    const std::string type = ir::ScalarOrBufferName(param.type);
    json["params"].push_back(
        {{"name", param.name}, {"type", type}, {"role", ir::RoleName(param.role)}, {"of", of}});
    if (!session.json)
      fmt::print("{:<12} {:<18} {}{}\n", param.name, type, ir::RoleName(param.role),
                 of.empty() ? "" : fmt::format(" of {}", fmt::join(of, ", ")));
  }
  return json;
}

Result<int> Show(Session& session, const std::string& file) {
  std::vector<ir::KernelSignature> signatures;
  if (file.ends_with(".frzb") || file.ends_with(".isa")) {
    signatures.push_back(TRY(LoadKernelFile(file, "interp", {}, session.limits)).signature);
  } else {
    for (const sources::Source& named : TRY(ReadNamedPrograms(file, session.limits)))
      signatures.push_back(ir::SignatureOf(named.program));
  }
  auto list = nlohmann::ordered_json::array();
  for (const ir::KernelSignature& signature : signatures) {
    if (signatures.size() > 1 && !session.json) fmt::print("{}:\n", signature.name);
    list.push_back(ShowOne(session, signature));
  }
  if (session.json)
    PrintJson(list.size() == 1 ? list[0] : nlohmann::ordered_json{{"kernels", list}});
  return 0;
}

Result<int> AssembleFile(const std::string& file, const std::string& output, Session& session) {
  Result<machines::simt::Module> module =
      machines::simt::Assemble(TRY(ReadFile(file, session.limits)));
  if (!module) {
    module.error().file = file;
    return std::unexpected(std::move(module.error()));
  }
  TRY_VOID(WriteFile(output, module->bytes));
  return 0;
}

}  // namespace

void AddKernel(CLI::App& app, Session& session) {
  CLI::App* kernel =
      AddCommand(app, "kernel", "look at a kernel, or run it with named arguments",
                 "  frazil kernel show examples/kernels/saxpy.py\n"
                 "  frazil kernel run examples/kernels/saxpy.py --bind a=2,x=[1,2,3],y=[10,20,30]");
  kernel->require_subcommand(1);
  AddKernelRun(*kernel, session);
  CLI::App* show = AddCommand(*kernel, "show", "the parameters of a kernel and what each is for",
                              "  frazil kernel show examples/saxpy.frz");
  auto file = std::make_shared<std::string>();
  show->add_option("file", *file, "as for run")->required();
  SetBody(show, session, [&session, file] { return Show(session, *file); });
  CLI::App* assemble =
      AddCommand(*kernel, "assemble", "assembly text of the portable machine to a .frzb file",
                 "  frazil kernel assemble examples/reverse.isa -o reverse.frzb");
  auto source = std::make_shared<std::string>(), output = std::make_shared<std::string>();
  assemble->add_option("file", *source, "assembly text, docs/isa.md")->required();
  assemble->add_option("-o,--output", *output, "the .frzb file")->required();
  SetBody(assemble, session,
          [&session, source, output] { return AssembleFile(*source, *output, session); });
}

}  // namespace frazil::cli
