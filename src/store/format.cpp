// Frames, keys and records. Every length is checked against what is really there before it is used, because the
// bytes may come from anybody. A key is written as fields with their lengths in front, so that no two keys have one
// text whatever a guard or a toolchain contains; it stays readable for `frazil store show` and for grep.
#include "store/format.h"
#include "exec/native/native_code.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "base/bytes.h"
#include "base/sha256.h"
#include "ir/lower/prelude.h"
#include "ir/program.h"

namespace frazil::store {
namespace {

constexpr std::string_view Magic = "FRZSTOR\n";
using Digest = std::array<uint8_t, 32>;

Digest DigestOf(std::string_view payload) {
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
  ByteWriter file;
  file.Reserve(FrameBytes + payload.size());
  file.Raw(Magic);
  file.Number<uint32_t>(SchemaVersion);
  file.Enum(kind);
  file.Count(payload.size());
  file.Fixed(DigestOf(payload));
  file.Raw(payload);
  return file.Take();
}

std::expected<std::string_view, Reason> Unframe(Kind kind, std::string_view file) {
  ByteReader frame(file);
  const std::string_view magic = frame.Raw(Magic.size());
  if (!frame.ok()) return std::unexpected(Reason::Truncated);
  if (magic != Magic) return std::unexpected(Reason::Magic);
  const auto schema = frame.Number<uint32_t>();
  const auto found = frame.Number<uint32_t>();
  const auto length = frame.Number<uint64_t>();
  const auto digest = frame.Fixed<Digest>();
  if (!frame.ok()) return std::unexpected(Reason::Truncated);
  if (schema != SchemaVersion) return std::unexpected(Reason::Version);
  if (found != static_cast<uint32_t>(kind)) return std::unexpected(Reason::Kind);
  const std::string_view payload = frame.Raw(length);
  if (!frame.AtEnd()) return std::unexpected(Reason::Truncated);
  if (digest != DigestOf(payload)) return std::unexpected(Reason::Digest);
  return payload;
}

std::string FrameDigest(std::string_view file) {
  return Hex(file.substr(FrameBytes - sizeof(Digest), sizeof(Digest)));
}

std::string StoreKey::Text() const {
  return KeyHeader() + Field("source", source_exact) + Field("guard", guard) +
         Field("target", target) + Field("toolchain", toolchain) + Field("profile", profile) +
         Field("calling", calling);
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
  key.profile = reader.Field("profile");
  key.calling = reader.Field("calling");
  if (!reader.AtEnd()) return std::unexpected(Reason::Record);
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
