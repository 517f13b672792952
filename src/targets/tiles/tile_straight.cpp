// Programs without memory, lanes and control flow, none of whose ops can trap: cells on the stack and one op after the
// other. A call of a few scalars needs nothing else.
#include <algorithm>
#include <cstring>

#include "exec/meaning/scalar_types.h"
#include "targets/tiles/tile_run.h"

namespace frazil::targets::tiles {
namespace {

using Kind = TileOp::Kind;

constexpr size_t MostCells = 64;

}  // namespace

bool IsStraight(const FunctionPlan& function) {
  return function.cells.size() <= MostCells && function.tile_count == 0 &&
         std::ranges::all_of(function.ops, [](const TileOp& op) {
           return (op.uniform && (op.kind == Kind::Kernel || op.kind == Kind::Move)) ||
                  op.kind == Kind::Return;
         });
}

void RunStraight(const TilePlan& plan, const uint64_t* arguments, uint64_t* results) {
  const FunctionPlan& function = plan.functions[0];
  uint64_t cells[MostCells];
  std::ranges::copy(function.cells, cells);
  const auto cell = [&](Slot slot) -> uint64_t* {
    return slot == NoSlot ? nullptr : cells + function.slots[static_cast<size_t>(slot)].place;
  };
  for (size_t i = 0; i < function.params.size(); ++i)
    if (function.params[i] != NoSlot) *cell(function.params[i]) = arguments[plan.word_of_param[i]];
  for (const TileOp& op : function.ops) {
    if (op.kind == Kind::Return) break;
    if (op.kind == Kind::Move) {
      *cell(op.result) = *cell(op.a);
      continue;
    }
    TileArguments places;
    places.a = cell(op.a);
    places.b = cell(op.b);
    places.c = cell(op.c);
    places.d = cell(op.d);
    places.result = cell(op.result);
    places.traps = nullptr;
    places.lanes = 1;
    op.kernel(places);
  }
  for (size_t i = 0; i < function.results.size(); ++i) {
    results[i] = exec::VisitType(function.result_types[i].scalar, [&]<typename T>() {
      T value;
      std::memcpy(&value, cell(function.results[i]), sizeof(T));
      return exec::Encode(value);
    });
  }
}

}  // namespace frazil::targets::tiles
