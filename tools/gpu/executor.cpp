// The executor "cuda" as programs use it, over the bundle's kernels: each module is proposed with its program, judged on this
// GPU, admitted, kept, launched and compared with the interpreter; wrong ones are planted and must not pass.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <map>

#include "engine/event.h"
#include "exec/launch.h"
#include "exec/meaning/interpreter.h"
#include "ir/kernel.h"
#include "runner.h"
#include "runtime/form_kernel.h"
#include "runtime/runtime.h"
#include "targets/cuda/driver/target.h"

namespace frazil::gpu {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int Runs = 6;
constexpr size_t MostPlanted = 24;

double Milliseconds(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Counts of what the executors told.
struct Events {
  int from_store = 0, kept = 0;
};

class ExecutorCheck {
 public:
  explicit ExecutorCheck(fs::path folder)
      : folder_(std::move(folder)),
        store_(fs::temp_directory_path() / fmt::format("frazil_gpu_store_{}", ::getpid())) {
    fs::remove_all(store_);
    runtime::Listen([this](const engine::Event& event) {
      if (event.who != "cuda") return;
      events_.from_store +=
          event.verb == engine::Verb::Admit && event.detail.starts_with("from the store");
      events_.kept += event.verb == engine::Verb::Keep;
    });
  }
  ~ExecutorCheck() {
    runtime::Listen({});
    std::error_code error;
    fs::remove_all(store_, error);
  }

  int Run() {
    const auto start = Clock::now();
    if (Make("cuda") == nullptr) return failures_;
    fmt::print("executor: Create took {:.1f} ms, the first time\n", Milliseconds(start));
    Judged();
    FromTheStore();
    Times();
    WithoutPtx();
    Planted();  // last: a GPU that was led astray stays so for this process
    fmt::print("executor: {} failures\n", failures_);
    return failures_;
  }

 private:
  void Fault(const std::string& what) {
    ++failures_;
    fmt::print("FAIL {}\n", what);
    std::fflush(stdout);
  }

  std::unique_ptr<runtime::Executor> Make(const std::string& backend) {
    auto executor =
        runtime::Executor::Create({.backend = backend, .compile = false, .store = store_.string()});
    if (!executor) {
      Fault(executor.error().ToString());
      return nullptr;
    }
    if ((*executor)->backend() == backend) return std::move(*executor);
    Fault((*executor)->reason());
    return nullptr;
  }

  std::optional<runtime::Source> SourceOf(const fs::path& path) {
    auto artifact = targets::cuda::ArtifactOfModule(ReadFile(path));
    if (!artifact) {
      Fault(fmt::format("{}: {}", path.string(), artifact.error().ToString()));
      return std::nullopt;
    }
    ir::Program program = *artifact->source;
    return runtime::Source(std::move(program), {std::move(*artifact)});
  }

  // What the kernel makes of made-up arguments, against the interpreter.
  std::string Compare(const runtime::LoadedKernel& kernel, int& same, int& trapped) {
    KernelArguments made(kernel.signature());
    for (int run = 0; run < Runs; ++run) {
      const std::vector<exec::Value> arguments = made.Next();
      const std::vector<exec::Value> expected = exec::CopyValues(arguments);
      if (!exec::CheckLaunch(kernel.program(), arguments)) continue;
      const auto reference = exec::Interpret(kernel.program(), expected);
      if (!reference) continue;
      const Result<void> result = kernel.Run(arguments);
      if (reference->trap) {
        ++trapped;
        // The engine's slots tell no more than the kind.
        const std::string& name = kernel.signature().name;
        const std::string all = fmt::format("{}: {}", name, reference->trap->ToString());
        const std::string kind = fmt::format("{}: {}", name, reference->trap->KindName());
        const std::string told = result ? "no trap" : result.error().message;
        if (told != all && told != kind)
          return fmt::format("run {}: {} instead of {}", run, told, all);
        continue;
      }
      if (!result) return fmt::format("run {}: {}", run, result.error().ToString());
      if (arguments != expected) return fmt::format("run {}: other bits", run);
      ++same;
    }
    return {};
  }

  void Judged() {
    const auto executor = Make("cuda");
    fmt::print("{:24} {:>9} {:>5} {:>5}  {}\n", "kernel", "load ms", "same", "traps", "evidence");
    const std::vector<fs::path> modules = Modules(folder_);
    int on_gpu = 0, on_cpu = 0;
    double total = 0;
    for (const fs::path& path : modules) {
      const auto source = SourceOf(path);
      if (!source) continue;
      const auto start = Clock::now();
      const auto kernel = executor->Load(*source);
      const double taken = Milliseconds(start);
      total += taken;
      if (!kernel) {
        Fault(fmt::format("{}: {}", path.stem().string(), kernel.error().ToString()));
        continue;
      }
      int same = 0, trapped = 0;
      const std::string difference = Compare(**kernel, same, trapped);
      std::string evidence = (*kernel)->reason();
      if (const auto* form = dynamic_cast<const runtime::FormKernel*>(kernel->get()))
        evidence = verify::Describe(form->evidence().lowering);
      fmt::print("{:24} {:9.1f} {:5} {:5}  {}\n", path.stem().string(), taken, same, trapped,
                 evidence);
      std::fflush(stdout);
      if (!difference.empty()) Fault(fmt::format("{}: {}", path.stem().string(), difference));
      if ((*kernel)->reason().find("refuted") != std::string::npos)
        Fault(fmt::format("{}: {}", path.stem().string(), (*kernel)->reason()));
      was_admitted_[path.stem().string()] = (*kernel)->reason().empty();
      ++((*kernel)->reason().empty() ? on_gpu : on_cpu);
    }
    fmt::print("executor: {} kernels on the GPU, {} left to the CPU, judged in {:.1f} s, {} kept\n",
               on_gpu, on_cpu, total / 1000, events_.kept);
    if (on_gpu == 0) Fault("no kernel came through the gate");
    if (events_.kept != on_gpu) Fault("not all that was admitted was kept");
    admitted_ = on_gpu;
  }

  // Another executor, as another process: nothing is judged again.
  void FromTheStore() {
    events_ = {};
    const auto executor = Make("cuda");
    double total = 0, cached = 0;
    for (const fs::path& path : Modules(folder_)) {
      const auto source = SourceOf(path);
      if (!source) continue;
      // Those that were not admitted would be judged again.
      if (!was_admitted_[path.stem().string()]) continue;
      auto start = Clock::now();
      const auto kernel = executor->Load(*source);
      total += Milliseconds(start);
      start = Clock::now();
      for (int i = 0; i < 1000; ++i) static_cast<void>(executor->Load(*source));
      cached += Milliseconds(start) / 1000;
    }
    fmt::print("executor: {} of {} from the store, {:.2f} ms each, {:.1f} ns once loaded\n",
               events_.from_store, admitted_, total / std::max(1, events_.from_store),
               cached * 1e6 / std::max(1, events_.from_store));
    if (events_.from_store != admitted_) Fault("what was kept was not found again");
  }

  // One kind of instruction taken for another, everywhere; of floats, which are no addresses. (The last are those of the driver in tests, whose assembly is
  // the text form.)
  void Planted() {
    constexpr std::pair<std::string_view, std::string_view> Swaps[] = {
        {"add.rn.f32", "sub.rn.f32"}, {"mul.rn.f32", "add.rn.f32"}, {"add.rn.f64", "sub.rn.f64"},
        {"div.rn.f32", "mul.rn.f32"}, {"= add ", "= sub "},         {"= mul ", "= add "}};
    const auto executor = Make("cuda");
    size_t planted = 0, refuted = 0, undecided = 0;
    for (const fs::path& path : Modules(folder_)) {
      auto module = ReadModule(path);
      if (!module || planted == MostPlanted) break;
      if (!was_admitted_[path.stem().string()]) continue;
      for (const auto& [right, wrong] : Swaps) {
        size_t count = 0;
        std::string text = module->text;
        for (size_t at = 0; (at = text.find(right, at)) != std::string::npos; ++count)
          text.replace(at, right.size(), wrong);
        if (count == 0) continue;
        targets::cuda::PtxModule broken = *module;
        broken.text = std::move(text);
        auto artifact = targets::cuda::ArtifactOfModule(targets::cuda::SerializeModule(broken));
        if (!artifact) break;
        ++planted;
        const runtime::Source source(module->source, {std::move(*artifact)});
        const auto kernel = executor->Load(source);
        if (!kernel || (*kernel)->reason().empty()) {
          Fault(fmt::format("{} with {} for {}: admitted", path.stem().string(), wrong, right));
          break;
        }
        ++((*kernel)->reason().find("refuted") != std::string::npos ? refuted : undecided);
        int same = 0, trapped = 0;
        if (const std::string why = Compare(**kernel, same, trapped); !why.empty())
          Fault(fmt::format("{} planted, on the CPU: {}", path.stem().string(), why));
        break;
      }
    }
    fmt::print("executor: {} wrong modules planted: {} refuted, {} without a verdict, 0 run\n",
               planted, refuted, undecided);
    if (refuted == 0) Fault("no planted module was refuted");
  }

  void WithoutPtx() {
    const auto executor = Make("cuda");
    const ir::Program program = *runtime::builders::ElementwiseScalar(ir::Op::Mul, ir::types::F32);
    const auto kernel = executor->Load(program);
    if (!kernel || (*kernel)->reason().empty())
      Fault("a program without PTX and without a worker is not the CPU's");
    else
      fmt::print("executor: without PTX: {}\n", (*kernel)->reason());
  }

  // A launch with its copies to the GPU and back, against the CPU's.
  void Times() {
    const fs::path path = folder_ / "vector_add.ptxm";
    if (!fs::exists(path)) return;
    const auto source = SourceOf(path);
    for (const int64_t n : {int64_t{64}, int64_t{1} << 16, int64_t{1} << 20, int64_t{1} << 24}) {
      std::string line = fmt::format("executor: vector_add of {:9}:", n);
      for (const char* backend : {"cuda", "isa"}) {
        const auto executor = Make(backend);
        if (executor == nullptr) return;
        const auto kernel = *executor->Load(*source);
        auto x = *executor->Allocate<float>(n), y = *executor->Allocate<float>(n),
             z = *executor->Allocate<float>(n);
        double least = 1e30;
        for (int round = 0; round < 20; ++round) {
          const auto start = Clock::now();
          const auto result = executor->Launch(*kernel, {}, {x, y, z, static_cast<uint32_t>(n)});
          if (!result) return Fault(result.error().ToString());
          least = std::min(least, Milliseconds(start));
        }
        line += fmt::format("  {} {:.4f} ms", backend, least);
      }
      fmt::print("{}\n", line);
    }
  }

  const fs::path folder_, store_;
  Events events_;
  std::map<std::string, bool> was_admitted_;
  int admitted_ = 0, failures_ = 0;
};

}  // namespace

int CheckExecutor(const std::filesystem::path& folder) { return ExecutorCheck(folder).Run(); }

}  // namespace frazil::gpu
