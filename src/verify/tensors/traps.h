// What of a program may trap, in program order. An access that is within its bounds, a size that fits whatever it is, a division
// by what is not zero: nothing of these may. What is left is a list of forms; two programs with the same list trap at the
// same point of it, with the same kind and op, or not at all.
#pragma once

#include <set>
#include <vector>

#include "verify/tensors/evaluator.h"

namespace frazil::verify::tensors {

// A tensor whose size may be negative is made, which takes more memory than there is.
struct Need {
  FormId size;
  size_t traps;     // so many of the list come before it
  bool is_certain;  // it is made wherever these do not trap
};

class Traps {
 public:
  Traps(Evaluator& evaluator, World& world) : evaluator_(evaluator), world_(world) {}

  // All of the program's.
  void Read();
  const std::vector<FormId>& list() const { return lists_[0]; }
  const std::vector<Need>& needs() const { return needs_; }
  // The sizes of each tensor that is made, and the count of each fold, as a tensor of one axis.
  const std::set<std::vector<FormId>>& shapes() const { return shapes_; }

 private:
  void Walk(ScopeId scope, bool is_certain);
  void Inst(ScopeId scope, const ir::Inst& inst, bool is_certain);
  void Add(FormId trap);
  void AddTrap(ScopeId scope, const ir::Inst& inst, std::vector<uint64_t> words,
               std::vector<FormId> children);
  void AddNeeds(ScopeId scope, const ir::Inst& inst, bool is_certain);
  void Scalar(ScopeId scope, const ir::Inst& inst);
  bool CannotTrap(const ir::Inst& inst, const std::vector<FormId>& operands) const;
  void Extract(ScopeId scope, const ir::Inst& inst);
  void Lookup(ScopeId scope, const ir::Inst& inst);
  void Assert(ScopeId scope, const ir::Inst& inst);
  void Elements(ScopeId scope, const ir::Inst& inst);
  FormId WhereAnyIsMade(ScopeId scope, const ir::Inst& inst, const std::vector<FormId>& traps);
  void Fold(ScopeId scope, const ir::Inst& inst);
  void If(ScopeId scope, const ir::Inst& inst, bool is_certain);
  void Reshape(ScopeId scope, const ir::Inst& inst);
  void Broadcast(ScopeId scope, const ir::Inst& inst);
  void Slice(ScopeId scope, const ir::Inst& inst);
  void Concat(ScopeId scope, const ir::Inst& inst);
  void Picks(ScopeId scope, const ir::Inst& inst);
  void Sizes(ScopeId scope, const ir::Inst& inst);
  std::vector<FormId> OpenAll(std::span<const FormId> sizes);
  // What was added since the lists were so many, once for each index.
  void CloseAll(std::span<const FormId> indices, std::span<const FormId> sizes);
  bool MayTrap(const ir::Function& f, ir::RegionId region) const;

  Evaluator& evaluator_;
  World& world_;
  std::vector<std::vector<FormId>> lists_ = {
      {}};  // the last is open; those before it come before it
  std::vector<Need> needs_;
  std::set<std::vector<FormId>> shapes_;
};

}  // namespace frazil::verify::tensors
