// Structures as bytes and back: one description of the fields (a function Members, found beside the structure) serves
// both. A reader never believes a length: what does not fit makes all that follows empty, and ok() false.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "exec/native_code.h"
#include "verify/evidence.h"

namespace frazil::aot {

class ArchiveWriter {
 public:
  static constexpr bool IsReader = false;
  template <typename T>
  void Plain(T& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void Text(std::string& text) {
    Size(text.size());
    bytes += text;
  }
  void Flag(bool& value) { bytes.push_back(value ? 1 : 0); }
  size_t Size(size_t size) {
    uint64_t word = size;
    Plain(word);
    return size;
  }
  std::string bytes;
};

class ArchiveReader {
 public:
  static constexpr bool IsReader = true;
  explicit ArchiveReader(std::string_view bytes) : left_(bytes) {}
  template <typename T>
  void Plain(T& value) {
    if (left_.size() < sizeof value) return Fail();
    std::memcpy(&value, left_.data(), sizeof value);
    left_.remove_prefix(sizeof value);
  }
  void Text(std::string& text) {
    const size_t size = Size(0);
    text = left_.substr(0, size);
    left_.remove_prefix(size);
  }
  // Never more than there are bytes left.
  size_t Size(size_t) {
    uint64_t word = 0;
    Plain(word);
    if (word <= left_.size()) return word;
    Fail();
    return 0;
  }
  void Flag(bool& value) {
    uint8_t byte = 0;
    Plain(byte);
    if (byte > 1) return Fail();
    value = byte == 1;
  }
  bool fits() const { return ok_; }
  bool ok() const { return ok_ && left_.empty(); }

 private:
  void Fail() {
    ok_ = false;
    left_ = {};
  }
  std::string_view left_;
  bool ok_ = true;
};

template <typename Archive, typename T>
void Field(Archive& archive, T& value);

template <typename Archive, typename... Ts>
void Fields(Archive& archive, Ts&... values) {
  (Field(archive, values), ...);
}

// Of other folders.
template <typename Archive>
void Members(Archive& archive, exec::StackNeed& need) {
  Fields(archive, need.frame_bytes, need.recursive);
}
template <typename Archive>
void Members(Archive& archive, exec::CodeThreshold& threshold) {
  Fields(archive, threshold.offset, threshold.least);
}
template <typename Archive>
void Members(Archive& archive, exec::NativeImage& image) {
  Fields(archive, image.level, image.metered, image.uses_run, image.tuned, image.stack,
         image.entry_offset, image.code, image.thresholds);
}
template <typename Archive>
void Members(Archive& archive, verify::Evidence& evidence) {
  Fields(archive, evidence.grade, evidence.judge, evidence.detail, evidence.cases);
}

template <typename T>
constexpr bool IsVector = false;
template <typename T>
constexpr bool IsVector<std::vector<T>> = true;

template <typename Archive, typename T>
void Field(Archive& archive, T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    archive.Text(value);
  } else if constexpr (std::is_same_v<T, bool>) {
    archive.Flag(value);
  } else if constexpr (IsVector<T>) {
    const size_t size = archive.Size(value.size());
    if constexpr (Archive::IsReader) {
      // One by one: a length that is a lie costs no more memory than there are bytes.
      for (size_t i = 0; i < size && archive.fits(); ++i) Field(archive, value.emplace_back());
    } else {
      for (auto& element : value) Field(archive, element);
    }
  } else if constexpr (std::has_unique_object_representations_v<T> || std::is_floating_point_v<T>) {
    archive.Plain(value);
  } else {
    Members(archive, value);
  }
}

}  // namespace frazil::aot
