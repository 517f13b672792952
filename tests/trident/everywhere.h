// One Trident program on the interpreter, on Triton VM (both profiles, both ways of lowering) and natively.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "exec/outcome.h"
#include "ir/program.h"

namespace frazil::tests::trident {

struct Streams {
  std::vector<uint64_t> input;
  std::vector<exec::Value> hints;  // in the order of reading
  std::vector<std::pair<uint64_t, uint64_t>> ram;
};
void AddWord(uint64_t word, Streams* streams);
void AddDigest(const std::array<uint64_t, 5>& digest, Streams* streams);

struct Expected {
  std::vector<uint64_t> output;  // up to the end or the trap
  bool traps = false;
};

struct Where {
  bool native = true;
  bool horner = true;
  bool templates = true;
};

// Reads and builds; a mistake is a failure of the test. `library`: with the standard library.
std::optional<ir::Program> BuildText(std::string_view text, bool library = false);
// Runs it everywhere and holds each outcome against what is expected.
void ExpectEverywhere(const ir::Program& program, const Streams& streams, const Expected& expected,
                      const Where& where = {});

}  // namespace frazil::tests::trident
