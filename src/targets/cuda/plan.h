// How an entry function is cut into steps for a GPU. Pure analysis of the lowered IR.
//
// Instructions of the entry's body that are pure and cannot trap are computed again by every kernel that needs them, as
// they cost less than a trip through memory. Of the others, an independent `parallel` becomes a grid; what lies between
// runs in one block of threads and hands its scalars on through the run block.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/lanes/fold_match.h"
#include "ir/program.h"
#include "targets/cuda/driver/module.h"
#include "targets/cuda/row_plan.h"
#include "targets/cuda/tile_shape.h"
#include "targets/llvm/facts.h"
#include "targets/llvm/matmul_match.h"

namespace frazil::targets::cuda {

using ir::FoldBlock;
using ir::FoldChains;
using ir::FoldMatch;

// A part of a kernel's code in which all threads of a block run together: see `cooperates`.
struct Step {
  PtxStep launch;
  std::vector<ir::InstId> insts;  // of the entry's body, in order; Alloc, Flat, Blocks: just one
  ir::InstId inner;               // Flat: the parallel inside that runs as one with the outer
  // A reduction: Flat makes a result for each block of elements, the Single behind it combines them.
  std::optional<FoldMatch> fold;
  std::optional<MatmulChain> chain;  // Tiles
  std::optional<RowPlan> rows;       // Rows
};

struct Plan {
  std::vector<Step> steps;
  std::vector<bool> again;  // by instruction of the entry: computed again where it is needed
  std::vector<ir::InstId> again_order;
  std::vector<int32_t> frame;  // by value of the entry: its first word among those handed on, or -1
  std::vector<int32_t>
      scratch;  // by value of the entry: its number among the scratch buffers, or -1
  // By instruction of the entry: a parallel that all threads of a block share, inside of Blocks and Single.
  std::vector<bool> shared_out;
  uint32_t scratch_count = 0;
  PtxModule module;  // but for text, arch and source
};

// Fails with Unsupported and a sentence. `with_barriers` is the program before ir::SplitBarriers: phases of a parallel are
// independent where it was, which is hard to see once indices have gone through scratch memory.
Result<Plan> MakePlan(const ir::Program& lowered, const ProgramFacts& facts,
                      const ir::Program& with_barriers, const TileShape& tile);

struct PlannedProgram {
  ir::Program lowered;
  ProgramFacts facts;
  Plan plan;
};
// Lowers any checked program, and plans it.
Result<PlannedProgram> PlanProgram(const ir::Program& program, const TileShape& tile = {});

// May all threads of a block run this region together, storing by one of them? Not where a function that touches memory
// is called, because functions are compiled for one thread.
bool Cooperates(const ir::Program& program, const ir::Function& function, ir::RegionId region);

// Bytes of an `alloc` whose length is a constant, or -1.
int64_t ConstantBytes(const ir::Function& function, const FunctionFacts& facts,
                      const ir::Inst& alloc);
// What a thread may have for itself.
constexpr int64_t MostLocalBytes = 16 * 1024;

}  // namespace frazil::targets::cuda
