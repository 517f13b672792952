// One description of the fields serves writing and reading. The bytes end with their digest, because a file that was
// half written must be a miss.
#include "aot/unit.h"

#include <array>
#include <cstring>
#include <type_traits>

#include "base/sha256.h"

namespace frazil::aot {
namespace {

constexpr std::string_view Magic = "FRZUNIT3";
constexpr size_t DigestBytes = 32;

class Writer {
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
  size_t Size(size_t size) {
    uint64_t word = size;
    Plain(word);
    return size;
  }
  std::string bytes;
};

class Reader {
 public:
  static constexpr bool IsReader = true;
  explicit Reader(std::string_view bytes) : left_(bytes) {}
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

template <typename Archive>
void Members(Archive& archive, Code& code) {
  Fields(archive, code.bytes, code.entry, code.uses_run);
}
template <typename Archive>
void Members(Archive& archive, Param& param) {
  Fields(archive, param.name, param.scalar, param.role, param.access);
}
template <typename Archive>
void Members(Archive& archive, Refusal& refusal) {
  Fields(archive, refusal.target, refusal.reason);
}
template <typename Archive>
void Members(Archive& archive, Traffic& traffic) {
  Fields(archive, traffic.bytes, traffic.more);
}
template <typename Archive>
void Members(Archive& archive, KernelReport& report) {
  Fields(archive, report.name, report.file, report.ops_before, report.ops_after,
         report.instructions, report.traffic_before, report.traffic_after, report.evidence,
         report.native_bytes, report.isa_bytes, report.in_pieces, report.ms, report.targets,
         report.refusals);
}
template <typename Archive>
void Members(Archive& archive, BuiltKernel& kernel) {
  Fields(archive, kernel.report, kernel.doc, kernel.params, kernel.results);
  for (Code& code : kernel.plain) Field(archive, code);
  for (Code& code : kernel.ranged) Field(archive, code);
  Fields(archive, kernel.trips, kernel.trips_word, kernel.plain_is_ranged, kernel.disjoint,
         kernel.at_most, kernel.covers, kernel.lengths, kernel.work, kernel.isa, kernel.ptx,
         kernel.wasm, kernel.c, kernel.ptx_text, kernel.source, kernel.digest);
}
template <typename Archive>
void Members(Archive& archive, Error& error) {
  Fields(archive, error.diag, error.message, error.location, error.file, error.hint);
}
template <typename Archive>
void Members(Archive& archive, Unit& unit) {
  bool failed = unit.error.has_value();
  Field(archive, failed);
  if (failed) {
    if (!unit.error) unit.error.emplace(Error{Diag::Internal, ""});
    Field(archive, *unit.error);
  }
  Field(archive, unit.kernels);
}

template <typename T>
constexpr bool IsVector = false;
template <typename T>
constexpr bool IsVector<std::vector<T>> = true;

template <typename Archive, typename T>
void Field(Archive& archive, T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    archive.Text(value);
  } else if constexpr (IsVector<T>) {
    const size_t size = archive.Size(value.size());
    if constexpr (Archive::IsReader) value.resize(size);
    for (auto& element : value) Field(archive, element);
  } else if constexpr (std::is_trivially_copyable_v<T> && !std::is_same_v<T, Traffic>) {
    archive.Plain(value);
  } else {
    Members(archive, value);
  }
}

std::string DigestOf(std::string_view bytes) {
  Sha256 hash;
  hash.Update(bytes);
  const auto digest = hash.Finish();
  return std::string(reinterpret_cast<const char*>(digest.data()), digest.size());
}

constexpr uint8_t Bytes[] = {1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 1, 8};

}  // namespace

std::string PackUnit(const Unit& unit) {
  Writer writer;
  writer.bytes = Magic;
  Unit copy = unit;
  Field(writer, copy);
  return writer.bytes + DigestOf(writer.bytes);
}

std::optional<Unit> UnpackUnit(std::string_view bytes) {
  if (bytes.size() < Magic.size() + DigestBytes || !bytes.starts_with(Magic)) return {};
  const std::string_view content = bytes.substr(0, bytes.size() - DigestBytes);
  if (DigestOf(content) != bytes.substr(content.size())) return {};
  Reader reader(content.substr(Magic.size()));
  Unit unit;
  Field(reader, unit);
  if (!reader.ok()) return {};
  return unit;
}

uint32_t WordsOf(const Param& param) { return param.is_buffer() ? 2 : 1; }

uint32_t ElementBytes(embed::ScalarKind scalar) { return Bytes[static_cast<size_t>(scalar)]; }

uint32_t WordOfParam(const BuiltKernel& kernel, size_t param) {
  uint32_t word = 0;
  for (size_t i = 0; i < param; ++i) word += WordsOf(kernel.params[i]);
  return word;
}

}  // namespace frazil::aot
