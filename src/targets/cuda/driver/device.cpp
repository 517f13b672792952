// The driver's calls with their errors. The primary context is used, so that memory can be shared with other users of
// the GPU in this process.
#include "targets/cuda/driver/device.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

namespace frazil::targets::cuda {
namespace {

// Numbers of the driver's interface.
constexpr int AttributeMultiprocessors = 16;
constexpr int AttributeComputeMajor = 75, AttributeComputeMinor = 76;
constexpr int AttributeSharedPerBlockOptin = 97;
constexpr int JitInfoLog = 3, JitInfoLogSize = 4, JitErrorLog = 5, JitErrorLogSize = 6;
constexpr int CaptureThreadLocal = 1;
constexpr unsigned NonBlocking = 1;
constexpr int NotReady = 600;
constexpr int FunctionStaticShared = 1, FunctionMostDynamicShared = 8;
constexpr size_t LogBytes = 16 * 1024;

}  // namespace

DeviceMemory::~DeviceMemory() {
  if (address_ != 0) api_->Free(address_);
}

DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : api_(other.api_), address_(std::exchange(other.address_, 0)), bytes_(other.bytes_) {}

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  std::swap(api_, other.api_);
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

LoadedModule::~LoadedModule() { api_->UnloadModule(handle_); }

Result<FunctionHandle*> LoadedModule::Find(const std::string& kernel) const {
  FunctionHandle* function = nullptr;
  if (const int status = api_->GetFunction(&function, handle_, kernel.c_str()); status != 0)
    return DriverError(*api_, status, "finding the kernel " + kernel);
  // The limit belongs to the function, which launches of several threads share: set to what one of them needs, it would be too
  // low for another. It reserves nothing; a launch says what it takes.
  int own = 0;
  int status = api_->GetFunctionAttribute(&own, FunctionStaticShared, function);
  if (status == 0)
    status = api_->SetFunctionAttribute(function, FunctionMostDynamicShared,
                                        static_cast<int>(most_shared_bytes_) - own);
  if (status != 0) return DriverError(*api_, status, "asking for shared memory");
  return function;
}

Recording::~Recording() {
  api_->DestroyGraphExec(exec_);
  api_->DestroyGraph(graph_);
}

Result<std::shared_ptr<Device>> Device::Open(const std::string& library) {
  const Api* const api = TRY(OpenApi(library));
  std::shared_ptr<Device> device(new Device);
  device->api_ = api;
  if (api->GetDevice(&device->device_, 0) != 0) return NoGpu("the machine has none");
  char name[256] = {};
  TRY_VOID(device->Check(api->GetDeviceName(name, sizeof(name) - 1, device->device_),
                         "asking for its name"));
  device->name_ = name;
  int version = 0;
  TRY_VOID(device->Check(api->GetDriverVersion(&version), "asking for the driver's version"));
  device->driver_ = fmt::format("{}, CUDA {}.{}", api->file, version / 1000, version % 1000 / 10);
  auto attribute = [&](int which) {
    int value = 0;
    api->GetAttribute(&value, which, device->device_);
    return value;
  };
  device->multiprocessors_ = attribute(AttributeMultiprocessors);
  device->compute_ = 10 * attribute(AttributeComputeMajor) + attribute(AttributeComputeMinor);
  device->most_shared_bytes_ = static_cast<uint32_t>(attribute(AttributeSharedPerBlockOptin));
  if (device->compute_ < 80)
    return NoGpu(fmt::format("{} has compute capability {}.{}, and 8.0 is needed", device->name_,
                             device->compute_ / 10, device->compute_ % 10));
  TRY_VOID(
      device->Check(api->RetainContext(&device->context_, device->device_), "making a context"));
  TRY_VOID(device->Check(api->SetContext(device->context_), "using a context"));
  TRY_VOID(device->Check(api->CreateStream(&device->stream_, NonBlocking), "making a stream"));
  TRY_VOID(device->Check(api->CreateStream(&device->side_, NonBlocking), "making a stream"));
  for (EventHandle*& event : device->events_)
    TRY_VOID(device->Check(api->CreateEvent(&event, 0), "making an event"));
  return device;
}

Device::~Device() {
  for (EventHandle* event : events_)
    if (event != nullptr) api_->DestroyEvent(event);
  if (side_ != nullptr) api_->DestroyStream(side_);
  if (stream_ != nullptr) api_->DestroyStream(stream_);
  if (context_ != nullptr) api_->ReleaseContext(device_);
}

Result<void> Device::Check(int status, const char* what) const {
  if (status != 0) return DriverError(*api_, status, what);
  return {};
}

Result<std::unique_ptr<LoadedModule>> Device::Load(const std::string& ptx) {
  TRY_VOID(Check(api_->SetContext(context_), "using a context"));
  std::string info(LogBytes, '\0'), errors(LogBytes, '\0');
  int options[] = {JitInfoLog, JitInfoLogSize, JitErrorLog, JitErrorLogSize};
  void* values[] = {info.data(), reinterpret_cast<void*>(LogBytes), errors.data(),
                    reinterpret_cast<void*>(LogBytes)};
  ModuleHandle* handle = nullptr;
  if (const int status = api_->LoadModule(&handle, ptx.c_str(), 4, options, values); status != 0)
    return DriverError(*api_, status, fmt::format("loading PTX ({})", errors.c_str()));
  return std::make_unique<LoadedModule>(api_, handle, most_shared_bytes_);
}

Result<DeviceMemory> Device::Allocate(uint64_t bytes) {
  DevicePointer address = 0;
  // At least a few bytes, and whole vectors behind the last element.
  const uint64_t room = (bytes + 255) / 256 * 256 + 256;
  TRY_VOID(Check(api_->SetContext(context_), "using a context"));
  TRY_VOID(Check(api_->Allocate(&address, room), "allocating memory"));
  return DeviceMemory(api_, address, bytes);
}

Result<void> Device::CopyIn(DevicePointer to, const void* from, uint64_t bytes) {
  if (bytes == 0) return {};
  return Check(api_->CopyIn(to, from, bytes, stream_), "copying to the GPU");
}

Result<void> Device::CopyOut(void* to, DevicePointer from, uint64_t bytes) {
  if (bytes != 0) TRY_VOID(Check(api_->CopyOut(to, from, bytes, stream_), "copying from the GPU"));
  return Wait();
}

Result<void> Device::CopyInside(DevicePointer to, DevicePointer from, uint64_t bytes) {
  return Check(api_->CopyInside(to, from, bytes, stream_), "copying inside the GPU");
}

Result<void> Device::Fill(DevicePointer to, uint8_t value, uint64_t bytes) {
  if (bytes == 0) return {};
  return Check(api_->Fill(to, value, bytes, stream_), "filling memory");
}

Result<void> Device::Run(const Launch& launch) { return Check(Start(launch), "a launch"); }

Result<std::unique_ptr<Recording>> Device::Record(std::span<const Launch> launches) {
  TRY_VOID(Check(api_->BeginCapture(stream_, CaptureThreadLocal), "beginning to record"));
  Result<void> started = {};
  for (const Launch& launch : launches)
    if (started) started = Run(launch);
  GraphHandle* graph = nullptr;
  TRY_VOID(Check(api_->EndCapture(stream_, &graph), "recording"));
  GraphExecHandle* exec = nullptr;
  const int status = started ? api_->InstantiateGraph(&exec, graph, 0) : 0;
  if (!started || status != 0) {
    api_->DestroyGraph(graph);
    if (!started) return std::unexpected(started.error());
    return DriverError(*api_, status, "making a recording ready");
  }
  return std::make_unique<Recording>(api_, graph, exec);
}

Result<void> Device::Replay(const Recording& recording) {
  return Check(api_->LaunchGraph(recording.exec(), stream_), "a replay");
}

Result<void> Device::Wait() { return Check(api_->Synchronize(stream_), "a kernel"); }

Result<bool> Device::WaitFor(uint64_t milliseconds) {
  constexpr uint64_t PollMicroseconds = 100;
  for (uint64_t waited = 0; waited < milliseconds * 1000; waited += PollMicroseconds) {
    const int status = api_->QueryStream(stream_);
    if (status == 0) return true;
    if (status != NotReady) return DriverError(*api_, status, "a kernel");
    usleep(PollMicroseconds);
  }
  return false;
}

Result<void> Device::Poke(DevicePointer to, uint64_t word) {
  TRY_VOID(Check(api_->CopyIn(to, &word, sizeof(word), side_), "copying to the GPU"));
  return Check(api_->Synchronize(side_), "copying to the GPU");
}

Result<void> Device::Mark(int which) {
  return Check(api_->RecordEvent(events_[which], stream_), "an event");
}

Result<double> Device::Elapsed() {
  TRY_VOID(Wait());
  float milliseconds = 0;
  TRY_VOID(Check(api_->ElapsedTime(&milliseconds, events_[0], events_[1]), "reading a time"));
  return milliseconds;
}

}  // namespace frazil::targets::cuda
