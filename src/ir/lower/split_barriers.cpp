// SplitBarriers: the body of a `parallel` is cut at its barriers, and each phase becomes a
// `parallel` of its own. What one phase makes and a later one reads is kept in scratch arrays with
// one place for each iteration. A uniform `for` or `if` around a barrier moves out of the parallel
// and holds the phases of its body; the values it carries are such arrays too. Uniform values
// without a trap are computed before the parallel and need no array, nor do those that are cheap to compute again.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/clone.h"
#include "ir/lanes/index_math.h"
#include "ir/lower/barrier_plan.h"
#include "ir/lower/lower.h"

namespace frazil::ir {
namespace {

// More than any memory holds; a pool of fewer elements is simply allocated.
constexpr int64_t MostPoolElements = int64_t{1} << 40;

class BarrierSplitter : public Cloner {
 public:
  using Cloner::Cloner;

 protected:
  Result<void> Visit(const Inst& inst) override;

 private:
  // Scratch of all iterations in one buffer: where this phase's iteration has its part, and its
  // size.
  struct Pool {
    ValueId buffer, size, offset;
    ValueId
        trap;  // what `alloc` is given in each iteration: 0, or -1 if there can be no such scratch
  };
  // One parallel that is being split; they nest.
  struct Split {
    Split(const Function& function, const Inst& inst) : plan(function, inst) {}
    BarrierPlan plan;
    ValueId lo, hi, lanes;
    std::unordered_map<ValueId, ValueId> places;
    std::unordered_map<ValueId, Pool> pools;
  };

  Result<void> SplitParallel(const Inst& inst);
  Result<void> BuildSteps(Split& split, const std::vector<Step>& steps);
  Result<void> BuildPhase(Split& split, const Step& phase);
  Result<void> BuildStructure(Split& split, const Step& step);
  Result<void> MakePools(Split& split, const Step& phase);
  Pool* PoolOf(ValueId old_value);
  Result<void> PooledAccess(const Inst& inst, const Pool& pool);
  Result<void> PooledCall(const Inst& inst);

