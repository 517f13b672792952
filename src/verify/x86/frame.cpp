#include "verify/x86/frame.h"

#include <fmt/format.h>

#include <algorithm>

#include "embed/native_run.h"

namespace frazil::verify::x86 {
namespace {

using Kind = Held::Kind;
using embed::NativeRunLayout;

constexpr int64_t WordBytes = 8;
constexpr int64_t RedZoneBytes = 128;  // below the stack pointer, which no signal touches
constexpr int64_t RunBytes = NativeRunLayout::TrapOp + 4;  // that code may look at
constexpr int64_t HelperBytes = embed::NativeHelperCount * WordBytes;

bool HasIndex(const ZydisDecodedOperand& operand) {
  return operand.mem.index != ZYDIS_REGISTER_NONE;
}
bool HasBase(const ZydisDecodedOperand& operand) {
  return operand.mem.base != ZYDIS_REGISTER_NONE && operand.mem.base != ZYDIS_REGISTER_RIP;
}
bool IsWholeRegister(const ZydisDecodedOperand& operand) {
  return operand.type == ZYDIS_OPERAND_TYPE_REGISTER && operand.size == 64 &&
         IsGeneral(operand.reg.value);
}
bool IsRunField(int64_t at, int64_t bytes) {
  if (at == NativeRunLayout::TrapOp) return bytes == 4;
  return bytes == WordBytes && (at == NativeRunLayout::Fuel || at == NativeRunLayout::DepthLeft ||
                                at == NativeRunLayout::Scratch || at == NativeRunLayout::TrapIndex);
}

// What a `mov` of a constant leaves in memory.
Held ConstantFor(const ZydisDecodedOperand& to, const ZydisDecodedOperand& from) {
  if (to.size != 32 && to.size != 64) return {};
  return {to.size == 64 ? Kind::Number : Kind::Half, false, from.imm.value.s};
}

}  // namespace

Frame::Frame(uint32_t function, bool uses_run) : function_(function), uses_run_(uses_run) {
  for (size_t i = 0; i < GeneralRegisters; ++i)
    if (IsKeptByCalls(i)) registers_[i] = {Kind::Kept, false, static_cast<int64_t>(i)};
  Set(ZYDIS_REGISTER_RSP, {Kind::Stack, false, 0});
  Set(ZYDIS_REGISTER_RDI, {Kind::Arguments});
  Set(ZYDIS_REGISTER_RDX, {Kind::Run});
}

bool Frame::IsStack(const ZydisDecodedOperand& memory) const {
  return HasBase(memory) && IsGeneral(memory.mem.base) && Of(memory.mem.base).Is(Kind::Stack);
}

uint64_t Frame::depth() const {
  const Held& top = Of(ZYDIS_REGISTER_RSP);
  return (top.aligned ? before_aligned_ : 0) +
         static_cast<uint64_t>(std::max<int64_t>(-top.number, 0));
}

Frame Frame::Called(uint32_t function) const {
  Frame called(function, uses_run_);
  called.is_entry_ = false;
  for (size_t i = 0; i < GeneralRegisters; ++i) {
    if (IsKeptByCalls(i) || i == NumberOf(ZYDIS_REGISTER_RSP)) continue;
    const Held& held = registers_[i];
    called.registers_[i] =
        held.Is(Kind::Stack) || held.Is(Kind::Kept) ? Held() : held;  // of another frame
  }
  return called;
}

void Frame::AfterCall() {
  for (size_t i = 0; i < GeneralRegisters; ++i)
    if (!IsKeptByCalls(i) && i != NumberOf(ZYDIS_REGISTER_RSP)) registers_[i] = {};
  // What lies below the stack is anybody's.
  const Held& top = Of(ZYDIS_REGISTER_RSP);
  std::erase_if(words_, [&](const auto& word) {
    return word.first.first == top.aligned && word.first.second < top.number;
  });
}

bool Frame::Join(const Frame& other, bool& changed) {
  if (Of(ZYDIS_REGISTER_RSP) != other.Of(ZYDIS_REGISTER_RSP) || function_ != other.function_)
    return false;
  for (size_t i = 0; i < GeneralRegisters; ++i) {
    if (registers_[i] == other.registers_[i] || registers_[i] == Held()) continue;
    registers_[i] = {};
    changed = true;
  }
  const size_t before = words_.size();
  std::erase_if(words_, [&](const auto& word) {
    const auto found = other.words_.find(word.first);
    return found == other.words_.end() || found->second != word.second;
  });
  if (other.before_aligned_ > before_aligned_) {
    before_aligned_ = other.before_aligned_;
    changed = true;
  }
  changed = changed || words_.size() != before;
  return true;
}

Result<void> Frame::CheckStack(uint32_t place, const ZydisDecodedOperand& operand,
                               const Held& base) const {
  if (HasIndex(operand)) return {};
  const int64_t at = base.number + operand.mem.disp.value;
  const Held& top = Of(ZYDIS_REGISTER_RSP);
  if (base.aligned == top.aligned && at < top.number - RedZoneBytes)
    return Refuse(place, "uses memory below its stack");
  // Words that are given to a function of its own are its own.
  const int64_t end = is_entry_ ? 0 : at < WordBytes ? 0 : INT64_MAX;
  if (!base.aligned && at + BytesOf(operand) > end)
    return Refuse(place, "uses the stack of its caller");
  return {};
}

Result<void> Frame::CheckAccess(uint32_t place, const ZydisDecodedOperand& operand) const {
  const auto& memory = operand.mem;
  if (memory.segment == ZYDIS_REGISTER_FS || memory.segment == ZYDIS_REGISTER_GS)
    return Refuse(place, "uses memory of its thread");
  const bool written = IsWritten(operand);
  if (memory.base == ZYDIS_REGISTER_RIP) {
    if (written) return Refuse(place, "writes among its own code");
    return {};
  }
  if (memory.base == ZYDIS_REGISTER_NONE)
    return HasIndex(operand) ? Result<void>() : Refuse(place, "uses memory at a fixed place");
  if (!IsGeneral(memory.base)) return {};
  const Held& base = Of(memory.base);
  const int64_t at = memory.disp.value;
  switch (base.kind) {
    case Kind::Stack: return CheckStack(place, operand, base);
    case Kind::Arguments:
      if (written) return Refuse(place, "writes its arguments");
      return {};
    case Kind::Run:
      if (!uses_run_) return Refuse(place, "uses its run, and says that it does not");
      if (HasIndex(operand) || at < 0 || at + BytesOf(operand) > RunBytes ||
          (written && !IsRunField(at, BytesOf(operand))))
        return Refuse(
            place, written ? "writes its run where it may not" : "reads its run where it may not");
      return {};
    case Kind::Helpers:
      if (written || HasIndex(operand) || at < 0 || at >= HelperBytes || at % WordBytes != 0 ||
          operand.size != 64)
        return Refuse(place, "uses the table of helpers for something else than a call");
      return {};
    case Kind::Helper: return Refuse(place, "uses the code of a helper as memory");
    case Kind::Anything:
    case Kind::Kept:
    case Kind::Number:
    case Kind::Half: return {};
  }
  return {};
}

Held Frame::WordAt(const Held& base, const ZydisDecodedOperand& memory) const {
  const auto found = words_.find({base.aligned, base.number + memory.mem.disp.value});
  return found == words_.end() ? Held() : found->second;
}

std::optional<uint64_t> Frame::NumberIn(const ZydisDecodedOperand& memory) const {
  if (!IsMemory(memory) || !IsStack(memory) || HasIndex(memory)) return std::nullopt;
  const Held held = WordAt(Of(memory.mem.base), memory);
  const auto number = static_cast<uint64_t>(held.number);
  if (memory.size == 32 && (held.Is(Kind::Number) || held.Is(Kind::Half)))
    return number & UINT32_MAX;
  return memory.size == 64 && held.Is(Kind::Number) ? std::optional(number) : std::nullopt;
}

Held Frame::Loaded(const ZydisDecodedOperand& memory) const {
  if (!HasBase(memory) || HasIndex(memory) || memory.size != 64 || !IsGeneral(memory.mem.base))
    return {};
  const Held& base = Of(memory.mem.base);
  const int64_t at = memory.mem.disp.value;
  if (base.Is(Kind::Run) && at == NativeRunLayout::Helpers) return {Kind::Helpers};
  if (base.Is(Kind::Helpers)) return {Kind::Helper};
  if (!base.Is(Kind::Stack)) return {};
  const Held held = WordAt(base, memory);
  return held.Is(Kind::Half) ? Held() : held;
}

void Frame::Store(const ZydisDecodedOperand& memory, const Held& value) {
  if (!IsStack(memory) || HasIndex(memory)) return;
  const Held& base = Of(memory.mem.base);
  const int64_t at = base.number + memory.mem.disp.value;
  std::erase_if(words_, [&](const auto& word) {
    return word.first.first == base.aligned && word.first.second < at + BytesOf(memory) &&
           at < word.first.second + WordBytes;
  });
  const int wanted = value.Is(Kind::Half) ? 32 : 64;
  if (value != Held() && memory.size == wanted) words_[{base.aligned, at}] = value;
}

void Frame::Push(const Held& value) {
  Held& top = registers_[NumberOf(ZYDIS_REGISTER_RSP)];
  top.number -= WordBytes;
  words_.erase({top.aligned, top.number});
  if (value != Held()) words_[{top.aligned, top.number}] = value;
}

Held Frame::Pop() {
  Held& top = registers_[NumberOf(ZYDIS_REGISTER_RSP)];
  const auto found = words_.find({top.aligned, top.number});
  const Held value = found == words_.end() ? Held() : found->second;
  top.number += WordBytes;
  return value;
}

Result<void> Frame::Step(uint32_t place, const Decoded& decoded) {
  // What these do with the stack is done below.
  const ZydisMnemonic mnemonic = decoded.instruction.mnemonic;
  const bool is_stack = mnemonic == ZYDIS_MNEMONIC_PUSH || mnemonic == ZYDIS_MNEMONIC_POP ||
                        mnemonic == ZYDIS_MNEMONIC_LEAVE;
  const bool is_nop = decoded.instruction.meta.category == ZYDIS_CATEGORY_NOP ||
                      decoded.instruction.meta.category == ZYDIS_CATEGORY_WIDENOP ||
                      decoded.instruction.meta.category == ZYDIS_CATEGORY_PREFETCH;
  for (size_t i = 0; i < decoded.instruction.operand_count; ++i) {
    const ZydisDecodedOperand& operand = decoded.operands[i];
    if (!IsMemory(operand) || is_nop) continue;
    if (is_stack && operand.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN) continue;
    TRY_VOID(CheckAccess(place, operand));
  }
  TRY_VOID(Change(place, decoded));
  const Held& top = Of(ZYDIS_REGISTER_RSP);
  if (!top.Is(Kind::Stack) || (!top.aligned && top.number > 0))
    return Refuse(place, "does what cannot be followed with its stack");
  return {};
}

Result<void> Frame::Change(uint32_t place, const Decoded& decoded) {
  const ZydisDecodedOperand& to = decoded.operands[0];
  const ZydisDecodedOperand& from = decoded.operands[1];
  switch (decoded.instruction.mnemonic) {
    case ZYDIS_MNEMONIC_PUSH:
      if (decoded.instruction.operand_width != 64) return Refuse(place, "pushes half a word");
      Push(IsWholeRegister(to) ? Of(to.reg.value) : Held());
      return {};
    case ZYDIS_MNEMONIC_POP:
      if (!IsWholeRegister(to)) return Refuse(place, "pops something else than a register");
      Set(to.reg.value, Pop());
      return {};
    case ZYDIS_MNEMONIC_LEAVE:
      Set(ZYDIS_REGISTER_RSP, Of(ZYDIS_REGISTER_RBP));
      Set(ZYDIS_REGISTER_RBP, Pop());
      return {};
    case ZYDIS_MNEMONIC_MOV:
      if (IsWholeRegister(to)) {
        Set(to.reg.value, IsWholeRegister(from) ? Of(from.reg.value)
                          : IsMemory(from)      ? Loaded(from)
                                                : Held());
        return {};
      }
      if (IsMemory(to)) {
        Store(to, IsWholeRegister(from)                       ? Of(from.reg.value)
                  : from.type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? ConstantFor(to, from)
                                                              : Held());
        return {};
      }
      break;
    case ZYDIS_MNEMONIC_LEA:
      if (!IsWholeRegister(to)) break;
      if (IsStack(from) && !HasIndex(from)) {
        Held address = Of(from.mem.base);
        address.number += from.mem.disp.value;
        Set(to.reg.value, address);
        return {};
      }
      break;
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
      if (IsWholeRegister(to) && Of(to.reg.value).Is(Kind::Stack) &&
          from.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        Held address = Of(to.reg.value);
        address.number += decoded.instruction.mnemonic == ZYDIS_MNEMONIC_ADD ? from.imm.value.s
                                                                             : -from.imm.value.s;
        Set(to.reg.value, address);
        return {};
      }
      break;
    case ZYDIS_MNEMONIC_AND:
      if (IsWholeRegister(to) && to.reg.value == ZYDIS_REGISTER_RSP &&
          from.type == ZYDIS_OPERAND_TYPE_IMMEDIATE && from.imm.value.s < 0 &&
          !Of(ZYDIS_REGISTER_RSP).aligned) {
        before_aligned_ = depth() + static_cast<uint64_t>(-from.imm.value.s);
        Set(ZYDIS_REGISTER_RSP, {Kind::Stack, true, 0});
        return {};
      }
      break;
    default: break;
  }
  for (size_t i = 0; i < decoded.instruction.operand_count; ++i) {
    const ZydisDecodedOperand& operand = decoded.operands[i];
    if (!IsWritten(operand)) continue;
    if (IsMemory(operand)) Store(operand, {});
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER && IsGeneral(operand.reg.value))
      Set(operand.reg.value, {});
  }
  return {};
}

Result<void> Frame::CheckCall(uint32_t place, const Decoded& decoded, bool is_direct) const {
  if (is_direct) return {};
  const ZydisDecodedOperand& to = decoded.operands[0];
  if (IsMemory(to)) TRY_VOID(CheckAccess(place, to));
  const Held target = IsWholeRegister(to) ? Of(to.reg.value) : IsMemory(to) ? Loaded(to) : Held();
  if (!target.Is(Kind::Helper)) return Refuse(place, "calls something else than a helper");
  return {};
}

Result<void> Frame::CheckReturn(uint32_t place) const {
  if (Of(ZYDIS_REGISTER_RSP) != Held{Kind::Stack, false, 0})
    return Refuse(place, "does not return to its caller");
  for (size_t i = 0; i < GeneralRegisters; ++i)
    if (IsKeptByCalls(i) && registers_[i] != Held{Kind::Kept, false, static_cast<int64_t>(i)})
      return Refuse(
          place,
          fmt::format("returns with another {} than it was called with",
                      ZydisRegisterGetString(static_cast<ZydisRegister>(ZYDIS_REGISTER_RAX + i))));
  return {};
}

}  // namespace frazil::verify::x86
