// A call that is made again and again with the same buffers, as a step of training is with dozens of them. The record has
// the words of the call; what was found out about its buffers (memory is there, pairs are apart or the same, alignment,
// lengths that a form is made for) is kept for as long as none of them changes, so that 64 buffers cost a call what three do.
//
//   LaunchRecord record(slot);
//   record.SetBuffer(0, x.data(), x.size()); ...
//   record.SetWord(64, n);
//   record.Call(results);
//
// There is no way around a test: words are read from the record alone, changing a buffer forgets what was said of it, and what
// was said is about one form, whose number no other form ever gets. Tests of scalars, and of tensors against the scalars
// that say their sizes, are made in every call.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "dispatch/slot.h"

namespace frazil::dispatch {

class LaunchRecord {
 public:
  // All words are 0: buffers are missing and empty. The slot outlives its records.
  explicit LaunchRecord(Slot& slot);
  LaunchRecord(const LaunchRecord&) = delete;
  LaunchRecord& operator=(const LaunchRecord&) = delete;

  // Parameters by number; tensors of the results come behind them. False, and nothing has changed: the parameter is not
  // there or none such. No call may be under way.
  bool SetBuffer(uint32_t param, const void* data, uint64_t length);
  bool SetScalar(uint32_t param, std::span<const uint64_t> words);
  bool SetWord(uint32_t param, uint64_t word) { return SetScalar(param, {&word, 1}); }

  // As Slot::Call of its words. Any number of threads at a time.
  int32_t Call(uint64_t* results, exec::NativeRun* run = nullptr) const {
    return slot_.core_.CallVouched(words_.data(), results, run, vouched_);
  }
  const uint64_t* words() const { return words_.data(); }

 private:
  Slot& slot_;
  std::vector<uint64_t> words_;
  mutable Vouched vouched_;
};

}  // namespace frazil::dispatch
