// A step of a plan as a kernel, and functions that kernels call. Internal to this folder.
//
// Code is written for one thread, or for all threads of a block together (`cooperative_`): then every thread computes the
// same scalars, one of them stores, and parallels that the plan names are shared among them.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "targets/cuda/plan.h"
#include "targets/llvm/region_emitter.h"

namespace frazil::targets::cuda {

// What the functions of one module share.
struct ModuleEmitter {
  const ir::Program& program;  // lowered
  const ProgramFacts& facts;
  const Plan& plan;
  llvm::Module& module;
  TileShape tile = {};
  RowShape row = {};
  std::vector<llvm::Function*> functions = {};     // by FuncId; null: not called
  std::vector<llvm::GlobalVariable*> tables = {};  // by DataId; null: not read yet
  llvm::GlobalVariable* dynamic = nullptr;         // shared memory whose size the launch says
  llvm::GlobalVariable* block =
      nullptr;  // two words of a block: has a thread trapped, a value for all

  llvm::GlobalVariable* Dynamic();
  llvm::GlobalVariable* Block();
};

// Whoever only computes with a float need not have the one NaN.
void ForgetNanBits(llvm::Function& function);
// On stores that only those read who compute.
constexpr const char* AnyNan = "frazil.any.nan";

class RowEmitter;
class TileEmitter;

class KernelEmitter : public RegionEmitter {
 public:
  KernelEmitter(ModuleEmitter& shared, ir::FuncId id, llvm::Function* target);

  static llvm::FunctionType* TypeOfKernel(const ModuleEmitter& shared);
  static llvm::FunctionType* TypeOfFunction(const ModuleEmitter& shared, ir::FuncId id);
  // Rows have a kernel for long ones too.
  void EmitStep(const Step& step, bool is_first, bool long_rows = false);
  void EmitFunction();
  // Slots that must become registers once the function is whole.
  const std::vector<llvm::AllocaInst*>& slots() const { return slots_; }

  llvm::BasicBlock* TrapBlock(ir::Trap kind, ir::Op op) override;

 private:
  friend class RowEmitter;
  friend class TileEmitter;

  // Where a trap is: iteration lo + t / div of the outermost parallel, the least t first.
  struct Place {
    llvm::Value* t = nullptr;
    llvm::Value* lo = nullptr;
    llvm::Value* div = nullptr;
    llvm::Value* inside = nullptr;  // i1: in a parallel at all
  };

  // kernel_emitter.cpp
  void BindParams();
  void EmitAgain(const Step& step);
  llvm::Value* RunWord(uint32_t word);
  llvm::Value* FromWords(ir::Type type, std::span<llvm::Value* const> words);
  LlvmValues ToWords(ir::Type type, llvm::Value* value);
  void StoreWords(ir::Type type, llvm::Value* value, uint32_t first_word);
  void EmitInsts(const Step& step);
  void HandOn(const Step& step);
  void EmitReturn(const ir::Inst& inst);
  void EmitCall(const ir::Inst& inst);
  Place CurrentPlace();
  llvm::GlobalVariable* Table(ir::DataId id) override;

  // grid.cpp
  void EmitFlat(const Step& step);
  void EmitNest(const Step& step);
  void EmitBlocks(const Step& step);
  void EmitIteration(const ir::Inst& parallel, llvm::Value* t, llvm::Value* i);
  void EmitGroups(const ir::Inst& parallel, uint32_t items, llvm::Value* lo, llvm::Value* trips);
  bool EmitFromGroup(const ir::Inst& load);
  void FindGroup(ir::RegionId region, uint32_t items, llvm::Value* first);
  void EmitGroup(const ir::Inst& parallel, uint32_t items, llvm::Value* first, llvm::Value* t,
                 llvm::BasicBlock* singly);
  llvm::Value* GroupFits(const ir::Inst& parallel, uint32_t items, llvm::Value* first);
  void Stride(llvm::Value* start, llvm::Value* end, llvm::Value* step,
              const std::function<void(llvm::Value*)>& body);
  llvm::Value* Trips(llvm::Value* lo, llvm::Value* hi);
  llvm::Value* Invariant(ir::ValueId value);
  llvm::Value* Sreg(llvm::Intrinsic::ID id);
  llvm::Value* ThreadInGrid();
  llvm::Value* ThreadsInGrid();

