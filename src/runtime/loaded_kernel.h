// A program made ready to be launched. There are two ways to run it, and no others: a slot of the engine (slot_kernel.h), and
// a form of a target that passed the gate (form_kernel.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "exec/value.h"
#include "ir/kernel.h"
#include "ir/program.h"
#include "runtime/launch.h"
#include "runtime/source.h"

namespace frazil::runtime {

// Immutable; launches may come from any thread.
class LoadedKernel {
 public:
  // `reason`: why it does not run where its executor's kernels do; empty: it does.
  explicit LoadedKernel(Source source, std::string reason = {});
  virtual ~LoadedKernel() = default;
  const ir::Program& program() const { return source_.program(); }
  const ir::KernelSignature& signature() const { return signature_; }
  const std::string& exact() const { return source_.exact(); }
  const std::string& reason() const { return reason_; }

  // Every launch comes this way: checked, then run. A trap is an error here; buffers are as it left them.
  Result<void> Launch(const LaunchConfig& config, std::span<const Argument> arguments) const;

  // Arguments that passed exec::CheckLaunch.
  virtual Result<void> Run(std::span<const exec::Value> arguments) const = 0;

 protected:
  const Source& source() const { return source_; }
  // The same call in words, for kernels that take them (takes_words).
  virtual Result<void> RunWords(const uint64_t* words) const;
  bool takes_words_ = false;

 private:
  Source source_;
  std::string reason_;
  ir::KernelSignature signature_;
  internal::LaunchPlan plan_;
};

}  // namespace frazil::runtime
