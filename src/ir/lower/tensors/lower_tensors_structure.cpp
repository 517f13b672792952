// Tensors that pass through calls, branches and loops. A branch or a loop gets a buffer before it
// starts, and what it yields is copied there: a buffer cannot be a result of a region, and one that
// was allocated in a region is gone when the region ends.
#include <algorithm>

#include "ir/lower/tensors/lower_tensors.h"

namespace frazil::ir {

Result<std::span<const ValueId>> TensorLowering::CopyUntilYield(RegionId id) {
  std::span<const InstId> insts = source_.region(id).insts;
  TRY_VOID(CopyInsts(insts.first(insts.size() - 1)));
  return source_.operands_of(source_.inst(insts.back()));
}

Result<void> TensorLowering::LowerBranches(const Inst& inst) {
  std::vector<Target> targets(inst.results.count);
  std::vector<Type> scalar_types;
  for (uint32_t i = 0; i < inst.results.count; ++i) {
    Type type = source_.type(Function::result_of(inst, i));
    if (type.is_tensor())
      targets[i] = Start(inst, i);
    else
      scalar_types.push_back(type);
  }
  InstId id = builder_.Begin(inst.op, inst.type, GetAll(source_.operands_of(inst)), scalar_types,
                             source_.words_of(inst), inst.regions.count);
  for (uint32_t r = 0; r < inst.regions.count; ++r) {
    builder_.BeginRegion(id, r, {});
    std::span<const ValueId> yielded = TRY(CopyUntilYield(Function::region_of(inst, r)));
    Values scalars;
    for (uint32_t i = 0; i < yielded.size(); ++i) {
      if (targets[i].buffer.valid())
        CopyElements(Get(yielded[i]), targets[i].buffer, targets[i].count);
      else
        scalars.push_back(Get(yielded[i]));
    }
    builder_.Terminate(Op::Yield, scalars);
    builder_.EndRegion();
  }
  uint32_t next = 0;
  for (uint32_t i = 0; i < inst.results.count; ++i)
    if (!targets[i].buffer.valid())
      BindNamed(Function::result_of(inst, i),
                Function::result_of(builder_.function().inst(id), next++));
  return {};
}

Values TensorLowering::CarriedBuffers(std::span<const ValueId> inits) {
  Values buffers;
  for (ValueId init : inits) {
    Type type = source_.type(init);
    buffers.emplace_back();
    if (!type.is_tensor()) continue;
    Target target = Allocate(type);
    CopyElements(Get(init), target.buffer, target.count);
    buffers.back() = target.buffer;
  }
  return buffers;
}

void TensorLowering::YieldCarried(std::span<const ValueId> yielded,
                                  std::span<const ValueId> carried) {
  Values scalars;
  struct Copy {
    ValueId from, to;
    Type type;
  };
  std::vector<Copy> copies;
  for (uint32_t i = 0; i < yielded.size(); ++i) {
    ValueId value = Get(yielded[i]);
    if (!carried[i].valid())
      scalars.push_back(value);
    else if (value != carried[i])
      copies.push_back({value, carried[i], source_.type(yielded[i])});
  }
  // Carried tensors that change places are first copied aside: the copies below overwrite them.
  for (Copy& copy : copies) {
    if (copies.size() < 2 || std::find(carried.begin(), carried.end(), copy.from) == carried.end())
      continue;
    Target aside = Allocate(copy.type);
    CopyElements(copy.from, aside.buffer, aside.count);
    copy.from = aside.buffer;
  }
  for (const Copy& copy : copies)
    CopyElements(copy.from, copy.to, math_.Product(SizesOf(copy.type)));
  builder_.Terminate(Op::Yield, scalars);
}

Result<void> TensorLowering::LowerFor(const Inst& inst) {
  std::span<const ValueId> operands = source_.operands_of(inst);
  std::span<const ValueId> inits = operands.subspan(2);
  Values carried = CarriedBuffers(inits);
  Values new_operands = {Get(operands[0]), Get(operands[1])};
  std::vector<Type> param_types = {source_.type(operands[0])};
  for (uint32_t i = 0; i < inits.size(); ++i) {
    if (carried[i].valid()) continue;
    new_operands.push_back(Get(inits[i]));
    param_types.push_back(source_.type(inits[i]));
  }
  InstId id = builder_.Begin(Op::For, inst.type, new_operands, std::span(param_types).subspan(1),
                             source_.words_of(inst), 1);
  Values params = builder_.BeginRegion(id, 0, param_types);
  const Region& region = source_.region(Function::region_of(inst, 0));
  BindNamed(Function::param_of(region, 0), params[0]);
  for (uint32_t i = 0, next = 1; i < inits.size(); ++i)
    BindNamed(Function::param_of(region, i + 1), carried[i].valid() ? carried[i] : params[next++]);
  return FinishLoop(inst, id, carried);
}

Result<void> TensorLowering::FinishLoop(const Inst& inst, InstId id,
                                        std::span<const ValueId> carried) {
  const uint32_t body = inst.op == Op::While ? 1 : 0;
  std::span<const ValueId> yielded = TRY(CopyUntilYield(Function::region_of(inst, body)));
  YieldCarried(yielded, carried);
  builder_.EndRegion();
  for (uint32_t i = 0, next = 0; i < carried.size(); ++i)
    BindNamed(Function::result_of(inst, i),
              carried[i].valid() ? carried[i]
                                 : Function::result_of(builder_.function().inst(id), next++));
  return {};
}

Result<void> TensorLowering::LowerWhile(const Inst& inst) {
  std::span<const ValueId> inits = source_.operands_of(inst);
  Values carried = CarriedBuffers(inits);
  Values new_operands;
  std::vector<Type> param_types;
  for (uint32_t i = 0; i < inits.size(); ++i) {
    if (carried[i].valid()) continue;
    new_operands.push_back(Get(inits[i]));
    param_types.push_back(source_.type(inits[i]));
  }
  InstId id = builder_.Begin(Op::While, inst.type, new_operands, param_types, {}, 2);
  Values params = builder_.BeginRegion(id, 0, param_types);
  const Region& test = source_.region(Function::region_of(inst, 0));
  for (uint32_t i = 0, next = 0; i < inits.size(); ++i)
    BindNamed(Function::param_of(test, i), carried[i].valid() ? carried[i] : params[next++]);
  TRY_VOID(CopyRegion(Function::region_of(inst, 0)));
  builder_.EndRegion();
  builder_.BeginRegion(id, 1, {});
  return FinishLoop(inst, id, carried);
}

void TensorLowering::LowerCall(const Inst& inst) {
  Values arguments = GetAll(source_.operands_of(inst));
  std::vector<Type> scalar_types;
  std::vector<bool> is_tensor;
  for (uint32_t i = 0; i < inst.results.count; ++i) {
    Type type = source_.type(Function::result_of(inst, i));
    is_tensor.push_back(type.is_tensor());
    if (type.is_tensor())
      arguments.push_back(Start(inst, i).buffer);
    else
      scalar_types.push_back(type);
  }
  Values results =
      builder_.Emit(Op::Call, inst.type, arguments, scalar_types, source_.words_of(inst));
  for (uint32_t i = 0, next = 0; i < inst.results.count; ++i)
    if (!is_tensor[i]) BindNamed(Function::result_of(inst, i), results[next++]);
}

void TensorLowering::LowerReturn(const Inst& inst) {
  std::span<const ValueId> operands = source_.operands_of(inst);
  Values scalars;
  for (uint32_t i = 0; i < operands.size(); ++i) {
    ValueId value = Get(operands[i]);
    if (!out_params_[i].valid())
      scalars.push_back(value);
    else if (value != out_params_[i])
      CopyElements(value, out_params_[i], math_.Product(SizesOf(operands[i])));
  }
  builder_.Return(scalars);
}

}  // namespace frazil::ir
