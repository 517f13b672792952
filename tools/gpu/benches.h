// Kernels whose speed on the GPU is measured, as text.
#pragma once

#include <string>
#include <vector>

#include "ir/program.h"
#include "targets/cuda/cuda.h"

namespace frazil::gpu {

struct Bench {
  std::string name;
  ir::Program program;
  targets::cuda::PtxOptions options = {};
};

std::vector<Bench> Benches();

}  // namespace frazil::gpu
