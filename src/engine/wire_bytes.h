// Fixed-width little-endian fields, written one after the other and read back strictly. A reader that has failed
// stays failed and gives zeros, so that decoding code reads straight down and asks once, at the end.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace frazil::engine::wire {

static_assert(std::endian::native == std::endian::little);

class Writer {
 public:
  template <typename T>
  void Put(T value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    const size_t at = bytes_.size();
    bytes_.resize(at + sizeof(T));
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
  }
  void PutRaw(std::string_view bytes) { bytes_ += bytes; }
  void PutBytes(std::string_view bytes) {
    Put<uint64_t>(bytes.size());
    bytes_ += bytes;
  }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  template <typename T>
  T Get() {
    static_assert(std::is_arithmetic_v<T>);
    T value{};
    const std::string_view raw = GetRaw(sizeof(T));
    if (raw.size() == sizeof(T)) std::memcpy(&value, raw.data(), sizeof(T));
    return value;
  }
  bool GetBool() { return GetBelow<uint8_t>(2) != 0; }
  // A number that must be less than `end`: enumerators, booleans.
  template <typename T>
  T GetBelow(T end) {
    const T value = Get<T>();
    if (value >= end) failed_ = true;
    return failed_ ? T{} : value;
  }
  // How many entries follow, of at least `bytes_each`: never more than there is room for.
  uint64_t GetCount(uint64_t bytes_each) {
    const uint64_t count = Get<uint64_t>();
    if (count > rest_.size() / bytes_each) failed_ = true;
    return failed_ ? 0 : count;
  }
  std::string_view GetBytes() { return GetRaw(GetCount(1)); }
  std::string GetString() { return std::string(GetBytes()); }
  std::string_view GetRaw(uint64_t size) {
    if (failed_ || size > rest_.size()) {
      failed_ = true;
      return {};
    }
    const std::string_view raw = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return raw;
  }

  void Refuse() { failed_ = true; }
  bool failed() const { return failed_; }
  bool at_end() const { return !failed_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace frazil::engine::wire
