// frazil kernel: a user's kernel loaded and run at run time, with named arguments.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>

#include "base/duration.h"
#include "buffers.h"
#include "cli.h"
#include "exec/kernel_launch.h"
#include "ir/digest.h"
#include "ir/text.h"
#include "loaded_kernel.h"
#include "machines/simt/text.h"
#include "npy.h"

namespace frazil::cli {
namespace {

struct KernelRun {
  std::string file;
  std::string kernel;
  std::vector<std::string> binds;
  std::vector<std::string> saves;
  std::string target = "isa";
  std::optional<int64_t> n;
  std::vector<int64_t> grid, block, lanes;
  uint64_t shared_bytes = 0;
  int repeat = 1;
  bool sanitize = false;
};

// "x=x.npy,y=[1,2],a=2": commas inside of brackets belong to a list.
Result<std::map<std::string, std::string>> SplitPairs(const std::vector<std::string>& texts,
                                                      std::string_view flag) {
  std::map<std::string, std::string> pairs;
  auto add = [&](std::string_view text) -> Result<void> {
    size_t equals = text.find('=');
    if (equals == 0 || equals == std::string_view::npos)
      return Fail(Diag::BadUsage, fmt::format("{} takes name=value, '{}' is none", flag, text));
    auto [place, fresh] = pairs.emplace(text.substr(0, equals), text.substr(equals + 1));
    if (!fresh) return Fail(Diag::BadUsage, fmt::format("'{}' is given twice", place->first));
    return {};
  };
  for (const std::string& text : texts) {
    int depth = 0;
    size_t start = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      depth += (text[i] == '[') - (text[i] == ']');
      if (text[i] != ',' || depth > 0) continue;
      TRY_VOID(add(std::string_view(text).substr(start, i - start)));
      start = i + 1;
    }
    TRY_VOID(add(std::string_view(text).substr(start)));
  }
  return pairs;
}

Result<exec::Value> ReadBound(const ir::Function& entry, uint32_t param, std::string_view name,
                              const std::string& text, std::span<const exec::Value> earlier,
                              MemoryBudget& budget, const Limits& limits) {
  ir::Type type = entry.param_type(param);
  if (type.is_buffer()) {
    if (text.ends_with(".npy"))
      return exec::Value::Buffer(TRY(ReadNpy(text, type.element(), budget, limits)));
    if (std::optional<exec::Value> made = TRY(MadeBuffer(type.element(), name, text, budget)))
      return *made;
  }
  exec::Value value = TRY(ParseArgument(entry, param, text, earlier, limits));
  const bool is_new =
      value.memory != nullptr && std::ranges::none_of(earlier, [&](const exec::Value& other) {
        return other.memory == value.memory;
      });
  if (is_new) TRY_VOID(budget.Charge(value.memory->element(), value.memory->length()));
  return value;
}

std::string Known(const ir::KernelSignature& signature) {
  std::vector<std::string> names;
  for (const ir::KernelParam& param : signature.params)
    if (!ir::IsLaunchRole(param.role)) names.push_back(param.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

exec::LaunchShape ShapeOf(const KernelRun& options) {
  exec::LaunchShape shape;
  shape.n = options.n;
  for (size_t k = 0; k < options.lanes.size(); ++k) shape.lanes[k] = options.lanes[k];
  if (!shape.n && !options.lanes.empty()) shape.n = options.lanes[0];
  for (size_t k = 0; k < options.grid.size(); ++k) shape.grid[k] = options.grid[k];
  for (size_t k = 0; k < options.block.size(); ++k) shape.block[k] = options.block[k];
  shape.shared_bytes = options.shared_bytes;
  return shape;
}

Result<std::vector<exec::Value>> Bind(const KernelRun& options, const LoadedKernel& kernel,
                                      MemoryBudget& budget, const Limits& limits) {
  const ir::KernelSignature& signature = kernel.signature;
  std::map<std::string, std::string> pairs = TRY(SplitPairs(options.binds, "--bind"));
  std::vector<std::optional<exec::Value>> given(signature.params.size());
  std::vector<exec::Value> earlier;
  for (uint32_t i = 0; i < signature.params.size(); ++i) {
    auto pair = pairs.find(signature.params[i].name);
    if (pair != pairs.end()) {
      Result<exec::Value> value =
          ReadBound(kernel.entry(), i, pair->first, pair->second, earlier, budget, limits);
      if (!value) {
        value.error().message = fmt::format("'{}': {}", pair->first, value.error().message);
        return std::unexpected(std::move(value.error()));
      }
      given[i] = std::move(*value);
      pairs.erase(pair);
    }
    earlier.push_back(given[i] ? *given[i] : exec::Value());
  }
  if (!pairs.empty())
    return Fail(Diag::WrongArgument,
                fmt::format("{} has no parameter '{}'; it has {}", signature.name,
                            pairs.begin()->first, Known(signature)));
  return exec::CompleteLaunch(signature, given, ShapeOf(options));
}

// "[1, 2, 3, .. 1000000 elements]".
std::string Shortened(const exec::Memory& memory) {
  constexpr int64_t Shown = 8;
  if (memory.length() <= 2 * Shown) {
    return exec::PrintValue(exec::Value::Buffer(std::make_shared<exec::Memory>(
        memory.element(), memory.length(), const_cast<std::byte*>(memory.data()))));
  }
  std::string text = "[";
  for (int64_t i = 0; i < Shown; ++i) {
    uint64_t words[64] = {};
    std::span<uint64_t> element(words, ir::WordsOf(memory.element()));
    memory.Get(i, element);
    text += ir::PrintLiteral(memory.element(), element) + ", ";
  }
  return text + fmt::format(".. {} elements]", memory.length());
}

// Writable buffers and results, and what was asked to be kept.
Result<void> ShowOutcome(Session& session, const LoadedKernel& kernel,
                         std::span<const exec::Value> arguments, const exec::Outcome& outcome,
                         const std::map<std::string, std::string>& saves,
                         nlohmann::ordered_json& json) {
  for (uint32_t i = 0; i < arguments.size(); ++i) {
    const ir::KernelParam& param = kernel.signature.params[i];
    if (!param.type.is_buffer()) continue;
    auto save = saves.find(param.name);
    if (save != saves.end()) TRY_VOID(WriteNpy(save->second, *arguments[i].memory));
    if (param.type.access == ir::Access::In) continue;
    json["buffers"][param.name] = Shortened(*arguments[i].memory);
    if (!session.json) fmt::print("{} = {}\n", param.name, Shortened(*arguments[i].memory));
  }
  for (const exec::Value& value : outcome.results) {
    json["results"].push_back(exec::PrintValue(value));
    if (!session.json) fmt::print("{}\n", exec::PrintValue(value));
  }
  return {};
}

Result<std::map<std::string, std::string>> Saves(const KernelRun& options,
                                                 const ir::KernelSignature& signature) {
  std::map<std::string, std::string> saves = TRY(SplitPairs(options.saves, "--save"));
  for (const auto& [name, file] : saves) {
    auto is_it = [&](const ir::KernelParam& param) {
      return param.name == name && param.type.is_buffer();
    };
    if (std::ranges::none_of(signature.params, is_it))
      return Fail(Diag::BadUsage,
                  fmt::format("--save {}: {} has no such buffer", name, signature.name));
  }
  return saves;
}

Result<int> RunSanitized(Session& session, const LoadedKernel& kernel,
                         std::span<const exec::Value> arguments, const exec::RunContext& context) {
  const std::vector<std::string> findings = TRY(kernel.sanitize(arguments, context));
  const nlohmann::ordered_json json = {{"kernel", kernel.signature.name}, {"findings", findings}};
  if (session.json) {
    PrintJson(json);
  } else {
    for (const std::string& finding : findings) fmt::print("{}\n", finding);
    if (findings.empty())
      fmt::print(
          "nothing found: no race, nothing out of bounds, nothing read before it was written\n");
  }
  return findings.empty() ? 0 : 1;
}

Result<int> Run(Session& session, const KernelRun& options) {
  const auto begun = std::chrono::steady_clock::now();
  const LoadedKernel kernel =
      TRY(LoadKernel(options.file, options.target, ShapeOf(options), session.limits));
  const std::map<std::string, std::string> saves = TRY(Saves(options, kernel.signature));
  MemoryBudget budget(session.limits.memory_bytes);
  const std::vector<exec::Value> arguments = TRY(Bind(options, kernel, budget, session.limits));
  exec::RunContext context;
  context.limits = session.limits;
  context.limits.memory_bytes = budget.left();
  if (!kernel.note.empty()) Say("frazil: {}\n", kernel.note);
  if (options.sanitize) return RunSanitized(session, kernel, arguments, context);
  const double to_ready =
      std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begun).count();
  double best = 0;
  exec::Outcome outcome;
  for (int i = 0; i < std::max(options.repeat, 1) && !outcome.trap; ++i) {
    auto start = std::chrono::steady_clock::now();
    outcome = TRY(kernel.run(arguments, context));
    double ns =
        std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
    best = i == 0 ? ns : std::min(best, ns);
  }

  nlohmann::ordered_json json = {{"kernel", kernel.signature.name},
                                 {"target", kernel.target},
                                 {"ready_ns", to_ready},
                                 {"run_ns", best}};
  if (outcome.trap) return ReportTrap(session, outcome, options.file, kernel.types, json);
  TRY_VOID(ShowOutcome(session, kernel, arguments, outcome, saves, json));
  if (session.json) {
    PrintJson(json);
    return 0;
  }
  PrintFact(session, "kernel", fmt::format("{} on {}", kernel.signature.name, kernel.target));
  PrintFact(session, "ready", fmt::format("{} after the start", PrintDuration(to_ready)));
  PrintFact(session, "ran",
            fmt::format("{}{}", PrintDuration(best),
                        options.repeat > 1 ? fmt::format(" (best of {})", options.repeat) : ""));
  return 0;
}

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
    signatures.push_back(TRY(LoadKernel(file, "interp", {}, session.limits)).signature);
  } else {
    for (const NamedProgram& named : TRY(ReadNamedPrograms(file, session.limits)))
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

void AddKernelRun(CLI::App& kernel, Session& session) {
  CLI::App* command = AddCommand(
      kernel, "run", "load a kernel and run it with named arguments",
      "  frazil kernel run examples/kernels/saxpy.py --bind a=2,x=[1,2,3],y=[10,20,30]\n"
      "  frazil kernel run saxpy.frzb --bind x=x.npy,y=y.npy,a=2 --n 1000000 --save y=out.npy\n"
      "  frazil kernel run examples/kernels/saxpy.py --bind a=2,x=iota:1000,y=ones:1000 --target "
      "native");
  auto options = std::make_shared<KernelRun>();
  command
      ->add_option("file", options->file,
                   "a .py, .json, .cir, .frzb, .isa or .frz file; FILE:NAME picks one of several")
      ->required();
  command->add_option("--kernel", options->kernel, "one of several kernels, as in FILE:NAME");
  command
      ->add_option("--bind", options->binds,
                   "name=value: a literal, [1,2,3], a .npy file, zeros:N, ones:N, iota:N, "
                   "random:N (drawn from the buffer's name), or an earlier buffer")
      ->allow_extra_args(false);
  command->add_option("--save", options->saves, "name=file.npy: write a buffer after the run")
      ->allow_extra_args(false);
  command->add_option("--n", options->n, "lanes, and every extent that is not bound");
  command->add_option("--grid", options->grid, "blocks: x,y,z")->delimiter(',')->expected(1, 3);
  command->add_option("--block", options->block, "lanes of a block: x,y,z")
      ->delimiter(',')
      ->expected(1, 3);
  command->add_option("--shared", options->shared_bytes,
                      "bytes that the lanes of a block share by lds and sts, in a launch module");
  command->add_option("--lanes", options->lanes, "lanes of a kernel without a guard: x,y,z")
      ->delimiter(',')
      ->expected(1, 3);
  OneOf(command->add_option("--target", options->target, "where it runs"), TargetNames())
      ->capture_default_str();
  AtLeastOne(
      command->add_option("--repeat", options->repeat, "run it so often and report the best time"))
      ->capture_default_str();
  command->add_flag(
      "--sanitize", options->sanitize,
      "run lane by lane and report races, accesses out of bounds and reads before writes");
  SetBody(command, session, [&session, options] {
    if (!options->kernel.empty()) options->file += ":" + options->kernel;
    return Run(session, *options);
  });
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
