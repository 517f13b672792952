// Control of the lane-exact executor: structures, labels, lanes. Structures around a barrier are boundaries of phases
// too, as in the IR; they are written into the executor's own copy of the code, so that there is one kind of boundary.
#include "targets/isa/lane_exact.h"

#include <new>
#include <stdexcept>

#include <fmt/format.h>

#include "base/check.h"
#include "exec/target.h"
#include "ir/builder.h"
#include "targets/isa/lane_machine.h"
#include "targets/isa/simt_names.h"

namespace frazil::targets::isa {

using namespace simt_names;

namespace {

bool IsTogether(Opcode op) {
  return op == Opcode::BarSync || op == Opcode::Shfl || op == Opcode::Vote ||
         op == Opcode::Ballot || op == Opcode::LaneReduce || op == Opcode::LaneScan;
}

// A program with the module's parameters that does nothing: launches are checked by the rules of every target.
ir::Program LaunchForm(const Module& module) {
  ir::Program program;
  ir::FunctionBuilder builder(program, "main", {}, {});
  for (const machines::simt::ParamRow& row : module.params) {
    ir::Type type = ir::Type::Of(row.type);
    builder.AddParam(row.is_buffer ? ir::Type::Buffer(type, row.access) : type);
  }
  builder.Return({});
  builder.Finish();
  return program;
}

uint64_t TripCount(Type type, uint64_t lo, uint64_t hi, uint64_t step) {
  bool empty = ir::IsSigned(type) ? static_cast<int64_t>(lo) >= static_cast<int64_t>(hi) : lo >= hi;
  return empty ? 0 : (hi - lo - 1) / step + 1;
}

}  // namespace

LaunchShape Linear(uint64_t lanes, uint32_t block) {
  LaunchShape shape;
  shape.block[0] = block;
  shape.grid[0] = static_cast<uint32_t>((lanes + block - 1) / block);
  return shape;
}

LaneMachine::LaneMachine(const Module& module, const exec::RunContext& context,
                         const LaunchShape& launch, std::span<std::byte> phi)
    : module_(module),
      context_(context),
      launch_(launch),
      phi_(phi),
      fuel_(context.limits.fuel),
      deadline_(Deadline::After(context.limits.run_ms)) {
  PrepareCode();
}

void LaneMachine::PrepareCode() {
  std::vector<uint32_t> match = MatchStructure(module_.code);
  // Which IF and FOR have lanes meet inside of them, and which PAR have its own lanes meet.
  std::vector<bool> around(module_.code.size(), false);
  std::vector<uint32_t> open;
  for (uint32_t i = 0; i < module_.code.size(); ++i) {
    Opcode op = module_.code[i].op;
    if (IsOpener(op)) open.push_back(i);
    if (op == Opcode::End) open.pop_back();
    if (!IsTogether(op)) continue;
    for (size_t s = open.size(); s-- > 0;) {
      around[open[s]] = true;
      if (module_.code[open[s]].op == Opcode::Par) break;
    }
  }
  const Instruction boundary{.op = Opcode::BarSync};
  std::vector<uint32_t> moved(module_.code.size());
  auto bounded = [&](uint32_t opener) {
    return around[opener] && module_.code[opener].op != Opcode::Par;
  };
  for (uint32_t i = 0; i < module_.code.size(); ++i) {
    const Instruction& inst = module_.code[i];
    if (IsOpener(inst.op) && bounded(i)) code_.push_back(boundary);
    bool ends = inst.op == Opcode::End && bounded(match[i]);
    if (ends && module_.code[match[i]].op == Opcode::For) code_.push_back(boundary);
    moved[i] = static_cast<uint32_t>(code_.size());
    if (inst.op == Opcode::Par)
      meets_.resize(code_.size() + 1, false), meets_[code_.size()] = around[i];
    code_.push_back(inst);
    if (ends) code_.push_back(boundary);
  }
  meets_.resize(code_.size(), false);
  for (Instruction& inst : code_)
    if (inst.op == Opcode::Bra || inst.op == Opcode::Call || inst.op == Opcode::Loop)
      inst.imm = moved[inst.imm];
  match_ = MatchStructure(code_);
}

std::optional<Stop> LaneMachine::TrapNow(ir::Trap kind, const Instruction& i) {
  trap_ = exec::TrapInfo{kind, machines::simt::TrapOp(i), trap_index_};
  return Stop::Trapped;
}

std::optional<Stop> LaneMachine::TrapEnded(const Instruction& i) {
  trap_ = context_.Ended(machines::simt::TrapOp(i), trap_index_);
  return Stop::Trapped;
}

bool LaneMachine::TakeFuel(uint64_t units) {
  if (fuel_ < units) return false;
  fuel_ -= units;
  return true;
}

bool LaneMachine::TakeBytes(uint64_t& held, uint64_t count, uint64_t size) const {
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes) || bytes > context_.limits.memory_bytes - held)
    return false;
  held += bytes;
  return true;
}

