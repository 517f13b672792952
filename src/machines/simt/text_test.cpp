// Assembler, printer, verifier: forms that are accepted, sentences about those that are not, and the way there and back.
#include "machines/simt/text.h"

#include <gtest/gtest.h>

namespace frazil::machines::simt {
namespace {

std::string ErrorOf(std::string_view text) {
  Result<Module> module = Assemble(text);
  return module ? "" : module.error().ToString();
}

void ExpectRoundTrip(std::string_view text) {
  Result<Module> module = Assemble(text);
  ASSERT_TRUE(module) << module.error().ToString();
  std::string printed = Print(*module);
  Result<Module> again = Assemble(printed);
  ASSERT_TRUE(again) << again.error().ToString() << "\n" << printed;
  EXPECT_EQ(again->bytes, module->bytes) << printed;
  EXPECT_EQ(Print(*again), printed);
}

TEST(Text, OriginalFormsAreAccepted) {
  ExpectRoundTrip(R"(.launch
.param in buffer f32 a
.param in buffer f32 b
.param buffer f32 c
  mov_imm.u64 r1, 0; mov_imm.u64 r2, 1; mov_imm.u64 r3, 2
  mov_imm.u32 r250, 2
  shl.u64 r0, r255, r250
  ldg.f32 r10, [r1 + r0]
  ldg.f32 r11, [r2+r0]
  add.f32 r12, r10, r11
  stg.f32 [r3 + r0], r12
  ldg.f32 r13, [Φ(5, 12, 200)]
  stg.f32 [phi(95,47,252)], r13
  ldg.f32 r14, [buf0 + 128]
  mov.f32 r15, r14
  mov.f32 r16, r14
  reduce.add.f32 r20, r14, 3
  setlt.u32 p0, r250, r254
@loop:
  bra.!p0 @loop
  exit
)");
}

TEST(Text, EveryShapeComesBack) {
  ExpectRoundTrip(R"(.kernel shapes
.param f32 a
.param buffer f32 x
.param in buffer pred flags
.param u32 n extent 1
.param buffer u32 counts
.scratch i64
.result f32
.result pred
.table f32 squares 0 1 4 9
  ldp.f32 r0, a
  ldp.u32 r1, n
  cvt.idx.u32 r2, r1
  len.f32 r3, x
  mov_imm.idx r4, 0
  alloc.i64 b3, r2
  ldg.pred p1, [flags + r4*1]
  lut.f32 r5, squares, r4
  mov_imm.f32 r6, -1.5
  fma.f32 r7, r5, r6, r0
  sel.f32 r8, p1, r7, r6
  mov.ptor r9, p1
  mov.rtop p2, r9
  setnlt.f32 p3, r8, #bits(0x7fc00001)
  and.pred p4, p2, p3
  if p4
    carry.f32 r8
    exp.f32 r8, r8
  else
    exp.fast.f32 r8, r8
  end
  switch.u32 r1
    carry.f32 r8
  case 3
    neg.f32 r8, r8
  default
    pow.f32 r8, r8, r6
  end
  for.u32 r10, r1, r1, 4
    carry.f32 r8
    mul.f32 r8, r8, #2
  end
  while
    carry.f32 r8
    setlt.f32 p5, r8, #0
  breakunless p5
    abs.f32 r8, r8
  end
  par r11, r4, r2
    ldg.f32 r12, [x + r11*4]
    lane.reduce.max.f32 r12, r12
    lane.scan.add.exclusive.f32 r12, r12
    mov_imm.u32 r13, 1
    shfl.xor.f32 r12, r12, r13
    shfl.idx.f32 r12, r12, r13
    vote.any p6, p1
    ballot r14, p1
    bar.sync 3
    fence.block
    atom.add.u32 r15, [counts + r11*4], r13
    atom.cas.u32 r15, [counts + r11*4], r13, r13
    stg.f32 [x + r11*size], r12
  end
  atom.max.unordered.f32 r16, [x + r4*4], r8
  range.reduce.mul.f32 r17, x, r4, r2
  bitcast.u32.f32 r18, r17
  cvt.checked.u8.u32 r19, r18
  assert p1
  result.f32 0, r8
  result.pred 1, p4
  exit
)");
}

TEST(Text, TheSeedsLoopIsToldWhatToDo) {
  // The listing of the source document, as written there.
  std::string error = ErrorOf(R"(.launch
MOV r255, #0
MOV r254, #3072
label_loop_body:
    ADD r255, r255, #1
    SETcc p0, r255, r254, LT
    BRA label_loop_body, p0
EXIT
)");
  EXPECT_EQ(error,
            "2:1: error FRZ1006: instruction 0 (mov_imm.u32): r255 is read-only: it says which "
            "lane this is; use an ordinary "
            "register, r0 to r251");
  ExpectRoundTrip(R"(.launch
MOV r1, #0
MOV r2, #3072
label_loop_body:
    ADD r1, r1, #1
    SETcc p0, r1, r2, LT
    BRA label_loop_body, p0
EXIT
)");
}

TEST(Text, MistakesAreLocated) {
  auto contains = [](std::string_view text, std::string_view part) {
    std::string error = ErrorOf(text);
    EXPECT_NE(error.find(part), std::string::npos) << error << "\n" << text;
  };
  contains("frobnicate r1, r2\nexit", "1:1: error FRZ1005: there is no instruction 'frobnicate'");
  contains("  add.f32 r1, r2\nexit", "1:3: error FRZ1005: 'add.f32' takes 3 operands");
  contains("mov_imm.u8 r1, 300\nexit", "1:16: error FRZ1005: '300' is no u8");
  contains("mov_imm.f32 r1, 1\nadd.f32 r2, r1, r3\nexit",
           "2:1: error FRZ1006: instruction 1 (add.f32): reads r3, which holds no value");
  contains("mov_imm.f32 r1, 1\nadd.i32 r2, r1, r1\nexit", "reads r1 as i32, but it holds f32");
  contains("if p0\nend\nexit", "reads p0");
  contains("mov_imm.pred p0, 1\nif p0\nexit", "is an END missing?");
  contains("mov_imm.pred p0, 1\nif p0\nmov_imm.u32 r1, 1\nend\nadd.u32 r1, r1, r1\nexit",
           "reads r1, which holds no value");
  contains(".param in buffer f32 x\nmov_imm.f32 r1, 1\nstg.f32 [x + 0], r1\nexit", "`in` buffer");
  contains(".param out buffer f32 x\nldg.f32 r1, [x + 0]\nexit", "`out` buffer");
  contains("ldg.f32 r1, [b7 + 0]\nexit", "no buffer b7");
  contains(".param u32 n\n.param f32 n\nexit", "two parameters are called 'n'");
  contains("ldg.f32 r1, [Φ(96, 0, 0)]\nexit", "class below 96");
  contains("mov.u32 r1, r255\nexit", "a program has its lanes from PAR");
  contains("bra @nowhere\nexit", "no label 'nowhere'");
  contains("mov_imm.u32 r1, 1", "must be EXIT");
  // A lane's EXIT may be guarded, but not where nothing is behind it, nor by what nobody wrote.
  contains(".launch\nmov_imm.pred p0, 0\n@p0 exit", "is the last one, and control would go on");
  contains(".launch\n@p1 exit\nexit", "reads p1, which holds no value");
  contains("bar.sync 0\nexit", "stands in no PAR");
  contains("else\nexit", "stands in no structure");
  contains("end\nexit", "ends no structure");
  contains("mov_imm.u32 r0, 1\nswitch.u32 r0\ncase 1\ncase 1\ndefault\nend\nexit", "stands twice");
  contains(".result f32\nexit", "before result 0 is set");
  contains("setltu.f32 p0, r1, r1\nexit", "compares integers");
  contains(
      "mov_imm.idx r0, 0\nmov_imm.idx r1, 4\npar r2, r0, r1\nsetlt.idx p0, r2, r1\nif p0\nbar.sync "
      "0\nend\nend\nexit",
      "is not reached by every lane alike");
  // What a loop writes is not there at its top the next time, unless it is carried.
  contains(
      "mov_imm.idx r0, 0\nmov_imm.idx r1, 4\nmov_imm.f32 r3, 0\nfor.idx r2, r0, r1, 1\nadd.f32 r3, "
      "r3, r3\nend\nexit",
      "reads r3, which holds no value on some way here");
}

TEST(Text, WhatLoweringWroteNamesItsSource) {
  constexpr std::string_view Module = R"(.param in buffer f32 iota
.param idx n
.scratch f32
  ldp.idx r0, n
  mov_imm.pred p0, true
  alloc.f32 b1, r0, broadcast
  assert p0, reshape
  ldg.f32 r1, [b1 + r0*4], extract
  ldg.f32 r2, [iota + r0*4]
  exit
)";
  ExpectRoundTrip(Module);
  const Result<simt::Module> module = Assemble(Module);
  ASSERT_TRUE(module);
  std::vector<ir::Op> named;
  for (const Instruction& i : module->code)
    if (CanStandFor(i)) named.push_back(TrapOp(i));
  EXPECT_EQ(named,
            (std::vector{ir::Op::Broadcast, ir::Op::Reshape, ir::Op::Extract, ir::Op::Load}));
  EXPECT_NE(ErrorOf(".param in buffer f32 x\nldg.f32 r1, [x + 0], extract\nexit")
                .find("stands for no operation"),
            std::string::npos);
}

TEST(Text, PseudoInstructionsBecomeInstructions) {
  ExpectRoundTrip(R"(.class 4
  clsget.u32 r0
  mirror.u32 r1, r0
  unitytest p0, 0.001
  nbrcount.u32 r2, r1
  nbrget.u32 r3, r1, 2
  mov_imm.f32 r4, 2.5
  resaccum.f32 7, r4
  phaseadv 700
  phaseadv 100
  phaseget.u32 r5
  exit
)");
  EXPECT_NE(ErrorOf("mirror r1\nexit").find("the form is mirror.u32 r, a"), std::string::npos);
}

}  // namespace
}  // namespace frazil::machines::simt
