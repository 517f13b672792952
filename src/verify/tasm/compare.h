// What all comparisons share. Private to this folder.
#pragma once

#include <functional>
#include <memory>

#include "verify/tasm/sample.h"

namespace frazil::verify::tasm {

struct Sides {
  std::function<std::unique_ptr<Side>(Heads*)> source, candidate;
};

// `tell` may be empty: nothing is refuted then.
Answer Decide(const Sides& sides, const Options& options, Sampler& sampler, const Tell& tell);

}  // namespace frazil::verify::tasm
