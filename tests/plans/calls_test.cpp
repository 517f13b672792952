// From a program to a plan that answers as the interpreter does, with forms that are made once.
#include <gmock/gmock.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "engine/calls.h"
#include "exec/meaning/interpreter.h"
#include "exec/native/native_toolchain.h"
#include "exec/plan/plan_code.h"
#include "exec/random_arguments.h"
#include "graphs.h"
#include "ir/digest.h"
#include "optimize/calls/cut.h"
#include "programs.h"
#include "targets/native/native.h"
#include "verify/audit.h"
#include "verify/plans/plans.h"

namespace frazil::plans_test {
namespace {

using engine::FormBook;
using testing::HasSubstr;

// The improve loop in this process, and how often it was asked.
int asked = 0;
FormBook::Work Compiler() {
  return [](const engine::WorkRequest& request) {
    ++asked;
    return engine::ImproveHere(request, *targets::native::MakeNativeTarget());
  };
}

// Compiling and judging takes a second a form: all tests share them.
store::Store& SharedStore() {
  static const auto store = [] {
    const std::string folder = testing::TempDir() + "/frazil_plans_store";
    std::filesystem::remove_all(folder);
    store::StoreOptions options;
    options.directory = folder;
    options.sync = false;
    return store::Store::Open(options);
  }();
  return *store;
}

void ExpectAnswers(const engine::CallsForm& calls, const ir::Program& program) {
  const auto code = dispatch::LinkCalls(calls.form, calls.parts, *ir::SignedProgram::Of(program));
  ASSERT_TRUE(code) << code.error().message;
  const auto shared = std::make_shared<const ir::Program>(program);
  const auto callable = exec::MakePlanCallable(*code, shared);
  ASSERT_TRUE(callable);
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const auto expected = exec::Interpret(program, exec::RandomArguments(program, seed));
    const auto found = (*callable)->Run(exec::RandomArguments(program, seed), {});
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->trap, expected->trap) << seed;
    EXPECT_EQ(found->results, expected->results) << seed;
  }
}

TEST(Calls, AnMlpIsAdmittedAndItsFormsServeOthers) {
  FormBook book(&SharedStore(), exec::NativeToolchain(), Compiler());
  const int before = asked;
  for (const ir::Program& program : {Parse(Mlp(8, {16, 24, 8, 8})), Parse(Mlp(5, {32, 9, 33, 17})),
                                     Parse(Mlp(64, {64, 64, 64}))}) {
    const auto source = ir::SignedProgram::Of(program);
    const auto calls = engine::MakeCalls(*source, book);
    ASSERT_TRUE(calls) << calls.error().message;
    EXPECT_EQ(calls->form->target, "calls");
    EXPECT_EQ(calls->form.evidence().meaning.grade, verify::Grade::Proved);
    EXPECT_EQ(calls->form.evidence().lowering.grade, verify::Grade::Sampled)
        << "no better than its forms";
    EXPECT_THAT(calls->form.evidence().lowering.detail, HasSubstr("3 forms; the weakest form: "));
    EXPECT_FALSE(calls->is_stored);
    EXPECT_EQ(asked, before + 3) << "forms are made once";
    ExpectAnswers(*calls, program);
  }
}

TEST(Calls, AnotherProcessFindsPlanAndFormsInTheStore) {
  const ir::Program program = Parse(Mlp(8, {16, 24, 8, 8}));
  const auto source = ir::SignedProgram::Of(program);
  FormBook first(&SharedStore(), exec::NativeToolchain(), Compiler());
  ASSERT_TRUE(engine::MakeCalls(*source, first));
  // Nobody there makes anything.
  FormBook second(&SharedStore(), exec::NativeToolchain(), {});
  const auto calls = engine::MakeCalls(*source, second);
  ASSERT_TRUE(calls) << calls.error().message;
  EXPECT_TRUE(calls->is_stored);
  EXPECT_EQ(second.counts().stored, 3u);
  EXPECT_EQ(second.counts().made, 0u);
  ExpectAnswers(*calls, program);
  // Another region of the same forms is cut and proved, and nothing is compiled.
  const ir::Program other = Parse(Mlp(3, {7, 5, 11, 13, 2}));
  const auto others = engine::MakeCalls(*ir::SignedProgram::Of(other), second);
  ASSERT_TRUE(others) << others.error().message;
  EXPECT_FALSE(others->is_stored);
  ExpectAnswers(*others, other);
}

