// What a launch says: that it was right, or why it was refused, or which trap ended it. Nothing is thrown.
#pragma once

#include <cstddef>
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

// Two words, given back in registers: a launch that is right costs its caller one comparison.
class [[nodiscard]] Status {
 public:
  constexpr Status() = default;
  static constexpr Status Refused(const KernelData& kernel, LaunchError error, size_t argument = 0,
                                  size_t other = 0) {
    return Status(&kernel, error, argument, other, -1);
  }
  static constexpr Status Trapped(const KernelData& kernel, TrapKind trap, uint32_t op,
                                  int64_t index) {
    return Status(&kernel, LaunchError::Trapped, static_cast<size_t>(trap), op, index);
  }

  constexpr bool ok() const { return kernel_ == nullptr; }
  constexpr explicit operator bool() const { return ok(); }
  constexpr const KernelData* kernel() const { return kernel_; }  // null: all is well
  constexpr LaunchError error() const { return static_cast<LaunchError>(error_); }
  // The parameter that a refusal is about, by position, and a second one (Overlap, TooShort, WrongLength, TooLong).
  constexpr size_t argument() const { return first_; }
  constexpr size_t other() const { return second_; }
  // Of a trap: its kind, the op of the IR, and the iteration of the outermost parallel or -1.
  constexpr TrapKind trap() const { return static_cast<TrapKind>(first_); }
  constexpr uint32_t op() const { return second_; }
  constexpr int64_t index() const { return index_; }
  // "saxpy: x and y overlap in part, and one of them is written"; "ok".
  std::string ToString() const;

 private:
  constexpr Status(const KernelData* kernel, LaunchError error, size_t first, size_t second,
                   int64_t index)
      : kernel_(kernel),
        error_(static_cast<uint8_t>(error)),
        first_(static_cast<uint8_t>(first)),
        second_(static_cast<uint8_t>(second)),
        index_(index < MostIndex ? index : MostIndex) {}
  static constexpr int64_t MostIndex = (int64_t{1} << 39) - 1;

  const KernelData* kernel_ = nullptr;
  uint64_t error_ : 8 = 0;
  uint64_t first_ : 8 = 0;
  uint64_t second_ : 8 = 0;
  int64_t index_ : 40 = 0;
};
static_assert(sizeof(Status) == 16);

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
