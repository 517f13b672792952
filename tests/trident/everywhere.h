// One Trident program on the interpreter, on Triton VM (both profiles, both ways of lowering) and natively.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <optional>
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
  const Streams* typical = nullptr;  // what the lowering measures its choices on
};

// Reads and builds, contracts as assertions; a mistake is a failure of the test. `library`: with the standard library.
std::optional<ir::Program> BuildText(std::string_view text, bool library = false);

// A program, lowered once for every place.
class Everywhere {
 public:
  explicit Everywhere(const ir::Program& program, const Where& where = {});
  ~Everywhere();
  // Runs it everywhere and holds each outcome against what is expected.
  void Expect(const Streams& streams, const Expected& expected) const;

 private:
  struct Place;
  const ir::Program& program_;
  std::vector<Place> places_;
};

}  // namespace frazil::tests::trident
