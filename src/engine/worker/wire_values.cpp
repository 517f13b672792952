// Argument lists as bytes. Memory comes first, each distinct piece once, and values name it by number: two arguments
// that were one buffer are one buffer again on the other side.
#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "engine/worker/wire.h"

namespace frazil::engine::wire {
namespace {

constexpr uint64_t MinMemoryBytes = 10;  // element, length
constexpr uint64_t MinValueBytes = 3;    // form, element

bool IsSame(const exec::Memory& a, const exec::Memory& b) {
  return &a == &b || (a.size_bytes() > 0 && a.data() == b.data() &&
                      a.size_bytes() == b.size_bytes() && a.element() == b.element());
}

std::vector<const exec::Memory*> DistinctMemory(std::span<const exec::Value> values) {
  std::vector<const exec::Memory*> pieces;
  for (const exec::Value& value : values) {
    if (value.type.is_scalar()) continue;
    const bool known =
        std::ranges::any_of(pieces, [&](const auto* m) { return IsSame(*m, *value.memory); });
    if (!known) pieces.push_back(value.memory.get());
  }
  return pieces;
}

void WriteElement(ByteWriter& writer, ir::Type type) {
  writer.Enum(type.scalar);
  writer.Number<uint8_t>(type.limbs);
}

ir::Type ReadElement(ByteReader& reader) {
  const auto scalar = reader.Enum(ir::Scalar::Digest);
  const uint32_t limbs = reader.Number<uint8_t>();
  const uint32_t most = scalar == ir::Scalar::Int ? ir::MaxLimbs : 1;
  if (limbs < 1 || limbs > most) reader.Refuse();
  if (!reader.ok()) return ir::types::Bool;
  return scalar == ir::Scalar::Int ? ir::Type::Int(limbs) : ir::Type::Of(scalar);
}

std::shared_ptr<exec::Memory> ReadMemory(ByteReader& reader) {
  const ir::Type element = ReadElement(reader);
  const uint64_t length = reader.Count(ir::BytesOf(element));
  auto memory = std::make_shared<exec::Memory>(element, static_cast<int64_t>(length));
  const std::string_view raw = reader.Raw(memory->size_bytes());
  if (!raw.empty()) std::memcpy(memory->data(), raw.data(), raw.size());
  return memory;
}

exec::Value ReadScalar(ByteReader& reader, ir::Type type) {
  std::vector<uint64_t> words(ir::WordsOf(type));
  for (uint64_t& word : words) word = reader.Number<uint64_t>();
  return exec::Value::Scalar(type, words);
}

// Dimensions that hold exactly the memory's elements.
std::vector<int64_t> ReadDims(ByteReader& reader, const exec::Memory& memory) {
  std::vector<int64_t> dims(reader.Below<uint8_t>(ir::MaxRank + 1));
  __extension__ unsigned __int128 count = 1;
  for (int64_t& dim : dims) {
    dim = reader.Number<int64_t>();
    if (dim < 0 || count > UINT64_MAX) reader.Refuse();
    if (!reader.ok()) return {};
    count *= static_cast<uint64_t>(dim);
  }
  if (count != static_cast<uint64_t>(memory.length())) reader.Refuse();
  return dims;
}

exec::Value ReadValue(ByteReader& reader, std::span<const std::shared_ptr<exec::Memory>> pieces) {
  const auto form = reader.Enum(ir::Form::Tensor);
  const ir::Type element = ReadElement(reader);
  if (form == ir::Form::Scalar) return ReadScalar(reader, element);
  const uint64_t piece = reader.Below<uint64_t>(pieces.size());
  if (!reader.ok() || pieces[piece]->element() != element) {
    reader.Refuse();
    return {};
  }
  if (form == ir::Form::Buffer) return exec::Value::Buffer(pieces[piece]);
  std::vector<int64_t> dims = ReadDims(reader, *pieces[piece]);
  return exec::Value::Tensor(pieces[piece], std::move(dims));
}

}  // namespace

std::string EncodeValues(std::span<const exec::Value> values) {
  const std::vector<const exec::Memory*> pieces = DistinctMemory(values);
  ByteWriter writer;
  writer.Each(pieces, [&](const exec::Memory* memory) {
    WriteElement(writer, memory->element());
    writer.Number<int64_t>(memory->length());
    writer.Raw({reinterpret_cast<const char*>(memory->data()), memory->size_bytes()});
  });
  writer.Each(values, [&](const exec::Value& value) {
    writer.Enum(value.type.form);
    WriteElement(writer, value.type);
    if (value.type.is_scalar()) {
      for (const uint64_t word : value.scalar_words()) writer.Number<uint64_t>(word);
      return;
    }
    const auto piece =
        std::ranges::find_if(pieces, [&](const auto* m) { return IsSame(*m, *value.memory); });
    writer.Number<uint64_t>(static_cast<uint64_t>(piece - pieces.begin()));
    if (!value.type.is_tensor()) return;
    writer.Number<uint8_t>(static_cast<uint8_t>(value.dims.size()));
    for (const int64_t dim : value.dims) writer.Number<int64_t>(dim);
  });
  return writer.Take();
}

Result<std::vector<exec::Value>> DecodeValues(std::string_view bytes) {
  ByteReader reader(bytes);
  const auto pieces = reader.Each(MinMemoryBytes, [&] { return ReadMemory(reader); });
  auto values = reader.Each(MinValueBytes, [&] { return ReadValue(reader, pieces); });
  if (!reader.AtEnd()) return Fail(Diag::WorkerFailed, "a list of values is malformed");
  return values;
}

}  // namespace frazil::engine::wire
