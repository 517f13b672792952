// Text, check and digest of the ops of provable machines, and what the expansion makes of them. That they
// compute the right thing is in tests/programs/field, on every target.
#include "ir/lower/expand_prover_ops.h"

#include <gtest/gtest.h>

#include "ir/check/check.h"
#include "ir/digest.h"
#include "ir/lower/lower.h"
#include "ir/text/test_text.h"
#include "ir/text/text.h"

namespace frazil::ir {
namespace {

constexpr std::string_view Assembly = R"(frz 1

data @code : u8 [97, 100, 100]

data @nothing : u8 []

func @main(%a: field, %b: field) -> (field) {
  %sum = tasm @code, %a, %b
  tasm @nothing
  return %sum
}
)";

constexpr std::string_view Sponge = R"(frz 1

func @plain(%x: field) -> (field) {
  return %x
}

func @deep() {
  sponge.init
  return
}

func @middle() {
  call @deep()
  return
}

func @main(%i: u32, %d: digest) -> (u32, digest) {
  call @middle()
  %x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7, %x8, %x9 = sponge.squeeze
  sponge.absorb %x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7, %x8, %x9
  %y = call @plain(%x0)
  %up, %node = merkle.step %i, %d
  return %up, %node
}
)";

Program Read(std::string_view text) { return ir::Parsed(text); }

TEST(Provers, TextGoesRound) {
  EXPECT_EQ(PrintText(Read(Assembly)), Assembly);
  EXPECT_EQ(PrintText(Read(Sponge)), Sponge);
}

TEST(Provers, CanonicalFormKeepsAssemblyAndItsTable) {
  const Program program = Read(Assembly);
  const Program canonical = Canonicalize(program);
  ASSERT_TRUE(Check(canonical));
  EXPECT_EQ(ExactDigest(canonical), ExactDigest(program));
  std::string other(Assembly);
  other.replace(other.find("97"), 2, "98");
  EXPECT_NE(ExactDigest(Read(other)), ExactDigest(program));
}

TEST(Provers, AssemblyIsRefusedWhereItCannotRun) {
  const Result<Program> lowered = LowerForTarget(Read(Assembly));
  ASSERT_FALSE(lowered);
  EXPECT_EQ(lowered.error().diag, Diag::Unsupported);
  EXPECT_EQ(lowered.error().location.line, 8u);
}

TEST(Provers, TheSpongeIsHandedToWhoNeedsIt) {
  const Program program = Read(Sponge);
  EXPECT_EQ(FunctionsWithSponge(program), (std::vector<bool>{false, true, true, true}));
  const Result<Program> expanded = ExpandPrelude(program);
  ASSERT_TRUE(expanded) << expanded.error().ToString();
  ASSERT_TRUE(Check(*expanded));
  EXPECT_EQ(expanded->functions[expanded->FindFunction("plain").index].param_count(), 1u);
  EXPECT_EQ(expanded->functions[expanded->FindFunction("deep").index].param_count(), 1u);
  EXPECT_EQ(expanded->functions[expanded->FindFunction("middle").index].param_count(), 1u);
  EXPECT_EQ(expanded->entry_function().name, "main");
  EXPECT_EQ(expanded->entry_function().param_count(), 2u);
  for (const Function& function : expanded->functions)
    for (const Inst& inst : function.insts) {
      EXPECT_FALSE(IsSpongeOp(inst.op));
      EXPECT_NE(inst.op, Op::MerkleStep);
    }
}

TEST(Provers, AnEntryThatIsCalledHasACopyThatIsHandedTheSponge) {
  const Program program = Read(R"(frz 1
func @main.inner() {
  call @main()
  return
}
func @main() {
  sponge.init
  call @main.inner()
  return
}
)");
  const Result<Program> expanded = ExpandPrelude(program);
  ASSERT_TRUE(expanded) << expanded.error().ToString();
  ASSERT_TRUE(Check(*expanded));
  EXPECT_EQ(expanded->entry_function().param_count(), 0u);
  ASSERT_TRUE(expanded->FindFunction("main.inner_").valid());
  EXPECT_EQ(expanded->functions[expanded->FindFunction("main.inner_").index].param_count(), 1u);
}

struct Wrong {
  std::string_view text;
  std::string_view diag;
};

TEST(Provers, WrongTypesAreRefused) {
  const Wrong cases[] = {
      {"data @t : u32 [1]\nfunc @main() {\n  tasm @t\n  return\n}\n", "FRZ0202"},
      {"data @t : u8 [1]\nfunc @main(%x: u32) {\n  tasm @t, %x\n  return\n}\n", "FRZ0202"},
      {"func @main(%x: u32) {\n  %a, %b = merkle.step %x, %x\n  return\n}\n", "FRZ0202"},
      {"func @main(%x: digest) {\n  %a, %b = merkle.step %x, %x\n  return\n}\n", "FRZ0202"},
      {"func @main(%x: field) {\n  %a = field.pow %x, %x : field\n  return\n}\n", "FRZ0202"},
      {"func @main(%x: field) {\n  sponge.absorb %x\n  return\n}\n", ""},
      {"func @main(%x: field) {\n  %a = sponge.squeeze\n  return\n}\n", ""},
      {"func @main(%x: field) {\n  tasm @none, %x\n  return\n}\n", ""},
      {"func @main(%x: field) {\n  %h = hash %x : digest\n  return\n}\n", ""},
  };
  for (const Wrong& wrong : cases) {
    const Result<Program> program = ParseText("frz 1\n" + std::string(wrong.text));
    ASSERT_FALSE(program) << wrong.text;
    EXPECT_NE(ClassOf(program.error().diag), ErrorClass::Internal);
    if (!wrong.diag.empty()) {
      EXPECT_EQ(DiagId(program.error().diag), wrong.diag) << program.error().ToString();
    }
  }
}

}  // namespace
}  // namespace frazil::ir
