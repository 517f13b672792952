#include "oracle/claim.h"

#include <fmt/format.h>

namespace frazil::oracle {
namespace {

Result<void> CheckStream(const char* name, const std::vector<uint64_t>& claimed,
                         const std::vector<uint64_t>& expected) {
  if (claimed == expected) return {};
  const auto print = [](const std::vector<uint64_t>& words) {
    return words.empty() ? "none" : fmt::format("{}", fmt::join(words, " "));
  };
  return Fail(Diag::Mismatch, fmt::format("the proof claims the {} {}, and not {}", name,
                                          print(claimed), print(expected)));
}

}  // namespace

Result<void> CheckClaim(const Claim& claim, const machines::tasm::Program& program,
                        const std::vector<uint64_t>& input, const std::vector<uint64_t>& output) {
  if (claim.program_digest != machines::tasm::ProgramDigest(program))
    return Fail(Diag::Mismatch, "the proof is about another program");
  TRY_VOID(CheckStream("input", claim.input, input));
  return CheckStream("output", claim.output, output);
}

}  // namespace frazil::oracle
