// A driver without a GPU, in the test program itself: Device::Open(""). Its assembly is the text form of the IR, run by the
// interpreter, so that kernels compute and wrong ones are wrong; the text "// nothing" does nothing. One file of a program
// includes this. A program that can run other assembly says so in State::compile.
#pragma once

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exec/meaning/interpreter.h"
#include "ir/lower/lower.h"
#include "ir/text/text.h"
#include "targets/cuda/driver/api.h"
#include "targets/cuda/driver/module.h"
#include "targets/cuda/driver/test_module.h"

namespace frazil::targets::cuda::test_driver {

constexpr int InvalidValue = 1, InvalidPtx = 218, LaunchFailed = 719;
constexpr int MostShared = 1 << 17, OwnShared = 16;  // bytes of a block; of them a kernel's own

// A launch as the driver gets it.
struct Shape {
  unsigned blocks, threads, shared_bytes;
};
// Runs a kernel of a module with the words of a launch; the driver's status.
using Run =
    std::function<int(const std::string& kernel, const Shape& shape, const uint64_t* words)>;

struct State {
  std::function<Run(const std::string& text)> compile;  // empty: it is no such assembly
  std::mutex mutex;
  std::vector<std::pair<unsigned, unsigned>> launched;  // blocks, threads
  const char* failing = nullptr;                        // the function that fails
  int64_t allocations = 0;                              // that are alive
  std::string last_text;                                // of a module
};
inline State& Get() {
  static State state;
  return state;
}

inline int StatusOf(const char* function) {
  const std::lock_guard lock(Get().mutex);
  const char* const failing = Get().failing;
  return failing != nullptr && std::strcmp(failing, function) == 0 ? LaunchFailed : 0;
}

template <typename T>
int Give(T** handle, const char* function) {
  static char thing;
  *handle = reinterpret_cast<T*>(&thing);
  return StatusOf(function);
}

// What a loaded module is: a program over the words of a launch.
struct Module;
struct Kernel {
  Module* module;
  std::string name;
};
struct Module {
  Run run;
  std::optional<ir::Program> program;
  std::map<std::string, Kernel> kernels;
  std::atomic<int> most_dynamic = 48 << 10;  // bytes of shared memory for a launch
};

// The words are the arguments', then the scratch's, then the address of the run block (module.h).
inline int RunModule(const Module& module, const uint64_t* words, size_t count) {
  if (!module.program) return 0;
  const ir::Function& entry = module.program->entry_function();
  std::vector<exec::Value> arguments;
  size_t at = 0;
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    const ir::Type type = entry.param_type(i);
    if (!type.is_buffer()) {
      arguments.push_back(exec::Value::Scalar(type, {words + at, ir::WordsOf(type)}));
      at += ir::WordsOf(type);
      continue;
    }
    auto* const data = reinterpret_cast<std::byte*>(words[at]);
    std::shared_ptr<exec::Memory> memory;
    for (const exec::Value& earlier : arguments)
      if (earlier.memory && earlier.memory->data() == data) memory = earlier.memory;
    if (!memory)
      memory =
          std::make_shared<exec::Memory>(type.element(), static_cast<int64_t>(words[at + 1]), data);
    arguments.push_back(exec::Value::Buffer(std::move(memory)));
    at += 2;
  }
  auto* const run = reinterpret_cast<uint64_t*>(words[count - 1]);
  const auto outcome = exec::Interpret(*module.program, arguments);
  if (!outcome) return LaunchFailed;
  if (outcome->trap) {
    run[0] =
        static_cast<uint64_t>(outcome->trap->kind) << 8 | static_cast<uint64_t>(outcome->trap->op);
    run[1] = static_cast<uint64_t>(outcome->trap->index);
    run[2] = 1;
    return 0;
  }
  uint64_t* result = run + 4;
  for (const exec::Value& value : outcome->results)
    for (const uint64_t word : value.scalar_words()) *result++ = word;
  return 0;
}

}  // namespace frazil::targets::cuda::test_driver

namespace cuda_test = frazil::targets::cuda::test_driver;
namespace cuda_api = frazil::targets::cuda;

