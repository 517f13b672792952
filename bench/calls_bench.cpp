// Plans of calls: from a program to something that can be called, with known forms; and what a step costs beside its form.
#include <fmt/format.h>

#include <ctime>
#include <optional>

#include "engine/calls.h"
#include "exec/call_words.h"
#include "exec/plan/plan_code.h"
#include "harness.h"
#include "ir/text/text.h"
#include "optimize/calls/cut.h"
#include "targets/native/native.h"

namespace frazil::bench {
namespace {

// Layers of a product, a bias and a relu, behind one another.
ir::Program Layers(int count, int rows, int width) {
  std::string head = fmt::format("%x0: tensor<f32, [{}, {}]>", rows, width), body;
  const std::string shape = fmt::format("tensor<f32, [{}, {}]>", rows, width);
  for (int i = 1; i <= count; ++i) {
    head += fmt::format(", %w{0}: tensor<f32, [{1}, {1}]>, %b{0}: tensor<f32, [{1}]>", i, width);
    body += fmt::format(
        "  %p{0} = matmul %x{1}, %w{0} : {2}\n  %c{0} = broadcast %b{0} {{axes = [1]}} : {2}\n"
        "  %x{0} = map (%v = %p{0}, %u = %c{0}) -> {2} {{\n    %s = add %v, %u : f32\n"
        "    %z = const 0.0 : f32\n    %r = maximum %s, %z : f32\n    yield %r\n  }}\n",
        i, i - 1, shape);
  }
  return *ir::ParseText(fmt::format("frz 1\nfunc @main({}) -> ({}) {{\n{}  return %x{}\n}}\n", head,
                                    shape, body, count));
}

double CpuMs() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
}

// Thread CPU time, the least of several runs.
double LeastMs(int runs, const std::function<void()>& run) {
  double least = 1e300;
  for (int i = 0; i < runs; ++i) {
    const double start = CpuMs();
    run();
    least = std::min(least, CpuMs() - start);
  }
  return least;
}

engine::FormBook& Book() {
  static engine::FormBook book(nullptr, "bench", [](const engine::WorkRequest& request) {
    return engine::ImproveHere(request, *targets::native::MakeNativeTarget());
  });
  return book;
}

// A call with memory of its own.
struct Call {
  explicit Call(const ir::Program& program) {
    const ir::Function& entry = program.entry_function();
    for (const exec::CallParam& param : exec::CallWords(entry).params) {
      uint64_t length = 1;
      for (const ir::Dim dim : entry.shape(param.type)) length *= static_cast<uint64_t>(dim.value);
      memory.push_back(std::vector<float>(length + 16, 0.01f));
      words.push_back((reinterpret_cast<uint64_t>(memory.back().data()) + 63) / 64 * 64);
      words.push_back(length);
    }
  }
  std::vector<std::vector<float>> memory;
  std::vector<uint64_t> words;
};

FRAZIL_FIGURE(calls_from_program) {
  const ir::Program program = Layers(32, 64, 64);
  const auto source = ir::SignedProgram::Of(program);
  const double first = LeastMs(1, [&] { Keep(engine::MakeCalls(*source, Book()).has_value()); });
  const double ms = LeastMs(20, [&] {
    const auto fresh = ir::SignedProgram::Of(program);
    const auto calls = engine::MakeCalls(*fresh, Book());
    Keep(dispatch::LinkCalls(calls->form, calls->parts, *fresh).has_value());
  });
  Report({"calls", "96 ops to a linked plan, forms known", ms, "ms", "with forms unknown", first,
          "<= 5 ms", ms <= 5});
}

// A plan, and its forms alone with their words laid out by hand in the same order.
struct Peers {
  double plan_ns = 0, forms_ns = 0;  // of a call
  double steps = 0;
};

std::optional<Peers> Compare(const ir::Program& program, int times) {
  const auto source = ir::SignedProgram::Of(program);
  const auto calls = engine::MakeCalls(*source, Book());
  if (!calls) return std::nullopt;
  const auto code = dispatch::LinkCalls(calls->form, calls->parts, *source);
  const auto plan = exec::ParsePlan(calls->form->payload);
  Call call(program);
  std::vector<std::vector<uint64_t>> words;
  std::vector<exec::NativeEntry> entries;
  std::vector<char> arena(plan->arena_bytes + 64);
  for (const exec::PlanStep& step : plan->steps) {
    entries.push_back(calls->parts[step.form].code()->entry());
    std::vector<uint64_t>& own = words.emplace_back();
    const auto place = [&](const exec::PlanPlace& it) {
      const uint64_t base = it.room == exec::PlanPlace::Room::Param ? call.words[2 * it.ordinal]
                            : it.room == exec::PlanPlace::Room::Result
                                ? call.words[call.words.size() - 2]
                                : (reinterpret_cast<uint64_t>(arena.data()) + 63) / 64 * 64;
      own.push_back(base + it.offset);
      own.push_back(it.bytes / sizeof(float));
    };
    for (const exec::PlanArgument& argument : step.arguments) {
      if (const auto* it = std::get_if<exec::PlanPlace>(&argument))
        place(*it);
      else
        own.push_back(std::get<exec::PlanScalar>(argument).words[0]);
    }
    for (const exec::PlanResult& result : step.results) place(result.place);
  }
  exec::NativeRun run;
  uint64_t results[1];
  double with = 1e300, without = 1e300;
  for (int round = 0; round < 25; ++round) {
    with = std::min(with, LeastMs(1, [&] {
                      for (int i = 0; i < times; ++i) (*code)->Call(call.words.data(), results);
                    }));
    without = std::min(without, LeastMs(1, [&] {
                         for (int i = 0; i < times; ++i)
                           for (size_t s = 0; s < entries.size(); ++s)
                             entries[s](words[s].data(), results, &run);
                       }));
  }
  return Peers{1e6 * with / times, 1e6 * without / times, static_cast<double>(plan->steps.size())};
}

FRAZIL_FIGURE(calls_per_step) {
  // So small that a form takes nothing.
  const auto peers = Compare(Layers(32, 2, 2), 2000);
  if (!peers) return;
  const double ns = (peers->plan_ns - peers->forms_ns) / peers->steps;
  Report({"calls", "a step beside its form", ns, "ns", "the form alone",
          peers->forms_ns / peers->steps, "<= 30 ns", ns <= 30});
}

FRAZIL_FIGURE(calls_layers) {
  for (const int width : {64, 256}) {
    const auto peers = Compare(Layers(3, 64, width), width == 64 ? 200 : 20);
    if (!peers) return;
    const double share = peers->plan_ns / peers->forms_ns;
    Report({"calls", fmt::format("3 layers of 64 x {}", width), 1e-3 * peers->plan_ns, "us",
            "its forms alone", 1e-3 * peers->forms_ns, "<= 1.03 of them", share <= 1.03});
  }
}

}  // namespace
}  // namespace frazil::bench
