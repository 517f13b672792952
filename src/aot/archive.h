// Structures as bytes and back: one description of the fields (a function Members, found beside the structure) serves
// both, over base/bytes.h.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/bytes.h"
#include "exec/native/native_code.h"
#include "verify/evidence.h"

namespace frazil::aot {

class ArchiveWriter {
 public:
  static constexpr bool IsReader = false;
  template <typename T>
  void Plain(const T& value) {
    out_.Raw({reinterpret_cast<const char*>(&value), sizeof value});
  }
  void Text(const std::string& text) { out_.Text(text); }
  void Flag(bool value) { out_.Flag(value); }
  uint64_t Count(uint64_t count) {
    out_.Count(count);
    return count;
  }
  std::string Take() { return out_.Take(); }

 private:
  ByteWriter out_;
};

class ArchiveReader {
 public:
  static constexpr bool IsReader = true;
  explicit ArchiveReader(std::string_view bytes) : in_(bytes) {}
  template <typename T>
  void Plain(T& value) {
    const std::string_view raw = in_.Raw(sizeof value);
    if (in_.ok()) std::memcpy(&value, raw.data(), sizeof value);
  }
  void Text(std::string& text) { text = in_.View(); }
  void Flag(bool& value) { value = in_.Flag(); }
  uint64_t Count(uint64_t) { return in_.Count(1); }
  void Refuse() { in_.Refuse(); }
  bool ok() const { return in_.ok(); }
  bool AtEnd() const { return in_.AtEnd(); }

 private:
  ByteReader in_;
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
    const uint64_t count = archive.Count(value.size());
    if constexpr (Archive::IsReader) {
      // One by one: a length that is a lie costs no more memory than there are bytes.
      for (uint64_t i = 0; i < count && archive.ok(); ++i) Field(archive, value.emplace_back());
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
