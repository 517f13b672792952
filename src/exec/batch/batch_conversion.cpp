// Loops of conversions, for each instruction set.
#include <concepts>

#include "exec/batch/batch_kernels.h"
#include "exec/meaning/cast_meaning.h"
#include "exec/meaning/scalar_types.h"

#define FRAZIL_BATCH_LOOPS "exec/batch/batch_choose_conversion.h"
#include "exec/batch/batch_each_isa.h"

namespace frazil::exec {

Kernel ConversionKernel(ir::Op op, ir::Scalar type, ir::Scalar source,
                        [[maybe_unused]] BatchIsa isa) {
#if FRAZIL_BATCH_HAS_AVX2
  if (isa == BatchIsa::Avx2) return batch_avx2::ChooseConversion(op, type, source);
#endif
  return batch_baseline::ChooseConversion(op, type, source);
}

}  // namespace frazil::exec
