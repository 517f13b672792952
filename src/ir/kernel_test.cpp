// Roles are read off the program: what bounds lanes is an extent, whatever it is called.
#include "ir/kernel.h"

#include <gtest/gtest.h>

#include "ir/builder.h"
#include "ir/text/test_text.h"
#include "ir/text/text.h"

namespace frazil::ir {
namespace {

KernelSignature Signature(std::string_view text) {
  Result<Program> program = ParseText(text);
  EXPECT_TRUE(program) << (program ? "" : program.error().ToString());
  return SignatureOf(*program);
}

TEST(Kernel, ABoundOfLanesIsAnExtentOfTheBuffersThatTheyIndex) {
  KernelSignature s = Signature(KernelText(
      "saxpy", "%a: f32, %x: in buffer<f32>, %y: buffer<f32>, %table: in buffer<f32>, %count: u32",
      "%count",
      OwnElements("f32", {"x"}, R"(
    %t = load %table, %zero : f32
    %p = mul %a, %xi : f32
    %r = add %p, %t : f32
)",
                  "y")));
  EXPECT_EQ(s.name, "saxpy");
  ASSERT_EQ(s.params.size(), 5u);
  EXPECT_EQ(s.params[0].role, ParamRole::Value);
  EXPECT_EQ(s.params[1].role, ParamRole::Buffer);
  EXPECT_EQ(s.params[4].role, ParamRole::Extent);
  EXPECT_EQ(s.params[4].name, "count");
  EXPECT_EQ(s.params[4].buffers, (std::vector<uint32_t>{1, 2}));
  EXPECT_FALSE(s.needs_launch());
}

TEST(Kernel, ScalarsThatBoundNothingAreValues) {
  KernelSignature s = Signature(R"(frz 1
func @main(%n: index, %x: buffer<i32>) {
  %zero = const 0 : index
  for %i = %zero to %n step 1 {
    %v = load %x, %i : i32
    store %x, %i, %v : i32
    yield
  }
  return
}
)");
  EXPECT_EQ(s.params[0].role, ParamRole::Value);
}

TEST(Kernel, NestedLanesAndLaunchParameters) {
  KernelSignature s = Signature(R"(frz 1
func @k(%x: buffer<i32>, %w: index, %grid.x: index, %block.x: index) {
  %zero = const 0 : index
  parallel %b = %zero to %grid.x {
    parallel %i = %zero to %w {
      %v = load %x, %i : i32
      store %x, %i, %v : i32
      yield
    }
    yield
  }
  return
}
)");
  EXPECT_EQ(s.params[1].role, ParamRole::Extent);
  EXPECT_EQ(s.params[2].role, ParamRole::GridX);
  EXPECT_EQ(s.params[3].role, ParamRole::BlockX);
  EXPECT_TRUE(s.needs_launch());
  EXPECT_EQ(RoleName(ParamRole::BlockZ), "block.z");
  EXPECT_EQ(RoleName(ParamRole::Extent), "extent");
}

// What the front ends make of a sum at one address: sum += a[i] * b[i] * scale, where there are elements.
Program Dot(bool guarded, Type count_type) {
  Program program;
  const Type in = Type::Buffer(types::F32, Access::In);
  FunctionBuilder b(program, "dot", {in, in, Type::Buffer(types::F32), count_type, types::F32}, {});
  const ValueId count =
      count_type == types::Index ? b.Param(3) : b.Cast(Op::Cast, b.Param(3), types::Index);
  const ValueId zero = b.ConstInt(types::Index, 0);
  const auto fold = [&] {
    const ValueId sum = b.Fold(ReduceKind::Sum, types::F32, count, 64, 4096, [&](ValueId i) {
      const ValueId x = b.Load(b.Param(0), i);
      return b.Binary(Op::Mul, b.Binary(Op::Mul, x, b.Load(b.Param(1), i)), b.Param(4));
    });
    b.Store(b.Param(2), zero, b.Binary(Op::Add, b.Load(b.Param(2), zero), sum));
    return Values();
  };
  if (guarded)
    b.If(b.Binary(Op::Gt, count, zero), {}, fold, [] { return Values(); });
  else
    fold();
  b.Return({});
  b.Finish();
  return program;
}

TEST(Kernel, TheCountOfAReductionIsAnExtentOfTheBuffersThatItReads) {
  for (bool guarded : {false, true}) {
    for (Type count : {types::U32, types::I64, types::Index}) {
      const KernelSignature s = SignatureOf(Dot(guarded, count));
      EXPECT_EQ(s.params[3].role, ParamRole::Extent);
      EXPECT_EQ(s.params[3].buffers, (std::vector<uint32_t>{0, 1}));
      EXPECT_EQ(s.params[4].role, ParamRole::Value);
      EXPECT_EQ(s.params[2].role, ParamRole::Buffer);
    }
  }
}

TEST(Kernel, ParametersWithoutNamesGetOnes) {
  KernelSignature s = Signature("frz 1\nfunc @main(%0: f32) {\n  return\n}\n");
  EXPECT_EQ(s.params[0].name.substr(0, 1), s.params[0].name == "0" ? "0" : "p");
}

}  // namespace
}  // namespace frazil::ir
