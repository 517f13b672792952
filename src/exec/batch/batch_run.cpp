// One block of lanes, op by op. Lanes that part ways (branches, loops of different lengths) are
// compacted into groups of their own, run there, and their values are put back in their places. A
// lane that has trapped is carried along with whatever its arrays hold until the next structured op
// leaves it out; no op minds garbage.
#include "exec/batch/batch_run.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "exec/batch/batch_memory.h"
#include "exec/meaning/scalar_types.h"
#include "exec/outcome.h"

namespace frazil::exec {
namespace {

using meaning::CodeOf;

// Neighbors are offset by a line, so that equal lanes of many arrays do not share one set of the
// cache.
constexpr size_t ArrayBytes = BlockLanes * 8 + 64;

// How many lanes an op is as dear as, besides its own, and how many there are from one look at the clock to the next: a
// fraction of a millisecond of most ops.
constexpr int64_t LanesOfAnOp = 16;
constexpr int64_t LanesOfALook = 1 << 17;

// to[i] = from[lanes[i]]; in place if the lanes ascend.
void Gather(const std::byte* from, std::span<const LaneIndex> lanes, uint32_t bytes,
            std::byte* to) {
  WithWidth(bytes, [&](auto width) {
    using T = decltype(width);
    const T* source = reinterpret_cast<const T*>(from);
    T* target = reinterpret_cast<T*>(to);
    for (size_t i = 0; i < lanes.size(); ++i) target[i] = source[lanes[i]];
  });
}

// to[places[i]] = from[which[i]]
void Scatter(const std::byte* from, std::span<const LaneIndex> which,
             std::span<const LaneIndex> places, uint32_t bytes, std::byte* to) {
  WithWidth(bytes, [&](auto width) {
    using T = decltype(width);
    const T* source = reinterpret_cast<const T*>(from);
    T* target = reinterpret_cast<T*>(to);
    for (size_t i = 0; i < which.size(); ++i) target[places[i]] = source[which[i]];
  });
}

std::vector<LaneIndex> AliveLanes(const Lanes& lanes) {
  std::vector<LaneIndex> alive;
  alive.reserve(lanes.count);
  for (size_t i = 0; i < lanes.count; ++i) {
    if (lanes.traps[i] == 0) alive.push_back(static_cast<LaneIndex>(i));
  }
  return alive;
}

// Lanes whose trap has no op yet trapped in this one.
void NoteOp(Lanes& lanes, ir::Op op) {
  const uint8_t* __restrict traps = lanes.traps;
  uint8_t* __restrict ops = lanes.ops;
  const auto here = static_cast<uint8_t>(op);
  for (size_t i = 0; i < lanes.count; ++i)
    ops[i] = traps[i] != 0 && ops[i] == Lanes::NoOp ? here : ops[i];
}

bool AnyTrapped(const Lanes& lanes) {
  uint8_t any = 0;
  for (size_t i = 0; i < lanes.count; ++i) any |= lanes.traps[i];
  return any != 0;
}

void TrapAlive(Lanes& lanes, ir::Trap trap, ir::Op op) {
  for (size_t i = 0; i < lanes.count; ++i) {
    if (lanes.traps[i] == 0) lanes.traps[i] = CodeOf(trap);
  }
  NoteOp(lanes, op);
}

// How often a loop runs, for one counter type.
template <typename T>
uint64_t TripCount(T lo, T hi, uint64_t step) {
  if (!(lo < hi)) return 0;
  return (static_cast<uint64_t>(hi) - static_cast<uint64_t>(lo) - 1) / step + 1;
}

}  // namespace

std::byte* ArrayStack::Push() {
  if (used_ == arrays_.size())
    arrays_.push_back(std::make_unique_for_overwrite<std::byte[]>(ArrayBytes));
  return arrays_[used_++].get();
}

// Lanes that run a loop together: whose they are, and arrays that only they have.
struct BatchRunner::Group {
  std::vector<LaneIndex> members;
  Arrays arrays;
  Lanes lanes;
  std::vector<Move> kept;  // arrays that hold a value between iterations, each once
  std::vector<LaneIndex> staying = {}, leaving = {};  // of the last turn, by their places in it
};

BatchRunner::BatchRunner(const BatchCode& code, const Limits& limits)
    : code_(code), limits_(limits) {
  for (const std::vector<uint64_t>& constant : code.constants) {
    // Constants are read only, like every operand.
    constants_.push_back(reinterpret_cast<std::byte*>(const_cast<uint64_t*>(constant.data())));
  }
}

void BatchRunner::Look() {
  until_look_ = LanesOfALook;
  has_expired_ |= deadline_.Passed() || (run_ != nullptr && run_->context.IsStopped());
  has_given_up_ |= run_ != nullptr && has_expired_;
}

// False once what the lanes do does not count any more. Looks at the clock now and then.
bool BatchRunner::GoesOn(size_t lanes) {
  until_look_ -= LanesOfAnOp + static_cast<int64_t>(lanes);
  if (until_look_ < 0) Look();
  return !has_given_up_;
}

Lanes BatchRunner::NewLanes(size_t count) {
  Lanes lanes = {
      count, reinterpret_cast<uint8_t*>(stack_.Push()), reinterpret_cast<uint8_t*>(stack_.Push()),
      reinterpret_cast<uint64_t*>(stack_.Push()), reinterpret_cast<LaneIndex*>(stack_.Push())};
  std::memset(lanes.traps, 0, count);
  std::memset(lanes.ops, Lanes::NoOp, count);
  return lanes;
}

void BatchRunner::Run(size_t lanes, std::span<const std::byte* const> inputs,
                      std::span<std::byte* const> outputs, uint8_t* traps, uint8_t* ops) {
  deadline_ = Deadline::After(limits_.run_ms);
  has_expired_ = false;
  Lanes all = NewLanes(lanes);
  std::fill_n(all.fuel, lanes, limits_.fuel);
  std::iota(all.ids, all.ids + lanes, LaneIndex{0});
  const BatchRegion& body = code_.functions[code_.entry].body;
  Arrays arrays(body.array_count, nullptr);
  for (size_t i = 0; i < inputs.size(); ++i)
    arrays[static_cast<size_t>(body.params[i].array)] = const_cast<std::byte*>(inputs[i]);
  RunFresh(body, arrays, all);
  std::memcpy(traps, all.traps, lanes);
  if (ops != nullptr) std::memcpy(ops, all.ops, lanes);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Move& yield = body.yields[i];
    std::memcpy(outputs[i], ArrayOf(arrays, yield.array), lanes * yield.bytes);
    for (size_t lane = 0; lane < lanes; ++lane) {
      if (traps[lane] != 0) std::memset(outputs[i] + lane * yield.bytes, 0, yield.bytes);
    }
  }
  stack_.PopTo(0);
}

