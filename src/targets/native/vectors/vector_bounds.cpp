#include "targets/native/vectors/vector_bounds.h"

#include <llvm/IR/Constants.h>

#include <algorithm>

#include "targets/native/vectors/vector_index.h"

namespace frazil::targets::native {
namespace {

using namespace ir::names;
using Shape = LoopAccess::Shape;

class AccessTests {
 public:
  AccessTests(FunctionEmitter& emitter, const Inst& loop, const LoopPlan& plan, llvm::Value* lo,
              llvm::Value* count, std::vector<HoistedAccess>& hoisted)
      : emitter_(emitter),
        builder_(emitter.builder()),
        loop_(static_cast<uint32_t>(&loop - emitter.function().insts.data())),
        plan_(plan),
        lo_(lo),
        count_(count),
        hoisted_(hoisted) {}

  llvm::Value* Run() {
    llvm::Value* all = builder_.getTrue();
    hoisted_.resize(plan_.accesses.size());
    for (size_t i = 0; i < plan_.accesses.size(); ++i) {
      const LoopAccess& access = plan_.accesses[i];
      const bool is_inside = IsInside(access);
      if (access.ranged) {
        llvm::Value* fits = TestRange(access, hoisted_[i]);
        if (!is_inside) all = And(all, fits);
      }
      if (!access.hoisted) continue;
      auto same =
          std::find_if(plan_.accesses.begin(), plan_.accesses.begin() + static_cast<ptrdiff_t>(i),
                       [&](const LoopAccess& other) {
                         return other.hoisted && other.buffer == access.buffer &&
                                other.shape == access.shape && other.offset == access.offset;
                       });
      if (static_cast<size_t>(same - plan_.accesses.begin()) < i) {
        hoisted_[i] = hoisted_[static_cast<size_t>(same - plan_.accesses.begin())];
        continue;
      }
      llvm::Value* first = EvaluateForm(emitter_, access.offset);
      if (access.shape == Shape::Unit) first = builder_.CreateAdd(first, lo_);
      llvm::Value* length = emitter_.LengthOf(access.buffer);
      // Whether there are iterations at all is tested elsewhere.
      llvm::Value* fits = access.shape == Shape::Unit
                              ? builder_.CreateICmpULE(count_, RoomFrom(builder_, first, length))
                              : builder_.CreateICmpULT(first, length);
      if (!is_inside) all = And(all, fits);
      const ir::Type element = emitter_.function().type(access.buffer).element();
      hoisted_[i].address = emitter_.ElementAddress(element, emitter_.Get(access.buffer), first);
    }
    return all;
  }

 private:
  // Are all its indices inside of its buffer, whatever the arguments are?
  bool IsInside(const LoopAccess& access) const {
    if (emitter_.IsTested(emitter_.facts().region[access.inst.index])) return true;
    if (const LoopPlan* const outer = emitter_.outer_plan()) {
      const LoopAccess* const tested = outer->AccessOf(access.inst);
      if (tested != nullptr && (tested->hoisted || tested->ranged)) return true;
    }
    return targets::IsInsideAt(emitter_.function(), emitter_.facts(), access.inst, loop_);
  }

  llvm::Value* And(llvm::Value* a, llvm::Value* b) { return BothHold(builder_, a, b); }

  // slope * iteration + turns + offset between the first and the last turn of everything, or no turn at all. Numbers
  // below 2^62, so that 128 bits hold their products and a few sums of them. A slope that is known to fall (reversed
  // reads) has its least at the end; one that is not known must not fall.
  llvm::Value* TestRange(const LoopAccess& access, HoistedAccess& parts) {
    llvm::Type* wide = builder_.getInt128Ty();
    llvm::Value* limit = builder_.getInt64(uint64_t{1} << 62);
    llvm::Value* fits = builder_.getTrue();
    llvm::Value* runs = builder_.getTrue();
    parts.offset = EvaluateForm(emitter_, access.offset);
    parts.slope = EvaluateForm(emitter_, access.slope);
    llvm::Value* least = builder_.CreateSExt(parts.offset, wide);
    llvm::Value* most = least;
    auto add = [&](llvm::Value* factor, llvm::Value* first, llvm::Value* end) {
      const auto* known = llvm::dyn_cast<llvm::ConstantInt>(factor);
      const bool falls = known != nullptr && known->isNegative();
      llvm::Value* size = falls ? builder_.CreateNeg(factor) : factor;
      for (llvm::Value* value : {size, first, end})
        fits = And(fits, builder_.CreateICmpULT(value, limit));
      auto product = [&](llvm::Value* number) {
        return builder_.CreateMul(builder_.CreateSExt(factor, wide),
                                  builder_.CreateZExt(number, wide));
      };
      llvm::Value* last = builder_.CreateSub(end, builder_.getInt64(1));
      least = builder_.CreateAdd(least, product(falls ? last : first));
      most = builder_.CreateAdd(most, product(falls ? first : last));
    };
    add(parts.slope, lo_, builder_.CreateAdd(lo_, count_));
    for (const LoopAccess::Turn& turn : access.turns) {
      const Inst& inner = emitter_.function().inst(turn.loop);
      llvm::Value* first = emitter_.Get(emitter_.function().operand(inner, 0));
      llvm::Value* end = emitter_.Get(emitter_.function().operand(inner, 1));
      runs = And(runs, builder_.CreateICmpSLT(first, end));
      parts.turns.push_back(EvaluateForm(emitter_, turn.slope));
      add(parts.turns.back(), first, end);
    }
    llvm::Value* length = builder_.CreateZExt(emitter_.LengthOf(access.buffer), wide);
    fits = And(fits, builder_.CreateICmpSGE(least, llvm::ConstantInt::get(wide, 0)));
    fits = And(fits, builder_.CreateICmpSLT(most, length));
    return IsTrue(runs) ? fits : builder_.CreateOr(builder_.CreateNot(runs), fits);
  }

  FunctionEmitter& emitter_;
  Builder& builder_;
  const ir::InstId loop_;
  const LoopPlan& plan_;
  llvm::Value* const lo_;
  llvm::Value* const count_;
  std::vector<HoistedAccess>& hoisted_;
};

}  // namespace

llvm::Value* TestAccesses(FunctionEmitter& emitter, const Inst& loop, const LoopPlan& plan,
                          llvm::Value* lo, llvm::Value* count,
                          std::vector<HoistedAccess>& hoisted) {
  return AccessTests(emitter, loop, plan, lo, count, hoisted).Run();
}

}  // namespace frazil::targets::native
