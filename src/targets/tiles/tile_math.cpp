// The table of installed functions is read for each tile, so that installing one takes effect at once; plans of prelude
// functions are made under a lock, and never go away.
#include "targets/tiles/tile_math.h"

#include <atomic>
#include <map>
#include <tuple>

#include "base/system/fork.h"
#include "ir/lower/prelude.h"

namespace frazil::targets::tiles {
namespace {

std::atomic<MathFunction> installed[2][ir::OpCount];

std::atomic<MathFunction>* PlaceOf(ir::Op op, ir::Scalar type) {
  if (type != ir::Scalar::F32 && type != ir::Scalar::F64) return nullptr;
  return &installed[type == ir::Scalar::F64 ? 1 : 0][static_cast<size_t>(op)];
}

}  // namespace

void InstallMath(ir::Op op, ir::Scalar type, MathFunction function) {
  if (std::atomic<MathFunction>* place = PlaceOf(op, type))
    place->store(function, std::memory_order_release);
}

MathFunction InstalledMath(ir::Op op, ir::Scalar type) {
  std::atomic<MathFunction>* place = PlaceOf(op, type);
  return place == nullptr ? nullptr : place->load(std::memory_order_acquire);
}

Result<const TilePlan*> MathPlan(ir::Op op, ir::Scalar type, embed::CpuLevel level) {
  using Key = std::tuple<ir::Op, ir::Scalar, embed::CpuLevel>;
  static ForkMutex mutex;
  static std::map<Key, std::unique_ptr<TilePlan>>& plans =
      *new std::map<Key, std::unique_ptr<TilePlan>>;
  std::lock_guard lock(mutex);
  std::unique_ptr<TilePlan>& plan = plans[{op, type, level}];
  if (plan == nullptr) {
    const ir::Program* program = TRY(ir::LoadPrelude(op, ir::Type::Of(type)));
    auto made = std::make_unique<TilePlan>();
    made->level = level;
    TRY_VOID(CompileCalled(*program, program->entry, *made));
    plan = std::move(made);
  }
  return plan.get();
}

}  // namespace frazil::targets::tiles
