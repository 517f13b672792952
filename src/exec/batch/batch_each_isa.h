// FRAZIL_BATCH_LOOPS, a header of loops, once for each instruction set. No include guard: it is read for each such header.
#define FRAZIL_BATCH_ISA batch_baseline
#define FRAZIL_BATCH_TARGET
#include FRAZIL_BATCH_LOOPS
#undef FRAZIL_BATCH_ISA
#undef FRAZIL_BATCH_TARGET

#if FRAZIL_BATCH_HAS_AVX2
#define FRAZIL_BATCH_ISA batch_avx2
#define FRAZIL_BATCH_TARGET FRAZIL_BATCH_AVX2_TARGET
#include FRAZIL_BATCH_LOOPS
#undef FRAZIL_BATCH_ISA
#undef FRAZIL_BATCH_TARGET
#endif
