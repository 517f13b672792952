// A guard as the hot path tests it: on argument words, with few instructions and branches that are never taken while
// it holds.
//
// Most atoms are one of two tests of one word, in unsigned arithmetic:
//   word - low <= width   x == c (one for each word of a wide value), lo <= x <= hi (signed words wrap alike),
//                         len == n, len >= n
//   (word & mask) == 0    align >= 2^k, len % 2^k == 0
// Disjoint buffers and memory that is there have tests of their own; everything else (float ranges, other multiples, same
// buffers, lengths against an extent, tensors against their dimensions, more tests than there is room for) is tested out of line. Of many buffers all
// pairs are tested at once, sorted by address. CPU features and strides do not depend on the call: flattening decides them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "exec/apart.h"
#include "exec/call_words.h"
#include "ir/guard.h"
#include "ir/program.h"

namespace frazil::dispatch {

class FlatGuard {
 public:
  FlatGuard() = default;  // always holds
  // The guard must fit the program (ir::CheckGuard): refused otherwise.
  static Result<FlatGuard> Flatten(const ir::Guard& guard, const ir::Program& program);
  // Adds what every launch must fulfill (exec/launch.h) and compiled code does not look at: memory is there, a buffer
  // that is written is apart from the others or the same as one, a tensor has as many elements as its dimensions say and
  // is apart from all that is written (results that are tensors are buffers after the parameters), words of bool and
  // field are values. A call that fails this goes to the fluid path, which says what is wrong. Contents of buffers are
  // not looked at: that would cost a pass over them.
  void AddLaunchTests(const ir::Program& program);

  bool Holds(const uint64_t* words) const;

  // The tests of buffers alone, of an address or a length, and the others: both hold if and only if this does.
  struct Parts;
  Parts Split(const ir::Program& program) const;

  // What the hot path asks: true only if the guard holds, but for the tests of has_more() and lengths that no memory
  // has; false may be too careful.
  // Written out: a loop would cost as much again as what it repeats.
  [[gnu::always_inline]] bool QuickHolds(const uint64_t* words) const {
    return FirstHold<0>(masks_, mask_count_, words) && FirstHold<0>(ranges_, range_count_, words) &&
           FirstHold<0>(aparts_, apart_count_, words) && FirstHold<0>(lones_, lone_count_, words);
  }
  bool has_more() const { return has_more_; }
  // Off the hot path: as there, with the other tests, and exactly where that is not enough.
  bool LetsThrough(const uint64_t* words) const {
    return (QuickHolds(words) && (!has_more_ || MoreHolds(words))) || Holds(words);
  }

 private:
  struct Mask {
    uint64_t word, mask;
    bool QuickHolds(const uint64_t* words) const { return (words[word] & mask) == 0; }
  };
  struct Range {
    uint64_t word, low, width;
    bool QuickHolds(const uint64_t* words) const { return words[word] - low <= width; }
  };
  // Two buffers without a common byte. The later one must begin at least the earlier one's size away; the difference
  // the other way round wraps to a number beyond any size. An empty buffer within another or without memory and one
  // buffer twice are left to Holds: the hot path has no registers to spare.
  struct Apart {
    uint64_t a, b, bytes_a, bytes_b;
    bool or_same = false;  // one buffer twice will do
    bool QuickHolds(const uint64_t* words) const {
      if (words[a] == 0 || words[b] == 0) [[unlikely]]
        return false;
      const uint64_t distance = words[b] - words[a];
      if (distance < words[a + 1] * bytes_a) [[unlikely]]
        return false;
      return 0 - distance >= words[b + 1] * bytes_b;
    }
    bool Holds(const uint64_t* words) const;
  };
  // Memory that is there, for a buffer that is in no pair.
  struct Lone {
    uint64_t word;
    bool QuickHolds(const uint64_t* words) const { return words[word] != 0; }
  };
  // Of every buffer; the hot path knows it from pairs and lone ones, but for lengths that no memory has: those cost
  // 0.6 ns there (bench: dispatch) and are looked at where a buffer is made into words.
  struct Present {
    uint64_t word;
    int64_t most;  // elements
    bool Holds(const uint64_t* words) const {
      const auto length = static_cast<int64_t>(words[word + 1]);
      return length == 0 || (words[word] != 0 && length > 0 && length <= most);
    }
  };
  // A tensor whose length is the product of its dimensions: numbers, or words that say them.
  struct Shape {
    uint64_t length_word = 0;
    int64_t numbers = 1;  // the product of those that are
    uint32_t count = 0;   // of words
    std::array<uint32_t, ir::MaxRank> dims = {};
    // A zero beside sizes whose product no length says is left to Holds.
    bool QuickHolds(const uint64_t* words) const {
      int64_t product = numbers;
      for (uint32_t i = 0; i < count; ++i) {
        const auto dim = static_cast<int64_t>(words[dims[i]]);
        if (dim < 0 || __builtin_mul_overflow(product, dim, &product)) return false;
      }
      return product == static_cast<int64_t>(words[length_word]);
    }
    bool Holds(const uint64_t* words) const;
  };
  template <size_t I, typename Test, size_t Room>
  [[gnu::always_inline]] static bool FirstHold(const std::array<Test, Room>& tests, uint32_t count,
                                               const uint64_t* words) {
    if constexpr (I < Room) {
      if (count <= I) return true;
      if (!tests[I].QuickHolds(words)) [[unlikely]]
        return false;
      return FirstHold<I + 1>(tests, count, words);
    }
    return true;
  }

  // AtLeast: the word `range.word`, as a signed number, is at least the word `range.low`.
  enum class Kind : uint8_t {
    Mask,
    Range,
    Apart,
    Same,
    Float32,
    Float64,
    Multiple,
    AtLeast,
    Never
  };
  struct Test {
    Kind kind = Kind::Never;
    Mask mask = {};
    Range range = {};
    Apart apart = {};
    bool Holds(const uint64_t* words) const;
    // Whether it looks at no word but these.
    bool IsOf(const std::vector<bool>& buffer_words) const;
  };

  // Pairs of buffers, by parameter, that must be apart: each by itself, or all at once.
  void AddApart(const ir::GuardAtom& atom, const ir::Function& entry, const exec::CallWords& call);
  static Result<Test> FlattenAtom(const ir::GuardAtom& atom, const ir::Function& entry,
                                  const exec::CallWords& call);
  void AddScalarTests(ir::Type type, uint32_t word);
  void AddShapeTest(const ir::Function& entry, const exec::CallWords& call,
                    const exec::CallParam& param);
  bool IsApartTested(uint64_t a, uint64_t b) const;
  bool MoreHolds(const uint64_t* words) const;
  bool AreApartAtOnce(const uint64_t* words) const;
  void AddLone(uint64_t word);
  void Add(const Test& test);

  uint8_t mask_count_ = 0, range_count_ = 0, apart_count_ = 0, lone_count_ = 0;
  bool has_more_ = false;
  std::array<Mask, 4> masks_ = {};
  std::array<Range, 4> ranges_ = {};
  std::array<Apart, 3> aparts_ = {};
  std::array<Lone, 4> lones_ = {};
  std::vector<Test> more_;
  std::vector<Present> presents_;
  std::vector<Shape> shapes_;
  exec::BuffersOfCall many_;                         // all of them, where they make too many pairs
  std::vector<exec::BuffersOfCall> aparts_at_once_;  // of guards, where one makes too many
};

struct FlatGuard::Parts {
  FlatGuard of_buffers, of_others;
};

}  // namespace frazil::dispatch
