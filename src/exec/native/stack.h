// Stack for compiled code. Recursion counts its depth, and a program's answer must not depend on how much stack its
// caller happens to have: where that is too little for the depth that the limits allow, the call runs on another stack,
// kept for its thread. Judges run code with exactly the room that callers give it.
#pragma once

#include <cstdint>
#include <type_traits>

namespace frazil::exec {

struct StackNeed {
  uint64_t frame_bytes = 0;  // one frame of each function together
  bool recursive = false;

  // So little that nobody looks whether it is there.
  bool is_small() const { return !recursive && frame_bytes <= 16 << 10; }
  friend bool operator==(const StackNeed&, const StackNeed&) = default;
};

constexpr uint64_t LargestStackBytes = uint64_t{1} << 30;

// How many nested calls fit into so many bytes.
uint64_t DepthWithin(StackNeed need, uint64_t bytes);

// Calls `run(context, limit)` with room for so many nested calls above `limit`, the address that recursion must not go
// below. False, and nothing has run: it would be more than LargestStackBytes, or there is no memory.
bool RunOnStack(StackNeed need, uint64_t depth, void (*run)(void* context, uint64_t limit),
                void* context);

template <typename Run>
bool RunOnStack(StackNeed need, uint64_t depth, Run&& run) {
  using Type = std::remove_reference_t<Run>;
  return RunOnStack(
      need, depth, [](void* context, uint64_t limit) { (*static_cast<Type*>(context))(limit); },
      &run);
}

}  // namespace frazil::exec
