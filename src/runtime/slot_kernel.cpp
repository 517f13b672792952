#include "runtime/slot_kernel.h"

#include <fmt/format.h>

#include <algorithm>

namespace frazil::runtime {

SlotKernel::SlotKernel(const Source& source, std::string reason, std::shared_ptr<engine::Site> site)
    : LoadedKernel(source, std::move(reason)), site_(std::move(site)), layout_(site_->entry()) {
  takes_words_ = true;
}

Result<void> SlotKernel::Run(std::span<const exec::Value> arguments) const {
  const std::vector<uint64_t> words = layout_.Words(arguments);
  std::vector<uint64_t> results(std::max(1u, layout_.result_words()));
  return Told(site_->Call(words.data(), results.data()));
}

Result<void> SlotKernel::RunWords(const uint64_t* words) const {
  uint64_t results[internal::MostLaunchResults];
  return Told(site_->Call(words, results));
}

Result<void> SlotKernel::Told(int32_t status) const {
  if (status == 0) [[likely]]
    return {};
  if (status == engine::LaunchFailed)
    return Fail(Diag::BadLaunch, engine::InterpreterFluid::LastLaunchError());
  return Fail(Diag::Trapped, fmt::format("{}: {}", signature().name,
                                         ir::TrapName(static_cast<ir::Trap>(status - 1))));
}

}  // namespace frazil::runtime
