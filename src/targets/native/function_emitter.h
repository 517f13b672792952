// One function of the IR as LLVM instructions: SSA with phis, no IR passes behind it. Internal to this folder.
//
// Vector code (vector_loop.h) works through the public part: it reads and sets values, moves the builder, and asks for
// scalar code of the same loop for its remainder or where it cannot prove what it needs.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "exec/native_code.h"
#include "ir/program.h"
#include "targets/native/facts.h"
#include "targets/native/op_emitter.h"

namespace frazil::targets::native {

// What the functions of one module share.
struct ModuleEmitter {
  const ir::Program& program;  // lowered
  const ProgramFacts& facts;
  exec::CpuLevel level;
  bool metered;
  bool vectorize;
  llvm::Module& module;
  bool uses_run = false;                           // some instruction reads or writes the run
  std::vector<llvm::Function*> functions = {};     // by FuncId; null: not called
  std::vector<llvm::GlobalVariable*> tables = {};  // by DataId; null: not read yet

  llvm::GlobalVariable* Table(ir::DataId id);
  llvm::Function* AddFunction(llvm::FunctionType* type, const std::string& name);
};

using LlvmValues = std::vector<llvm::Value*>;

class FunctionEmitter : public HelperCaller {
 public:
  FunctionEmitter(ModuleEmitter& shared, ir::FuncId id, llvm::Function* target, bool is_entry);

  // Fills the LLVM function: of the uniform entry form (exec::NativeEntry), or one that calls use.
  void EmitEntry();
  void EmitFunction();
  // int32 status first if it can fail, then the results; parameters as they are, a buffer as pointer and length, then
  // the run.
  static llvm::FunctionType* TypeOfFunction(const ModuleEmitter& shared, ir::FuncId id);

  // --- where it stands ---
  ModuleEmitter& shared() { return shared_; }
  Builder& builder() { return builder_; }
  llvm::LLVMContext& context() { return builder_.getContext(); }
  OpEmitter& ops() { return ops_; }
  exec::CpuLevel level() const { return shared_.level; }
  const ir::Program& program() const { return shared_.program; }
  const ir::Function& function() const { return function_; }
  const FunctionFacts& facts() const { return facts_; }
  // The iteration of the outermost `parallel` around this place, null outside of one.
  llvm::Value* parallel_index() const { return parallel_index_; }
  void SetParallelIndex(llvm::Value* index) { parallel_index_ = index; }

  // --- values; setting one again is allowed, for regions that are emitted twice ---
  llvm::Value* Get(ir::ValueId value) const;
  void Set(ir::ValueId value, llvm::Value* llvm_value) { values_[value.index] = llvm_value; }
  llvm::Value* LengthOf(ir::ValueId buffer) const { return lengths_[buffer.index]; }
  bool IsLive(ir::ValueId value) const { return facts_.live[value.index]; }

  // --- scalar code ---
  // The instructions of a region but for its terminator, which is given back.
  const ir::Inst& EmitBody(ir::RegionId region);
  void EmitInst(const ir::Inst& inst);
  // The scalar form of a `for` or `parallel` that starts at `lo` with these carried values, in the place of those that
  // its operands name; gives the carried values after it and does not set the results. Values that nobody reads are
  // null on both sides.
  LlvmValues EmitScalarLoop(const ir::Inst& loop, llvm::Value* lo,
                            std::span<llvm::Value* const> carried);

  // --- memory; elements are packed and may stand at any address ---
  llvm::Value* ElementAddress(ir::Type element, llvm::Value* base, llvm::Value* index);
  llvm::Value* LoadElement(ir::Type element, llvm::Value* address);
  void StoreElement(ir::Type element, llvm::Value* address, llvm::Value* value);

  // --- blocks and traps ---
  llvm::BasicBlock* NewBlock(const char* name);
  // Ends the current block; emission goes on in a block that is reached if the condition does not hold.
  void TrapIf(llvm::Value* condition, ir::Trap kind, ir::Op op);
  // A block that ends the run with this trap at the current parallel index.
  llvm::BasicBlock* TrapBlock(ir::Trap kind, ir::Op op);
  // A conditional branch of which the second way is rare.
  void BranchUnlikely(llvm::Value* rare, llvm::BasicBlock* then_rare, llvm::BasicBlock* otherwise);

