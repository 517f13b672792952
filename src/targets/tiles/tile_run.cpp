// Control: blocks of ops, structures, masks, traps, frames.
#include "targets/tiles/tile_run.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/check.h"
#include "base/system/thread_pool.h"
#include "exec/meaning/scalar_types.h"

namespace frazil::targets::tiles {

using Kind = TileOp::Kind;

TileArena& TileArena::OfThread() {
  thread_local TileArena arena;
  return arena;
}

void TileArena::Free::operator()(std::byte* p) const { std::free(p); }

std::byte* TileArena::Take(size_t bytes) {
  bytes = (bytes + 127) / 64 * 64;
  if (bytes < 64) return nullptr;
  while (piece_ < pieces_.size() && pieces_[piece_].size - used_ < bytes) {
    piece_ += 1;
    used_ = 0;
  }
  if (piece_ == pieces_.size()) {
    const size_t size = std::max<size_t>(bytes, 256 * 1024);
    auto* memory = static_cast<std::byte*>(std::aligned_alloc(64, size));
    if (memory == nullptr) return nullptr;
    pieces_.push_back({std::unique_ptr<std::byte, Free>(memory), size});
    used_ = 0;
  }
  std::byte* const taken = pieces_[piece_].memory.get() + used_;
  used_ += bytes;
  return taken;
}

namespace {

// A run without an end need not ask what time it is.
Deadline EndOf(const Limits& limits) {
  static const Deadline never = Deadline::Never();
  return limits.run_ms == UINT64_MAX ? never : Deadline::After(limits.run_ms);
}

}  // namespace

SharedRun::SharedRun(const TilePlan* form, const exec::RunContext& run, int most_threads)
    : plan(form),
      fuel(run.limits.fuel),
      memory_bytes(run.limits.memory_bytes),
      threads(most_threads != 0 ? most_threads : ThreadPool::Shared().threads()),
      context(run),
      deadline(EndOf(run.limits)) {}

void SharedRun::Report(int64_t trip, const exec::TrapInfo& info, Location at) {
  std::lock_guard lock(mutex);
  if (trip >= lowest.load(std::memory_order_relaxed)) return;
  trap = info;
  trap_at = at;
  lowest.store(trip, std::memory_order_relaxed);
}

uint64_t Worker::CellWord(Slot slot, ir::Scalar type) const {
  return exec::VisitType(type, [&]<typename T>() {
    T value;
    std::memcpy(&value, frame_.at[slot], sizeof(T));
    return exec::Encode(value);
  });
}

bool Worker::MakeFrame(const TilePlan& plan, const FunctionPlan& function, Frame& frame) {
  const size_t slots = function.slots.size(), cells = function.cells.size(),
               buffers = function.buffer_count;
  std::byte* memory = arena_.Take(slots * 8 + cells * 8 + buffers * (sizeof(BufferRef) + 8));
  if (memory == nullptr) return false;
  frame.plan = &plan;
  frame.function = &function;
  frame.at = reinterpret_cast<std::byte**>(memory);
  frame.cells = reinterpret_cast<uint64_t*>(memory + slots * 8);
  frame.buffers = reinterpret_cast<BufferRef*>(frame.cells + cells);
  frame.scratch_bytes = reinterpret_cast<uint64_t*>(frame.buffers + buffers);
  std::fill_n(frame.buffers, buffers, BufferRef{});
  std::fill_n(frame.scratch_bytes, buffers, 0);
  std::copy_n(function.cells.begin(), cells, frame.cells);
  for (size_t i = 0; i < slots; ++i)
    frame.at[i] = function.slots[i].is_tile
                      ? nullptr
                      : reinterpret_cast<std::byte*>(frame.cells + function.slots[i].place);
  return true;
}

bool Worker::MakeTiles(uint32_t lanes) {
  const FunctionPlan& function = *frame_.function;
  // A line between tiles, so that they do not all begin in the same set of the cache.
  std::byte* memory =
      arena_.Take(size_t{function.lane_bytes} * lanes + size_t{function.tile_count} * 64);
  std::byte* codes = arena_.Take(lanes);
  if (memory == nullptr || codes == nullptr) return false;
  trap_codes_ = reinterpret_cast<uint8_t*>(codes);
  tiles_ = memory;
  tile_lanes_ = lanes;
  for (size_t i = 0; i < function.slots.size(); ++i) {
    const SlotInfo& slot = function.slots[i];
    if (slot.is_tile) frame_.at[i] = memory + size_t{slot.place} * lanes + size_t{slot.number} * 64;
  }
  return true;
}

bool Worker::RunEntry(const uint64_t* arguments, uint64_t* results) {
  const FunctionPlan& function = shared_.plan->functions[0];
  if (!MakeFrame(*shared_.plan, function, frame_)) {
    trap_ = exec::TrapInfo{ir::Trap::Memory, ir::Op::Alloc, -1};
    return false;
  }
  size_t buffer = 0;
  for (size_t i = 0; i < function.params.size(); ++i) {
    const uint64_t* words = arguments + shared_.plan->word_of_param[i];
    if (function.params[i] == NoSlot)
      frame_.buffers[buffer++] = {reinterpret_cast<std::byte*>(words[0]),
                                  static_cast<int64_t>(words[1])};
    else
      Cell<uint64_t>(function.params[i]) = words[0];
  }
  if (!RunOps(0, static_cast<uint32_t>(function.ops.size())) || trap_) return false;
  for (size_t i = 0; i < function.results.size(); ++i)
    results[i] = CellWord(function.results[i], function.result_types[i].scalar);
  return true;
}

size_t Worker::FirstActive() const {
  if (mask_ == nullptr) return 0;
  const void* found = std::memchr(mask_, 1, lanes_);
  return found == nullptr ? lanes_
                          : static_cast<size_t>(static_cast<const uint8_t*>(found) - mask_);
}

bool Worker::TrapLane(size_t lane, ir::Trap kind, ir::Op op) {
  const int64_t index = tile_is_outermost_ ? tile_first_ + static_cast<int64_t>(lane) : iteration_;
  trap_ = exec::TrapInfo{kind, op, index};
  trap_at_ = at_;
  lanes_ = lane;
  return lanes_ > 0;
}

bool Worker::TrapAll(ir::Trap kind, ir::Op op) {
  if (in_tile_) {
    // A trap may have dropped all lanes that were here: then this happens to nobody.
    const size_t first = FirstActive();
    return first == lanes_ || TrapLane(first, kind, op);
  }
  trap_ = exec::TrapInfo{kind, op, iteration_};
  trap_at_ = at_;
  return false;
}

bool Worker::TrapEnded(ir::Op op) {
  // As in TrapAll: it may happen to nobody, and then an earlier trap stands.
  const bool happens = !in_tile_ || FirstActive() != lanes_;
  const bool goes_on = TrapAll(ir::Trap::Fuel, op);
  if (happens) trap_ = shared_.context.Ended(op, trap_->index);
  return goes_on;
}

bool Worker::Expired() {
  return shared_.context.IsStopped() || ((++ticks_ & 0xff) == 0 && shared_.deadline.Passed());
}

bool Worker::RunOps(uint32_t begin, uint32_t end) {
  const std::vector<TileOp>& ops = frame_.function->ops;
  for (uint32_t at = begin; at < end;) {
    const TileOp& op = ops[at];
    at_ = op.where;
    switch (op.kind) {
      case Kind::Kernel: {
        TileArguments arguments;
        arguments.a = At(op.a);
        arguments.b = At(op.b);
        arguments.c = At(op.c);
        arguments.d = At(op.d);
        arguments.result = frame_.at[op.result];
        arguments.traps = nullptr;
        arguments.lanes = op.uniform ? 1 : lanes_;
        op.kernel(arguments);
        break;
      }
      case Kind::Broadcast:
        MovesOf(op.bytes, frame_.plan->level).fill(frame_.at[op.result], frame_.at[op.a], lanes_);
        break;
      case Kind::Iota:
        MasksOf(frame_.plan->level)
            .iota(reinterpret_cast<int64_t*>(frame_.at[op.result]), Cell<int64_t>(op.a), op.imm,
                  lanes_);
        break;
      case Kind::Move:
        if (op.uniform)
          Cell<uint64_t>(op.result) = Cell<uint64_t>(op.a);
        else if (mask_ == nullptr)
          std::memmove(frame_.at[op.result], frame_.at[op.a], lanes_ * op.bytes);
        else
          MovesOf(op.bytes, frame_.plan->level)
              .blend(frame_.at[op.result], frame_.at[op.a], mask_, lanes_);
        break;
      case Kind::Checked:
        if (!Checked(op)) return false;
        break;
      case Kind::Math:
        if (!Math(op)) return false;
        break;
      case Kind::Barrier:
        if (!PhaseEnds()) return false;
        break;
      case Kind::Return: return true;
      case Kind::If:
      case Kind::Switch:
      case Kind::For:
      case Kind::While:
      case Kind::Parallel:
        if (op.phases && in_tile_ && !PhaseEnds()) return false;
        if (!RunStructure(op, at)) return false;
        if (op.phases && in_tile_ && !PhaseEnds()) return false;
        at += op.part0 + op.part1;
        break;
      default:
        if (!Memory(op)) return false;
    }
    at += 1;
  }
  return true;
}

bool Worker::RunStructure(const TileOp& op, uint32_t at) {
  switch (op.kind) {
    case Kind::If: return If(op, at);
    case Kind::Switch: return Switch(op, at);
    case Kind::For: return op.divergent ? DivergentFor(op, at) : For(op, at);
    case Kind::While: return While(op, at);
    default: return Parallel(op, at);
  }
}

// Runs code on the lanes of a mask, and puts the mask back.
namespace {
class Masked {
 public:
  Masked(const uint8_t*& mask, const uint8_t* now) : mask_(mask), before_(mask) { mask_ = now; }
  ~Masked() { mask_ = before_; }
  Masked(const Masked&) = delete;
  Masked& operator=(const Masked&) = delete;

