// The workshops of a build (engine/loop.h), one for each place that code of a kernel has in what is embedded: native code of one
// CPU level, called in one way, or an artifact for another machine.
#pragma once

#include "aot/aot.h"
#include "aot/native_judge.h"
#include "engine/loop.h"
#include "exec/target.h"

namespace frazil::aot {

// Native code of a level: the fastest of three ways of which all code ran under the judge's inputs.
class NativePlace final : public engine::Workshop {
 public:
  // The kernel as a whole.
  NativePlace(const exec::Target& native, exec::CpuLevel level) : native_(native), level_(level) {}
  // In pieces: another program, with a range; `judge` must live as long.
  NativePlace(const exec::Target& native, exec::CpuLevel level, const NativeJudge& judge)
      : native_(native), level_(level), judge_(&judge) {}

  std::string_view target() const override { return "native"; }
  int ways() const override { return 3; }
  Result<engine::LoweredForm> Lower(const engine::Gate& gate, int way) override;
  verify::CallableMaker callable() const override;

 private:
  const exec::Target& native_;
  exec::CpuLevel level_;
  const NativeJudge* judge_ = nullptr;  // null: as a whole
};

// A module, a header or PTX, under the kernel's name.
class ArtifactPlace final : public engine::Workshop {
 public:
  ArtifactPlace(const exec::Target& target, std::string symbol)
      : target_(target), symbol_(std::move(symbol)) {}
  std::string_view target() const override { return target_.name(); }
  Result<engine::LoweredForm> Lower(const engine::Gate& gate, int way = 0) override;

 private:
  const exec::Target& target_;
  std::string symbol_;
  std::optional<engine::LoweredForm> made_;  // it is asked for more than once
};

}  // namespace frazil::aot