uint64_t LaneMachine::BytesOfLane() const {
  return sizeof(Lane) + module_.buffers.size() * sizeof(std::shared_ptr<exec::Memory>);
}

bool LaneMachine::Expired() {
  return context_.IsStopped() || ((++ticks_ & 0x3ff) == 0 && deadline_.Passed());
}

Result<exec::Outcome> LaneMachine::Run(std::span<const exec::Value> arguments) {
  TRY_VOID(exec::CheckLaunch(LaunchForm(module_), arguments));
  if (!phi_.empty() && phi_.size() != machines::simt::PhiBytes)
    return Fail(Diag::BadLaunch, fmt::format("the arena has {} bytes instead of {}", phi_.size(),
                                             machines::simt::PhiBytes));
  if (phi_.empty() && (module_.features & machines::simt::UsesPhi) != 0) {
    own_phi_.resize(machines::simt::PhiBytes);
    phi_ = own_phi_;
  }
  Lane first;
  first.buffers.resize(module_.buffers.size());
  for (uint32_t p = 0; p < arguments.size(); ++p) {
    const machines::simt::ParamRow& row = module_.params[p];
    parameters_.push_back(row.is_buffer ? 0 : arguments[p].word);
    if (row.is_buffer) first.buffers[row.buffer] = arguments[p].memory;
  }
  results_.resize(module_.results.size());
  // Within the limit, and the machine may still not have it.
  const auto no_memory = [&] {
    trap_ = exec::TrapInfo{ir::Trap::Memory, ir::Op::Alloc, trap_index_};
  };
  try {
    if (module_.mode == Mode::Launch) {
      RunLaunch(first);
    } else {
      RunLane(first);
    }
  } catch (const std::bad_alloc&) {
    no_memory();
  } catch (const std::length_error&) {
    no_memory();
  }
  if (error_) return std::unexpected(*error_);
  exec::Outcome outcome;
  outcome.trap = trap_;
  for (size_t i = 0; i < results_.size() && !trap_; ++i)
    outcome.results.push_back(exec::Value::Word(ir::Type::Of(module_.results[i]), results_[i]));
  return outcome;
}

void LaneMachine::RunLaunch(const Lane& initial) {
  uint64_t lanes = launch_.lanes_of_block();
  if (!TakeBytes(lane_bytes_, lanes, BytesOfLane()) ||
      !TakeBytes(lane_bytes_, launch_.shared_bytes, 1)) {
    error_ = Error{Diag::BadLaunch,
                   fmt::format("a block of {} lanes and {} shared bytes is above the memory limit",
                               lanes, launch_.shared_bytes)};
    return;
  }
  // As a PAR does, a launch takes a unit of fuel for each of its lanes.
  __extension__ using uint128 = unsigned __int128;
  uint128 blocks = uint128{launch_.grid[0]} * launch_.grid[1] * launch_.grid[2];
  if (blocks == 0 || lanes == 0) return;
  if (blocks > fuel_ / lanes) {
    TrapNow(ir::Trap::Fuel, {.op = Opcode::Par});
    return;
  }
  fuel_ -= static_cast<uint64_t>(blocks) * lanes;
  uint64_t base = 0;
  for (uint32_t z = 0; z < launch_.grid[2]; ++z)
    for (uint32_t y = 0; y < launch_.grid[1]; ++y)
      for (uint32_t x = 0; x < launch_.grid[0]; ++x, base += lanes) {
        shared_.assign(launch_.shared_bytes, std::byte{0});
        std::vector<Lane> block(lanes, initial);
        for (uint64_t l = 0; l < lanes; ++l) {
          Lane& lane = block[l];
          lane.number = l;
          lane.global = base + l;
          lane.block = {x, y, z};
          lane.lane = {static_cast<uint32_t>(l % launch_.block[0]),
                       static_cast<uint32_t>(l / launch_.block[0] % launch_.block[1]),
                       static_cast<uint32_t>(l / launch_.block[0] / launch_.block[1])};
          lane.registers[machines::simt::LaneRegister] = lane.lane[0];
          lane.registers[machines::simt::BlockRegister] = x;
          lane.registers[machines::simt::BlockDimRegister] = launch_.block[0];
          lane.registers[machines::simt::GlobalLaneRegister] = lane.global;
        }
        if (!RunTogether(block)) return;
        if (Expired()) {
          TrapEnded({.op = Opcode::Par});
          return;
        }
      }
}

