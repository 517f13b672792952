// Arguments and streams for random programs. Half of all scalars are edge values: bugs live there.

#include <algorithm>
#include <array>

#include "exec/random_arguments.h"

namespace frazil::exec {

using ir::Scalar;
using ir::Type;

uint64_t Random::Next() {
  state_ += 0x9e3779b97f4a7c15ull;
  uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

namespace {

constexpr uint64_t FieldPrime = 0xffffffff00000001ull;
constexpr uint64_t StreamLength = 64;

uint64_t Extend(uint64_t bits, int width, bool is_signed) {
  if (width == 64) return bits;
  bits &= (1ull << width) - 1;
  if (is_signed && (bits >> (width - 1))) bits |= ~0ull << width;
  return bits;
}

uint64_t IntegerWord(int width, bool is_signed, Random& random) {
  uint64_t bits = 0;
  switch (random.Below(6)) {
    case 0: bits = random.Below(3); break;
    case 1: bits = 0 - 1 - random.Below(3); break;
    case 2: bits = (1ull << (width - 1)) - random.Below(3) + random.Below(2); break;
    case 3: bits = random.Below(256); break;
    case 4: bits = 1ull << random.Below(static_cast<uint64_t>(width)); break;
    default: bits = random.Next(); break;
  }
  return Extend(bits, width, is_signed);
}

// Exponent and mantissa widths say where the edges of a format are.
uint64_t FloatWord(int exponent_bits, int mantissa_bits, Random& random) {
  const uint64_t mantissa_mask = (1ull << mantissa_bits) - 1;
  const uint64_t exponent_mask = (1ull << exponent_bits) - 1;
  const uint64_t bias = exponent_mask >> 1;
  uint64_t sign = random.Below(2) << (exponent_bits + mantissa_bits);
  uint64_t mantissa = random.Next() & mantissa_mask;
  switch (random.Below(12)) {
    case 0: return sign;                                   // zeros
    case 1: return sign | exponent_mask << mantissa_bits;  // infinities
    case 2: return sign | exponent_mask << mantissa_bits | std::max<uint64_t>(mantissa, 1);  // NaNs
    case 3: return sign | (random.Chance(50) ? mantissa : 1 + random.Below(3));    // subnormals
    case 4: return sign | ((exponent_mask - 1) << mantissa_bits) | mantissa_mask;  // the greatest
    case 5: return sign | 1ull << mantissa_bits;  // the least normal
    case 6:
    case 7:
    case 8: {  // about one, few bits
      uint64_t exponent = bias + random.Below(8) - 3;
      return sign | exponent << mantissa_bits |
             (mantissa & (mantissa_mask << (mantissa_bits - 3) & mantissa_mask));
    }
    case 9: {  // next to an integer or a tie
      uint64_t exponent = bias + random.Below(static_cast<uint64_t>(mantissa_bits) + 2);
      return sign | std::min(exponent, exponent_mask - 1) << mantissa_bits |
             (random.Chance(50) ? mantissa_mask : mantissa);
    }
    default: {
      uint64_t exponent = random.Below(exponent_mask);
      return sign | exponent << mantissa_bits | mantissa;
    }
  }
}

uint64_t FieldWord(Random& random) {
  switch (random.Below(5)) {
    case 0: return random.Below(3);
    case 1: return FieldPrime - 1 - random.Below(3);
    case 2: return (1ull << 32) - 1 + random.Below(3);
    case 3: return FieldPrime / 2 + random.Below(3);
    default: return random.Next() % FieldPrime;
  }
}

std::vector<uint64_t> BigWords(uint32_t limbs, Random& random) {
  std::vector<uint64_t> words(limbs, 0);
  uint64_t kind = random.Below(8);
  if (kind == 0) {
    words.back() = 1ull << 63;  // MIN
  } else if (kind == 1) {
    std::fill(words.begin(), words.end(), ~0ull);
    words.back() >>= 1;  // MAX
  } else if (kind < 4) {
    uint64_t small = IntegerWord(64, true, random);
    std::fill(words.begin(), words.end(), static_cast<int64_t>(small) < 0 ? ~0ull : 0);
    words[0] = small;
  } else {
    uint64_t used = kind < 6 ? 1 + random.Below(limbs) : limbs;
    for (uint64_t i = 0; i < used; ++i) words[i] = random.Chance(20) ? ~0ull : random.Next();
    if (random.Chance(50))
      for (uint64_t i = used; i < limbs; ++i) words[i] = ~0ull;
  }
  return words;
}

}  // namespace

std::vector<uint64_t> RandomWords(Type type, Random& random) {
  switch (type.scalar) {
    case Scalar::Bool: return {random.Below(2)};
    case Scalar::F16: return {FloatWord(5, 10, random)};
    case Scalar::BF16: return {FloatWord(8, 7, random)};
    case Scalar::F32: return {FloatWord(8, 23, random)};
    case Scalar::F64: return {FloatWord(11, 52, random)};
    case Scalar::Int: return BigWords(type.limbs, random);
    case Scalar::Field:
    case Scalar::XField:
    case Scalar::Digest: {
      std::vector<uint64_t> words;
      for (uint32_t i = 0; i < ir::WordsOf(type); ++i) words.push_back(FieldWord(random));
      if (type.scalar == Scalar::XField && random.Chance(10))
        std::fill(words.begin(), words.end(), 0);
      return words;
    }
    default: return {IntegerWord(ir::BitsOf(type), ir::IsSigned(type.scalar), random)};
  }
}

namespace {

std::shared_ptr<Memory> RandomMemory(Type element, int64_t length, Random& random) {
  auto memory = std::make_shared<Memory>(element, length);
  for (int64_t i = 0; i < length; ++i) memory->Set(i, RandomWords(element, random));
  return memory;
}

Value RandomBuffer(Type type, const std::vector<Value>& earlier, Random& random) {
  if (random.Chance(15))
    for (const Value& value : earlier)
      if (value.type.is_buffer() && value.type.element() == type.element())
        return Value::Buffer(value.memory);
  int64_t length = random.Chance(90) ? random.Between(1, 12) : random.Between(13, 70);
  return Value::Buffer(RandomMemory(type.element(), length, random));
}

// A tensor of the same element type and as many elements.
const Value* FindTensor(const std::vector<Value>& arguments, Type type, int64_t count) {
  for (const Value& value : arguments)
    if (value.type.is_tensor() && value.memory != nullptr &&
        value.type.element() == type.element() && value.memory->length() == count)
      return &value;
  return nullptr;
}

std::vector<Value> RandomStream(const ir::Program& program, ir::Op op, Random& random) {
  for (const ir::Function& function : program.functions)
    for (const ir::Inst& inst : function.insts) {
      const bool is_step = op == ir::Op::Hint && inst.op == ir::Op::MerkleStep;
      if (inst.op != op && !is_step) continue;
      const Type type = is_step ? ir::types::Digest : inst.type;
      std::vector<Value> values;
      for (uint64_t i = 0; i < StreamLength; ++i)
        values.push_back(Value::Scalar(type, RandomWords(type, random)));
      return values;
    }
  return {};
}

}  // namespace

std::vector<Value> RandomArguments(const ir::Program& program, uint64_t seed,
                                   const ArgumentOptions& options) {
  Random random(seed ^ 0x5eed);
  const ir::Function& entry = program.entry_function();
  std::vector<bool> is_symbol(entry.param_count(), false), is_given(entry.param_count(), false);
  for (const ir::Shape& shape : entry.shapes)
    for (ir::Dim dim : shape)
      if (dim.is_symbol()) is_symbol[dim.param()] = true;
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    if (!entry.param_type(i).is_tensor()) continue;
    for (ir::Dim dim : entry.shape(entry.param_type(i)))
      if (dim.is_symbol()) is_given[dim.param()] = true;
  }

  std::vector<Value> arguments(entry.param_count());
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    Type type = entry.param_type(i);
    if (const auto known = options.known.find(i); known != options.known.end())
      arguments[i] =
          Value::Int(type, is_given[i] ? std::max<int64_t>(known->second, 0) : known->second);
    else if (is_symbol[i] && !is_given[i] && options.negative_sizes > 0 &&
             random.Chance(options.negative_sizes))
      arguments[i] = Value::Int(type, random.Between(-3, -1));
    else if (is_symbol[i])
      arguments[i] = Value::Int(type, random.Between(0, options.most_size));
    else if (type == ir::types::Index && random.Chance(60))
      arguments[i] = Value::Int(type, random.Between(-2, 10));
    else if (type.is_scalar())
      arguments[i] = Value::Scalar(type, RandomWords(type, random));
  }
  std::vector<Value> buffers;
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    Type type = entry.param_type(i);
    if (type.is_buffer()) {
      arguments[i] = RandomBuffer(type, buffers, random);
      buffers.push_back(arguments[i]);
    } else if (type.is_tensor()) {
      std::vector<int64_t> dims;
      int64_t count = 1;
      for (ir::Dim dim : entry.shape(type)) {
        dims.push_back(dim.is_symbol() ? static_cast<int64_t>(arguments[dim.param()].word)
                                       : dim.value);
        count *= dims.back();
      }
      const bool shares = options.shared_tensors > 0 && random.Chance(options.shared_tensors);
      const Value* other = shares ? FindTensor(arguments, type, count) : nullptr;
      arguments[i] = Value::Tensor(
          other != nullptr ? other->memory : RandomMemory(type.element(), count, random), dims);
    }
  }
  return arguments;
}

RunContext RandomContext(const ir::Program& program, uint64_t seed) {
  Random random(seed ^ 0xc0de);
  RunContext context;
  context.input = RandomStream(program, ir::Op::Input, random);
  context.hints = RandomStream(program, ir::Op::Hint, random);
  return context;
}

Value RandomScalar(ir::Type type, uint64_t seed) {
  Random random(seed);
  return Value::Scalar(type, RandomWords(type, random));
}

}  // namespace frazil::exec
