// What ir::Check refuses although the text form cannot write it: programs that a builder or a pass got
// wrong. The mistakes that a text can have are files in tests/reject.

#include "ir/check/check.h"

#include <gtest/gtest.h>

#include "ir/builder.h"

namespace frazil::ir {
namespace {

// main(a: i32, b: i32) -> (i32) { c = add a, b; d = add c, c; return d }
Program TwoSums() {
  Program program;
  FunctionBuilder b(program, "main", {types::I32, types::I32}, {types::I32});
  ValueId sum = b.Binary(Op::Add, b.Param(0), b.Param(1));
  b.Return({b.Binary(Op::Add, sum, sum)});
  b.Finish();
  return program;
}

void ExpectRefused(const Program& program, Diag diag) {
  auto checked = Check(program);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().diag, diag) << checked.error().ToString();
}

TEST(Check, AcceptsWhatTheBuilderMakes) { EXPECT_TRUE(Check(TwoSums())); }

TEST(Check, RefusesUseBeforeDefinition) {
  Program program = TwoSums();
  std::vector<InstId>& insts = program.functions[0].regions[0].insts;
  std::swap(insts[0], insts[1]);
  ExpectRefused(program, Diag::NotDominated);
}

TEST(Check, RefusesValuesThatDoNotExist) {
  Program program = TwoSums();
  program.functions[0].operands[0] = ValueId(1000);
  ExpectRefused(program, Diag::NotDominated);
}

TEST(Check, RefusesValuesOfAClosedRegion) {
  Program program;
  FunctionBuilder b(program, "main", {types::Bool, types::I32}, {types::I32});
  ValueId inner;
  b.If(
      b.Param(0), {},
      [&] {
        inner = b.Unary(Op::Neg, b.Param(1));
        return Values{};
      },
      [] { return Values{}; });
  b.Return({inner});
  b.Finish();
  ExpectRefused(program, Diag::NotDominated);
}

TEST(Check, RefusesConstantsThatAreNotCanonical) {
  for (auto [type, word] : {std::pair{types::Bool, 2ull},
                            {types::U8, 256ull},
                            {types::I8, 255ull},
                            {types::F16, 0x10000ull},
                            {types::Field, 0xffffffff00000001ull}}) {
    Program program;
    FunctionBuilder b(program, "main", {}, {type});
    uint64_t zero = 0;
    b.Return({b.Const(type, std::span(&zero, 1))});
    b.Finish();
    program.functions[0].words[0] = word;
    ExpectRefused(program, Diag::BadLiteral);
  }
}

TEST(Check, RefusesAMissingTerminator) {
  Program program = TwoSums();
  program.functions[0].regions[0].insts.pop_back();
  ExpectRefused(program, Diag::BadTerminator);
  program.functions[0].regions[0].insts.clear();
  ExpectRefused(program, Diag::BadTerminator);
}

TEST(Check, RefusesAResultOfAnotherType) {
  Program program = TwoSums();
  program.functions[0].values[2].type = types::I64;
  EXPECT_FALSE(Check(program));
}

TEST(Check, RefusesScratchThatIsNoBuffer) {
  Program program;
  FunctionBuilder b(program, "main", {types::Index}, {});
  b.Alloc(types::I32, b.Param(0));
  b.Return({});
  b.Finish();
  EXPECT_TRUE(Check(program));
  program.functions[0].values[1].type = types::I32;
  ExpectRefused(program, Diag::WrongType);
}

TEST(Check, RefusesAWrongNumberOfRegions) {
  Program program;
  FunctionBuilder b(program, "main", {types::Bool}, {});
  b.Begin(Op::If, Type{}, Values{b.Param(0)}, {}, {}, 0);
  b.Return({});
  b.Finish();
  ExpectRefused(program, Diag::BadRegion);
}

TEST(Check, RefusesReservedAndRepeatedNames) {
  Program program = TwoSums();
  program.functions[0].name = "prelude.exp.f32";
  ExpectRefused(program, Diag::Redefined);
  program = TwoSums();
  program.functions.push_back(program.functions[0]);
  ExpectRefused(program, Diag::Redefined);
}

TEST(Check, RefusesAProgramWithoutEntry) {
  ExpectRefused(Program{}, Diag::BadEntry);
  Program program = TwoSums();
  program.entry = FuncId(7);
  ExpectRefused(program, Diag::BadEntry);
}

}  // namespace
}  // namespace frazil::ir
