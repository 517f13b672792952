// The few functions of NVIDIA's driver that we use, found in libcuda.so.1 at run time. Declarations are our own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace frazil::targets::cuda {

using DevicePointer = uint64_t;
struct ContextHandle;
struct ModuleHandle;
struct FunctionHandle;
struct StreamHandle;
struct EventHandle;
struct GraphHandle;
struct GraphExecHandle;

// name, symbol in the library, parameters
#define FRAZIL_CUDA_FUNCTIONS(F)                                                                               \
  F(Init, "cuInit", (unsigned))                                                                                \
  F(GetDriverVersion, "cuDriverGetVersion", (int*))                                                            \
  F(GetDevice, "cuDeviceGet", (int*, int))                                                                     \
  F(GetDeviceName, "cuDeviceGetName", (char*, int, int))                                                       \
  F(GetAttribute, "cuDeviceGetAttribute", (int*, int, int))                                                    \
  F(RetainContext, "cuDevicePrimaryCtxRetain", (ContextHandle**, int))                                         \
  F(ReleaseContext, "cuDevicePrimaryCtxRelease_v2", (int))                                                     \
  F(SetContext, "cuCtxSetCurrent", (ContextHandle*))                                                           \
  F(LoadModule, "cuModuleLoadDataEx", (ModuleHandle**, const void*, unsigned, int*, void**))                   \
  F(UnloadModule, "cuModuleUnload", (ModuleHandle*))                                                           \
  F(GetFunction, "cuModuleGetFunction", (FunctionHandle**, ModuleHandle*, const char*))                        \
  F(SetFunctionAttribute, "cuFuncSetAttribute", (FunctionHandle*, int, int))                                   \
  F(GetFunctionAttribute, "cuFuncGetAttribute", (int*, int, FunctionHandle*))                                  \
  F(Allocate, "cuMemAlloc_v2", (DevicePointer*, size_t))                                                       \
  F(Free, "cuMemFree_v2", (DevicePointer))                                                                     \
  F(CopyIn, "cuMemcpyHtoDAsync_v2", (DevicePointer, const void*, size_t, StreamHandle*))                       \
  F(CopyOut, "cuMemcpyDtoHAsync_v2", (void*, DevicePointer, size_t, StreamHandle*))                            \
  F(CopyInside, "cuMemcpyDtoDAsync_v2", (DevicePointer, DevicePointer, size_t, StreamHandle*))                 \
  F(Fill, "cuMemsetD8Async", (DevicePointer, unsigned char, size_t, StreamHandle*))                            \
  F(CreateStream, "cuStreamCreate", (StreamHandle**, unsigned))                                                \
  F(DestroyStream, "cuStreamDestroy_v2", (StreamHandle*))                                                      \
  F(Synchronize, "cuStreamSynchronize", (StreamHandle*))                                                       \
  F(QueryStream, "cuStreamQuery", (StreamHandle*))                                                             \
  F(Launch, "cuLaunchKernel",                                                                                  \
    (FunctionHandle*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, StreamHandle*,     \
     void**, void**))                                                                                          \
  F(BeginCapture, "cuStreamBeginCapture_v2", (StreamHandle*, int))                                             \
  F(EndCapture, "cuStreamEndCapture", (StreamHandle*, GraphHandle**))                                          \
  F(InstantiateGraph, "cuGraphInstantiateWithFlags", (GraphExecHandle**, GraphHandle*, unsigned long long))    \
  F(LaunchGraph, "cuGraphLaunch", (GraphExecHandle*, StreamHandle*))                                           \
  F(DestroyGraph, "cuGraphDestroy", (GraphHandle*))                                                            \
  F(DestroyGraphExec, "cuGraphExecDestroy", (GraphExecHandle*))                                                \
  F(CreateEvent, "cuEventCreate", (EventHandle**, unsigned))                                                   \
  F(RecordEvent, "cuEventRecord", (EventHandle*, StreamHandle*))                                               \
  F(ElapsedTime, "cuEventElapsedTime", (float*, EventHandle*, EventHandle*))                                   \
  F(DestroyEvent, "cuEventDestroy_v2", (EventHandle*))                                                         \
  F(GetErrorText, "cuGetErrorString", (int, const char**))

struct Api {
#define FRAZIL_CUDA_MEMBER(name, symbol, params) int(*name) params = nullptr;
  FRAZIL_CUDA_FUNCTIONS(FRAZIL_CUDA_MEMBER)
#undef FRAZIL_CUDA_MEMBER
  std::string file;  // that its functions are in, by its own name: drivers have their version there
};

// Opens the library, once for each name. Fails with NoDevice: "no usable NVIDIA GPU: ...".
Result<const Api*> OpenApi(const std::string& library = "libcuda.so.1");

// What a status other than 0 means.
std::unexpected<Error> DriverError(const Api& api, int status, const std::string& what);
std::unexpected<Error> NoGpu(const std::string& why);

}  // namespace frazil::targets::cuda
