// Edge values by type, and those that the programs themselves name: a comparison with 1000 is wrong at 1000.
#include <algorithm>
#include <bit>

#include "base/number/goldilocks.h"
#include "ir/text/literal.h"
#include "verify/internal/inputs.h"

namespace frazil::verify {
namespace {

using ir::Scalar;
using ir::Type;
using Words = std::vector<uint64_t>;

void AddIntegers(Type type, std::vector<Words>& values) {
  const int width = ir::BitsOf(type);
  const uint64_t top = 1ull << (width - 1);
  const uint64_t half = 1ull << (width / 2);
  const uint64_t w = static_cast<uint64_t>(width);
  const uint64_t telling[] = {0,
                              1,
                              ~0ull,
                              top,
                              top - 1,
                              2,
                              top + 1,
                              top - 2,
                              ~1ull,
                              3,
                              w - 1,
                              w,
                              w + 1,
                              half - 1,
                              half,
                              half + 1,
                              ~2ull,
                              7,
                              10,
                              ~9ull,
                              100,
                              top / 2,
                              top / 2 - 1,
                              0x5555555555555555,
                              0xaaaaaaaaaaaaaaaa,
                              0x0123456789abcdef};
  for (uint64_t bits : telling) values.push_back({ExtendWord(type, bits)});
}

void AddFloats(Type type, int exponent_bits, int mantissa_bits, std::vector<Words>& values) {
  const uint64_t sign = 1ull << (exponent_bits + mantissa_bits);
  const uint64_t infinity = ((1ull << exponent_bits) - 1) << mantissa_bits;
  auto number = [&](double value) { values.push_back({ir::LiteralFromDouble(type, value)}); };
  auto bits = [&](uint64_t word) { values.push_back({word}); };
  number(0.0), number(1.0), number(-1.0), bits(sign);
  bits(infinity), bits(infinity | sign), bits(ir::QuietNaN(type.scalar));
  bits(infinity | 1);                                       // signaling, with a payload
  bits(sign | infinity | 1ull << (mantissa_bits - 1) | 5);  // negative, quiet, with a payload
  number(0.5), number(2.0), number(-2.0), number(3.0), number(1.5), number(-0.5);
  bits(1), bits(sign | 1), bits((1ull << mantissa_bits) - 1), bits(1ull << mantissa_bits),
      bits(infinity - 1);
  bits(ir::LiteralFromDouble(type, 1.0) + 1), bits(ir::LiteralFromDouble(type, 1.0) - 1);
  number(1.0 / 3), number(0.1), number(-10), number(100), number(2.5), number(-2.5), number(1e-3);
  number(8388608.0), number(16777217.0), number(2147483648.0), number(-2147483649.0),
      number(4294967296.0);
  number(9223372036854775808.0), number(88.7), number(-87.4), number(3.14159265358979);
}

void AddFields(Type type, std::vector<Words>& values) {
  using goldilocks::P;
  const uint64_t elements[] = {0,          1,
                               P - 1,      2,
                               P - 2,      (1ull << 32) - 1,
                               1ull << 32, (1ull << 32) + 1,
                               P / 2,      P / 2 + 1,
                               7,          P - (1ull << 32),
                               3};
  for (uint64_t e : elements) {
    Words words(ir::WordsOf(type), 0);
    words[0] = e;
    values.push_back(words);
  }
  for (uint32_t part = 1; part < ir::WordsOf(type); ++part) {
    Words words(ir::WordsOf(type), 0);
    words[part] = 1;
    values.push_back(words);
    words.assign(words.size(), P - 1);
    values.push_back(words);
  }
}

void AddWide(Type type, std::vector<Words>& values) {
  for (int64_t small : {0, 1, -1, 2, -2, 10, -10})
    values.push_back(ir::LiteralFromInt(type, small));
  Words least(type.limbs, 0);
  least.back() = 1ull << 63;
  values.push_back(least);
  least[0] |= 1;
  values.push_back(least);
  Words greatest(type.limbs, ~0ull);
  greatest.back() >>= 1;
  values.push_back(greatest);
  greatest[0] -= 1;
  values.push_back(greatest);
  for (int64_t large : {INT64_MIN, INT64_MAX, int64_t{1} << 32})
    values.push_back(ir::LiteralFromInt(type, large));
}

void AddOfType(Type type, std::vector<Words>& values) {
  switch (type.scalar) {
    case Scalar::Bool: values = {{0}, {1}}; return;
    case Scalar::F16: return AddFloats(type, 5, 10, values);
    case Scalar::BF16: return AddFloats(type, 8, 7, values);
    case Scalar::F32: return AddFloats(type, 8, 23, values);
    case Scalar::F64: return AddFloats(type, 11, 52, values);
    case Scalar::Int: return AddWide(type, values);
    case Scalar::Field:
    case Scalar::XField:
    case Scalar::Digest: return AddFields(type, values);
    default: return AddIntegers(type, values);
  }
}

bool IsSmallEnough(Type type, int64_t value) {
  const uint64_t word = ExtendWord(type, static_cast<uint64_t>(value));
  return ir::IsSigned(type.scalar) ? static_cast<int64_t>(word) == value
                                   : value >= 0 && word == static_cast<uint64_t>(value);
}

// A constant of one type is telling for parameters of another: programs convert.
void AddConstant(Type type, Type constant_type, const Words& constant, std::vector<Words>& values) {
  if (type == constant_type && (ir::IsFloat(type.scalar) || ir::WordsOf(type) != 1)) {
    values.push_back(constant);
    if (ir::IsFloat(type.scalar))
      for (uint64_t near : {constant[0] + 1, constant[0] - 1})
        values.push_back({ExtendWord(type, near)});
    return;
  }
  const bool integers = ir::IsFixedInt(type.scalar) && ir::IsFixedInt(constant_type.scalar);
  const bool fields = type.scalar == Scalar::Field && constant_type == type;
  if (!integers && !fields) return;
  const int64_t value = static_cast<int64_t>(constant[0]);
  for (int64_t offset : {0, 1, -1}) {
    int64_t near = 0;
    if (__builtin_add_overflow(value, offset, &near)) continue;
    if (fields || type == constant_type || IsSmallEnough(type, near))
      values.push_back({ExtendWord(type, static_cast<uint64_t>(near))});
  }
}

}  // namespace

EdgeValues::EdgeValues(const ir::Program& source, const ir::Program& candidate) {
  constexpr size_t MostConstants = 24;
  for (const ir::Program* program : {&source, &candidate}) {
    for (const ir::Function& function : program->functions) {
      auto add = [&](std::pair<Type, Words> constant) {
        if (constants_.size() < MostConstants &&
            std::ranges::find(constants_, constant) == constants_.end())
          constants_.push_back(std::move(constant));
      };
      for (const ir::Inst& inst : function.insts) {
        const auto words = function.words_of(inst);
        if (inst.op == ir::Op::Const) add({inst.type, {words.begin(), words.end()}});
        if (inst.op == ir::Op::Switch)
          for (uint64_t word : words) add({function.type(function.operand(inst, 0)), {word}});
      }
    }
  }
}

std::vector<Words> EdgeValues::Of(const Domain& domain) const {
  if (domain.one()) return {*domain.one()};
  const Type type = domain.type();
  std::vector<Words> all;
  AddOfType(type, all);
  // The first few of the type, then the programs' own, then the rest.
  std::vector<Words> own;
  for (const auto& [constant_type, words] : constants_)
    AddConstant(type, constant_type, words, own);
  all.insert(all.begin() + static_cast<int64_t>(std::min<size_t>(all.size(), 5)), own.begin(),
             own.end());
  if (!domain.is_full()) {
    if (const auto count = domain.Count()) {
      std::vector<Words> ends;
      for (uint64_t number : {uint64_t{0}, *count - 1, *count > 1 ? uint64_t{1} : 0,
                              *count > 1 ? *count - 2 : 0, *count / 2})
        ends.push_back({domain.At(number)});
      all.insert(all.begin(), ends.begin(), ends.end());
    }
  }
  std::vector<Words> kept;
  for (Words& words : all) {
    if (domain.Contains(words) && std::ranges::find(kept, words) == kept.end())
      kept.push_back(std::move(words));
  }
  return kept;
}

}  // namespace frazil::verify