BlockEnd BatchRunner::RunIterations(const ParallelCode& code, std::span<const uint64_t> scalars,
                                    uint64_t first, size_t lanes, OneRun& run) {
  run_ = &run;
  deadline_ = run.deadline;
  depth_ = run.depth;
  has_expired_ = has_given_up_ = false;
  Lanes all = NewLanes(lanes);
  std::iota(all.ids, all.ids + lanes, LaneIndex{0});
  Arrays arrays(code.body.array_count, nullptr);
  for (size_t i = 0; i < scalars.size(); ++i) {
    const Move& param = code.body.params[i];
    std::byte*& array = arrays[static_cast<size_t>(param.array)];
    array = stack_.Push();
    WithWidth(param.bytes, [&](auto width) {
      using T = decltype(width);
      std::fill_n(reinterpret_cast<T*>(array), lanes, static_cast<T>(scalars[i]));
    });
  }
  std::byte*& iteration = arrays[static_cast<size_t>(code.body.params.back().array)];
  iteration = stack_.Push();
  std::iota(reinterpret_cast<uint64_t*>(iteration), reinterpret_cast<uint64_t*>(iteration) + lanes,
            first);
  RunFresh(code.body, arrays, all);
  stack_.PopTo(0);
  run_ = nullptr;
  if (!std::exchange(has_given_up_, false)) return BlockEnd::Done;
  return has_expired_ ? BlockEnd::OutOfTime : BlockEnd::GaveUp;
}

