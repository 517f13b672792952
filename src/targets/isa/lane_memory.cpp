// Memory of the lane-exact executor: every address is found and checked before anything is read or written.
#include <bit>
#include <cstring>
#include <new>

#include "base/check.h"
#include "exec/meaning/scalar_ops.h"
#include "targets/isa/lane_machine.h"
#include "targets/isa/simt_names.h"

namespace frazil::targets::isa {

using ir::Op;
using namespace simt_names;

namespace {

uint64_t SizeOf(Type type) { return ir::BytesOf(ir::Type::Of(type)); }

// Bytes of any origin as the one representation of a value.
uint64_t ReadWord(Type type, const std::byte* data) {
  uint64_t word = 0;
  std::memcpy(&word, data, SizeOf(type));
  if (type == Type::Bool) return word != 0;
  int unused = 64 - ir::BitsOf(ir::Type::Of(type));
  if (!ir::IsSigned(type)) return word;
  return static_cast<uint64_t>(static_cast<int64_t>(word << unused) >> unused);
}

void WriteWord(Type type, std::byte* data, uint64_t word) {
  std::memcpy(data, &word, SizeOf(type));
}

bool Inside(uint64_t offset, uint64_t size, uint64_t bytes) {
  return offset <= bytes && size <= bytes - offset;
}

}  // namespace

std::optional<LaneMachine::Spot> LaneMachine::FindIn(exec::Memory& memory, uint64_t offset,
                                                     uint64_t size) const {
  if (!Inside(offset, size, memory.size_bytes())) return std::nullopt;
  return Spot{memory.data() + offset};
}

// A buffer by its number, or a pool. Rules that the verifier cannot see here hold at run time.
std::optional<LaneMachine::Spot> LaneMachine::FindByHandle(Lane& lane, const Instruction& i,
                                                           uint64_t offset, bool writes) {
  uint64_t handle = lane.registers[i.a], size = SizeOf(i.type);
  if (handle < lane.buffers.size()) {
    const machines::simt::BufferRow& row = module_.buffers[handle];
    uint8_t needed = static_cast<uint8_t>(writes ? ir::Access::Out : ir::Access::In);
    bool allowed = (static_cast<uint8_t>(row.access) & needed) != 0 &&
                   (row.type != Type::Bool || i.type == Type::Bool);
    if (!allowed || lane.buffers[handle] == nullptr) return std::nullopt;
    return FindIn(*lane.buffers[handle], offset, size);
  }
  auto pool = pools_.find(handle);
  if (pool == pools_.end() || !Inside(offset, size, pool->second.size())) return std::nullopt;
  return Spot{pool->second.data() + offset};
}

std::optional<LaneMachine::Spot> LaneMachine::Find(Lane& lane, const Instruction& i, bool writes) {
  uint64_t size = SizeOf(i.type), offset = i.imm;
  bool shared = i.op == Opcode::Lds || i.op == Opcode::Sts;
  if (i.op == Opcode::AtomCas) offset = 0;  // imm is a register there
  switch (i.address()) {
    case Address::Offset: break;
    case Address::Bytes: offset += lane.registers[i.b]; break;
    case Address::Elements: {
      uint64_t element = lane.registers[i.b];
      if (element > UINT64_MAX / 8) return std::nullopt;
      offset = element * size;
      break;
    }
    case Address::Phi: return Spot{phi_.data() + i.imm};
    case Address::Handle: return FindByHandle(lane, i, offset, writes);
    case Address::HandleBytes: return FindByHandle(lane, i, lane.registers[i.b], writes);
  }
  if (!shared) return FindIn(*lane.buffers[i.a], offset, size);
  if (!Inside(offset, size, shared_.size())) return std::nullopt;
  return Spot{shared_.data() + offset};
}

std::optional<Stop> LaneMachine::Access(Lane& lane, const Instruction& i) {
  bool writes = i.op != Opcode::Ldg && i.op != Opcode::Lds;
  std::optional<Spot> spot = Find(lane, i, writes);
  if (!spot) return TrapNow(ir::Trap::OutOfBounds, i);
  switch (i.op) {
    case Opcode::Ldg:
    case Opcode::Lds: Set(lane, i.type, i.dst, ReadWord(i.type, spot->data)); return {};
    case Opcode::Stg:
    case Opcode::Sts: WriteWord(i.type, spot->data, Get(lane, i.type, i.c)); return {};
    case Opcode::Atom: {
      uint64_t old = ReadWord(i.type, spot->data), operand = lane.registers[i.c];
      std::optional<Op> combiner = CombinerOf(i.atomic_kind());
      WriteWord(i.type, spot->data,
                combiner ? *exec::EvalWord(*combiner, i.type, i.type, old, operand) : operand);
      lane.registers[i.dst] = old;
      return {};
    }
    case Opcode::AtomCas: {
      uint64_t old = ReadWord(i.type, spot->data);
      if (old == lane.registers[i.c]) WriteWord(i.type, spot->data, lane.registers[i.imm]);
      lane.registers[i.dst] = old;
      return {};
    }
    default: CHECK(!"an access"); return {};
  }
}

std::shared_ptr<exec::Memory> LaneMachine::MakeMemory(Type type, int64_t length) {
  if (length < 0 || !TakeBytes(*live_bytes_, static_cast<uint64_t>(length), SizeOf(type)))
    return nullptr;
  try {
    auto memory = std::make_unique<exec::Memory>(ir::Type::Of(type), length);
    return {memory.release(), [live = live_bytes_](exec::Memory* m) {
              *live -= m->size_bytes();
              delete m;
            }};
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

std::optional<Stop> LaneMachine::Allocate(Lane& lane, const Instruction& i) {
  std::shared_ptr<exec::Memory> memory =
      MakeMemory(i.type, static_cast<int64_t>(lane.registers[i.a]));
  if (memory == nullptr) return TrapNow(ir::Trap::Memory, i);
  lane.buffers[i.dst] = std::move(memory);
  lane.allocated.push_back(i.dst);
  return {};
}

std::optional<Stop> LaneMachine::PoolOp(Lane& lane, const Instruction& i) {
  if (i.op == Opcode::PoolFree) {
    auto pool = pools_.find(lane.registers[i.a]);
    if (pool == pools_.end()) return TrapNow(ir::Trap::OutOfBounds, i);
    *live_bytes_ -= pool->second.size() + 64;
    pools_.erase(pool);
    return {};
  }
  uint64_t bytes = lane.registers[i.a];
  if (bytes > UINT64_MAX - 64 || !TakeBytes(*live_bytes_, bytes + 64, 1))
    return TrapNow(ir::Trap::Memory, i);
  uint64_t handle = next_pool_++;
  pools_[handle].resize(bytes);
  lane.registers[i.dst] = handle;
  return {};
}

std::optional<Stop> LaneMachine::RangeReduce(Lane& lane, const Instruction& i) {
  exec::Memory& memory = *lane.buffers[i.a];
  uint64_t begin = lane.registers[i.b], count = lane.registers[i.c];
  if (!Inside(begin, count, static_cast<uint64_t>(memory.length())))
    return TrapNow(ir::Trap::OutOfBounds, i);
  std::vector<uint64_t> words(count);
  for (uint64_t e = 0; e < count; ++e)
    memory.Get(static_cast<int64_t>(begin + e), std::span(&words[e], 1));
  lane.registers[i.dst] = Fold(static_cast<ir::ReduceKind>(i.aux), i.type, words);
  return {};
}

std::optional<Stop> LaneMachine::Step(Lane& lane, const Instruction& i, uint32_t at) {
  switch (i.op) {
    case Opcode::Ldg:
    case Opcode::Stg:
    case Opcode::Lds:
    case Opcode::Sts:
    case Opcode::Atom:
    case Opcode::AtomCas: return Access(lane, i);
    case Opcode::Alloc: return Allocate(lane, i);
    case Opcode::Len:
      lane.registers[i.dst] = static_cast<uint64_t>(lane.buffers[i.a]->length());
      return {};
    case Opcode::PoolAlloc:
    case Opcode::PoolFree: return PoolOp(lane, i);
    case Opcode::RangeReduce: return RangeReduce(lane, i);
    case Opcode::If:
    case Opcode::Else:
    case Opcode::For:
    case Opcode::While:
    case Opcode::BreakUnless:
    case Opcode::Switch:
    case Opcode::Case:
    case Opcode::Default:
    case Opcode::Par:
    case Opcode::End:
    case Opcode::Carry:
    case Opcode::Assert:
    case Opcode::Trap:
    case Opcode::Exit:
    case Opcode::Bra:
    case Opcode::Call:
    case Opcode::Ret:
    case Opcode::Loop:
    case Opcode::MemFence: return Control(lane, i, at);
    default: return Compute(lane, i);
  }
}

}  // namespace frazil::targets::isa
