// The hot path of a slot with a guard of four atoms against a plain indirect call of the same code, in turns.
#include <algorithm>

#include "base/check.h"
#include "dispatch/slot.h"
#include "guard.h"
#include "ir/digest.h"
#include "ir/text.h"
#include "verify/verify.h"

namespace frazil::guard {
namespace {

constexpr char Text[] = R"(frz 1
func @main(%x: in buffer<f32>, %y: in buffer<f32>, %z: out buffer<f32>, %a: f32, %n: i64) -> (i64) {
  return %n
}
)";
constexpr char Guard[] =
    "len(arg0) % 8 == 0 && align(arg0) >= 32 && disjoint(arg0, arg2) && 1 <= arg4 <= 1000000";
// mov rax, [rdi + 56]; mov [rsi], rax; xor eax, eax; ret
constexpr char Code[] = "\x48\x8b\x47\x38\x48\x89\x06\x31\xc0\xc3";
constexpr int Epochs = 50;
constexpr int Calls = 4000;

class Nobody final : public dispatch::Fluid, public dispatch::Watcher {
 public:
  int32_t Call(const uint64_t*, uint64_t*, exec::NativeRun*) override { return -1; }
  void Observe(const uint64_t*, const dispatch::Observation&) override {}
};

verify::Verified<exec::CompiledForm> MakeForm(const ir::Program& program) {
  ir::Candidate candidate{program, *ir::ParseGuard(Guard, program), {}, "guard"};
  exec::CompiledForm form;
  form.source_exact = form.candidate_exact = ir::ExactDigest(program);
  form.guard = ir::PrintGuard(candidate.guard);
  form.candidate = ir::PrintText(ir::Canonicalize(program));
  form.target = "native";
  form.toolchain = "by hand";
  form.image.uses_run = false;
  form.image.code.assign(Code, sizeof Code - 1);
  Result<verify::Examined> examined =
      verify::Examine(program, candidate, form, verify::Policy::Default(program));
  CHECK(examined && examined->form);
  return *examined->form;
}

template <typename Call>
void TakeLeast(double& least, const Call& call) {
  const double start = ThreadSeconds();
  for (int i = 0; i < Calls; ++i) CHECK(call() == 0);
  least = std::min(least, ThreadSeconds() - start);
}

}  // namespace

double DispatchOverhead() {
  const ir::Program program = *ir::ParseText(Text);
  const auto form = MakeForm(program);
  Nobody nobody;
  dispatch::Slot slot(program, nobody, nobody);
  slot.SetCountdown(INT32_MAX);
  CHECK(slot.Install(*dispatch::Solid::Make(form, program)));
  const auto plain = *exec::NativeCode::Map(form->image);
  exec::NativeEntry entry = plain->entry();
  // The compiler must not know what it calls.
  asm volatile("" : "+r"(entry));
  alignas(64) static float memory[3][64];
  uint64_t arguments[] = {reinterpret_cast<uint64_t>(memory[0]),
                          64,
                          reinterpret_cast<uint64_t>(memory[1]),
                          64,
                          reinterpret_cast<uint64_t>(memory[2]),
                          64,
                          0x3f800000,
                          7};
  uint64_t result = 0;
  double through_slot = 1e9, direct = 1e9;
  for (int epoch = 0; epoch < Epochs; ++epoch) {
    TakeLeast(through_slot, [&] { return slot.Call(arguments, &result); });
    TakeLeast(direct, [&] { return entry(arguments, &result, nullptr); });
  }
  CHECK(result == 7);
  return (through_slot - direct) / direct;
}

}  // namespace frazil::guard
