// Marks backwards what is needed, then copies only that. A branch or a `for` goes when its regions could go; a `while`
// stays, for it may not end.
#include "optimize/dead.h"

namespace frazil::optimize {
namespace {

using namespace ir::names;

class DeadCode : public PassCloner {
 public:
  DeadCode(const PassInput& input, bool keep_loops)
      : PassCloner(input),
        keep_loops_(keep_loops),
        live_(source_.values.size(), false),
        kept_(source_.insts.size(), false) {}

  Result<void> Run() {
    Mark(source_.body);
    return CopyBody();
  }

 private:
  bool MayGo(const Inst& inst) const {
    if (inst.regions.count == 0) return ir::IsRemovable(ir::Info(inst.op));
    const bool loop = (inst.op == Op::For || inst.op == Op::Fold) && !keep_loops_;
    if (inst.op != Op::If && inst.op != Op::Switch && inst.op != Op::Map &&
        inst.op != Op::Generate && !loop)
      return false;
    for (uint32_t r = 0; r < inst.regions.count; ++r)
      for (ir::InstId id : source_.region(Function::region_of(inst, r)).insts)
        if (const Inst& inner = source_.inst(id); inner.op != Op::Yield && !MayGo(inner))
          return false;
    return true;
  }

  void Mark(ir::RegionId region) {
    const std::vector<ir::InstId>& insts = source_.region(region).insts;
    for (size_t i = insts.size(); i-- > 0;) {
      const Inst& inst = source_.inst(insts[i]);
      bool needed = false;
      for (uint32_t r = 0; r < inst.results.count; ++r) needed |= live_[inst.results.begin + r];
      if (!needed && MayGo(inst)) continue;
      kept_[insts[i].index] = true;
      for (uint32_t r = inst.regions.count; r-- > 0;) Mark(Function::region_of(inst, r));
      for (ir::ValueId operand : source_.operands_of(inst)) live_[operand.index] = true;
    }
  }

  Result<void> Visit(const Inst& inst) override {
    if (kept_[static_cast<size_t>(&inst - source_.insts.data())]) return CopyInst(inst);
    changed_ = true;
    return {};
  }

  const bool keep_loops_;
  std::vector<bool> live_;
  std::vector<bool> kept_;
};

}  // namespace

Result<bool> RemoveDead(Unit& unit, bool keep_loops) { return RunPass<DeadCode>(unit, keep_loops); }

}  // namespace frazil::optimize
