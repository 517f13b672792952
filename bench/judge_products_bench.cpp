// What it takes to judge native code of products: the interpreter's product itself, and the verdict about a fused program of two.
#include <fmt/format.h>

#include "base/check.h"
#include "exec/meaning/tensors/tensor_ops.h"
#include "harness.h"
#include "ir/text/text.h"
#include "optimize/fusion/fusion.h"
#include "targets/native/native.h"
#include "verify/verify.h"

namespace frazil::bench {
namespace {

// relu(x @ w1 + b1) @ w2
ir::Program TwoProducts(int size) {
  const std::string square = fmt::format("tensor<f32, [{0}, {0}]>", size);
  const std::string text = fmt::format(
      "frz 1\nfunc @main(%x: {0}, %w1: {0}, %b1: tensor<f32, [{1}]>, %w2: {0}) -> ({0}) {{\n"
      "  %p = matmul %x, %w1 : {0}\n  %b = broadcast %b1 {{axes = [1]}} : {0}\n"
      "  %zero = const 0 : f32\n  %h = map (%e = %p, %f = %b) -> {0} {{\n"
      "    %s = add %e, %f : f32\n    %r = max %s, %zero : f32\n    yield %r\n  }}\n"
      "  %q = matmul %h, %w2 : {0}\n  return %q\n}}\n",
      square, size);
  return *ir::ParseText(text);
}

exec::Object Square(int64_t size) {
  exec::Object object{std::make_shared<exec::Memory>(ir::types::F32, size * size), {size, size}};
  for (int64_t i = 0; i < size * size; ++i) {
    const uint64_t word = 0x3f800000 + static_cast<uint64_t>(i) * 997;
    object.memory->Set(i, std::span(&word, 1));
  }
  return object;
}

void JudgeTwo(int size, double goal_s) {
  const ir::Program source = TwoProducts(size);
  const auto offered = optimize::FusedCandidate(source);
  CHECK(offered && *offered);
  const ir::Program& fused = (*offered)->program;
  const Result<exec::NativeImage> image = targets::native::EmitImage(fused, {});
  CHECK(image);
  std::string said;
  const std::vector<Times> times = Interleave({[&] {
                                                const Result<verify::Verdict> verdict =
                                                    verify::VerifyCode(fused, *image, {});
                                                CHECK(verdict);
                                                said = verify::VerdictName(*verdict);
                                              }},
                                              3);
  Report({.area = "verify",
          .figure = fmt::format("verdict about native code of two products of {0} x {0}", size),
          .ours = times[0].min_s * 1e3,
          .unit = "ms",
          .goal = fmt::format("tested in <= {:.0f} ms", goal_s * 1e3),
          .met = said == "tested" && times[0].min_s <= goal_s,
          .reason = said});
}

}  // namespace

FRAZIL_FIGURE(judge_products) {
  const exec::Object a = Square(64), b = Square(64);
  exec::Object rows = Square(64), chains = Square(64);
  const auto never = [] { return false; };
  const std::vector<Times> times =
      Interleave({[&] { exec::Matmul(a, b, false, never, rows); },
                  [&] { exec::MatmulByChains(a, b, false, never, chains); }},
                 15);
  Report({.area = "verify",
          .figure = "the interpreter's product of 64 x 64 x 64, f32",
          .ours = times[0].min_s * 1e6,
          .unit = "us",
          .goal = "<= 50 us",
          .met = times[0].min_s <= 50e-6,
          .reason = fmt::format("one output after the other: {:.0f} us", times[1].min_s * 1e6)});
  JudgeTwo(64, 0.5);
  JudgeTwo(256, 2);
}

}  // namespace frazil::bench
