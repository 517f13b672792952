// Launches without a GPU: on the driver in this program (test_driver.h), and what is asked of it.
#include "targets/cuda/driver/callable.h"

#include <gtest/gtest.h>

#include <thread>

#include "ir/digest.h"
#include "targets/cuda/driver/target.h"
#include "targets/cuda/driver/test_driver.h"

namespace frazil::targets::cuda {
namespace {

using exec::Value;

// "": the program itself.
std::shared_ptr<Device> NoDevice() {
  auto device = Device::Open("");
  EXPECT_TRUE(device) << device.error().ToString();
  return device ? *device : nullptr;
}

PtxModule ModuleOf(StepKind kind) {
  PtxModule module;
  module.arch = "sm_90";
  module.text = "// nothing";
  module.source = *ir::ParseText("frz 1\nfunc @main(%a: index, %b: index) {\n  return\n}\n");
  module.sizes = *ir::ParseText(
      "frz 1\nfunc @main(%a: index, %b: index) -> (index, index) {\n  return %a, %b\n}\n");
  PtxStep step;
  step.kind = kind;
  step.entry = "k";
  step.threads = 256;
  step.lo = 0;
  step.hi = 1;
  module.steps.push_back(step);
  return module;
}

Result<exec::Outcome> RunOn(PtxModule module, int64_t a, int64_t b,
                            const exec::RunContext& context = {}) {
  test_driver::Get().launched.clear();
  auto callable = MakeCudaCallable(NoDevice(), std::move(module));
  EXPECT_TRUE(callable) << callable.error().ToString();
  const Value arguments[] = {Value::Int(ir::types::Index, a), Value::Int(ir::types::Index, b)};
  return (*callable)->Run(arguments, context);
}

TEST(Launches, IterationsThatAreTooManyAreRefusedAndNeverNone) {
  EXPECT_TRUE(RunOn(ModuleOf(StepKind::Flat), 5, 5));
  const auto& launched = test_driver::Get().launched;
  EXPECT_TRUE(launched.empty());
  EXPECT_TRUE(RunOn(ModuleOf(StepKind::Flat), -3, 1000));
  ASSERT_EQ(launched.size(), 1u);
  EXPECT_EQ(launched[0], std::pair(4u, 256u));
  // The last two differ by more than the greatest index.
  for (auto [lo, hi] : {std::pair<int64_t, int64_t>{0, INT64_MAX},
                        {INT64_MIN, 0},
                        {-9'000'000'000'000'000'000, 9'000'000'000'000'000'000}}) {
    const auto outcome = RunOn(ModuleOf(StepKind::Flat), lo, hi);
    ASSERT_FALSE(outcome) << lo << " to " << hi;
    EXPECT_EQ(outcome.error().message, "more iterations than a GPU can number");
    // A judge must not take what the machine cannot do for a wrong answer.
    EXPECT_EQ(ClassOf(outcome.error().diag), ErrorClass::Limit);
  }
  // A trap of a block's lane has 32 bits for the block.
  EXPECT_TRUE(RunOn(ModuleOf(StepKind::Blocks), 0, int64_t{1} << 32));
  EXPECT_FALSE(RunOn(ModuleOf(StepKind::Blocks), 0, (int64_t{1} << 32) + 1));
  EXPECT_TRUE(RunOn(ModuleOf(StepKind::Flat), 0, (int64_t{1} << 32) + 1));
}

// Two branches with scratch of their own: the first one's has ended. That is not seen here, so nothing is said.
TEST(Launches, ScratchOfBranchesIsNoFalseTrap) {
  PtxModule module = ModuleOf(StepKind::Flat);
  module.steps.clear();
  for (int32_t branch : {0, 1}) {
    PtxStep step;
    step.kind = StepKind::Alloc;
    step.entry = "alloc";
    step.shared = {{0, 8}};
    step.guards = {{branch, 3}};
    module.steps.push_back(step);
  }
  exec::RunContext context;
  context.limits.memory_bytes = 48;
  auto both = RunOn(module, 3, 3, context);
  ASSERT_TRUE(both) << both.error().ToString();
  EXPECT_FALSE(both->trap);
  context.limits.memory_bytes = 40;
  both = RunOn(module, 3, 3, context);
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().diag, Diag::Unsupported);
  // One alone is too much: that is certain.
  context.limits.memory_bytes = 20;
  both = RunOn(module, 3, 3, context);
  ASSERT_TRUE(both);
  EXPECT_EQ(both->trap, (exec::TrapInfo{ir::Trap::Memory, ir::Op::Alloc, -1}));
  // What the function holds is held to its end.
  for (PtxStep& step : module.steps) step.guards.clear();
  context.limits.memory_bytes = 40;
  both = RunOn(module, 3, 3, context);
  ASSERT_TRUE(both);
  EXPECT_EQ(both->trap, (exec::TrapInfo{ir::Trap::Memory, ir::Op::Alloc, -1}));
}

// One function, launched with little and with much shared memory: neither changes what the other may ask for.
TEST(Launches, SharedMemoryOfOneIsNoLimitForAnother) {
  const auto device = NoDevice();
  const auto module = *device->Load("// nothing");
  Launch much, little;
  much.function = little.function = *module->Find("k");
  much.words = little.words = {0};
  much.shared_bytes = 100 << 10;
  little.shared_bytes = 60 << 10;
  EXPECT_EQ(device->Start(much), 0) << "the quick way asks for nothing first";
  const auto failures = [&](const Launch& launch) {
    int failed = 0;
    for (int i = 0; i < 2000; ++i) failed += device->Run(launch) ? 0 : 1;
    return failed;
  };
  int other_failures = 0;
  std::thread other([&] { other_failures = failures(little); });
  EXPECT_EQ(failures(much), 0);
  other.join();
  EXPECT_EQ(other_failures, 0);
  EXPECT_EQ(device->Start(much), 0);
}

// Once a call runs, nobody else answers, and the sentence does not say so.
TEST(Launches, AFailureIsToldAsItIs) {
  for (const char* function : {"allocate", "launch", "wait"}) {
    auto device = NoDevice();
    test_driver::Get().failing = function;
    const auto outcome = RunOn(ModuleOf(StepKind::Flat), 0, 10);
    test_driver::Get().failing = nullptr;
    ASSERT_FALSE(outcome) << function;
    EXPECT_NE(outcome.error().message.find("failed: no luck"), std::string::npos);
    EXPECT_EQ(outcome.error().message.find("CPU"), std::string::npos) << outcome.error().message;
  }
}

constexpr const char* DivideText = R"(frz 1
func @divide(%a: i32, %b: i32, %x: buffer<i32>) -> (i32) {
  %zero = const 0 : index
  %v = load %x, %zero : i32
  %q = div.trunc %a, %b : i32
  %s = add %q, %v : i32
  store %x, %zero, %s : i32
  return %s
}
)";

