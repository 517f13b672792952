// Random programs made from ops.def, for comparing targets with the interpreter. Every program is well
// formed (ir::Check passes) and ends: loops have small bounds, recursion a counter, scratch is small.
// The same options give the same program on every machine.
#pragma once

#include <cstdint>

#include "ir/program.h"

namespace frazil::generator {

struct GeneratorOptions {
  uint64_t seed = 0;
  uint32_t size = 24;  // statements of the entry function, about
  // Off: no run with RandomArguments and RandomContext (exec/random_arguments.h) traps (limits apart).
  bool allow_traps = true;
  bool allow_tensors = true;
  bool allow_buffers = true;
  bool allow_streams = true;
  bool allow_math = true;
  bool allow_calls = true;
  bool allow_parallel = true;
  ir::ScalarSet types = ir::sets::Any;  // bool and index are always there
};

ir::Program Generate(const GeneratorOptions& options);

}  // namespace frazil::generator
