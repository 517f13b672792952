// A guard as the hot path tests it: on argument words, nearly without branches.
//
// Most atoms are a range of one word: (word & mask) - low <= width in unsigned arithmetic.
//   x == c          mask ~0, low c, width 0; one test for each word of a wide value
//   lo <= x <= hi   mask ~0, low lo, width hi - lo; the same for signed words, as both wrap alike
//   len == n, len >= n, len % 2^k == 0, align >= 2^k
// Disjoint buffers have a test of their own; everything else (float ranges, odd multiples, same buffers, more tests
// than there is room for) is tested out of line. CPU features and strides do not depend on the call: flattening decides
// them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "ir/guard.h"
#include "ir/program.h"

namespace frazil::dispatch {

// Where each parameter's words begin; tensors are passed as buffers (address, length).
std::vector<uint32_t> FirstWords(const ir::Function& entry);

class FlatGuard {
 public:
  FlatGuard() = default;  // always holds
  // The guard must fit the program (ir::CheckGuard): refused otherwise.
  static Result<FlatGuard> Flatten(const ir::Guard& guard, const ir::Program& program);

  bool Holds(const uint64_t* words) const {
    bool fails = false;
    for (uint32_t i = 0; i < range_count_; ++i) fails |= ranges_[i].Fails(words);
    for (uint32_t i = 0; i < apart_count_; ++i) fails |= aparts_[i].Fails(words);
    if (has_more_) [[unlikely]] fails = fails || !MoreHold(words);
    return !fails;
  }

 private:
  struct Range {
    uint64_t mask, low, width;
    uint32_t word;
    bool Fails(const uint64_t* words) const { return (words[word] & mask) - low > width; }
  };
  // Two buffers without a common byte. With d = b - a, wrapping: whichever lies first must end before the other begins,
  // and the other difference wraps to a number beyond any size. An empty buffer is apart from all.
  struct Apart {
    uint32_t a, b, bytes_a, bytes_b;
    bool Fails(const uint64_t* words) const {
      const uint64_t size_a = words[a + 1] * bytes_a, size_b = words[b + 1] * bytes_b;
      const uint64_t distance = words[b] - words[a];
      return ((distance < size_a) | (0 - distance < size_b)) & (size_a != 0) & (size_b != 0);
    }
  };
  enum class Kind : uint8_t { Range, Apart, Same, Float32, Float64, Multiple, Never };
  struct Test {
    Kind kind = Kind::Never;
    Range range = {};
    Apart apart = {};
    bool Holds(const uint64_t* words) const;
  };

  static Result<Test> FlattenAtom(const ir::GuardAtom& atom, const ir::Function& entry,
                                  const std::vector<uint32_t>& first_word);
  void Add(const Test& test);
  bool MoreHold(const uint64_t* words) const;

  static constexpr uint32_t MaxRanges = 8, MaxAparts = 4;
  uint32_t range_count_ = 0;
  uint16_t apart_count_ = 0;
  bool has_more_ = false;
  std::array<Range, MaxRanges> ranges_ = {};
  std::array<Apart, MaxAparts> aparts_ = {};
  std::vector<Test> more_;
};

}  // namespace frazil::dispatch