  // tiles.cpp
  void EmitTiles(const Step& step);
  void EmitTilesOf(const Step& step, TileEmitter& tile, llvm::Value* stores_wide, bool is_wide);
  void StoreTile(const Step& step, TileEmitter& tile, const LlvmValues& sums,
                 llvm::Value* stores_wide);

  // rows.cpp
  void EmitRows(const Step& step);
  bool EmitInRow(const ir::Inst& access);

  // fold.cpp
  void EmitFoldBlocks(const FoldMatch& fold);
  void EmitFoldPairs(const FoldMatch& fold);
  llvm::Value* Join(const FoldMatch& fold, llvm::Value* a, llvm::Value* b);
  llvm::Value* Combine(ir::Op op, ir::Type type, llvm::Value* a, llvm::Value* b);
  llvm::Value* Element(const FoldMatch& fold, llvm::Value* e, bool checked);
  std::pair<llvm::Value*, llvm::Value*> FoldPart(const FoldMatch& fold, llvm::Value* first,
                                                 llvm::Value* end);
  std::pair<llvm::Value*, llvm::Value*> FoldWhole(const FoldMatch& fold, llvm::Value* start,
                                                  llvm::Value* lane);
  llvm::Value* FoldBlocks(llvm::Value* count);
  llvm::Value* FromLaneAbove(llvm::Value* value, uint32_t distance);
  llvm::Value* FromLane(llvm::Value* value, llvm::Value* lane);
  llvm::Value* Shuffle(llvm::Value* value, llvm::Intrinsic::ID how, llvm::Value* operand);

  // block_code.cpp
  bool EmitOwn(const ir::Inst& inst) override;
  llvm::Value* OpenScratch(ir::RegionId region) override;
  void CloseScratch(llvm::Value* mark) override;
  void EndWhileTurn() override;
  void EmitShared(const ir::Inst& parallel);
  void EmitAlloc(const ir::Inst& inst);
  void EmitLocalAlloc(const ir::Inst& inst);
  void EmitAtomic(const ir::Inst& inst);
  llvm::Value* Atomically(const ir::Inst& inst, llvm::Value* address);
  void ByOneThread(const std::function<void()>& code);
  void Barrier();
  void StopIfTrapped();
  void OpenBlock();

  ModuleEmitter& shared_;
  llvm::Value* run_ = nullptr;
  bool cooperative_ = false;
  bool in_block_ = false;  // threads of a block wait for each other: a trap must be told to them
  bool dirty_ = true;      // a thread may have read memory since the last barrier
  Place place_;
  // While several iterations are emitted together: what was loaded for all of them, by buffer, and which one this is.
  struct Group {
    ir::ValueId counter;
    std::map<uint32_t, llvm::Value*> loaded;
    uint32_t item = 0;
    llvm::BasicBlock* singly = nullptr;  // where a trap goes
  };
  std::optional<Group> group_;
  RowEmitter* row_ = nullptr;  // while passes of a row are emitted
  bool long_rows_ = false;
  llvm::Value* shared_offset_ = nullptr;
  LlvmValues offsets_;
  llvm::AllocaInst* turns_ = nullptr;
  std::vector<llvm::AllocaInst*> slots_;
  std::map<std::tuple<ir::Trap, ir::Op, llvm::Value*, llvm::Value*>, llvm::BasicBlock*>
      trap_blocks_;
  llvm::BasicBlock* trap_exit_ = nullptr;  // its phis: code, t, lo, div
};

}  // namespace frazil::targets::cuda
