// Scratch for a judged call. Each buffer ends where memory begins that nobody can touch, or begins where it ends: code that
// takes less than it uses faults there, and does not write to what by luck belongs to nobody. On the other side, and up to
// the alignment, lie bytes that must not change. A thread keeps its mappings for the next call.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "exec/native/native_run.h"

namespace frazil::exec {

class FencedScratch {
 public:
  enum class Fence : uint8_t { Behind, Before };
  // What the run has already stays as it is.
  FencedScratch(NativeRun& run, Fence fence);
  // The run has as much as before, whatever was asked for.
  ~FencedScratch();
  FencedScratch(const FencedScratch&) = delete;
  FencedScratch& operator=(const FencedScratch&) = delete;

  // As the helpers of the same names are (embed/native_run.cpp).
  void* Alloc(NativeRun* run, int64_t length, uint64_t element_bytes) noexcept;
  void Release(NativeRun* run, void* mark) noexcept;

  // Of the buffers that are still there, too: is everything beside them as it was?
  bool IsWhole() const;
  // Were helpers called as they must be?
  bool is_used_rightly() const { return is_used_rightly_; }
  bool is_given_back() const { return live_.empty(); }

  struct Block;

 private:
  void* Youngest() const;
  void Pop();

  NativeRun& run_;
  const Fence fence_;
  void* const first_mark_;
  std::vector<std::unique_ptr<Block>> live_;
  bool is_whole_ = true;  // those that were given back
  bool is_used_rightly_ = true;
};

}  // namespace frazil::exec
