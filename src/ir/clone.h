// Copies functions through a FunctionBuilder, with a map from the values of the old one to those of
// the new one. A pass derives from Cloner, answers in Visit for the instructions it is about, and
// leaves the rest to CopyInst. Locations and value names travel along.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "ir/builder.h"
#include "ir/program.h"

namespace frazil::ir {

class Cloner {
 public:
  Cloner(const Function& source, FunctionBuilder& builder);
  virtual ~Cloner() = default;

  // Shapes, parameters and their names, as in the source; binds the parameters.
  void DeclareParams();
  // Every instruction of a region, its terminator included; or some of them.
  Result<void> CopyRegion(RegionId id) { return CopyInsts(source_.region(id).insts); }
  Result<void> CopyInsts(std::span<const InstId> insts);
  // The function's body: after the parameters are bound.
  Result<void> CopyBody() { return CopyRegion(source_.body); }

  void Bind(ValueId old_value, ValueId new_value);
  bool IsBound(ValueId old_value) const { return map_[old_value.index].valid(); }
  ValueId Get(ValueId old_value) const;
  Values GetAll(std::span<const ValueId> old_values) const;

 protected:
  // Called for every instruction in order; the regions of what is left to CopyInst come back here.
  virtual Result<void> Visit(const Inst& inst) { return CopyInst(inst); }
  // Where functions and data of the old program stand in the new one.
  virtual FuncId MapFunction(FuncId id) const { return id; }
  virtual DataId MapData(DataId id) const { return id; }

  Result<void> CopyInst(const Inst& inst);
  // Fills region `index` of a new instruction with a copy of a region whose parameters keep their
  // types.
  Result<void> CopyRegionInto(InstId new_inst, uint32_t index, RegionId old_region);
  // Bind, and the name travels along.
  void BindNamed(ValueId old_value, ValueId new_value);

  const Function& source_;
  FunctionBuilder& builder_;

 private:
  std::vector<ValueId> map_;
  std::vector<bool> named_;  // a value that is copied twice gives its name once
};

// A program with the same functions in the same order, each built by `copy_function`, so that
// FuncIds and the entry stay right; the builder it gets has the function's name and results, and no
// parameters yet.
Result<Program> CopyProgram(
    const Program& program,
    const std::function<Result<void>(const Function&, FunctionBuilder&)>& copy_function);

}  // namespace frazil::ir