  std::vector<Split*> splits_;
};

Result<void> BarrierSplitter::Visit(const Inst& inst) {
  if (inst.op == Op::Parallel) {
    std::span<const InstId> body = source_.region(Function::region_of(inst, 0)).insts;
    for (InstId id : body)
      if (HasBarrier(source_, source_.inst(id))) return SplitParallel(inst);
  }
  if (inst.op == Op::Alloc && PoolOf(Function::result_of(inst)) != nullptr) {
    // The memory is there already; what cannot be had still traps here, in this iteration.
    builder_.Alloc(inst.type, PoolOf(Function::result_of(inst))->trap);
    builder_.StandFor(inst.source_op);
    return {};
  }
  for (ValueId operand : source_.operands_of(inst))
    if (Pool* pool = PoolOf(operand)) return PooledAccess(inst, *pool);
  return CopyInst(inst);
}

BarrierSplitter::Pool* BarrierSplitter::PoolOf(ValueId old_value) {
  for (Split* split : splits_)
    if (auto found = split->pools.find(old_value); found != split->pools.end())
      return &found->second;
  return nullptr;
}

// An index outside of this iteration's part must trap, and not reach its neighbor's.
Result<void> BarrierSplitter::PooledAccess(const Inst& inst, const Pool& pool) {
  if (inst.op == Op::Length) {
    Bind(Function::result_of(inst), pool.size);
    return {};
  }
  if (inst.op == Op::Call) return PooledCall(inst);
  bool is_access = inst.op == Op::Load || inst.op == Op::Store || inst.op == Op::AtomicRmw ||
                   inst.op == Op::AtomicCas;
  if (!is_access)
    return Fail(Diag::Unsupported, "a tensor is made of scratch that lives across a barrier",
                inst.location);
  Values operands;
  for (ValueId operand : source_.operands_of(inst))
    operands.push_back(PoolOf(operand) != nullptr ? pool.buffer : Get(operand));
  ValueId index = operands[1];
  ValueId zero = builder_.ConstInt(types::Index, 0);
  ValueId from_start = builder_.Binary(Op::Ge, index, zero);
  ValueId before_end = builder_.Binary(Op::Lt, index, pool.size);
  ValueId within = builder_.Binary(Op::And, from_start, before_end);
  ValueId place = builder_.Binary(Op::Add, pool.offset, index);
  operands[1] = builder_.Select(within, place, builder_.ConstInt(types::Index, -1));
  std::vector<Type> results;
  for (uint32_t i = 0; i < inst.results.count; ++i)
    results.push_back(source_.type(Function::result_of(inst, i)));
  Values values = builder_.Emit(inst.op, inst.type, operands, results, source_.words_of(inst));
  builder_.StandFor(inst.source_op);
  for (uint32_t i = 0; i < inst.results.count; ++i)
    BindNamed(Function::result_of(inst, i), values[i]);
  return {};
}

// A callee takes a whole buffer: it gets a copy, which is copied back. Nothing else sees the
// original.
Result<void> BarrierSplitter::PooledCall(const Inst& inst) {
  std::unordered_map<ValueId, ValueId> copies;
  auto copy_all = [&](ValueId old_value, bool back) {
    const Pool& pool = *PoolOf(old_value);
    ValueId copy = copies.at(old_value);
    IndexMath(builder_).Loop(IndexExpr::Of(pool.size), IndexMath::Order::Independent,
                             [&](IndexExpr i) {
                               ValueId place = builder_.Binary(Op::Add, pool.offset, i.value);
                               if (back)
                                 builder_.Store(pool.buffer, place, builder_.Load(copy, i.value));
                               else
                                 builder_.Store(copy, i.value, builder_.Load(pool.buffer, place));
                             });
  };
  Values operands;
  std::vector<ValueId> copied;
  for (ValueId operand : source_.operands_of(inst)) {
    Pool* pool = PoolOf(operand);
    if (pool != nullptr && !copies.contains(operand)) {
      copies[operand] = builder_.Alloc(source_.type(operand).element(), pool->size);
      copied.push_back(operand);
      copy_all(operand, false);
    }
    operands.push_back(pool != nullptr ? copies.at(operand) : Get(operand));
  }
  std::vector<Type> results;
  for (uint32_t i = 0; i < inst.results.count; ++i)
    results.push_back(source_.type(Function::result_of(inst, i)));
  Values values = builder_.Emit(Op::Call, inst.type, operands, results, source_.words_of(inst));
  for (uint32_t i = 0; i < inst.results.count; ++i)
    BindNamed(Function::result_of(inst, i), values[i]);
  for (ValueId old_value : copied) copy_all(old_value, true);
  return {};
}

Result<void> BarrierSplitter::SplitParallel(const Inst& inst) {
  Split split(source_, inst);
  split.lo = Get(source_.operand(inst, 0));
  split.hi = Get(source_.operand(inst, 1));
  // Without iterations nothing may happen, and a uniform loop outside would still run.
  ValueId some = builder_.Binary(Op::Lt, split.lo, split.hi);
  InstId guard = builder_.Begin(Op::If, Type{}, std::span(&some, 1), {}, {}, 2);
  builder_.BeginRegion(guard, 0, {});
  for (InstId id : split.plan.hoisted()) TRY_VOID(CopyInst(source_.inst(id)));
  split.lanes = builder_.Binary(Op::Sub, split.hi, split.lo);
  for (ValueId value : split.plan.kept()) {
    if (!source_.type(value).is_scalar())
      return Fail(Diag::Unsupported, "a tensor cannot live across a barrier", inst.location);
    split.places[value] = builder_.Alloc(source_.type(value), split.lanes);
  }
  splits_.push_back(&split);
  TRY_VOID(BuildSteps(split, split.plan.steps()));
  splits_.pop_back();
  builder_.Terminate(Op::Yield, {});
  builder_.EndRegion();
  builder_.BeginRegion(guard, 1, {});
  builder_.Terminate(Op::Yield, {});
  builder_.EndRegion();
  return {};
}

Result<void> BarrierSplitter::BuildSteps(Split& split, const std::vector<Step>& steps) {
  for (const Step& step : steps)
    TRY_VOID(step.structure != nullptr ? BuildStructure(split, step) : BuildPhase(split, step));
  return {};
}

// Right before the phase that allocates, so that each turn of a uniform loop gets it zeroed again.
// If there cannot be so much, the first iteration that asks for it traps.
Result<void> BarrierSplitter::MakePools(Split& split, const Step& phase) {
  const std::vector<InstId>& pooled = split.plan.pooled();
  for (InstId id : phase.insts) {
    if (std::find(pooled.begin(), pooled.end(), id) == pooled.end()) continue;
    const Inst& inst = source_.inst(id);
    if (inst.op != Op::Alloc)
      return Fail(Diag::Unsupported, "a tensor cannot live across a barrier", inst.location);
    ValueId old_size = source_.operand(inst, 0);
    if (!split.plan.IsUniform(old_size))
      return Fail(
          Diag::Unsupported,
          "scratch that lives across a barrier must have the same length in every iteration",
          inst.location);
    builder_.SetLocation(inst.location);
    IndexMath math(builder_);
    Pool pool;
    pool.size = Get(old_size);
    IndexExpr sizes[] = {IndexExpr::Of(split.lanes), IndexExpr::Of(pool.size)};
    IndexExpr total = math.CountOrNegative(sizes);
    ValueId minus_one = math.Value(IndexExpr::Known(-1));
    ValueId below = math.Compare(Op::Lt, total, IndexExpr::Known(MostPoolElements));
    ValueId zero = math.Value(IndexExpr::Known(0));
    ValueId bounded = builder_.Select(below, total.value, minus_one);
    pool.trap = builder_.Binary(Op::Min, bounded, zero);
    pool.buffer = builder_.Alloc(inst.type, builder_.Binary(Op::Max, bounded, zero));
    builder_.StandFor(inst.source_op);
    split.pools[Function::result_of(inst)] = pool;
  }
  return {};
}

Result<void> BarrierSplitter::BuildStructure(Split& split, const Step& step) {
  const Inst& inst = *step.structure;
  builder_.SetLocation(inst.location);
  uint32_t deciding = inst.op == Op::For ? 2 : 1;
  Values operands = GetAll(source_.operands_of(inst).first(deciding));
  InstId id =
      builder_.Begin(inst.op, inst.type, operands, {}, source_.words_of(inst), inst.regions.count);
  for (uint32_t r = 0; r < inst.regions.count; ++r) {
    std::vector<Type> params;
    if (inst.op == Op::For) params.push_back(builder_.TypeOf(operands[0]));
    Values values = builder_.BeginRegion(id, r, params);
    if (inst.op == Op::For)
      BindNamed(Function::param_of(source_.region(Function::region_of(inst, r)), 0), values[0]);
    TRY_VOID(BuildSteps(split, step.regions[r]));
    builder_.Terminate(Op::Yield, {});
    builder_.EndRegion();
  }
  return {};
}

Result<void> BarrierSplitter::BuildPhase(Split& split, const Step& phase) {
  const BarrierPlan& plan = split.plan;
  std::vector<InstId> insts;
  for (InstId id : phase.insts)
    if (!plan.IsHoisted(id)) insts.push_back(id);
  if (insts.empty() && phase.moves.empty()) return {};
  TRY_VOID(MakePools(split, phase));
  ValueId bounds[] = {split.lo, split.hi};
  InstId parallel = builder_.Begin(Op::Parallel, Type{}, bounds, {}, {}, 1);
  Type index = types::Index;
  ValueId i = builder_.BeginRegion(parallel, 0, std::span(&index, 1))[0];
  BindNamed(plan.lane(), i);
  ValueId lane = builder_.Binary(Op::Sub, i, split.lo);
  std::vector<ValueId> reads = plan.Read(phase);
  for (ValueId value : reads)
    if (plan.IsKept(value))
      Bind(value, builder_.Load(split.places.at(plan.CarrierOf(value)), lane));
  std::unordered_set<InstId> again;
  for (ValueId value : reads)
    for (InstId id : plan.RecomputedBy(value))
      if (again.insert(id).second) TRY_VOID(CopyInst(source_.inst(id)));
  std::vector<ValueId> made = plan.Made(phase);
  reads.insert(reads.end(), made.begin(), made.end());
  for (ValueId value : reads)
    if (auto found = split.pools.find(value); found != split.pools.end())
      found->second.offset = builder_.Binary(Op::Mul, lane, found->second.size);
  TRY_VOID(CopyInsts(insts));
  for (ValueId value : made)
    if (split.places.contains(value)) builder_.Store(split.places.at(value), lane, Get(value));
  // All are read before any is written: carried values may change places.
  Values moved;
  for (const Move& move : phase.moves) moved.push_back(Get(move.from));
  for (size_t m = 0; m < moved.size(); ++m)
    builder_.Store(split.places.at(phase.moves[m].to), lane, moved[m]);
  builder_.Terminate(Op::Yield, {});
  builder_.EndRegion();
  return {};
}

}  // namespace

Result<Program> SplitBarriers(const Program& program) {
  bool any =
      std::any_of(program.functions.begin(), program.functions.end(), [](const Function& function) {
        return std::any_of(function.insts.begin(), function.insts.end(),
                           [](const Inst& inst) { return inst.op == Op::Barrier; });
      });
  if (!any) return program;
  return CopyProgram(program, [](const Function& function, FunctionBuilder& builder) {
    BarrierSplitter splitter(function, builder);
    splitter.DeclareParams();
    return splitter.CopyBody();
  });
}

}  // namespace frazil::ir
