// frz_run of the generated headers (support_run.cpp) as this process sees it. Compiled code reports its own
// size of the struct, which must be this one's.
#pragma once

#include <cstdint>

namespace frazil::targets::c {

struct StreamLayout {
  const uint64_t* data = nullptr;
  uint64_t words = 0;
  const uint16_t* types = nullptr;
};

struct PositionLayout {
  uint64_t words = 0;
  uint64_t values = 0;
};

struct RunLayout {
  uint64_t fuel = 0;
  uint64_t depth = 0;
  uint64_t memory_bytes = 0;
  const uint8_t* stop = nullptr;
  uintptr_t stack_end = 0;
  StreamLayout input;
  StreamLayout hints;
  uint64_t* output = nullptr;
  uint16_t* output_types = nullptr;
  uint64_t output_words = 0;
  uint64_t output_values = 0;
  uint64_t output_capacity = 0;
  int64_t trap_index = -1;
  const char* trap_op = nullptr;
  int trap = 0;
  PositionLayout input_position;
  PositionLayout hint_position;
  uint64_t depth_used = 0;
  uint64_t memory_used = 0;
  void* scratch = nullptr;
};

// int entry(const uint64_t* arguments, uint64_t* results, frz_run* run): scalars are their words, a buffer is
// its address and its length.
using EntryFunction = int (*)(const uint64_t* arguments, uint64_t* results, RunLayout* run);

}  // namespace frazil::targets::c
