// Arguments and streams of any program, biased to edge values: for judges that sample, tests and fuzzers. The same seed gives
// the same values on every machine.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <vector>

#include "exec/outcome.h"
#include "exec/value.h"
#include "ir/program.h"

namespace frazil::exec {

// SplitMix64: the same numbers with every compiler, which <random>'s distributions are not.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ull + 0x1234567) {}
  uint64_t Next();
  uint64_t Below(uint64_t n) { return Next() % n; }
  int64_t Between(int64_t lo, int64_t hi) {
    return lo + static_cast<int64_t>(Below(static_cast<uint64_t>(hi - lo) + 1));
  }
  bool Chance(uint32_t percent) { return Below(100) < percent; }
  template <typename Container>
  const auto& Pick(const Container& items) {
    return items[Below(std::size(items))];
  }

 private:
  uint64_t state_;
};

// Words of a scalar, canonical for the type, often at an edge of it.
std::vector<uint64_t> RandomWords(ir::Type type, Random& random);

struct ArgumentOptions {
  int64_t most_size = 5;                   // of a symbolic dimension
  uint32_t shared_tensors = 0;             // in 100: a tensor is another one's memory, if it fits
  uint32_t negative_sizes = 0;             // in 100: of a dimension that no tensor argument has
  std::map<uint32_t, int64_t> known = {};  // parameters, dimensions or not, that are this number
};

// Arguments of the entry function, biased to edge values: MIN, -1, 0, NaN payloads, infinities,
// subnormals, p - 1 ... Symbolic dimensions are small, buffers have 1 to 70 elements and may be aliased.
std::vector<Value> RandomArguments(const ir::Program& program, uint64_t seed,
                                   const ArgumentOptions& options = {});

// Input and hints of the types that the program reads.
RunContext RandomContext(const ir::Program& program, uint64_t seed);

// One scalar of the type, biased to edge values.
Value RandomScalar(ir::Type type, uint64_t seed);

}  // namespace frazil::exec