bool LaneMachine::RunTogether(std::vector<Lane>& lanes) {
  for (;;) {
    size_t waiting = 0;
    for (Lane& lane : lanes) {
      if (module_.mode == Mode::Launch) trap_index_ = static_cast<int64_t>(lane.global);
      if (module_.mode == Mode::Program && par_depth_ == 1)
        trap_index_ = static_cast<int64_t>(lane.global);
      Stop stop = RunLane(lane);
      if (stop == Stop::Trapped) return false;
      waiting += stop == Stop::Waits;
    }
    if (waiting == 0) return true;
    const Instruction& here = code_[lanes[0].next];
    bool all = waiting == lanes.size();
    for (const Lane& lane : lanes) all &= lane.next == lanes[0].next;
    // Who is not here never comes: every lane would wait for ever.
    if (!all) TrapNow(ir::Trap::Unreachable, {.op = Opcode::BarSync});
    if (all && Expired()) TrapEnded({.op = Opcode::BarSync});
    if (trap_) return false;
    Together(lanes, here);
    for (Lane& lane : lanes) ++lane.next;
  }
}

Stop LaneMachine::RunLane(Lane& lane) {
  for (;;) {
    uint32_t at = lane.next++;
    const Instruction& i = code_[at];
    if (i.guarded() && (lane.predicates[i.guard_predicate()] != 0) == i.guard_negated()) continue;
    if (IsTogether(i.op)) {
      lane.next = at;
      return Stop::Waits;
    }
    if (std::optional<Stop> stop = Step(lane, i, at)) return *stop;
  }
}

void LaneMachine::Push(Lane& lane, uint32_t opener) {
  lane.scopes.push_back({opener, 0, 0, lane.allocated.size()});
}

void LaneMachine::ReleaseScratch(Lane& lane, size_t down_to) {
  for (; lane.allocated.size() > down_to; lane.allocated.pop_back())
    lane.buffers[lane.allocated.back()].reset();
}

void LaneMachine::LeaveScope(Lane& lane) {
  ReleaseScratch(lane, lane.scopes.back().allocated);
  lane.scopes.pop_back();
}

std::optional<Stop> LaneMachine::EnterFor(Lane& lane, const Instruction& i, uint32_t at) {
  uint64_t lo = lane.registers[i.a], trips = TripCount(i.type, lo, lane.registers[i.b], i.imm);
  if (!TakeFuel(trips)) return TrapNow(ir::Trap::Fuel, i);
  if (trips == 0) {
    lane.next = match_[at] + 1;
    return {};
  }
  Push(lane, at);
  lane.scopes.back().counter = lo;
  lane.scopes.back().left = trips - 1;
  lane.registers[i.dst] = lo;
  return {};
}

std::optional<Stop> LaneMachine::EnterPar(Lane& lane, const Instruction& i, uint32_t at) {
  uint64_t lo = lane.registers[i.a], trips = TripCount(i.type, lo, lane.registers[i.b], 1);
  lane.next = match_[at] + 1;
  if (!TakeFuel(trips)) return TrapNow(ir::Trap::Fuel, i);
  Lane start = lane;
  start.next = at + 1;
  start.scopes.clear();
  start.allocated.clear();
  Push(start, at);
  auto make = [&](Lane& inner, uint64_t number) {
    inner.registers[i.dst] = lo + number;
    inner.number = number;
    inner.global = par_depth_ == 1 ? lo + number : lane.global;
  };
  ++par_depth_;
  bool fine = true;
  if (meets_[at]) {
    if (!TakeBytes(lane_bytes_, trips, BytesOfLane()))
      return TrapNow(ir::Trap::Memory, {.op = Opcode::BarSync});
    std::vector<Lane> lanes(trips, start);
    for (uint64_t number = 0; number < trips; ++number) make(lanes[number], number);
    fine = RunTogether(lanes);
    lane_bytes_ -= trips * BytesOfLane();
  } else {
    Lane inner;
    for (uint64_t number = 0; number < trips && fine; ++number) {
      inner = start;
      make(inner, number);
      if (par_depth_ == 1) trap_index_ = static_cast<int64_t>(inner.global);
      fine = RunLane(inner) != Stop::Trapped;
      if (fine && Expired() && number + 1 < trips) {
        TrapEnded(i);
        fine = false;
      }
    }
  }
  --par_depth_;
  if (!fine) return Stop::Trapped;
  if (par_depth_ == 0) trap_index_ = -1;
  return {};
}

