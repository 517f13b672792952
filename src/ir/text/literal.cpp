// Constants as words and as text. Decimal floats are read by the standard library's correctly rounding
// from_chars; the narrow ones are read as f64 and rounded once more, which is exact for everything the
// printer writes (their values are f64 values).
#include "ir/text/literal.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>

#include "base/number/float16.h"
#include "base/number/goldilocks.h"
#include "base/number/wide.h"
#include "ir/text/text.h"

namespace frazil::ir {
namespace {

uint64_t Extend(Type type, uint64_t value) {
  int bits = BitsOf(type);
  if (bits == 64) return value;
  int shift = 64 - bits;
  if (IsSigned(type.scalar))
    return static_cast<uint64_t>(static_cast<int64_t>(value << shift) >> shift);
  return (value << shift) >> shift;
}

Error Bad(Type type, std::string_view text, const char* why = "does not fit its type") {
  std::string shown(text.substr(0, 40));
  if (text.size() > 40) shown += "...";
  return Error{Diag::BadLiteral,
               fmt::format("the literal '{}' {}, {}", shown, why, ScalarOrBufferName(type))};
}

bool SplitSign(std::string_view& text) {
  if (!text.starts_with('-')) return false;
  text.remove_prefix(1);
  return true;
}

// A machine integer in decimal or 0x form.
bool ParseFixed(Type type, std::string_view text, uint64_t& word) {
  bool negative = SplitSign(text);
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  }
  uint64_t magnitude = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), magnitude, base);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  int bits = BitsOf(type);
  if (IsSigned(type.scalar)) {
    uint64_t most = uint64_t{1} << (bits - 1);
    // Hexadecimal spells bits, so 0xff is a good i8.
    if (base == 16 && !negative && magnitude <= UINT64_MAX >> (64 - bits)) {
      word = Extend(type, magnitude);
      return true;
    }
    if (magnitude > (negative ? most : most - 1)) return false;
  } else if ((negative && magnitude != 0) || magnitude > UINT64_MAX >> (64 - bits)) {
    return false;
  }
  word = negative ? 0 - magnitude : magnitude;
  return true;
}

bool ParseFloat(Type type, std::string_view text, uint64_t& word) {
  if (text == "nan") {
    word = QuietNaN(type.scalar);
    return true;
  }
  if (text.starts_with("bits(0x") && text.ends_with(")")) {
    text = text.substr(7, text.size() - 8);
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), word, 16);
    return error == std::errc() && end == text.data() + text.size() && !text.empty() &&
           (BitsOf(type) == 64 || word >> BitsOf(type) == 0);
  }
  bool negative = SplitSign(text);
  if (text.empty() || text[0] == '-' || text[0] == '+' || text[0] == 'n') return false;
  auto format = std::chars_format::general;
  if (text.starts_with("0x")) {
    format = std::chars_format::hex;
    text.remove_prefix(2);
  }
  const char* last = text.data() + text.size();
  std::from_chars_result result{};
  double value = 0;
  if (type.scalar == Scalar::F32) {
    float narrow = 0;
    result = std::from_chars(text.data(), last, narrow, format);
    value = narrow;
  } else {
    result = std::from_chars(text.data(), last, value, format);
  }
  if (result.ec != std::errc() || result.ptr != last) return false;
  word = LiteralFromDouble(type, negative ? -value : value);
  return true;
}

bool ParseFieldElement(std::string_view text, uint64_t& word) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return ParseFixed(types::U64, text, word) && word < goldilocks::P;
}

bool ParseTuple(std::string_view text, std::span<uint64_t> words) {
  if (!text.starts_with('(') || !text.ends_with(')')) return false;
  text = text.substr(1, text.size() - 2);
  for (size_t i = 0; i < words.size(); ++i) {
    size_t comma = text.find(',');
    if ((comma == std::string_view::npos) != (i + 1 == words.size())) return false;
    if (!ParseFieldElement(text.substr(0, comma), words[i])) return false;
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return true;
}

void AppendFloat(std::string& out, Type type, uint64_t bits) {
  double value = 0;
  switch (type.scalar) {
    case Scalar::F16: value = float16::F16::ToFloat(static_cast<uint16_t>(bits)); break;
    case Scalar::BF16: value = float16::BF16::ToFloat(static_cast<uint16_t>(bits)); break;
    case Scalar::F32: value = std::bit_cast<float>(static_cast<uint32_t>(bits)); break;
    default: value = std::bit_cast<double>(bits); break;
  }
  if (std::isnan(value)) {
    if (bits == QuietNaN(type.scalar))
      out += "nan";
    else
      fmt::format_to(std::back_inserter(out), "bits({:#x})", bits);
  } else if (type.scalar == Scalar::F64) {
    fmt::format_to(std::back_inserter(out), "{}", value);
  } else {
    fmt::format_to(std::back_inserter(out), "{}", static_cast<float>(value));
  }
}

}  // namespace

