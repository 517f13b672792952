// Values and elements of a program as forms, made where somebody asks for them: the element of a map is its region with the
// elements of its operands, what is extracted from a generate is its region at these indices, and so on down to elements of
// parameters.
#pragma once

#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/program.h"
#include "verify/tensors/bounds.h"
#include "verify/tensors/forms.h"

namespace frazil::verify::tensors {

// What both programs share.
struct World {
  Forms forms;
  Bounds bounds{forms};
  std::vector<std::vector<uint64_t>> tables;  // what `lookup` reads, by content
  std::map<uint32_t, FormId> known;           // scalar parameters that the guard fixes
};

using ScopeId = uint32_t;

class Evaluator {
 public:
  Evaluator(const ir::Program& program, World& world);

  // A run of a region: its function, what is around it, and what its parameters are.
  ScopeId entry() const { return 0; }
  const ir::Function& function(ScopeId scope) const { return *scopes_[scope].function; }
  const ir::Region& region(ScopeId scope) const {
    return function(scope).region(ir::RegionId(scopes_[scope].region));
  }
  ScopeId Inside(ScopeId scope, ir::RegionId region, std::span<const FormId> params);
  ScopeId Called(ScopeId scope, const ir::Inst& call);
  const ir::Program& program() const { return program_; }

  FormId Value(ScopeId scope, ir::ValueId value);
  FormId Element(ScopeId scope, ir::ValueId tensor, std::span<const FormId> indices);
  FormId SizeOf(ScopeId scope, ir::Dim dim);
  std::vector<FormId> SizesOf(ScopeId scope, ir::Type tensor);
  std::vector<FormId> ValuesOf(ScopeId scope, std::span<const ir::ValueId> values);
  // The table of a lookup, by what it holds.
  uint64_t TableOf(const ir::Inst& lookup, ScopeId scope);

  void Fail(std::string why);
  const std::string& failure() const { return failure_; }

 private:
  struct Scope {
    const ir::Function* function;
    uint32_t region;
    ScopeId around;  // in the same function
    ScopeId body;    // of the function
    uint32_t calls;  // around it
  };
  struct Place {
    ScopeId scope;
    ir::ValueId value;
  };
  struct KeyHash {
    size_t operator()(const std::vector<uint32_t>& key) const;
  };

  ScopeId AddScope(Scope scope);
  ScopeId HomeOf(ScopeId scope, ir::ValueId value);
  const std::vector<uint32_t>& HomesOf(const ir::Function& function);
  uint64_t KeyOf(ScopeId scope, ir::ValueId value) const {
    return uint64_t{scope} << 32 | value.index;
  }
  const ir::Inst& TerminatorOf(ScopeId scope) const;
  FormId Nothing() { return world_.forms.Number(0); }

  FormId Compute(ScopeId scope, const ir::Inst& inst, uint32_t result);
  FormId Scalar(ScopeId scope, const ir::Inst& inst);
  std::optional<FormId> Division(const ir::Inst& inst, std::span<const FormId> operands);
  std::optional<FormId> Decided(const ir::Inst& inst, std::span<const FormId> operands);
  FormId Folded(ScopeId scope, const ir::Inst& inst);
  void CheckIndex(FormId index, FormId size);

  // The elements of each op's result.
  using Indices = std::span<const FormId>;
  FormId ElementOf(ScopeId scope, const ir::Inst& inst, uint32_t result, Indices at);
  FormId Mapped(ScopeId scope, const ir::Inst& inst, Indices at);
  FormId Generated(ScopeId scope, const ir::Inst& inst, uint32_t result, Indices at);
  FormId Reduced(ScopeId scope, const ir::Inst& inst, Indices at);
  FormId Multiplied(ScopeId scope, const ir::Inst& inst, Indices at);
  FormId Reshaped(ScopeId scope, const ir::Inst& inst, Indices at);
  FormId Transposed(ScopeId scope, const ir::Inst& inst, Indices at);
  FormId Broadcast(ScopeId scope, const ir::Inst& inst, Indices at);
  FormId Sliced(ScopeId scope, const ir::Inst& inst, Indices at);
  FormId Concatenated(ScopeId scope, const ir::Inst& inst, Indices at);
  FormId Gathered(ScopeId scope, const ir::Inst& inst, Indices at);
  FormId Drawn(ScopeId scope, const ir::Inst& inst, Indices at);
  // evaluator_kernels.cpp
  FormId KernelElement(ScopeId scope, const ir::Inst& inst, uint32_t result, Indices at);
  FormId Elements(ScopeId scope, ir::ValueId tensor, Indices at);
  // The number of an element in logical order.
  FormId LinearOf(std::span<const FormId> sizes, Indices at);
  FormId Plus(FormId a, FormId b, int64_t factor = 1);
  FormId Times(FormId a, FormId b);

  const ir::Program& program_;
  World& world_;
  std::vector<Scope> scopes_;
  std::unordered_map<const ir::Function*, std::vector<uint32_t>> homes_;  // region by value
  std::unordered_map<uint64_t, FormId> values_;                           // by scope and value
  std::unordered_map<uint64_t, Place> aliases_;  // tensor parameters of callees
  std::unordered_map<std::vector<uint32_t>, FormId, KeyHash> elements_;
  std::unordered_map<std::vector<uint32_t>, ScopeId, KeyHash> insides_;
  std::string failure_;
  uint32_t depth_ = 0;
};

}  // namespace frazil::verify::tensors
