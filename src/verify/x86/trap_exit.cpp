#include "verify/x86/trap_exit.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "embed/native_run.h"

namespace frazil::verify::x86 {
namespace {

using embed::NativeRunLayout;

constexpr int MostInstructions = 64;  // with a function's whole epilogue
constexpr size_t MostBefore = 2000;   // looked at for a number that was set before

bool IsZeroing(const Decoded& decoded) {
  const ZydisDecodedOperand& to = decoded.operands[0];
  const ZydisDecodedOperand& from = decoded.operands[1];
  return decoded.instruction.mnemonic == ZYDIS_MNEMONIC_XOR &&
         to.type == ZYDIS_OPERAND_TYPE_REGISTER && from.type == ZYDIS_OPERAND_TYPE_REGISTER &&
         to.reg.value == from.reg.value;
}

// The constant that it sets its first operand to.
std::optional<uint64_t> ConstantOf(const Decoded& decoded) {
  if (IsZeroing(decoded)) return 0;
  const ZydisDecodedOperand& to = decoded.operands[0];
  const ZydisDecodedOperand& from = decoded.operands[1];
  if (decoded.instruction.mnemonic != ZYDIS_MNEMONIC_MOV || to.size < 32 ||
      from.type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
    return std::nullopt;
  return to.size == 32 ? from.imm.value.u & UINT32_MAX : from.imm.value.u;
}

// A number, or what a register held at the beginning.
struct Value {
  std::optional<uint64_t> number;
  std::optional<size_t> origin;
};

class Walk {
 public:
  Walk(const ReadCode& code, const Frame& frame) : code_(code), frame_(frame) {
    for (size_t i = 0; i < registers_.size(); ++i) registers_[i].origin = i;
  }

  std::optional<TrapExit> From(uint32_t start) {
    uint32_t place = start;
    for (int i = 0; i < MostInstructions; ++i) {
      const auto found = code_.instructions.find(place);
      if (found == code_.instructions.end()) return std::nullopt;
      const Instruction& instruction = found->second;
      if (instruction.flow == Flow::Branch || instruction.flow == Flow::Call) return std::nullopt;
      if (!code_.decoder.Decode(place, now_)) return std::nullopt;
      if (instruction.flow == Flow::End) return AtReturn(start);
      if (instruction.flow == Flow::On && !(Do() && Follow(place))) return std::nullopt;
      place = instruction.flow == Flow::Jump ? *instruction.target : instruction.next;
    }
    return std::nullopt;
  }

 private:
  std::optional<TrapExit> AtReturn(uint32_t start) const {
    if (now_.instruction.meta.category != ZYDIS_CATEGORY_RET || !op_ || !has_index_)
      return std::nullopt;
    const auto status = NumberAt(start, registers_[NumberOf(ZYDIS_REGISTER_RAX)]);
    const auto op = NumberAt(start, *op_);
    if (!status || !op) return std::nullopt;
    return TrapExit{static_cast<uint32_t>(*status), static_cast<uint32_t>(*op)};
  }

  // A value as it is on every way to `place`: the greatest of them.
  std::optional<uint64_t> NumberAt(uint32_t place, const Value& value) const {
    if (value.number || !value.origin) return value.number;
    std::optional<uint64_t> number;
    std::set<uint32_t> seen;
    std::vector<uint32_t> open = {place};
    while (!open.empty()) {
      const uint32_t here = open.back();
      open.pop_back();
      const auto [first, last] = code_.before.equal_range(here);
      if (first == last || here == code_.entry) return std::nullopt;  // whatever the caller left
      for (auto way = first; way != last; ++way) {
        if (!seen.insert(way->second).second) continue;
        if (seen.size() > MostBefore) return std::nullopt;
        const Instruction& instruction = code_.instructions.at(way->second);
        if (instruction.flow == Flow::Call && instruction.target == here) return std::nullopt;
        if (instruction.flow == Flow::Call) {
          if (!IsKeptByCalls(*value.origin)) return std::nullopt;
          open.push_back(way->second);
          continue;
        }
        Decoded decoded;
        if (!code_.decoder.Decode(way->second, decoded)) return std::nullopt;
        if (!Writes(decoded, *value.origin)) {
          open.push_back(way->second);
          continue;
        }
        const auto constant = ConstantOf(decoded);
        if (!constant || *constant == 0) return std::nullopt;
        number = std::max(number.value_or(0), *constant);
      }
    }
    return number;
  }

  static bool Writes(const Decoded& decoded, size_t number) {
    for (size_t i = 0; i < decoded.instruction.operand_count; ++i) {
      const ZydisDecodedOperand& operand = decoded.operands[i];
      if (IsWritten(operand) && operand.type == ZYDIS_OPERAND_TYPE_REGISTER &&
          IsGeneral(operand.reg.value) && NumberOf(operand.reg.value) == number)
        return true;
    }
    return false;
  }

  // Memory of this frame; what is written there must be told from what else is.
  bool IsOfStack(const ZydisDecodedOperand& operand) const {
    return frame_.IsStack(operand) &&
           (operand.mem.index == ZYDIS_REGISTER_NONE || !IsWritten(operand));
  }

  // What was pushed is there as long as nothing else is done to the stack.
  bool Follow(uint32_t place) {
    const ZydisMnemonic mnemonic = now_.instruction.mnemonic;
    const Held top = frame_.Of(ZYDIS_REGISTER_RSP);
    if (!frame_.Step(place, now_)) return false;
    if (mnemonic == ZYDIS_MNEMONIC_PUSH || mnemonic == ZYDIS_MNEMONIC_POP) return true;
    bool is_touched = frame_.Of(ZYDIS_REGISTER_RSP) != top;
    for (size_t i = 0; i < now_.instruction.operand_count; ++i)
      is_touched = is_touched || (now_.operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
                                  IsWritten(now_.operands[i]));
    if (is_touched) pushed_.clear();
    return true;
  }

  Value ValueOf(const ZydisDecodedOperand& operand) const {
    if (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) return {operand.imm.value.u, {}};
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) return {frame_.NumberIn(operand), {}};
    if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER || !IsGeneral(operand.reg.value) ||
        operand.size < 32)
      return {};
    return registers_[NumberOf(operand.reg.value)];
  }

