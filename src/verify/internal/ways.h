// The ways that a program's choices can go: both of every `select` and `if`, all of a `switch`. Samples must have seen each
// of them on an input that came to its end, or the code of one may never have answered for anybody.
#pragma once

#include <string>
#include <vector>

#include "exec/meaning/choices.h"
#include "ir/program.h"

namespace frazil::verify {

class Ways {
 public:
  // Not of math functions, which have tests of their own for every input; not where a constant or an `if` around decides,
  // and not those that only trap.
  explicit Ways(const ir::Program& program);

  size_t count() const { return ways_.size(); }
  size_t CountMissing(const exec::Choices& seen) const;
  // "the condition %7 of select in @f never held"
  std::string DescribeMissing(const exec::Choices& seen) const;

 private:
  struct Way {
    uint32_t function, inst, way;
  };
  static bool IsSeen(const Way& way, const exec::Choices& seen);
  void AddFunction(uint32_t number);

  const ir::Program& program_;
  std::vector<Way> ways_;
};

}  // namespace frazil::verify
