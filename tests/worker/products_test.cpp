// Code of products, which the interpreter has to run as often as any other.
#include <gtest/gtest.h>

#include "ir/text/text.h"
#include "targets/native/native.h"
#include "verify/verify.h"

namespace frazil::engine {
namespace {

// The interpreter takes 26 us for a product of 64 x 64 x 64, by rows of chains: two of them are run often enough. What tensors of
// constant shapes never need (shorter ones, results that lie where an operand does) is no code that never ran.
TEST(Judged, TwoProductsOfConstantShapes) {
  const Result<ir::Program> parsed = ir::ParseText(R"(frz 1
func @main(%x: tensor<f32, [64, 64]>, %w: tensor<f32, [64, 64]>, %b: tensor<f32, [64]>, %v: tensor<f32, [64, 64]>) -> (tensor<f32, [64, 64]>) {
  %zero = const 0.0 : f32
  %p = matmul %x, %w : tensor<f32, [64, 64]>
  %h = generate (%i, %j) -> (tensor<f32, [64, 64]>) {
    %e = extract %p, %i, %j : f32
    %f = extract %b, %j : f32
    %s = add %e, %f : f32
    %r = max %s, %zero : f32
    yield %r
  }
  %q = matmul %h, %v : tensor<f32, [64, 64]>
  return %q
}
)");
  ASSERT_TRUE(parsed) << parsed.error().ToString();
  const ir::Program& program = *parsed;
  const Result<exec::NativeImage> image = targets::native::EmitImage(program, {});
  ASSERT_TRUE(image.has_value());
  const Result<verify::Verdict> verdict = verify::VerifyCode(program, *image, {});
  ASSERT_TRUE(verdict.has_value());
  EXPECT_EQ(verify::VerdictName(*verdict), "tested") << verify::Describe(*verdict);
}

}  // namespace
}  // namespace frazil::engine
