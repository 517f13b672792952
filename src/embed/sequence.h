// Launches that are checked and resolved once and run often. What a bound launch refers to must stay where it is.
//
//   Sequence step;
//   step.Add(my_ops::saxpy_bind(2.0f, x, y));
//   step.Add(my_ops::relu_bind(y, y));
//   for (...) step.Run();
#pragma once

#include <cstdint>
#include <vector>

#include "embed/launch.h"

namespace frazil::embed {

// What the generated functions <kernel>_bind give: a launch with its words, checked.
struct [[nodiscard]] Bound {
  const KernelData* kernel = nullptr;
  Status status;
  uint64_t words[MostWords];
  void* results[4] = {};  // where each result goes
};

// `words` has the descriptor's number of words.
Bound Bind(const KernelData& kernel, const uint64_t* words, Extents extents) noexcept;

class Sequence {
 public:
  // A launch that was refused is not added; its status is given back.
  Status Add(const Bound& bound);
  // All of them, one after the other, each finished before the next begins; ends at the first that traps.
  Status Run() const noexcept;
  size_t size() const { return steps_.size(); }
  void Clear();

 private:
  struct Step {
    NativeEntry entry;
    uint32_t words;  // where they begin
    bool is_simple;  // one thread, no results
    const KernelData* kernel;
    void* results[4];
  };
  Status RunStep(const Step& step) const noexcept;

  std::vector<Step> steps_;
  std::vector<uint64_t> words_;
};

}  // namespace frazil::embed
