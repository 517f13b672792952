#include "exec/guard_eval.h"

#include <gtest/gtest.h>

#include "ir/text/text.h"

namespace frazil::exec {
namespace {

constexpr char Text[] = R"(frz 1
func @main(%a: i32, %x: in buffer<f32>, %y: buffer<f32>, %f: f64, %u: u8, %e: xfield,
           %n: index, %z: buffer<f32>) {
  return
}
)";

class GuardEval : public testing::Test {
 protected:
  GuardEval() : program(*ir::ParseText(Text)) {
    // Aligned to 64 bytes, so that x is at 64 + 16 and y behind it.
    std::byte* base = bytes + (64 - reinterpret_cast<uintptr_t>(bytes) % 64);
    x = std::make_shared<Memory>(ir::types::F32, 8, base + 16);
    y = std::make_shared<Memory>(ir::types::F32, 5, base + 48);
    arguments = {Value::Int(ir::types::I32, -7),
                 Value::Buffer(x),
                 Value::Buffer(y),
                 Value::Float(ir::types::F64, 2.5),
                 Value::Int(ir::types::U8, 200),
                 Value::Scalar(ir::types::XField, std::vector<uint64_t>{1, 2, 3}),
                 Value::Int(ir::types::Index, 5),
                 Value::Buffer(std::make_shared<Memory>(ir::types::F32, 9))};
  }

  bool HoldsText(std::string_view text) {
    Result<ir::Guard> guard = ir::ParseGuard(text, program);
    EXPECT_TRUE(guard) << text << ": " << guard.error().ToString();
    return guard && Holds(*guard, arguments);
  }

