// The inside of the interpreter: one run of a program. Regions that are being executed stand on a
// stack of activations on the heap, so that neither nested regions nor recursion use the C++ stack.
// The files interpreter_*.cpp hold its methods by topic.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "base/deadline.h"
#include "exec/batch/batch_memory.h"
#include "exec/meaning/choices.h"
#include "exec/meaning/interpreter_program.h"
#include "exec/meaning/tensors/tensor_ops.h"
#include "exec/outcome.h"
#include "ir/program.h"

namespace frazil::exec {

// A function being executed: where its values start, and who called it.
struct Frame {
  const ir::Function* function;
  const FrameLayout* layout;
  size_t word_base;
  size_t object_base;
  bool metered;  // false inside a prelude function, which takes neither fuel nor depth
};

struct Phases;

// A region being executed. A function's body is one too: its owner is the call, null for the entry.
struct Activation {
  const ir::Inst* owner = nullptr;
  ir::RegionId region;
  uint32_t next = 0;        // position of the next instruction
  size_t objects_made = 0;  // how many entries of Machine::made_ lie below this region's
  uint64_t counter = 0;  // for, parallel, fold: the iteration; map, generate, random: the element
  uint64_t left = 0;     // iterations or elements after this one
  std::unique_ptr<Phases> phases;  // parallel: made by the first barrier
  bool trapped = false;            // parallel: an iteration has, and what follows is LaterStores'
  std::unique_ptr<TreeFold> fold = {};  // fold: the elements so far
};

// What iterations after a trap store, for a run that goes on behind it.
struct LaterStores {
  std::map<const Memory*, std::vector<bool>> stores;  // by element
  bool all = false;                                   // a limit ended the run: they may be anywhere

  void Add(const Memory& memory, int64_t element) {
    std::vector<bool>& elements = stores[&memory];
    elements.resize(static_cast<size_t>(memory.length()));
    elements[static_cast<size_t>(element)] = true;
  }
  bool Has(const Memory* memory, int64_t element) const {
    const auto found = stores.find(memory);
    return found != stores.end() && found->second[static_cast<size_t>(element)];
  }
};

// One iteration of a parallel that waits at a barrier: all that it has and other iterations
// overwrite.
struct Lane {
  uint64_t iteration;
  uint32_t next;
  std::vector<Activation> above;
  std::vector<uint64_t> words;
  std::vector<Object> objects;
  std::vector<size_t> made;
  uint64_t bytes;
};

struct Phases {
  size_t word_begin, word_end;  // the frame's slots that the parallel's region uses, from the bases
  size_t object_begin, object_end;
  std::vector<Lane> current;  // this phase: those from `resumed` on still wait for it
  size_t resumed = 0;
  std::vector<Lane> waiting;  // for the next phase
};

class Machine {
 public:
  // With `later` a trap does not end the run: the iterations after it run too, and their stores are noted.
  Machine(const InterpreterProgram& prepared, const RunContext& context,
          LaterStores* later = nullptr);
  Result<Outcome> Run(std::span<const Value> arguments);

 private:
  // Next: go on with the next instruction. Turn: another region is on top now, or the run is over.
  enum class Flow : uint8_t { Next, Turn };

  // interpreter.cpp: the loop, frames and values.
  void RunTop();
  Flow Step(const ir::Inst& inst);
  Flow Trap(ir::Trap kind, const ir::Inst& inst);
  Flow TrapEnded(const ir::Inst& inst);  // Expired said so
  Flow Scalar(const ir::Inst& inst);
  Flow Const(const ir::Inst& inst);
  Outcome Finish();

  const ir::Function& function() const { return *frames_.back().function; }
  ir::Type TypeOf(ir::ValueId id) const { return function().type(id); }
  std::span<uint64_t> WordsOf(ir::ValueId id);
  uint64_t& Word(ir::ValueId id);
  uint64_t& Operand(const ir::Inst& inst, uint32_t i) { return Word(function().operand(inst, i)); }
  uint64_t& Result0(const ir::Inst& inst) { return Word(ir::Function::result_of(inst)); }
  Object& ObjectOf(ir::ValueId id);
  Object& OperandObject(const ir::Inst& inst, uint32_t i) {
    return ObjectOf(function().operand(inst, i));
  }
  void SetObject(ir::ValueId id, Object object);
  // Values on their way from one region to another: Take copies them aside, Put sets consecutive
  // values.
  void Take(std::span<const ir::ValueId> values);
  void Take(ir::Range values);
  void Put(ir::Range values);

  void NoteChoice(const ir::Inst& inst, uint32_t way) {
    if (context_.choices != nullptr)
      context_.choices->Note(prepared_.program(), function(), inst, way);
  }

  // interpreter_structure.cpp
  void PushRegion(const ir::Inst* owner, ir::RegionId region);
  void ReleaseObjects(size_t down_to);
  void PopRegion();
  void PushFrame(ir::FuncId callee);
  void PopFrame();
  Flow EnterIf(const ir::Inst& inst);
  Flow EnterSwitch(const ir::Inst& inst);
  Flow EnterFor(const ir::Inst& inst);
  Flow EnterWhile(const ir::Inst& inst);
  Flow EnterParallel(const ir::Inst& inst);
  Flow EnterCall(const ir::Inst& inst);
  Flow Yield(const ir::Inst& inst);
  Flow Condition(const ir::Inst& inst);
  Flow Return(const ir::Inst& inst);
  Flow NextIteration(const ir::Inst& owner);
  Flow BackEdge(const ir::Inst& owner);
  bool TakeFuel(uint64_t units);
  void StartClock();
  bool Expired();     // counts; looks at the clock and the stop flag now and then
  bool ExpiredNow();  // looks

