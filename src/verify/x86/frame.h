// What code does with its stack and its run, read from one instruction to the next on every way through it, also where no
// input comes: a `ret` that goes to where it was called from, registers that a caller gets back, calls of helpers and of
// nothing else, stores that belong to the run.
//
// Followed are registers, and words of the stack at a known distance. What is stored through a computed address, or by a function
// that is called, is taken not to hit such a word: that is the part of this that is trusted.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "exec/native/native_code.h"
#include "verify/x86/instruction.h"

namespace frazil::verify::x86 {

// What a register or a word of the stack is known to hold.
struct Held {
  enum class Kind : uint8_t {
    Anything,
    Arguments,
    Run,
    Helpers,  // the table
    Helper,   // one of its entries
    Stack,    // an address
    Kept,     // what that register held when the function was called
    Number,   // a constant
    Half,     // a constant, in a word's lower half
  };
  Kind kind = Kind::Anything;
  bool aligned = false;  // Stack: from where it was rounded down, not from the function's entry
  int64_t number = 0;    // Stack: the distance; Kept: the register; Number, Half: the constant
  bool Is(Kind wanted) const { return kind == wanted; }
  friend bool operator==(const Held&, const Held&) = default;
};

class Frame {
 public:
  Frame(uint32_t function, bool uses_run);

  // Behind an instruction that control goes on from; one sentence where it does what is not allowed.
  Result<void> Step(uint32_t place, const Decoded& decoded);
  Result<void> CheckCall(uint32_t place, const Decoded& decoded, bool is_direct) const;
  Result<void> CheckReturn(uint32_t place) const;
  Frame Called(uint32_t function) const;  // at the entry of a function of its own
  void AfterCall();

  // Of two ways that meet: what both know. False: they do not fit. `changed`: this one knows less now.
  bool Join(const Frame& other, bool& changed);

  const Held& Of(ZydisRegister reg) const { return registers_[NumberOf(reg)]; }
  bool IsStack(const ZydisDecodedOperand& memory) const;
  // A constant that lies on the stack, on every way the same one.
  std::optional<uint64_t> NumberIn(const ZydisDecodedOperand& memory) const;
  uint32_t function() const { return function_; }
  uint64_t depth() const;  // bytes of stack, at most

 private:
  using Word = std::pair<bool, int64_t>;  // aligned, distance
  Result<void> CheckAccess(uint32_t place, const ZydisDecodedOperand& operand) const;
  Result<void> CheckStack(uint32_t place, const ZydisDecodedOperand& operand,
                          const Held& base) const;
  Result<void> Change(uint32_t place, const Decoded& decoded);
  Held Loaded(const ZydisDecodedOperand& memory) const;
  Held WordAt(const Held& base, const ZydisDecodedOperand& memory) const;
  void Store(const ZydisDecodedOperand& memory, const Held& value);
  void Push(const Held& value);
  Held Pop();
  void Set(ZydisRegister reg, const Held& value) { registers_[NumberOf(reg)] = value; }

  uint32_t function_;
  bool uses_run_;
  bool is_entry_ = true;
  uint64_t before_aligned_ = 0;  // bytes of stack when it was rounded down, with what that took
  std::array<Held, GeneralRegisters> registers_;
  std::map<Word, Held> words_;
};

using Frames = std::map<uint32_t, Frame>;  // by leader

// Fails (Unsupported) where some way through the code is not allowed.
Result<Frames> FollowFrames(const Decoder& decoder, const Instructions& instructions,
                            const std::set<uint32_t>& leaders, const exec::NativeImage& image);

}  // namespace frazil::verify::x86