// One term for each result would nest a hundred products.
TEST(Calls, DeepProgramsAreProvedStepByStep) {
  const ir::Program program = Parse(Mlp(3, std::vector<int>(101, 4)));
  FormBook book(&SharedStore(), exec::NativeToolchain(), Compiler());
  const auto calls = engine::MakeCalls(*ir::SignedProgram::Of(program), book);
  ASSERT_TRUE(calls) << calls.error().message;
  ExpectAnswers(*calls, program);
  const auto plan = exec::ParsePlan(calls->form->payload);
  ASSERT_TRUE(plan);
  EXPECT_GE(plan->steps.size(), 200u);
  EXPECT_LE(plan->arena_bytes, 128u) << "places are used again";
}

// FRAZIL_NATIVE_PLANS=30 for more of them: each takes seconds, for its forms.
TEST(Calls, RandomProgramsAnswerAsTheInterpreter) {
  const char* wanted = std::getenv("FRAZIL_NATIVE_PLANS");
  const uint64_t programs = wanted == nullptr ? 1 : std::strtoull(wanted, nullptr, 10);
  FormBook book(&SharedStore(), exec::NativeToolchain(), Compiler());
  uint64_t ran = 0;
  for (uint64_t seed = 100; seed < 100 + programs; ++seed) {
    const ir::Program program = RandomGraph(seed);
    const auto calls = engine::MakeCalls(*ir::SignedProgram::Of(program), book);
    if (!calls) {
      std::printf("seed %lu: %s\n", static_cast<unsigned long>(seed),
                  calls.error().message.c_str());
      continue;
    }
    ++ran;
    ExpectAnswers(*calls, program);
  }
  EXPECT_GE(ran * 2, programs);
}

TEST(Calls, ASealedPlanIsAuditedByProvingItAgain) {
  const ir::Program program = Parse(Mlp(8, {16, 24, 8, 8}));
  FormBook book(&SharedStore(), exec::NativeToolchain(), Compiler());
  const auto calls = engine::MakeCalls(*ir::SignedProgram::Of(program), book);
  ASSERT_TRUE(calls) << calls.error().message;
  const auto audited = verify::Audit(verify::Seal(calls->form, book.key()), program, {});
  ASSERT_TRUE(audited) << audited.error().message;
  EXPECT_EQ(audited->false_claim, "");
  EXPECT_EQ(verify::VerdictName(audited->lowering), "proved");
}

TEST(Calls, AFormThatNobodyMakesIsARefusal) {
  FormBook book(nullptr, "test", {});
  const auto calls = engine::MakeCalls(*ir::SignedProgram::Of(Parse(Mlp(4, {4, 4}))), book);
  ASSERT_FALSE(calls);
  EXPECT_THAT(calls.error().message, HasSubstr("nobody here makes any"));
}

