// The short way and the long way of a launch.
#include "runtime/launch.h"

#include <fmt/format.h>

#include <optional>

#include "exec/kernel_launch.h"
#include "exec/launch.h"
#include "ir/element.h"
#include "runtime/loaded_kernel.h"

namespace frazil::runtime::internal {
namespace {

// Whether its elements have byte patterns that are no value, so that somebody must look at them.
bool NeedsLook(ir::Type type) {
  return type.scalar == ir::Scalar::Bool && type.access != ir::Access::Out;
}

std::optional<exec::Value> ValueOf(const Argument& argument) {
  const ir::Type type = ir::TypeOf(argument.kind());
  switch (argument.form()) {
    case Argument::Form::Nothing: return std::nullopt;
    case Argument::Form::Scalar: return exec::Value::Word(type, argument.word());
    case Argument::Form::Elements: break;
  }
  return exec::Value::Buffer(std::make_shared<exec::Memory>(
      type, static_cast<int64_t>(argument.length()), reinterpret_cast<void*>(argument.word())));
}

Result<void> LaunchValues(const LoadedKernel& kernel, const LaunchConfig& config,
                          std::span<const std::optional<exec::Value>> given) {
  // A launch has no place for them.
  for (const ir::Type type : kernel.program().entry_function().results)
    if (type.is_tensor())
      return Fail(Diag::BadLaunch,
                  fmt::format("{} gives a tensor, but what a kernel makes it writes "
                              "to buffers",
                              kernel.signature().name));
  for (size_t i = 0; i < given.size(); ++i) {
    const ir::KernelParam& param = kernel.signature().params[i];
    if (given[i] && given[i]->type.element() != param.type.element() &&
        !exec::AreIntegers(given[i]->type, param.type))
      return Fail(Diag::WrongArgument, fmt::format("'{}' is {}, but {} is given", param.name,
                                                   ir::ScalarOrBufferName(param.type),
                                                   ir::ScalarOrBufferName(given[i]->type)));
  }
  exec::LaunchShape shape = TRY(exec::ShapeOf(config));
  if (kernel.signature().needs_launch()) shape.n = config.lanes();
  const std::vector<exec::Value> arguments =
      TRY(exec::CompleteLaunch(kernel.signature(), given, shape));
  TRY_VOID(exec::CheckLaunch(kernel.program(), arguments));
  return kernel.Run(arguments);
}

}  // namespace

LaunchPlan::LaunchPlan(const ir::Program& program, const ir::KernelSignature& signature)
    : needs_launch_(signature.needs_launch()) {
  uint32_t word = 0, result_words = 0;
  for (const ir::Type type : program.entry_function().results) {
    is_quick_ &= !type.is_tensor();
    result_words += ir::WordsOf(type);
  }
  for (uint32_t i = 0; i < signature.params.size() && is_quick_; ++i) {
    const ir::KernelParam& param = signature.params[i];
    const std::optional<Kind> kind = ir::KindOf(param.type.scalar);
    is_quick_ = kind && !param.type.is_tensor() && !NeedsLook(param.type) && word < MostLaunchWords;
    if (!is_quick_) break;
    const bool may_write = param.type.is_buffer() && param.type.access != ir::Access::In;
    params_.push_back({param.role, *kind, may_write, static_cast<uint8_t>(word)});
    word += param.type.is_buffer() ? 2 : 1;
    for (const uint32_t buffer : param.buffers)
      bounds_.push_back({static_cast<uint8_t>(i), static_cast<uint8_t>(buffer)});
    for (uint32_t j = 0; j < i && param.type.is_buffer(); ++j) {
      const Param& first = params_[j];
      if (first.role != ir::ParamRole::Buffer || (!first.may_write && !may_write)) continue;
      apart_.push_back({first.word, params_[i].word, static_cast<uint8_t>(BytesOf(first.kind)),
                        static_cast<uint8_t>(BytesOf(*kind)), first.kind == *kind});
    }
  }
  is_quick_ &= word <= MostLaunchWords && result_words <= MostLaunchResults;
}

bool LaunchPlan::Take(const Param& param, const Argument& argument, uint64_t* words) const {
  uint64_t* const at = words + param.word;
  if (param.role == ir::ParamRole::Buffer) {
    const bool fits = argument.form() == Argument::Form::Elements &&
                      argument.kind() == param.kind && !argument.is_missing() &&
                      !(argument.is_const() && param.may_write) &&
                      (argument.word() != 0 || argument.length() == 0) &&
                      argument.length() <= uint64_t{INT64_MAX} / BytesOf(param.kind);
    at[0] = argument.word();
    at[1] = argument.length();
    return fits;
  }
  if (argument.form() != Argument::Form::Scalar) return false;
  *at = argument.word();
  if (argument.kind() == param.kind) return true;
  // Another integer where it fits; what is negative is for the rules.
  if (!IsInteger(argument.kind()) || !IsInteger(param.kind)) return false;
  const bool is_negative = IsSigned(argument.kind()) && static_cast<int64_t>(*at) < 0;
  return !is_negative && *at <= MostOf(param.kind);
}

bool LaunchPlan::FromConfig(const LaunchConfig& config, const Param& param, uint64_t& word) const {
  const Dim3 &grid = config.grid, &block = config.block;
  int64_t number = 0;
  switch (param.role) {
    case ir::ParamRole::LanesX: number = config.lanes().value_or(-1); break;
    case ir::ParamRole::LanesY: number = grid.y * block.y; break;
    case ir::ParamRole::LanesZ: number = grid.z * block.z; break;
    case ir::ParamRole::GridX: number = grid.x; break;
    case ir::ParamRole::GridY: number = grid.y; break;
    case ir::ParamRole::GridZ: number = grid.z; break;
    case ir::ParamRole::BlockX: number = block.x; break;
    case ir::ParamRole::BlockY: number = block.y; break;
    case ir::ParamRole::BlockZ: number = block.z; break;
    default: return false;
  }
  word = static_cast<uint64_t>(number);
  return number >= 0 && word <= MostOf(param.kind);
}

bool LaunchPlan::Derive(const LaunchConfig& config, uint64_t missing, uint64_t* words) const {
  for (const Bound& bound : bounds_) {
    const uint64_t bit = uint64_t{1} << bound.extent;
    if ((missing & bit) == 0) continue;
    missing &= ~bit;  // the first buffer says it; the others are held against it below
    const Param& extent = params_[bound.extent];
    const uint64_t n = needs_launch_ ? static_cast<uint64_t>(config.lanes().value_or(-1))
                                     : words[params_[bound.buffer].word + 1];
    if (n > MostOf(extent.kind)) return false;
    words[extent.word] = n;
    if (needs_launch_) continue;
    for (const Bound& other : bounds_)
      if (other.extent == bound.extent && words[params_[other.buffer].word + 1] != n) return false;
  }
  return missing == 0;
}

bool LaunchPlan::Words(const LaunchConfig& config, std::span<const Argument> arguments,
                       uint64_t* words) const {
  if (!is_quick_ || !config.is_valid()) return false;
  size_t next = 0;
  uint64_t missing = 0;
  for (size_t i = 0; i < params_.size(); ++i) {
    const Param& param = params_[i];
    if (ir::IsLaunchRole(param.role)) {
      if (!FromConfig(config, param, words[param.word])) return false;
      continue;
    }
    if (next == arguments.size() || arguments[next].form() == Argument::Form::Nothing) {
      if (param.role != ir::ParamRole::Extent) return false;
      missing |= uint64_t{1} << i;
      next += next < arguments.size() ? 1 : 0;
    } else if (!Take(param, arguments[next++], words)) {
      return false;
    }
  }
  if (next != arguments.size()) return false;
  if (missing != 0 && !Derive(config, missing, words)) return false;
  for (const Bound& bound : bounds_) {
    const Param& extent = params_[bound.extent];
    const uint64_t n = words[extent.word], length = words[params_[bound.buffer].word + 1];
    const bool is_negative = IsSigned(extent.kind) && static_cast<int64_t>(n) < 0;
    if (!is_negative && n > length) return false;
  }
  for (const Pair& pair : apart_) {
    const uint64_t a = words[pair.first], b = words[pair.second];
    const uint64_t a_bytes = words[pair.first + 1] * pair.first_bytes;
    const uint64_t b_bytes = words[pair.second + 1] * pair.second_bytes;
    if (a_bytes == 0 || b_bytes == 0 || (a - b >= b_bytes && b - a >= a_bytes)) continue;
    if (a != b || a_bytes != b_bytes || !pair.same_kind) return false;
  }
  return true;
}

Result<void> LaunchByRules(const LoadedKernel& kernel, const LaunchConfig& config,
                           std::span<const Argument> arguments) {
  const ir::KernelSignature& signature = kernel.signature();
  std::vector<std::optional<exec::Value>> given(signature.params.size());
  size_t next = 0;
  for (size_t i = 0; i < signature.params.size(); ++i) {
    const ir::KernelParam& param = signature.params[i];
    if (ir::IsLaunchRole(param.role) || next == arguments.size()) continue;
    const Argument& argument = arguments[next++];
    if (argument.is_const() && param.type.is_buffer() && param.type.access != ir::Access::In)
      return Fail(Diag::BadLaunch,
                  fmt::format("'{}' is written to, but read-only memory is given", param.name));
    if (argument.is_missing())
      return Fail(Diag::BadLaunch, fmt::format("'{}' is a buffer of no executor", param.name));
    given[i] = ValueOf(argument);
  }
  if (next < arguments.size())
    return Fail(Diag::WrongArgumentCount, fmt::format("{} takes at most {} arguments, {} given",
                                                      signature.name, next, arguments.size()));
  return LaunchValues(kernel, config, given);
}

}  // namespace frazil::runtime::internal
