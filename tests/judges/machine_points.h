// Points for the Triton VM: edge values, small numbers, the programs' own constants and their neighbors.
#pragma once

#include <array>
#include <vector>

#include "base/number/goldilocks.h"
#include "judges/choices.h"
#include "machines/tasm/fragment.h"

namespace frazil::tests {

using Constants = std::vector<uint64_t>;  // of the programs

inline uint64_t DrawWord(const Constants& constants, Choices& choices) {
  constexpr uint64_t Edges[] = {0,
                                1,
                                2,
                                goldilocks::P - 1,
                                goldilocks::P - 2,
                                0xffff'ffff,
                                0x1'0000'0000,
                                0x1'0000'0001,
                                0x8000'0000,
                                goldilocks::P / 2,
                                goldilocks::P / 2 + 1};
  switch (choices.Below(6)) {
    case 0: return choices.OneOf(Edges);
    case 1:
    case 2: return choices.Below(6);
    case 3:
      if (!constants.empty())
        return goldilocks::Add(choices.OneOf(constants) % goldilocks::P,
                               choices.OneOf(std::array<uint64_t, 3>{0, 1, goldilocks::P - 1}));
      return choices.Below(100);
    case 4: return choices.Next() & 0xffff'ffff;
    default: return choices.Next() % goldilocks::P;
  }
}

// Where a run of a fragment or program begins; a program has its own stack.
struct Start {
  machines::tasm::FragmentStart fragment;
  machines::tasm::Inputs inputs;
};

inline Start DrawStart(const Constants& constants, Choices& choices) {
  Start start;
  const bool small = choices.Chance(30), alike = choices.Chance(15);
  const uint64_t same = DrawWord(constants, choices);
  auto word = [&] {
    return alike ? same : small ? choices.Below(5) : DrawWord(constants, choices);
  };
  for (uint64_t i = 16 + choices.Below(8); i > 0; --i) start.fragment.stack.push_back(word());
  for (int i = 0; i < 14; ++i) start.inputs.input.push_back(word());
  for (int i = 0; i < 10; ++i) start.inputs.secret.push_back(word());
  for (int i = 0; i < 3; ++i)
    start.inputs.digests.push_back({word(), word(), word(), word(), word()});
  for (int i = 0; i < 8; ++i)
    start.inputs.ram[choices.Chance(50) ? choices.Below(12) : word()] = word();
  if (choices.Chance(50)) {
    start.fragment.sponge.emplace();
    for (uint64_t& element : start.fragment.sponge->elements) element = word();
  }
  return start;
}

}  // namespace frazil::tests
