// How the sweep runs a prelude function over arrays. One implementation is linked: the product's (the
// text of ir::PreludeText through a target), or the C++ twin of the generator while designing.
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

// For the function @name, such as "exp.f32". Each thread makes its own.
Result<std::unique_ptr<Evaluator>> MakeEvaluator(const std::string& name);

// What runs the functions, for the printed table.
std::string EvaluatorName();

}  // namespace frazil::bench
