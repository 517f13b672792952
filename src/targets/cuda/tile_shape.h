// How a product of matrices is cut.
#pragma once

#include <cstdint>

namespace frazil::targets::cuda {

// Of a product of matrices: what a block of threads makes, and each of them.
struct TileShape {
  uint32_t rows = 128, columns = 128, depth = 32;
  uint32_t stages = 2;
  uint32_t thread_rows = 8, thread_columns = 8;
  uint32_t blocks = 2;  // that must fit on a multiprocessor at once

  uint32_t threads() const;
  uint32_t stage_elements() const;
  uint32_t shared_bytes() const;
};

// Of rows: blocks of 256 threads that must fit on a multiprocessor at once, which bounds the registers of a thread, for short
// rows and for long ones; and slices of long ones that are computed together.
struct RowShape {
  uint32_t blocks = 4, long_blocks = 3;
  uint32_t unroll = 4;
};

}  // namespace frazil::targets::cuda
