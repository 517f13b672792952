// Reader and printer on a program of 100,000 instructions.
#include <fmt/format.h>

#include "base/check.h"
#include "harness.h"
#include "ir/builder.h"
#include "ir/digest.h"
#include "ir/text/text.h"

namespace frazil::bench {
namespace {

constexpr uint32_t InstCount = 100'000;

ir::Program LargeProgram() {
  using namespace ir;
  Program program;
  FunctionBuilder b(program, "main", {types::I64, types::F32, types::Index}, {types::I64});
  ValueId whole = b.Param(0);
  ValueId real = b.Param(1);
  b.Name(whole, "whole");
  for (uint32_t i = 0; i < InstCount / 5; ++i) {
    ValueId c = b.ConstInt(types::I64, static_cast<int64_t>(i) * 7919);
    whole = b.Binary(i % 2 == 0 ? Op::Add : Op::Xor, whole, c);
    ValueId k = b.ConstFloat(types::F32, 1.0 / (i + 1));
    real = b.Binary(Op::Mul, real, k);
    ValueId bits = b.Cast(Op::Cast, real, types::I64);
    if (i % 50 == 0) whole = b.Binary(Op::Sub, whole, bits);
  }
  b.Return({whole});
  b.Finish();
  return program;
}

}  // namespace

FRAZIL_FIGURE(text) {
  ir::Program program = LargeProgram();
  double insts = static_cast<double>(program.functions[0].insts.size());
  std::string text = ir::PrintText(program);
  std::vector<Times> times = Interleave({[&] {
                                           Result<ir::Program> read = ir::ParseText(text);
                                           CHECK(read.has_value());
                                           Keep(read->functions.size());
                                         },
                                         [&] { Keep(ir::PrintText(program).size()); },
                                         [&] { Keep(ir::ExactDigest(program).size()); }},
                                        15);
  const char* names[] = {"read and check a 100,000-op program", "print a 100,000-op program"};
  for (int i = 0; i < 2; ++i) {
    double rate = insts / times[static_cast<size_t>(i)].median_s / 1e6;
    Report({"ir", names[i], rate, "M ops/s", "", 0, ">= 1 M ops/s", rate >= 1});
  }
  Report({"ir", "canonicalise and digest a 100,000-op program", insts / times[2].median_s / 1e6,
          "M ops/s", "", 0, "-", std::nullopt, "no goal"});
}

}  // namespace frazil::bench
