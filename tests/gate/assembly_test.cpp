// Attempts to get assembly past the gate: what is wrong where a proof cannot be found, what nobody has seen run, functions
// that are called in another way than they say, and what costs more than the source's own lowering.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/admit.h"
#include "frazil/tri.h"
#include "ir/digest.h"
#include "ir/text/text.h"
#include "targets/tasm/tasm.h"
#include "verify/tasm/judge.h"

namespace frazil {
namespace {

namespace mt = machines::tasm;
using testing::HasSubstr;
using verify::tasm::Calling;

ir::Program Parse(const std::string& body) { return *ir::ParseText("frz 1\n" + body); }

exec::CompiledForm FormOf(const ir::Program& program, std::string payload,
                          std::string_view calling = Calling::Program) {
  exec::CompiledForm form;
  form.source_exact = form.candidate_exact = ir::ExactDigest(program);
  form.guard = "true";
  form.candidate = ir::PrintText(program);
  form.target = "tasm";
  form.profile = "dot";
  form.calling = calling;
  form.toolchain = "test";
  form.payload = std::move(payload);
  form.cost = exec::TableHeights{512, 300, 200, 100};
  return form;
}

verify::Examined Ask(const ir::Program& program, exec::CompiledForm form,
                     std::vector<mt::Inputs> typical = {}) {
  tri::RegisterAssemblyJudge();
  verify::VerifyOptions options;
  options.limits.verify_ms = 5'000;
  options.search_ms = 100;
  options.typical = std::move(typical);
  auto examined =
      verify::Examine(program, {program, {}, {}, "source"}, std::move(form), {}, options);
  EXPECT_TRUE(examined) << examined.error().message;
  return std::move(*examined);
}

// A buffer, which the proof does not follow.
const std::string Table = R"(func @main(%n: index, %x: in buffer<u32>) -> (u32) {
  %zero = const 0 : u32
  %start = const 0 : index
  %sum = for %i = %start to %n step 1 carry (%s = %zero) {
    %v = load %x, %i : u32
    %t = xor %s, %v : u32
    yield %t
  }
  return %sum
}
)";

TEST(AssemblyGate, RunsDecideWhereNoProofIsFound) {
  const ir::Program program = Parse(Table);
  const auto lowered = targets::tasm::Lower(program);
  ASSERT_TRUE(lowered) << lowered.error().ToString();
  const std::string text = mt::Print(lowered->program);
  const verify::Examined right = Ask(program, FormOf(program, text));
  ASSERT_TRUE(right.form) << right.refusal;
  EXPECT_EQ(right.form->evidence().lowering.grade, verify::Grade::Sampled);
  EXPECT_THAT(right.form->evidence().lowering.detail, HasSubstr("instructions"));
  // One instruction changed, wherever that can be done: none of them passes.
  size_t tried = 0;
  for (size_t i = 0; i < lowered->program.code.size(); ++i) {
    mt::Program wrong = lowered->program;
    mt::Instruction& instruction = wrong.code[i];
    if (instruction.op == mt::Opcode::Xor)
      instruction.op = mt::Opcode::And;
    else if (instruction.op == mt::Opcode::AddI || instruction.op == mt::Opcode::Push)
      instruction.argument += 1;
    else
      continue;
    ++tried;
    const verify::Examined examined = Ask(program, FormOf(program, mt::Print(wrong)));
    EXPECT_FALSE(examined.form) << "instruction " << i << " of\n" << text;
  }
  EXPECT_GT(tried, 3u);
}

// The buffer defeats the proof, and no judge finds the one number whose seventh power this is; whoever knows it may say so.
constexpr uint64_t Root = 987654321098765;
const std::string Hidden = R"(func @main(%x: field, %y: in buffer<field>) -> (field) {
  %two = const 2 : field
  %c = const 2415646349080579087 : field
  %x2 = mul %x, %x : field
  %x4 = mul %x2, %x2 : field
  %x6 = mul %x4, %x2 : field
  %x7 = mul %x6, %x : field
  %is = eq %x7, %c : field
  %w = if %is -> (field) {
    yield %two
  } else {
    yield %x
  }
  return %w
}
)";
std::string HiddenCode(int answer) {
  return "read_io 2 call skip pop 1 dup 0 dup 0 mul dup 0 dup 0 mul mul dup 1 mul "
         "push 2415646349080579087 eq skiz call rare write_io 1 halt rare: pop 1 push " +
         std::to_string(answer) +
         " return skip: dup 0 push 0 eq skiz return read_io 1 pop 1 addi -1 recurse";
}

