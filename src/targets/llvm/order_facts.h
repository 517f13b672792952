// What follows from comparisons that hold at one place, and from how values are computed: sums of values as whole
// numbers, and whether one is never negative.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/program.h"
#include "targets/llvm/ranges.h"

namespace frazil::targets {

// The same number, because it is computed in the same way from the same; or would be if the two `alike` were the same.
bool IsSame(const ir::Function& function, ir::ValueId a, ir::ValueId b,
            std::optional<std::pair<ir::ValueId, ir::ValueId>> alike = {});

class OrderFacts {
 public:
  OrderFacts(const ir::Function& function, ValueRanges& ranges)
      : function_(function), ranges_(ranges) {}

  // low < high holds here, or low <= high where it is not strict. Outer ones first: they say which sums do not wrap.
  void Add(ir::ValueId low, ir::ValueId high, bool strict);
  void AddNotNegative(ir::ValueId value);

  // Does that follow?
  bool IsLess(ir::ValueId low, ir::ValueId high, bool strict);
  bool IsNotNegative(ir::ValueId value);
  bool IsNotZero(ir::ValueId value);
  bool IsAtMost(ir::ValueId value, int64_t most);

 private:
  // A sum of values with factors, and a number.
  struct Sum {
    struct Term {
      uint32_t value;
      __int128 factor;
    };
    std::vector<Term> terms;  // by value; no factor is 0
    __int128 number = 0;

    __int128 FactorOf(uint32_t value) const;
    // this * a + other * b; none where numbers become too large to be reckoned with.
    bool Combine(__int128 a, const Sum& other, __int128 b, Sum& result) const;
  };

  // What the value is, as a sum that is surely not wrapped.
  const Sum& SumOf(ir::ValueId value);
  bool IsWithin(const Sum& sum, ir::ValueId value);
  const Sum& SumOfOther(ir::ValueId value);
  // Facts about a value that is no sum, from its definition.
  void Define(ir::ValueId value);
  void Know(const Sum& sum);
  bool IsInt(ir::ValueId value) const;
  bool IsNotNegative(const Sum& sum);
  bool IsNotNegative(const Sum& sum, int depth);

  const ir::Function& function_;
  ValueRanges& ranges_;
  std::vector<Sum> known_;  // none is negative
  std::unordered_map<uint32_t, Sum> sums_;
  std::vector<ir::ValueId> others_;  // what is no sum
  int depth_ = 0;
  int steps_left_ = 0;
};

}  // namespace frazil::targets
