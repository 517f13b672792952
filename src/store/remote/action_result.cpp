// The protobuf wire format, by hand: six fields are written and one is read, which does not pay for a library.
#include "store/remote/action_result.h"

#include <optional>

namespace frazil::store {
namespace {

constexpr uint64_t Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5;  // wire types
// Field numbers of ActionResult, OutputFile and Digest.
constexpr uint64_t OutputFiles = 2, StdoutRaw = 5, FilePath = 1, FileDigest = 2, DigestHash = 1,
                   DigestSize = 2;

void AppendVarint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

void AppendBytes(std::string& out, uint64_t field, std::string_view bytes) {
  AppendVarint(out, field << 3 | Bytes);
  AppendVarint(out, bytes.size());
  out += bytes;
}

std::optional<uint64_t> TakeVarint(std::string_view& in) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && !in.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(in.front());
    in.remove_prefix(1);
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

}  // namespace

std::string PrintActionResult(const Record& record) {
  std::string digest, file, result;
  AppendBytes(digest, DigestHash, record.content);
  AppendVarint(digest, DigestSize << 3 | Varint);
  AppendVarint(digest, record.bytes);
  AppendBytes(file, FilePath, "form");
  AppendBytes(file, FileDigest, digest);
  AppendBytes(result, OutputFiles, file);
  AppendBytes(result, StdoutRaw, Frame(Kind::Record, PrintRecord(record)));
  return result;
}

std::expected<Record, Reason> ParseActionResult(std::string_view bytes) {
  std::string_view framed;
  while (!bytes.empty()) {
    const std::optional<uint64_t> tag = TakeVarint(bytes);
    if (!tag) return std::unexpected(Reason::RemoteBytes);
    std::optional<uint64_t> skip;
    switch (*tag & 7) {
      case Varint:
        if (!TakeVarint(bytes)) return std::unexpected(Reason::RemoteBytes);
        skip = 0;
        break;
      case Fixed64: skip = 8; break;
      case Fixed32: skip = 4; break;
      case Bytes: skip = TakeVarint(bytes); break;
      default: break;
    }
    if (!skip || *skip > bytes.size()) return std::unexpected(Reason::RemoteBytes);
    if (*tag == (StdoutRaw << 3 | Bytes)) framed = bytes.substr(0, *skip);
    bytes.remove_prefix(*skip);
  }
  const auto payload = Unframe(Kind::Record, framed);
  if (!payload) return std::unexpected(payload.error());
  return ParseRecord(*payload);
}

}  // namespace frazil::store
