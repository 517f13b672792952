// Regions, loops and calls. Entering pushes an activation; the terminator of a region decides, by
// the op that owns it, whether it runs again or its owner's results are set.
#include "base/check.h"
#include "exec/meaning/interpreter_machine.h"

namespace frazil::exec {

using ir::Function;
using ir::Op;

namespace {

// Words of all frames: recursion of a huge function must not take all memory before it is deep.
constexpr size_t MostFrameWords = size_t{1} << 27;

// How often for lo, lo + step, ... while it is below hi.
uint64_t TripCount(ir::Scalar type, uint64_t lo, uint64_t hi, uint64_t step) {
  const bool empty =
      ir::IsSigned(type) ? static_cast<int64_t>(lo) >= static_cast<int64_t>(hi) : lo >= hi;
  return empty ? 0 : (hi - lo - 1) / step + 1;
}

}  // namespace

bool Machine::TakeFuel(uint64_t units) {
  if (!frames_.back().metered) return true;
  if (fuel_ < units) return false;
  fuel_ -= units;
  return true;
}

bool Machine::Expired() { return (++ticks_ & 0x3ff) == 0 && ExpiredNow(); }

bool Machine::ExpiredNow() { return context_.IsStopped() || deadline_.Passed(); }

void Machine::PushRegion(const ir::Inst* owner, ir::RegionId region) {
  Activation& activation = activations_.emplace_back();
  activation.owner = owner;
  activation.region = region;
  activation.objects_made = made_.size();
}

// Scratch and tensors of a region end with it.
void Machine::ReleaseObjects(size_t down_to) {
  for (; made_.size() > down_to; made_.pop_back()) objects_[made_.back()] = {};
}

void Machine::PopRegion() {
  ReleaseObjects(activations_.back().objects_made);
  activations_.pop_back();
}

void Machine::PushFrame(ir::FuncId callee) {
  const ir::Function& callee_function = program_.functions[callee.index];
  const FrameLayout& layout = prepared_.layout(callee);
  const bool metered = !callee_function.is_prelude && (frames_.empty() || frames_.back().metered);
  frames_.push_back({&callee_function, &layout, words_.size(), objects_.size(), metered});
  words_.resize(words_.size() + layout.word_count);
  objects_.resize(objects_.size() + layout.object_count);
}

void Machine::PopFrame() {
  words_.resize(frames_.back().word_base);
  objects_.resize(frames_.back().object_base);
  frames_.pop_back();
}

Machine::Flow Machine::EnterIf(const ir::Inst& inst) {
  const uint32_t way = Operand(inst, 0) != 0 ? 0 : 1;
  NoteChoice(inst, way);
  PushRegion(&inst, Function::region_of(inst, way));
  return Flow::Turn;
}

Machine::Flow Machine::EnterSwitch(const ir::Inst& inst) {
  const std::span<const uint64_t> cases = function().words_of(inst);
  const uint64_t selector = Operand(inst, 0);
  uint32_t region = 0;
  while (region < cases.size() && cases[region] != selector) ++region;
  NoteChoice(inst, region);
  PushRegion(&inst, Function::region_of(inst, region));
  return Flow::Turn;
}

Machine::Flow Machine::EnterFor(const ir::Inst& inst) {
  const std::span<const ir::ValueId> operands = function().operands_of(inst);
  const uint64_t lo = Word(operands[0]);
  const uint64_t step = static_cast<uint64_t>(function().word(inst, 0));
  const uint64_t trips = TripCount(TypeOf(operands[0]).scalar, lo, Word(operands[1]), step);
  if (!TakeFuel(trips)) return Trap(ir::Trap::Fuel, inst);
  Take(operands.subspan(2));
  if (trips == 0) {
    Put(inst.results);
    return Flow::Next;
  }
  const ir::RegionId region = Function::region_of(inst, 0);
  PushRegion(&inst, region);
  activations_.back().counter = lo;
  activations_.back().left = trips - 1;
  const ir::Range params = function().region(region).params;
  Word(ir::ValueId(params.begin)) = lo;
  Put({params.begin + 1, params.count - 1});
  return Flow::Turn;
}

Machine::Flow Machine::NextIteration(const ir::Inst& owner) {
  Activation& top = activations_.back();
  if (top.left == 0) {
    PopRegion();
    Put(owner.results);
    return Flow::Turn;
  }
  if (Expired()) return TrapEnded(owner);
  ReleaseObjects(top.objects_made);
  top.left -= 1;
  top.counter += static_cast<uint64_t>(function().word(owner, 0));
  top.next = 0;
  const ir::Range params = function().region(top.region).params;
  Word(ir::ValueId(params.begin)) = top.counter;
  Put({params.begin + 1, params.count - 1});
  return Flow::Turn;
}

Machine::Flow Machine::EnterWhile(const ir::Inst& inst) {
  Take(function().operands_of(inst));
  const ir::RegionId test = Function::region_of(inst, 0);
  PushRegion(&inst, test);
  Put(function().region(test).params);
  return Flow::Turn;
}

// The body's region stands on its test's, because it sees the test's values.
Machine::Flow Machine::Condition(const ir::Inst& inst) {
  const ir::Inst& owner = *activations_.back().owner;
  if (Operand(inst, 0) != 0) {
    PushRegion(&owner, Function::region_of(owner, 1));
    return Flow::Turn;
  }
  Take(function().region(Function::region_of(owner, 0)).params);
  PopRegion();
  Put(owner.results);
  return Flow::Turn;
}

Machine::Flow Machine::BackEdge(const ir::Inst& owner) {
  if (!TakeFuel(1)) return Trap(ir::Trap::Fuel, owner);
  if (context_.IsStopped() || Expired()) return TrapEnded(owner);
  PopRegion();
  Activation& test = activations_.back();
  ReleaseObjects(test.objects_made);
  test.next = 0;
  Put(function().region(test.region).params);
  return Flow::Turn;
}

Machine::Flow Machine::Yield(const ir::Inst& inst) {
  const ir::Inst& owner = *activations_.back().owner;
  if (owner.op == Op::Generate) return NextGenerated(owner, inst);
  if (owner.op == Op::Fold) return NextFolded(owner, inst);
  Take(function().operands_of(inst));
  switch (owner.op) {
    case Op::For: return NextIteration(owner);
    case Op::While: return BackEdge(owner);
    case Op::Parallel: return NextLane();
    case Op::Map: return NextElement(owner);
    default: break;
  }
  CHECK(owner.op == Op::If || owner.op == Op::Switch);
  PopRegion();
  Put(owner.results);
  return Flow::Turn;
}

Machine::Flow Machine::EnterCall(const ir::Inst& inst) {
  const ir::FuncId callee(static_cast<uint32_t>(function().word(inst, 0)));
  const ir::Function& callee_function = program_.functions[callee.index];
  if (!callee_function.is_prelude && frames_.back().metered) {
    if (!TakeFuel(1)) return Trap(ir::Trap::Fuel, inst);
    if (Expired()) return TrapEnded(inst);
    if (depth_ == context_.limits.depth || words_.size() > MostFrameWords)
      return Trap(ir::Trap::Depth, inst);
    depth_ += 1;
  }
  Take(function().operands_of(inst));
  PushFrame(callee);
  PushRegion(&inst, callee_function.body);
  Put(callee_function.region(callee_function.body).params);
  return Flow::Turn;
}

Machine::Flow Machine::Return(const ir::Inst& inst) {
  const ir::Inst* owner = activations_.back().owner;
  Take(function().operands_of(inst));
  if (owner == nullptr) {
    outcome_ = Finish();
    stopped_ = true;
    return Flow::Turn;
  }
  if (owner->op != Op::Call) return NextElement(*owner);
  if (frames_.back().metered) depth_ -= 1;
  PopRegion();
  PopFrame();
  Put(owner->results);
  return Flow::Turn;
}

// The taken values as results of the run.
Outcome Machine::Finish() {
  Outcome outcome = std::move(outcome_);
  size_t word = 0;
  size_t object = 0;
  for (ir::Type type : function().results) {
    if (type.is_scalar()) {
      const uint32_t count = ir::WordsOf(type);
      outcome.results.push_back(Value::Scalar(type, std::span(taken_words_).subspan(word, count)));
      word += count;
    } else {
      Object& tensor = taken_objects_[object++];
      outcome.results.push_back(Value::Tensor(std::move(tensor.memory), std::move(tensor.dims)));
    }
  }
  return outcome;
}

}  // namespace frazil::exec
