#include "base/utf8.h"

#include <algorithm>
#include <cstring>

namespace frazil {
namespace {

// Length of the well-formed sequence at text[at], 0 if there is none.
size_t SequenceLength(std::string_view text, size_t at) {
  auto byte = [&](size_t i) -> uint32_t {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0;
  };
  auto continues = [&](size_t i) { return (byte(i) & 0xc0) == 0x80; };
  uint32_t lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return continues(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    if (!continues(1) || !continues(2)) return 0;
    uint32_t code = (lead & 15) << 12 | (byte(1) & 63) << 6 | (byte(2) & 63);
    return code >= 0x800 && (code < 0xd800 || code > 0xdfff) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    if (!continues(1) || !continues(2) || !continues(3)) return 0;
    uint32_t code = (lead & 7) << 18 | (byte(1) & 63) << 12;
    return code >= 0x10000 && code <= 0x10ffff ? 4 : 0;
  }
  return 0;
}

// May the well-formed sequence at text[at] be shown as it is?
bool Visible(std::string_view text, size_t at, size_t length) {
  const auto lead = static_cast<unsigned char>(text[at]);
  if (length == 1) return lead >= 0x20 && lead != 0x7f;
  const std::string_view sequence = text.substr(at, length);
  if (length == 2) return sequence >= "\xc2\xa0";  // U+0080 .. U+009F are controls
  const auto within = [&](std::string_view first, std::string_view last) {
    return length == 3 && first <= sequence && sequence <= last;
  };
  return !within("\xe2\x80\x8b", "\xe2\x80\x8f") &&  // U+200B .. U+200F
         !within("\xe2\x80\xa8", "\xe2\x80\xae") &&  // U+2028 .. U+202E
         !within("\xe2\x81\xa0", "\xe2\x81\xaf") &&  // U+2060 .. U+206F
         sequence != "\xef\xbb\xbf";                 // U+FEFF
}

void AppendEscaped(std::string_view bytes, std::string* to) {
  constexpr char Digits[] = "0123456789abcdef";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    *to += "\\x";
    *to += Digits[byte >> 4];
    *to += Digits[byte & 15];
  }
}

}  // namespace

std::optional<Location> FindBadUtf8(std::string_view text) {
  Location location{1, 1};
  size_t at = 0;
  while (at < text.size()) {
    // Eight ASCII bytes at a time: texts are nearly always that.
    uint64_t eight = 0;
    if (at + 8 <= text.size()) {
      std::memcpy(&eight, text.data() + at, 8);
      if ((eight & 0x8080808080808080) == 0) {
        at += 8;
        continue;
      }
    }
    size_t length = SequenceLength(text, at);
    if (length == 0) {
      for (size_t i = 0; i < at; ++i) {
        bool newline = text[i] == '\n';
        location.line += newline;
        location.column = newline ? 1 : location.column + 1;
      }
      return location;
    }
    at += length;
  }
  return std::nullopt;
}

namespace {

struct BinaryKind {
  std::string_view magic, what, hint;
};
constexpr BinaryKind BinaryKinds[] = {
    {"\177ELF", "an ELF program or library", "give the source that it was built from"},
    {"\x93NUMPY", "a NumPy array", "bind it to a buffer: --bind x=FILE.npy"},
    {"FRZB", "a kernel for the portable machine", "call it .frzb"},
    {std::string_view("\0asm", 4), "a WebAssembly module", "give the program it was emitted from"},
    {"\x1f\x8b", "a gzip archive", "unpack it first"},
    {"PK\x03\x04", "a zip archive", "unpack it first"},
    {"\x89PNG", "a picture", "give a source file"},
    {"%PDF-", "a PDF document", "give a source file"},
};

std::optional<Error> BinaryError(std::string_view bytes) {
  const std::string message = "this is a binary file, not a text";
  for (const BinaryKind& kind : BinaryKinds)
    if (bytes.starts_with(kind.magic))
      return Error{Diag::BadUtf8,
                   message + ": it looks like " + std::string(kind.what),
                   {1, 1},
                   {},
                   std::string(kind.hint)};
  // A text may have a stray 0, which its reader finds the place of; binary files have many.
  constexpr size_t Looked = 4096, Many = 4;
  bytes = bytes.substr(0, Looked);
  const size_t zeros = static_cast<size_t>(std::ranges::count(bytes, '\0'));
  if (zeros < Many || zeros * 64 < bytes.size()) return std::nullopt;
  return Error{Diag::BadUtf8, message, {1, 1}, {}, "give a source file"};
}

}  // namespace

std::optional<Error> Utf8Error(std::string_view text) {
  if (std::optional<Error> binary = BinaryError(text)) return binary;
  const std::optional<Location> place = FindBadUtf8(text);
  if (!place) return std::nullopt;
  size_t at = 0;
  for (uint32_t line = 1; line < place->line; ++line) at = text.find('\n', at) + 1;
  at += place->column - 1;
  return Error{Diag::BadUtf8,
               "the text is not UTF-8 here: byte " + Printable(text.substr(at, 1)),
               *place,
               {},
               "save the file as UTF-8"};
}

std::string Printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t length = SequenceLength(text, at);
    const size_t taken = std::max<size_t>(length, 1);
    if (length != 0 && Visible(text, at, length))
      shown += text.substr(at, taken);
    else
      AppendEscaped(text.substr(at, taken), &shown);
    at += taken;
  }
  return shown;
}

std::string_view CutUtf8(std::string_view text, size_t bytes) {
  if (bytes >= text.size()) return text;
  for (size_t back = 0; back < 4 && bytes >= back; ++back) {
    const auto next = static_cast<unsigned char>(text[bytes - back]);
    if ((next & 0xc0) != 0x80) return text.substr(0, bytes - back);
  }
  return text.substr(0, bytes);  // no UTF-8, so no character to cut
}

}  // namespace frazil
