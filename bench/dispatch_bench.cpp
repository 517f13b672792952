// A warm call through a slot against a plain indirect call of the same code with the same arguments: three buffers, two
// scalars, four guard atoms. Alone, with a second thread on the same slot, and while the slot is replaced 1,000 times a
// second. Batches of 64 calls of either kind take turns; a figure is of the batches' times per call.
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "harness.h"
#include "subjects.h"

namespace {
thread_local uint64_t allocations = 0;
}

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define FRAZIL_UNDER_SANITIZER 1
#endif
#endif
#ifndef FRAZIL_UNDER_SANITIZER  // which has its own
// One more instruction for every allocation of every benchmark; what they compare has it alike.
void* operator new(size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
#endif

namespace frazil::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int CallsPerBatch = 64;
constexpr int Batches = 500'000;

class Nobody final : public dispatch::Fluid, public dispatch::Watcher {
 public:
  int32_t Call(const uint64_t*, uint64_t*, exec::NativeRun*) override {
    fluid_calls.fetch_add(1);
    return 0;
  }
  void Observe(const uint64_t*, const dispatch::Observation&) override {}
  std::atomic<uint64_t> fluid_calls{0};
};

struct Bed {
  Bed()
      : program(ir::SignedProgram::Of(*ir::ParseText(SmallCall::Text))),
        form(SmallCall::MakeForm(program->program())),
        slot(*program, nobody, nobody) {
    slot.SetCountdown(INT32_MAX);  // the hot path alone
    Replace();
    plain = *exec::NativeCode::Map(*exec::ParseImage(form->payload));
  }
  void Replace() {
    Result<std::shared_ptr<const dispatch::Solid>> solid = dispatch::Solid::Make(form, *program);
    CHECK(solid && slot.Install(*solid));
    // One form at a time: what was there before is gone, and freed when nobody is inside.
    const auto forms = slot.forms();
    for (size_t i = 1; i < forms.size(); ++i) slot.Retire(*forms[i]);
  }

  std::shared_ptr<const ir::SignedProgram> program;
  verify::Verified<exec::CompiledForm> form;
  Nobody nobody;
  dispatch::Slot slot;
  std::shared_ptr<const exec::NativeCode> plain;
};

struct Measured {
  std::vector<double> slot_ns, plain_ns;  // per call, one for each batch
  uint64_t allocations = 0, waits = 0;
};

double At(std::vector<double>& values, double share) {
  auto at =
      values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

template <typename Call>
double TimeBatch(const Call& call) {
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < CallsPerBatch; ++i) call();
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / CallsPerBatch;
}

// Times that this thread gave up the processor by itself: a lock that is held by another makes one.
uint64_t Waits() {
  rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return static_cast<uint64_t>(usage.ru_nvcsw);
}

Measured Measure(Bed& bed) {
  SmallCall call;
  const auto& arguments = call.arguments;
  uint64_t result = 0;
  // The compiler must not know what it calls, or it is no indirect call.
  exec::NativeEntry entry = bed.plain->entry();
  asm volatile("" : "+r"(entry));
  auto through_slot = [&] { CHECK(bed.slot.Call(arguments, &result) == 0); };
  auto plain = [&] { CHECK(entry(arguments, &result, nullptr) == 0); };
  for (int i = 0; i < 100; ++i) TimeBatch(through_slot), TimeBatch(plain);

  Measured measured;
  measured.slot_ns.resize(Batches);
  measured.plain_ns.resize(Batches);
  const uint64_t allocations_before = allocations, waits_before = Waits();
  for (int i = 0; i < Batches; ++i) {
    measured.slot_ns[static_cast<size_t>(i)] = TimeBatch(through_slot);
    measured.plain_ns[static_cast<size_t>(i)] = TimeBatch(plain);
  }
  measured.allocations = allocations - allocations_before;
  measured.waits = Waits() - waits_before;
  CHECK(result == 7);
  return measured;
}

void ReportCase(const std::string& name, Measured& measured) {
  const double plain = At(measured.plain_ns, 0.5);
  const double median = At(measured.slot_ns, 0.5) - plain, p99 = At(measured.slot_ns, 0.99) - plain;
  Report({.area = "dispatch",
          .figure = name + ", median",
          .ours = median,
          .unit = "ns over peer",
          .peer = "plain indirect call",
          .peer_value = plain,
          .goal = "<= 5 ns",
          .met = median <= 5});
  Report({.area = "dispatch",
          .figure = name + ", p99",
          .ours = p99,
          .unit = "ns over peer",
          .peer = "plain indirect call",
          .peer_value = plain,
          .goal = "<= 10 ns",
          .met = p99 <= 10});
  const double bad = static_cast<double>(measured.allocations + measured.waits);
  Report({.area = "dispatch",
          .figure = name + ", allocations and waits",
          .ours = bad,
          .unit = "",
          .goal = "0",
          .met = bad == 0});
}

void RunCase(const std::string& name, int threads, bool replaced) {
  Bed bed;
  std::atomic<bool> stop{false};
  std::atomic<int> ready{0};
  std::vector<Measured> measured(static_cast<size_t>(threads));
  std::vector<std::thread> others;
  uint64_t replacements = 0;
  if (replaced) {
    others.emplace_back([&] {
      auto next = Clock::now();
      while (!stop.load()) {
        bed.Replace();
        ++replacements;
        std::this_thread::sleep_until(next += std::chrono::milliseconds(1));
      }
    });
  }
  std::vector<std::thread> callers;
  for (Measured& mine : measured) {
    callers.emplace_back([&] {
      ++ready;
      while (ready < threads) std::this_thread::yield();
      mine = Measure(bed);
    });
  }
  for (std::thread& caller : callers) caller.join();
  stop = true;
  for (std::thread& other : others) other.join();
  CHECK(bed.nobody.fluid_calls == 0);
  CHECK(!replaced || replacements > 0);
  Measured all = std::move(measured[0]);
  for (size_t i = 1; i < measured.size(); ++i) {
    all.slot_ns.insert(all.slot_ns.end(), measured[i].slot_ns.begin(), measured[i].slot_ns.end());
    all.plain_ns.insert(all.plain_ns.end(), measured[i].plain_ns.begin(),
                        measured[i].plain_ns.end());
    all.allocations += measured[i].allocations;
    all.waits += measured[i].waits;
  }
  ReportCase(name, all);
}

}  // namespace

FRAZIL_FIGURE(dispatch) {
  RunCase("warm call, 1 thread", 1, false);
  RunCase("warm call, 2 threads on one slot", 2, false);
  RunCase("warm call, 1 thread, replaced 1,000 times/s", 1, true);
  RunCase("warm call, 2 threads, replaced 1,000 times/s", 2, true);
}

}  // namespace frazil::bench