  bool Do() {
    const ZydisDecodedOperand& to = now_.operands[0];
    Value value;
    switch (now_.instruction.mnemonic) {
      case ZYDIS_MNEMONIC_MOV:
        value = ValueOf(now_.operands[1]);
        if (to.type == ZYDIS_OPERAND_TYPE_MEMORY && !IsOfStack(to)) return StoreToRun(to, value);
        break;
      case ZYDIS_MNEMONIC_XOR:
        if (IsZeroing(now_)) value = {0, {}};
        break;
      case ZYDIS_MNEMONIC_PUSH:
        pushed_.push_back(ValueOf(to));
        return to.type != ZYDIS_OPERAND_TYPE_MEMORY || IsOfStack(to);
      case ZYDIS_MNEMONIC_POP:
        if (to.type != ZYDIS_OPERAND_TYPE_REGISTER) return false;
        if (!pushed_.empty()) {
          value = pushed_.back();
          pushed_.pop_back();
        }
        Set(to, value);
        return true;
      case ZYDIS_MNEMONIC_DIV:
      case ZYDIS_MNEMONIC_IDIV: return false;  // may not come back
      default: break;
    }
    for (size_t i = 0; i < now_.instruction.operand_count; ++i) {
      const ZydisDecodedOperand& operand = now_.operands[i];
      const bool is_no_access = now_.instruction.mnemonic == ZYDIS_MNEMONIC_LEA ||
                                now_.instruction.mnemonic == ZYDIS_MNEMONIC_NOP;
      if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY && !is_no_access && !IsOfStack(operand))
        return false;
      if (IsWritten(operand) && operand.type == ZYDIS_OPERAND_TYPE_REGISTER)
        Set(operand, i == 0 ? value : Value());
    }
    return true;
  }

  void Set(const ZydisDecodedOperand& operand, Value value) {
    if (!IsGeneral(operand.reg.value)) return;
    if (operand.size < 32) value = {};
    if (value.number && operand.size == 32) *value.number &= UINT32_MAX;
    registers_[NumberOf(operand.reg.value)] = value;
  }

  bool StoreToRun(const ZydisDecodedOperand& to, const Value& value) {
    const bool is_run = to.mem.index == ZYDIS_REGISTER_NONE && IsGeneral(to.mem.base) &&
                        frame_.Of(to.mem.base).Is(Held::Kind::Run);
    if (!is_run) return false;
    const auto place = static_cast<uint64_t>(to.mem.disp.value);
    if (place == NativeRunLayout::TrapIndex && to.size == 64) return has_index_ = true;
    if (place != NativeRunLayout::TrapOp || to.size != 32) return false;
    op_ = value;
    return true;
  }

  const ReadCode& code_;
  Frame frame_;
  Decoded now_;
  std::array<Value, GeneralRegisters> registers_;
  std::vector<Value> pushed_;
  std::optional<Value> op_;
  bool has_index_ = false;
};

}  // namespace

std::optional<TrapExit> FollowTrapExit(const ReadCode& code, uint32_t place) {
  const auto frame = code.frames.find(place);
  if (frame == code.frames.end()) return std::nullopt;
  return Walk(code, frame->second).From(place);
}

}  // namespace frazil::verify::x86
