// The prelude as a whole: it parses, every math op has its function for every type, and the
// functions keep to the rules that let every target give the same bits.
#include "ir/lower/prelude.h"

#include <gtest/gtest.h>

#include "ir/text/text.h"

namespace frazil::ir {
namespace {

const Program& Prelude() {
  static const Program program = [] {
    Result<Program> read = ParseText(PreludeText());
    EXPECT_TRUE(read.has_value()) << read.error().ToString();
    return read.value_or(Program{});
  }();
  return program;
}

TEST(PreludeTest, EveryMathOpHasItsFunction) {
  size_t found = 0;
  for (int i = 0; i < OpCount; ++i) {
    const Op op = static_cast<Op>(i);
    if (Info(op).law != Law::Prelude) continue;
    for (Scalar scalar :
         {Scalar::U32, Scalar::U64, Scalar::F32, Scalar::F64, Scalar::Field, Scalar::Digest}) {
      if (!Contains(Info(op).types, scalar)) continue;
      const FuncId id = Prelude().FindFunction(PreludeFunctionName(op, Type::Of(scalar)));
      ASSERT_TRUE(id.valid()) << PreludeFunctionName(op, Type::Of(scalar));
      EXPECT_EQ(Prelude().functions[id.index].results, std::vector<Type>{Type::Of(scalar)});
      ++found;
    }
  }
  // Two types each of 20 functions and three kinds of random numbers, four fast forms; powers and the hash.
  EXPECT_EQ(found, 2u * 20 + 4 + 2 * 3 + 2);
}

TEST(PreludeTest, FunctionsAreStraightLineWithoutFmaOrMathOps) {
  for (const Function& function : Prelude().functions) {
    for (const Inst& inst : function.insts) {
      EXPECT_NE(Info(inst.op).law, Law::Prelude) << function.name;
      EXPECT_NE(inst.op, Op::Fma) << function.name;
      const bool control = Info(inst.op).effect == Effect::Control;
      const bool allowed =
          inst.op == Op::If || inst.op == Op::Yield || inst.op == Op::Call || inst.op == Op::Return;
      EXPECT_TRUE(Info(inst.op).effect == Effect::Pure || (control && allowed))
          << function.name << ": " << Info(inst.op).mnemonic;
    }
  }
}

TEST(PreludeTest, EveryFunctionLoadsAlone) {
  for (const Function& function : Prelude().functions) {
    if (function.name.starts_with("pre.")) continue;
    const size_t dot = function.name.rfind('.');
    const std::optional<Op> op = OpNamed(function.name.substr(0, dot));
    ASSERT_TRUE(op.has_value()) << function.name;
    const Result<const Program*> loaded =
        LoadPrelude(*op, *ParseType(function.name.substr(dot + 1)));
    ASSERT_TRUE(loaded.has_value()) << loaded.error().ToString();
    EXPECT_EQ((*loaded)->functions[(*loaded)->entry.index].name, function.name);
  }
}

}  // namespace
}  // namespace frazil::ir
