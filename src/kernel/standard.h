// The standard kernels as the ops call them: embedded code on the CPU, their programs on other backends.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "embed/kernel.h"
#include "ir/program.h"
#include "kernel/backend.h"
#include "kernel/ops.h"

namespace frazil::kernel::internal {

// All of them, compiled while Frazil was built.
const embed::ModuleData& StandardKernels();
// A program of them, read once; fails only where a build went wrong.
Result<const ir::Program*> StandardProgram(const embed::KernelData& kernel);

// One launch: arguments in the order of the kernel's parameters.
class StandardCall {
 public:
  explicit StandardCall(std::string_view kernel);

  StandardCall& Add(ops::In view);
  StandardCall& Add(ops::Out view);
  // Memory of an op itself, beside buffers of any backend.
  StandardCall& AddCell(std::span<float> cell);
  StandardCall& Add(float value);
  // A length or dimension: refused where it does not fit the kernel's u32.
  StandardCall& Add(size_t extent);
  Result<void> Run();

 private:
  void Use(Backend* backend);
  void Memory(const float* data, size_t size);

  const embed::KernelData* kernel_;
  std::string_view name_;
  Backend* backend_ = nullptr;
  bool has_memory_ = false;  // some argument is already known
  bool mixed_ = false, too_large_ = false;
  uint64_t words_[embed::MostWords];
  uint32_t count_ = 0;
  Result<void> RunElsewhere();
};

}  // namespace frazil::kernel::internal
