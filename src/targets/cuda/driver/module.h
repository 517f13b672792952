// A program as PTX: the text for NVIDIA's driver, and what a launch needs to know besides. Knows neither LLVM nor the
// driver, so that a bundle made on one machine runs on another.
//
// The lowered entry function is cut into steps, launched in order. All kernels take the same parameters, one 64-bit word
// each: the words of the arguments (a buffer: address, length), address and length of each scratch buffer, then the
// address of the run block:
//   word 0  the trap: ~0 for none, else t << 12 | kind << 8 | op, the least of all that trapped
//   word 1, 2   lo, div: the trap's parallel iteration is lo + t / div, or lo + t mod -div where div is negative
//   word 3  not 0: loops end with a Fuel trap
//   word 4 ..  scalars that steps hand on, then the words of the results
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ir/program.h"

namespace frazil::targets::cuda {

enum class StepKind : uint8_t {
  Alloc,   // a scratch buffer, zeroed
  Flat,    // a thread for each `items` iterations of a parallel (or of a nest of two)
  Blocks,  // a block of threads for each iteration; parallels inside are shared among its threads
  Single,  // one block of threads; parallels inside are shared among them
  Serial,  // one thread
  Tiles,   // a block of threads for each tile of a nest of two: the product of matrices
  Rows,  // some lanes of a warp for each iteration: folds and parallels along a row of `lanes` elements
};

// Numbers are known to the kernels; the host needs them for the shape of a launch. They are results of
// PtxModule::sizes, by ordinal, or Unknown.
constexpr int32_t Unknown = -1;

struct PtxStep {
  StepKind kind = StepKind::Serial;
  std::string entry;     // name of the kernel
  uint32_t threads = 1;  // of a block
  uint32_t items = 1;    // Flat: iterations of a thread in one turn
  int32_t lo = Unknown,
          hi = Unknown;  // Flat, Blocks: of the parallel; with `hi` alone it begins at 0
  int32_t inner_lo = Unknown,
          inner_hi = Unknown;  // Flat: of the parallel inside of it, if both run as one
  // Blocks, Single: lanes of the parallels inside, where they are known and the same for all. Rows: their elements.
  int32_t lanes_lo = Unknown, lanes_hi = Unknown;
  uint32_t tile_rows = 1, tile_columns = 1;  // Tiles
  // Shared memory. Tiles: of a block; Rows: for each element of a row, or none where it does not fit.
  uint32_t shared_bytes = 0;
  // The step runs where each of these sizes has that value (0 or 1).
  std::vector<std::pair<int32_t, int32_t>> guards;
  struct Scratch {
    int32_t length;  // in `sizes`
    uint32_t bytes;  // of an element
  };
  std::vector<Scratch> shared;  // Blocks, Single: dynamic shared memory; Alloc: the one buffer
};

struct PtxModule {
  std::string arch;  // "sm_90"
  std::string text;  // PTX
  std::vector<PtxStep> steps;
  uint32_t frame_words = 0;  // scalars that steps hand on
  uint32_t result_words = 0;
  uint32_t call_depth = 0;   // of the deepest chain of calls
  uint32_t local_bytes = 0;  // of scratch buffers that are no step, at most
  bool has_while = false;
  // Launch conditions, ordinals of the lowered entry's parameters (ir::Independence).
  std::vector<std::pair<uint32_t, uint32_t>> disjoint;
  std::vector<std::pair<uint32_t, uint32_t>> at_most;
  // Entry: the scalars of the lowered entry, and for each buffer its length; results: what steps name.
  ir::Program sizes;
  // The program as the caller sees it.
  ir::Program source;
};

// Rows: how many lanes of a warp have one, if it has that many elements; they are taken in slices of 64.
constexpr int64_t ShortRow = 128, MiddleRow = 256;
constexpr uint32_t LanesOfShortRow = 8, LanesOfMiddleRow = 16, LanesOfLongRow = 32;
constexpr int64_t RowSlice = 64;
// Rows of more than MiddleRow elements have a kernel of their own.
inline std::string LongRowsOf(const std::string& entry) { return entry + "_long"; }

// A flat text form; Parse refuses anything that does not fit (BadArtifact).
std::string SerializeModule(const PtxModule& module);
Result<PtxModule> ParseModule(std::string_view bytes);

}  // namespace frazil::targets::cuda
