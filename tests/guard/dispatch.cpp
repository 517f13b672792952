// The hot path of a slot with a guard of four atoms against a plain indirect call of the same code, in turns.
#include <algorithm>

#include "base/check.h"
#include "guard.h"
#include "subjects.h"

namespace frazil::guard {
namespace {

constexpr int Epochs = 50;
constexpr int Calls = 4000;

class Nobody final : public dispatch::Fluid, public dispatch::Watcher {
 public:
  int32_t Call(const uint64_t*, uint64_t*, exec::NativeRun*) override { return -1; }
  void Observe(const uint64_t*, const dispatch::Observation&) override {}
};

template <typename Call>
void TakeLeast(double& least, const Call& call) {
  const double start = ThreadSeconds();
  for (int i = 0; i < Calls; ++i) CHECK(call() == 0);
  least = std::min(least, ThreadSeconds() - start);
}

}  // namespace

double DispatchOverhead() {
  const auto program = ir::SignedProgram::Of(*ir::ParseText(bench::SmallCall::Text));
  const auto form = bench::SmallCall::MakeForm(program->program());
  Nobody nobody;
  dispatch::Slot slot(*program, nobody, nobody);
  slot.SetCountdown(INT32_MAX);
  CHECK(slot.Install(*dispatch::Solid::Make(form, *program)));
  const auto plain = *exec::NativeCode::Map(*exec::ParseImage(form->payload));
  exec::NativeEntry entry = plain->entry();
  // The compiler must not know what it calls.
  asm volatile("" : "+r"(entry));
  const bench::SmallCall call;
  uint64_t result = 0;
  double through_slot = 1e9, direct = 1e9;
  for (int epoch = 0; epoch < Epochs; ++epoch) {
    TakeLeast(through_slot, [&] { return slot.Call(call.arguments, &result); });
    TakeLeast(direct, [&] { return entry(call.arguments, &result, nullptr); });
  }
  CHECK(result == 7);
  return (through_slot - direct) / direct;
}

}  // namespace frazil::guard
