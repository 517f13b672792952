// Launches without a GPU: the functions of a driver that does nothing, in this program, and what is asked of them.
#include "targets/cuda/driver/callable.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "exec/meaning/interpreter.h"
#include "ir/text/text.h"

namespace {

std::vector<std::pair<unsigned, unsigned>> launched;  // blocks, threads
const char* failing = nullptr;                        // the function that fails

int StatusOf(const char* function) {
  return failing != nullptr && std::strcmp(failing, function) == 0 ? 719 : 0;
}

template <typename T>
int Give(T** handle, const char* function) {
  static char thing;
  *handle = reinterpret_cast<T*>(&thing);
  return StatusOf(function);
}

}  // namespace

namespace cuda = frazil::targets::cuda;

extern "C" {
int cuInit(unsigned) { return 0; }
int cuDeviceGet(int* device, int) { return *device = 0; }
int cuDeviceGetName(char* name, int size, int) {
  std::strncpy(name, "nothing", static_cast<size_t>(size));
  return 0;
}
int cuDeviceGetAttribute(int* value, int which, int) {
  *value = which == 16 ? 4 : which == 75 ? 9 : which == 97 ? 1 << 17 : 0;
  return 0;
}
int cuDevicePrimaryCtxRetain(cuda::ContextHandle** context, int) { return Give(context, "retain"); }
int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
int cuCtxSetCurrent(cuda::ContextHandle*) { return 0; }
int cuModuleLoadDataEx(cuda::ModuleHandle** module, const void*, unsigned, int*, void**) {
  return Give(module, "load");
}
int cuModuleUnload(cuda::ModuleHandle*) { return 0; }
int cuModuleGetFunction(cuda::FunctionHandle** function, cuda::ModuleHandle*, const char*) {
  return Give(function, "function");
}
int cuFuncSetAttribute(cuda::FunctionHandle*, int, int) { return 0; }
int cuFuncGetAttribute(int*, int, cuda::FunctionHandle*) { return 0; }
int cuMemAlloc_v2(cuda::DevicePointer* address, size_t bytes) {
  if (const int status = StatusOf("allocate"); status != 0) return status;
  *address = reinterpret_cast<cuda::DevicePointer>(std::malloc(bytes));
  return 0;
}
int cuMemFree_v2(cuda::DevicePointer address) {
  std::free(reinterpret_cast<void*>(address));
  return 0;
}
int cuMemcpyHtoDAsync_v2(cuda::DevicePointer to, const void* from, size_t bytes,
                         cuda::StreamHandle*) {
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return 0;
}
int cuMemcpyDtoHAsync_v2(void* to, cuda::DevicePointer from, size_t bytes, cuda::StreamHandle*) {
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return 0;
}
int cuMemcpyDtoDAsync_v2(cuda::DevicePointer, cuda::DevicePointer, size_t, cuda::StreamHandle*) {
  return 0;
}
int cuMemsetD8Async(cuda::DevicePointer to, unsigned char value, size_t bytes,
                    cuda::StreamHandle*) {
  std::memset(reinterpret_cast<void*>(to), value, bytes);
  return 0;
}
int cuStreamCreate(cuda::StreamHandle** stream, unsigned) { return Give(stream, "stream"); }
int cuStreamDestroy_v2(cuda::StreamHandle*) { return 0; }
int cuStreamSynchronize(cuda::StreamHandle*) { return StatusOf("wait"); }
int cuStreamQuery(cuda::StreamHandle*) { return 0; }
int cuLaunchKernel(cuda::FunctionHandle*, unsigned blocks, unsigned, unsigned, unsigned threads,
                   unsigned, unsigned, unsigned, cuda::StreamHandle*, void**, void**) {
  launched.emplace_back(blocks, threads);
  return StatusOf("launch");
}
int cuStreamBeginCapture_v2(cuda::StreamHandle*, int) { return 0; }
int cuStreamEndCapture(cuda::StreamHandle*, cuda::GraphHandle**) { return 0; }
int cuGraphInstantiateWithFlags(cuda::GraphExecHandle**, cuda::GraphHandle*, unsigned long long) {
  return 0;
}
int cuGraphLaunch(cuda::GraphExecHandle*, cuda::StreamHandle*) { return 0; }
int cuGraphDestroy(cuda::GraphHandle*) { return 0; }
int cuGraphExecDestroy(cuda::GraphExecHandle*) { return 0; }
int cuEventCreate(cuda::EventHandle** event, unsigned) { return Give(event, "event"); }
int cuEventRecord(cuda::EventHandle*, cuda::StreamHandle*) { return 0; }
int cuEventElapsedTime(float*, cuda::EventHandle*, cuda::EventHandle*) { return 0; }
int cuEventDestroy_v2(cuda::EventHandle*) { return 0; }
int cuGetErrorString(int, const char** text) {
  *text = "no luck";
  return 0;
}
}

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
  launched.clear();
  auto callable = MakeCudaCallable(NoDevice(), std::move(module));
  EXPECT_TRUE(callable) << callable.error().ToString();
  const Value arguments[] = {Value::Int(ir::types::Index, a), Value::Int(ir::types::Index, b)};
  return (*callable)->Run(arguments, context);
}

TEST(Launches, IterationsThatAreTooManyAreRefusedAndNeverNone) {
  EXPECT_TRUE(RunOn(ModuleOf(StepKind::Flat), 5, 5));
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

// Once a call runs, nobody else answers, and the sentence does not say so.
TEST(Launches, AFailureIsToldAsItIs) {
  for (const char* function : {"allocate", "launch", "wait"}) {
    auto device = NoDevice();
    failing = function;
    const auto outcome = RunOn(ModuleOf(StepKind::Flat), 0, 10);
    failing = nullptr;
    ASSERT_FALSE(outcome) << function;
    EXPECT_NE(outcome.error().message.find("failed: no luck"), std::string::npos);
    EXPECT_EQ(outcome.error().message.find("CPU"), std::string::npos) << outcome.error().message;
  }
}

}  // namespace
}  // namespace frazil::targets::cuda
