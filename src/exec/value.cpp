// Values and their memory. Elements lie packed and little-endian, as every target sees them, so a
// buffer moves between the interpreter, WASM and C as plain bytes.
#include "exec/value.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.h"
#include "ir/text/literal.h"
#include "ir/text/text.h"

namespace frazil::exec {

static_assert(std::endian::native == std::endian::little);

Memory::Memory(ir::Type element, int64_t length)
    : element_(element.element()),
      element_bytes_(ir::BytesOf(element_)),
      length_(length),
      owned_(new std::byte[size_bytes()]()),
      data_(owned_.get()) {}

Memory::Memory(ir::Type element, int64_t length, void* caller_data)
    : element_(element.element()),
      element_bytes_(ir::BytesOf(element_)),
      length_(length),
      data_(static_cast<std::byte*>(caller_data)) {}

namespace {

template <typename T>
uint64_t ReadWord(const std::byte* data, int64_t index) {
  T value;
  std::memcpy(&value, data + static_cast<uint64_t>(index) * sizeof(T), sizeof(T));
  // Signed types extend their sign, unsigned ones zeros.
  return static_cast<uint64_t>(value);
}

template <typename T>
void WriteWord(std::byte* data, int64_t index, uint64_t word) {
  const T value = static_cast<T>(word);
  std::memcpy(data + static_cast<uint64_t>(index) * sizeof(T), &value, sizeof(T));
}

}  // namespace

void Memory::Get(int64_t index, std::span<uint64_t> words) const {
  using ir::Scalar;
  switch (element_.scalar) {
    case Scalar::I8: words[0] = ReadWord<int8_t>(data_, index); return;
    case Scalar::I16: words[0] = ReadWord<int16_t>(data_, index); return;
    case Scalar::I32: words[0] = ReadWord<int32_t>(data_, index); return;
    case Scalar::Bool:
    case Scalar::U8: words[0] = ReadWord<uint8_t>(data_, index); return;
    case Scalar::F16:
    case Scalar::BF16:
    case Scalar::U16: words[0] = ReadWord<uint16_t>(data_, index); return;
    case Scalar::F32:
    case Scalar::U32: words[0] = ReadWord<uint32_t>(data_, index); return;
    case Scalar::I64:
    case Scalar::U64:
    case Scalar::F64:
    case Scalar::Index:
    case Scalar::Field: words[0] = ReadWord<uint64_t>(data_, index); return;
    case Scalar::Int:
    case Scalar::XField:
    case Scalar::Digest: {
      const uint64_t bytes = ir::BytesOf(element_);
      std::memcpy(words.data(), data_ + static_cast<uint64_t>(index) * bytes, bytes);
      return;
    }
  }
}

void Memory::Set(int64_t index, std::span<const uint64_t> words) {
  const uint64_t bytes = element_bytes_;
  switch (bytes) {
    case 1: WriteWord<uint8_t>(data_, index, words[0]); return;
    case 2: WriteWord<uint16_t>(data_, index, words[0]); return;
    case 4: WriteWord<uint32_t>(data_, index, words[0]); return;
    case 8: WriteWord<uint64_t>(data_, index, words[0]); return;
    default: std::memcpy(data_ + static_cast<uint64_t>(index) * bytes, words.data(), bytes); return;
  }
}

Value Value::Scalar(ir::Type type, std::span<const uint64_t> words) {
  CHECK(words.size() == ir::WordsOf(type));
  Value value;
  value.type = type.element();
  if (words.size() == 1) {
    value.word = words[0];
  } else {
    value.words.assign(words.begin(), words.end());
  }
  return value;
}

Value Value::Word(ir::Type type, uint64_t word) { return Scalar(type, std::span(&word, 1)); }

Value Value::Int(ir::Type type, int64_t value) {
  return Scalar(type, ir::LiteralFromInt(type, value));
}

Value Value::Float(ir::Type type, double value) {
  return Word(type, ir::LiteralFromDouble(type, value));
}

Value Value::Buffer(std::shared_ptr<Memory> memory) {
  Value value;
  value.type = ir::Type::Buffer(memory->element());
  value.memory = std::move(memory);
  return value;
}

Value Value::Tensor(std::shared_ptr<Memory> memory, std::vector<int64_t> dims) {
  Value value;
  value.type = ir::Type::Tensor(memory->element(), 0);
  value.memory = std::move(memory);
  value.dims = std::move(dims);
  return value;
}

bool operator==(const Value& a, const Value& b) {
  if (a.type.form != b.type.form || a.type.element() != b.type.element() || a.dims != b.dims)
    return false;
  if (a.type.is_scalar()) return a.word == b.word && a.words == b.words;
  if (a.memory == b.memory) return true;
  return a.memory->length() == b.memory->length() &&
         (a.memory->size_bytes() == 0 ||
          std::memcmp(a.memory->data(), b.memory->data(), a.memory->size_bytes()) == 0);
}

std::vector<Value> CopyValues(std::span<const Value> values) {
  std::vector<Value> copies(values.begin(), values.end());
  for (size_t i = 0; i < values.size(); ++i) {
    const Memory* from = values[i].memory.get();
    if (from == nullptr) continue;
    const auto is_same = [&](const Value& other) {
      return other.memory != nullptr && other.memory->data() == from->data() &&
             other.memory->length() == from->length() && other.memory->element() == from->element();
    };
    const auto first = static_cast<size_t>(std::ranges::find_if(values, is_same) - values.begin());
    if (first < i) {
      copies[i].memory = copies[first].memory;
      continue;
    }
    copies[i].memory = std::make_shared<Memory>(from->element(), from->length());
    std::copy_n(from->data(), from->size_bytes(), copies[i].memory->data());
  }
  return copies;
}

namespace {

std::string PrintElement(const Memory& memory, int64_t index) {
  std::vector<uint64_t> words(ir::WordsOf(memory.element()));
  memory.Get(index, words);
  return ir::PrintLiteral(memory.element(), words);
}

// The elements from `index` on, one bracket for each of the dims.
void PrintElements(const Memory& memory, std::span<const int64_t> dims, int64_t& index,
                   std::string& text) {
  if (dims.empty()) {
    text += PrintElement(memory, index++);
    return;
  }
  text += "[";
  for (int64_t i = 0; i < dims[0]; ++i) {
    if (i > 0) text += ", ";
    PrintElements(memory, dims.subspan(1), index, text);
  }
  text += "]";
}

}  // namespace

std::string PrintValue(const Value& value) {
  if (value.type.is_scalar()) return ir::PrintLiteral(value.type, value.scalar_words());
  std::string text;
  int64_t index = 0;
  const int64_t length = value.memory->length();
  PrintElements(*value.memory, value.type.is_tensor() ? value.dims : std::vector{length}, index,
                text);
  return text;
}

}  // namespace frazil::exec
