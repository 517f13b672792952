// The whole digest goes into every coordinate: a generator with 64 bits of state would have 2^64 points to choose from,
// and no error below 2^-64 could be claimed.
#include "verify/tasm/terms/points.h"

#include <fmt/format.h>

#include <cstring>

#include "base/number/goldilocks.h"
#include "base/sha256.h"
#include "ir/text/text.h"
#include "verify/tasm/tasm.h"

namespace frazil::verify::tasm {

Seed::Seed(std::initializer_list<std::string_view> parts) {
  Sha256 hash;
  for (const std::string_view part : parts) {
    hash.Update(fmt::format("{}:", part.size()));
    hash.Update(part);
  }
  digest_ = hash.Finish();
}

std::string SeedText(const mt::Program& program) {
  return fmt::format("tasm {} {}", static_cast<int>(program.profile),
                     fmt::join(mt::Encode(program), " "));
}

std::string SeedText(const tir::Program& program) { return "tir " + tir::Print(program); }

std::string SeedText(const ir::Program& program) { return "ir " + ir::PrintText(program); }

std::string SeedText(const Options& options) {
  return fmt::format("{} {} {} {} {}", options.fragments, options.deep_stack, options.steps,
                     options.samples, options.milliseconds);
}

Points::Values Points::Next() {
  Values values;
  for (size_t k = 0; k < Count;) {
    Sha256 hash;
    hash.Update(seed_.bytes());
    const uint64_t block = blocks_++;
    hash.Update({reinterpret_cast<const char*>(&block), sizeof block});
    const std::array<uint8_t, 32> digest = hash.Finish();
    for (size_t i = 0; i < digest.size() / sizeof(uint64_t) && k < Count; ++i) {
      uint64_t word = 0;
      std::memcpy(&word, digest.data() + i * sizeof word, sizeof word);
      if (word < goldilocks::P) values[k++] = word;
    }
  }
  return values;
}

}  // namespace frazil::verify::tasm