uint64_t QuietNaN(Scalar scalar) {
  switch (scalar) {
    case Scalar::F16: return 0x7e00;
    case Scalar::BF16: return 0x7fc0;
    case Scalar::F32: return 0x7fc00000;
    default: return 0x7ff8000000000000;
  }
}

uint64_t LiteralFromDouble(Type scalar, double value) {
  if (std::isnan(value)) return QuietNaN(scalar.scalar);
  switch (scalar.scalar) {
    case Scalar::F16: return float16::F16::FromDouble(value);
    case Scalar::BF16: return float16::BF16::FromDouble(value);
    case Scalar::F32: return std::bit_cast<uint32_t>(static_cast<float>(value));
    default: return std::bit_cast<uint64_t>(value);
  }
}

std::vector<uint64_t> LiteralFromInt(Type scalar, int64_t value) {
  uint64_t word = static_cast<uint64_t>(value);
  switch (scalar.scalar) {
    case Scalar::Bool: return {value != 0 ? 1u : 0u};
    case Scalar::F16:
    case Scalar::BF16:
    case Scalar::F32:
    case Scalar::F64: return {LiteralFromDouble(scalar, static_cast<double>(value))};
    case Scalar::Field:
    case Scalar::XField:
    case Scalar::Digest: {
      std::vector<uint64_t> words(WordsOf(scalar), 0);
      words[0] = goldilocks::FromInt64(value);
      return words;
    }
    case Scalar::Int: {
      std::vector<uint64_t> words(scalar.limbs, value < 0 ? UINT64_MAX : 0);
      words[0] = word;
      return words;
    }
    default: return {Extend(scalar, word)};
  }
}

bool IsCanonicalLiteral(Type scalar, std::span<const uint64_t> words) {
  if (words.size() != WordsOf(scalar)) return false;
  switch (scalar.scalar) {
    case Scalar::Int: return true;
    case Scalar::Field:
    case Scalar::XField:
    case Scalar::Digest:
      for (uint64_t word : words)
        if (word >= goldilocks::P) return false;
      return true;
    default: return words[0] == Extend(scalar, words[0]);
  }
}

std::string PrintLiteral(Type scalar, std::span<const uint64_t> words) {
  std::string out;
  AppendLiteral(out, scalar, words);
  return out;
}

void AppendLiteral(std::string& out, Type scalar, std::span<const uint64_t> words) {
  auto sink = std::back_inserter(out);
  switch (scalar.scalar) {
    case Scalar::Bool: out += words[0] != 0 ? "true" : "false"; return;
    case Scalar::F16:
    case Scalar::BF16:
    case Scalar::F32:
    case Scalar::F64: AppendFloat(out, scalar, words[0]); return;
    case Scalar::Int: out += wide::ToDecimal(words); return;
    case Scalar::Field: fmt::format_to(sink, "{}", words[0]); return;
    case Scalar::XField:
    case Scalar::Digest: fmt::format_to(sink, "({})", fmt::join(words, ", ")); return;
    default:
      if (IsSigned(scalar.scalar))
        fmt::format_to(sink, "{}", static_cast<int64_t>(words[0]));
      else
        fmt::format_to(sink, "{}", words[0]);
  }
}

Result<std::vector<uint64_t>> ParseLiteral(Type scalar, std::string_view text,
                                           const Limits& limits) {
  if (text.size() > limits.literal_chars)
    return Fail(Diag::LimitReached,
                fmt::format("a literal has {} characters, more than --max-literal {}", text.size(),
                            limits.literal_chars));
  std::vector<uint64_t> words(WordsOf(scalar), 0);
  bool good = false;
  switch (scalar.scalar) {
    case Scalar::Bool:
      good = text == "true" || text == "false" || text == "0" || text == "1";
      words[0] = text == "true" || text == "1";
      break;
    case Scalar::F16:
    case Scalar::BF16:
    case Scalar::F32:
    case Scalar::F64: good = ParseFloat(scalar, text, words[0]); break;
    case Scalar::Int: good = wide::FromDecimal(text, words); break;
    case Scalar::Field: good = ParseFieldElement(text, words[0]); break;
    case Scalar::XField:
    case Scalar::Digest: good = ParseTuple(text, words); break;
    default: good = ParseFixed(scalar, text, words[0]); break;
  }
  if (!good) return std::unexpected(Bad(scalar, text));
  return words;
}

}  // namespace frazil::ir
