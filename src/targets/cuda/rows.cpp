#include "targets/cuda/kernel_emitter.h"
namespace frazil::targets::cuda {
void KernelEmitter::EmitRows(const Step&) {}
}  // namespace frazil::targets::cuda