// Arrays that are not there yet are the region's own.
void BatchRunner::RunFresh(const BatchRegion& region, Arrays& arrays, Lanes& lanes) {
  for (std::byte*& array : arrays) {
    if (array == nullptr) array = stack_.Push();
  }
  RunInsts(region, arrays, lanes);
}

// Where one iteration of a run has trapped the others would go on for nothing: a block leaves its regions at once.
void BatchRunner::RunInsts(const BatchRegion& region, Arrays& arrays, Lanes& lanes) {
  if (!GoesOn(lanes.count)) return;
  for (const BatchInst& inst : region.insts) {
    if (inst.kind == BatchInst::Kind::Kernel) [[likely]] {
      if (inst.op == ir::Op::Select) NoteSelected(inst, arrays, lanes);
      inst.kernel({ArrayOf(arrays, inst.a), ArrayOf(arrays, inst.b), ArrayOf(arrays, inst.c),
                   arrays[static_cast<size_t>(inst.result)], lanes.traps, lanes.count});
    } else {
      RunStructured(inst, arrays, lanes);
    }
    if (inst.may_trap && run_ == nullptr) NoteOp(lanes, inst.op);
    if (inst.may_trap && run_ != nullptr) has_given_up_ |= AnyTrapped(lanes);
    if (!GoesOn(lanes.count)) return;
  }
}

void BatchRunner::RunStructured(const BatchInst& inst, Arrays& arrays, Lanes& lanes) {
  const size_t mark = stack_.size();
  switch (inst.kind) {
    case BatchInst::Kind::Kernel: break;
    case BatchInst::Kind::Lookup: Lookup(inst, arrays, lanes); break;
    case BatchInst::Kind::Load:
    case BatchInst::Kind::Store:
    case BatchInst::Kind::Length: Access(inst, arrays, lanes); break;
    case BatchInst::Kind::Assert: {
      const uint8_t* holds = reinterpret_cast<const uint8_t*>(ArrayOf(arrays, inst.a));
      for (size_t i = 0; i < lanes.count; ++i) {
        if (holds[i] == 0 && lanes.traps[i] == 0) lanes.traps[i] = CodeOf(ir::Trap::Assert);
      }
      break;
    }
    case BatchInst::Kind::Unreachable: TrapAlive(lanes, ir::Trap::Unreachable, inst.op); break;
    case BatchInst::Kind::If: If(inst, arrays, lanes); break;
    case BatchInst::Kind::Switch: Switch(inst, arrays, lanes); break;
    case BatchInst::Kind::For: For(inst, arrays, lanes); break;
    case BatchInst::Kind::While: While(inst, arrays, lanes); break;
    case BatchInst::Kind::Call: Call(inst, arrays, lanes); break;
  }
  stack_.PopTo(mark);
}

void BatchRunner::NoteSelected(const BatchInst& inst, const Arrays& arrays, const Lanes& lanes) {
  if (run_ == nullptr || run_->choices == nullptr) return;
  const auto* holds = reinterpret_cast<const uint8_t*>(ArrayOf(arrays, inst.a));
  bool some[2] = {false, false};
  for (size_t i = 0; i < lanes.count; ++i) some[holds[i] != 0 ? 0 : 1] = true;
  for (uint32_t way = 0; way < 2; ++way) {
    if (some[way]) NoteWay(inst, way);
  }
}

