// Runs programs on a target, compiling each shape once: a program that differs from an earlier one only in its
// constants is a call of the code that is there, with those constants as arguments.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "exec/target.h"

namespace frazil::exec {

class ShapeRunner {
 public:
  // Keeps at most `most_shapes` compiled shapes; the least recently used goes first.
  explicit ShapeRunner(const Target& target, size_t most_shapes = 256);

  Result<Outcome> Run(const ir::Program& program, std::span<const Value> arguments,
                      const RunContext& context);

  size_t compiled() const { return compiled_; }  // how many shapes were compiled so far

 private:
  struct Entry {
    std::unique_ptr<Callable> callable;
    uint64_t last_use = 0;
  };
  Result<Callable*> Find(const ir::Program& generalized);

  const Target& target_;
  size_t most_shapes_;
  size_t compiled_ = 0;
  uint64_t clock_ = 0;
  std::unordered_map<std::string, Entry>
      entries_;  // by canonical bytes: a digest could not say more
};

}  // namespace frazil::exec
