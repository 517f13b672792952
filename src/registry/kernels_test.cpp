#include "registry/kernels.h"

#include <gtest/gtest.h>

#include "ir/text/text.h"
#include "machines/simt/text.h"
#include "targets/isa/isa.h"

namespace frazil::registry {
namespace {

const ir::Program& Twice() {
  static const auto* program = new ir::Program(*ir::ParseText(R"(frz 1
func @twice(%n: index, %x: buffer<i32>) {
  %zero = const 0 : index
  parallel %i = %zero to %n {
    %a = load %x, %i : i32
    %b = add %a, %a : i32
    store %x, %i, %b : i32
    yield
  }
  return
}
)"));
  return *program;
}

std::vector<exec::Value> OneTwoThree() {
  auto memory = std::make_shared<exec::Memory>(ir::types::I32, 3);
  for (int64_t i = 0; i < 3; ++i)
    memory->Set(i, exec::Value::Int(ir::types::I32, i + 1).scalar_words());
  return {exec::Value::Int(ir::types::Index, 3), exec::Value::Buffer(std::move(memory))};
}

void ExpectDoubled(const LoadedKernel& kernel, std::string_view target) {
  EXPECT_EQ(kernel.target, target);
  EXPECT_EQ(kernel.entry().param_count(), 2u);
  EXPECT_EQ(kernel.signature.params.size(), 2u);
  const std::vector<exec::Value> values = OneTwoThree();
  const auto run = RunTimed(kernel, values, {}, 2);
  ASSERT_TRUE(run) << run.error().ToString();
  EXPECT_FALSE(run->outcome.trap);
  EXPECT_GT(run->best_ns, 0);
  EXPECT_EQ(exec::PrintValue(values[1]), "[4, 8, 12]") << "twice, two times";
  const auto findings = kernel.sanitize(OneTwoThree(), {});
  ASSERT_TRUE(findings) << findings.error().ToString();
  EXPECT_TRUE(findings->empty());
}

TEST(Kernels, AProgramIsLoadedOnItsTarget) {
  for (const char* target : {"interp", "isa"}) {
    const auto kernel = LoadKernel(Twice(), target, {});
    ASSERT_TRUE(kernel) << kernel.error().ToString();
    ExpectDoubled(*kernel, target);
  }
  EXPECT_FALSE(LoadKernel(Twice(), "abacus", {}));
}

TEST(Kernels, AModuleRunsItselfOrIsTheProgramThatItIs) {
  const machines::simt::Module module = *targets::isa::Lower(Twice());
  for (const char* target : {"isa", "interp"}) {
    const auto kernel = LoadKernel(module, "twice.frzb", target, {}, {});
    ASSERT_TRUE(kernel) << kernel.error().ToString();
    ExpectDoubled(*kernel, target);
  }
}

TEST(Kernels, ATrapEndsTheRepetition) {
  const auto kernel = LoadKernel(Twice(), "interp", {});
  ASSERT_TRUE(kernel);
  std::vector<exec::Value> values = OneTwoThree();
  values[0] = exec::Value::Int(ir::types::Index, 4);
  const auto run = RunTimed(*kernel, values, {}, 3);
  ASSERT_TRUE(run) << run.error().ToString();
  ASSERT_TRUE(run->outcome.trap);
  EXPECT_EQ(exec::PrintValue(values[1]), "[2, 4, 6]") << "once";
}

}  // namespace
}  // namespace frazil::registry
