// The parts are run in the order of the turns, so that the first trap stays the first.
#include "targets/native/split_borders.h"

#include <algorithm>
#include <optional>

#include "ir/clone.h"
#include "targets/native/border_finder.h"
#include "targets/native/vectors/loop_plan.h"

namespace frazil::targets::native {
namespace {

using namespace ir::names;

bool IsPlain(const Inst& inst) { return IsRemovable(ir::Info(inst.op)) && inst.regions.count == 0; }

class BorderCloner : public ir::Cloner {
 public:
  BorderCloner(const ir::Program& program, const Function& source, ir::FunctionBuilder& builder,
               std::set<uint32_t>& borders)
      : Cloner(source, builder), finder_(program, source), borders_(borders) {}

 protected:
  Result<void> Visit(const Inst& inst) override {
    if (split_ != nullptr) return VisitInside(inst);
    if (CopyRing(inst)) return {};
    const std::optional<BorderSplit> split = finder_.Find(inst);
    if (!split || !AreBound(*split)) return CopyInst(inst);
    const ValueId lo = Get(source_.operand(inst, 0)), hi = Get(source_.operand(inst, 1));
    ValueId first = lo, last = hi;
    for (const BorderBound& bound : split->bounds) {
      const ValueId value = Evaluate(bound);
      if (bound.is_lower)
        first = builder_.Binary(Op::Max, first, value);
      else
        last = builder_.Binary(Op::Min, last, value);
    }
    if (IsOneQuestion(*split)) {
      // One question only: both of its sides are loops in their own right.
      const bool is_lower = split->bounds[0].is_lower;
      const ValueId middle = is_lower ? builder_.Binary(Op::Min, first, hi) : last;
      TRY_VOID(CopyPart(inst, *split, is_lower ? Part::Other : Part::Between, lo, middle));
      const ValueId rest = is_lower ? first : builder_.Binary(Op::Max, last, lo);
      return CopyPart(inst, *split, is_lower ? Part::Between : Part::Other, rest, hi);
    }
    if (first != lo)
      TRY_VOID(CopyPart(inst, *split, Part::Border, lo, builder_.Binary(Op::Min, first, hi)));
    TRY_VOID(CopyPart(inst, *split, Part::Between, first, last));
    if (last != hi)
      TRY_VOID(CopyPart(inst, *split, Part::Border, builder_.Binary(Op::Max, first, last), hi));
    return {};
  }

 private:
  enum class Part : uint8_t { Between, Other, Border };

  bool AreBound(const BorderSplit& split) const {
    return std::ranges::all_of(split.bounds, [&](const BorderBound& bound) {
      return (!bound.value.valid() || IsBound(bound.value)) &&
             std::ranges::all_of(bound.form.Atoms(), [&](ValueId atom) { return IsBound(atom); });
    });
  }

  ValueId Number(int64_t n) { return builder_.ConstInt(ir::types::Index, n); }

  ValueId Evaluate(const BorderBound& bound) {
    std::optional<ValueId> value;
    if (bound.value.valid()) value = Get(bound.value);
    for (const auto& [product, coefficient] : bound.form.terms()) {
      ValueId term = Number(-static_cast<int64_t>(coefficient));
      for (uint32_t atom : product) term = builder_.Binary(Op::Mul, term, Get(ValueId(atom)));
      value = value ? builder_.Binary(Op::Add, *value, term) : term;
    }
    if (!value) return Number(-bound.shift);
    return bound.shift == 0 ? *value : builder_.Binary(Op::Sub, *value, Number(bound.shift));
  }