  // --- the run ---
  llvm::Value* RunField(size_t offset);  // the address of a member of exec::NativeRun
  llvm::Value* CallHelper(exec::NativeHelper helper, llvm::Type* result,
                          std::span<llvm::Value* const> arguments) override;
  llvm::Value* StackWords(uint32_t number, uint32_t words) override;

 private:
  // control.cpp
  void EmitIf(const ir::Inst& inst);
  void EmitSwitch(const ir::Inst& inst);
  // A region of an `if` or `switch`, which goes on in `join`; gives what it yields.
  struct Way {
    llvm::BasicBlock* end;
    LlvmValues values;
  };
  Way EmitWay(const ir::Inst& inst, uint32_t region, llvm::BasicBlock* start,
              llvm::BasicBlock* join);
  void JoinWays(const ir::Inst& inst, llvm::BasicBlock* join, std::span<const Way> ways);
  void EmitFor(const ir::Inst& inst);
  void EmitParallel(const ir::Inst& inst);
  void EmitWhile(const ir::Inst& inst);
  void EmitCall(const ir::Inst& inst);
  void TakeFuel(llvm::Value* units, ir::Op op);
  void TakeTrips(const ir::Inst& loop);
  llvm::Value* GoesOn(const ir::Inst& loop, llvm::Value* counter, llvm::Value* next);
  LlvmValues Inits(const ir::Inst& loop) const;
  void SetLoopResults(const ir::Inst& loop, std::span<llvm::Value* const> values);
  void PollStop(ir::Op op);
  void CheckStack();
  llvm::Value* OpenScratch(ir::RegionId region);
  void CloseScratch(llvm::Value* mark);
  bool meters() const { return shared_.metered && !function_.is_prelude; }

  // statements.cpp
  bool EmitStatement(const ir::Inst& inst);
  void EmitDivision(const ir::Inst& inst);
  void EmitChecked(const ir::Inst& inst);
  void EmitInverse(const ir::Inst& inst);
  void EmitLookup(const ir::Inst& inst);
  void EmitAtomic(const ir::Inst& inst);
  void EmitAlloc(const ir::Inst& inst);
  void EmitRead(const ir::Inst& inst);
  void EmitOutput(const ir::Inst& inst);
  void EmitMemory(const ir::Inst& inst);
  llvm::Value* CheckedAddress(const ir::Inst& inst);
  void SetResult(const ir::Inst& inst, llvm::Value* value);
  LlvmValues Operands(const ir::Inst& inst) const;

  // function_emitter.cpp
  llvm::Value* FromWords(ir::Type type, llvm::Value* address);
  void ToWords(ir::Type type, llvm::Value* value, llvm::Value* address);
  void EmitReturn(const ir::Inst& inst);
  // Ends the function with a status that is not 0.
  void ReturnStatus(llvm::Value* status);
  // Ends the run if the status of a call or a helper is not 0; `op` is what trapped, if the callee has not said it.
  void PropagateIf(llvm::Value* status, std::optional<ir::Op> op);

  ModuleEmitter& shared_;
  const ir::FuncId id_;
  const ir::Function& function_;
  const FunctionFacts& facts_;
  llvm::Function* const target_;
  const bool is_entry_;
  Builder builder_;
  OpEmitter ops_;
  LlvmValues values_;
  LlvmValues lengths_;
  llvm::Value* run_ = nullptr;
  llvm::Value* results_address_ = nullptr;  // entry form
  llvm::Value* parallel_index_ = nullptr;
  std::map<std::pair<uint32_t, uint32_t>, llvm::AllocaInst*> stack_words_;
  std::map<std::tuple<ir::Trap, ir::Op, llvm::Value*>, llvm::BasicBlock*> trap_blocks_;
  llvm::BasicBlock* trap_exit_ = nullptr;  // its phis: status, op, index
};

}  // namespace frazil::targets::native
