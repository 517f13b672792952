// Embedded PTX as the executor gets it: a proposal for the program that the portable form was proved to be. The driver is the
// tests' own and knows no PTX, so that the CPU answers; on a GPU tools/gpu does the same for good.
#include <gtest/gtest.h>
#include "embed_ptx_kernels.hpp"

#include <filesystem>

#include "registry/targets.h"
#include "runtime/executor.h"
#include "runtime/loaded_kernel.h"
#include "targets/cuda/driver/target.h"
#include "targets/cuda/driver/test_driver.h"

namespace frazil {
namespace {

namespace cuda = targets::cuda;

TEST(EmbeddedPtx, IsOfTheProgramThatWasProved) {
  const embed::ModuleData& kernels = embed_ptx_kernels::kernels();
  ASSERT_GT(kernels.size, 5u);
  for (size_t i = 0; i < kernels.size; ++i) {
    const auto source = runtime::Source::Embedded(kernels[i]);
    ASSERT_TRUE(source) << kernels[i].name.get() << ": " << source.error().ToString();
    const exec::Artifact* const ptx = source->ProposalFor("cuda");
    ASSERT_NE(ptx, nullptr) << kernels[i].name.get();
    EXPECT_EQ(ptx->profile, "sm_90");
    EXPECT_TRUE(cuda::ParseModule(ptx->bytes)) << kernels[i].name.get();
  }
}

TEST(EmbeddedPtx, IsGivenToTheDriverAndNotBelieved) {
  ASSERT_TRUE(registry::RegisterTarget(
      {"cuda", [] { return cuda::MakeDriverTarget(""); }, verify::RunsJudge, "tasm"}));
  runtime::ExecutorOptions options;
  options.backend = "cuda";
  options.compile = false;
  options.store = testing::TempDir() + "embedded_ptx_store";
  std::filesystem::remove_all(options.store);
  const auto executor = *runtime::Executor::Create(options);
  ASSERT_EQ(executor->backend(), "cuda");
  const embed::KernelData* const saxpy = embed_ptx_kernels::kernels().Find("saxpy");
  ASSERT_NE(saxpy, nullptr);
  const auto kernel = *executor->Load(*runtime::Source::Embedded(*saxpy));
  EXPECT_NE(cuda::test_driver::Get().last_text.find(".target sm_90"), std::string::npos);
  EXPECT_NE(kernel->reason().find("loading PTX"), std::string::npos) << kernel->reason();
  auto x = *executor->Allocate<float>(3), y = *executor->Allocate<float>(3);
  for (size_t i = 0; i < 3; ++i) x.span()[i] = 2, y.span()[i] = 1;
  const auto launched = executor->Launch(*kernel, {}, {3.0f, x, y});
  ASSERT_TRUE(launched) << launched.error().ToString();
  EXPECT_EQ(y.ToVector(), std::vector<float>(3, 7));
}

}  // namespace
}  // namespace frazil