TEST(Calls, ManyThreadsCallOnePlan) {
  const ir::Program program = Parse(Mlp(8, {16, 24, 8, 8}));
  FormBook book(&SharedStore(), exec::NativeToolchain(), Compiler());
  const auto calls = engine::MakeCalls(*ir::SignedProgram::Of(program), book);
  ASSERT_TRUE(calls) << calls.error().message;
  const auto code = dispatch::LinkCalls(calls->form, calls->parts, *ir::SignedProgram::Of(program));
  ASSERT_TRUE(code);
  const auto shared = std::make_shared<const ir::Program>(program);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (uint64_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const auto callable = exec::MakePlanCallable(*code, shared);
      const auto expected = exec::Interpret(program, exec::RandomArguments(program, t));
      for (int i = 0; i < 300; ++i) {
        const auto found = (*callable)->Run(exec::RandomArguments(program, t), {});
        if (!found || found->results != expected->results) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Calls, APlanIsOnlyLinkedToFormsOfItsPrograms) {
  FormBook book(&SharedStore(), exec::NativeToolchain(), Compiler());
  const ir::Program program = Parse(Mlp(8, {16, 24, 8, 8}));
  auto calls = engine::MakeCalls(*ir::SignedProgram::Of(program), book);
  ASSERT_TRUE(calls);
  calls->parts.pop_back();
  const auto code = dispatch::LinkCalls(calls->form, calls->parts, *ir::SignedProgram::Of(program));
  ASSERT_FALSE(code);
  EXPECT_THAT(code.error().message, HasSubstr("has no judged code"));
}

// Two forms that may trap: the order of the program is the order of the plan, or there is no proof.
const char* Quotients = R"(frz 1
func @main(%a: tensor<i32, [4]>, %b: tensor<i32, [4]>, %s: i32) -> (tensor<i32, [4]>, tensor<i32, [4]>) {
  %q = map (%x = %a, %y = %b) -> tensor<i32, [4]> {
    %z = div.trunc %x, %y : i32
    yield %z
  }
  %r = map (%x = %b, %y = %a) -> tensor<i32, [4]> {
    %z = div.trunc %x, %s : i32
    yield %z
  }
  return %q, %r
}
)";

TEST(Calls, TrapsComeInTheOrderOfTheProgram) {
  const auto cut = optimize::CutIntoCalls(Parse(Quotients), optimize::CutWay::Unfused);
  ASSERT_TRUE(cut) << cut.error().message;
  ASSERT_EQ(cut->plan.steps.size(), 2u);
  EXPECT_EQ(verify::VerdictName(verify::VerifyPlan(cut->program, cut->plan)), "proved");
  exec::Plan turned = cut->plan;
  std::swap(turned.steps[0], turned.steps[1]);
  const verify::Verdict verdict = verify::VerifyPlan(cut->program, turned);
  EXPECT_THAT(verify::Describe(verdict), HasSubstr("it may trap, after what comes behind"));
}

TEST(Calls, ScalarsBetweenStepsAndResultsTwice) {
  const ir::Program program = Parse(R"(frz 1
func @main(%a: tensor<f32, [6, 5]>, %s: f32) -> (tensor<f32, [6, 5]>, f32, tensor<f32, [6, 5]>, tensor<f32, [30]>, f32) {
  %i = const 2 : index
  %e = extract %a, %i, %i : f32
  %t = mul %e, %s : f32
  %m = map (%x = %a) -> tensor<f32, [6, 5]> {
    %y = mul %x, %t : f32
    yield %y
  }
  %f = reshape %m : tensor<f32, [30]>
  return %m, %t, %a, %f, %s
}
)");
  FormBook book(&SharedStore(), exec::NativeToolchain(), Compiler());
  const auto calls = engine::MakeCalls(*ir::SignedProgram::Of(program), book,
                                       std::array{optimize::CutWay::Unfused});
  ASSERT_TRUE(calls) << calls.error().message;
  ExpectAnswers(*calls, program);
}

TEST(Calls, APlanIsReadBackAsItWas) {
  const auto cut = optimize::CutIntoCalls(Parse(Mlp(4, {6, 5, 4})));
  ASSERT_TRUE(cut);
  const std::string bytes = exec::SerializePlan(cut->plan);
  const auto read = exec::ParsePlan(bytes);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->steps, cut->plan.steps);
  EXPECT_EQ(exec::SerializePlan(*read), bytes);
  for (size_t i = 0; i < read->forms.size(); ++i)
    EXPECT_EQ(read->forms[i].exact, cut->plan.forms[i].exact);
  for (size_t length = 0; length < bytes.size(); length += 7)
    EXPECT_FALSE(exec::ParsePlan(bytes.substr(0, length))) << length;
}

TEST(Calls, WhatCannotBeCutSaysWhy) {
  const auto symbolic = optimize::CutIntoCalls(Parse(R"(frz 1
func @main(%n: index, %a: tensor<f32, [%n]>) -> (tensor<f32, [%n]>) {
  %m = map (%x = %a) -> tensor<f32, [%n]> {
    %y = mul %x, %x : f32
    yield %y
  }
  return %m
}
)"));
  ASSERT_FALSE(symbolic);
  EXPECT_THAT(symbolic.error().message, HasSubstr("a size is not known before the call"));
}

TEST(Calls, LargeProgramsOnlyAreCutByThemselves) {
  EXPECT_TRUE(engine::WantsCalls(Parse(Mlp(64, {64, 64}))));
  EXPECT_FALSE(engine::WantsCalls(Parse(Mlp(8, {8, 8}))));
}

}  // namespace
}  // namespace frazil::plans_test
