// What a program means, for a judge that asks often.
#pragma once

#include <optional>
#include <span>

#include "exec/meaning/choices.h"
#include "verify/internal/compare.h"
#include "verify/internal/pair.h"
#include "verify/verify.h"

namespace frazil::verify {

// The interpreter, asked once for each sample where there are notes to keep its answers in.
class Meaning {
 public:
  Meaning(const Pair& pair, SampleNotes* notes);

  // Of the samples that follow; none: an input that is no sample.
  void SetNumber(std::optional<uint64_t> number) { number_ = number; }

  // What the last run chose.
  const exec::Choices& choices() const { return choices_; }

  Result<exec::Outcome> Run(std::span<const exec::Value> arguments, const exec::RunContext& given);

 private:
  void Keep(std::span<const exec::Value> arguments, const exec::Outcome& outcome);

  Runner run_;
  SampleNotes* notes_;
  std::optional<uint64_t> number_;
  exec::Choices choices_;
};

}  // namespace frazil::verify
