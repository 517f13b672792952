// How the sweep runs a prelude function over arrays. One implementation is linked: the product's (a
// program with the math op, through a target), or the C++ twin of the generator while designing.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace frazil::bench {

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  // inputs[i] and output are packed arrays of the parameter and result types.
  virtual Result<void> Run(std::span<const void* const> inputs, void* output, size_t count) = 0;
};

// For the op and type of a function's name, such as "exp.f32", on a target. Each thread makes its
// own.
Result<std::unique_ptr<Evaluator>> MakeEvaluator(const std::string& name,
                                                 const std::string& target);

// What judges unless told otherwise: the batch interpreter, which is the meaning itself.
std::string DefaultEvaluator();

}  // namespace frazil::bench