void BatchRunner::Access(const BatchInst& inst, Arrays& arrays, Lanes& lanes) {
  BlockMemory& memory = run_->memory;
  const auto* index = reinterpret_cast<const uint64_t*>(ArrayOf(arrays, inst.a));
  if (inst.kind == BatchInst::Kind::Store) {
    memory.Store(inst.memory, index, ArrayOf(arrays, inst.b), lanes);
    return;
  }
  std::byte* result = arrays[static_cast<size_t>(inst.result)];
  if (inst.kind == BatchInst::Kind::Load) {
    memory.Load(inst.memory, index, result, lanes);
  } else {
    std::fill_n(reinterpret_cast<uint64_t*>(result), lanes.count, memory.Length(inst.memory));
  }
}

void BatchRunner::Lookup(const BatchInst& inst, Arrays& arrays, Lanes& lanes) {
  const BatchStructure& s = *inst.structure;
  const uint64_t* index = reinterpret_cast<const uint64_t*>(ArrayOf(arrays, inst.a));
  const Move& result = s.results[0];
  WithWidth(result.bytes, [&](auto width) {
    using T = decltype(width);
    T* target = reinterpret_cast<T*>(arrays[static_cast<size_t>(result.array)]);
    for (size_t i = 0; i < lanes.count; ++i) {
      const bool inside = index[i] < s.table.size();
      target[i] = inside ? static_cast<T>(s.table[index[i]]) : T{0};
      if (!inside && lanes.traps[i] == 0) lanes.traps[i] = CodeOf(ir::Trap::OutOfBounds);
    }
  });
}

void BatchRunner::RunBranch(const BatchStructure& structure, const BatchRegion& region,
                            std::span<const LaneIndex> taken, Arrays& arrays, Lanes& lanes) {
  if (taken.empty()) return;
  const size_t mark = stack_.size();
  if (taken.size() == lanes.count) {
    Arrays own(region.array_count, nullptr);
    for (size_t i = 0; i < region.live_ins.size(); ++i)
      own[i] = ArrayOf(arrays, region.live_ins[i].array);
    RunFresh(region, own, lanes);
    for (size_t i = 0; i < region.yields.size(); ++i) {
      std::memcpy(arrays[static_cast<size_t>(structure.results[i].array)],
                  ArrayOf(own, region.yields[i].array), lanes.count * region.yields[i].bytes);
    }
  } else {
    Group group = StartGroup(structure, region, arrays, lanes, taken);
    RunInsts(region, group.arrays, group.lanes);
    std::vector<LaneIndex> all(taken.size());
    std::iota(all.begin(), all.end(), LaneIndex{0});
    for (size_t i = 0; i < region.yields.size(); ++i) {
      Scatter(ArrayOf(group.arrays, region.yields[i].array), all, taken, region.yields[i].bytes,
              arrays[static_cast<size_t>(structure.results[i].array)]);
    }
    for (size_t i = 0; i < taken.size(); ++i) {
      lanes.traps[taken[i]] = group.lanes.traps[i];
      lanes.ops[taken[i]] = group.lanes.ops[i];
      lanes.fuel[taken[i]] = group.lanes.fuel[i];
    }
  }
  stack_.PopTo(mark);
}

void BatchRunner::If(const BatchInst& inst, Arrays& arrays, Lanes& lanes) {
  const uint8_t* condition = reinterpret_cast<const uint8_t*>(ArrayOf(arrays, inst.a));
  std::vector<LaneIndex> taken[2];
  for (LaneIndex i : AliveLanes(lanes)) taken[condition[i] != 0 ? 0 : 1].push_back(i);
  for (uint32_t r = 0; r < 2; ++r) {
    if (!taken[r].empty()) NoteWay(inst, r);
    RunBranch(*inst.structure, inst.structure->regions[r], taken[r], arrays, lanes);
  }
}

void BatchRunner::Switch(const BatchInst& inst, Arrays& arrays, Lanes& lanes) {
  const BatchStructure& s = *inst.structure;
  std::vector<std::vector<LaneIndex>> taken(s.regions.size());
  const std::byte* selectors = ArrayOf(arrays, inst.a);
  VisitType(s.type, [&]<typename T>() {
    for (LaneIndex i : AliveLanes(lanes)) {
      const int64_t selector =
          static_cast<int64_t>(Encode(reinterpret_cast<const T*>(selectors)[i]));
      const auto found = std::ranges::find(s.cases, selector);
      taken[static_cast<size_t>(found - s.cases.begin())].push_back(i);
    }
  });
  for (uint32_t r = 0; r < s.regions.size(); ++r) {
    if (!taken[r].empty()) NoteWay(inst, r);
    RunBranch(s, s.regions[r], taken[r], arrays, lanes);
  }
}

