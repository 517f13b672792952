// The registry of support pieces: finds a piece by its key ("min:i32"), fills its argument in, and writes
// the pieces out with their guards. Text substitution is enough here: C has no templates, and macros would
// make the header hard to read.
#include "targets/c/support.h"

#include <fmt/format.h>

#include <array>
#include <cctype>

#include "base/check.h"
#include "targets/c/ctype.h"

namespace frazil::targets::c {
namespace {

// Headers of different versions must not share pieces.
constexpr int SupportVersion = 1;

struct Argument {
  std::string_view tag, type, unsigned_type, arithmetic, twice, bits, least, greatest, low, high;
  std::string_view magnitude_mask = {}, infinity = {}, quiet_nan = {};  // floats: as bits
};

constexpr std::array Arguments = {
    Argument{"i8", "int8_t", "uint8_t", "uint32_t", "int32_t", "8", "INT8_MIN", "INT8_MAX",
             "-128.0", "128.0"},
    Argument{"i16", "int16_t", "uint16_t", "uint32_t", "int32_t", "16", "INT16_MIN", "INT16_MAX",
             "-32768.0", "32768.0"},
    Argument{"i32", "int32_t", "uint32_t", "uint32_t", "int64_t", "32", "INT32_MIN", "INT32_MAX",
             "-2147483648.0", "2147483648.0"},
    Argument{"i64", "int64_t", "uint64_t", "uint64_t", "frz_i128", "64", "INT64_MIN", "INT64_MAX",
             "-9223372036854775808.0", "9223372036854775808.0"},
    Argument{"u8", "uint8_t", "uint8_t", "uint32_t", "uint32_t", "8", "0", "UINT8_MAX", "0.0",
             "256.0"},
    Argument{"u16", "uint16_t", "uint16_t", "uint32_t", "uint32_t", "16", "0", "UINT16_MAX", "0.0",
             "65536.0"},
    Argument{"u32", "uint32_t", "uint32_t", "uint32_t", "uint64_t", "32", "0", "UINT32_MAX", "0.0",
             "4294967296.0"},
    Argument{"u64", "uint64_t", "uint64_t", "uint64_t", "frz_u128", "64", "0", "UINT64_MAX", "0.0",
             "18446744073709551616.0"},
    Argument{"f32", "float", "uint32_t", "", "", "32", "", "", "", "", "0x7fffffffu", "0x7f800000u",
             "0x7fc00000u"},
    Argument{"f64", "double", "uint64_t", "", "", "64", "", "", "", "", "0x7fffffffffffffffull",
             "0x7ff0000000000000ull", "0x7ff8000000000000ull"},
};

const Piece* FindPiece(std::string_view name) {
  for (auto pieces : {RunPieces(), IntegerPieces(), FloatPieces(), FieldPieces(), WidePieces()}) {
    for (const Piece& piece : pieces) {
      if (piece.name == name) return &piece;
    }
  }
  return nullptr;
}

std::pair<std::string_view, std::string_view> SplitKey(std::string_view key) {
  const size_t colon = key.find(':');
  if (colon == std::string_view::npos) return {key, {}};
  return {key.substr(0, colon), key.substr(colon + 1)};
}

// int<k> pieces have a plain number as their tag.
Argument ArgumentOf(std::string_view tag) {
  for (const Argument& argument : Arguments) {
    if (argument.tag == tag) return argument;
  }
  Argument number;
  number.tag = tag;
  return number;
}

std::string_view Replacement(const Argument& argument, char c) {
  switch (c) {
    case 't': return argument.tag;
    case 'K': return argument.tag;
    case 'T': return argument.type;
    case 'U': return argument.unsigned_type;
    case 'A': return argument.arithmetic;
    case 'D': return argument.twice;
    case 'W': return argument.bits;
    case 'N': return argument.least;
    case 'X': return argument.greatest;
    case 'L': return argument.low;
    case 'H': return argument.high;
    case 'a': return argument.magnitude_mask;
    case 'i': return argument.infinity;
    case 'q': return argument.quiet_nan;
    default: break;
  }
  CHECK(false);
  return {};
}

std::string Fill(std::string_view text, std::string_view tag) {
  const Argument argument = ArgumentOf(tag);
  std::string filled;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '$' && i + 1 < text.size())
      filled += Replacement(argument, text[++i]);
    else
      filled += text[i];
  }
  return filled;
}

std::string GuardOf(std::string_view key) {
  std::string guard = "FRZ_SUPPORT_";
  for (char c : key)
    guard += c == ':' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return guard;
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == '\n') text.remove_prefix(1);
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  return text;
}

}  // namespace

void Support::Add(const std::string& key) {
  if (!known_.insert(key).second) return;
  const auto [name, tag] = SplitKey(key);
  const Piece* piece = FindPiece(name);
  CHECK(piece != nullptr);
  const std::string needs = Fill(piece->needs, tag);
  for (size_t begin = 0; begin < needs.size();) {
    size_t end = needs.find(' ', begin);
    if (end == std::string::npos) end = needs.size();
    if (end > begin) Add(needs.substr(begin, end - begin));
    begin = end + 1;
  }
  order_.push_back(key);
}

std::string Support::Use(std::string_view piece) {
  Add(std::string(piece));
  return fmt::format("frz_{}", piece);
}

std::string Support::Use(std::string_view piece, std::string_view tag) {
  Add(fmt::format("{}:{}", piece, tag));
  return fmt::format("frz_{}_{}", piece, tag);
}

std::string Support::Use(std::string_view piece, ir::Type argument) {
  return Use(piece, TypeTag(argument));
}

void Support::UseType(ir::Type scalar) {
  if (scalar.scalar == ir::Scalar::Int) Add(fmt::format("int:{}", scalar.limbs));
  if (scalar.scalar == ir::Scalar::XField) Add("xfield");
  if (scalar.scalar == ir::Scalar::Digest) Add("digest");
  if (ir::IsFloat(scalar.scalar)) uses_floats_ = true;
}

std::string Support::Text() const {
  std::string text = fmt::format(R"(#ifndef __GNUC__
#error "this header needs gcc or clang"
#endif
#ifndef FRZ_SUPPORT_VERSION
#define FRZ_SUPPORT_VERSION {0}
#elif FRZ_SUPPORT_VERSION != {0}
#error "headers of different Frazil versions cannot share a translation unit"
#endif

)",
                                 SupportVersion);
  for (const std::string& key : order_) {
    const auto [name, tag] = SplitKey(key);
    const std::string guard = GuardOf(key);
    text += fmt::format("#ifndef {0}\n#define {0}\n{1}\n#endif\n\n", guard,
                        Trimmed(Fill(FindPiece(name)->text, tag)));
  }
  return text;
}

}  // namespace frazil::targets::c
