// Frames, keys and records. Every length is checked against what is really there before it is used, because the
// bytes may come from anybody. A key is written as fields with their lengths in front, so that no two keys have one
// text whatever a guard or a toolchain contains; it stays readable for `frazil store show` and for grep.
#include "store/format.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "base/sha256.h"
#include "ir/prelude.h"
#include "ir/program.h"

namespace frazil::store {
namespace {

constexpr std::string_view Magic = "FRZSTOR\n";
constexpr size_t SchemaAt = 8, KindAt = 12, LengthAt = 16, DigestAt = 24;

void AppendNumber(std::string& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
}

uint64_t NumberAt(std::string_view bytes, size_t at, size_t count) {
  uint64_t value = 0;
  for (size_t i = 0; i < count; ++i)
    value |= uint64_t{static_cast<uint8_t>(bytes[at + i])} << (8 * i);
  return value;
}

std::array<uint8_t, 32> DigestOf(std::string_view payload) {
  Sha256 hash;
  hash.Update(payload);
  return hash.Finish();
}

// Takes "name length:value\n" from the front of a text.
class FieldReader {
 public:
  explicit FieldReader(std::string_view text) : rest_(text) {}

  std::string Field(std::string_view name) {
    if (!ok_ || !rest_.starts_with(name) || !Skip(name.size()) || !rest_.starts_with(' '))
      return Wrong();
    Skip(1);
    size_t length = 0;
    auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), length);
    if (error != std::errc() || !Skip(static_cast<size_t>(end - rest_.data()))) return Wrong();
    if (!rest_.starts_with(':') || length > rest_.size() - 1) return Wrong();
    std::string value(rest_.substr(1, length));
    Skip(1 + length);
    if (!rest_.starts_with('\n')) return Wrong();
    Skip(1);
    return value;
  }
  bool AtEnd() const { return ok_ && rest_.empty(); }

 private:
  bool Skip(size_t count) {
    rest_.remove_prefix(count);
    return true;
  }
  std::string Wrong() {
    ok_ = false;
    return {};
  }
  std::string_view rest_;
  bool ok_ = true;
};

std::string Field(std::string_view name, std::string_view value) {
  return fmt::format("{} {}:{}\n", name, value.size(), value);
}

std::string KeyHeader() {
  return fmt::format("frazil {} ir {} abi {} prelude {}\n", SchemaVersion, ir::IrVersion,
                     exec::NativeAbiVersion, ir::PreludeDigest());
}

}  // namespace

bool IsDigest(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string Frame(Kind kind, std::string_view payload) {
  std::string file(Magic);
  file.reserve(FrameBytes + payload.size());
  AppendNumber(file, SchemaVersion, 4);
  AppendNumber(file, static_cast<uint32_t>(kind), 4);
  AppendNumber(file, payload.size(), 8);
  const std::array<uint8_t, 32> digest = DigestOf(payload);
  file.append(reinterpret_cast<const char*>(digest.data()), digest.size());
  file += payload;
  return file;
}

std::expected<std::string_view, Reason> Unframe(Kind kind, std::string_view file) {
  if (file.size() < Magic.size()) return std::unexpected(Reason::Truncated);
  if (!file.starts_with(Magic)) return std::unexpected(Reason::Magic);
  if (file.size() < FrameBytes) return std::unexpected(Reason::Truncated);
  if (NumberAt(file, SchemaAt, 4) != SchemaVersion) return std::unexpected(Reason::Version);
  if (NumberAt(file, KindAt, 4) != static_cast<uint32_t>(kind))
    return std::unexpected(Reason::Kind);
  const std::string_view payload = file.substr(FrameBytes);
  if (NumberAt(file, LengthAt, 8) != payload.size()) return std::unexpected(Reason::Truncated);
  const std::array<uint8_t, 32> digest = DigestOf(payload);
  if (std::memcmp(digest.data(), file.data() + DigestAt, digest.size()) != 0)
    return std::unexpected(Reason::Digest);
  return payload;
}

std::string FrameDigest(std::string_view file) { return Hex(file.substr(DigestAt, 32)); }

std::string StoreKey::Text() const {
  return KeyHeader() + Field("source", source_exact) + Field("guard", guard) +
         Field("target", target) + Field("toolchain", toolchain) +
         Field("level", exec::CpuLevelName(level));
}

std::string StoreKey::Digest() const { return Sha256Hex(Text()); }

std::expected<StoreKey, Reason> ParseKey(std::string_view text) {
  const std::string header = KeyHeader();
  if (!text.starts_with("frazil ")) return std::unexpected(Reason::Record);
  if (!text.starts_with(header)) return std::unexpected(Reason::Version);
  FieldReader reader(text.substr(header.size()));
  StoreKey key;
  key.source_exact = reader.Field("source");
  key.guard = reader.Field("guard");
  key.target = reader.Field("target");
  key.toolchain = reader.Field("toolchain");
  const std::optional<exec::CpuLevel> level = exec::CpuLevelNamed(reader.Field("level"));
  if (!reader.AtEnd() || !level) return std::unexpected(Reason::Record);
  key.level = *level;
  // Lengths have more than one spelling ("7", "07"); a text has one.
  if (key.Text() != text) return std::unexpected(Reason::Record);
  return key;
}

std::string PrintRecord(const Record& record) {
  return fmt::format("content {} {}\n{}", record.content, record.bytes, record.key);
}

std::expected<Record, Reason> ParseRecord(std::string_view payload) {
  constexpr std::string_view Start = "content ";
  constexpr size_t DigestChars = 64;
  const size_t line_end = payload.find('\n');
  if (!payload.starts_with(Start) || line_end == std::string_view::npos)
    return std::unexpected(Reason::Record);
  const std::string_view line = payload.substr(Start.size(), line_end - Start.size());
  if (line.size() < DigestChars + 2 || line[DigestChars] != ' ')
    return std::unexpected(Reason::Record);
  Record record;
  record.content = line.substr(0, DigestChars);
  const std::string_view number = line.substr(DigestChars + 1);
  auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), record.bytes);
  if (!IsDigest(record.content) || error != std::errc() || end != number.data() + number.size())
    return std::unexpected(Reason::Record);
  record.key = payload.substr(line_end + 1);
  return record;
}

}  // namespace frazil::store