  Result<void> CopyPart(const Inst& loop, const BorderSplit& split, Part part, ValueId lo,
                        ValueId hi) {
    const ir::RegionId body = Function::region_of(loop, 0);
    part_ = part;
    split_ = &split;
    builder_.SetLocation(loop.location);
    std::optional<ValueId> guard;
    const Guarded guarded = GuardOf(body, guard);
    if (guarded == Guarded::Never) return split_ = nullptr, Result<void>{};
    std::optional<InstId> branch;
    if (guarded == Guarded::Outside) {
      branch = builder_.Begin(Op::If, ir::Type{}, std::span(&*guard, 1), {}, {}, 2);
      builder_.BeginRegion(*branch, 0, {});
    }
    taken_ = guarded == Guarded::Outside ? GuardIn(body) : InstId();
    const ValueId bounds[] = {lo, hi};
    const ir::Type index = ir::types::Index;
    InstId made = builder_.Begin(Op::Parallel, loop.type, bounds, {}, source_.words_of(loop), 1);
    const ValueId counter = builder_.BeginRegion(made, 0, std::span(&index, 1))[0];
    Bind(CounterOf(source_, loop), counter);
    if (part == Part::Border) borders_.insert(counter.index);
    TRY_VOID(CopyRegion(body));
    builder_.EndRegion();
    if (branch) {
      builder_.Terminate(Op::Yield, {});
      builder_.EndRegion();
      builder_.BeginRegion(*branch, 1, {});
      builder_.Terminate(Op::Yield, {});
      builder_.EndRegion();
    }
    split_ = nullptr;
    taken_ = InstId();
    return {};
  }

  bool CopyRing(const Inst& inst) {
    const std::optional<Ring> ring = finder_.FindRing(inst);
    if (!ring) return false;
    const ValueId size = Get(source_.operand(inst, 1)), counter = Get(ring->counter);
    ValueId value = counter;
    if (ring->step != 0) {
      const ValueId one = Number(1), zero = Number(0);
      const bool is_up = ring->step > 0;
      const ValueId next = builder_.Binary(is_up ? Op::Add : Op::Sub, counter, one);
      value = is_up ? builder_.Select(builder_.Binary(Op::Lt, next, size), next, zero)
                    : builder_.Select(builder_.Binary(Op::Gt, counter, zero), next,
                                      builder_.Binary(Op::Sub, size, one));
    }
    Bind(Function::result_of(inst), value);
    return true;
  }

  // --- a body that is nothing but a branch ---
  enum class Guarded : uint8_t { No, Never, Outside };

  InstId GuardIn(ir::RegionId body) const {
    InstId found;
    for (InstId id : source_.region(body).insts) {
      const Inst& inst = source_.inst(id);
      if (IsPlain(inst) || inst.op == Op::Yield) continue;
      if (found.valid() || inst.op != Op::If || inst.results.count != 0) return InstId();
      if (source_.region(Function::region_of(inst, 1)).insts.size() != 1) return InstId();
      found = id;
    }
    return found;
  }

  // What is left of its condition may be asked before the loop.
  Guarded GuardOf(ir::RegionId body, std::optional<ValueId>& guard) {
    const InstId id = GuardIn(body);
    if (!id.valid() || part_ == Part::Border) return Guarded::No;
    const ValueId condition = source_.operand(source_.inst(id), 0);
    if (KnownOf(condition) == false) return Guarded::Never;
    return Left(condition, guard) && guard ? Guarded::Outside : Guarded::No;
  }

  bool Left(ValueId condition, std::optional<ValueId>& guard) {
    if (const std::optional<bool> known = KnownOf(condition)) return *known;
    const InstId def = source_.values[condition.index].def;
    if (def.valid() && source_.inst(def).op == Op::And)
      return Left(source_.operand(source_.inst(def), 0), guard) &&
             Left(source_.operand(source_.inst(def), 1), guard);
    if (!IsBound(condition) || WasInside(condition)) return false;
    guard = guard ? builder_.Binary(Op::And, *guard, Get(condition)) : Get(condition);
    return true;
  }

  // BorderBound by an earlier part, which is over.
  bool WasInside(ValueId value) const { return inside_copies_.contains(value.index); }

  // --- inside of a part ---
  std::optional<bool> KnownOf(ValueId condition) const {
    if (part_ == Part::Border) return std::nullopt;
    const auto answer = split_->answers.find(condition.index);
    if (answer != split_->answers.end() && answer->second.known)
      return *answer->second.known == (part_ == Part::Between);
    const InstId def = source_.values[condition.index].def;
    if (!def.valid() || source_.type(condition) != ir::types::Bool) return std::nullopt;
    const Inst& inst = source_.inst(def);
    if (inst.op != Op::And && inst.op != Op::Or) return std::nullopt;
    const std::optional<bool> a = KnownOf(source_.operand(inst, 0));
    const std::optional<bool> b = KnownOf(source_.operand(inst, 1));
    const bool strong = inst.op == Op::Or;
    if (a == strong || b == strong) return strong;
    return a && b ? std::optional(!strong) : std::nullopt;
  }

