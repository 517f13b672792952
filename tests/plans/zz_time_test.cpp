#include <ctime>
#include "engine/calls.h"
#include "ir/digest.h"
#include "optimize/calls/cut.h"
#include "optimize/fusion/fusion.h"
#include "programs.h"
#include "verify/plans/plans.h"
namespace frazil::plans_test {
namespace {
double Cpu() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}
template <class F>
void Time(const char* what, F f) {
  double best = 1e9;
  for (int i = 0; i < 20; ++i) {
    double s = Cpu();
    f();
    best = std::min(best, Cpu() - s);
  }
  std::printf("%s %.3f ms\n", what, best);
}
TEST(Time, Parts) {
  auto old = verify::RegisterObserver({});
  for (int layers : {3, 16}) {
    std::vector<int> w(layers + 1, 64);
    const ir::Program p = Parse(Mlp(64, w));
    std::printf("layers %d, ops %zu\n", layers,
                p.entry_function().region(p.entry_function().body).insts.size());
    Time("fuse", [&] { auto c = optimize::FusedCandidate(p); });
    auto fused = *optimize::FusedCandidate(p);
    Time("canonical", [&] { auto c = ir::Canonicalize(p); });
    Time("canonical fused", [&] { auto c = ir::Canonicalize(fused->program); });
    Time("exact fused", [&] { auto c = ir::ExactDigest(fused->program); });
    Time("cut+fuse", [&] { auto c = optimize::CutIntoCalls(p); });
    Time("cut", [&] { auto c = optimize::CutIntoCalls(p, false); });
    auto c = *optimize::CutIntoCalls(p);
    std::printf("steps %zu forms %zu\n", c.plan.steps.size(), c.plan.forms.size());
    Time("verify plan", [&] { auto v = verify::VerifyPlan(c.program, c.plan); });
    ir::Candidate cand{c.program, {}, {}, "calls"};
    Time("verify meaning", [&] { auto v = verify::Verify(p, cand); });
    auto v = verify::Verify(p, cand);
    std::printf("%s\n", verify::Describe(*v).c_str());
    Time("parse", [&] { auto v = ir::ParseText(ir::PrintText(c.program)); });
    Time("plan bytes", [&] { auto v = exec::ParsePlan(exec::SerializePlan(c.plan)); });
  }
  verify::RegisterObserver(old);
}
}  // namespace
}  // namespace frazil::plans_test
#include "targets/native/native.h"
#include "exec/native/native_code.h"
#include <cstdio>
namespace frazil::plans_test { namespace {
TEST(Time, Matmul) {
  auto old = verify::RegisterObserver({});
  const char* text = R"(frz 1
func @main(%0: index, %1: index, %2: index, %3: tensor<f32, [%0, %1]>, %4: tensor<f32, [%1, %2]>) -> (tensor<f32, [%0, %2]>) {
  %5 = matmul %3, %4 : tensor<f32, [%0, %2]>
  return %5
}
)";
  auto native = targets::native::MakeNativeTarget();
  for (bool tuned : {false, true}) {
    exec::EmitOptions o; o.style = tuned ? exec::CodeStyle::Tuned : exec::CodeStyle::Quick; o.level = exec::HostLevel();
    auto a = *native->Emit(Parse(text), o);
    auto image = *exec::ParseImage(a.bytes);
    FILE* f = std::fopen(tuned ? "/tmp/mm_tuned.bin" : "/tmp/mm_quick.bin", "wb"); std::fwrite(image.code.data(), 1, image.code.size(), f); std::fclose(f);
    std::printf("entry %u size %zu\n", image.entry_offset, image.code.size());
    engine::WorkRequest r; r.program = text; r.policy = verify::Policy::Default(Parse(text)); r.tuned = tuned; r.timeout_ms = 30000;
    auto reply = engine::ImproveHere(r, *native);
    std::printf("tuned %d\n%s\n compile %.0f verify %.0f price %.0f\n", tuned, reply->log().c_str(), reply->compile_ms, reply->verify_ms, reply->price_ms);
  }
  verify::RegisterObserver(old);
}
}}