BatchRunner::Group BatchRunner::StartGroup(const BatchStructure& structure,
                                           const BatchRegion& region, Arrays& arrays, Lanes& lanes,
                                           std::span<const LaneIndex> members) {
  Group group;
  group.members.assign(members.begin(), members.end());
  group.arrays.assign(region.array_count, nullptr);
  for (std::byte*& array : group.arrays) array = stack_.Push();
  for (size_t i = 0; i < region.live_ins.size(); ++i) {
    const Move& live_in = region.live_ins[i];
    Gather(ArrayOf(arrays, live_in.array), members, live_in.bytes, group.arrays[i]);
    group.kept.push_back({static_cast<ArrayId>(i), live_in.bytes});
  }
  // A loop's counter has no operand: parameters are matched from the last one on.
  const size_t counters =
      region.params.size() - (region.params.empty() ? 0 : structure.operands.size());
  for (size_t i = 0; i < region.params.size(); ++i) {
    const Move& param = region.params[i];
    group.kept.push_back(param);
    if (i < counters) continue;
    Gather(ArrayOf(arrays, structure.operands[i - counters].array), members, param.bytes,
           group.arrays[static_cast<size_t>(param.array)]);
  }
  group.lanes = NewLanes(members.size());
  for (size_t i = 0; i < members.size(); ++i) {
    group.lanes.fuel[i] = lanes.fuel[members[i]];
    group.lanes.ids[i] = lanes.ids[members[i]];
  }
  return group;
}

// The others are gone; `kept` ascends.
void BatchRunner::Keep(Group& group, std::span<const LaneIndex> kept) {
  for (const Move& move : group.kept) {
    std::byte* array = group.arrays[static_cast<size_t>(move.array)];
    Gather(array, kept, move.bytes, array);
  }
  for (size_t i = 0; i < kept.size(); ++i) {
    group.members[i] = group.members[kept[i]];
    group.lanes.traps[i] = group.lanes.traps[kept[i]];
    group.lanes.ops[i] = group.lanes.ops[kept[i]];
    group.lanes.fuel[i] = group.lanes.fuel[kept[i]];
    group.lanes.ids[i] = group.lanes.ids[kept[i]];
  }
  group.members.resize(kept.size());
  group.lanes.count = kept.size();
}

// Those that leave a loop give its results: the carried values, which are the first region's last
// params.
void BatchRunner::Leave(const Group& group, const BatchStructure& structure,
                        std::span<const LaneIndex> leaving, Arrays& arrays, Lanes& lanes) {
  std::vector<LaneIndex> places;
  for (LaneIndex i : leaving) places.push_back(group.members[i]);
  const std::vector<Move>& params = structure.regions[0].params;
  const size_t counters = params.size() - structure.results.size();
  for (size_t i = 0; i < structure.results.size(); ++i) {
    Scatter(group.arrays[static_cast<size_t>(params[counters + i].array)], leaving, places,
            params[counters + i].bytes, arrays[static_cast<size_t>(structure.results[i].array)]);
  }
  for (size_t i = 0; i < leaving.size(); ++i) {
    lanes.traps[places[i]] = group.lanes.traps[leaving[i]];
    lanes.ops[places[i]] = group.lanes.ops[leaving[i]];
    lanes.fuel[places[i]] = group.lanes.fuel[leaving[i]];
  }
}

