// Twenty thousand programs are well formed; together they hold every op and every type.

#include "exec/generator.h"

#include <gtest/gtest.h>

#include <set>

#include "ir/check.h"
#include "ir/text.h"

namespace frazil::exec {
namespace {

TEST(Generator, MakesWellFormedProgramsOfEveryOpAndType) {
  std::set<std::pair<ir::Op, ir::Scalar>> reached;
  for (uint64_t seed = 0; seed < 20'000; ++seed) {
    ir::Program program = Generate({.seed = seed});
    auto checked = ir::Check(program);
    ASSERT_TRUE(checked) << "seed " << seed << ": " << checked.error().ToString() << "\n" << ir::PrintText(program);
    for (const ir::Function& function : program.functions)
      for (const ir::Inst& inst : function.insts) reached.insert({inst.op, inst.type.scalar});
  }
  for (const ir::OpInfo& info : ir::AllOps()) {
    if (info.types == ir::sets::None) {
      EXPECT_TRUE(std::any_of(reached.begin(), reached.end(), [&](auto pair) { return pair.first == info.op; }))
          << info.mnemonic << " is never made";
      continue;
    }
    for (int i = 0; i < ir::ScalarCount; ++i) {
      auto scalar = static_cast<ir::Scalar>(i);
      // The row of `cast` says Any, its meaning says which: never to bool, int<k> or digest.
      bool no_cast = info.op == ir::Op::Cast && (scalar == ir::Scalar::Bool || scalar == ir::Scalar::Int ||
                                                 scalar == ir::Scalar::Digest);
      if (ir::Contains(info.types, scalar) && !no_cast)
        EXPECT_TRUE(reached.contains({info.op, scalar})) << info.mnemonic << " on " << ir::ScalarName(scalar);
    }
  }
}

TEST(Generator, IsDeterministic) {
  for (uint64_t seed = 0; seed < 50; ++seed)
    EXPECT_EQ(ir::PrintText(Generate({.seed = seed})), ir::PrintText(Generate({.seed = seed})));
}

TEST(Generator, KeepsToItsOptions) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    GeneratorOptions options{.seed = seed, .allow_tensors = false, .allow_buffers = false};
    options.allow_streams = options.allow_math = options.allow_calls = options.allow_parallel = false;
    options.types = ir::sets::Fixed;
    ir::Program program = Generate(options);
    ASSERT_EQ(program.functions.size(), 1u);
    for (const ir::Inst& inst : program.entry_function().insts) {
      EXPECT_LT(inst.op, ir::Op::Map);
      EXPECT_NE(ir::Info(inst.op).effect, ir::Effect::Io);
      EXPECT_NE(ir::Info(inst.op).effect, ir::Effect::Writes);
      EXPECT_TRUE(ir::Contains(ir::sets::Fixed | ir::sets::Bool, inst.type.scalar));
    }
  }
}

}  // namespace
}  // namespace frazil::exec
