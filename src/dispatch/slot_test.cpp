// The door of dispatch: forms that the verifier made, for the slot's own program, and nothing else.
#include "dispatch/slot.h"

#include <gtest/gtest.h>

#include "dispatch/test_core.h"
#include "ir/digest.h"
#include "ir/text/text.h"
#include "verify/verify.h"

namespace frazil::dispatch {
namespace {

#if defined(__x86_64__)

constexpr char Text[] = "frz 1\nfunc @main(%a: i64) -> (i64) {\n  return %a\n}\n";
constexpr char OtherText[] =
    "frz 1\nfunc @main(%a: i64) -> (i64) {\n  %b = add %a, %a : i64\n  return %b\n}\n";

// mov rax, [rdi]; mov [rsi], rax; xor eax, eax; ret
constexpr std::string_view Code("\x48\x8b\x07\x48\x89\x06\x31\xc0\xc3", 9);

class SlotTest : public testing::Test {
 protected:
  SlotTest()
      : signed_program(ir::SignedProgram::Of(*ir::ParseText(Text))),
        other(ir::SignedProgram::Of(*ir::ParseText(OtherText))),
        program(signed_program->program()),
        slot(*signed_program, fluid, watcher) {}

  // Judged as a worker would judge it.
  verify::Verified<exec::CompiledForm> Form(std::string_view guard) {
    ir::Candidate candidate;
    candidate.program = program;
    candidate.guard = *ir::ParseGuard(guard, program);
    candidate.origin = "test";
    exec::CompiledForm form;
    form.source_exact = form.candidate_exact = ir::ExactDigest(program);
    form.guard = ir::PrintGuard(candidate.guard);
    form.candidate = ir::PrintText(ir::Canonicalize(program));
    form.toolchain = "by hand";
    exec::NativeImage image;
    image.uses_run = false;
    image.code = Code;
    exec::PutImage(form, image);
    Result<verify::Examined> examined =
        verify::Examine(program, candidate, form, verify::Policy::Default(program));
    EXPECT_TRUE(examined && examined->form)
        << (examined ? examined->refusal : examined.error().ToString());
    return *examined->form;
  }
  uint64_t Ask(uint64_t argument) {
    uint64_t result = 0;
    EXPECT_EQ(slot.Call(&argument, &result), 0);
    return result;
  }

  std::shared_ptr<const ir::SignedProgram> signed_program, other;
  const ir::Program& program;
  CountingFluid fluid;
  CountingWatcher watcher;
  Slot slot;
};

TEST_F(SlotTest, AVerifiedFormAnswersWhereItsGuardHolds) {
  Result<std::shared_ptr<const Solid>> solid =
      Solid::Make(Form("0 <= arg0 <= 99"), *signed_program);
  ASSERT_TRUE(solid) << solid.error().ToString();
  uint64_t inside = 99, outside = 100;
  EXPECT_TRUE((*solid)->Holds(&inside));
  EXPECT_FALSE((*solid)->Holds(&outside));
  EXPECT_TRUE(slot.Install(*solid));
  EXPECT_EQ(slot.state(), State::Solid);
  ASSERT_EQ(slot.forms().size(), 1u);
  EXPECT_EQ(slot.forms()[0]->form()->guard, "0 <= arg0 <= 99");
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(Ask(99), 99u);
    EXPECT_EQ(Ask(100), CountingFluid::Mark);
  }
  EXPECT_TRUE(slot.Retire(**solid));
  EXPECT_FALSE(slot.Retire(**solid));
  EXPECT_EQ(slot.state(), State::Fluid);
  EXPECT_EQ(Ask(99), CountingFluid::Mark);
  EXPECT_EQ(solid->use_count(), 1);  // the slot has let go
}

TEST_F(SlotTest, AFormOfAnotherProgramIsRefused) {
  const verify::Verified<exec::CompiledForm> form = Form("true");
  Result<std::shared_ptr<const Solid>> wrong = Solid::Make(form, *other);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().diag, Diag::NotAdmitted);
  Result<std::shared_ptr<const Solid>> solid = Solid::Make(form, *signed_program);
  ASSERT_TRUE(solid);
  Slot other_slot(*other, fluid, watcher);
  EXPECT_FALSE(other_slot.Install(*solid));
  EXPECT_FALSE(other_slot.Install(nullptr));
  EXPECT_EQ(other_slot.state(), State::Fluid);
  EXPECT_TRUE(slot.Install(*solid));
}

TEST_F(SlotTest, ByHand) {
  Result<std::shared_ptr<const Solid>> solid = Solid::Make(Form("true"), *signed_program);
  ASSERT_TRUE(solid);
  EXPECT_TRUE(slot.Freeze());
  EXPECT_FALSE(slot.Install(*solid));
  EXPECT_TRUE(slot.Unfreeze());
  EXPECT_TRUE(slot.Install(*solid));
  EXPECT_TRUE(slot.Ban());
  EXPECT_TRUE(slot.forms().empty());
  EXPECT_FALSE(slot.Install(*solid));
  EXPECT_TRUE(slot.Unban());
  EXPECT_TRUE(slot.Install(*solid));
  EXPECT_EQ(Ask(3), 3u);
}

#endif

}  // namespace
}  // namespace frazil::dispatch
