// Where a value may stand follows from its operands: it climbs out of `for`, `while` and `parallel` as long as all
// of them are made further out. It never leaves a branch, where it would be computed for nothing, and nothing that
// can trap moves, for a loop may run no turn at all.
#include "optimize/motion.h"

namespace frazil::optimize {
namespace {

using namespace ir::names;

bool IsLoop(Op op) { return op == Op::For || op == Op::While || op == Op::Parallel; }

class Motion : public PassCloner {
 public:
  explicit Motion(const PassInput& input)
      : PassCloner(input),
        depth_of_value_(source_.values.size(), 0),
        moved_(source_.insts.size(), false),
        before_(source_.insts.size()) {}

  Result<void> Run() {
    Place(source_.body, InstId(), false);
    return CopyBody();
  }

 private:
  struct Level {
    InstId owner;
    bool leavable;  // a loop's region: values may go before its owner
  };

  // `second`: the body of a while, which goes with its test.
  void Place(RegionId id, InstId owner, bool second) {
    const ir::Region& region = source_.region(id);
    if (!second) levels_.push_back({owner, owner.valid() && IsLoop(source_.inst(owner).op)});
    const auto depth = static_cast<uint32_t>(levels_.size());
    for (uint32_t i = 0; i < region.params.count; ++i)
      depth_of_value_[region.params.begin + i] = depth;
    for (InstId inst_id : region.insts) {
      const Inst& inst = source_.inst(inst_id);
      uint32_t home = Climbs(inst) ? Home(inst, depth) : depth;
      for (uint32_t r = 0; r < inst.results.count; ++r)
        depth_of_value_[inst.results.begin + r] = home;
      if (home != depth) {
        moved_[inst_id.index] = true;
        before_[levels_[home].owner.index].push_back(inst_id);
        changed_ = true;
      }
      for (uint32_t r = 0; r < inst.regions.count; ++r) {
        bool body = inst.op == Op::While && r == 1;
        Place(Function::region_of(inst, r), inst_id, body);
        if (inst.op != Op::While) levels_.pop_back();
      }
      if (inst.op == Op::While) levels_.pop_back();
    }
  }

  bool Climbs(const Inst& inst) const {
    return inst.regions.count == 0 && inst.results.count == 1 &&
           ir::IsRemovable(ir::Info(inst.op)) &&
           source_.type(Function::result_of(inst)).is_scalar();
  }

  uint32_t Home(const Inst& inst, uint32_t depth) const {
    uint32_t least = 1;
    for (ir::ValueId operand : source_.operands_of(inst))
      least = std::max(least, depth_of_value_[operand.index]);
    while (depth > least && levels_[depth - 1].leavable) --depth;
    return depth;
  }

  Result<void> Visit(const Inst& inst) override {
    const auto index = static_cast<size_t>(&inst - source_.insts.data());
    if (moved_[index]) return {};
    for (InstId id : before_[index]) TRY_VOID(CopyInst(source_.inst(id)));
    return CopyInst(inst);
  }

  std::vector<uint32_t> depth_of_value_;
  std::vector<Level> levels_;
  std::vector<bool> moved_;
  std::vector<std::vector<InstId>> before_;
};

}  // namespace

Result<bool> MoveInvariants(Unit& unit) { return RunPass<Motion>(unit); }

}  // namespace frazil::optimize