TEST(AssemblyGate, WhatNobodyHasSeenRunIsNotAdmitted) {
  const ir::Program program = Parse(Hidden);
  mt::Inputs known;
  known.input = {Root, 0};
  for (const int answer : {2, 3}) {
    const exec::CompiledForm form = FormOf(program, HiddenCode(answer));
    const verify::Examined unseen = Ask(program, form);
    EXPECT_FALSE(unseen.form);
    EXPECT_THAT(unseen.refusal, HasSubstr("(call rare) never ran"));
    const verify::Examined seen = Ask(program, form, {known});
    EXPECT_EQ(seen.form.has_value(), answer == 2) << seen.refusal;
  }
}

TEST(AssemblyGate, AFunctionIsWhatItSaysItIs) {
  const ir::Program program = Parse(
      "func @main(%a: field, %b: field) -> (field) {\n %c = mul %a, %a : field\n"
      " %d = add %c, %b : field\n return %d\n}");
  const std::string last_on_top = "f: swap 1 dup 0 mul add return";
  const std::string first_on_top = "f: dup 0 mul add return";
  const auto passes = [&](const std::string& text, std::string_view calling) {
    return Ask(program, FormOf(program, text, calling)).form.has_value();
  };
  EXPECT_TRUE(passes(last_on_top, Calling::Function));
  EXPECT_TRUE(passes(first_on_top, Calling::FirstOnTop));
  EXPECT_FALSE(passes(first_on_top, Calling::Function));
  EXPECT_FALSE(passes(last_on_top, Calling::FirstOnTop));
  EXPECT_FALSE(passes(last_on_top, Calling::Program)) << "it is no program";
  EXPECT_FALSE(passes(last_on_top, "in pieces"));
  // What lies below its arguments is its caller's.
  EXPECT_FALSE(passes("f: swap 1 dup 0 mul add swap 1 pop 1 return", Calling::Function));
  EXPECT_FALSE(passes("f: swap 1 dup 0 mul add swap 13 swap 14 swap 13 return", Calling::Function));
  // It gives what is to be given, and its caller never gets to see it.
  EXPECT_FALSE(passes("f: swap 1 dup 0 mul add write_io 1 halt", Calling::Function));
}

// What the target says of its functions and what the judge takes them for are two texts of one convention.
TEST(AssemblyGate, FunctionsAreCalledAsTheTargetMeansIt) {
  std::string params, sum = "  %s0 = mul %p0, %p0 : field\n";
  for (int i = 0; i < 20; ++i) params += (i ? ", %p" : "%p") + std::to_string(i) + ": field";
  for (int i = 1; i < 20; ++i) {
    const std::string n = std::to_string(i), before = std::to_string(i - 1);
    sum += "  %m" + n + " = mul %s" + before + ", %p0 : field\n  %s" + n + " = add %m" + n +
           ", %p" + n + " : field\n";
  }
  const std::string programs[] = {
      "func @main(%x: xfield, %k: u32, %d: digest, %b: bool) -> (bool, xfield, digest, u32) {\n"
      "  %y = mul %x, %x : xfield\n  return %b, %y, %d, %k\n}\n",
      "func @main(%a: digest, %b: digest, %c: digest, %d: u64) -> (digest, u64, digest, digest) {\n"
      "  return %b, %d, %a, %c\n}\n",
      "func @main(" + params + ") -> (field, field) {\n" + sum + "  return %s19, %p1\n}\n"};
  for (const std::string& text : programs) {
    const ir::Program program = Parse(text);
    for (const bool first_on_top : {false, true}) {
      const auto lowered = targets::tasm::Lower(
          program, {.callable = true, .first_on_top = first_on_top, .typical = {}, .limits = {}});
      ASSERT_TRUE(lowered) << lowered.error().ToString();
      const std::string code = mt::Print(lowered->program);
      const std::string_view ways[] = {Calling::Function, Calling::FirstOnTop};
      const verify::Examined right = Ask(program, FormOf(program, code, ways[first_on_top]));
      EXPECT_TRUE(right.form) << right.refusal << text;
      EXPECT_FALSE(Ask(program, FormOf(program, code, ways[!first_on_top])).form) << text;
    }
  }
}

