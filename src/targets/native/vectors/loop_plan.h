// May a loop run several iterations at a time, and what must be tested first? Pure analysis of the IR.
//
// A loop fits if every iteration writes only elements of its own, at "iteration + something fixed", or one element that
// only the last of them decides, and nothing reads what another iteration writes. Buffers are identical or disjoint at run time; where that decides, the
// pair is in `disjoint` and the emitted code compares addresses. Whatever may trap is tested lane by lane before
// the block stores anything; a block that would trap is left to the scalar loop, which traps exactly.
//
// An iteration that walks along a row of its own, as in "one lane per row", is a lane too: rows are read and written in
// square tiles that are turned around on the way. Such rows are stored as the loop inside goes on, so that nothing in
// the body may trap and the iterations must be independent (ir/lanes/independence.h).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ir/program.h"
#include "targets/llvm/facts.h"
#include "targets/llvm/index_forms.h"

namespace frazil::targets::native {

struct LoopAccess {
  // One element; neighbors; elements at a small known distance, read with what stands between them; neighbors along the
  // turns of a loop inside, which are a row of the lane's own; anywhere.
  enum class Shape : uint8_t { Uniform, Unit, Strided, Row, Gather };
  ir::InstId inst;
  ir::ValueId buffer;
  bool is_store = false;
  bool always = false;  // no branch stands before it
  uint32_t bytes = 0;   // of an element
  Shape shape = Shape::Gather;
  // The index is (0 or 1) * iteration + offset with an offset known before the loop: one test there is enough.
  bool hoisted = false;
  IndexForm offset = {};
  // slope * iteration + the turns of loops inside times theirs + offset, all known before the loop: the least and the
  // greatest index are tested there.
  struct Turn {
    ir::InstId loop;
    IndexForm slope;
  };
  bool ranged = false;
  IndexForm slope = {};
  std::vector<Turn> turns = {};
  size_t row = 0;       // Row: its place in LoopPlan::rows
  uint32_t stride = 0;  // Strided: elements from one lane to the next
};

// Accesses of one row: the same elements in every turn of the loop.
struct LoopRow {
  ir::InstId loop;
  size_t access;         // the first of them
  bool is_read = false;  // or written under a condition: the tile holds what stood there
  bool is_written = false;
};

// A carried number that only collects: any order gives the same bits.
struct LoopFold {
  uint32_t carried = 0;
  ir::Op op = ir::Op::Add;
  ir::InstId step = {};
};

// A store and a load of one buffer, both at places that are known before the loop: do iterations meet there?
struct LoopMeeting {
  size_t store, load;     // accesses
  bool is_later = false;  // the load comes behind the store
};

struct LoopPlan {
  std::string refusal;  // why it runs one iteration at a time; empty if it need not
  std::vector<LoopAccess> accesses;
  std::vector<LoopRow> rows;
  std::vector<std::pair<ir::ValueId, ir::ValueId>> disjoint;
  std::vector<LoopMeeting> meetings;                         // tested before the loop
  std::vector<std::pair<ir::ValueId, ir::ValueId>> at_most;  // parameters: first <= second
  std::vector<LoopFold> folds;
  std::vector<bool> uniform;     // by value: the same in all lanes of a block
  uint32_t element_bytes = 1;    // of the widest access
  uint32_t narrowest_bytes = 8;  // of the narrowest access
  uint32_t compute_bytes = 1;    // of the widest value that differs between lanes, indices left out
  uint32_t work = 0;  // instructions of an iteration, calls and loops inside counted in full
  bool has_inner_loop = false;
  bool has_call = false;
  bool may_bail = false;  // some lane may turn out to trap

  const LoopAccess* AccessOf(ir::InstId inst) const;
};

struct PlanQuestion {
  const ir::Program& program;
  const ProgramFacts& facts;
  ir::FuncId function;
  bool metered = false;
  // Can the op be done on vectors of a type (from: of its first operand)?
  std::function<bool(ir::Op op, ir::Type type, ir::Type from)> computes;
  bool has_rows = false;  // may rows go through tiles?
  // A loop inside whose results somebody else computes, in lanes.
  ir::InstId given = {};
};

LoopPlan PlanLoop(const PlanQuestion& question, const ir::Inst& loop);

// Is it a `for` that stands for a fold (folds.h)? What it carries is joined in the tree, not from turn to turn.
inline bool IsTree(const ir::Inst& loop) {
  return loop.op == ir::Op::For && loop.source_op == ir::Op::Fold;
}

ir::ValueId TreeElement(const ir::Function& function, const ir::Inst& loop);
// Arithmetic gives the one NaN, and some elements are never one.
bool MayBeAnyNan(const FunctionFacts& facts, ir::ValueId element);

// Indices and bounds of a loop: `for` and `parallel` have them as their first two operands.
ir::ValueId CounterOf(const ir::Function& function, const ir::Inst& loop);

}  // namespace frazil::targets::native
