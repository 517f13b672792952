// Moves on a symbolic stack, and their price.
#pragma once

#include <algorithm>
#include <vector>

#include "targets/tasm/words/word_program.h"

namespace frazil::targets::tasm {

using Stack = std::vector<Word>;  // top last

struct Step {
  enum class Kind : uint8_t { Push, Load, Dup, Pick, Place, Swap, Pop, Store, Node } kind;
  // Dup, Pick, Place, Swap: depth. Pop: count. Node: the node.
  uint32_t number = 0;
  Word word = NoWord;   // Push: the constant; Load, Store: the word in RAM
  uint8_t variant = 0;  // Node: InVariant of its inputs
};
using Steps = std::vector<Step>;

// The inputs of an instruction in another order that means the same. Bit 0: the two halves the other way round. Bit 1:
// each half backwards.
inline std::vector<Word> InVariant(std::vector<Word> inputs, uint8_t variant) {
  const auto middle = inputs.begin() + static_cast<ptrdiff_t>(inputs.size() / 2);
  if ((variant & 2) != 0) {
    std::reverse(inputs.begin(), middle);
    std::reverse(middle, inputs.end());
  }
  if ((variant & 1) != 0) std::rotate(inputs.begin(), middle, inputs.end());
  return inputs;
}

// Words and rows that a step adds. An instruction that has to be there anyway costs nothing.
int CostOf(const Step& step);
int CostOf(const Steps& steps);

// Whether a word can be had without being on the stack: constants, and words kept in RAM.
struct Elsewhere {
  const WordFunction& f;
  const std::vector<bool>& in_ram;
  bool IsConst(Word w) const { return f.is_const(w); }
  bool InRam(Word w) const { return w < in_ram.size() && in_ram[w]; }
};

inline constexpr uint32_t Reach = 16;
// The least depth, at least `from`, at which the word lies; UINT32_MAX: it does not.
inline uint32_t DepthOf(const Stack& stack, Word w, uint32_t from = 0) {
  for (size_t i = stack.size() - std::min<size_t>(from, stack.size()); i-- > 0;)
    if (stack[i] == w) return static_cast<uint32_t>(stack.size() - 1 - i);
  return UINT32_MAX;
}

void Apply(Stack& stack, const Step& step);  // anything but nodes

// Steps that turn the stack into exactly the target. False: something lies too deep; `deep` says what.
bool Arrange(const Stack& stack, const Stack& target, const Elsewhere& elsewhere, Steps& steps,
             Word& deep);

}  // namespace frazil::targets::tasm
