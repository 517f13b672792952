// Every native form of one kernel before the judge, in a build as in an audit: what is asked is the same, so that the
// answers can be compared. The images are judged as they are, by verify::VerifyCode.
#pragma once

#include <memory>
#include <string>

#include "aot/judge.h"
#include "exec/native_code.h"
#include "ir/independence.h"

namespace frazil::aot {

class NativeJudge {
 public:
  NativeJudge(std::shared_ptr<const ir::Program> candidate, const Limits& limits)
      : candidate_(std::move(candidate)), limits_(limits) {}

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
  std::shared_ptr<const ir::Program> candidate_;
  Limits limits_;
  verify::SampleNotes notes_;  // of the candidate
  ir::RangedKernel ranged_;
  uint16_t trips_word_ = 0;
  std::shared_ptr<const exec::NativeCode> trips_;
};

}  // namespace frazil::aot
