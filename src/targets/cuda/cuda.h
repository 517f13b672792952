// Programs on NVIDIA GPUs: PTX by LLVM, loaded by the driver that is found at run time. The bits are the interpreter's:
// no contraction, no flush to zero, no approximate instruction, no vendor's math library.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "exec/target.h"
#include "ir/program.h"
#include "targets/cuda/driver/module.h"
#include "targets/cuda/tile_shape.h"

namespace frazil::targets::cuda {

struct PtxOptions {
  std::string arch = "sm_90";  // or "sm_80"
  TileShape tile = {};
  RowShape rows = {};
};

// Takes any checked program; fails with Unsupported and a sentence where Refuses would.
Result<PtxModule> EmitPtx(const ir::Program& program, const PtxOptions& options = {});
// The same as LLVM's IR before its code generator, for people.
Result<std::string> EmitPtxLlvm(const ir::Program& program, const PtxOptions& options = {});

// The target "cuda". Emission needs no GPU; Load without a usable one fails with NoDevice.
std::unique_ptr<exec::Target> MakeCudaTarget(const PtxOptions& options = {});

}  // namespace frazil::targets::cuda
