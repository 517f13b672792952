// What `conv` and `matmul.q` say in numbers: the attribute words of a convolution, and the size of a group of quantized
// weights.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace frazil::ir {

struct ConvSpec {
  static constexpr uint32_t WordCount = 9;
  // Attributes, and the sizes of image and kernel, are below it, so that no index can wrap.
  static constexpr int64_t Limit = int64_t{1} << 31;

  int64_t groups = 1;
  // Of rows, then of columns.
  int64_t stride[2] = {1, 1};
  int64_t before[2] = {0, 0};
  int64_t after[2] = {0, 0};
  int64_t dilation[2] = {1, 1};

  static ConvSpec Of(std::span<const uint64_t> words) {
    ConvSpec spec;
    spec.groups = static_cast<int64_t>(words[0]);
    for (uint32_t i = 0; i < 2; ++i) {
      spec.stride[i] = static_cast<int64_t>(words[1 + i]);
      spec.before[i] = static_cast<int64_t>(words[3 + i]);
      spec.after[i] = static_cast<int64_t>(words[5 + i]);
      spec.dilation[i] = static_cast<int64_t>(words[7 + i]);
    }
    return spec;
  }
  std::array<uint64_t, WordCount> Words() const {
    std::array<uint64_t, WordCount> words = {static_cast<uint64_t>(groups)};
    for (uint32_t i = 0; i < 2; ++i) {
      words[1 + i] = static_cast<uint64_t>(stride[i]);
      words[3 + i] = static_cast<uint64_t>(before[i]);
      words[5 + i] = static_cast<uint64_t>(after[i]);
      words[7 + i] = static_cast<uint64_t>(dilation[i]);
    }
    return words;
  }
  bool IsSound() const {
    const auto within = [](int64_t n, int64_t least) { return n >= least && n < Limit; };
    bool sound = within(groups, 1);
    for (int i = 0; i < 2; ++i)
      sound = sound && within(stride[i], 1) && within(dilation[i], 1) && within(before[i], 0) &&
              within(after[i], 0);
    return sound;
  }
  bool HasZerosAround() const {
    return before[0] != 0 || before[1] != 0 || after[0] != 0 || after[1] != 0;
  }
  // How many times the kernel finds room: none if it is larger than the image.
  int64_t OutputSize(uint32_t axis, int64_t image, int64_t kernel) const {
    const int64_t room = image + before[axis] + after[axis] - (kernel - 1) * dilation[axis] - 1;
    return room < 0 ? 0 : room / stride[axis] + 1;
  }
};

// Elements that share a scale.
constexpr int64_t QuantizedGroup = 32;

}  // namespace frazil::ir
