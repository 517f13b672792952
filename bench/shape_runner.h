// Runs programs on a target, compiling each shape once: a program that differs from an earlier one only in its
// constants is a call of the code that is there, with those constants as arguments. How much there would be to gain from
// that is what words_bench.cpp measures.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "exec/target.h"

namespace frazil::bench {

// A program with its constants as parameters: what many programs of one shape have in common.
struct Generalized {
  ir::Program program;  // the original's parameters, then one for each constant
  struct Constant {
    ir::Type type;
    std::vector<uint64_t> words;
  };
  std::vector<Constant> constants;  // in the order of those parameters
};
// The constants of the entry function become parameters, in the order of the canonical form, so that programs with equal
// shape digests give equal generalized programs. A program with tensors keeps its index constants: they may size a
// tensor in a call.
Result<Generalized> Generalize(const ir::Program& program);

class ShapeRunner {
 public:
  // Keeps at most `most_shapes` compiled shapes; the least recently used goes first.
  explicit ShapeRunner(const exec::Target& target, size_t most_shapes = 256);

  Result<exec::Outcome> Run(const ir::Program& program, std::span<const exec::Value> arguments,
                            const exec::RunContext& context);

 private:
  struct Entry {
    std::unique_ptr<exec::Callable> callable;
    uint64_t last_use = 0;
  };
  Result<exec::Callable*> Find(const ir::Program& generalized);

  const exec::Target& target_;
  size_t most_shapes_;
  uint64_t clock_ = 0;
  std::unordered_map<std::string, Entry>
      entries_;  // by canonical bytes: a digest could not say more
};

}  // namespace frazil::bench