// Lanes that trapped, or for which `stays` does not hold, leave the loop. Gives whether some did; group.staying says where
// those that go on were.
template <typename Stays>
bool BatchRunner::KeepThose(Group& group, const BatchStructure& structure, Arrays& arrays,
                            Lanes& lanes, Stays stays) {
  group.staying.clear();
  group.leaving.clear();
  for (size_t i = 0; i < group.lanes.count; ++i) {
    const bool goes_on = stays(i) && group.lanes.traps[i] == 0;
    (goes_on ? group.staying : group.leaving).push_back(static_cast<LaneIndex>(i));
  }
  if (group.leaving.empty()) return false;
  Leave(group, structure, group.leaving, arrays, lanes);
  Keep(group, group.staying);
  return true;
}

// A unit of fuel array for each lane, or one each.
void BatchRunner::TakeFuel(Lanes& lanes, const uint64_t* units, ir::Op op) {
  if (unmetered_ != 0) return;
  if (run_ != nullptr) return TakeSharedFuel(lanes, units);
  for (size_t i = 0; i < lanes.count; ++i) {
    const uint64_t wanted = units != nullptr ? units[i] : 1;
    if (lanes.traps[i] != 0) continue;
    if (lanes.fuel[i] < wanted) {
      lanes.traps[i] = CodeOf(ir::Trap::Fuel);
    } else {
      lanes.fuel[i] -= wanted;
    }
  }
  NoteOp(lanes, op);
}

// One run's iterations take from the same fuel, one after the other: it lasts for all of them or not, whoever comes first.
void BatchRunner::TakeSharedFuel(Lanes& lanes, const uint64_t* units) {
  for (size_t i = 0; i < lanes.count; ++i) {
    const uint64_t wanted = units != nullptr ? units[i] : 1;
    has_given_up_ |= run_->fuel < wanted;
    run_->fuel -= std::min(run_->fuel, wanted);
  }
}

void BatchRunner::For(const BatchInst& inst, Arrays& arrays, Lanes& lanes) {
  const BatchStructure& s = *inst.structure;
  const BatchRegion& region = s.regions[0];
  std::vector<uint64_t> trips(lanes.count);
  const std::byte* los = ArrayOf(arrays, inst.a);
  const std::byte* his = ArrayOf(arrays, inst.b);
  VisitType(s.type, [&]<typename T>() {
    if constexpr (std::integral<T>) {
      for (size_t i = 0; i < lanes.count; ++i)
        trips[i] = TripCount(reinterpret_cast<const T*>(los)[i], reinterpret_cast<const T*>(his)[i],
                             s.step);
    }
  });
  TakeFuel(lanes, trips.data(), inst.op);
  if (has_given_up_) return;
  // Where it does not run at all, the results are what it starts with.
  for (size_t i = 0; i < s.results.size(); ++i) {
    std::memcpy(arrays[static_cast<size_t>(s.results[i].array)],
                ArrayOf(arrays, s.operands[i].array), lanes.count * s.results[i].bytes);
  }
  std::vector<LaneIndex> members = AliveLanes(lanes);
  std::erase_if(members, [&](LaneIndex i) { return trips[i] == 0; });
  if (members.empty()) return;
  Group group = StartGroup(s, region, arrays, lanes, members);
  const Move counter = region.params[0];
  std::byte*& counters = group.arrays[static_cast<size_t>(counter.array)];
  Gather(los, members, counter.bytes, counters);
  std::vector<uint64_t> left;
  for (LaneIndex i : members) left.push_back(trips[i]);
  Arrays next;
  for (size_t i = 0; i < s.results.size(); ++i) next.push_back(stack_.Push());
  while (group.lanes.count > 0) {
    RunInsts(region, group.arrays, group.lanes);
    if (has_given_up_) return;
    if (has_expired_) TrapAlive(group.lanes, ir::Trap::Fuel, inst.op);
    for (size_t i = 0; i < next.size(); ++i)
      std::memcpy(next[i], ArrayOf(group.arrays, region.yields[i].array),
                  group.lanes.count * region.yields[i].bytes);
    for (size_t i = 0; i < next.size(); ++i)
      std::swap(next[i], group.arrays[static_cast<size_t>(region.params[i + 1].array)]);
    const bool some_left =
        KeepThose(group, s, arrays, lanes, [&](size_t i) { return --left[i] > 0; });
    if (some_left)
      for (size_t i = 0; i < group.staying.size(); ++i) left[i] = left[group.staying[i]];
    WithWidth(counter.bytes, [&](auto width) {
      using T = decltype(width);
      T* values = reinterpret_cast<T*>(counters);
      for (size_t i = 0; i < group.lanes.count; ++i) values[i] = static_cast<T>(values[i] + s.step);
    });
  }
}