 private:
  const uint8_t*& mask_;
  const uint8_t* before_;
};
}  // namespace

bool Worker::If(const TileOp& op, uint32_t at) {
  const uint32_t then_begin = at + 1, else_begin = then_begin + op.part0,
                 end = else_begin + op.part1;
  if (!op.divergent) {
    const bool taken = Cell<uint8_t>(op.a) != 0;
    return taken ? RunOps(then_begin, else_begin) : RunOps(else_begin, end);
  }
  auto* taken = reinterpret_cast<uint8_t*>(frame_.at[op.c]);
  auto* left = reinterpret_cast<uint8_t*>(frame_.at[op.d]);
  const auto* condition = reinterpret_cast<const uint8_t*>(frame_.at[op.a]);
  const MaskLoops& masks = MasksOf(frame_.plan->level);
  const size_t takers = masks.both(taken, mask_, condition, lanes_);
  if (takers == lanes_) return RunOps(then_begin, else_begin);
  const size_t leavers = masks.without(left, mask_, condition, lanes_);
  if (leavers == lanes_) return RunOps(else_begin, end);
  if (takers > 0) {
    Masked here(mask_, taken);
    if (!RunOps(then_begin, else_begin)) return false;
  }
  if (leavers > 0) {
    Masked here(mask_, left);
    if (!RunOps(else_begin, end)) return false;
  }
  return true;
}

bool Worker::Switch(const TileOp& op, uint32_t at) {
  const FunctionPlan::Cases& cases = frame_.function->lists[op.extra];
  uint32_t begin = at + 1;
  if (!op.divergent) {
    const uint64_t selector = CellWord(op.a, op.type);
    for (size_t i = 0; i < cases.lengths.size(); ++i) {
      const bool is_default = i == cases.values.size();
      if (is_default || cases.values[i] == selector) return RunOps(begin, begin + cases.lengths[i]);
      begin += cases.lengths[i];
    }
    return true;
  }
  auto* taken = reinterpret_cast<uint8_t*>(frame_.at[op.c]);
  auto* left = reinterpret_cast<uint8_t*>(frame_.at[op.d]);
  if (mask_ == nullptr)
    std::memset(left, 1, lanes_);
  else
    std::memcpy(left, mask_, lanes_);
  for (size_t i = 0; i < cases.lengths.size(); ++i) {
    const bool is_default = i == cases.values.size();
    size_t count = 0;
    exec::VisitType(op.type, [&]<typename T>() {
      const T* selector = reinterpret_cast<const T*>(frame_.at[op.a]);
      for (size_t lane = 0; lane < lanes_; ++lane) {
        const bool equal = is_default || exec::Encode(selector[lane]) == cases.values[i];
        taken[lane] = left[lane] != 0 && equal ? 1 : 0;
        count += taken[lane];
        if (equal) left[lane] = 0;
      }
      return 0;
    });
    if (count > 0) {
      Masked here(mask_, taken);
      if (!RunOps(begin, begin + cases.lengths[i])) return false;
    }
    begin += cases.lengths[i];
  }
  return true;
}

namespace {

uint64_t TripCount(ir::Scalar type, uint64_t lo, uint64_t hi, uint64_t step) {
  const bool empty =
      ir::IsSigned(type) ? static_cast<int64_t>(lo) >= static_cast<int64_t>(hi) : lo >= hi;
  return empty ? 0 : (hi - lo - 1) / step + 1;
}

}  // namespace

bool Worker::For(const TileOp& op, uint32_t at) {
  const uint64_t lo = CellWord(op.a, op.type);
  const uint64_t trips =
      TripCount(op.type, lo, CellWord(op.b, op.type), static_cast<uint64_t>(op.imm));
  if (trips > shared_.fuel) return TrapAll(ir::Trap::Fuel, op.op);
  uint64_t counter = lo;
  for (uint64_t trip = 0; trip < trips; ++trip) {
    if (op.phases && in_tile_ && !PhaseEnds()) return false;
    if (trip > 0 && Expired()) {
      TrapEnded(op.op);
      return false;
    }
    Cell<uint64_t>(op.result) = counter;
    const TileArena::Mark mark = arena_.mark();
    if (!RunOps(at + 1, at + 1 + op.part0)) return false;
    arena_.Release(mark);
    counter += static_cast<uint64_t>(op.imm);
  }
  return true;
}

bool Worker::DivergentFor(const TileOp& op, uint32_t at) {
  auto* active = reinterpret_cast<uint8_t*>(frame_.at[op.c]);
  auto* trips = reinterpret_cast<uint64_t*>(frame_.at[op.d]);
  const uint64_t step = static_cast<uint64_t>(op.imm);
  size_t exhausted = lanes_;
  exec::VisitType(op.type, [&]<typename T>() {
    const T* lo = reinterpret_cast<const T*>(frame_.at[op.a]);
    const T* hi = reinterpret_cast<const T*>(frame_.at[op.b]);
    for (size_t i = lanes_; i-- > 0;) {
      const bool here = mask_ == nullptr || mask_[i] != 0;
      trips[i] = here ? TripCount(op.type, exec::Encode(lo[i]), exec::Encode(hi[i]), step) : 0;
      if (trips[i] > shared_.fuel) exhausted = i;
    }
    return 0;
  });
  if (exhausted != lanes_ && !TrapLane(exhausted, ir::Trap::Fuel, op.op)) return false;
  for (uint64_t trip = 0;; ++trip) {
    size_t count = 0;
    for (size_t i = 0; i < lanes_; ++i) count += active[i] = trips[i] > trip ? 1 : 0;
    if (count == 0) return true;
    exec::VisitType(op.type, [&]<typename T>() {
      const T* lo = reinterpret_cast<const T*>(frame_.at[op.a]);
      T* counter = reinterpret_cast<T*>(frame_.at[op.result]);
      for (size_t i = 0; i < lanes_; ++i)
        counter[i] = exec::Decode<T>(exec::Encode(lo[i]) + trip * step);
      return 0;
    });
    Masked here(mask_, count == lanes_ ? nullptr : active);
    if (trip > 0 && Expired()) {
      TrapEnded(op.op);
      return false;
    }
    if (!RunOps(at + 1, at + 1 + op.part0)) return false;
  }
}

bool Worker::While(const TileOp& op, uint32_t at) {
  const uint32_t body = at + 1 + op.part0, end = body + op.part1;
  Masked here(mask_, mask_);
  auto* active = op.divergent ? reinterpret_cast<uint8_t*>(frame_.at[op.c]) : nullptr;
  for (;;) {
    const TileArena::Mark mark = arena_.mark();
    if (!RunOps(at + 1, body)) return false;
    if (!op.divergent) {
      if (Cell<uint8_t>(op.a) == 0) return true;
    } else {
      const auto* condition = reinterpret_cast<const uint8_t*>(frame_.at[op.a]);
      const size_t count = MasksOf(frame_.plan->level).both(active, mask_, condition, lanes_);
      if (count == 0) return true;
      mask_ = count == lanes_ ? nullptr : active;
    }
    if (!RunOps(body, end)) return false;
    arena_.Release(mark);
    if (Expired()) {
      TrapEnded(op.op);
      return false;
    }
  }
}

bool Worker::Call(const TilePlan& plan, const FunctionPlan& callee,
                  std::span<std::byte* const> inputs, std::span<std::byte* const> outputs,
                  size_t lanes) {
  const TileArena::Mark mark = arena_.mark();
  const Frame around = frame_;
  uint8_t* const codes = trap_codes_;
  std::byte* const tiles = tiles_;
  const uint32_t tile_lanes = tile_lanes_;
  const size_t lanes_around = std::exchange(lanes_, lanes);
  const bool in_tile = std::exchange(in_tile_, true);
  bool ok =
      MakeFrame(plan, callee, frame_) && MakeTiles(static_cast<uint32_t>((lanes + 63) / 64 * 64));
  if (ok) {
    Masked all(mask_, nullptr);
    for (size_t i = 0; i < inputs.size(); ++i) frame_.at[callee.params[i]] = inputs[i];
    ok = RunOps(0, static_cast<uint32_t>(callee.ops.size()));
    for (size_t i = 0; ok && i < outputs.size(); ++i) {
      const Slot result = callee.results[i];
      std::memcpy(outputs[i], frame_.at[result],
                  lanes * callee.slots[static_cast<size_t>(result)].bytes);
    }
  } else {
    trap_ = exec::TrapInfo{ir::Trap::Memory, ir::Op::Alloc, iteration_};
  }
  frame_ = around;
  trap_codes_ = codes;
  tiles_ = tiles;
  tile_lanes_ = tile_lanes;
  lanes_ = lanes_around;
  in_tile_ = in_tile;
  arena_.Release(mark);
  return ok;
}

}  // namespace frazil::targets::tiles
