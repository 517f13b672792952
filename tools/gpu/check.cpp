// The same comparison that every other target passes: with what the run line says, and bit for bit with the
// interpreter.
#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <vector>

#include "exec/meaning/interpreter.h"
#include "exec/random_arguments.h"
#include "ir/kernel.h"
#include "ir/text/text.h"
#include "runner.h"
#include "support/test_file.h"

namespace frazil::gpu {
namespace {

struct Tally {
  int passed = 0, failed = 0, refused = 0;
};

constexpr int MostShown = 40;

void Fault(Tally& tally, const std::string& text) {
  if (++tally.failed <= MostShown) fmt::print("FAIL {}\n", text);
  std::fflush(stdout);
}

// Launches that this target leaves to the CPU.
bool IsRefusal(const Error& error) {
  return error.diag == Diag::NotIndependent || error.diag == Diag::Unsupported ||
         error.diag == Diag::BadLaunch || error.diag == Diag::LimitReached;
}

void RunLine(const tests::TestFile& file, const ir::Program& program, const tests::RunLine& run,
             exec::Callable& callable, Tally& tally) {
  auto where = [&](const std::string& what) {
    return fmt::format("{}:{}: {}", file.name, run.line, what);
  };
  auto arguments = tests::MakeArguments(run, program);
  auto context = tests::MakeContext(run, program);
  if (!arguments || !context) return Fault(tally, where("cannot be read"));
  const auto before = run.refused.empty() ? exec::CopyValues(*arguments) : *arguments;
  const auto outcome = callable.Run(*arguments, *context);
  if (!run.refused.empty()) {
    if (!outcome && run.refused == DiagId(outcome.error().diag))
      ++tally.passed;
    else
      Fault(tally, where(outcome ? "is not refused" : outcome.error().ToString()));
    return;
  }
  if (!outcome) {
    if (IsRefusal(outcome.error())) {
      ++tally.refused;
      return;
    }
    return Fault(tally, where(outcome.error().ToString()));
  }
  constexpr auto detail = tests::TrapDetail::All;
  std::string difference = tests::CompareWithRunLine(run, program, *outcome, *arguments, detail);
  if (difference.empty()) {
    const auto reference_arguments = exec::CopyValues(before);
    const auto reference = exec::Interpret(program, reference_arguments, *context);
    difference = reference
                     ? tests::CompareOutcomes({program, before, *context}, *reference,
                                              reference_arguments, *outcome, *arguments, detail)
                     : reference.error().ToString();
  }
  if (!difference.empty()) return Fault(tally, where(difference));
  ++tally.passed;
}

int Report(const char* what, size_t modules, const Tally& tally) {
  fmt::print("{}: {} modules, {} runs passed, {} failed, {} left to the CPU\n", what, modules,
             tally.passed, tally.failed, tally.refused);
  return tally.failed;
}

}  // namespace

int CheckPrograms(DevicePtr device, const std::filesystem::path& folder) {
  Tally tally;
  const auto modules = Modules(folder);
  for (const auto& path : modules) {
    auto source = path;
    source.replace_extension(".frz");
    const auto file = tests::ReadTestFile(source, folder);
    auto module = ReadModule(path);
    if (!file || !module) {
      Fault(tally, path.string() + " cannot be read");
      continue;
    }
    const ir::Program program = module->source;
    const auto callable = targets::cuda::MakeCudaCallable(device, std::move(*module));
    if (!callable) {
      Fault(tally, fmt::format("{}: {}", file->name, callable.error().ToString()));
      continue;
    }
    for (const tests::RunLine& run : file->runs)
      if (!run.has_fuel) RunLine(*file, program, run, **callable, tally);
  }
  return Report("programs", modules.size(), tally);
}

namespace {

// Rows and columns stay small, so that products of them fit into the buffers; lengths have no such bound.
constexpr int64_t BufferLength = 8192;

exec::Value KernelArgument(const ir::KernelParam& param, std::mt19937_64& random) {
  using ir::ParamRole;
  constexpr int64_t Extents[] = {0, 1, 7, 255, 256, 257, 3073, 8192, 8193};
  auto below = [&](int64_t bound) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(bound));
  };
  if (param.type.is_buffer()) {
    auto memory = std::make_shared<exec::Memory>(param.type.element(), BufferLength);
    for (int64_t i = 0; i < BufferLength; ++i) {
      const double real = std::uniform_real_distribution<double>(-3, 3)(random);
      const exec::Value value = ir::IsFloat(param.type.scalar)
                                    ? exec::Value::Float(param.type.element(), real)
                                    : exec::Value::Int(param.type.element(), below(9));
      memory->Set(i, value.scalar_words());
    }
    return exec::Value::Buffer(std::move(memory));
  }
  if (ir::IsFloat(param.type.scalar))
    return exec::Value::Float(param.type, std::uniform_real_distribution<double>(0.01, 2)(random));
  if (param.role == ParamRole::BlockX) return exec::Value::Int(param.type, int64_t{32} << below(4));
  if (ir::IsLaunchRole(param.role)) return exec::Value::Int(param.type, 1 + below(20));
  if (param.role == ParamRole::Extent && below(3) != 0)
    return exec::Value::Int(param.type, Extents[below(9)]);
  return exec::Value::Int(param.type, 1 + below(9));
}

}  // namespace