void BatchRunner::While(const BatchInst& inst, Arrays& arrays, Lanes& lanes) {
  const BatchStructure& s = *inst.structure;
  const BatchRegion& test = s.regions[0];
  const BatchRegion& body = s.regions[1];
  Group group = StartGroup(s, test, arrays, lanes, AliveLanes(lanes));
  // What the body reads of the test must survive compaction too.
  for (const Move& live_in : body.live_ins) {
    const auto same = [&](const Move& move) { return move.array == live_in.array; };
    if (std::ranges::none_of(group.kept, same)) group.kept.push_back(live_in);
  }
  Arrays next;
  for (size_t i = 0; i < test.params.size(); ++i) next.push_back(stack_.Push());
  while (group.lanes.count > 0) {
    RunInsts(test, group.arrays, group.lanes);
    if (has_given_up_) return;
    const uint8_t* holds =
        reinterpret_cast<const uint8_t*>(ArrayOf(group.arrays, test.yields[0].array));
    KeepThose(group, s, arrays, lanes, [&](size_t i) { return holds[i] != 0; });
    if (group.lanes.count == 0) break;
    const size_t mark = stack_.size();
    Arrays own(body.array_count, nullptr);
    for (size_t i = 0; i < body.live_ins.size(); ++i)
      own[i] = ArrayOf(group.arrays, body.live_ins[i].array);
    RunFresh(body, own, group.lanes);
    if (has_given_up_) return;
    for (size_t i = 0; i < next.size(); ++i)
      std::memcpy(next[i], ArrayOf(own, body.yields[i].array),
                  group.lanes.count * body.yields[i].bytes);
    stack_.PopTo(mark);
    for (size_t i = 0; i < next.size(); ++i)
      std::swap(next[i], group.arrays[static_cast<size_t>(test.params[i].array)]);
    TakeFuel(group.lanes, nullptr, inst.op);
    if (has_expired_) TrapAlive(group.lanes, ir::Trap::Fuel, inst.op);
  }
}

void BatchRunner::Call(const BatchInst& inst, Arrays& arrays, Lanes& lanes) {
  const BatchStructure& s = *inst.structure;
  const BatchFunction& callee = code_.functions[s.callee];
  const bool metered = !callee.is_prelude && unmetered_ == 0;
  if (metered) {
    TakeFuel(lanes, nullptr, inst.op);
    if (has_given_up_) return;
    if (has_expired_) return TrapAlive(lanes, ir::Trap::Fuel, inst.op);
    if (depth_ == limits_.depth) {
      TrapAlive(lanes, ir::Trap::Depth, inst.op);
      return;
    }
  }
  depth_ += metered ? 1 : 0;
  unmetered_ += callee.is_prelude ? 1 : 0;
  Arrays own(callee.body.array_count, nullptr);
  for (size_t i = 0; i < s.operands.size(); ++i)
    own[static_cast<size_t>(callee.body.params[i].array)] = ArrayOf(arrays, s.operands[i].array);
  RunFresh(callee.body, own, lanes);
  for (size_t i = 0; i < s.results.size(); ++i) {
    std::memcpy(arrays[static_cast<size_t>(s.results[i].array)],
                ArrayOf(own, callee.body.yields[i].array), lanes.count * s.results[i].bytes);
  }
  depth_ -= metered ? 1 : 0;
  unmetered_ -= callee.is_prelude ? 1 : 0;
}

}  // namespace frazil::exec
