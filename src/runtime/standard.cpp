// Where an op's operands are not plain memory: as arguments of its kernel's program, where they are at home.
#include "runtime/standard.h"

#include <fmt/format.h>
#include <frazil_stdlib.hpp>

#include <map>
#include <vector>

#include "base/check.h"
#include "base/system/fork.h"
#include "ir/element.h"
#include "runtime/home.h"

namespace frazil::runtime::internal {
namespace {

Diag DiagOf(embed::LaunchError error) {
  if (error == embed::LaunchError::Trapped) return Diag::Trapped;
  if (error == embed::LaunchError::Overlap) return Diag::OverlappingBuffers;
  return Diag::BadLaunch;
}

// Where there is no machine code for this machine: the tile interpreter needs none.
Result<std::shared_ptr<Home>> Tiles() {
  static const Result<std::shared_ptr<Home>> home =
      Home::Find({.backend = "isa", .compile = false});
  return home;
}

Result<void> RunOn(Home& home, std::string_view name, Operands operands) {
  const embed::KernelData* kernel = StandardKernels().Find(name);
  CHECK(kernel != nullptr);
  const std::shared_ptr<const LoadedKernel> loaded =
      TRY(home.LoadCached(TRY(StandardSource(*kernel))));
  const auto& params = loaded->signature().params;
  CHECK(params.size() == operands.size());
  std::vector<Argument> arguments;
  for (size_t i = 0; i < params.size(); ++i) {
    const Kind kind = *ir::KindOf(params[i].type.scalar);
    const Operand& operand = operands[i];
    arguments.push_back(operand.form == Operand::Form::Elements
                            ? Argument::OfElements(kind, operand.part.data, operand.part.size)
                            : Argument::OfWord(kind, operand.word));
  }
  return loaded->Launch({}, arguments);
}

}  // namespace

const embed::ModuleData& StandardKernels() { return frazil_stdlib::kernels(); }

Result<Source> StandardSource(const embed::KernelData& kernel) {
  static ForkMutex mutex;
  static std::map<const embed::KernelData*, Source> sources;
  const std::lock_guard lock(mutex);
  const auto found = sources.find(&kernel);
  if (found != sources.end()) return found->second;
  return sources.emplace(&kernel, TRY(Source::Embedded(kernel))).first->second;
}

Result<void> RunElsewhere(std::string_view kernel, Operands operands) {
  const Part* first = nullptr;
  for (const Operand& operand : operands) {
    if (operand.form != Operand::Form::Elements) continue;
    if (first == nullptr) first = &operand.part;
    if (operand.part.home != first->home)
      return Fail(Diag::BadLaunch,
                  fmt::format("{}: its buffers belong to several backends", kernel));
  }
  for (const Operand& operand : operands)
    if (operand.form == Operand::Form::Extent && operand.word >> 32 != 0)
      return Fail(Diag::BadLaunch, fmt::format("{}: a dimension is above 2^32 - 1", kernel));
  CHECK(first != nullptr && first->home != nullptr);
  return RunOn(*static_cast<Home*>(first->home), kernel, operands);
}

Result<void> Refused(std::string_view kernel, const embed::Status& status, Operands operands) {
  if (status.error() != embed::LaunchError::NoCode)
    return Fail(DiagOf(status.error()), status.ToString());
  return RunOn(*TRY(Tiles()), kernel, operands);
}

}  // namespace frazil::runtime::internal
