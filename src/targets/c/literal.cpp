// Literals. Floats are written with the fewest decimal digits that read back as the same bits, which every
// compiler rounds correctly; NaNs have no literal and are made from bits.
#include "targets/c/literal.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "targets/c/ctype.h"

namespace frazil::targets::c {
namespace {

using ir::Scalar;

template <typename T>
Text FloatLiteral(T value, std::string_view suffix) {
  if (std::isinf(value)) {
    const std::string_view name = sizeof(T) == 4 ? "INFINITY" : "HUGE_VAL";
    if (value < 0) return {fmt::format("-{}", name), Strength::Unary};
    return {std::string(name), Strength::Primary};
  }
  char digits[64];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), value);
  std::string text(digits, end.ptr);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  text += suffix;
  return {text, std::signbit(value) ? Strength::Unary : Strength::Primary};
}

Text SignedLiteral(int bits, int64_t value) {
  if (bits == 64 && value == std::numeric_limits<int64_t>::min()) return {"INT64_MIN"};
  if (bits == 32 && value == std::numeric_limits<int32_t>::min()) return {"INT32_MIN"};
  const bool is_long =
      value > std::numeric_limits<int32_t>::max() || value < std::numeric_limits<int32_t>::min();
  const Strength strength = value < 0 ? Strength::Unary : Strength::Primary;
  return {fmt::format("{}{}", value, is_long ? "ll" : ""), strength};
}

}  // namespace

Text Literal(ir::Type type, uint64_t word, Support& support) {
  switch (type.scalar) {
    case Scalar::I8:
    case Scalar::I16:
    case Scalar::I32:
    case Scalar::I64:
    case Scalar::Index: return SignedLiteral(ir::BitsOf(type), static_cast<int64_t>(word));
    case Scalar::U8:
    case Scalar::U16: return {fmt::format("{}", word)};
    case Scalar::U32:
    case Scalar::U64:
    case Scalar::Field: return {UnsignedLiteral(type, word)};
    case Scalar::F16:
    case Scalar::BF16: return {fmt::format("0x{:04x}", word)};
    case Scalar::Bool: return {word != 0 ? "true" : "false"};
    case Scalar::F32: {
      support.UseFloats();
      const float value = std::bit_cast<float>(static_cast<uint32_t>(word));
      if (!std::isnan(value)) return FloatLiteral(value, "f");
      if (word == 0x7fc0'0000) return {support.Use("nan_f32") + "()"};
      return {fmt::format("{}(0x{:08x}u)", support.Use("from_bits", type), word)};
    }
    case Scalar::F64: {
      support.UseFloats();
      const double value = std::bit_cast<double>(word);
      if (!std::isnan(value)) return FloatLiteral(value, "");
      if (word == 0x7ff8'0000'0000'0000) return {support.Use("nan_f64") + "()"};
      return {fmt::format("{}(0x{:016x}ull)", support.Use("from_bits", type), word)};
    }
    case Scalar::Int:
    case Scalar::XField:
    case Scalar::Digest: break;
  }
  CHECK(false);
  return {};
}

std::string UnsignedLiteral(ir::Type integer, uint64_t word) {
  if (ir::BitsOf(integer) == 64) return fmt::format("{}ull", word);
  return fmt::format("{}u", static_cast<uint32_t>(word));
}

std::string StructInitializer(std::span<const uint64_t> words) {
  std::string text = "{{";
  for (size_t i = 0; i < words.size(); ++i)
    text += fmt::format("{}{}ull", i == 0 ? "" : ", ", words[i]);
  return text + "}}";
}

bool IsTableOfBits(const ir::Data& data) {
  for (uint64_t word : data.words) {
    if (data.element.scalar == Scalar::F32 &&
        std::isnan(std::bit_cast<float>(static_cast<uint32_t>(word))))
      return true;
    if (data.element.scalar == Scalar::F64 && std::isnan(std::bit_cast<double>(word))) return true;
  }
  return false;
}

std::string TableDefinition(const ir::Data& data, const std::string& name, Support& support) {
  const ir::Type element = data.element;
  const bool bits = IsTableOfBits(data);
  const std::string type = !bits                           ? ElementTypeName(element)
                           : element.scalar == Scalar::F32 ? "uint32_t"
                                                           : "uint64_t";
  const uint32_t words = ir::WordsOf(element);
  support.UseType(element);
  std::string text = fmt::format("static const {} {}[{}] = {{", type, name, data.length());
  size_t column = 100;
  for (uint64_t i = 0; i < data.length(); ++i) {
    const std::span<const uint64_t> value = std::span(data.words).subspan(i * words, words);
    std::string item;
    if (IsStruct(element))
      item = StructInitializer(value);
    else if (bits)
      item = fmt::format("0x{:x}{}", value[0], element.scalar == Scalar::F32 ? "u" : "ull");
    else if (element.scalar == Scalar::Bool)
      item = value[0] != 0 ? "1" : "0";
    else
      item = Literal(element, value[0], support).text;
    if (column + item.size() + 2 > 100) {
      text += "\n  ";
      column = 2;
    } else {
      text += ' ';
      column += 1;
    }
    text += item + ",";
    column += item.size() + 1;
  }
  return text + "\n};\n";
}

}  // namespace frazil::targets::c
