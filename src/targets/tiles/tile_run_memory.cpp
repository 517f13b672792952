// Memory: one check for a row of neighbors, a check for each lane where addresses go anywhere.
#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "exec/meaning/scalar_ops.h"
#include "exec/meaning/scalar_types.h"
#include "targets/tiles/tile_math.h"
#include "targets/tiles/tile_run.h"

namespace frazil::targets::tiles {

using Kind = TileOp::Kind;

namespace {

bool IsInside(uint64_t index, int64_t length) { return index < static_cast<uint64_t>(length); }

// All of base, base + 1 .. base + lanes - 1.
bool RowIsInside(int64_t base, size_t lanes, int64_t length) {
  return base >= 0 && static_cast<int64_t>(lanes) <= length &&
         base <= length - static_cast<int64_t>(lanes);
}

void CopyElement(std::byte* to, const std::byte* from, uint32_t bytes) {
  switch (bytes) {
    case 1: std::memcpy(to, from, 1); break;
    case 2: std::memcpy(to, from, 2); break;
    case 4: std::memcpy(to, from, 4); break;
    default: std::memcpy(to, from, 8);
  }
}

// The whole read-modify-write is one step for other threads too. Gives what was there.
template <typename Bits, typename F>
Bits Exchange(std::byte* at, const F& updated) {
  Bits* place = reinterpret_cast<Bits*>(at);
  Bits old = __atomic_load_n(place, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(place, &old, updated(old), false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED)) {
  }
  return old;
}

template <typename F>
auto WithBits(uint32_t bytes, const F& f) {
  switch (bytes) {
    case 1: return f.template operator()<uint8_t>();
    case 2: return f.template operator()<uint16_t>();
    case 4: return f.template operator()<uint32_t>();
    default: return f.template operator()<uint64_t>();
  }
}

uint64_t WordOf(ir::Scalar type, const void* element) {
  return exec::VisitType(type, [&]<typename T>() {
    T value;
    std::memcpy(&value, element, sizeof(T));
    return exec::Encode(value);
  });
}

}  // namespace

bool Worker::Checked(const TileOp& op) {
  TileArguments arguments;
  arguments.a = At(op.a);
  arguments.b = At(op.b);
  arguments.c = At(op.c);
  arguments.result = frame_.at[op.result];
  uint8_t one = 0;
  arguments.traps = op.uniform ? &one : trap_codes_;
  arguments.lanes = op.uniform ? 1 : lanes_;
  if (!op.uniform) std::memset(trap_codes_, 0, lanes_);
  op.kernel(arguments);
  const auto kind_of = [](uint8_t code) { return static_cast<ir::Trap>(code - 1); };
  if (op.uniform) return one == 0 || TrapAll(kind_of(one), op.op);
  uint64_t any = 0;
  for (size_t i = 0; i < lanes_; ++i) any |= trap_codes_[i];
  if (any == 0) return true;
  for (size_t i = 0; i < lanes_; ++i)
    if (trap_codes_[i] != 0 && (mask_ == nullptr || mask_[i] != 0))
      return TrapLane(i, kind_of(trap_codes_[i]), op.op);
  return true;
}

bool Worker::Memory(const TileOp& op) {
  switch (op.kind) {
    case Kind::LoadOne: return LoadOne(op);
    case Kind::LoadRow: return LoadRow(op);
    case Kind::LoadStrided: return LoadStrided(op);
    case Kind::LoadGather:
    case Kind::StoreScatter: return Indexed(op);
    case Kind::StoreOne: return StoreOne(op);
    case Kind::StoreRow: return StoreRow(op);
    case Kind::Lookup: return Lookup(op);
    case Kind::Length: Cell<int64_t>(op.result) = frame_.buffers[op.buffer].length; return true;
    case Kind::Alloc: return Alloc(op);
    case Kind::Release:
      live_bytes_ -= std::exchange(frame_.scratch_bytes[op.buffer], 0);
      return true;
    case Kind::Atomic:
    case Kind::Cas: return Atomic(op);
    case Kind::Assert: return Assert(op);
    case Kind::Unreachable: return TrapAll(ir::Trap::Unreachable, op.op);
    case Kind::Call: {
      const FunctionPlan::Cases& call = frame_.function->lists[static_cast<size_t>(op.imm)];
      std::vector<std::byte*> inputs, outputs;
      for (Slot slot : call.inputs) inputs.push_back(frame_.at[slot]);
      for (Slot slot : call.outputs) outputs.push_back(frame_.at[slot]);
      return Call(*frame_.plan, frame_.plan->functions[op.extra], inputs, outputs,
                  op.uniform ? 1 : lanes_);
    }
    default: CHECK(!"a micro-op"); return false;
  }
}

// The one element that all lanes access; null if it is outside.
std::byte* Worker::ElementOf(const TileOp& op, Watch::Access access) {
  const BufferRef buffer = frame_.buffers[op.buffer];
  const int64_t index = Cell<int64_t>(op.a);
  if (watch_ != nullptr) watch_->Touch(op.buffer, index, buffer.length, access, op.where);
  if (!IsInside(static_cast<uint64_t>(index), buffer.length)) return nullptr;
  return buffer.data + index * op.bytes;
}

bool Worker::LoadOne(const TileOp& op) {
  const std::byte* element = ElementOf(op, Watch::Access::Read);
  if (element == nullptr) return TrapAll(ir::Trap::OutOfBounds, op.op);
  CopyElement(frame_.at[op.result], element, op.bytes);
  return true;
}

bool Worker::StoreOne(const TileOp& op) {
  std::byte* element = ElementOf(op, Watch::Access::Write);
  if (element == nullptr) return TrapAll(ir::Trap::OutOfBounds, op.op);
  CopyElement(element, frame_.at[op.b], op.bytes);
  return true;
}

bool Worker::RowOutside(const TileOp& op, BufferRef buffer, int64_t base, bool store) {
  std::byte* const tile = store ? frame_.at[op.b] : frame_.at[op.result];
  for (size_t i = 0; i < lanes_; ++i) {
    const bool active = mask_ == nullptr || mask_[i] != 0;
    const uint64_t index = static_cast<uint64_t>(base) + i;
    const bool inside = IsInside(index, buffer.length);
    if (active && !inside) return TrapLane(i, ir::Trap::OutOfBounds, op.op);
    if (!inside) continue;
    std::byte* const element = buffer.data + index * op.bytes;
    if (!store)
      CopyElement(tile + i * op.bytes, element, op.bytes);
    else if (active)
      CopyElement(element, tile + i * op.bytes, op.bytes);
  }
  return true;
}

bool Worker::LoadRow(const TileOp& op) {
  const BufferRef buffer = frame_.buffers[op.buffer];
  const int64_t base = Cell<int64_t>(op.a);
  const SlotInfo& slot = frame_.function->slots[static_cast<size_t>(op.result)];
  std::byte* const own = tiles_ + size_t{slot.place} * tile_lanes_ + size_t{slot.number} * 64;
  if (RowIsInside(base, lanes_, buffer.length)) [[likely]] {
    std::byte* const row = buffer.data + base * op.bytes;
    if (op.copies) {
      std::memcpy(own, row, lanes_ * op.bytes);
      frame_.at[op.result] = own;
    } else {
      frame_.at[op.result] = row;
    }
    return true;
  }
  frame_.at[op.result] = own;
  return RowOutside(op, buffer, base, false);
}

bool Worker::StoreRow(const TileOp& op) {
  const BufferRef buffer = frame_.buffers[op.buffer];
  const int64_t base = Cell<int64_t>(op.a);
  if (!RowIsInside(base, lanes_, buffer.length)) [[unlikely]]
    return RowOutside(op, buffer, base, true);
  std::byte* const row = buffer.data + base * op.bytes;
  if (mask_ == nullptr)
    std::memmove(row, frame_.at[op.b], lanes_ * op.bytes);
  else
    MovesOf(op.bytes, frame_.plan->level).blend(row, frame_.at[op.b], mask_, lanes_);
  return true;
}

bool Worker::LoadStrided(const TileOp& op) {
  const BufferRef buffer = frame_.buffers[op.buffer];
  const int64_t base = Cell<int64_t>(op.a);
  __extension__ using int128 = __int128;
  const int128 last = int128{base} + int128{op.imm} * static_cast<int64_t>(lanes_ - 1);
  if (base >= 0 && base < buffer.length && last >= 0 && last < buffer.length) {
    MovesOf(op.bytes, frame_.plan->level)
        .strided(frame_.at[op.result], buffer.data, base, op.imm, lanes_);
    return true;
  }
  for (size_t i = 0; i < lanes_; ++i) {
    const uint64_t index = static_cast<uint64_t>(base) + i * static_cast<uint64_t>(op.imm);
    if (IsInside(index, buffer.length))
      CopyElement(frame_.at[op.result] + i * op.bytes, buffer.data + index * op.bytes, op.bytes);
    else if (mask_ == nullptr || mask_[i] != 0)
      return TrapLane(i, ir::Trap::OutOfBounds, op.op);
  }
  return true;
}

bool Worker::Indexed(const TileOp& op) {
  const BufferRef buffer = frame_.buffers[op.buffer];
  const auto* index = reinterpret_cast<const int64_t*>(frame_.at[op.a]);
  const MoveLoops& loops = MovesOf(op.bytes, frame_.plan->level);
  if (buffer.length == 0) return TrapAll(ir::Trap::OutOfBounds, op.op);
  const size_t outside =
      op.kind == Kind::LoadGather
          ? loops.gather(frame_.at[op.result], buffer.data, static_cast<uint64_t>(buffer.length),
                         index, mask_, lanes_)
          : loops.scatter(buffer.data, static_cast<uint64_t>(buffer.length), index, frame_.at[op.b],
                          mask_, lanes_);
  return outside == lanes_ || TrapLane(outside, ir::Trap::OutOfBounds, op.op);
}

bool Worker::Lookup(const TileOp& op) {
  const TilePlan::Table& table = frame_.plan->tables[op.extra];
  const auto* index = reinterpret_cast<const int64_t*>(frame_.at[op.a]);
  const size_t lanes = op.uniform ? 1 : lanes_;
  const uint8_t* mask = op.uniform ? nullptr : mask_;
  if (table.length == 0) return TrapAll(ir::Trap::OutOfBounds, op.op);
  const size_t outside =
      MovesOf(op.bytes, frame_.plan->level)
          .gather(frame_.at[op.result], table.bytes.data(), table.length, index, mask, lanes);
  if (outside == lanes) return true;
  return op.uniform ? TrapAll(ir::Trap::OutOfBounds, op.op)
                    : TrapLane(outside, ir::Trap::OutOfBounds, op.op);
}

// Scratch of a buffer number is given back when its structure ends, and at the latest with the run.
bool Worker::Alloc(const TileOp& op) {
  const int64_t length = Cell<int64_t>(op.a);
  __extension__ using uint128 = unsigned __int128;
  const uint128 bytes = uint128{static_cast<uint64_t>(length)} * op.bytes;
  live_bytes_ -= std::exchange(frame_.scratch_bytes[op.buffer], 0);
  if (length < 0 || live_bytes_ + bytes > shared_.memory_bytes)
    return TrapAll(ir::Trap::Memory, op.op);
  std::byte* const memory = arena_.Take(static_cast<size_t>(bytes));
  if (memory == nullptr) return TrapAll(ir::Trap::Memory, op.op);
  std::memset(memory, 0, static_cast<size_t>(bytes));
  live_bytes_ += static_cast<uint64_t>(bytes);
  frame_.scratch_bytes[op.buffer] = static_cast<uint64_t>(bytes);
  frame_.buffers[op.buffer] = {memory, length};
  if (watch_ != nullptr) watch_->Allocate(op.buffer, length, op.where);
  return true;
}

bool Worker::Atomic(const TileOp& op) {
  const BufferRef buffer = frame_.buffers[op.buffer];
  const auto* index = reinterpret_cast<const int64_t*>(frame_.at[op.a]);
  const size_t lanes = op.uniform ? 1 : lanes_;
  const auto combiner =
      op.kind == Kind::Atomic ? CombinerOf(static_cast<ir::AtomicKind>(op.extra)) : std::nullopt;
  for (size_t i = 0; i < lanes; ++i) {
    if (!op.uniform && mask_ != nullptr && mask_[i] == 0) continue;
    if (watch_ != nullptr)
      watch_->Touch(op.buffer, index[i], buffer.length, Watch::Access::Atomic, op.where);
    if (!IsInside(static_cast<uint64_t>(index[i]), buffer.length))
      return op.uniform ? TrapAll(ir::Trap::OutOfBounds, op.op)
                        : TrapLane(i, ir::Trap::OutOfBounds, op.op);
    std::byte* const element = buffer.data + index[i] * op.bytes;
    const std::byte* const value = frame_.at[op.b] + i * op.bytes;
    WithBits(op.bytes, [&]<typename Bits>() {
      Bits given, wanted = 0;
      std::memcpy(&given, value, sizeof(Bits));
      if (op.kind == Kind::Cas) std::memcpy(&wanted, frame_.at[op.c] + i * op.bytes, sizeof(Bits));
      const Bits old = Exchange<Bits>(element, [&](Bits now) -> Bits {
        if (op.kind == Kind::Cas) return now == given ? wanted : now;
        if (!combiner) return given;
        return static_cast<Bits>(*exec::EvalWord(*combiner, op.type, op.type, WordOf(op.type, &now),
                                                 WordOf(op.type, &given)));
      });
      std::memcpy(frame_.at[op.result] + i * op.bytes, &old, sizeof(Bits));
      return 0;
    });
  }
  return true;
}

bool Worker::Assert(const TileOp& op) {
  if (op.uniform) return Cell<uint8_t>(op.a) != 0 || TrapAll(ir::Trap::Assert, op.op);
  const auto* condition = reinterpret_cast<const uint8_t*>(frame_.at[op.a]);
  for (size_t i = 0; i < lanes_; ++i)
    if (condition[i] == 0 && (mask_ == nullptr || mask_[i] != 0))
      return TrapLane(i, ir::Trap::Assert, op.op);
  return true;
}

bool Worker::Math(const TileOp& op) {
  std::byte* const inputs[3] = {frame_.at[op.a], At(op.b), At(op.c)};
  return MathOn(op, inputs, frame_.at[op.result], op.uniform ? 1 : lanes_);
}

bool Worker::MathOn(const TileOp& op, std::byte* const* inputs, std::byte* result, size_t lanes) {
  if (const MathFunction function = InstalledMath(op.op, op.type);
      function != nullptr && op.c == NoSlot) {
    function(inputs[0], inputs[1], result, static_cast<int64_t>(lanes));
    return true;
  }
  const TilePlan& plan = *frame_.plan->math[op.extra];
  const FunctionPlan& callee = plan.functions[plan.called];
  return Call(plan, callee, std::span(inputs, callee.params.size()), std::span(&result, 1), lanes);
}

}  // namespace frazil::targets::tiles
