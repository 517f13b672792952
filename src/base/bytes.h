// The bytes of our binary formats: fields one after the other, numbers little-endian, a text behind its length. The
// reader has a function for each of the writer's. What does not fit it refuses, and from then on it gives zeros, so
// that decoding code reads straight down and asks once, at the end. A length is believed only as far as there are bytes.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace frazil {

static_assert(std::endian::native == std::endian::little);

class ByteWriter {
 public:
  // The width is part of a format: whoever calls writes it down.
  template <typename T>
  void Number(std::type_identity_t<T> value) {
    static_assert(std::is_integral_v<T> && !std::is_same_v<T, bool>);
    Append(&value, sizeof value);
  }
  void Double(double value) { Append(&value, sizeof value); }
  void Flag(bool value) { Number<uint8_t>(value ? 1 : 0); }
  // As wide as the type that it was declared with.
  template <typename E>
  void Enum(E value) {
    static_assert(std::is_enum_v<E>);
    Append(&value, sizeof value);
  }
  void Raw(std::string_view bytes) { bytes_ += bytes; }
  // A digest, a key: what has a fixed size.
  template <size_t Size>
  void Fixed(const std::array<uint8_t, Size>& bytes) {
    Append(bytes.data(), Size);
  }
  // How many entries follow, or how many bytes.
  void Count(uint64_t count) { Number<uint64_t>(count); }
  void Text(std::string_view text) {
    Count(text.size());
    Raw(text);
  }
  template <typename List, typename Write>
  void Each(const List& list, Write write) {
    Count(list.size());
    for (const auto& item : list) write(item);
  }

  const std::string& bytes() const { return bytes_; }
  void Reserve(size_t bytes) { bytes_.reserve(bytes); }
  std::string Take() { return std::move(bytes_); }

 private:
  void Append(const void* from, size_t size) {
    bytes_.append(static_cast<const char*>(from), size);
  }
  std::string bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  template <typename T>
  T Number() {
    static_assert(std::is_integral_v<T> && !std::is_same_v<T, bool>);
    return Plain<T>();
  }
  // Less than `end`, or refused.
  template <typename T>
  T Below(std::type_identity_t<T> end) {
    const T value = Number<T>();
    if (value >= end) Refuse();
    return ok_ ? value : T{};
  }
  double Double() { return Plain<double>(); }
  bool Flag() { return Below<uint8_t>(2) != 0; }
  // One of those up to `last`.
  template <typename E>
  E Enum(E last) {
    using Word = std::make_unsigned_t<std::underlying_type_t<E>>;
    const Word value = Number<Word>();
    if (value > static_cast<Word>(last)) Refuse();
    return ok_ ? static_cast<E>(value) : E{};
  }
  // The next bytes where they are.
  std::string_view Raw(uint64_t size) {
    if (size > rest_.size()) Refuse();
    if (!ok_) return {};
    const std::string_view raw = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return raw;
  }
  template <typename Array>
  Array Fixed() {
    static_assert(sizeof(typename Array::value_type) == 1);
    return Plain<Array>();
  }
  // How many entries follow, of at least `bytes_each` (not 0): never more than there is room for.
  uint64_t Count(uint64_t bytes_each) {
    const uint64_t count = Number<uint64_t>();
    if (count > rest_.size() / bytes_each) Refuse();
    return ok_ ? count : 0;
  }
  std::string_view View() { return Raw(Count(1)); }
  std::string Text() { return std::string(View()); }
  // A list whose entries take at least `bytes_each`. It grows as they are read: an entry may take more memory than bytes,
  // and those behind one that was refused take none.
  template <typename Read>
  auto Each(uint64_t bytes_each, Read read) {
    std::vector<std::invoke_result_t<Read>> list;
    for (uint64_t left = Count(bytes_each); left > 0 && ok_; --left) list.push_back(read());
    return list;
  }

  // What was read means nothing.
  void Refuse() {
    ok_ = false;
    rest_ = {};
  }
  bool ok() const { return ok_; }
  // All was read, and all of it fitted.
  bool AtEnd() const { return ok_ && rest_.empty(); }

 private:
  template <typename T>
  T Plain() {
    T value{};
    const std::string_view raw = Raw(sizeof value);
    if (ok_) std::memcpy(&value, raw.data(), sizeof value);
    return value;
  }
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace frazil