  // interpreter_blocks.cpp: how many iterations from `lo` on have run, all or the first of them.
  uint64_t RunInBlocks(const ir::Inst& parallel, uint64_t lo, uint64_t trips);
  BatchRunner& RunnerOf(const ir::Inst& parallel, const ParallelCode& code);
  std::chrono::milliseconds TimeForABlock() const;

  // interpreter_parallel.cpp
  Flow Barrier(const ir::Inst& inst);
  Flow NextLane();
  Flow LeaveIteration();
  void StartLane(Activation& parallel, uint64_t iteration);
  Lane Suspend(size_t parallel_index);
  void Resume(Lane lane);
  std::unique_ptr<Phases> MakePhases(const Activation& parallel) const;

  // interpreter_memory.cpp
  Flow Load(const ir::Inst& inst);
  Flow Store(const ir::Inst& inst);
  Flow Alloc(const ir::Inst& inst);
  Flow Lookup(const ir::Inst& inst);
  Flow AtomicRmw(const ir::Inst& inst);
  Flow AtomicCas(const ir::Inst& inst);
  template <typename Update>
  Flow Atomic(const ir::Inst& inst, Update update);
  Flow ReadStream(const ir::Inst& inst, const std::vector<Value>& stream, size_t& position);
  Flow Output(const ir::Inst& inst);
  void NoteStore(const Memory& memory, int64_t element) {
    if (later_ != nullptr && outcome_.trap) later_->Add(memory, element);
  }
  // Null if it would exceed the limit.
  std::shared_ptr<Memory> Allocate(ir::Type element, int64_t length);

  // interpreter_tensor.cpp
  Flow TensorOp(const ir::Inst& inst);
  std::vector<int64_t> DimsOf(ir::Type tensor);
  Object* MakeResult(const ir::Inst& inst, uint32_t k = 0);  // null: trapped with `memory`
  Flow EnterMap(const ir::Inst& inst);
  Flow NextElement(const ir::Inst& owner);
  void StartElement(const ir::Inst& owner);
  Flow EnterRandom(const ir::Inst& inst);
  void StartRandom(const ir::Inst& inst, uint64_t element);
  Flow ReduceOp(const ir::Inst& inst);
  Flow MatmulOp(const ir::Inst& inst);
  Flow ReshapeOp(const ir::Inst& inst);
  Flow TransposeOp(const ir::Inst& inst);
  Flow BroadcastOp(const ir::Inst& inst);
  Flow SliceOp(const ir::Inst& inst);
  Flow ConcatOp(const ir::Inst& inst);
  Flow GatherOp(const ir::Inst& inst);
  Flow IotaOp(const ir::Inst& inst);
  Flow ExtractOp(const ir::Inst& inst);
  Flow TensorLoadOp(const ir::Inst& inst);
  Flow TensorStoreOp(const ir::Inst& inst);
  Flow ConvOp(const ir::Inst& inst);
  Flow ScanOp(const ir::Inst& inst);
  Flow SortOp(const ir::Inst& inst);
  Flow ScatterOp(const ir::Inst& inst);
  Flow MatmulQOp(const ir::Inst& inst);

  // interpreter_elements.cpp
  Flow EnterGenerate(const ir::Inst& inst);
  void StartIndices(const ir::Inst& owner);
  Flow NextGenerated(const ir::Inst& owner, const ir::Inst& yield);
  Flow EnterFold(const ir::Inst& inst);
  Flow NextFolded(const ir::Inst& owner, const ir::Inst& yield);

  const InterpreterProgram& prepared_;
  const ir::Program& program_;
  const RunContext& context_;
  LaterStores* const later_;

  std::vector<Frame> frames_;
  std::vector<Activation> activations_;
  std::vector<uint64_t> words_;
  std::vector<Object> objects_;
  std::vector<size_t>
      made_;  // objects set by open regions, oldest first; dropped when their region ends
  std::vector<uint64_t> taken_words_;
  std::vector<Object> taken_objects_;

  uint64_t fuel_ = 0;
  uint64_t depth_ = 0;
  // Shared with the memory that is handed out, which may live longer than this.
  std::shared_ptr<uint64_t> live_bytes_ = std::make_shared<uint64_t>(0);
  int64_t parallel_nesting_ = 0;
  int64_t parallel_iteration_ = -1;  // of the outermost
  size_t input_position_ = 0;
  size_t hint_position_ = 0;
  Deadline deadline_;
  uint32_t ticks_ = 0;

  // Each `parallel` at work in blocks, kept for the next time that this run comes to it.
  std::map<const ir::Inst*, std::unique_ptr<BatchRunner>> block_runners_;
  uint64_t block_arrays_ = 0;  // that they may have
  BlockMemory block_memory_;   // of the one that runs
  Deadline::Clock::time_point started_ = Deadline::Clock::now();
  Deadline::Clock::duration dropped_{};  // how long blocks took that did not count

  bool stopped_ = false;
  Outcome outcome_;
  std::optional<Error> error_;
};

}  // namespace frazil::exec
