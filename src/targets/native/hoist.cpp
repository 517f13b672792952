// Innermost structures first: what leaves one may leave the next. Only the lists of regions change; instructions and
// values keep their numbers. From the arms of a branch only what costs nothing moves: the branch may never be taken.
#include "targets/native/hoist.h"

#include <algorithm>
#include <vector>

namespace frazil::targets::native {
namespace {

using namespace ir::names;

class Hoister {
 public:
  explicit Hoister(Function& function) : function_(function), depth_(function.values.size(), 0) {}

  void Run() { Visit(function_.body, 1); }

 private:
  // Every value's depth is that of the region which makes it: 1 for the body.
  void Visit(RegionId id, uint32_t depth) {
    SetParams(id, depth);
    std::vector<InstId> before = std::move(function_.regions[id.index].insts);
    std::vector<InstId> after;
    after.reserve(before.size());
    for (InstId inst_id : before) {
      const Inst& inst = function_.inst(inst_id);
      for (uint32_t r = 0; r < inst.regions.count; ++r) {
        // The body of a while sees what its test makes.
        Visit(Function::region_of(inst, r), depth + 1 + (inst.op == Op::While ? r : 0));
      }
      for (uint32_t r = 0; r < inst.regions.count; ++r)
        Leave(Function::region_of(inst, r), inst.op, depth, after);
      for (uint32_t i = 0; i < inst.results.count; ++i) depth_[inst.results.begin + i] = depth;
      after.push_back(inst_id);
    }
    function_.regions[id.index].insts = std::move(after);
  }

  void SetParams(RegionId id, uint32_t depth) {
    const ir::Region& region = function_.region(id);
    for (uint32_t i = 0; i < region.params.count; ++i) depth_[region.params.begin + i] = depth;
  }

  void Leave(RegionId id, Op structure, uint32_t depth, std::vector<InstId>& list) {
    std::vector<InstId>& insts = function_.regions[id.index].insts;
    std::erase_if(insts, [&](InstId inst_id) {
      const Inst& inst = function_.inst(inst_id);
      const bool is_loop =
          structure == Op::For || structure == Op::Parallel || structure == Op::While;
      if (!MayMove(inst) || !(is_loop || IsCheap(inst))) return false;
      const bool is_known =
          std::ranges::all_of(function_.operands_of(inst),
                              [&](ir::ValueId operand) { return depth_[operand.index] <= depth; });
      if (!is_known) return false;
      for (uint32_t i = 0; i < inst.results.count; ++i) depth_[inst.results.begin + i] = depth;
      list.push_back(inst_id);
      return true;
    });
  }

  static bool MayMove(const Inst& inst) {
    return IsRemovable(ir::Info(inst.op)) && inst.regions.count == 0 && inst.results.count == 1 &&
           inst.type.is_scalar();
  }

  static bool IsCheap(const Inst& inst) {
    if (inst.op == Op::Const || inst.op == Op::Length) return true;
    const bool is_plain = inst.op == Op::Cast || inst.op == Op::Add || inst.op == Op::Sub ||
                          inst.op == Op::Mul || inst.op == Op::Select || inst.op == Op::Min ||
                          inst.op == Op::Max || inst.op == Op::Shl;
    return is_plain && IsFixedInt(inst.type.scalar);
  }

  Function& function_;
  std::vector<uint32_t> depth_;
};

}  // namespace

void HoistInvariants(ir::Program& lowered) {
  for (Function& function : lowered.functions)
    if (!function.is_prelude) Hoister(function).Run();
}

}  // namespace frazil::targets::native
