// PTX by the real worker for a program that arrived at run time, as an executor asks for it. The driver is the tests' own
// and knows no PTX, so that it ends there.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/system/process.h"
#include "ir/digest.h"
#include "registry/targets.h"
#include "runtime/builders.h"
#include "runtime/executor.h"
#include "runtime/loaded_kernel.h"
#include "targets/cuda/driver/target.h"
#include "targets/cuda/driver/test_driver.h"

namespace frazil {
namespace {

namespace cuda = targets::cuda;

RunResult Ask(const std::string& option, const std::string& input) {
  const auto run = RunCommand({.program = FRAZIL_REAL_WORKER, .words = {"frazil-worker", option}},
                              {.input = input, .deadline = Deadline::After(30'000)});
  EXPECT_TRUE(run);
  return run ? *run : RunResult();
}

TEST(WorkerEmits, AModuleOfTheProgramThatItWasGiven) {
  const ir::Program program = *runtime::builders::ElementwiseScalar(ir::Op::Mul, ir::types::F32);
  const RunResult run = Ask("--emit=cuda", ir::PrintText(program));
  ASSERT_TRUE(run.ending.is_success()) << run.messages;
  const auto module = cuda::ParseModule(run.output);
  ASSERT_TRUE(module) << module.error().ToString();
  EXPECT_EQ(ir::ExactDigest(module->source), ir::ExactDigest(program));
  EXPECT_NE(module->text.find(".target sm_90"), std::string::npos);
  EXPECT_NE(module->text.find("mul.rn.f32"), std::string::npos);
}

TEST(WorkerEmits, NothingElse) {
  for (const auto& [option, input] :
       {std::pair<std::string, std::string>{"--emit=cuda", "frz 1\nnonsense\n"},
        {"--emit=cuda", ""},
        {"--emit=abacus", "frz 1\nfunc @main() {\n  return\n}\n"}}) {
    const RunResult run = Ask(option, input);
    EXPECT_FALSE(run.ending.is_success()) << option;
    EXPECT_EQ(run.output, "");
    EXPECT_NE(run.messages, "");
  }
}

TEST(WorkerEmits, ForExecutorsWithoutACompiler) {
  ::setenv("FRAZIL_WORKER", FRAZIL_REAL_WORKER, 1);
  ASSERT_TRUE(registry::RegisterTarget(
      {"cuda", [] { return cuda::MakeDriverTarget(""); }, verify::RunsJudge, "tasm"}));
  runtime::ExecutorOptions options;
  options.backend = "cuda";
  options.store = testing::TempDir() + "worker_emit_store";
  std::filesystem::remove_all(options.store);
  const auto executor = *runtime::Executor::Create(options);
  ASSERT_EQ(executor->backend(), "cuda");
  const auto kernel =
      *executor->Load(*runtime::builders::ElementwiseScalar(ir::Op::Mul, ir::types::F32));
  EXPECT_NE(cuda::test_driver::Get().last_text.find("mul.rn.f32"), std::string::npos)
      << "the driver is given what the worker made";
  EXPECT_NE(kernel->reason().find("loading PTX"), std::string::npos) << kernel->reason();
  auto x = *executor->Allocate<float>(3);
  for (float& value : x.span()) value = 2;
  ASSERT_TRUE(executor->Launch(*kernel, {}, {x, x, runtime::Argument(), 3.0f}));
  EXPECT_EQ(x.ToVector(), std::vector<float>(3, 6)) << "and the CPU answers";
  ::setenv("FRAZIL_WORKER", "/nowhere/frazil-worker", 1);
  const auto without =
      *executor->Load(*runtime::builders::ElementwiseScalar(ir::Op::Add, ir::types::F32));
  EXPECT_NE(without->reason().find("/nowhere/frazil-worker"), std::string::npos)
      << without->reason();
}

}  // namespace
}  // namespace frazil