std::optional<Stop> LaneMachine::AtEnd(Lane& lane, uint32_t at) {
  LaneScope& scope = lane.scopes.back();
  const Instruction& opener = code_[scope.opener];
  switch (opener.op) {
    case Opcode::Par: LeaveScope(lane); return Stop::Done;
    case Opcode::For:
      if (scope.left == 0) break;
      if (Expired()) return TrapEnded(opener);
      ReleaseScratch(lane, scope.allocated);
      scope.left -= 1;
      scope.counter += opener.imm;
      lane.registers[opener.dst] = scope.counter;
      lane.next = scope.opener + 1;
      return {};
    case Opcode::While:
      if (!TakeFuel(1)) return TrapNow(ir::Trap::Fuel, opener);
      if (Expired()) return TrapEnded(opener);
      ReleaseScratch(lane, scope.allocated);
      lane.next = scope.opener + 1;
      return {};
    default: break;
  }
  LeaveScope(lane);
  lane.next = at + 1;
  return {};
}

std::optional<Stop> LaneMachine::Control(Lane& lane, const Instruction& i, uint32_t at) {
  switch (i.op) {
    case Opcode::If:
      Push(lane, at);
      if (!lane.predicates[i.a])
        lane.next = code_[match_[at]].op == Opcode::Else ? match_[at] + 1 : match_[at];
      return {};
    case Opcode::Switch: {
      Push(lane, at);
      uint32_t part = match_[at];
      while (code_[part].op == Opcode::Case && code_[part].imm != lane.registers[i.a])
        part = match_[part];
      lane.next = part + 1;
      return {};
    }
    case Opcode::Else:
    case Opcode::Case:
    case Opcode::Default:
      lane.next = EndOf(match_, code_, at);
      return {};  // the part before has ended
    case Opcode::For: return EnterFor(lane, i, at);
    case Opcode::Par: return EnterPar(lane, i, at);
    case Opcode::While: Push(lane, at); return {};
    case Opcode::BreakUnless:
      if (lane.predicates[i.a]) return {};
      lane.next = match_[at] + 1;
      LeaveScope(lane);
      return {};
    case Opcode::End: return AtEnd(lane, at);
    case Opcode::Assert: return lane.predicates[i.a] ? std::nullopt : TrapNow(ir::Trap::Assert, i);
    case Opcode::Trap: return TrapNow(ir::Trap::Unreachable, i);
    case Opcode::Exit: return Stop::Done;
    case Opcode::Loop:
      if (lane.registers[i.a] == 0) return {};
      lane.registers[i.a] -= 1;
      [[fallthrough]];
    case Opcode::Bra:
      if (i.imm <= at && !TakeFuel(1)) return TrapNow(ir::Trap::Fuel, i);
      if (i.imm <= at && Expired()) return TrapEnded(i);
      lane.next = static_cast<uint32_t>(i.imm);
      return {};
    case Opcode::Call:
      if (!TakeFuel(1)) return TrapNow(ir::Trap::Fuel, i);
      if (Expired()) return TrapEnded(i);
      if (lane.calls.size() >=
          std::min<uint64_t>(machines::simt::MaxCallDepth, context_.limits.depth))
        return TrapNow(ir::Trap::Depth, i);
      lane.calls.push_back(lane.next);
      lane.next = static_cast<uint32_t>(i.imm);
      return {};
    case Opcode::Ret:
      if (lane.calls.empty()) return TrapNow(ir::Trap::Depth, i);
      lane.next = lane.calls.back();
      lane.calls.pop_back();
      return {};
    default: return {};  // CARRY, FENCE: nothing happens
  }
}

Result<exec::Outcome> RunLaneExact(const Module& module, std::span<const exec::Value> arguments,
                                   const exec::RunContext& context, const LaunchShape& launch,
                                   std::span<std::byte> phi) {
  return LaneMachine(module, context, launch, phi).Run(arguments);
}

}  // namespace frazil::targets::isa
