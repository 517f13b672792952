// One word holds a field element or 32 bits: more bits would not survive the machine's u32 instructions.
#include "targets/tasm/words/words.h"

namespace frazil::targets::tasm {

uint32_t WordsOnMachine(ir::Type type) {
  using ir::Scalar;
  switch (type.scalar) {
    case Scalar::F16:
    case Scalar::BF16:
    case Scalar::F32:
    case Scalar::F64: return 0;
    case Scalar::I64:
    case Scalar::U64:
    case Scalar::Index: return 2;
    case Scalar::Int: return 2 * ir::WordsOf(type);
    case Scalar::XField: return 3;
    case Scalar::Digest: return 5;
    default: return 1;
  }
}

}  // namespace frazil::targets::tasm
