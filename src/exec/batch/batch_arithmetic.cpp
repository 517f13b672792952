// Loops of all ops but conversions, for each instruction set.
#include <concepts>

#include "exec/batch/batch_kernels.h"
#include "exec/meaning/scalar_functors.h"
#include "exec/meaning/scalar_types.h"

#define FRAZIL_BATCH_LOOPS "exec/batch/batch_choose_arithmetic.h"
#include "exec/batch/batch_each_isa.h"

namespace frazil::exec {

Kernel ArithmeticKernel(ir::Op op, ir::Scalar type, [[maybe_unused]] BatchIsa isa) {
#if FRAZIL_BATCH_HAS_AVX2
  if (isa == BatchIsa::Avx2) return batch_avx2::ChooseArithmetic(op, type);
#endif
  return batch_baseline::ChooseArithmetic(op, type);
}

Kernel KernelFor(ir::Op op, ir::Scalar type, ir::Scalar source, BatchIsa isa) {
  const bool converts = op == ir::Op::Cast || op == ir::Op::CastChecked || op == ir::Op::Bitcast;
  return converts ? ConversionKernel(op, type, source, isa) : ArithmeticKernel(op, type, isa);
}

}  // namespace frazil::exec
