// Every native form of one kernel before the gate: the plain one, and those of launches in pieces.
#pragma once

#include <memory>
#include <string>

#include "aot/judge.h"
#include "exec/native/native_code.h"
#include "ir/lanes/independence.h"

namespace frazil::aot {

class NativeJudge {
 public:
  // The forms of which candidate; it must live as long.
  NativeJudge(FormJudge& forms, const Limits& limits) : forms_(forms), limits_(limits) {}

  Judged Plain(const exec::NativeImage& image);

  // What the following are about. Fails with the reason where the kernel cannot run in pieces.
  Result<void> PreparePieces();
  const ir::RangedKernel& ranged() const { return ranged_; }
  uint16_t trips_word() const { return trips_word_; }  // or NoWord: code tells it
  // The code that tells the number of iterations; what is accepted is what Pieces asks then.
  Judged Trips(const exec::NativeImage& image);
  // The ranged form as large launches run it, and with all iterations as its range, as it stands in for a large plain form.
  Judged Pieces(const exec::NativeImage& image);
  Judged Whole(const exec::NativeImage& image);

 private:
  exec::CompiledForm Form(const exec::NativeImage& image, std::string_view calling) const;

  FormJudge& forms_;
  Limits limits_;
  ir::RangedKernel ranged_;
  uint16_t trips_word_ = 0;
  std::shared_ptr<const exec::NativeCode> trips_;
};

}  // namespace frazil::aot
