// `parallel` is a loop. A barrier puts the iteration that reached it aside, with everything it has,
// and the next one runs; when all have come, they go on in order. An iteration has only its own
// part of the one frame: no call and no inner parallel can stand between a parallel and its barrier
// (ir::Check). Whatever can runs in blocks before that (interpreter_blocks.cpp).
#include "base/check.h"
#include "exec/meaning/interpreter_machine.h"
#include "ir/facts/homes.h"

namespace frazil::exec {

using ir::Function;
using ir::Op;

namespace {

// The values that a region and those nested in it define, as a range that covers them.
struct Covering {
  uint32_t begin = UINT32_MAX;
  uint32_t end = 0;
  void Add(uint32_t first, uint32_t count) {
    if (count == 0) return;
    begin = std::min(begin, first);
    end = std::max(end, first + count);
  }
};

struct RegionSlots {
  Covering words;
  Covering objects;
};

RegionSlots SlotsOf(const ir::Function& function, const FrameLayout& layout, ir::RegionId root) {
  RegionSlots slots;
  ir::VisitValuesInside(function, root, [&](ir::Range values) {
    for (uint32_t i = values.begin; i < values.begin + values.count; ++i) {
      const ir::Type type = function.values[i].type;
      if (type.is_scalar()) {
        slots.words.Add(layout.slot[i], ir::WordsOf(type));
      } else {
        slots.objects.Add(layout.slot[i], 1);
      }
    }
  });
  return slots;
}

}  // namespace

Machine::Flow Machine::EnterParallel(const ir::Inst& inst) {
  const int64_t lo = static_cast<int64_t>(Operand(inst, 0));
  const int64_t hi = static_cast<int64_t>(Operand(inst, 1));
  if (lo >= hi) return Flow::Next;
  const uint64_t trips = static_cast<uint64_t>(hi) - static_cast<uint64_t>(lo);
  if (!TakeFuel(trips)) return Trap(ir::Trap::Fuel, inst);
  const uint64_t done = RunInBlocks(inst, static_cast<uint64_t>(lo), trips);
  if (done == trips) return Flow::Next;
  PushRegion(&inst, Function::region_of(inst, 0));
  parallel_nesting_ += 1;
  activations_.back().left = trips - done - 1;
  StartLane(activations_.back(), static_cast<uint64_t>(lo) + done);
  return Flow::Turn;
}

void Machine::StartLane(Activation& parallel, uint64_t iteration) {
  parallel.counter = iteration;
  parallel.next = 0;
  Word(Function::param_of(function().region(parallel.region), 0)) = iteration;
  if (parallel_nesting_ == 1) parallel_iteration_ = static_cast<int64_t>(iteration);
}

// The iteration on top has ended, or is put aside: the one that is next, if any.
Machine::Flow Machine::NextLane() {
  Activation& parallel = activations_.back();
  if (Expired()) return TrapEnded(*parallel.owner);
  ReleaseObjects(parallel.objects_made);
  if (parallel.left > 0) {
    parallel.left -= 1;
    StartLane(parallel, parallel.counter + 1);
    return Flow::Turn;
  }
  const bool trapped = parallel.trapped;
  if (parallel.phases != nullptr) {
    Phases& phases = *parallel.phases;
    // No iteration gets past the phase in which one trapped.
    if (phases.resumed == phases.current.size() && !trapped) {
      phases.current = std::move(phases.waiting);
      phases.waiting.clear();
      phases.resumed = 0;
    }
    if (phases.resumed < phases.current.size()) {
      Resume(std::move(phases.current[phases.resumed++]));
      return Flow::Turn;
    }
    for (const Lane& lane : phases.waiting) *live_bytes_ -= lane.bytes;
  }
  PopRegion();
  parallel_nesting_ -= 1;
  if (parallel_nesting_ == 0) parallel_iteration_ = -1;
  return trapped ? LeaveIteration() : Flow::Turn;
}

// Behind a trap: the iteration ends here, and those after it of the innermost `parallel` around it run. Then the one that
// this parallel stands in has ended too.
Machine::Flow Machine::LeaveIteration() {
  while (activations_.back().owner != nullptr && activations_.back().owner->op != Op::Parallel) {
    const bool is_body = activations_.back().region == function().body;
    const bool counts = activations_.back().owner->op == Op::Call && frames_.back().metered;
    PopRegion();
    if (!is_body) continue;
    if (counts) depth_ -= 1;
    PopFrame();
  }
  if (activations_.back().owner == nullptr) {
    stopped_ = true;
    return Flow::Turn;
  }
  activations_.back().trapped = true;
  return NextLane();
}

std::unique_ptr<Phases> Machine::MakePhases(const Activation& parallel) const {
  const Frame& frame = frames_.back();
  const RegionSlots slots = SlotsOf(*frame.function, *frame.layout, parallel.region);
  auto phases = std::make_unique<Phases>();
  phases->word_begin = frame.word_base + (slots.words.end == 0 ? 0 : slots.words.begin);
  phases->word_end = frame.word_base + slots.words.end;
  phases->object_begin = frame.object_base + (slots.objects.end == 0 ? 0 : slots.objects.begin);
  phases->object_end = frame.object_base + slots.objects.end;
  return phases;
}

Machine::Flow Machine::Barrier(const ir::Inst& inst) {
  size_t index = activations_.size() - 1;
  while (activations_[index].owner->op != Op::Parallel) --index;
  if (activations_[index].phases == nullptr)
    activations_[index].phases = MakePhases(activations_[index]);
  Lane lane = Suspend(index);
  *live_bytes_ += lane.bytes;
  if (*live_bytes_ > context_.limits.memory_bytes) return Trap(ir::Trap::Memory, inst);
  activations_[index].phases->waiting.push_back(std::move(lane));
  return NextLane();
}

Lane Machine::Suspend(size_t parallel_index) {
  Activation& parallel = activations_[parallel_index];
  const Phases& phases = *parallel.phases;
  Lane lane;
  lane.iteration = parallel.counter;
  lane.next = parallel.next;
  const auto above = activations_.begin() + static_cast<ptrdiff_t>(parallel_index) + 1;
  lane.above.assign(std::make_move_iterator(above), std::make_move_iterator(activations_.end()));
  activations_.resize(parallel_index + 1);
  lane.words.assign(words_.begin() + static_cast<ptrdiff_t>(phases.word_begin),
                    words_.begin() + static_cast<ptrdiff_t>(phases.word_end));
  for (size_t i = phases.object_begin; i < phases.object_end; ++i)
    lane.objects.push_back(std::exchange(objects_[i], {}));
  const auto made = made_.begin() + static_cast<ptrdiff_t>(parallel.objects_made);
  lane.made.assign(made, made_.end());
  made_.erase(made, made_.end());
  lane.bytes = sizeof(Lane) + lane.above.size() * sizeof(Activation) + lane.words.size() * 8 +
               lane.objects.size() * sizeof(Object) + lane.made.size() * 8;
  return lane;
}

void Machine::Resume(Lane lane) {
  *live_bytes_ -= lane.bytes;
  Activation& parallel = activations_.back();
  const Phases& phases = *parallel.phases;
  parallel.counter = lane.iteration;
  parallel.next = lane.next;
  std::ranges::copy(lane.words, words_.begin() + static_cast<ptrdiff_t>(phases.word_begin));
  std::ranges::move(lane.objects, objects_.begin() + static_cast<ptrdiff_t>(phases.object_begin));
  made_.insert(made_.end(), lane.made.begin(), lane.made.end());
  if (parallel_nesting_ == 1) parallel_iteration_ = static_cast<int64_t>(lane.iteration);
  std::ranges::move(lane.above, std::back_inserter(activations_));
}

}  // namespace frazil::exec
