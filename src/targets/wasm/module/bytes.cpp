// LEB128 both ways. The writer always gives the shortest form; the reader accepts padded forms
// within the bound of the specification and refuses the rest, as engines do.
#include "targets/wasm/module/bytes.h"

#include <fmt/format.h>

namespace frazil::targets::wasm {

void AppendUnsigned(std::string& out, uint64_t value) {
  do {
    uint8_t byte = value & 0x7f;
    value >>= 7;
    out.push_back(static_cast<char>(byte | (value != 0 ? 0x80 : 0)));
  } while (value != 0);
}

void AppendSigned(std::string& out, int64_t value) {
  bool more = true;
  while (more) {
    uint8_t byte = value & 0x7f;
    value >>= 7;
    more = !((value == 0 && (byte & 0x40) == 0) || (value == -1 && (byte & 0x40) != 0));
    out.push_back(static_cast<char>(byte | (more ? 0x80 : 0)));
  }
}

void AppendFixed(std::string& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

void AppendName(std::string& out, std::string_view name) {
  AppendUnsigned(out, name.size());
  out.append(name);
}

std::unexpected<Error> ByteReader::Bad(std::string_view what) const {
  return Fail(Diag::BadArtifact, fmt::format("WASM module: {} at byte {}", what, offset()),
              Location{1, static_cast<uint32_t>(offset() + 1)});
}

Result<uint8_t> ByteReader::Byte() {
  if (at_end()) return Bad("unexpected end");
  return static_cast<uint8_t>(bytes_[position_++]);
}

Result<uint64_t> ByteReader::Leb(int bits, bool is_signed) {
  uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    uint8_t byte = TRY(Byte());
    int left = bits - shift;
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (left <= 7) {
      // The last byte may only repeat the sign (or be zero) in the bits beyond the width.
      uint8_t extra = static_cast<uint8_t>((byte & 0x7f) >> left);
      uint8_t ones = static_cast<uint8_t>(0x7f >> left);
      bool negative = is_signed && ((byte >> (left - 1)) & 1) != 0;
      if ((byte & 0x80) != 0 || extra != (negative ? ones : 0)) return Bad("number too large");
      if (negative && bits < 64) value |= ~uint64_t{0} << bits;
      return value;
    }
    if ((byte & 0x80) != 0) continue;
    if (is_signed && (byte & 0x40) != 0) value |= ~uint64_t{0} << (shift + 7);
    return value;
  }
}

Result<uint32_t> ByteReader::U32() { return static_cast<uint32_t>(TRY(Leb(32, false))); }
Result<int32_t> ByteReader::S32() { return static_cast<int32_t>(TRY(Leb(32, true))); }
Result<int64_t> ByteReader::S33() { return static_cast<int64_t>(TRY(Leb(33, true))); }
Result<int64_t> ByteReader::S64() { return static_cast<int64_t>(TRY(Leb(64, true))); }

Result<uint64_t> ByteReader::Fixed(int bytes) {
  std::string_view raw = TRY(Take(static_cast<size_t>(bytes)));
  uint64_t value = 0;
  for (int i = 0; i < bytes; ++i)
    value |= static_cast<uint64_t>(static_cast<uint8_t>(raw[static_cast<size_t>(i)])) << (8 * i);
  return value;
}

Result<std::string_view> ByteReader::Take(size_t count) {
  if (count > remaining()) return Bad("unexpected end");
  std::string_view taken = bytes_.substr(position_, count);
  position_ += count;
  return taken;
}

Result<std::string_view> ByteReader::Name() {
  uint32_t size = TRY(U32());
  std::string_view name = TRY(Take(size));
  for (size_t i = 0; i < name.size();) {
    uint8_t lead = static_cast<uint8_t>(name[i]);
    size_t length = lead < 0x80                   ? 1
                    : lead >= 0xc2 && lead < 0xe0 ? 2
                    : lead >= 0xe0 && lead < 0xf0 ? 3
                    : lead >= 0xf0 && lead < 0xf5 ? 4
                                                  : 0;
    if (length == 0 || i + length > name.size()) return Bad("name is not UTF-8");
    for (size_t k = 1; k < length; ++k)
      if ((static_cast<uint8_t>(name[i + k]) & 0xc0) != 0x80) return Bad("name is not UTF-8");
    i += length;
  }
  return name;
}

Result<uint32_t> ByteReader::Count() {
  uint32_t count = TRY(U32());
  if (count > remaining()) return Bad("count is larger than what follows");
  return count;
}

}  // namespace frazil::targets::wasm
