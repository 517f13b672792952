// Iterations of a `parallel` a block at a time, by the loops of the batch interpreter: a tenth of the time and less. A
// block counts only if it did what its iterations do one after the other: none of them trapped, the fuel was enough for
// all, none loaded what another had stored. Otherwise nothing of it has happened. Where they met, from its first iteration
// on they run one by one; else those before the one that stopped it may still fit into smaller blocks.
//
// What an iteration does with what it should not have loaded may take any time, and so may those behind one that traps:
// a block gets as much as the run has taken without it.
#include "exec/meaning/interpreter_machine.h"

namespace frazil::exec {

namespace {

using std::chrono::milliseconds;

// What every block gets.
constexpr milliseconds LeastTime(50);

// EnterCall ends a run whose frames have twice as many words; a block has no frames.
constexpr size_t MostFrameWordsInBlocks = size_t{1} << 26;

// How many lanes a block has after one that took too long or in which something stopped; 0: none.
size_t FewerThan(size_t lanes) { return lanes > 128 ? 128 : lanes > 16 ? 16 : 0; }

}  // namespace

BatchRunner& Machine::RunnerOf(const ir::Inst& parallel, const ParallelCode& code) {
  const auto found = block_runners_.find(&parallel);
  if (found != block_runners_.end()) return *found->second;
  if (block_arrays_ + code.arrays > MostBlockArrays) {
    block_runners_.clear();
    block_arrays_ = 0;
  }
  block_arrays_ += code.arrays;
  return *(block_runners_[&parallel] = std::make_unique<BatchRunner>(code.code, context_.limits));
}

// None if as much has been thrown away already as three blocks would. An eighth of what is left: one by one needs time too.
milliseconds Machine::TimeForABlock() const {
  const auto used = std::chrono::floor<milliseconds>(Deadline::Clock::now() - started_ - dropped_);
  const milliseconds time = std::max(used, LeastTime);
  if (dropped_ >= 3 * time) return milliseconds(0);
  const auto left = static_cast<int64_t>(deadline_.LeftMs());
  return std::min(time, milliseconds(left / 8 + 1));
}

uint64_t Machine::RunInBlocks(const ir::Inst& parallel, uint64_t lo, uint64_t trips) {
  // Behind a trap each iteration ends by itself, and what it stored is noted.
  if (later_ != nullptr || trips < context_.fewest_in_blocks || !frames_.back().metered) return 0;
  const ParallelCode* code = prepared_.BlocksOf(function(), parallel);
  if (code == nullptr || words_.size() + code->frame_words > MostFrameWordsInBlocks) return 0;
  std::vector<uint64_t> scalars;
  for (ir::ValueId id : code->scalars) scalars.push_back(Word(id));
  std::vector<Memory*> memories;
  for (const BodyMemory& memory : code->memories)
    memories.push_back(ObjectOf(memory.value).memory.get());
  if (!block_memory_.Bind(*code, std::move(memories))) return 0;
  BatchRunner& runner = RunnerOf(parallel, *code);
  uint64_t done = 0;
  size_t most = BlockLanes;
  bool has_stopped = false;
  while (done < trips && most > 0 && !ExpiredNow()) {
    const milliseconds time = TimeForABlock();
    if (time.count() == 0) break;
    const auto lanes = static_cast<size_t>(std::min<uint64_t>(most, trips - done));
    Choices choices;
    OneRun run = {block_memory_, context_, deadline_.Within(static_cast<uint64_t>(time.count())),
                  fuel_,         depth_,   context_.choices != nullptr ? &choices : nullptr};
    const auto start = Deadline::Clock::now();
    const BlockEnd end = runner.RunIterations(*code, scalars, lo + done, lanes, run);
    const bool counts = end == BlockEnd::Done && block_memory_.Finish();
    const auto taken = Deadline::Clock::now() - start;
    if (counts) {
      if (run.choices != nullptr) context_.choices->Add(choices);
      fuel_ = run.fuel;
      done += lanes;
      // More again where they will fit.
      if (most < BlockLanes && !has_stopped && 16 * taken < time) most *= 8;
      continue;
    }
    block_memory_.Drop();
    dropped_ += taken;
    has_stopped |= end == BlockEnd::GaveUp;
    most = end == BlockEnd::Done ? 0 : FewerThan(lanes);
  }
  return done;
}

}  // namespace frazil::exec
