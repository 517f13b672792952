// A kernel in a slot of the engine: interpreted at first, native once a worker has compiled and verified it.
#pragma once

#include <memory>

#include "engine/engine.h"
#include "engine/fluid.h"
#include "runtime/loaded_kernel.h"

namespace frazil::runtime {

class SlotKernel final : public LoadedKernel {
 public:
  SlotKernel(const Source& source, std::string reason, std::shared_ptr<engine::Site> site);
  Result<void> Run(std::span<const exec::Value> arguments) const override;

 protected:
  Result<void> RunWords(const uint64_t* words) const override;

 private:
  Result<void> Told(int32_t status) const;

  std::shared_ptr<engine::Site> site_;
  engine::CallLayout layout_;
};

}  // namespace frazil::runtime
