// The inside of Schedule: one function.
#pragma once

#include <functional>
#include <map>
#include <set>

#include "targets/tasm/stack/schedule.h"
#include "targets/tasm/stack/stack_steps.h"

namespace frazil::targets::tasm {

// How a region must leave the stack.
struct Exit {
  bool exact = false;  // else nothing is needed afterwards
  Stack layout;
  std::vector<std::pair<Word, Word>> stores;  // word -> the carried word in RAM that it becomes
};

class FunctionScheduler {
 public:
  FunctionScheduler(WordProgram& program, uint32_t function, std::vector<EmittedSite>& sites,
                    uint64_t& next_slot);

  // Tries again with more words in RAM until all fit.
  Result<std::vector<tir::Op>> Run(uint32_t beam);

 private:
  using Ops = std::vector<tir::Op>;
  struct State {
    Stack stack;
    std::vector<bool> done;  // nodes of the region
    int cost = 0;
    int score = 0;
    Steps steps;  // since the last commit
  };
  // A region being scheduled.
  struct Block {
    uint32_t region;
    const std::vector<uint32_t>* nodes;
    std::map<uint32_t, uint32_t> local;           // node -> index
    std::map<Word, std::vector<uint32_t>> users;  // indices; nodes->size(): the exit
    const Exit* exit;
  };

  bool Try(Ops& out);
  void PutInRam(Word w);
  void PutAllInRam();
  bool Region(uint32_t region, Stack& stack, const Exit& exit, Ops& out);
  bool RunRoot(Block& block, uint32_t root, std::vector<State>& beam);
  void Expand(const Block& block, const State& state, uint32_t node, std::vector<State>& next);
  bool Execute(const Block& block, State& state, uint32_t node, const std::vector<Word>& wanted,
               uint8_t variant, bool swap_first, bool leave_dead);
  void Finish(const Block& block, State& state, uint32_t node, bool leave_dead);
  std::vector<uint32_t> Choices(const Block& block, const State& state, uint32_t root) const;
  bool BringAll(const Block& block, State& state, const std::vector<Word>& wanted, uint32_t user,
                uint32_t returned, bool swap_first);
  bool LeaveRegion(Block& block, std::vector<State>& beam, Ops& out, Stack& stack);
  bool StoreCarried(const Block& block, State& state);
  void Keep(std::vector<State>& states, uint32_t most) const;
  void Settle(const Block& block, State& state, bool leave_dead) const;
  bool IsLive(const Block& block, const State& state, Word w) const;
  bool DiesAt(const Block& block, const State& state, Word w, uint32_t user) const;
  bool Available(const Block& block, const State& state, Word w) const;
  int Score(const Block& block, const State& state) const;
  const std::vector<Word>& Captured(uint32_t node);
  Block MakeBlock(uint32_t region, const Exit& exit);

  // Structure: scheduler_structure.cpp
  bool Structure(const Block& block, uint32_t id, State& state, Stack& committed, Ops& out);
  bool IfNode(const Block& block, uint32_t id, State& state, Ops& out);
  bool LoopNode(uint32_t id, State& state, Ops& out);
  bool WhileNode(uint32_t id, State& state, Ops& out);
  // A word of the schedule's own, that stays on the stack.
  Word MakePinned(WordOp op);
  Word AnyWord();
  Stack Concrete(const Stack& stack, Stack layout) const;
  void StoreResults(State& state, const std::vector<Word>& results);
  // The carried words, without those in RAM; and what goes to RAM at a round's end.
  void AddCarried(const std::vector<Word>& params, const std::vector<Word>& yields,
                  Exit& exit) const;

  // Writing down: scheduler_emit.cpp
  bool Commit(const Steps& steps, Stack& stack, Ops& out);
  void EmitNode(const WordNode& node, const Stack& stack, Ops& out);
  void EmitStep(const Step& step, Ops& out);
  Location Place(const WordNode& node, const Stack& stack);
  bool TooDeep(const Stack& stack, Word w);
  // Words in RAM: schedule_slots.cpp
  void AssignSlots();
  uint64_t SlotOf(Word w);
  std::vector<Word> Together(Word w) const;
  bool StoreInits(State& state, const std::vector<std::pair<Word, Word>>& stored);
  bool StoreTogether(std::vector<std::pair<Word, Word>>& pending,
                     const std::function<bool(Word)>& again,
                     const std::function<bool(Word, bool)>& bring,
                     const std::function<void(Step)>& add, std::set<Word>& overwritten);
  static void EmitLoad(uint64_t slot, Ops& out);
  static void EmitStore(uint64_t slot, Ops& out);
  Elsewhere elsewhere() const { return {f_, in_ram_}; }

  WordProgram& program_;
  WordFunction& f_;
  const bool is_entry_;
  std::vector<EmittedSite>& sites_;
  uint64_t& next_slot_;
  const uint64_t first_slot_;
  std::vector<bool> in_ram_;
  std::map<Word, Word> same_slot_;  // results of loops that live where the carried word lives
  std::map<Word, uint64_t> slots_;
  std::set<Word> pinned_;    // must not go to RAM
  std::set<Word> requests_;  // to RAM in the next attempt
  std::map<uint32_t, std::vector<Word>> captured_;
  uint32_t beam_ = 1;
  size_t attempt_ = 0;
  mutable uint64_t walked_ = 0;
  // On the way to a root, from it downwards (Choices).
  mutable std::vector<uint32_t> path_;
  mutable std::pair<uint32_t, uint32_t> path_of_;
  Word any_ = NoWord;
  bool broken_ = false;     // ours: a word was nowhere
  bool failed_ = false;     // a word could not be stored where it was made
  std::vector<Word> held_;  // operands that a structure's regions read too
};

}  // namespace frazil::targets::tasm
