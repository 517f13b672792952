// Random programs made from ops.def, for comparing targets with the interpreter. Every program is well
// formed (ir::Check passes) and ends: loops have small bounds, recursion a counter, scratch is small.
// The same options give the same program on every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/outcome.h"
#include "exec/value.h"
#include "ir/program.h"

namespace frazil::exec {

struct GeneratorOptions {
  uint64_t seed = 0;
  uint32_t size = 24;  // statements of the entry function, about
  // Off: no run with RandomArguments and RandomContext traps (limits apart).
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

// Arguments of the entry function, biased to edge values: MIN, -1, 0, NaN payloads, infinities,
// subnormals, p - 1 ... Symbolic dimensions are small, buffers have 1 to 70 elements and may be aliased.
std::vector<Value> RandomArguments(const ir::Program& program, uint64_t seed);

// Input and hints of the types that the program reads.
RunContext RandomContext(const ir::Program& program, uint64_t seed);

// One scalar of the type, biased to edge values.
Value RandomScalar(ir::Type type, uint64_t seed);

}  // namespace frazil::exec
