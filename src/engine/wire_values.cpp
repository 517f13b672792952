// Argument lists as bytes. Memory comes first, each distinct piece once, and values name it by number: two arguments
// that were one buffer are one buffer again on the other side.
#include <algorithm>
#include <cstring>

#include "engine/wire.h"
#include "engine/wire_bytes.h"

namespace frazil::engine::wire {
namespace {

constexpr uint8_t FormCount = static_cast<uint8_t>(ir::Form::Tensor) + 1;
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

void PutElement(Writer& writer, ir::Type type) {
  writer.Put(type.scalar);
  writer.Put(type.limbs);
}

ir::Type GetElement(Reader& reader) {
  const auto scalar = static_cast<ir::Scalar>(reader.GetBelow<uint8_t>(ir::ScalarCount));
  const uint32_t limbs = reader.Get<uint8_t>();
  const uint32_t most = scalar == ir::Scalar::Int ? ir::MaxLimbs : 1;
  if (limbs < 1 || limbs > most) reader.Refuse();
  if (reader.failed()) return ir::types::Bool;
  return scalar == ir::Scalar::Int ? ir::Type::Int(limbs) : ir::Type::Of(scalar);
}

std::shared_ptr<exec::Memory> GetMemory(Reader& reader) {
  const ir::Type element = GetElement(reader);
  const uint64_t length = reader.GetCount(ir::BytesOf(element));
  auto memory = std::make_shared<exec::Memory>(element, static_cast<int64_t>(length));
  const std::string_view raw = reader.GetRaw(memory->size_bytes());
  if (!raw.empty()) std::memcpy(memory->data(), raw.data(), raw.size());
  return memory;
}

exec::Value GetScalar(Reader& reader, ir::Type type) {
  std::vector<uint64_t> words(ir::WordsOf(type));
  for (uint64_t& word : words) word = reader.Get<uint64_t>();
  return exec::Value::Scalar(type, words);
}

// Dimensions that hold exactly the memory's elements.
std::vector<int64_t> GetDims(Reader& reader, const exec::Memory& memory) {
  std::vector<int64_t> dims(reader.GetBelow<uint8_t>(ir::MaxRank + 1));
  __extension__ unsigned __int128 count = 1;
  for (int64_t& dim : dims) {
    dim = reader.Get<int64_t>();
    if (dim < 0 || count > UINT64_MAX) reader.Refuse();
    if (reader.failed()) return {};
    count *= static_cast<uint64_t>(dim);
  }
  if (count != static_cast<uint64_t>(memory.length())) reader.Refuse();
  return dims;
}

exec::Value GetValue(Reader& reader, std::span<const std::shared_ptr<exec::Memory>> pieces) {
  const auto form = static_cast<ir::Form>(reader.GetBelow(FormCount));
  const ir::Type element = GetElement(reader);
  if (form == ir::Form::Scalar) return GetScalar(reader, element);
  const uint64_t piece = reader.GetBelow<uint64_t>(pieces.size());
  if (reader.failed() || pieces[piece]->element() != element) {
    reader.Refuse();
    return {};
  }
  if (form == ir::Form::Buffer) return exec::Value::Buffer(pieces[piece]);
  std::vector<int64_t> dims = GetDims(reader, *pieces[piece]);
  return exec::Value::Tensor(pieces[piece], std::move(dims));
}

}  // namespace

std::string EncodeValues(std::span<const exec::Value> values) {
  const std::vector<const exec::Memory*> pieces = DistinctMemory(values);
  Writer writer;
  writer.Put<uint64_t>(pieces.size());
  for (const exec::Memory* memory : pieces) {
    PutElement(writer, memory->element());
    writer.Put(memory->length());
    writer.PutRaw({reinterpret_cast<const char*>(memory->data()), memory->size_bytes()});
  }
  writer.Put<uint64_t>(values.size());
  for (const exec::Value& value : values) {
    writer.Put(value.type.form);
    PutElement(writer, value.type);
    if (value.type.is_scalar()) {
      for (const uint64_t word : value.scalar_words()) writer.Put(word);
      continue;
    }
    const auto piece =
        std::ranges::find_if(pieces, [&](const auto* m) { return IsSame(*m, *value.memory); });
    writer.Put<uint64_t>(static_cast<uint64_t>(piece - pieces.begin()));
    if (!value.type.is_tensor()) continue;
    writer.Put<uint8_t>(static_cast<uint8_t>(value.dims.size()));
    for (const int64_t dim : value.dims) writer.Put(dim);
  }
  return writer.Take();
}

Result<std::vector<exec::Value>> DecodeValues(std::string_view bytes) {
  Reader reader(bytes);
  std::vector<std::shared_ptr<exec::Memory>> pieces;
  for (uint64_t left = reader.GetCount(MinMemoryBytes); left > 0 && !reader.failed(); --left)
    pieces.push_back(GetMemory(reader));
  std::vector<exec::Value> values;
  for (uint64_t left = reader.GetCount(MinValueBytes); left > 0 && !reader.failed(); --left)
    values.push_back(GetValue(reader, pieces));
  if (!reader.at_end()) return Fail(Diag::WorkerFailed, "a list of values is malformed");
  return values;
}

}  // namespace frazil::engine::wire
