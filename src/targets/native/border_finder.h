// Where the turns of a loop differ, and what they have in common in between. Pure analysis of the IR, internal to this folder.
//
// A question is a comparison of "counter + something" with a value that is known before the loop, or a min, max or
// remainder that holds one. Each gives a bound: from it on, or up to it, the answer is known. Bounds are sums of numbers
// whose ranges are known and small, so that none of this wraps.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "ir/program.h"
#include "targets/llvm/index_forms.h"

namespace frazil::targets::native {

// In between, the counter is at least, or below, value - form - shift.
struct BorderBound {
  bool is_lower;
  ir::ValueId value;  // invalid: 0
  IndexForm form;
  int64_t shift;
  friend bool operator==(const BorderBound&, const BorderBound&) = default;
};

// What an instruction gives in between.
struct BorderAnswer {
  std::optional<bool> known;  // a comparison
  uint32_t operand = 0;       // min, max: which of the two; remainder: the first
  uint64_t times = 0;         // remainder: less so many times the divisor
  std::optional<size_t> decides =
      std::nullopt;  // the bound that alone decides it, on both of its sides
};

struct BorderSplit {
  std::vector<BorderBound> bounds;
  std::map<uint32_t, BorderAnswer> answers;  // by value
  bool pays = false;
  bool leans = false;  // one answer rests on another: then they hold in between only
};

// One bound decides everything: both of its sides have answers.
bool IsOneQuestion(const BorderSplit& split);

// A neighbor on a ring: (x + k w + c) % w with 0 <= x < w and c of -1, 0, 1. No division, no long way for long numbers that
// no input of a judge has.
struct Ring {
  ir::ValueId counter;
  int64_t step;
};

class BorderFinder {
 public:
  BorderFinder(const ir::Program& program, const ir::Function& function);
  ~BorderFinder();

  std::optional<BorderSplit> Find(const ir::Inst& loop);
  std::optional<Ring> FindRing(const ir::Inst& remainder);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace frazil::targets::native
