// What a launch says: that it was right, or why it was refused, or which trap ended it. Nothing is thrown.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "embed/native_run.h"

namespace frazil::embed {

struct KernelData;

enum class LaunchError : uint8_t {
  None,
  NullBuffer,   // no memory, but a length
  Misaligned,   // the address is no multiple of the element's size
  Overlap,      // two buffers overlap in part, and one of them is written
  WrongLength,  // buffers that one extent bounds have several lengths
  TooShort,     // the extent is larger than a buffer that it bounds
  TooLong,      // a length does not fit the type of its extent
  EmptyLaunch,  // a launch configuration with nothing, or too much, in some direction
  NoCode,       // no code for this machine
  Trapped,      // the kernel itself stopped
};

struct [[nodiscard]] Status {
  const KernelData* kernel = nullptr;  // null: all is well
  LaunchError error = LaunchError::None;
  TrapKind trap = {};     // Trapped
  uint8_t argument = 0;   // the parameter it is about, by position
  uint8_t other = 0;      // Overlap, TooShort, WrongLength: the second one
  uint32_t op = 0;        // Trapped: the op of the IR
  int64_t index = -1;     // Trapped: the iteration of the outermost parallel, or -1

  constexpr bool ok() const { return kernel == nullptr; }
  constexpr explicit operator bool() const { return ok(); }
  // "saxpy: x and y overlap in part, and one of them is written"; "ok".
  std::string ToString() const;
};

const char* LaunchErrorName(LaunchError error);  // "overlap"
const char* TrapKindName(TrapKind trap);         // "division by zero"

// A launch that gives a value: the value counts only where the status is ok.
template <typename T>
struct [[nodiscard]] Answer {
  Status status;
  T value = {};
  constexpr bool ok() const { return status.ok(); }
  constexpr explicit operator bool() const { return ok(); }
  const T& operator*() const { return value; }
};

}  // namespace frazil::embed
