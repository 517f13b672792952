#include "runtime/builders.h"

#include <gtest/gtest.h>

#include "exec/meaning/interpreter.h"
#include "ir/digest.h"
#include "ir/kernel.h"

namespace frazil::runtime::builders {
namespace {

using exec::Memory;
using exec::Value;
namespace types = ir::types;

template <typename T>
std::shared_ptr<Memory> Borrow(ir::Type type, std::vector<T>& values) {
  return std::make_shared<Memory>(type, static_cast<int64_t>(values.size()), values.data());
}

void RunProgram(const Result<ir::Program>& program, std::vector<Value> arguments) {
  ASSERT_TRUE(program) << program.error().ToString();
  auto outcome = exec::Interpret(*program, arguments);
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_FALSE(outcome->trap);
}

TEST(Builders, Elementwise) {
  std::vector<float> a = {1, -2, 3}, b = {10, 20, 30}, c(3);
  RunProgram(ElementwiseBinary(ir::Op::Sub, types::F32),
             {Value::Buffer(Borrow(types::F32, a)), Value::Buffer(Borrow(types::F32, b)),
              Value::Buffer(Borrow(types::F32, c)), Value::Int(types::U32, 3)});
  EXPECT_EQ(c, (std::vector<float>{-9, -22, -27}));
  RunProgram(ElementwiseUnary(ir::Op::Abs, types::F32),
             {Value::Buffer(Borrow(types::F32, a)), Value::Buffer(Borrow(types::F32, c)),
              Value::Int(types::U32, 2)});
  EXPECT_EQ(c, (std::vector<float>{1, 2, -27})) << "n bounds it";
  RunProgram(ElementwiseScalar(ir::Op::Mul, types::F32),
             {Value::Buffer(Borrow(types::F32, a)), Value::Buffer(Borrow(types::F32, c)),
              Value::Int(types::U32, 3), Value::Float(types::F32, 0.5)});
  EXPECT_EQ(c, (std::vector<float>{0.5, -1, 1.5}));
}

TEST(Builders, ElementwiseOfEveryTypeThatTheOpHas) {
  for (const ir::OpInfo& info : ir::AllOps()) {
    for (int s = 0; s < ir::ScalarCount; ++s) {
      const auto scalar = static_cast<ir::Scalar>(s);
      const ir::Type type = scalar == ir::Scalar::Int ? ir::Type::Int(2) : ir::Type::Of(scalar);
      const bool has_type = ir::Contains(info.types, scalar);
      EXPECT_EQ(ElementwiseUnary(info.op, type).has_value(), info.signature == "T->T" && has_type)
          << info.mnemonic;
      EXPECT_EQ(ElementwiseBinary(info.op, type).has_value(),
                info.signature == "T,T->T" && has_type)
          << info.mnemonic;
    }
  }
}

TEST(Builders, ExtentsMayBeLeftOut) {
  const auto signature = ir::SignatureOf(*ElementwiseBinary(ir::Op::Add, types::F32));
  ASSERT_EQ(signature.params.size(), 4u);
  EXPECT_EQ(signature.params[3].role, ir::ParamRole::Extent);
  EXPECT_EQ(signature.params[3].buffers, (std::vector<uint32_t>{0, 1, 2}));
}

TEST(Builders, Reductions) {
  std::vector<float> a(10'000, 1), result = {-1};
  a[77] = -5;
  const auto run = [&](ir::ReduceKind kind) {
    RunProgram(Reduction(kind, types::F32),
               {Value::Buffer(Borrow(types::F32, a)), Value::Buffer(Borrow(types::F32, result)),
                Value::Int(types::Index, static_cast<int64_t>(a.size()))});
    return result[0];
  };
  EXPECT_EQ(run(ir::ReduceKind::Sum), 9994);
  EXPECT_EQ(run(ir::ReduceKind::Min), -5);
  EXPECT_EQ(run(ir::ReduceKind::Max), 1);
  EXPECT_FALSE(Reduction(ir::ReduceKind::Sum, ir::Type::Int(2)));
}

TEST(Builders, Matrices) {
  std::vector<double> a = {1, 2, 3, 4, 5, 6}, b = {1, 0, 0, 1, 1, 1}, y(4), x = {1, 10, 100}, v(2);
  RunProgram(Matmul(types::F64),
             {Value::Buffer(Borrow(types::F64, a)), Value::Buffer(Borrow(types::F64, b)),
              Value::Buffer(Borrow(types::F64, y)), Value::Int(types::U32, 2),
              Value::Int(types::U32, 2), Value::Int(types::U32, 3)});
  EXPECT_EQ(y, (std::vector<double>{4, 5, 10, 11}));
  RunProgram(
      Matvec(types::F64),
      {Value::Buffer(Borrow(types::F64, a)), Value::Buffer(Borrow(types::F64, x)),
       Value::Buffer(Borrow(types::F64, v)), Value::Int(types::U32, 2), Value::Int(types::U32, 3)});
  EXPECT_EQ(v, (std::vector<double>{321, 654}));
  EXPECT_FALSE(Matmul(types::I32));
}

TEST(Builders, ContentDecidesTheDigest) {
  EXPECT_NE(ir::ExactDigest(*ElementwiseBinary(ir::Op::Add, types::F32)),
            ir::ExactDigest(*ElementwiseBinary(ir::Op::Mul, types::F32)));
  EXPECT_NE(ir::ExactDigest(*ElementwiseBinary(ir::Op::Add, types::F32)),
            ir::ExactDigest(*ElementwiseBinary(ir::Op::Add, types::F64)));
  EXPECT_EQ(ir::ExactDigest(*ElementwiseBinary(ir::Op::Add, types::F32)),
            ir::ExactDigest(*ElementwiseBinary(ir::Op::Add, types::F32)));
}

TEST(Builders, ABodyMustFitItsShape) {
  const MapShape shape{"k", {types::F32}, {types::F32}, {}};
  EXPECT_FALSE(Map(shape, [](ir::FunctionBuilder&, auto, auto) { return ir::Values(); }));
  EXPECT_FALSE(Map(shape, [](ir::FunctionBuilder& b, auto e, auto) {
    return ir::Values{b.Cast(ir::Op::Cast, e[0], types::F64)};
  }));
}

}  // namespace
}  // namespace frazil::runtime::builders
