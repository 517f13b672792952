// Launch of lowered programs, once for all targets: both sides of LowerTensors' change of signature
// stand here, so that a target knows only scalars and buffers.
#include "exec/marshal.h"

#include <fmt/format.h>

#include "base/check.h"
#include "exec/launch.h"

namespace frazil::exec {
namespace {

// Memory for a result that is a tensor.
Result<Value> MakeResult(const ir::Function& function, ir::Type type,
                         std::span<const Value> arguments, const Limits& limits) {
  std::vector<int64_t> dims = ResultDims(function, type, arguments);
  const std::optional<int64_t> count = ElementCount(dims);
  if (!count || static_cast<uint64_t>(*count) > limits.memory_bytes / ir::BytesOf(type.element()))
    return Fail(Diag::LimitReached,
                fmt::format("a tensor result needs more than the memory limit of {} bytes",
                            limits.memory_bytes));
  return Value::Tensor(std::make_shared<Memory>(type.element(), *count), std::move(dims));
}

bool SameMemory(const Memory& a, const Memory& b) {
  return &a == &b ||
         (a.data() == b.data() && a.size_bytes() == b.size_bytes() && a.size_bytes() != 0);
}

}  // namespace

void LoweredCall::AddBuffer(const std::shared_ptr<Memory>& memory, ir::Access access) {
  bool writable = access != ir::Access::In;
  int32_t region = 0;
  int32_t count = static_cast<int32_t>(regions_.size());
  while (region < count && !SameMemory(*regions_[region].memory, *memory)) ++region;
  if (region == count)
    regions_.push_back({memory.get(), writable});
  else
    regions_[region].writable |= writable;
  region_of_argument_.push_back(region);
  arguments_.push_back(Value::Buffer(memory));
}

Result<LoweredCall> LoweredCall::Create(const ir::Program& source, std::span<const Value> arguments,
                                        const Limits& limits) {
  TRY_VOID(CheckLaunch(source, arguments));
  const ir::Function& entry = source.entry_function();
  LoweredCall call;
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    ir::Type type = entry.param_type(i);
    if (type.is_scalar()) {
      call.arguments_.push_back(arguments[i]);
      call.region_of_argument_.push_back(-1);
    } else {
      call.AddBuffer(arguments[i].memory, type.is_tensor() ? ir::Access::In : type.access);
    }
  }
  for (ir::Type type : entry.results) {
    call.result_is_tensor_.push_back(type.is_tensor());
    if (!type.is_tensor()) {
      call.scalar_results_.push_back(type);
      continue;
    }
    const Value& result =
        call.tensor_results_.emplace_back(TRY(MakeResult(entry, type, arguments, limits)));
    call.AddBuffer(result.memory, ir::Access::Out);
  }
  return call;
}

Outcome LoweredCall::Finish(std::optional<TrapInfo> trap, std::vector<Value> scalar_results,
                            std::vector<Value> output) && {
  Outcome outcome;
  outcome.trap = trap;
  outcome.output = std::move(output);
  if (trap) return outcome;
  CHECK(scalar_results.size() == scalar_results_.size());
  size_t scalar = 0;
  size_t tensor = 0;
  for (bool is_tensor : result_is_tensor_)
    outcome.results.push_back(
        std::move(is_tensor ? tensor_results_[tensor++] : scalar_results[scalar++]));
  return outcome;
}

}  // namespace frazil::exec
