#include "exec/batch/batch_rows.h"

#include <concepts>

#include "exec/meaning/scalar_functors.h"
#include "exec/meaning/scalar_ops.h"
#include "exec/meaning/scalar_types.h"

#define FRAZIL_BATCH_LOOPS "exec/batch/batch_choose_rows.h"
#include "exec/batch/batch_each_isa.h"

namespace frazil::exec {

RowKernel RowKernelFor(ir::Scalar type, bool fused, [[maybe_unused]] BatchIsa isa) {
  if (IsWide(type)) return nullptr;
#if FRAZIL_BATCH_HAS_AVX2
  if (isa == BatchIsa::Avx2)
    return fused ? batch_avx2::ChooseRow<batch_avx2::Fused>(type)
                 : batch_avx2::ChooseRow<batch_avx2::Apart>(type);
#endif
  return fused ? batch_baseline::ChooseRow<batch_baseline::Fused>(type)
               : batch_baseline::ChooseRow<batch_baseline::Apart>(type);
}

}  // namespace frazil::exec
