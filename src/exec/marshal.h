// What lies between a caller's arguments and an entry function that was lowered: tensor arguments
// became `in` buffers, tensor results became `out` buffers appended to the parameters, in order
// (ir/lower/lower.h). Every target that runs lowered code launches through here.
//
//   LoweredCall call = TRY(LoweredCall::Create(*artifact.source, arguments, context.limits));
//   ... run with call.arguments() and call.regions() ...
//   return call.Finish(trap, std::move(scalar_results), std::move(output));
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "exec/outcome.h"
#include "exec/value.h"
#include "ir/program.h"

namespace frazil::exec {

// A piece of memory that the run reads or writes; identical buffers are one region.
struct MemoryRegion {
  Memory* memory;
  bool writable;  // some parameter that names it is `out` or `inout`: copy it back after the run
};

class LoweredCall {
 public:
  // `source` is the program as the caller sees it, tensors included. Checks the launch and gives
  // tensor results their memory; results larger than limits.memory_bytes are an error of class
  // Limit.
  static Result<LoweredCall> Create(const ir::Program& source, std::span<const Value> arguments,
                                    const Limits& limits);

  // One per parameter of the lowered entry function: scalars and buffers only.
  std::span<const Value> arguments() const { return arguments_; }
  // Distinct memory, and for each argument the region it names (-1 for scalars).
  std::span<const MemoryRegion> regions() const { return regions_; }
  std::span<const int32_t> region_of_argument() const { return region_of_argument_; }
  // The results that the lowered entry function returns itself.
  std::span<const ir::Type> scalar_results() const { return scalar_results_; }

  // The outcome as the caller sees it: scalar results, with tensor results put back in their
  // places.
  Outcome Finish(std::optional<TrapInfo> trap, std::vector<Value> scalar_results,
                 std::vector<Value> output) &&;

 private:
  void AddBuffer(const std::shared_ptr<Memory>& memory, ir::Access access);

  std::vector<Value> arguments_;
  std::vector<MemoryRegion> regions_;
  std::vector<int32_t> region_of_argument_;
  std::vector<ir::Type> scalar_results_;
  std::vector<Value> tensor_results_;  // in order of appearance
  std::vector<bool> result_is_tensor_;
};

}  // namespace frazil::exec
