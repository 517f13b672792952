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
