// Memory, control and calls: the ops whose operands and regions the row cannot spell.
#include "ir/check/attributes.h"
#include "ir/check/call_types.h"
#include "ir/check/check_internal.h"
#include "ir/text/literal.h"

namespace frazil::ir {

Result<void> FunctionChecker::CheckCustom(const Inst& inst) {
  size_t regions = inst.op == Op::If || inst.op == Op::While ? 2
                   : inst.op == Op::Switch                   ? inst.attributes.count + 1
                   : inst.op == Op::For || inst.op == Op::Parallel || inst.op == Op::Map ||
                           inst.op == Op::Generate || inst.op == Op::Fold
                       ? 1
                       : 0;
  if (inst.regions.count != regions)
    return Wrong(inst, Diag::BadRegion, "needs {} regions, has {}", regions, inst.regions.count);
  // Structured ops and calls have results of their own; those that T determines are checked here.
  if (HasTypeParameter(inst.op) && inst.op != Op::Generate && inst.op != Op::Sort &&
      (inst.results.count != (HasRowResult(inst.op) ? 1u : 0u) ||
       (HasRowResult(inst.op) &&
        function_.type(Function::result_of(inst)) != ResultTypeOf(inst.op, inst.type))))
    return Wrong(inst, Diag::WrongType, "its result has the wrong type");
  switch (inst.op) {
    case Op::Length:
      TRY_VOID(NeedOperands(inst, 1));
      if (!OperandType(inst, 0).is_buffer() || OperandType(inst, 0).element() != inst.type)
        return Wrong(inst, Diag::WrongType, "its operand must be a buffer<{}>", Show(inst.type));
      return {};
    case Op::Alloc:
      if (!inst.type.is_scalar()) return Wrong(inst, Diag::WrongType, "allocates scalars");
      TRY_VOID(NeedOperands(inst, 1));
      return NeedType(inst, 0, types::Index);
    case Op::AtomicRmw:
    case Op::AtomicCas: return CheckAtomic(inst);
    case Op::SpongeSqueeze:
    case Op::MerkleStep:
    case Op::Tasm: return CheckProver(inst);
    case Op::If: return CheckIf(inst);
    case Op::For: return CheckFor(inst);
    case Op::While: return CheckWhile(inst);
    case Op::Switch: return CheckSwitch(inst);
    case Op::Parallel: return CheckParallel(inst);
    case Op::Generate: return CheckGenerate(inst);
    case Op::Fold: return CheckFold(inst);
    case Op::Call: return CheckCall(inst);
    default: return CheckTensorOp(inst);
  }
}

Result<void> FunctionChecker::CheckAtomic(const Inst& inst) const {
  TRY_VOID(NeedOperands(inst, inst.op == Op::AtomicCas ? 4 : 3));
  Type buffer = OperandType(inst, 0);
  if (!inst.type.is_scalar() || !buffer.is_buffer() || buffer.element() != inst.type)
    return Wrong(inst, Diag::WrongType, "operand 1 must be a buffer<{}>", Show(inst.type));
  if (buffer.access != Access::InOut)
    return Wrong(inst, Diag::BadAccess, "the buffer must be readable and writable");
  TRY_VOID(NeedType(inst, 1, types::Index));
  for (uint32_t i = 2; i < inst.operands.count; ++i) TRY_VOID(NeedType(inst, i, inst.type));
  if (inst.op == Op::AtomicCas || !IsFloat(inst.type.scalar)) return {};
  AtomicKind kind = static_cast<AtomicKind>(function_.word(inst, 0));
  if (kind == AtomicKind::And || kind == AtomicKind::Or || kind == AtomicKind::Xor)
    return Wrong(inst, Diag::WrongType, "does not work on {}", Show(inst.type));
  if (function_.word(inst, 1) == 0)
    return Wrong(inst, Diag::NotUnordered, "on floats it needs the attribute 'unordered'");
  return {};
}

// The ops of provable machines that have several results.
Result<void> FunctionChecker::CheckProver(const Inst& inst) const {
  if (inst.op == Op::SpongeSqueeze) TRY_VOID(NeedOperands(inst, 0));
  if (inst.op == Op::MerkleStep) {
    TRY_VOID(NeedOperands(inst, 2));
    TRY_VOID(NeedType(inst, 0, types::U32));
    TRY_VOID(NeedType(inst, 1, types::Digest));
  }
  if (inst.op == Op::Tasm) {
    if (program_.data[static_cast<size_t>(function_.word(inst, 0))].element != types::U8)
      return Wrong(inst, Diag::WrongType, "its text is a table of u8");
    for (uint32_t i = 0; i < inst.operands.count; ++i) TRY_VOID(NeedType(inst, i, types::Field));
  }
  std::vector<Type> results = PlainResultTypes(inst.op, inst.type, inst.results.count);
  bool fits = results.size() == inst.results.count;
  for (uint32_t i = 0; fits && i < inst.results.count; ++i)
    fits = function_.type(Function::result_of(inst, i)) == results[i];
  if (!fits) return Wrong(inst, Diag::WrongType, "its results have the wrong types");
  return {};
}

// Regions of which one runs and gives the results.
Result<void> FunctionChecker::CheckArms(const Inst& inst) {
  std::vector<Type> results;
  for (uint32_t i = 0; i < inst.results.count; ++i)
    results.push_back(function_.type(Function::result_of(inst, i)));
  for (Type type : results)
    if (type.is_buffer()) return Wrong(inst, Diag::WrongType, "cannot yield a buffer");
  around_.push_back(&inst);
  for (uint32_t i = 0; i < inst.regions.count; ++i) {
    const Region& region = function_.region(Function::region_of(inst, i));
    if (region.params.count != 0)
      return Wrong(inst, Diag::BadRegion, "its regions take no parameters");
    TRY_VOID(CheckRegion(Function::region_of(inst, i), inst.op, results, inst.location));
    Forget(region);
  }
  around_.pop_back();
  return {};
}

Result<void> FunctionChecker::CheckIf(const Inst& inst) {
  TRY_VOID(NeedOperands(inst, 1));
  TRY_VOID(NeedType(inst, 0, types::Bool));
  return CheckArms(inst);
}

Result<void> FunctionChecker::CheckSwitch(const Inst& inst) {
  TRY_VOID(NeedOperands(inst, 1));
  Type selector = OperandType(inst, 0);
  if (!selector.is_scalar() || !IsFixedInt(selector.scalar))
    return Wrong(inst, Diag::WrongType, "selects by an integer, not by {}", Show(selector));
  for (uint64_t word : function_.words_of(inst))
    if (!IsCanonicalLiteral(selector, std::span(&word, 1)))
      return Wrong(inst, Diag::BadAttribute, "case {} is no {}", static_cast<int64_t>(word),
                   Show(selector));
  for (uint32_t i = 0; i < inst.attributes.count; ++i)
    for (uint32_t j = 0; j < i; ++j)
      if (function_.word(inst, i) == function_.word(inst, j))
        return Wrong(inst, Diag::BadAttribute, "case {} stands twice", function_.word(inst, i));
  return CheckArms(inst);
}

// Carried values: inits, region parameters and results agree in number and type.
Result<void> FunctionChecker::CheckCarried(const Inst& inst, std::span<const ValueId> inits,
                                           const Region& region, uint32_t first_param) {
  if (inst.results.count != inits.size() || region.params.count != first_param + inits.size())
    return Wrong(inst, Diag::BadRegion, "carries {} values, but has {} results", inits.size(),
                 inst.results.count);
  for (uint32_t i = 0; i < inits.size(); ++i) {
    Type type = function_.type(inits[i]);
    if (type.is_buffer()) return Wrong(inst, Diag::WrongType, "cannot carry a buffer");
    if (function_.type(Function::param_of(region, first_param + i)) != type ||
        function_.type(Function::result_of(inst, i)) != type)
      return Wrong(inst, Diag::WrongType, "carried value {} changes its type", i + 1);
  }
  return {};
}

Result<void> FunctionChecker::CheckFor(const Inst& inst) {
  if (inst.operands.count < 2) return NeedOperands(inst, 2);
  const Region& region = function_.region(Function::region_of(inst, 0));
  Type counter = OperandType(inst, 0);
  if (!counter.is_scalar() || !IsFixedInt(counter.scalar))
    return Wrong(inst, Diag::WrongType, "counts integers, not {}", Show(counter));
  TRY_VOID(NeedType(inst, 1, counter));
  if (function_.word(inst, 0) < 1)
    return Wrong(inst, Diag::BadAttribute, "the step must be at least 1");
  TRY_VOID(CheckCarried(inst, function_.operands_of(inst).subspan(2), region, 1));
  if (function_.type(Function::param_of(region, 0)) != counter)
    return Wrong(inst, Diag::WrongType, "the counter has another type than its bounds");
  std::vector<Type> carried;
  for (uint32_t i = 0; i < inst.results.count; ++i)
    carried.push_back(function_.type(Function::result_of(inst, i)));
  around_.push_back(&inst);
  TRY_VOID(CheckRegion(Function::region_of(inst, 0), inst.op, carried, inst.location));
  Forget(region);
  around_.pop_back();
  return {};
}

Result<void> FunctionChecker::CheckWhile(const Inst& inst) {
  const Region& test = function_.region(Function::region_of(inst, 0));
  const Region& body = function_.region(Function::region_of(inst, 1));
  TRY_VOID(CheckCarried(inst, function_.operands_of(inst), test, 0));
  if (body.params.count != 0) return Wrong(inst, Diag::BadRegion, "its body takes no parameters");
  std::vector<Type> carried;
  for (uint32_t i = 0; i < inst.results.count; ++i)
    carried.push_back(function_.type(Function::result_of(inst, i)));
  around_.push_back(&inst);
  TRY_VOID(CheckRegion(Function::region_of(inst, 0), Op::Condition, {}, inst.location));
  TRY_VOID(CheckRegion(Function::region_of(inst, 1), inst.op, carried, inst.location));
  Forget(body);
  Forget(test);
  around_.pop_back();
  return {};
}

Result<void> FunctionChecker::CheckParallel(const Inst& inst) {
  TRY_VOID(NeedOperands(inst, 2));
  TRY_VOID(NeedType(inst, 0, types::Index));
  TRY_VOID(NeedType(inst, 1, types::Index));
  const Region& region = function_.region(Function::region_of(inst, 0));
  if (region.params.count != 1 || function_.type(Function::param_of(region, 0)) != types::Index)
    return Wrong(inst, Diag::BadRegion, "its region takes one index");
  if (inst.results.count != 0) return Wrong(inst, Diag::BadRegion, "has no results");
  around_.push_back(&inst);
  ++parallels_open_;
  TRY_VOID(CheckRegion(Function::region_of(inst, 0), inst.op, {}, inst.location));
  --parallels_open_;
  Forget(region);
  around_.pop_back();
  return {};
}

// Every iteration must come by alike: between the parallel and the barrier only `for` and `if` whose bounds
// or condition are the same for all, that is, made outside of that parallel.
Result<void> FunctionChecker::CheckBarrier(const Inst& inst) const {
  for (size_t i = around_.size(); i-- > 0;) {
    const Inst& outer = *around_[i];
    if (outer.op == Op::Parallel) return {};
    uint32_t deciding = outer.op == Op::For ? 2 : outer.op == Op::If ? 1 : 0;
    bool uniform = deciding != 0;
    for (uint32_t j = 0; j < deciding; ++j)
      uniform &= parallel_depth_[function_.operand(outer, j).index] < parallels_open_;
    if (!uniform)
      return Wrong(inst, Diag::DivergentBarrier,
                   "not every iteration of the parallel reaches it alike (inside '{}')",
                   Info(outer.op).mnemonic);
  }
  return Wrong(inst, Diag::DivergentBarrier, "stands in no parallel");
}

Result<void> FunctionChecker::CheckCall(const Inst& inst) {
  const Function& callee = program_.functions[static_cast<size_t>(function_.word(inst, 0))];
  std::span<const ValueId> arguments = function_.operands_of(inst);
  if (arguments.size() != callee.param_count() || inst.results.count != callee.results.size())
    return Wrong(inst, Diag::BadCall, "@{} takes {} and gives {}", callee.name,
                 callee.param_count(), callee.results.size());
  auto same = [&](Type mine, Type theirs) -> Result<bool> {
    if (mine.form != theirs.form || mine.element() != theirs.element()) return false;
    if (mine.is_buffer())
      return (static_cast<uint8_t>(mine.access) & static_cast<uint8_t>(theirs.access)) ==
             static_cast<uint8_t>(theirs.access);
    if (!mine.is_tensor()) return true;
    Result<Shape> shape = CallShape(callee, function_, arguments, theirs);
    if (!shape) return Wrong(inst, shape.error().diag, "{}", shape.error().message);
    return *shape == function_.shape(mine);
  };
  for (uint32_t i = 0; i < arguments.size(); ++i)
    if (!TRY(same(function_.type(arguments[i]), callee.param_type(i))))
      return Wrong(inst, Diag::BadCall, "argument {} of @{} is {}", i + 1, callee.name,
                   Show(function_.type(arguments[i])));
  for (uint32_t i = 0; i < inst.results.count; ++i)
    if (!TRY(same(function_.type(Function::result_of(inst, i)), callee.results[i])))
      return Wrong(inst, Diag::BadCall, "result {} of @{} has another type", i + 1, callee.name);
  return {};
}

}  // namespace frazil::ir
