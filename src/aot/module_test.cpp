// WASM modules are judged by what samples ran of them: right ones, ones that are wrong where no sample comes, and ones that
// are wrong for all to see. The modules are the emitter's, and changed by hand.
#include <gtest/gtest.h>

#include "aot/targets.h"
#include "engine/gate.h"
#include "ir/text/text.h"
#include "targets/wasm/wasm.h"

namespace frazil::aot {
namespace {

ir::Program Parse(const std::string& body) {
  Result<ir::Program> program = ir::ParseText("frz 1\n" + body);
  EXPECT_TRUE(program) << program.error().ToString();
  return std::move(*program);
}

using Change = std::function<void(std::string&)>;

engine::Judged JudgeText(const std::string& text, const Change& change = {}) {
  const ir::Program program = Parse(text);
  const auto target = targets::wasm::MakeWasmTarget();
  Result<exec::Artifact> artifact = target->Emit(program);
  EXPECT_TRUE(artifact);
  if (change) change(artifact->bytes);
  RegisterJudges();
  engine::Gate forms(program, {program, {}, {}, "test"});
  exec::CompiledForm form = forms.Form("wasm");
  form.symbol = artifact->entry_symbol;
  form.payload = artifact->bytes;
  form.cost = exec::Bytes{form.payload.size()};
  return forms.Admit(std::move(form));
}

// Instructions in place of others that stand there once and are as long.
Change Replace(std::string from, std::string to) {
  return [from, to](std::string& bytes) {
    const size_t at = bytes.find(from);
    ASSERT_NE(at, std::string::npos);
    ASSERT_EQ(bytes.find(from, at + 1), std::string::npos);
    ASSERT_EQ(from.size(), to.size());
    bytes.replace(at, from.size(), to);
  };
}

constexpr char Scale[] =
    "func @main(%k: i32, %x: in buffer<i32>, %y: out buffer<i32>) {\n %z = const 0 : index\n"
    " %n = length %x : i32\n parallel %i = %z to %n {\n %v = load %x, %i : i32\n"
    " %p = mul.checked %v, %k : i32\n store %y, %i, %p : i32\n yield\n }\n return\n}";

TEST(Module, EvidenceTellsWhatRan) {
  const engine::Judged judged = JudgeText(Scale);
  ASSERT_TRUE(judged.admitted) << judged.reason;
  EXPECT_NE(judged.admitted->form().evidence().lowering.detail.find(
                ", 7 of 7 blocks of a copy with marks, 1 of 1 loops again"),
            std::string::npos)
      << judged.admitted->form().evidence().lowering.detail;
}

// The identity, but for one value of 2^64.
constexpr char Same[] = "func @main(%a: u64) -> (u64) {\n return %a\n}";
constexpr char AlmostSame[] =
    "func @main(%a: u64) -> (u64) {\n %one = const 1 : u64\n %magic = const 81985529216486895 : "
    "u64\n %m = mul %a, %magic : u64\n %c = eq %m, %one : u64\n"
    " %r = if %c -> (u64) {\n %s = add %a, %one : u64\n yield %s\n } else {\n yield %a\n }\n"
    " return %r\n}";

// No sample sees the difference: admitted, as long as nobody asks which code ran.
TEST(Module, WhatIsWrongWhereNoSampleComesIsNotAdmitted) {
  const ir::Program program = Parse(Same);
  const auto target = targets::wasm::MakeWasmTarget();
  exec::Artifact artifact = *target->Emit(program);
  artifact.bytes = target->Emit(Parse(AlmostSame))->bytes;
  verify::VerifyOptions options;
  options.search_ms = 20;
  const Result<verify::Verdict> blind =
      verify::VerifyLowering(program, **target->Load(artifact), {}, options);
  EXPECT_EQ(verify::VerdictName(*blind), "tested");
  const Result<verify::Verdict> verdict =
      verify::VerifyModule(program, *target, artifact, {}, options);
  ASSERT_EQ(verify::VerdictName(*verdict), "unknown");
  const auto& unknown = std::get<verify::Unknown>(*verdict);
  EXPECT_TRUE(unknown.has_unrun);
  EXPECT_TRUE(unknown.reason.starts_with("block at +0x")) << unknown.reason;
  EXPECT_TRUE(unknown.reason.ends_with(" of function 0 never ran (2 of 3 did)")) << unknown.reason;
}

// A size that no round of samples has is found by the numbers that are compared.
TEST(Module, ComparedNumbersLeadToABlock) {
  const std::string text =
      "func @main(%x: in buffer<u8>, %n: i64) -> (i64) {\n %l = length %x : u8\n"
      " %far = const 48611 : i64\n %d = sub %n, %far : i64\n %three = const 3 : i64\n"
      " %m = mul %d, %three : i64\n %f = const 15 : i64\n %c = eq %m, %f : i64\n"
      " %r = if %c -> (i64) {\n %k = cast %l : i64\n %s = add %n, %k : i64\n yield %s\n } else {\n "
      "yield %n\n }\n"
      " return %r\n}";
  const engine::Judged judged = JudgeText(text);
  EXPECT_TRUE(judged.admitted) << judged.reason;
}

TEST(Module, AWrongInstructionIsRefuted) {
  // i64.mul becomes i64.add.
  const std::string text =
      "func @main(%a: u64, %b: u64) -> (u64) {\n %r = mul %a, %b : u64\n return %r\n}";
  EXPECT_TRUE(JudgeText(text).admitted);
  const engine::Judged judged = JudgeText(text, Replace("\x20\x01\x7e", "\x20\x01\x7c"));
  EXPECT_TRUE(judged.reason.starts_with("refuted: result 1")) << judged.reason;
}

// An access outside of the memory is the engine's to stop, and the module's fault.
TEST(Module, AnAccessOutsideOfMemoryIsRefuted) {
  const std::string text =
      "func @main(%x: in buffer<u8>) -> (u8) {\n %z = const 0 : index\n %v = load %x, %z : u8\n"
      " return %v\n}";
  EXPECT_TRUE(JudgeText(text).admitted);
  const engine::Judged judged =
      JudgeText(text, Replace(std::string("\x2d\x00\x00", 3), std::string("\x2d\x00\x70", 3)));
  EXPECT_TRUE(judged.reason.starts_with("refuted: ")) << judged.reason;
}

// Scratch comes from a helper: memory grows within the samples, and what says "no room" is read.
TEST(Module, MemoryThatGrowsRuns) {
  const engine::Judged judged = JudgeText(
      "func @main(%n: index, %x: in buffer<i32>) -> (i32) {\n %s = alloc %n : i32\n"
      " %z = const 0 : index\n %v = load %x, %z : i32\n store %s, %z, %v : i32\n"
      " %r = load %s, %z : i32\n return %r\n}");
  EXPECT_TRUE(judged.admitted) << judged.reason;
  EXPECT_NE(judged.admitted->form().evidence().lowering.detail.find("the others only jump or trap"),
            std::string::npos)
      << judged.admitted->form().evidence().lowering.detail;
}

TEST(Module, WhatCannotBeReadIsUnknown) {
  // An instruction of another proposal (atomics).
  const engine::Judged judged =
      JudgeText("func @main(%a: u64, %b: u64) -> (u64) {\n %r = mul %a, %b : u64\n return %r\n}",
                Replace("\x20\x01\x7e", "\x20\x01\xfe"));
  EXPECT_TRUE(judged.reason.starts_with("no verdict: the module cannot be followed: +0x"))
      << judged.reason;
}

}  // namespace
}  // namespace frazil::aot
