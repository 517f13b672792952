// Run-time values: scalars as words, buffers as shared memory, tensors as elements with a shape.
//
// Words of a scalar: WordsOf(type). Machine integers are stored sign- or zero-extended to 64 bits by
// their signedness, bool as 0 or 1, f16/bf16/f32/f64 as their bits zero-extended, index as i64.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/type.h"

namespace frazil::exec {

// Memory of a typed buffer: owned, or the caller's. Elements are little-endian and packed
// (ir::BytesOf(element) bytes each).
class Memory {
 public:
  Memory(ir::Type element, int64_t length);                     // owned, zeroed
  Memory(ir::Type element, int64_t length, void* caller_data);  // borrowed

  ir::Type element() const { return element_; }
  int64_t length() const { return length_; }
  uint64_t size_bytes() const { return static_cast<uint64_t>(length_) * element_bytes_; }
  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }

  void Get(int64_t index, std::span<uint64_t> words) const;  // index in range: the caller checks
  void Set(int64_t index, std::span<const uint64_t> words);

 private:
  ir::Type element_;
  uint32_t element_bytes_;
  int64_t length_;
  std::unique_ptr<std::byte[]> owned_;
  std::byte* data_;
};

struct Value {
  ir::Type type;                   // tensors: shape is not meaningful here, see dims
  uint64_t word = 0;               // scalars of one word
  std::vector<uint64_t> words;     // scalars of several words: int<k> with k > 1, xfield, digest
  std::shared_ptr<Memory> memory;  // buffers and tensors
  std::vector<int64_t> dims;       // tensors

  static Value Scalar(ir::Type type, std::span<const uint64_t> words);
  static Value Word(ir::Type type, uint64_t word);  // one-word scalars
  static Value Int(ir::Type type,
                   int64_t value);  // wraps to the type (any integer, bool, field mod p, int<k>)
  static Value Float(ir::Type type, double value);  // rounds once to the type
  static Value Buffer(std::shared_ptr<Memory> memory);
  static Value Tensor(std::shared_ptr<Memory> memory, std::vector<int64_t> dims);

  std::span<const uint64_t> scalar_words() const {
    return words.empty() ? std::span<const uint64_t>(&word, 1) : std::span<const uint64_t>(words);
  }
  // Bit for bit: types, words, dims and the contents of memory.
  friend bool operator==(const Value& a, const Value& b);
};

// With memory of their own; values that shared memory share it again.
std::vector<Value> CopyValues(std::span<const Value> values);

// "42", "[1.5, 2]" ... in the notation of the text form.
std::string PrintValue(const Value& value);

}  // namespace frazil::exec
