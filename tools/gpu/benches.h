// Kernels whose speed on the GPU is measured, as text.
#pragma once

#include <string>
#include <vector>

#include "ir/program.h"

namespace frazil::gpu {

struct Bench {
  std::string name;
  ir::Program program;
};

std::vector<Bench> Benches();

}  // namespace frazil::gpu
