// LowerTensors: signatures, the dispatch over tensor ops, and what they share. Every op writes a
// buffer of its own, one loop nest per op: fusion belongs to the optimizer, which sees the tensor
// ops themselves. The one thing saved here is the copy of a result: an op whose value is only
// returned writes the `out` parameter directly. (And products: lower_tensors_matmul.cpp.)
#include "ir/lower/tensors/lower_tensors.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "ir/lower/lower.h"

namespace frazil::ir {
namespace {

// Rows that are made in a result, and read there; what is scattered into. Functions pass their results on to each other:
// all or none.
bool ReadsResults(const Program& program) {
  return std::ranges::any_of(program.functions, [](const Function& function) {
    return std::ranges::any_of(function.insts, [&](const Inst& inst) {
      if (inst.op == Op::Scatter) return true;
      if (inst.op != Op::Generate) return false;
      const uint32_t rank = function.region(Function::region_of(inst, 0)).params.count;
      for (uint32_t k = 0; k < inst.results.count; ++k)
        if (function.shape(function.type(Function::result_of(inst, k))).size() > rank) return true;
      return false;
    });
  });
}

}  // namespace

bool TensorLowering::MakesItsBuffer(Op op) {
  switch (op) {
    case Op::Map:
    case Op::Reduce:
    case Op::Matmul:
    case Op::MatmulFast:
    case Op::Transpose:
    case Op::Broadcast:
    case Op::Slice:
    case Op::Concat:
    case Op::Gather:
    case Op::Iota:
    case Op::TensorUniform:
    case Op::TensorNormal:
    case Op::TensorLoad:
    case Op::Generate:
    case Op::Conv:
    case Op::Scan:
    case Op::Sort:
    case Op::Scatter:
    case Op::MatmulQ:
    case Op::Call: return true;
    default: return false;
  }
}

TensorLowering::TensorLowering(const Program& program, const Function& source,
                               FunctionBuilder& builder, Folds folds)
    : Cloner(source, builder),
      program_(program),
      folds_(folds),
      math_(builder),
      reads_results_(ReadsResults(program)),
      direct_(source.values.size()) {}

Result<void> TensorLowering::Run() {
  DeclareSignature();
  FindDirectResults();
  FindReadInPlace();
  DeferProducts();
  FindLifetimes();
  return CopyBody();
}

void TensorLowering::DeclareSignature() {
  for (uint32_t i = 0; i < source_.param_count(); ++i) {
    Type type = source_.param_type(i);
    if (type.is_tensor()) type = Type::Buffer(type.element(), Access::In);
    BindNamed(source_.param(i), builder_.AddParam(type));
  }
  for (Type type : source_.results) {
    ValueId out;
    if (type.is_tensor())
      out = builder_.AddParam(
          Type::Buffer(type.element(), reads_results_ ? Access::InOut : Access::Out));
    else
      scalar_results_.push_back(type);
    out_params_.push_back(out);
  }
  builder_.SetResults(scalar_results_);
}

// A result may be computed in its `out` parameter if nothing else reads it. Its sizes must be known
// to be sound: a symbol that no tensor parameter has could be negative, and then the op's `alloc`
// has to trap.
void TensorLowering::FindDirectResults() {
  std::vector<uint32_t> uses(source_.values.size(), 0);
  for (ValueId operand : source_.operands) ++uses[operand.index];
  std::vector<bool> sound(source_.param_count(), false);
  for (uint32_t i = 0; i < source_.param_count(); ++i) {
    if (!source_.param_type(i).is_tensor()) continue;
    for (Dim dim : source_.shape(source_.param_type(i)))
      if (dim.is_symbol()) sound[dim.param()] = true;
  }
  const std::vector<InstId>& body = source_.region(source_.body).insts;
  std::vector<bool> is_top(source_.insts.size(), false);
  for (InstId id : body) is_top[id.index] = true;
  std::span<const ValueId> returned = source_.operands_of(source_.inst(body.back()));
  for (uint32_t i = 0; i < returned.size(); ++i) {
    InstId def = source_.values[returned[i].index].def;
    if (!out_params_[i].valid() || uses[returned[i].index] != 1 || !def.valid()) continue;
    if (!is_top[def.index] || !MakesItsBuffer(source_.inst(def).op)) continue;
    bool is_sound = true;
    for (Dim dim : source_.shape(source_.type(returned[i])))
      is_sound = is_sound && (!dim.is_symbol() || sound[dim.param()]);
    if (is_sound) direct_[returned[i].index] = out_params_[i];
  }
}

bool TensorLowering::HasTensor(const Inst& inst) const {
  for (ValueId operand : source_.operands_of(inst))
    if (source_.type(operand).is_tensor()) return true;
  for (uint32_t i = 0; i < inst.results.count; ++i)
    if (source_.type(Function::result_of(inst, i)).is_tensor()) return true;
  return false;
}

Result<void> TensorLowering::Visit(const Inst& inst) {
  if (const uint32_t position = positions_[static_cast<size_t>(&inst - source_.insts.data())])
    FreeUnused(position);
  if (inst.op == Op::Return) return LowerReturn(inst), Result<void>();
  if (inst.op == Op::Fold) NoteBounds(inst);
  if (!HasTensor(inst)) return CopyInst(inst);
  // Instructions of its regions come here in between.
  const Op outer = std::exchange(source_op_, inst.op);
  Result<void> lowered = LowerTensorInst(inst);
  source_op_ = outer;
  return lowered;
}

Result<void> TensorLowering::LowerTensorInst(const Inst& inst) {
  if (inst.results.count == 1 && IsReadInPlace(Function::result_of(inst))) return {};
  switch (inst.op) {
    case Op::If:
    case Op::Switch: return LowerBranches(inst);
    case Op::For: return LowerFor(inst);
    case Op::While: return LowerWhile(inst);
    case Op::Call: LowerCall(inst); break;
    case Op::Map: return LowerMap(inst);
    case Op::Reduce: LowerReduce(inst); break;
    case Op::Matmul:
    case Op::MatmulFast: LowerMatmul(inst); break;
    case Op::Reshape: LowerReshape(inst); break;
    case Op::Transpose: LowerTranspose(inst); break;
    case Op::Broadcast: LowerBroadcast(inst); break;
    case Op::Slice: LowerSlice(inst); break;
    case Op::Concat: LowerConcat(inst); break;
    case Op::Gather: LowerGather(inst); break;
    case Op::Iota: LowerIota(inst); break;
    case Op::TensorUniform:
    case Op::TensorNormal: LowerRandom(inst); break;
    case Op::Extract: LowerExtract(inst); break;
    case Op::TensorLoad: LowerTensorLoad(inst); break;
    case Op::TensorStore: LowerTensorStore(inst); break;
    case Op::Generate: return LowerGenerate(inst);
    case Op::Conv: LowerConv(inst); break;
    case Op::Scan: LowerScan(inst); break;
    case Op::Sort: LowerSort(inst); break;
    case Op::Scatter: LowerScatter(inst); break;
    case Op::MatmulQ: LowerMatmulQ(inst); break;
    default: CHECK(!"an op that takes or gives tensors has its lowering");
  }
  return {};
}

IndexExprs TensorLowering::SizesOf(Type tensor) {
  IndexExprs sizes;
  for (Dim dim : source_.shape(tensor))
    sizes.push_back(dim.is_symbol() ? IndexExpr::Of(builder_.Param(dim.param()))
                                    : IndexExpr::Known(dim.value));
  return sizes;
}

TensorLowering::Target TensorLowering::Allocate(Type tensor) {
  IndexExpr count = math_.CountOrNegative(SizesOf(tensor));
  return {Alloc(tensor.element(), count), count};
}

TensorLowering::Target TensorLowering::Start(const Inst& inst, uint32_t result) {
  ValueId old_value = Function::result_of(inst, result);
  Type type = source_.type(old_value);
  if (ValueId out = direct_[old_value.index]; out.valid()) {
    Bind(old_value, out);
    return {out, math_.Product(SizesOf(type))};
  }
  if (const auto hoisted = hoisted_.find(old_value.index); hoisted != hoisted_.end()) {
    BindNamed(old_value, hoisted->second);
    return {hoisted->second, math_.Product(SizesOf(type))};
  }
  if (const ValueId buffer = Reuse(inst, old_value); buffer.valid()) {
    BindNamed(old_value, buffer);
    return {buffer, math_.Product(SizesOf(type))};
  }
  Target target;
  bool is_sound = std::ranges::any_of(source_.operands_of(inst), [&](ValueId operand) {
    return source_.type(operand).is_tensor() && SameFactors(source_.type(operand), type);
  });
  if (is_sound) {
    target.count = math_.Product(SizesOf(type));
    target.buffer = Alloc(type.element(), target.count);
  } else {
    target = Allocate(type);
  }
  BindNamed(old_value, target.buffer);
  NoteMade(inst, old_value, target.buffer);
  return target;
}

bool TensorLowering::SameFactors(Type a, Type b) const {
  auto factors = [&](Type tensor) {
    std::vector<int64_t> dims;
    for (Dim dim : source_.shape(tensor)) dims.push_back(dim.value);
    std::erase(dims, 1);
    std::sort(dims.begin(), dims.end());
    return dims;
  };
  return factors(a) == factors(b);
}

ValueId TensorLowering::Alloc(Type element, IndexExpr count) {
  const ValueId buffer = builder_.Alloc(element, math_.Value(count));
  builder_.StandFor(source_op_);
  return buffer;
}

ValueId TensorLowering::CheckedLoad(ValueId buffer, ValueId index) {
  const ValueId value = builder_.Load(buffer, index);
  builder_.StandFor(source_op_);
  return value;
}

void TensorLowering::Assert(ValueId condition) {
  builder_.Emit(Op::Assert, Type{}, std::span(&condition, 1), {});
  builder_.StandFor(source_op_);
}

ValueId TensorLowering::Load(ValueId buffer, IndexExpr index) {
  return builder_.Load(buffer, math_.Value(index));
}

void TensorLowering::Store(ValueId buffer, IndexExpr index, ValueId value) {
  builder_.Store(buffer, math_.Value(index), value);
}

void TensorLowering::CopyElements(ValueId from, ValueId to, IndexExpr count) {
  math_.Loop(count, Order::Independent, [&](IndexExpr i) { Store(to, i, Load(from, i)); });
}

ValueId TensorLowering::Zero(Type scalar) {
  return builder_.Const(scalar, std::vector<uint64_t>(WordsOf(scalar), 0));
}

void TensorLowering::AssertEqual(IndexExpr a, IndexExpr b) {
  if (a.known() && b.known() && a.constant == b.constant) return;
  if (!a.known() && a.value == b.value) return;
  ValueId equal = math_.Compare(Op::Eq, a, b);
  Assert(equal);
}

void TensorLowering::TrapIf(ValueId condition, ValueId buffer) {
  // A negative index is outside of every buffer; the load stays, because it can trap.
  builder_.If(
      condition, {},
      [&] { return CheckedLoad(buffer, math_.Value(IndexExpr::Known(-1))), Values(); },
      [] { return Values(); });
}

ValueId TensorLowering::Both(ValueId a, ValueId b) {
  if (!a.valid()) return b;
  if (!b.valid()) return a;
  return builder_.Binary(Op::And, a, b);
}

ValueId TensorLowering::AllWithin(std::span<const IndexExpr> indices,
                                  std::span<const IndexExpr> sizes) {
  ValueId all;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i].known() && sizes[i].known() && indices[i].constant >= 0 &&
        indices[i].constant < sizes[i].constant)
      continue;
    all = Both(all, math_.Compare(Op::Ge, indices[i], IndexExpr::Known(0)));
    all = Both(all, math_.Compare(Op::Lt, indices[i], sizes[i]));
  }
  return all;
}

bool HasTensors(const Program& program) {
  return HasFolds(program) || std::ranges::any_of(program.functions, [](const Function& function) {
           return std::ranges::any_of(
               function.values, [](const ValueInfo& value) { return value.type.is_tensor(); });
         });
}

Result<Program> LowerTensors(const Program& program, Folds folds) {
  Program lowered =
      !HasTensors(program)
          ? program
          : TRY(CopyProgram(program, [&](const Function& function, FunctionBuilder& builder) {
              return TensorLowering(program, function, builder, folds).Run();
            }));
  return folds == Folds::Expand ? ExpandFolds(lowered) : lowered;
}

}  // namespace frazil::ir
