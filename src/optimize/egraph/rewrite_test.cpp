// The search over terms: what it finds, where it stops, and that it changes nothing.
#include "optimize/egraph/rewrite.h"

#include <gtest/gtest.h>

#include <chrono>

#include "generator/generator.h"
#include "ir/text/test_ops.h"
#include "optimize/dead.h"
#include "optimize/simplify.h"
#include "optimize/test_same.h"

namespace frazil::optimize {
namespace {

const RuleSet& AllRules() {
  static const RuleSet set = RuleSet::Unproved();
  return set;
}

struct Rewritten {
  ir::Program program;
  ir::Certificate certificate;
  StopReason stop;
};
Rewritten RewriteAll(const ir::Program& source, const Limits& limits = {}) {
  Unit unit = MakeUnit(source);
  Proof proof;
  Result<RewriteResult> result = Rewrite(unit, proof, AllRules(), limits);
  EXPECT_TRUE(result);
  EXPECT_TRUE(RemoveDead(unit));
  return {std::move(unit.program), proof.Take(), result ? result->stop : StopReason::NothingToDo};
}

size_t Count(const ir::Program& program, ir::Op op) {
  size_t count = 0;
  for (const ir::Inst& inst : program.entry_function().insts) count += inst.op == op ? 1 : 0;
  return count;
}

TEST(Rewrite, FindsTheCheaperTerm) {
  ir::Program source =
      Parse("frz 1\n" + ir::OpsFunction("i32", "a b c",
                                        "p = mul a b; q = mul a c; s = add p q; z = const 0; "
                                        "t = add z s; u = sub t b; v = add u b"));
  Rewritten rewritten = RewriteAll(source);
  EXPECT_EQ(Count(rewritten.program, ir::Op::Mul), 1u) << ir::PrintText(rewritten.program);
  EXPECT_EQ(Count(rewritten.program, ir::Op::Add), 1u);
  EXPECT_EQ(Count(rewritten.program, ir::Op::Sub), 0u);
  EXPECT_EQ(Compare(source, rewritten.program, 1, 10), "");
  EXPECT_FALSE(rewritten.certificate.equalities.empty());
  EXPECT_LE(rewritten.certificate.equalities.size(), 8u) << "only what the result rests on";
}

TEST(Rewrite, InvariantPartsComeTogether) {
  ir::Program source = Parse(R"(frz 1
func @main(%a: i64, %b: i64, %n: i64) -> (i64) {
  %zero = const 0 : i64
  %seven = const 7 : i64
  %m = and %n, %seven : i64
  %r = for %i = %zero to %m step 1 carry (%x = %zero) {
)" + ir::OpLines("i64", "s = add i a; t = add s b; y = xor x t") +
                             R"(
    yield %y
  }
  return %r
}
)");
  Rewritten rewritten = RewriteAll(source);
  const ir::Function& f = rewritten.program.entry_function();
  for (const ir::Inst& inst : f.insts)
    if (inst.op == ir::Op::For) {
      EXPECT_LE(f.region(ir::Function::region_of(inst, 0)).insts.size(), 4u)
          << ir::PrintText(rewritten.program);
    }
  EXPECT_EQ(Compare(source, rewritten.program, 1, 4), "");
}

// A long sum of products: every order of it is a term.
ir::Program Bomb(int length) {
  ir::Program program;
  std::vector<ir::Type> params(static_cast<size_t>(length), ir::types::I64);
  ir::FunctionBuilder b(program, "main", params, {ir::types::I64});
  ir::ValueId sum = b.Param(0);
  for (int i = 1; i < length; ++i)
    sum = b.Binary(i % 5 == 0 ? ir::Op::Mul : ir::Op::Add, sum, b.Param(static_cast<uint32_t>(i)));
  b.Return({sum});
  b.Finish();
  return program;
}

TEST(Rewrite, ABombStopsByANamedLimit) {
  ir::Program bomb = Bomb(300);
  auto start = std::chrono::steady_clock::now();
  Rewritten rewritten = RewriteAll(bomb);
  double ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  EXPECT_TRUE(rewritten.stop == StopReason::NodeLimit || rewritten.stop == StopReason::TimeLimit)
      << StopReasonName(rewritten.stop);
  EXPECT_LT(ms, 3000) << "the limits are 50 ms and 20,000 nodes; the rest is for slow machines";
  EXPECT_EQ(Compare(bomb, rewritten.program, 1, 2), "");
}

TEST(Rewrite, EveryLimitHasItsName) {
  ir::Program bomb = Bomb(60);
  Limits limits;
  limits.egraph_ms = 10'000;
  limits.egraph_nodes = 2000;
  EXPECT_EQ(RewriteAll(bomb, limits).stop, StopReason::NodeLimit);
  limits.egraph_nodes = 1'000'000;
  limits.egraph_rounds = 1;
  EXPECT_EQ(RewriteAll(bomb, limits).stop, StopReason::IterationLimit);
  limits.egraph_rounds = 1000;
  limits.egraph_ms = 0;
  EXPECT_EQ(RewriteAll(bomb, limits).stop, StopReason::TimeLimit);
  EXPECT_EQ(RewriteAll(Bomb(1)).stop, StopReason::NothingToDo);
  ir::Program small = Parse(R"(frz 1
func @main(%a: i8) -> (i8) {
  %z = const 0 : i8
  %r = or %a, %z : i8
  return %r
}
)");
  EXPECT_EQ(RewriteAll(small).stop, StopReason::Saturated);
}

// Random programs with every rule at every type of its row: wrong rules would show here as well.
TEST(Rewrite, ChangesNoOutcome) {
  Limits limits;
  limits.egraph_nodes = 3000;
  limits.egraph_rounds = 4;
  int changed = 0;
  const char* wanted = std::getenv("FRAZIL_PROGRAMS");
  const uint64_t programs = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 400;
  for (uint64_t seed = 0; seed < programs; ++seed) {
    generator::GeneratorOptions options;
    options.seed = seed;
    options.size = 10 + static_cast<uint32_t>(seed % 24);
    options.allow_tensors = seed % 8 == 0;
    if (seed % 2 == 0) options.types = ir::sets::Fixed;
    ir::Program source = generator::Generate(options);
    Rewritten rewritten = RewriteAll(source, limits);
    changed += rewritten.certificate.equalities.empty() ? 0 : 1;
    ASSERT_EQ(Compare(source, rewritten.program, seed, 2), "");
  }
  EXPECT_GT(changed, 50);
}

}  // namespace
}  // namespace frazil::optimize