extern "C" {
int cuInit(unsigned) { return 0; }
int cuDriverGetVersion(int* version) { return *version = 13000, 0; }
int cuDeviceGet(int* device, int) { return *device = 0, cuda_test::StatusOf("device"); }
int cuDeviceGetName(char* name, int size, int) {
  std::strncpy(name, "nothing", static_cast<size_t>(size));
  return 0;
}
int cuDeviceGetAttribute(int* value, int which, int) {
  *value = which == 16 ? 4 : which == 75 ? 9 : which == 97 ? cuda_test::MostShared : 0;
  return 0;
}
int cuDevicePrimaryCtxRetain(cuda_api::ContextHandle** context, int) {
  return cuda_test::Give(context, "retain");
}
int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
int cuCtxSetCurrent(cuda_api::ContextHandle*) { return 0; }
int cuModuleLoadDataEx(cuda_api::ModuleHandle** module, const void* text, unsigned, int*, void**) {
  if (const int status = cuda_test::StatusOf("load"); status != 0) return status;
  auto made = std::make_unique<cuda_test::Module>();
  const std::string code = static_cast<const char*>(text);
  {
    const std::lock_guard lock(cuda_test::Get().mutex);
    cuda_test::Get().last_text = code;
  }
  if (cuda_test::Get().compile) made->run = cuda_test::Get().compile(code);
  if (code != "// nothing" && !made->run) {
    auto program = frazil::ir::ParseText(code);
    if (!program) return cuda_test::InvalidPtx;
    made->program = std::move(*program);
  }
  *module = reinterpret_cast<cuda_api::ModuleHandle*>(made.release());
  return 0;
}
int cuModuleUnload(cuda_api::ModuleHandle* module) {
  delete reinterpret_cast<cuda_test::Module*>(module);
  return 0;
}
int cuModuleGetFunction(cuda_api::FunctionHandle** function, cuda_api::ModuleHandle* module,
                        const char* name) {
  auto* const owner = reinterpret_cast<cuda_test::Module*>(module);
  cuda_test::Kernel& kernel = owner->kernels[name];
  kernel = {owner, name};
  *function = reinterpret_cast<cuda_api::FunctionHandle*>(&kernel);
  return cuda_test::StatusOf("function");
}
int cuFuncSetAttribute(cuda_api::FunctionHandle* function, int which, int value) {
  const bool fits = which == 8 && value <= cuda_test::MostShared - cuda_test::OwnShared;
  if (fits) reinterpret_cast<cuda_test::Kernel*>(function)->module->most_dynamic = value;
  return fits ? 0 : cuda_test::InvalidValue;
}
int cuFuncGetAttribute(int* value, int which, cuda_api::FunctionHandle*) {
  return *value = which == 1 ? cuda_test::OwnShared : 0, 0;
}
int cuMemAlloc_v2(cuda_api::DevicePointer* address, size_t bytes) {
  if (const int status = cuda_test::StatusOf("allocate"); status != 0) return status;
  *address = reinterpret_cast<cuda_api::DevicePointer>(std::malloc(bytes));
  const std::lock_guard lock(cuda_test::Get().mutex);
  ++cuda_test::Get().allocations;
  return 0;
}
int cuMemFree_v2(cuda_api::DevicePointer address) {
  std::free(reinterpret_cast<void*>(address));
  const std::lock_guard lock(cuda_test::Get().mutex);
  --cuda_test::Get().allocations;
  return 0;
}
int cuMemcpyHtoDAsync_v2(cuda_api::DevicePointer to, const void* from, size_t bytes,
                         cuda_api::StreamHandle*) {
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return cuda_test::StatusOf("copy in");
}
int cuMemcpyDtoHAsync_v2(void* to, cuda_api::DevicePointer from, size_t bytes,
                         cuda_api::StreamHandle*) {
  if (const int status = cuda_test::StatusOf("copy out"); status != 0) return status;
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return 0;
}
int cuMemcpyDtoDAsync_v2(cuda_api::DevicePointer, cuda_api::DevicePointer, size_t,
                         cuda_api::StreamHandle*) {
  return 0;
}
int cuMemsetD8Async(cuda_api::DevicePointer to, unsigned char value, size_t bytes,
                    cuda_api::StreamHandle*) {
  std::memset(reinterpret_cast<void*>(to), value, bytes);
  return 0;
}
int cuStreamCreate(cuda_api::StreamHandle** stream, unsigned) {
  return cuda_test::Give(stream, "stream");
}
int cuStreamDestroy_v2(cuda_api::StreamHandle*) { return 0; }
int cuStreamSynchronize(cuda_api::StreamHandle*) { return cuda_test::StatusOf("wait"); }
int cuStreamQuery(cuda_api::StreamHandle*) { return 0; }
int cuLaunchKernel(cuda_api::FunctionHandle* function, unsigned blocks, unsigned, unsigned,
                   unsigned threads, unsigned, unsigned, unsigned shared_bytes,
                   cuda_api::StreamHandle*, void**, void** extra) {
  const auto& kernel = *reinterpret_cast<const cuda_test::Kernel*>(function);
  const cuda_test::Module& module = *kernel.module;
  if (shared_bytes > static_cast<unsigned>(module.most_dynamic)) return cuda_test::InvalidValue;
  {
    const std::lock_guard lock(cuda_test::Get().mutex);
    cuda_test::Get().launched.emplace_back(blocks, threads);
  }
  if (const int status = cuda_test::StatusOf("launch"); status != 0) return status;
  const auto* const words = static_cast<const uint64_t*>(extra[1]);
  if (module.run) return module.run(kernel.name, {blocks, threads, shared_bytes}, words);
  return cuda_test::RunModule(module, words,
                              *static_cast<const size_t*>(extra[3]) / sizeof(uint64_t));
}
int cuStreamBeginCapture_v2(cuda_api::StreamHandle*, int) { return 0; }
int cuStreamEndCapture(cuda_api::StreamHandle*, cuda_api::GraphHandle**) { return 0; }
int cuGraphInstantiateWithFlags(cuda_api::GraphExecHandle**, cuda_api::GraphHandle*,
                                unsigned long long) {
  return 0;
}
int cuGraphLaunch(cuda_api::GraphExecHandle*, cuda_api::StreamHandle*) { return 0; }
int cuGraphDestroy(cuda_api::GraphHandle*) { return 0; }
int cuGraphExecDestroy(cuda_api::GraphExecHandle*) { return 0; }
int cuEventCreate(cuda_api::EventHandle** event, unsigned) {
  return cuda_test::Give(event, "event");
}
int cuEventRecord(cuda_api::EventHandle*, cuda_api::StreamHandle*) { return 0; }
int cuEventElapsedTime(float*, cuda_api::EventHandle*, cuda_api::EventHandle*) { return 0; }
int cuEventDestroy_v2(cuda_api::EventHandle*) { return 0; }
int cuGetErrorString(int, const char** text) {
  *text = "no luck";
  return 0;
}
}
