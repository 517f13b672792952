// One function of the IR as x86 code's LLVM instructions: what the run adds to RegionEmitter. Internal to this folder.
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

#include "exec/native/native_code.h"
#include "ir/program.h"
#include "targets/llvm/region_emitter.h"
#include "targets/native/split_borders.h"
#include "targets/native/split_product.h"

namespace frazil::targets::native {

struct LoopPlan;

// What the functions of one module share.
struct ModuleEmitter {
  const ir::Program& program;  // lowered
  const ProgramFacts& facts;
  exec::CpuLevel level;
  bool metered;
  bool vectorize;
  bool tuned;
  uint64_t stream_bytes;
  const BufferTests& buffer_tests;
  const Borders& borders;
  llvm::Module& module;
  bool uses_run = false;    // some instruction reads or writes the run
  bool could_tune = false;  // some loop would be another if `tuned`
  bool lost_fold = false;   // a fold was to be a tree and is none: what was emitted is of no use
  std::vector<llvm::Function*> functions = {};     // by FuncId; null: not called
  std::vector<llvm::GlobalVariable*> tables = {};  // by DataId; null: not read yet

  std::map<std::pair<uint64_t, uint64_t>, llvm::GlobalVariable*> thresholds = {};

  bool is_modern() const { return level != exec::CpuLevel::Baseline; }
  llvm::GlobalVariable* Table(ir::DataId id);
  // A number that decides between forms of one loop, read from the image: a judge may lower it down to `least` to see the
  // other form at small sizes.
  llvm::Value* Threshold(llvm::IRBuilderBase& builder, uint64_t usual, uint64_t least);
  llvm::Function* AddFunction(llvm::FunctionType* type, const std::string& name);
};

class FunctionEmitter : public RegionEmitter, public HelperCaller {
 public:
  FunctionEmitter(ModuleEmitter& shared, ir::FuncId id, llvm::Function* target, bool is_entry);

  // Fills the LLVM function: of the uniform entry form (exec::NativeEntry), or one that calls use.
  void EmitEntry();
  void EmitFunction();
  // int32 status first if it can fail, then the results; parameters as they are, a buffer as pointer and length, then
  // the run.
  static llvm::FunctionType* TypeOfFunction(const ModuleEmitter& shared, ir::FuncId id);
  static llvm::Type* Returned(llvm::Type* type);

  ModuleEmitter& shared() { return shared_; }
  exec::CpuLevel level() const { return shared_.level; }

  // What a product's tests (split_product.h) have found where a region stands: every access inside, buffers apart.
  bool IsTested(ir::RegionId region) const { return TestAround(region) != nullptr; }
  bool IsDistinct(ir::RegionId region, ir::ValueId a, ir::ValueId b) const;
  // Is it the counter of a border (split_borders.h)?
  bool IsBorder(ir::ValueId counter) const {
    return shared_.borders[id_.index].contains(counter.index);
  }
  bool IsScratch(ir::ValueId buffer) const;
  // Two buffers, one of them written: one is scratch or a tensor, or they have other types, which no launch lets overlap.
  bool NeverSame(ir::ValueId a, ir::ValueId b) const;
  // The plan of the loop whose iterations, or lanes, what is emitted now belongs to: what it has tested holds.
  const LoopPlan* outer_plan() const { return outer_plan_; }
  void SetOuterPlan(const LoopPlan* plan) { outer_plan_ = plan; }

  llvm::BasicBlock* TrapBlock(ir::Trap kind, ir::Op op) override;

  // --- the run ---
  llvm::Value* RunField(size_t offset);  // the address of a member of exec::NativeRun
  llvm::Value* CallHelper(exec::NativeHelper helper, llvm::Type* result,
                          std::span<llvm::Value* const> arguments) override;
  llvm::Value* StackWords(uint32_t number, uint32_t words) override;
  llvm::Value* Threshold(uint64_t usual, uint64_t least) override {
    return shared_.Threshold(builder_, usual, least);
  }

 private:
  // control.cpp
  bool EmitOwn(const ir::Inst& inst) override;
  bool EmitBufferTest(const ir::Inst& inst);
  const BufferTest* TestAround(ir::RegionId region) const;
  void BeginTurn(const ir::Inst& loop) override;
  void EndWhileTurn() override;
  llvm::Value* OpenScratch(ir::RegionId region) override;
  void CloseScratch(llvm::Value* mark) override;
  void EmitFor(const ir::Inst& inst);
  void EmitParallel(const ir::Inst& inst);
  LlvmValues EmitOneByOne(const ir::Inst& loop);
  void EmitCall(const ir::Inst& inst);
  void TakeFuel(llvm::Value* units, ir::Op op);
  void TakeTrips(const ir::Inst& loop);
  void PollStop(ir::Op op);
  void CheckStack();
  bool meters() const { return shared_.metered && !function_.is_prelude; }

  // statements.cpp
  void EmitAtomic(const ir::Inst& inst);
  void EmitAlloc(const ir::Inst& inst);
  void EmitRead(const ir::Inst& inst);
  void EmitOutput(const ir::Inst& inst);

  // function_emitter.cpp
  llvm::GlobalVariable* Table(ir::DataId id) override { return shared_.Table(id); }
  llvm::Value* FromWords(ir::Type type, llvm::Value* address);
  void ToWords(ir::Type type, llvm::Value* value, llvm::Value* address);
  void EmitReturn(const ir::Inst& inst);
  std::optional<int64_t> KnownLengthOf(ir::ValueId param) const;
  // Ends the function with a status that is not 0.
  void ReturnStatus(llvm::Value* status);
  // Ends the run if the status of a call or a helper is not 0; `op` is what trapped, if the callee has not said it.
  void PropagateIf(llvm::Value* status, std::optional<ir::Op> op);

  ModuleEmitter& shared_;
  const bool is_entry_;
  llvm::Value* stop_flag_ = nullptr;  // its address
  const LoopPlan* outer_plan_ = nullptr;
  llvm::Value* run_ = nullptr;
  llvm::Value* results_address_ = nullptr;  // entry form
  std::map<std::pair<uint32_t, uint32_t>, llvm::AllocaInst*> stack_words_;
  std::map<std::tuple<ir::Trap, ir::Op, llvm::Value*>, llvm::BasicBlock*> trap_blocks_;
  llvm::BasicBlock* trap_exit_ = nullptr;  // its phis: status, op, index
};

}  // namespace frazil::targets::native