// The target without a compiler: it runs what was made elsewhere, and only for the program that it was made of.
TEST(DriverTarget, LoadsAndRunsWhatOthersEmitted) {
  const DriverTarget target("");
  const ir::Program program = *ir::ParseText(DivideText);
  EXPECT_EQ(target.Emit(program, {}).error().diag, Diag::MissingTool);
  EXPECT_EQ(*target.Machine(), "nothing by " + (*Device::Open(""))->driver());
  EXPECT_NE((*Device::Open(""))->driver().find(", CUDA 13.0"), std::string::npos);
  auto artifact = ArtifactOfModule(SerializeModule(test_driver::ModuleOf(program, program)));
  ASSERT_TRUE(artifact) << artifact.error().ToString();
  EXPECT_EQ(artifact->profile, "sm_90");
  EXPECT_EQ(ir::ExactDigest(*artifact->source), ir::ExactDigest(program));
  const int64_t before = test_driver::Get().allocations;
  {
    const auto callable = target.Load(*artifact);
    ASSERT_TRUE(callable) << callable.error().ToString();
    EXPECT_TRUE((*callable)->is_concurrent());
    auto memory = std::make_shared<exec::Memory>(ir::types::I32, 1);
    memory->Set(0, std::vector<uint64_t>{5});
    const Value arguments[] = {Value::Int(ir::types::I32, 7), Value::Int(ir::types::I32, -2),
                               Value::Buffer(memory)};
    const auto outcome = (*callable)->Run(arguments, {});
    ASSERT_TRUE(outcome) << outcome.error().ToString();
    EXPECT_EQ(outcome->results[0], Value::Int(ir::types::I32, 2));
    uint64_t stored = 0;
    memory->Get(0, {&stored, 1});
    EXPECT_EQ(stored, 2u);
    const Value by_zero[] = {arguments[0], Value::Int(ir::types::I32, 0), arguments[2]};
    const auto trapped = (*callable)->Run(by_zero, {});
    ASSERT_TRUE(trapped);
    EXPECT_EQ(trapped->trap, (exec::TrapInfo{ir::Trap::DivisionByZero, ir::Op::DivTrunc, -1}));
  }
  EXPECT_EQ(test_driver::Get().allocations, before) << "what was taken was given back";
  artifact->source =
      std::make_shared<const ir::Program>(*ir::ParseText("frz 1\nfunc @main() {\n  return\n}\n"));
  EXPECT_EQ(target.Load(*artifact).error().message, "the PTX module is of another program");
}

TEST(DriverTarget, WithoutADriverThereIsNoMachine) {
  const DriverTarget target("libfrazil_there_is_no_such_driver.so.1");
  EXPECT_EQ(target.Machine().error().diag, Diag::NoDevice);
  const ir::Program program = *ir::ParseText(DivideText);
  const auto artifact = ArtifactOfModule(SerializeModule(test_driver::ModuleOf(program, program)));
  EXPECT_EQ(target.Load(*artifact).error().diag, Diag::NoDevice);
}

}  // namespace
}  // namespace frazil::targets::cuda
