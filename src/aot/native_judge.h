// Every native form of one kernel before the gate: the plain one, and those of launches in pieces.
#pragma once

#include <memory>
#include <string>

#include "engine/gate.h"
#include "exec/native/native_code.h"
#include "ir/lanes/independence.h"

namespace frazil::aot {

class NativeJudge {
 public:
  // The forms of which candidate; it must live as long.
  NativeJudge(engine::Gate& forms, const Limits& limits) : forms_(forms), limits_(limits) {}

  engine::Judged Plain(const exec::NativeImage& image);
  // An image as a form that is called in one of the ways of aot/targets.h, and the callable that its judge calls it by.
  exec::CompiledForm Form(const exec::NativeImage& image, std::string_view calling) const;
  verify::CallableMaker CallableFor(std::string_view calling) const;

  // What the following are about. Fails with the reason where the kernel cannot run in pieces.
  Result<void> PreparePieces();
  const ir::RangedKernel& ranged() const { return ranged_; }
  uint16_t trips_word() const { return trips_word_; }  // or NoWord: code tells it
  // The code that tells the number of iterations; what is accepted is what Pieces asks then.
  engine::Judged Trips(const exec::NativeImage& image);
  // The ranged form as large launches run it, and with all iterations as its range, as it stands in for a large plain form.
  engine::Judged Pieces(const exec::NativeImage& image);
  engine::Judged Whole(const exec::NativeImage& image);

 private:
  engine::Gate& forms_;
  Limits limits_;
  ir::RangedKernel ranged_;
  uint16_t trips_word_ = 0;
  std::shared_ptr<const exec::NativeCode> trips_;
};

}  // namespace frazil::aot