  Result<void> VisitInside(const Inst& inst) {
    for (uint32_t i = 0; i < inst.results.count; ++i)
      inside_copies_.insert(Function::result_of(inst, i).index);
    if (part_ == Part::Border) return CopyRing(inst) ? Result<void>{} : CopyInst(inst);
    const InstId id(static_cast<uint32_t>(&inst - source_.insts.data()));
    if (id == taken_) return Inline(inst, 0);
    if (inst.op == Op::If) {
      const std::optional<bool> known = KnownOf(source_.operand(inst, 0));
      return known ? Inline(inst, *known ? 0 : 1) : CopyInst(inst);
    }
    if (inst.results.count != 1) return CopyInst(inst);
    const ValueId result = Function::result_of(inst);
    if (source_.type(result) == ir::types::Bool) {
      if (const std::optional<bool> known = KnownOf(result)) {
        Bind(result, builder_.ConstInt(ir::types::Bool, *known ? 1 : 0));
        return {};
      }
      if (inst.op == Op::And || inst.op == Op::Or)
        for (uint32_t i : {0u, 1u})
          if (KnownOf(source_.operand(inst, i)))
            return Bind(result, Get(source_.operand(inst, 1 - i))), Result<void>{};
    }
    if (inst.op == Op::Select)
      if (const std::optional<bool> known = KnownOf(source_.operand(inst, 0)))
        return Bind(result, Get(source_.operand(inst, *known ? 1 : 2))), Result<void>{};
    const auto answer = split_->answers.find(result.index);
    if (answer == split_->answers.end() || part_ != Part::Between)
      return CopyRing(inst) ? Result<void>{} : CopyInst(inst);
    ValueId value = Get(source_.operand(inst, answer->second.operand));
    for (uint64_t i = 0; i < answer->second.times; ++i)
      value = builder_.Binary(Op::Sub, value, Get(source_.operand(inst, 1)));
    Bind(result, value);
    return {};
  }

  // An arm in the place of its branch.
  Result<void> Inline(const Inst& inst, uint32_t arm) {
    const std::vector<InstId>& insts = source_.region(Function::region_of(inst, arm)).insts;
    TRY_VOID(CopyInsts(std::span(insts).first(insts.size() - 1)));
    const Inst& yield = source_.inst(insts.back());
    for (uint32_t i = 0; i < inst.results.count; ++i)
      Bind(Function::result_of(inst, i), Get(source_.operand(yield, i)));
    return {};
  }

  BorderFinder finder_;
  std::set<uint32_t>& borders_;
  const BorderSplit* split_ = nullptr;  // of the loop that is being copied
  Part part_ = Part::Border;
  InstId taken_;  // a branch whose condition was asked before the loop
  std::set<uint32_t> inside_copies_;
};

}  // namespace

Result<Borders> SplitBorders(ir::Program& lowered) {
  Borders borders(lowered.functions.size());
  const bool any = std::ranges::any_of(lowered.functions, [&](const Function& function) {
    if (function.is_prelude || std::ranges::none_of(function.insts, [](const Inst& inst) {
          return inst.op == Op::Parallel;
        }))
      return false;
    BorderFinder finder(lowered, function);
    return std::ranges::any_of(function.insts, [&](const Inst& inst) {
      return finder.Find(inst).has_value() || finder.FindRing(inst).has_value();
    });
  });
  if (!any) return borders;
  size_t next = 0;
  lowered =
      TRY(ir::CopyProgram(lowered, [&](const Function& function, ir::FunctionBuilder& builder) {
        BorderCloner cloner(lowered, function, builder, borders[next++]);
        cloner.DeclareParams();
        return cloner.CopyBody();
      }));
  return borders;
}

}  // namespace frazil::targets::native