  ir::Program program;
  std::byte bytes[256];
  std::shared_ptr<Memory> x, y;
  std::vector<Value> arguments;
};

TEST_F(GuardEval, Scalars) {
  EXPECT_TRUE(HoldsText("true"));
  EXPECT_TRUE(HoldsText("arg0 == -7"));
  EXPECT_FALSE(HoldsText("arg0 == 7"));
  EXPECT_TRUE(HoldsText("-7 <= arg0 <= -7"));
  EXPECT_TRUE(HoldsText("-2147483648 <= arg0 <= 0"));
  EXPECT_FALSE(HoldsText("-6 <= arg0 <= 2147483647"));
  EXPECT_TRUE(HoldsText("127 <= arg4 <= 255"));
  EXPECT_FALSE(HoldsText("0 <= arg4 <= 199"));
  EXPECT_TRUE(HoldsText("-inf <= arg3 <= 2.5"));
  EXPECT_FALSE(HoldsText("2.75 <= arg3 <= inf"));
  EXPECT_TRUE(HoldsText("arg5 == (1, 2, 3)"));
  EXPECT_FALSE(HoldsText("arg5 == (1, 2, 4)"));
}

TEST_F(GuardEval, EqualityIsOfBitsAndOrderOfValues) {
  arguments[3] = Value::Float(ir::types::F64, -0.0);
  EXPECT_TRUE(HoldsText("arg3 == -0"));
  EXPECT_FALSE(HoldsText("arg3 == 0"));
  EXPECT_TRUE(HoldsText("0 <= arg3 <= 0"));
  arguments[3] = Value::Word(ir::types::F64, 0x7ff8000000000000);
  EXPECT_TRUE(HoldsText("arg3 == nan"));
  EXPECT_FALSE(HoldsText("-inf <= arg3 <= inf"));
}

TEST_F(GuardEval, Memory) {
  EXPECT_TRUE(
      HoldsText("len(arg1) == 8 && len(arg1) % 4 == 0 && len(arg1) >= 8 && stride(arg1) == 1"));
  EXPECT_FALSE(HoldsText("len(arg2) % 4 == 0"));
  EXPECT_FALSE(HoldsText("len(arg2) >= 6"));
  EXPECT_FALSE(HoldsText("stride(arg1) == 2"));
  EXPECT_TRUE(HoldsText("align(arg1) >= 16"));
  EXPECT_FALSE(HoldsText("align(arg1) >= 32"));
  EXPECT_TRUE(HoldsText("disjoint(arg1, arg2)"));
  EXPECT_FALSE(HoldsText("same(arg1, arg2)"));
  arguments[2] = arguments[1];
  EXPECT_TRUE(HoldsText("same(arg1, arg2)"));
  EXPECT_FALSE(HoldsText("disjoint(arg1, arg2)"));
}

TEST_F(GuardEval, ManyBuffersAtOnce) {
  EXPECT_TRUE(HoldsText("apart(arg1, arg2, arg7)"));
  EXPECT_TRUE(HoldsText("cover(arg6; arg1, arg2, arg7)"));
  arguments[6] = Value::Int(ir::types::Index, 6);
  EXPECT_FALSE(HoldsText("cover(arg6; arg1, arg2, arg7)"));
  EXPECT_TRUE(HoldsText("cover(arg6; arg1, arg7)"));
  for (const int64_t extent : {int64_t{0}, int64_t{-1}, INT64_MIN}) {
    arguments[6] = Value::Int(ir::types::Index, extent);
    EXPECT_TRUE(HoldsText("cover(arg6; arg1, arg2, arg7)"));
  }
  // One element in common.
  arguments[7] = Value::Buffer(std::make_shared<Memory>(ir::types::F32, 2, x->data() + 28));
  EXPECT_TRUE(HoldsText("apart(arg1, arg2)"));
  EXPECT_FALSE(HoldsText("apart(arg1, arg2, arg7)"));
  EXPECT_FALSE(HoldsText("apart(arg7; arg1)"));
  EXPECT_FALSE(HoldsText("apart(arg1; arg2, arg7)"));
  // It overlaps the end of x and the beginning of y: those two are apart, and nothing else is.
  EXPECT_FALSE(HoldsText("apart(arg2; arg1, arg7)"));
  // Buffers that are one, and empty ones within another.
  arguments[7] = arguments[1];
  EXPECT_FALSE(HoldsText("apart(arg1, arg7)"));
  EXPECT_TRUE(HoldsText("apart(arg2; arg1, arg7)")) << "of the others nothing is said";
  arguments[7] = Value::Buffer(std::make_shared<Memory>(ir::types::F32, 0, x->data() + 4));
  EXPECT_TRUE(HoldsText("apart(arg1, arg2, arg7)"));
}

TEST_F(GuardEval, ArgumentsThatDoNotFitNeverHold) {
  Result<ir::Guard> guard = ir::ParseGuard("arg0 == -7 && len(arg1) == 8", program);
  ASSERT_TRUE(guard);
  EXPECT_FALSE(Holds(*guard, std::span(arguments).first(1)));
  Result<ir::Guard> many = ir::ParseGuard("apart(arg1, arg7) && cover(arg6; arg7)", program);
  ASSERT_TRUE(many);
  EXPECT_TRUE(Holds(*many, arguments));
  EXPECT_FALSE(Holds(many->atoms[0], std::span(arguments).first(7)));
  EXPECT_FALSE(Holds(many->atoms[1], std::span(arguments).first(7)));
  arguments[0] = Value::Int(ir::types::I64, -7);
  EXPECT_FALSE(Holds(*guard, arguments));
  arguments[0] = Value::Int(ir::types::I32, -7);
  arguments[1] = arguments[0];
  EXPECT_FALSE(Holds(*guard, arguments));
}

TEST_F(GuardEval, CpuFeaturesOfThisMachine) {
#if defined(__x86_64__)
  EXPECT_EQ(HoldsText("cpu(avx2)"), static_cast<bool>(__builtin_cpu_supports("avx2")));
  EXPECT_FALSE(HoldsText("cpu(neon)"));
#endif
}

}  // namespace
}  // namespace frazil::exec
