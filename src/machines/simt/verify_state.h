// What the verifier knows at one place of the code: the type of every register, predicate and buffer, and how deep in
// PARs it was made. Reached through verify.h.
#pragma once

#include <array>
#include <bitset>
#include <memory>
#include <string>

#include "machines/simt/module.h"
#include "machines/simt/operands.h"

namespace frazil::machines::simt {

using PlaceSet = std::bitset<PlaceCount>;

struct State {
  static constexpr uint8_t Unassigned = 255;
  std::array<uint8_t, PlaceCount> type;  // a Type, or Unassigned
  std::array<uint8_t, PlaceCount>
      depth;  // lanes of the PARs inside of this depth have the same value

  void Set(Place place, Type t, uint8_t d) {
    type[place] = static_cast<uint8_t>(t);
    depth[place] = d;
  }
  // Keeps what both have; tells whether something was lost.
  bool Meet(const State& other);
};

struct Carried {
  Place place;
  Type type;
};

constexpr uint32_t MaxLabeled = 1u << 14;  // instructions of a module with labels

constexpr bool IsLabeled(Opcode op) {
  return op == Opcode::Bra || op == Opcode::Call || op == Opcode::Ret || op == Opcode::Loop;
}
constexpr bool IsCollective(Opcode op) {
  return op == Opcode::BarSync || op == Opcode::Shfl || op == Opcode::Vote ||
         op == Opcode::Ballot || op == Opcode::LaneReduce || op == Opcode::LaneScan;
}
// PARs around the first instruction: a launch counts as one.
inline uint8_t BaseDepth(const Module& module) { return module.mode == Mode::Launch ? 1 : 0; }

std::string PlaceName(Place place);  // "r3", "p0", "b7"
// An error about instruction `at`: "instruction 4 (add.f32) " and what.
std::unexpected<Error> WrongAt(const Module& module, uint32_t at, const std::string& what);

State InitialState(const Module& module);
Result<void> CheckReads(const Module& module, const State& state, uint32_t at);
// CheckReads, then the state behind the instruction.
Result<void> Apply(const Module& module, State& state, uint32_t at, uint8_t par_depth);

}  // namespace frazil::machines::simt
