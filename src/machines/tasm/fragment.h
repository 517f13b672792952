// Runs a piece of code from a given stack, for who compares pieces: it ends where a program would run off its end.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "machines/tasm/tip5/tip5.h"
#include "machines/tasm/vm.h"

namespace frazil::machines::tasm {

struct FragmentStart {
  // Top last. Zeros are put below it until it has sixteen elements.
  std::vector<uint64_t> stack = {};
  std::optional<Tip5State> sponge = {};  // none: not initialized
  uint32_t instruction = 0;
  // As if this instruction had been called: `return` then ends the fragment, `recurse` starts it again.
  bool called = false;
  // Where there is one: has an entry for each instruction of the program, in which is noted what of Ran it did.
  std::vector<uint8_t>* ran = nullptr;
  // What lies in RAM where Inputs::ram says nothing, for who wants no zeros there: asked once for each word that is read
  // before it is written, and for no other.
  std::function<uint64_t(uint64_t address)> found = {};
};

// Bits of what an instruction did in a run. A `skiz` can do both, and so can a `recurse_or_return`.
struct Ran {
  static constexpr uint8_t Was = 1;   // it came to its end
  static constexpr uint8_t On = 2;    // skiz did not skip; recurse_or_return returned
  static constexpr uint8_t Else = 4;  // skiz skipped; recurse_or_return recursed
};

struct FragmentResult {
  std::optional<Crash> crash;
  bool halted = false;          // by `halt`; else it came to the end
  std::vector<uint64_t> stack;  // top last
  std::vector<uint64_t> output;
  std::unordered_map<uint64_t, uint64_t> written;  // RAM: last value of every address written
  std::optional<Tip5State> sponge;
  size_t inputs_read = 0, secrets_read = 0, digests_read = 0;
  uint64_t cycles = 0;
};

FragmentResult RunFragment(const Program& program, const FragmentStart& start, const Inputs& inputs,
                           const RunLimits& limits = {});

}  // namespace frazil::machines::tasm