// A buffer of words of the compiler's own: zeros that nobody wrote are the prover's to choose.
TEST(AssemblyGate, ZerosAreWritten) {
  const ir::Program program = Parse(R"(func @main(%n: index, %x: in buffer<u32>) -> (u32) {
  %zero = const 0 : index
  %one = const 1 : u32
  %size = const 4 : index
  %seen = alloc %size : u32
  for %i = %zero to %n step 1 {
    %v = load %x, %i : u32
    %at = cast %v : index
    store %seen, %at, %one : u32
    yield
  }
  %first = load %seen, %zero : u32
  return %first
}
)");
  const auto lowered = targets::tasm::Lower(program);
  ASSERT_TRUE(lowered) << lowered.error().ToString();
  const verify::Examined right = Ask(program, FormOf(program, mt::Print(lowered->program)));
  EXPECT_TRUE(right.form) << right.refusal;
  // Four zeros go to 2^60; now they go behind it.
  mt::Program wrong = lowered->program;
  size_t moved = 0;
  for (size_t i = 0; i + 1 < wrong.code.size(); ++i) {
    mt::Instruction& push = wrong.code[i];
    if (push.op != mt::Opcode::Push || push.argument != uint64_t{1} << 60 ||
        wrong.code[i + 1].op != mt::Opcode::WriteMem)
      continue;
    push.argument += 100;
    ++moved;
  }
  ASSERT_EQ(moved, 1u) << mt::Print(lowered->program);
  const verify::Examined examined = Ask(program, FormOf(program, mt::Print(wrong)));
  EXPECT_FALSE(examined.form);
  EXPECT_THAT(examined.refusal, HasSubstr("against")) << mt::Print(wrong);
}

TEST(AssemblyGate, TheProfileIsPartOfIt) {
  const ir::Program program = Parse("func @main(%a: field) -> (field) {\n return %a\n}");
  exec::CompiledForm form = FormOf(program, "read_io 1 write_io 1 halt");
  EXPECT_TRUE(Ask(program, form).form);
  form.profile = "baseline";
  EXPECT_THAT(Ask(program, form).refusal, HasSubstr("there is no profile 'baseline'"));
}

TEST(AssemblyGate, WhatCostsMoreIsNotAdmitted) {
  const ir::Program program = Parse("func @main(%a: field) -> (field) {\n return %a\n}");
  const verify::Examined examined = Ask(program, FormOf(program, "read_io 1 write_io 1 halt"));
  ASSERT_TRUE(examined.form) << examined.refusal;
  const auto admits = [&](exec::Cost other) {
    return engine::AdmitBelow(*examined.form, &other, {}).has_value();
  };
  EXPECT_TRUE(engine::AdmitBelow(*examined.form, nullptr, {}));
  EXPECT_TRUE(admits(exec::TableHeights{1024, 300, 200, 100}));
  EXPECT_TRUE(admits(exec::TableHeights{512, 300, 200, 101}));
  EXPECT_FALSE(admits(exec::TableHeights{512, 300, 200, 100})) << "the same";
  EXPECT_FALSE(admits(exec::TableHeights{512, 299, 300, 100}));
  EXPECT_FALSE(admits(exec::Bytes{1 << 20})) << "another kind of cost";
  const auto admitted = engine::AdmitBelow(*examined.form, nullptr, {});
  const Result<tri::Assembly> assembly = tri::Assembly::Of(*admitted);
  ASSERT_TRUE(assembly);
  EXPECT_EQ(mt::Print(assembly->program()), mt::Print(*mt::Parse("read_io 1 write_io 1 halt")));
  EXPECT_EQ(verify::VerdictName(assembly->lowering()), "proved");
}

}  // namespace
}  // namespace frazil
