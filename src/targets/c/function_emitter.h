// One function of the IR as one C function.
#pragma once

#include <string>
#include <vector>

#include "targets/c/expression.h"
#include "targets/c/signature.h"

namespace frazil::targets::c {

class FunctionEmitter {
 public:
  FunctionEmitter(const Plan& plan, ir::FuncId id, Support& support);

  const Signature& signature() const { return signature_; }
  // "static inline bool f(...)", without a semicolon.
  std::string Prototype() const;
  std::string Definition();

 private:
  // function_emitter.cpp: regions and control.
  void Body(ir::RegionId region);
  void Instruction(const ir::Inst& inst);
  void If(const ir::Inst& inst);
  void IfBranch(const ir::Inst& inst, uint32_t region);
  bool IsEmptyBranch(const ir::Inst& inst, uint32_t region) const;
  void Switch(const ir::Inst& inst);
  void TakeTrips(const ir::Inst& loop, bool never, const std::string& step);
  void For(const ir::Inst& inst);
  std::string ForStep(const ir::Inst& inst, const std::string& counter, const std::string& hi);
  void While(const ir::Inst& inst);
  void Parallel(const ir::Inst& inst);
  void Return(const ir::Inst& inst);
  void Call(const ir::Inst& inst);
  void DeclareResults(const ir::Inst& inst);
  void DeclareCarried(const ir::Inst& loop);
  void FinishCarried(const ir::Inst& loop);
  void AssignCarried(const ir::Inst& loop, ir::RegionId body);
  void YieldInto(const ir::Inst& owner, ir::RegionId region);
  bool Reads(ir::ValueId value, ir::ValueId name) const;
  std::string OpenScratch(ir::RegionId region);
  void CloseScratch(const std::string& mark);

  // statements.cpp: instructions that trap, touch memory or streams.
  bool Statement(const ir::Inst& inst);
  void Checked(const ir::Inst& inst);
  void CheckedWide(const ir::Inst& inst);
  void CastChecked(const ir::Inst& inst);
  void CastCheckedWide(const ir::Inst& inst, ir::Type from);
  void DivisionChecks(const ir::Inst& inst);
  void InverseCheck(const ir::Inst& inst);
  void BoundsCheck(const ir::Inst& inst, ir::ValueId index, const std::string& length);
  void Atomic(const ir::Inst& inst);
  void Alloc(const ir::Inst& inst);
  void Read(const ir::Inst& inst);
  void Output(const ir::Inst& inst);

  // Text.
  void Line(std::string_view text);
  void Open(std::string_view text);  // "if (a) {"
  void Close(std::string_view text = "}");
  void TrapIf(const std::string& condition, ir::Trap kind, const ir::Inst& inst);
  void Trap(ir::Trap kind, const ir::Inst& inst);
  // After something that has recorded its trap.
  std::string Propagate();
  // Gives the result a name and defines it, unless nobody reads it.
  void Define(const ir::Inst& inst, const std::string& expression);
  std::string NewName(ir::ValueId value);
  std::string NewName(ir::ValueId value, ir::ValueId otherwise);
  bool IsLive(ir::ValueId value) const { return facts_.live[value.index]; }
  bool IsComplete(ir::RegionId region) const;
  ir::ValueId Operand(const ir::Inst& inst, uint32_t i) const { return function_.operand(inst, i); }
  ir::Type TypeOf(ir::ValueId value) const { return function_.type(value); }
  bool polls() const { return !function_.is_prelude; }
  bool meters() const { return plan_.metered && !function_.is_prelude; }

  const Plan& plan_;
  const ir::FuncId id_;
  const ir::Function& function_;
  const FunctionFacts& facts_;
  Support& support_;
  NameScope scope_;
  Signature signature_;
  ExpressionWriter write_;
  std::string out_;
  int indent_ = 1;
  std::string parallel_index_ = "-1";  // the iteration of the outermost parallel of this function
};

}  // namespace frazil::targets::c