std::vector<exec::Value> KernelArguments::Next() {
  std::vector<exec::Value> arguments;
  for (const ir::KernelParam& param : signature_.params)
    arguments.push_back(KernelArgument(param, random_));
  return arguments;
}

int CheckKernels(DevicePtr device, const std::filesystem::path& folder, int runs) {
  Tally tally;
  int trapped = 0;
  const auto modules = Modules(folder);
  for (const auto& path : modules) {
    auto module = ReadModule(path);
    if (!module) {
      Fault(tally, path.string() + " cannot be read");
      continue;
    }
    const ir::Program program = module->source;
    const ir::KernelSignature signature = ir::SignatureOf(program);
    const auto callable = targets::cuda::MakeCudaCallable(device, std::move(*module));
    if (!callable) {
      Fault(tally, fmt::format("{}: {}", path.string(), callable.error().ToString()));
      continue;
    }
    KernelArguments made(signature);
    for (int run = 0; run < runs; ++run) {
      const std::vector<exec::Value> arguments = made.Next();
      const auto before = exec::CopyValues(arguments);
      const auto reference_arguments = exec::CopyValues(arguments);
      const exec::RunContext context;
      const auto reference = exec::Interpret(program, reference_arguments, context);
      const auto outcome = (*callable)->Run(arguments, context);
      if (!reference) continue;
      trapped += reference->trap ? 1 : 0;
      if (!outcome && IsRefusal(outcome.error())) {
        ++tally.refused;
        continue;
      }
      const std::string difference =
          outcome
              ? tests::CompareOutcomes({program, before, context}, *reference, reference_arguments,
                                       *outcome, arguments, tests::TrapDetail::All)
              : outcome.error().ToString();
      if (difference.empty())
        ++tally.passed;
      else
        Fault(tally, fmt::format("{} run {}: {}", path.filename().string(), run,
                                 difference.substr(0, 300)));
    }
  }
  fmt::print("of the runs of kernels {} trap\n", trapped);
  return Report("kernels", modules.size(), tally);
}

int CheckRandom(DevicePtr device, const std::filesystem::path& folder, int runs) {
  Tally tally;
  const auto modules = Modules(folder);
  for (const auto& path : modules) {
    auto module = ReadModule(path);
    if (!module) {
      Fault(tally, path.string() + " cannot be read");
      continue;
    }
    const ir::Program program = module->source;
    const auto callable = targets::cuda::MakeCudaCallable(device, std::move(*module));
    if (!callable) {
      Fault(tally, fmt::format("{}: {}", path.string(), callable.error().ToString()));
      continue;
    }
    for (int run = 0; run < runs; ++run) {
      auto arguments = exec::RandomArguments(program, static_cast<uint64_t>(run));
      const auto before = exec::CopyValues(arguments);
      const auto reference_arguments = exec::CopyValues(arguments);
      const exec::RunContext context = exec::RandomContext(program, static_cast<uint64_t>(run));
      const auto reference = exec::Interpret(program, reference_arguments, context);
      const auto outcome = (*callable)->Run(arguments, context);
      if (!reference) continue;
      if (!outcome && IsRefusal(outcome.error())) {
        ++tally.refused;
        continue;
      }
      const std::string difference =
          outcome
              ? tests::CompareOutcomes({program, before, context}, *reference, reference_arguments,
                                       *outcome, arguments, tests::TrapDetail::All)
              : outcome.error().ToString();
      if (difference.empty())
        ++tally.passed;
      else
        Fault(tally, fmt::format("{} run {}: {}", path.filename().string(), run, difference));
    }
  }
  return Report("random", modules.size(), tally);
}

}  // namespace frazil::gpu
