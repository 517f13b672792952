// What a run of Triton VM may read.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace frazil::machines::tasm {

using Digest = std::array<uint64_t, 5>;

// `ram` is what the prover put there; unwritten RAM that is not in it reads as 0.
struct Inputs {
  std::vector<uint64_t> input;   // public
  std::vector<uint64_t> secret;  // individual tokens, read by divine
  std::vector<Digest> digests;   // read by merkle_step
  std::unordered_map<uint64_t, uint64_t> ram;
};

}  // namespace frazil::machines::tasm
