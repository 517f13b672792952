// What a proof says. That a proof holds proves its claim, and not that the claim is the one that was asked for.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "machines/tasm/program.h"

namespace frazil::oracle {

// This program, on this input, gives this output.
struct Claim {
  machines::tasm::Digest program_digest{};
  uint32_t version = 0;  // of the proof system
  std::vector<uint64_t> input = {};
  std::vector<uint64_t> output = {};
};

// Diag::Mismatch and a sentence where the claim is another than that.
Result<void> CheckClaim(const Claim& claim, const machines::tasm::Program& program,
                        const std::vector<uint64_t>& input, const std::vector<uint64_t>& output);

}  // namespace frazil::oracle
