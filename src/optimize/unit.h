// A program on its way through the passes, and where its values come from. Passes copy function by function
// (ir/clone.h) and keep functions at their places, so that a value of the program under work can still be named as a
// value of the source: that is what a certificate talks about.
#pragma once

#include <functional>
#include <vector>

#include "base/result.h"
#include "ir/clone.h"
#include "ir/program.h"

namespace frazil::optimize {

// By function, by value: the value of the source that it is a copy of, or invalid.
using Origins = std::vector<std::vector<ir::ValueId>>;

struct Unit {
  ir::Program program;
  Origins origins;
  const ir::Program* source = nullptr;  // what the origins are values of
};
Unit MakeUnit(const ir::Program& source);  // which must outlive it

// What a pass is given for one function.
struct PassInput {
  const ir::Program& program;
  const ir::Function& function;
  ir::FunctionBuilder& builder;
};

// A Cloner that says which of its copies stand for what.
class PassCloner : public ir::Cloner {
 public:
  explicit PassCloner(const PassInput& input)
      : Cloner(input.function, input.builder), program_(input.program) {}
  bool changed() const { return changed_; }
  // Old values by the new value that is their copy, instruction for instruction.
  std::vector<ir::ValueId> OldValues() const;

 protected:
  // Emits a copy of an instruction that has regions; `fill` copies each of them.
  Result<void> CopyWithRegions(const ir::Inst& inst,
                               const std::function<Result<void>(ir::InstId, uint32_t)>& fill);
  // The words of a new value, if it is a constant.
  const ir::Inst* NewDefinition(ir::ValueId new_value) const;
  bool IsConstant(ir::ValueId new_value) const;
  std::span<const uint64_t> ConstantWords(ir::ValueId new_value) const;

  const ir::Program& program_;
  bool changed_ = false;
};

// Runs a pass over every function. `Make` builds the function and returns its cloner's verdict.
template <typename Pass, typename... Arguments>
Result<bool> RunPass(Unit& unit, const Arguments&... arguments) {
  Origins origins;
  bool changed = false;
  ir::Program next = TRY(ir::CopyProgram(
      unit.program,
      [&](const ir::Function& function, ir::FunctionBuilder& builder) -> Result<void> {
        Pass pass(PassInput{unit.program, function, builder}, arguments...);
        pass.DeclareParams();
        TRY_VOID(pass.Run());
        changed |= pass.changed();
        std::vector<ir::ValueId> old = pass.OldValues();
        for (ir::ValueId& value : old)
          if (value.valid()) value = unit.origins[origins.size()][value.index];
        if constexpr (requires { pass.Explain(old, 0u); })
          pass.Explain(old, static_cast<uint32_t>(origins.size()));
        origins.push_back(std::move(old));
        return {};
      }));
  unit.program = std::move(next);
  unit.origins = std::move(origins);
  return changed;
}

}  // namespace frazil::optimize
