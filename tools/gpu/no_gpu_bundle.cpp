// A bundle for the driver of tests:  gpu_no_gpu_bundle OUT
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "runtime/builders.h"
#include "targets/cuda/driver/test_driver.h"

int main(int count, char** words) {
  namespace cuda = frazil::targets::cuda;
  namespace builders = frazil::runtime::builders;
  namespace ir = frazil::ir;
  if (count != 2) return 1;
  const std::filesystem::path folder = std::filesystem::path(words[1]) / "kernels";
  std::filesystem::create_directories(folder);
  const std::pair<const char*, frazil::Result<ir::Program>> kernels[] = {
      {"vector_add", builders::ElementwiseBinary(ir::Op::Add, ir::types::F32)},
      {"scalar_mul", builders::ElementwiseScalar(ir::Op::Mul, ir::types::I64)},
      {"vector_div", builders::ElementwiseBinary(ir::Op::DivTrunc, ir::types::I32)},
  };
  for (const auto& [name, program] : kernels) {
    if (!program) return 1;
    std::ofstream(folder / fmt::format("{}.ptxm", name), std::ios::binary)
        << cuda::SerializeModule(cuda::test_driver::ModuleOf(*program, *program));
  }
  return 0;
}
