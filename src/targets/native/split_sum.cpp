// Every turn stores one element, at an index that moves with the counter: behind the loop each of them is still there.
// The first loop traps where the whole one would; the second touches only what the first has touched.
#include "targets/native/split_sum.h"

#include <algorithm>
#include <optional>

#include "ir/clone.h"
#include "targets/native/vectors/loop_plan.h"

namespace frazil::targets::native {
namespace {

using namespace ir::names;

struct SumLoop {
  InstId store, step;
  IndexForm index;
};

class SumMatcher {
 public:
  SumMatcher(const ir::Program& program, const Function& function)
      : program_(program), function_(function), forms_(function) {}

  std::optional<SumLoop> Match(const Inst& loop) {
    if (loop.op != Op::For || loop.results.count != 1) return std::nullopt;
    const std::vector<InstId>& body = function_.region(Function::region_of(loop, 0)).insts;
    const ValueId counter = CounterOf(function_, loop);
    SumLoop found;
    bool has_math = false;
    for (InstId id : body) {
      const Inst& inst = function_.inst(id);
      if (inst.regions.count != 0) return std::nullopt;
      if (inst.op == Op::Store) {
        if (found.store.valid()) return std::nullopt;
        found.store = id;
      } else if (inst.op == Op::Call) {
        if (!program_.functions[static_cast<size_t>(function_.word(inst, 0))].is_prelude)
          return std::nullopt;
        has_math = true;
      } else if (inst.op != Op::Load && inst.op != Op::Yield &&
                 ir::Info(inst.op).effect != ir::Effect::Pure) {
        return std::nullopt;
      }
    }
    if (!has_math || !found.store.valid() || function_.type(counter) != ir::types::Index)
      return std::nullopt;
    const Inst& store = function_.inst(found.store);
    found.step = function_.values[function_.operand(function_.inst(body.back()), 0).index].def;
    if (!found.step.valid() ||
        !IsStep(loop, function_.inst(found.step), function_.operand(store, 2)))
      return std::nullopt;
    found.index = forms_.Of(function_.operand(store, 1));
    std::optional<IndexForm> slope = found.index.Coefficient(counter);
    if (!slope || slope->constant() != 1) return std::nullopt;
    return found;
  }

 private:
  // carried + what is stored, and nobody else looks at either sum.
  bool IsStep(const Inst& loop, const Inst& step, ValueId stored) const {
    const ValueId carried = Function::param_of(function_.region(Function::region_of(loop, 0)), 1);
    if (step.op != Op::Add || step.type != function_.type(stored)) return false;
    const ValueId a = function_.operand(step, 0), b = function_.operand(step, 1);
    if (!((a == carried && b == stored) || (a == stored && b == carried)) || carried == stored)
      return false;
    return std::ranges::count(function_.operands, carried) == 1 &&
           std::ranges::count(function_.operands, Function::result_of(step)) == 1;
  }

  const ir::Program& program_;
  const Function& function_;
  IndexForms forms_;
};

class SumCloner : public ir::Cloner {
 public:
  SumCloner(const ir::Program& program, const Function& source, ir::FunctionBuilder& builder)
      : Cloner(source, builder), matcher_(program, source) {}

 protected:
  Result<void> Visit(const Inst& inst) override {
    std::optional<SumLoop> sum = matcher_.Match(inst);
    if (!sum) return CopyInst(inst);
    const ValueId counter = CounterOf(source_, inst);
    for (ValueId atom : sum->index.Atoms())
      if (atom != counter && !IsBound(atom)) return CopyInst(inst);
    const ir::RegionId body = Function::region_of(inst, 0);
    const ValueId bounds[] = {Get(source_.operand(inst, 0)), Get(source_.operand(inst, 1))};
    const ir::Type index = ir::types::Index;
    InstId first = builder_.Begin(Op::For, inst.type, bounds, {}, source_.words_of(inst), 1);
    Bind(counter, builder_.BeginRegion(first, 0, std::span(&index, 1))[0]);
    for (InstId id : source_.region(body).insts)
      if (id != sum->step && source_.inst(id).op != Op::Yield) TRY_VOID(CopyInst(source_.inst(id)));
    builder_.Terminate(Op::Yield, {});
    builder_.EndRegion();
    CopySum(inst, *sum, bounds);
    return {};
  }

 private:
  void CopySum(const Inst& inst, const SumLoop& sum, std::span<const ValueId> bounds) {
    const Inst& store = source_.inst(sum.store);
    const Inst& step = source_.inst(sum.step);
    const ValueId init = Get(source_.operand(inst, 2));
    ir::Values results = builder_.For(
        bounds[0], bounds[1], source_.word(inst, 0), std::span(&init, 1),
        [&](ValueId i, std::span<const ValueId> carried) {
          Bind(CounterOf(source_, inst), i);
          ValueId element = builder_.Load(Get(source_.operand(store, 0)), Evaluate(sum.index));
          const bool carried_first = source_.operand(step, 1) == source_.operand(store, 2);
          return ir::Values{carried_first ? builder_.Binary(Op::Add, carried[0], element)
                                          : builder_.Binary(Op::Add, element, carried[0])};
        });
    BindNamed(Function::result_of(inst), results[0]);
  }

  ValueId Evaluate(const IndexForm& form) {
    std::optional<ValueId> sum;
    for (const auto& [product, coefficient] : form.terms()) {
      ValueId term = builder_.ConstInt(ir::types::Index, static_cast<int64_t>(coefficient));
      for (uint32_t atom : product) term = builder_.Binary(Op::Mul, term, Get(ValueId(atom)));
      sum = sum ? builder_.Binary(Op::Add, *sum, term) : term;
    }
    return *sum;
  }

  SumMatcher matcher_;
};

}  // namespace

Result<void> SplitSums(ir::Program& lowered) {
  const bool any = std::ranges::any_of(lowered.functions, [&](const Function& function) {
    SumMatcher matcher(lowered, function);
    return std::ranges::any_of(function.insts,
                               [&](const Inst& inst) { return matcher.Match(inst).has_value(); });
  });
  if (!any) return {};
  lowered =
      TRY(ir::CopyProgram(lowered, [&](const Function& function, ir::FunctionBuilder& builder) {
        SumCloner cloner(lowered, function, builder);
        cloner.DeclareParams();
        return cloner.CopyBody();
      }));
  return {};
}

}  // namespace frazil::targets::native
