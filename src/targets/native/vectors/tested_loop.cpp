#include "targets/native/vectors/tested_loop.h"

#include <algorithm>

#include "targets/native/vectors/loop_plan.h"
#include "targets/native/vectors/vector_bounds.h"
#include "targets/native/vectors/vector_index.h"

namespace frazil::targets::native {
namespace {

using namespace ir::names;
using Shape = LoopAccess::Shape;

constexpr size_t MostInsts = 60;
constexpr size_t FewInsts = 12;

class TestedLoop {
 public:
  TestedLoop(FunctionEmitter& emitter, const Inst& loop)
      : emitter_(emitter),
        function_(emitter.function()),
        loop_(loop),
        body_(Function::region_of(loop, 0)),
        counter_(CounterOf(function_, loop)),
        forms_(function_),
        inside_(function_.values.size(), false) {
    ir::VisitValuesInside(function_, body_, [&](ir::Range values) {
      for (uint32_t i = 0; i < values.count; ++i) inside_[values.begin + i] = true;
    });
  }

  LoopTests Run() {
    const bool is_plain =
        loop_.op == Op::Parallel || (!IsTree(loop_) && function_.word(loop_, 0) == 1);
    if (!is_plain || function_.type(counter_) != ir::types::Index || !Visit(body_)) return {};
    LoopTests tests;
    for (const LoopAccess& access : plan_.accesses) tests.insts.push_back(access.inst.index);
    for (const Bounded& access : bounded_) tests.insts.push_back(access.inst.index);
    if (tests.insts.empty()) return {};
    tests.is_short = insts_ <= FewInsts && !has_branch_;
    Builder& builder = emitter_.builder();
    llvm::Value* const lo = emitter_.Get(function_.operand(loop_, 0));
    llvm::Value* const hi = emitter_.Get(function_.operand(loop_, 1));
    std::vector<HoistedAccess> hoisted;
    tests.fits = TestAccesses(emitter_, loop_, plan_, lo, builder.CreateSub(hi, lo), hoisted);
    for (const Bounded& access : bounded_)
      tests.fits = BothHold(
          builder, tests.fits,
          builder.CreateICmpUGT(emitter_.LengthOf(access.buffer), builder.getInt64(access.most)));
    return tests;
  }

 private:
  struct Bounded {
    InstId inst;
    ValueId buffer;
    uint64_t most;
  };

  bool Visit(RegionId region) {
    for (const InstId id : function_.region(region).insts) {
      if (!emitter_.facts().needed[id.index]) continue;
      const Inst& inst = function_.inst(id);
      if (++insts_ > MostInsts || inst.op == Op::Call) return false;
      // Arithmetic of fields is many instructions each, beside which a test of bounds is nothing.
      if (Contains(ir::sets::Fields, inst.type.scalar)) return false;
      if ((inst.regions.count != 0 && inst.op != Op::If) || inst.op == Op::Alloc) return false;
      has_branch_ = has_branch_ || inst.op == Op::If;
      for (uint32_t r = 0; r < inst.regions.count; ++r)
        if (!Visit(Function::region_of(inst, r))) return false;
      const bool is_access = inst.op == Op::Load || inst.op == Op::Store ||
                             inst.op == Op::AtomicRmw || inst.op == Op::AtomicCas;
      if (is_access) Take(id, region == body_);
    }
    return true;
  }

  void Take(InstId id, bool always) {
    const Inst& inst = function_.inst(id);
    const ValueId buffer = function_.operand(inst, 0), index = function_.operand(inst, 1);
    if (inside_[buffer.index] || IsInside(function_, emitter_.facts(), buffer, index)) return;
    // What the program makes for itself is as long as it needs: the way for when it is not would never run.
    if (emitter_.IsScratch(buffer)) return;
    // What a number is at most, by its type or a mask: a table is long enough for all of them, or it is not.
    const IntRange range = emitter_.facts().ranges->Int(index);
    if (range.low >= 0 && range.high <= UINT16_MAX) {
      bounded_.push_back({id, buffer, static_cast<uint64_t>(range.high)});
      return;
    }
    const IndexForm& form = forms_.Of(index);
    const std::optional<IndexForm> slope = form.Coefficient(counter_);
    const IndexForm offset = form.Without(counter_);
    const bool is_fixed =
        std::ranges::none_of(offset.Atoms(), [&](ValueId atom) { return inside_[atom.index]; });
    const std::optional<int64_t> step = slope ? slope->constant() : std::nullopt;
    if (!is_fixed || !step || (*step != 0 && *step != 1)) return;
    // Behind a condition an index is often one that would be outside without it.
    if (!always && (*step != 1 || offset.constant() != 0)) return;
    LoopAccess access{id, buffer, inst.op != Op::Load, always, ir::BytesOf(inst.type)};
    access.shape = *step == 1 ? Shape::Unit : Shape::Uniform;
    access.hoisted = true;
    access.offset = offset;
    plan_.accesses.push_back(std::move(access));
  }

  FunctionEmitter& emitter_;
  const Function& function_;
  const Inst& loop_;
  const RegionId body_;
  const ValueId counter_;
  IndexForms forms_;
  std::vector<bool> inside_;
  LoopPlan plan_;
  std::vector<Bounded> bounded_;
  size_t insts_ = 0;
  bool has_branch_ = false;
};

}  // namespace

LoopTests TestLoop(FunctionEmitter& emitter, const Inst& loop) {
  return TestedLoop(emitter, loop).Run();
}

}  // namespace frazil::targets::native
