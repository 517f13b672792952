// What the kernel library's own calls cost on 64 elements: an op beyond its work, a launch, a kernel that is loaded
// again, and one more executor.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <frazil_stdlib.hpp>
#include <thread>

#include "embed/launch.h"
#include "native_call.h"
#include "runtime/builders.h"
#include "runtime/executor.h"
#include "runtime/ops.h"

namespace frazil::bench {
namespace {

namespace ops = runtime::ops;
constexpr size_t Count = 64;
constexpr int Rounds = 31;
constexpr double Span = 0.002;

struct SmallOp {
  const char* name;
  const char* kernel;
  std::function<void()> run;
  std::vector<uint64_t> words;  // behind the buffers
  int buffers;
};

std::span<const float> In(Floats& x) { return {x.data(), x.size()}; }
std::span<float> Out(Floats& x) { return {x.data(), x.size()}; }

runtime::ExecutorOptions OptionsOf(const char* backend, bool compile) {
  runtime::ExecutorOptions options;
  options.backend = backend;
  options.compile = compile;
  options.store = (std::filesystem::temp_directory_path() / "frazil_runtime_bench").string();
  return options;
}

}  // namespace

FRAZIL_FIGURE(runtime_small_ops) {
  Floats a(Count), b(Count), c(Count);
  const std::span<const float> x = In(a), y = In(b);
  const std::span<float> z = Out(c);
  const SmallOp all[] = {
      {"math::vector_add",
       "vector_add",
       [&] { CHECK(ops::math::vector_add(x, y, z).has_value()); },
       {Count},
       3},
      {"math::neg", "vector_neg", [&] { CHECK(ops::math::neg(x, z).has_value()); }, {Count}, 2},
      {"math::scalar_mul",
       "scalar_mul",
       [&] { CHECK(ops::math::scalar_mul(x, z, 2.0f).has_value()); },
       {Count, embed::WordOf(2.0f)},
       2},
      {"activation::sigmoid",
       "sigmoid",
       [&] { CHECK(ops::activation::sigmoid(x, z).has_value()); },
       {Count},
       2},
      {"reduce::sum",
       "vector_sum",
       [&] { CHECK(ops::reduce::sum(x, z.first(1)).has_value()); },
       {Count},
       2},
  };
  for (const SmallOp& op : all) {
    const embed::KernelData& kernel = *frazil_stdlib::kernels().Find(op.kernel);
    std::vector<uint64_t> words;
    for (int i = 0; i < op.buffers; ++i) {
      Floats& buffer = i == op.buffers - 1 ? c : i == 0 ? a : b;
      words.insert(words.end(), {buffer.address(), Count});
    }
    words.insert(words.end(), op.words.begin(), op.words.end());
    words.insert(words.end(), {embed::AllBegin, embed::AllEnd});
    const embed::NativeEntry entry = kernel.plain_entry(embed::UsedLevel());
    const auto times = InterleaveCpu(
        {op.run, [&] { CHECK(entry(words.data(), nullptr, embed::ThreadRun()) == 0); }}, Rounds,
        Span);
    const double over = (times[0].min_s - times[1].min_s) * 1e9;
    Report(
        {"runtime",
         fmt::format("ops::{} of 64 elements, beyond its code (median {:.1f}, whole {:.1f})",
                     op.name, (times[0].median_s - times[1].median_s) * 1e9, times[0].min_s * 1e9),
         over, "ns", "its code", times[1].min_s * 1e9, "<= 20", over <= 20});
  }
}

FRAZIL_FIGURE(runtime_load) {
  auto executor = *runtime::Executor::Create(OptionsOf("cpu", false));
  const ir::Program program = *runtime::builders::ElementwiseScalar(ir::Op::Mul, ir::types::F32);
  CHECK(executor->Load(program).has_value());
#ifdef FRAZIL_BEFORE
  const auto times = InterleaveCpu(
      {[&] { Keep(executor->Load(program)); }, [&] { Keep(executor->Load(program)); }}, Rounds,
      Span);
#else
  const runtime::Source source(program);
  const auto times =
      InterleaveCpu({[&] { Keep(executor->Load(source)); }, [&] { Keep(executor->Load(program)); }},
                    Rounds, Span);
#endif
  Report({"runtime",
          fmt::format("Executor::Load of a source that it has (median {:.1f})",
                      times[0].median_s * 1e9),
          times[0].min_s * 1e9, "ns", "of a program, which is digested", times[1].min_s * 1e9,
          "<= 30", times[0].min_s <= 30e-9});
}

FRAZIL_FIGURE(runtime_launch) {
  Floats a(Count), b(Count), c(Count);
  const std::span<const float> x = In(a), y = In(b);
  const std::span<float> z = Out(c);
  const ir::Program program = *runtime::builders::ElementwiseBinary(ir::Op::Add, ir::types::F32);
  const auto loop = [&] {
    for (size_t i = 0; i < Count; ++i) c.data()[i] = a.data()[i] + b.data()[i];
    Keep(c.data());
  };
  struct Way {
    const char* name;
    const char* backend;
    bool compile;
  };
  for (const Way& way : {Way{"cpu, compiled", "cpu", true}, Way{"cpu, on tiles", "cpu", false},
                         Way{"isa", "isa", false}}) {
    auto executor = *runtime::Executor::Create(OptionsOf(way.backend, way.compile));
    const auto kernel = *executor->Load(program);
    const auto launch = [&] {
      CHECK(executor->Launch(*kernel, {}, {x, y, z, uint32_t{Count}}).has_value());
    };
    // Until a worker has compiled, verified and tuned it.
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
    while (way.compile && std::chrono::steady_clock::now() < end) {
      for (int i = 0; i < 10'000; ++i) launch();
      std::this_thread::yield();
    }
    const auto times = InterleaveCpu({launch, loop}, Rounds, Span);
    const bool is_judged = way.compile;
    Report({"runtime",
            fmt::format("Launch of 64 elements, {} (median {:.1f})", way.name,
                        times[0].median_s * 1e9),
            times[0].min_s * 1e9, "ns", "the plain loop", times[1].min_s * 1e9,
            is_judged ? "<= 100" : "told, not judged",
            is_judged ? std::optional(times[0].min_s <= 100e-9) : std::nullopt,
            is_judged ? "" : "the interpreter's own figures stand elsewhere"});
  }
}

FRAZIL_FIGURE(runtime_create) {
  const runtime::ExecutorOptions options = OptionsOf("cpu", true);
  const auto first = *runtime::Executor::Create(options);
  CHECK(first->Load(*runtime::builders::ElementwiseUnary(ir::Op::Neg, ir::types::F32)).has_value());
  const runtime::ExecutorOptions other = OptionsOf("cpu", false);
  const auto times = InterleaveCpu({[&] { Keep(runtime::Executor::Create(options)); },
                                    [&] { Keep(runtime::Executor::Create(other)); }},
                                   Rounds, Span);
  Report({"runtime",
          fmt::format("Executor::Create after the first (median {:.0f})", times[0].median_s * 1e9),
          times[0].min_s * 1e9, "ns", "with options that no living one has", times[1].min_s * 1e9,
          "<= 1000", times[0].min_s <= 1e-6});
}

}  // namespace frazil::bench
