// A function of the IR as LLVM instructions, as far as all machines agree: SSA with phis, regions, choices, loops, ops
// and checked memory. What a machine does in its own way (traps, calls, scratch memory, atomics, streams, loops that
// need not be loops) is a member that a target overrides.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <set>
#include <span>
#include <vector>

#include "ir/program.h"
#include "targets/llvm/facts.h"
#include "targets/llvm/op_emitter.h"

namespace frazil::targets {

using LlvmValues = std::vector<llvm::Value*>;

// What a machine has and asks for.
struct Machine {
  bool modern;   // as OpEmitter says
  bool aligned;  // elements stand at multiples of their size; else at any address
};

// The constant table of a program, at a multiple of 64 bytes.
llvm::GlobalVariable* AddTable(llvm::Module& module, const ir::Data& data, unsigned address_space);

// No result, one, or a struct of several.
llvm::FunctionType* FunctionTypeOf(Builder& builder, std::span<llvm::Type* const> params,
                                   std::span<llvm::Type* const> results);

class RegionEmitter {
 public:
  // Emission begins in a new block of `target`.
  RegionEmitter(const ir::Program& program, const ProgramFacts& facts, ir::FuncId id,
                llvm::Function* target, const Machine& machine, HelperCaller* helpers);
  virtual ~RegionEmitter() = default;

  // --- where it stands ---
  Builder& builder() { return builder_; }
  llvm::LLVMContext& context() { return builder_.getContext(); }
  OpEmitter& ops() { return ops_; }
  const ir::Program& program() const { return program_; }
  const ir::Function& function() const { return function_; }
  const FunctionFacts& facts() const { return facts_; }
  // The iteration of the outermost `parallel` around this place, null outside of one.
  llvm::Value* parallel_index() const { return parallel_index_; }
  void SetParallelIndex(llvm::Value* index) { parallel_index_ = index; }

  // --- values; setting one again is allowed, for regions that are emitted twice ---
  llvm::Value* Get(ir::ValueId value) const;
  void Set(ir::ValueId value, llvm::Value* llvm_value) { values_[value.index] = llvm_value; }
  llvm::Value* LengthOf(ir::ValueId buffer) const { return lengths_[buffer.index]; }
  void SetLength(ir::ValueId buffer, llvm::Value* length) { lengths_[buffer.index] = length; }
  bool IsLive(ir::ValueId value) const { return facts_.live[value.index]; }

  // The function's parameters, a buffer as address and length; gives the number of the first argument behind them.
  uint32_t BindArguments();

  // --- code ---
  // The instructions of a region but for its terminator, which is given back.
  const ir::Inst& EmitBody(ir::RegionId region);
  void EmitInst(const ir::Inst& inst);
  // The scalar form of a `for` or `parallel` that starts at `lo` with these carried values, in the place of those that
  // its operands name; gives the carried values after it and does not set the results. Values that nobody reads are
  // null on both sides.
  LlvmValues EmitScalarLoop(const ir::Inst& loop, llvm::Value* lo,
                            std::span<llvm::Value* const> carried);
  // The same, several turns at a time while there are so many. The counter is an index, the step 1, and the body has no
  // regions and no scratch.
  LlvmValues EmitUnrolled(const ir::Inst& loop, llvm::Value* lo, uint32_t copies,
                          std::span<llvm::Value* const> carried);

  // --- memory ---
  llvm::Value* ElementAddress(ir::Type element, llvm::Value* base, llvm::Value* index);
  llvm::Value* LoadElement(ir::Type element, llvm::Value* address);
  void StoreElement(ir::Type element, llvm::Value* address, llvm::Value* value);

  // --- blocks and traps ---
  llvm::BasicBlock* NewBlock(const char* name);
  // Ends the current block; emission goes on in a block that is reached if the condition does not hold.
  void TrapIf(llvm::Value* condition, ir::Trap kind, ir::Op op);
  // A block that ends the run with this trap at the current parallel index.
  virtual llvm::BasicBlock* TrapBlock(ir::Trap kind, ir::Op op) = 0;
  // A conditional branch of which the second way is rare.
  void BranchUnlikely(llvm::Value* rare, llvm::BasicBlock* then_rare, llvm::BasicBlock* otherwise);

 protected:
  // --- what a target overrides ---
  // Instructions that the target emits itself; false: the common form is right.
  virtual bool EmitOwn(const ir::Inst& inst) = 0;
  virtual llvm::GlobalVariable* Table(ir::DataId id) = 0;
  // Before the body of a `for` or `parallel`; at the end of a turn of a `while`.
  virtual void BeginTurn(const ir::Inst&) {}
  virtual void EndWhileTurn() {}
  // Around a region that allocates scratch memory itself.
  virtual llvm::Value* OpenScratch(ir::RegionId) { return nullptr; }
  virtual void CloseScratch(llvm::Value*) {}

  // --- for those overrides ---
  LlvmValues Operands(const ir::Inst& inst) const;
  void SetResult(const ir::Inst& inst, llvm::Value* value);
  LlvmValues Inits(const ir::Inst& loop) const;
  void SetLoopResults(const ir::Inst& loop, std::span<llvm::Value* const> values);
  llvm::Value* CheckedAddress(const ir::Inst& inst);
  llvm::Align AlignOf(ir::Type element) const;

  const ir::Program& program_;
  const ir::FuncId id_;
  const ir::Function& function_;
  const FunctionFacts& facts_;
  llvm::Function* const target_;
  const Machine machine_;
  Builder builder_;
  OpEmitter ops_;
  llvm::Value* parallel_index_ = nullptr;
  // Is code emitted as the regions stand in each other? Then what was tested around a place holds there.
  bool is_nested_ = false;
  // Accesses that were tested before the loop around them, by instruction.
  std::set<uint32_t> tested_;

 private:
  // regions.cpp
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
  void EmitWhile(const ir::Inst& inst);
  void EmitTest(ir::RegionId test, llvm::BasicBlock* body, llvm::BasicBlock* after);
  std::vector<llvm::PHINode*> BeginCarried(const ir::Inst& loop,
                                           std::span<llvm::Value* const> inits,
                                           llvm::BasicBlock* before);
  llvm::Value* Runs(const ir::Inst& loop, llvm::Value* lo, llvm::Value* hi);
  llvm::Value* GoesOn(const ir::Inst& loop, llvm::Value* counter);

  // statements.cpp
  bool EmitStatement(const ir::Inst& inst);
  void EmitDivision(const ir::Inst& inst);
  void EmitChecked(const ir::Inst& inst);
  void EmitInverse(const ir::Inst& inst);
  void EmitLookup(const ir::Inst& inst);
  void EmitMemory(const ir::Inst& inst);

  bool WasChecked(ir::ValueId buffer, ir::ValueId index) const;

  LlvmValues values_;
  LlvmValues lengths_;
  std::vector<std::pair<ir::ValueId, ir::ValueId>>
      checked_;  // buffers and indices, around this place
};

}  // namespace frazil::targets
