// What the analysis says of loops, without any code being made.
#include "targets/native/vectors/loop_plan.h"

#include <gtest/gtest.h>

#include "ir/text/test_text.h"
#include "ir/text/text.h"

namespace frazil::targets::native {
namespace {

// The plan of the first loop of the entry function, with every op allowed.
LoopPlan Plan(const std::string& parameters, const std::string& body,
              const std::string& head = "parallel %i = %zero to %n", bool metered = false) {
  const std::string text =
      "frz 1\nfunc @other(%v: f32) -> (f32) {\n  return %v\n}\nfunc @main(" + parameters +
      ") {\n  %zero = const 0 : index\n  %one = const 1 : index\n  %two = const 2 : index\n  " +
      head + " {\n" + body + "    yield\n  }\n  return\n}\n";
  Result<ir::Program> program = ir::ParseText(text);
  EXPECT_TRUE(program.has_value()) << program.error().ToString() << text;
  if (!program) return {};
  const ProgramFacts facts = FindFacts(*program, metered);
  const PlanQuestion question{*program, facts, program->entry, metered,
                              [](ir::Op, ir::Type, ir::Type) { return true; }};
  const ir::Function& main = program->entry_function();
  for (ir::InstId id : main.region(main.body).insts)
    if (main.inst(id).op == ir::Op::Parallel || main.inst(id).op == ir::Op::For)
      return PlanLoop(question, main.inst(id));
  ADD_FAILURE() << "no loop";
  return {};
}

constexpr const char* TwoBuffers = "%n: index, %c: index, %x: in buffer<f32>, %z: buffer<f32>";

TEST(LoopPlan, NeighborsAndUniformElements) {
  const LoopPlan plan = Plan(TwoBuffers, ir::ShiftedLanes("mul", "%x, %c"));
  EXPECT_EQ(plan.refusal, "");
  ASSERT_EQ(plan.accesses.size(), 3u);
  EXPECT_EQ(plan.accesses[0].shape, LoopAccess::Shape::Unit);
  EXPECT_TRUE(plan.accesses[0].hoisted);
  EXPECT_EQ(plan.accesses[1].shape, LoopAccess::Shape::Uniform);
  EXPECT_TRUE(plan.accesses[1].hoisted);
  EXPECT_TRUE(plan.accesses[2].is_store);
  EXPECT_EQ(plan.disjoint.size(), 1u);
  EXPECT_EQ(plan.element_bytes, 4u);
}

TEST(LoopPlan, TheSameIndexNeedsNoTest) {
  EXPECT_TRUE(Plan(TwoBuffers, "    %a = load %x, %i : f32\n    store %z, %i, %a : f32\n")
                  .disjoint.empty());
  // Read after it was written: identical buffers would have to be seen.
  const LoopPlan after = Plan(TwoBuffers,
                              "    %a = load %x, %c : f32\n    store %z, %i, %a : f32\n    %b = "
                              "load %x, %i : f32\n    store %z, %i, %b : f32\n");
  EXPECT_EQ(after.refusal, "");
  EXPECT_FALSE(after.disjoint.empty());
}

TEST(LoopPlan, DifferentSumsAreOneIndex) {
  const LoopPlan plan = Plan(TwoBuffers, R"(    %j = add %i, %c : index
    %k = mul %c, %two : index
    %l = add %k, %i : index
    %m = sub %l, %c : index
    %a = load %z, %j : f32
    store %z, %m, %a : f32
)");
  EXPECT_EQ(plan.refusal, "");
}

TEST(LoopPlan, MeetingsAreAskedBeforeTheLoop) {
  const LoopPlan ahead = Plan(TwoBuffers,
                              "    %j = add %i, %c : index\n    %a = load %z, %j : f32\n    store "
                              "%z, %i, %a : f32\n");
  EXPECT_EQ(ahead.refusal, "");
  ASSERT_EQ(ahead.meetings.size(), 1u);
  EXPECT_FALSE(ahead.meetings[0].is_later);
  const LoopPlan one = Plan(TwoBuffers,
                            "    %b = load %x, %i : f32\n    store %z, %i, %b : f32\n    %a = load "
                            "%z, %c : f32\n    store %z, %i, %a : f32\n");
  EXPECT_EQ(one.refusal, "");
  ASSERT_EQ(one.meetings.size(), 2u);
  EXPECT_TRUE(one.meetings[0].is_later);
  EXPECT_FALSE(one.meetings[1].is_later);
}

TEST(LoopPlan, Refusals) {
  auto refusal = [](const std::string& body,
                    const std::string& head = "parallel %i = %zero to %n") {
    return Plan(TwoBuffers, body, head).refusal;
  };
  EXPECT_EQ(refusal("    %j = sub %i, %one : index\n    %a = load %z, %j : f32\n    store %z, %i, "
                    "%a : f32\n"),
            "iterations meet in a buffer");
  // Two that write: nobody asks how far apart they are.
  EXPECT_EQ(refusal("    %j = add %i, %c : index\n    %a = load %x, %i : f32\n    store %z, %j, %a "
                    ": f32\n    store %z, %i, %a : f32\n"),
            "iterations meet in a buffer");
  EXPECT_EQ(refusal("    %j = mul %i, %two : index\n    %a = load %x, %i : f32\n    store %z, %j, "
                    "%a : f32\n"),
            "it stores elsewhere than side by side");
  EXPECT_EQ(
      refusal("    %a = load %x, %i : f32\n    %b = call @other(%a)\n    store %z, %i, %b : f32\n"),
      "it calls @other");
  EXPECT_EQ(refusal("    output %i : index\n"), "output has no form in lanes");
  EXPECT_EQ(refusal("    %a = load %x, %i : f32\n    store %z, %i, %a : f32\n",
                    "for %i = %zero to %n step 2"),
            "its step is not 1");
  EXPECT_EQ(refusal("    for %k = %zero to %i step 1 {\n      %a = load %x, %k : f32\n      store "
                    "%z, %i, %a : f32\n      yield\n    }\n"),
            "a loop inside stores");
  EXPECT_EQ(refusal("    for %k = %zero to %n step 1 {\n      %a = load %x, %k : f32\n      store "
                    "%z, %i, %a : f32\n      yield\n    }\n"),
            "a loop inside stores");
}

TEST(LoopPlan, FuelOfLoopsInside) {
  const std::string body = R"(    %r = for %k = %zero to %n step 1 carry (%acc = %c) {
      %next = add %acc, %k : index
      yield %next
    }
    %f = cast %r : f32
    store %z, %i, %f : f32
)";
  EXPECT_EQ(Plan(TwoBuffers, body).refusal, "");
  EXPECT_EQ(Plan(TwoBuffers, body, "parallel %i = %zero to %n", true).refusal,
            "a loop inside counts its fuel");
}

TEST(IndexForm, IsARing) {
  const IndexForm x = IndexForm::Of(ir::ValueId(3));
  const IndexForm y = IndexForm::Of(ir::ValueId(5));
  const IndexForm one = IndexForm::Constant(1);
  EXPECT_EQ((x + y) * (x - y), x * x - y * y);
  EXPECT_EQ((x - x).constant(), 0);
  EXPECT_EQ((x + one - x).constant(), 1);
  EXPECT_EQ((x * y + x).Coefficient(ir::ValueId(3)), y + one);
  EXPECT_FALSE((x * x).Coefficient(ir::ValueId(3)).has_value());
  EXPECT_EQ((x * y + y).Without(ir::ValueId(3)), y);
  // 2^63 + 2^63 wraps to nothing.
  const IndexForm half = x * IndexForm::Constant(uint64_t{1} << 63);
  EXPECT_EQ((half + half).constant(), 0);
}

}  // namespace
}  // namespace frazil::targets::native
