// What a form costs, with its type: costs are compared only with their like, and engine/admit.h is the one place that
// compares them.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>
#include <variant>

namespace frazil::exec {

// Of what is called. Nanoseconds are noisy: both numbers come from one interleaved run on the same inputs.
struct CallTime {
  double ns_per_call = 0;
  double reference_ns = 0;  // of the interpreter
  friend bool operator==(const CallTime&, const CallTime&) = default;
};

// Of assembly, which is paid for by the rows of its tables: a proof costs what the padded height costs; below that the
// tallest table says how far the next cliff is, and then every word and cycle counts, by the rows that it fills.
struct TableHeights {
  uint64_t padded = 0;
  uint64_t tallest = 0;
  uint64_t words = 0;   // rows of the tables that the program's words fill
  uint64_t cycles = 0;  // of those that its cycles fill
  friend bool operator==(const TableHeights&, const TableHeights&) = default;
  friend std::strong_ordering operator<=>(const TableHeights& a, const TableHeights& b) {
    if (const auto by_padded = a.padded <=> b.padded; by_padded != 0) return by_padded;
    if (const auto by_tallest = a.tallest <=> b.tallest; by_tallest != 0) return by_tallest;
    return a.words + a.cycles <=> b.words + b.cycles;
  }
};

// Of what is shipped and not run where it is made.
struct Bytes {
  uint64_t count = 0;
  friend bool operator==(const Bytes&, const Bytes&) = default;
};

using Cost = std::variant<CallTime, TableHeights, Bytes>;

constexpr std::string_view CostKindName(const Cost& cost) {
  constexpr std::string_view Names[] = {"nanoseconds", "table heights", "bytes"};
  return Names[cost.index()];
}

}  // namespace frazil::exec
