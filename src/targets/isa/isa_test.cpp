// Lowering and lifting: named programs, then random ones.
#include "targets/isa/isa.h"

#include <gtest/gtest.h>

#include "exec/generator.h"
#include "ir/digest.h"
#include "ir/text.h"

namespace frazil::targets::isa {
namespace {

ir::Program Parsed(const char* text) {
  Result<ir::Program> program = ir::ParseText(text);
  EXPECT_TRUE(program) << program.error().ToString();
  return program ? *program : ir::Program{};
}

constexpr const char* Saxpy = R"(frz 1
func @saxpy(%a: f32, %x: in buffer<f32>, %y: buffer<f32>, %n: u32) {
  %zero = const 0 : index
  %bound = cast %n : index
  parallel %i = %zero to %bound {
    %xi = load %x, %i : f32
    %p = mul %a, %xi : f32
    %yi = load %y, %i : f32
    %s = add %p, %yi : f32
    store %y, %i, %s : f32
    yield
  }
  return
}
)";

TEST(Isa, SaxpyComesBack) {
  ir::Program program = Parsed(Saxpy);
  Result<machines::simt::Module> module = Lower(program);
  ASSERT_TRUE(module) << module.error().ToString();
  EXPECT_EQ(module->code.size(), 12u);
  Result<void> proof = ProveLowering(program, *module);
  EXPECT_TRUE(proof) << proof.error().ToString();
  Result<ir::Program> lifted = Lift(*module);
  ASSERT_TRUE(lifted) << lifted.error().ToString();
  EXPECT_EQ(ir::ExactDigest(*lifted), ir::ExactDigest(program));
}

TEST(Isa, RandomProgramsComeBack) {
  int lowered = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    exec::GeneratorOptions options;
    options.seed = seed;
    options.size = 8 + seed % 40;
    options.allow_streams = false;
    options.allow_calls = false;
    options.types = ir::sets::Fixed | ir::sets::Float | ir::sets::Bool;
    ir::Program program = exec::Generate(options);
    Result<ir::Program> prepared = PrepareProgram(program);
    ASSERT_TRUE(prepared) << seed << ": " << prepared.error().ToString();
    Result<machines::simt::Module> module = LowerPrepared(*prepared);
    ASSERT_TRUE(module) << seed << ": " << module.error().ToString();
    Result<void> proof = ProvePrepared(*prepared, *module);
    ASSERT_TRUE(proof) << seed << ": " << proof.error().ToString();
    ++lowered;
  }
  EXPECT_EQ(lowered, 3000);
}

}  // namespace
}  // namespace frazil::targets::isa
