// The values that one scalar parameter may have under a guard: all of its type, one, or a range. Values of a type with
// an order are numbered by rank, so that a range is an interval of ranks and an exhaustive check a count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/guard.h"
#include "ir/type.h"

namespace frazil::verify {

class Domain {
 public:
  explicit Domain(ir::Type type) : type_(type) {}

  ir::Type type() const { return type_; }
  // Takes an Equals or Between atom in; false if nothing is left.
  bool Narrow(const ir::GuardAtom& atom);

  bool Contains(std::span<const uint64_t> words) const;
  bool is_full() const { return !one_ && !ranged_; }
  // The only value, if there is only one by the guard.
  const std::optional<std::vector<uint64_t>>& one() const { return one_; }

  // How many values; nothing if that does not fit a word.
  std::optional<uint64_t> Count() const;
  // The value with a number below Count(), for types of one word.
  uint64_t At(uint64_t number) const;
  // Numbers first, first + 1, ... written as packed elements.
  void Write(uint64_t first, size_t count, std::byte* elements) const;

 private:
  ir::Type type_;
  std::optional<std::vector<uint64_t>> one_;
  bool ranged_ = false;
  uint64_t low_ = 0;  // ranks
  uint64_t high_ = 0;
};

// Ranks of values of fixed integers, f32 and f64; equal order, -0 just below +0.
uint64_t RankOf(ir::Type type, uint64_t word);
uint64_t WordOfRank(ir::Type type, uint64_t rank);
// The word of a value from its lowest bits.
uint64_t ExtendWord(ir::Type type, uint64_t bits);
// One element of a one-word type into packed memory.
void PutElement(ir::Type type, uint64_t word, std::byte* element);
uint64_t GetElement(ir::Type type, const std::byte* element);

}  // namespace frazil::verify
