#include "runtime/loaded_kernel.h"

namespace frazil::runtime {

LoadedKernel::LoadedKernel(Source source, std::string reason)
    : source_(std::move(source)),
      reason_(std::move(reason)),
      signature_(ir::SignatureOf(source_.program())),
      plan_(source_.program(), signature_) {}

Result<void> LoadedKernel::RunWords(const uint64_t*) const {
  return Fail(Diag::Unsupported, "this kernel takes values");
}

Result<void> LoadedKernel::Launch(const LaunchConfig& config,
                                  std::span<const Argument> arguments) const {
  uint64_t words[internal::MostLaunchWords];
  if (takes_words_ && plan_.Words(config, arguments, words)) [[likely]]
    return RunWords(words);
  return internal::LaunchByRules(*this, config, arguments);
}

}  // namespace frazil::runtime
