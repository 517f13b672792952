// Buffers, tables, atomics and streams. Every access is checked against the length.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>

#include "base/check.h"
#include "exec/meaning/interpreter_machine.h"
#include "exec/meaning/scalar_ops.h"

namespace frazil::exec {

using ir::AtomicKind;
using ir::Function;
using ir::Op;

namespace {

bool IsInside(uint64_t index, const Memory& memory) {
  // A negative index is a huge unsigned one.
  return index < static_cast<uint64_t>(memory.length());
}

}  // namespace

Machine::Flow Machine::Load(const ir::Inst& inst) {
  const Memory& memory = *OperandObject(inst, 0).memory;
  const uint64_t index = Operand(inst, 1);
  if (!IsInside(index, memory)) return Trap(ir::Trap::OutOfBounds, inst);
  memory.Get(static_cast<int64_t>(index), WordsOf(Function::result_of(inst)));
  return Flow::Next;
}

Machine::Flow Machine::Store(const ir::Inst& inst) {
  Memory& memory = *OperandObject(inst, 0).memory;
  const uint64_t index = Operand(inst, 1);
  if (!IsInside(index, memory)) return Trap(ir::Trap::OutOfBounds, inst);
  memory.Set(static_cast<int64_t>(index), WordsOf(function().operand(inst, 2)));
  NoteStore(memory, static_cast<int64_t>(index));
  return Flow::Next;
}

std::shared_ptr<Memory> Machine::Allocate(ir::Type element, int64_t length) {
  __extension__ using uint128 = unsigned __int128;
  const uint128 bytes = uint128{static_cast<uint64_t>(length)} * ir::BytesOf(element);
  if (length < 0 || *live_bytes_ + bytes > context_.limits.memory_bytes) return nullptr;
  try {
    auto memory = std::make_unique<Memory>(element, length);
    *live_bytes_ += memory->size_bytes();
    return std::shared_ptr<Memory>(memory.release(), [live = live_bytes_](Memory* ended) {
      *live -= ended->size_bytes();
      delete ended;
    });
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

Machine::Flow Machine::Alloc(const ir::Inst& inst) {
  std::shared_ptr<Memory> memory = Allocate(inst.type, static_cast<int64_t>(Operand(inst, 0)));
  if (memory == nullptr) return Trap(ir::Trap::Memory, inst);
  SetObject(Function::result_of(inst), {std::move(memory), {}});
  return Flow::Next;
}

Machine::Flow Machine::Lookup(const ir::Inst& inst) {
  const ir::Data& table = program_.data[static_cast<size_t>(function().word(inst, 0))];
  const uint64_t index = Operand(inst, 0);
  if (index >= table.length()) return Trap(ir::Trap::OutOfBounds, inst);
  const std::span<uint64_t> result = WordsOf(Function::result_of(inst));
  std::ranges::copy(std::span(table.words).subspan(index * result.size(), result.size()),
                    result.begin());
  return Flow::Next;
}

// `update` gives the new element for the old one, or nothing.
template <typename Update>
Machine::Flow Machine::Atomic(const ir::Inst& inst, Update update) {
  Memory& memory = *OperandObject(inst, 0).memory;
  const uint64_t index = Operand(inst, 1);
  if (!IsInside(index, memory)) return Trap(ir::Trap::OutOfBounds, inst);
  uint64_t old = 0;
  memory.Get(static_cast<int64_t>(index), std::span(&old, 1));
  const std::optional<uint64_t> updated = update(old);
  if (updated) memory.Set(static_cast<int64_t>(index), std::span(&*updated, 1));
  NoteStore(memory, static_cast<int64_t>(index));
  Result0(inst) = old;
  return Flow::Next;
}

Machine::Flow Machine::AtomicRmw(const ir::Inst& inst) {
  return Atomic(inst, [&](uint64_t old) {
    const uint64_t operand = Operand(inst, 2);
    const ir::Scalar type = inst.type.scalar;
    const auto op = CombinerOf(static_cast<AtomicKind>(function().word(inst, 0)));
    return std::optional(op ? *EvalWord(*op, type, type, old, operand) : operand);
  });
}

Machine::Flow Machine::AtomicCas(const ir::Inst& inst) {
  return Atomic(inst, [&](uint64_t old) {
    return old == Operand(inst, 2) ? std::optional(Operand(inst, 3)) : std::nullopt;
  });
}

Machine::Flow Machine::ReadStream(const ir::Inst& inst, const std::vector<Value>& stream,
                                  size_t& position) {
  if (position == stream.size()) return Trap(ir::Trap::OutOfBounds, inst);
  const Value& value = stream[position++];
  if (value.type != inst.type) {
    error_ =
        Error{Diag::WrongArgument,
              fmt::format("value {} of the {} stream is {}, but the program reads {}", position,
                          ir::Info(inst.op).mnemonic, ir::ScalarOrBufferName(value.type),
                          ir::ScalarOrBufferName(inst.type)),
              inst.location};
    stopped_ = true;
    return Flow::Turn;
  }
  std::ranges::copy(value.scalar_words(), WordsOf(Function::result_of(inst)).begin());
  return Flow::Next;
}

Machine::Flow Machine::Output(const ir::Inst& inst) {
  outcome_.output.push_back(Value::Scalar(inst.type, WordsOf(function().operand(inst, 0))));
  return Flow::Next;
}

}  // namespace frazil::exec
