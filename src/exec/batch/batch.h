// The batch interpreter: one program on many input tuples, op by op over plain arrays. It means
// what Interpret means, bit for bit, and is what exhaustive checks are judged by. No fusion, no
// vector code of our own: every op is a loop over a block of lanes.
//
// Programs of one-word scalars run so, calls, branches and loops included. Anything else (int<k>,
// xfield, digest, memory, tensors, streams, recursion) runs lane by lane through the interpreter.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/limits.h"
#include "base/result.h"
#include "ir/program.h"

namespace frazil::exec {

class BatchProgram {
 public:
  // Parameters and results of the entry function must be scalars. The limits hold for each lane,
  // run_ms for each block of lanes.
  static Result<BatchProgram> Create(const ir::Program& program, const Limits& limits = {});

  BatchProgram(BatchProgram&&) noexcept;
  BatchProgram& operator=(BatchProgram&&) noexcept;
  ~BatchProgram();

  // Inputs and outputs: one packed array (ir::BytesOf each, aligned for their type) for each
  // parameter and result, `lanes` elements each; input elements are canonical. traps[i] is 0, or 1
  // + ir::Trap; outputs of a lane that trapped are 0. `ops`, if it is wanted: the ir::Op that a lane
  // trapped in. May be called from several threads at once.
  Result<void> Run(size_t lanes, std::span<const void* const> inputs,
                   std::span<void* const> outputs, std::span<uint8_t> traps,
                   std::span<uint8_t> ops = {}) const;

  // Empty, or one sentence why the program runs lane by lane.
  const std::string& lane_by_lane() const;

 private:
  struct Impl;
  explicit BatchProgram(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace frazil::exec
