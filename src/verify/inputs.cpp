// How inputs are made. Buffers share a length most of the time, because kernels are written for that, and index
// parameters are near that length; a mood for each buffer keeps sums from being NaN wherever one element is.
#include "verify/internal/inputs.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

#include "base/goldilocks.h"
#include "exec/generator.h"
#include "ir/literal.h"

namespace frazil::verify {
namespace {

using exec::Memory;
using exec::Value;
using ir::Scalar;
using ir::Type;
using Words = std::vector<uint64_t>;

constexpr size_t CanaryBytes = 256;
constexpr uint64_t MemoryAlignment = 4096;
constexpr size_t VectorBytes = 64;
constexpr uint64_t Offsets = 3;
constexpr size_t MostAliasClasses = 6;
// A guard may ask for more; then no input is made and the comparison says so.
constexpr int64_t MostElements = 1 << 22;
constexpr int64_t MostTensorElements = 1 << 16;
constexpr uint8_t Canary = 0xc5;
constexpr int64_t LongLengths[] = {519, 1029, 4096 + 64 + 1};

struct Storage {
  explicit Storage(size_t bytes)
      : data(static_cast<std::byte*>(std::aligned_alloc(
            MemoryAlignment, (bytes + MemoryAlignment - 1) / MemoryAlignment * MemoryAlignment))) {}
  ~Storage() { std::free(data); }
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  std::byte* data;
};

struct GuardedMemory {
  GuardedMemory(Type element, int64_t length, uint64_t offset, size_t bytes)
      : storage(bytes), memory(element, length, storage.data + offset) {}
  Storage storage;
  Memory memory;
};

// Does it carry values from element to element?
bool Folds(const ir::Program& program) {
  for (const ir::Function& function : program.functions) {
    for (const ir::Inst& inst : function.insts) {
      if (inst.op == ir::Op::Reduce || (inst.op == ir::Op::For && inst.results.count > 0))
        return true;
    }
  }
  return false;
}

}  // namespace

std::shared_ptr<Memory> MakeGuardedMemory(Type element, int64_t length, uint64_t offset_bytes) {
  const uint64_t size = static_cast<uint64_t>(length) * ir::BytesOf(element);
  uint64_t start = offset_bytes % MemoryAlignment;
  if (start < CanaryBytes) start += MemoryAlignment;
  auto guarded =
      std::make_shared<GuardedMemory>(element, length, start, start + size + CanaryBytes);
  std::memset(guarded->storage.data + start - CanaryBytes, Canary, CanaryBytes);
  std::memset(guarded->storage.data + start, 0, size);
  std::memset(guarded->storage.data + start + size, Canary, CanaryBytes);
  return std::shared_ptr<Memory>(guarded, &guarded->memory);
}

bool CanariesIntact(const Memory& memory) {
  auto intact = [](const std::byte* bytes) {
    return std::all_of(bytes, bytes + CanaryBytes,
                       [](std::byte b) { return b == std::byte{Canary}; });
  };
  return intact(memory.data() - CanaryBytes) && intact(memory.data() + memory.size_bytes());
}

Input CopyOf(const Input& input) {
  Input copy = input;
  std::map<const Memory*, std::shared_ptr<Memory>> copies;
  for (Value& value : copy.arguments) {
    if (value.memory == nullptr) continue;
    std::shared_ptr<Memory>& memory = copies[value.memory.get()];
    if (memory == nullptr) {
      const uint64_t offset = reinterpret_cast<uintptr_t>(value.memory->data()) % MemoryAlignment;
      memory = MakeGuardedMemory(value.memory->element(), value.memory->length(), offset);
      std::memcpy(memory->data(), value.memory->data(), memory->size_bytes());
    }
    value.memory = memory;
  }
  return copy;
}

InputMaker::InputMaker(const InputSpace& space, const ir::Program& source,
                       const ir::Program& candidate, Random& random)
    : space_(space), random_(random), folds_(Folds(source) || Folds(candidate)) {
  const EdgeValues edge_values(source, candidate);
  int64_t vector = 1;
  for (uint32_t i = 0; i < space.domains.size(); ++i) {
    const Type type = space.entry->param_type(i);
    edges_.push_back(type.is_scalar() ? edge_values.Of(space.domains[i]) : std::vector<Words>{});
    if (type.is_buffer())
      vector = std::max<int64_t>(
          vector, VectorBytes / std::min<uint32_t>(ir::BytesOf(type.element()), VectorBytes));
  }
  lengths_ = {7, vector, 0, 4 * vector + 3, 1, vector + 1, vector - 1, 2};
  // No alias, each pair that may be one buffer, and everything that may be one.
  alias_classes_.emplace_back();
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  for (uint32_t a = 0; a < space.domains.size(); ++a) {
    for (uint32_t b = a + 1; b < space.domains.size(); ++b) {
      if (MayAlias(a, b)) pairs.emplace_back(a, b);
    }
  }
  for (const auto& pair : pairs) {
    if (alias_classes_.size() + 1 < MostAliasClasses) alias_classes_.push_back({pair});
  }
  if (pairs.size() > 1) alias_classes_.push_back(pairs);
}

bool InputMaker::MayAlias(uint32_t a, uint32_t b) const {
  const Type x = space_.entry->param_type(a);
  const Type y = space_.entry->param_type(b);
  if (!x.is_buffer() || !y.is_buffer() || x.element() != y.element()) return false;
  return std::ranges::none_of(space_.disjoint, [&](const auto& pair) {
    return (pair.first == a && pair.second == b) || (pair.first == b && pair.second == a);
  });
}

// After all combinations a long one for unrolled loops, and longer ones where something is summed up: the blocks of a
// reduction have 4096 elements.
uint64_t InputMaker::Rounds() const {
  return Combinations() + (folds_ ? std::size(LongLengths) : 1);
}
uint64_t InputMaker::Combinations() const {
  return lengths_.size() * Offsets * alias_classes_.size();
}

InputMaker::Mood InputMaker::RandomMood() {
  if (calm_) return random_.Chance(70) ? Mood::Small : Mood::Plain;
  constexpr Mood Moods[] = {Mood::Edge,  Mood::Edge,  Mood::Plain,
                            Mood::Plain, Mood::Small, Mood::Wild};
  return Moods[random_.Below(std::size(Moods))];
}

// A value of the type, whatever the guard says.
Words InputMaker::ElementWords(Type type, Mood mood, int64_t length) {
  if (mood == Mood::Edge || ir::WordsOf(type) != 1 || type.scalar == Scalar::Int) {
    const Value value = exec::RandomScalar(type, random_.Next());
    const auto words = value.scalar_words();
    return {words.begin(), words.end()};
  }
  if (type.scalar == Scalar::Index && random_.Chance(70))
    return {random_.Below(static_cast<uint64_t>(length) + 1)};
  if (ir::IsFloat(type.scalar)) {
    if (mood == Mood::Small)
      return {ir::LiteralFromDouble(type, static_cast<double>(random_.Between(-8, 8)))};
    if (mood == Mood::Plain) {
      const double unit = static_cast<double>(random_.Next() >> 11) * 0x1p-53;
      return {ir::LiteralFromDouble(type, (unit - 0.5) * 8)};
    }
    return {ExtendWord(type, random_.Next())};
  }
  if (mood == Mood::Small || calm_)
    return {ExtendWord(
        type, static_cast<uint64_t>(random_.Between(ir::IsSigned(type.scalar) ? -8 : 0, 16)))};
  return {ExtendWord(type, random_.Next() >> (mood == Mood::Plain ? random_.Below(64) : 0))};
}

Words InputMaker::ScalarWords(const Domain& domain, Mood mood, std::span<const Words> edges) {
  if (domain.one()) return *domain.one();
  if (mood == Mood::Edge && !edges.empty() && random_.Chance(50))
    return edges[random_.Below(edges.size())];
  if (!domain.is_full()) {
    if (const auto count = domain.Count()) return {domain.At(random_.Below(*count))};
  }
  for (int attempt = 0; attempt < 16; ++attempt) {
    Words words = ElementWords(domain.type(), mood, 16);
    if (domain.Contains(words)) return words;
  }
  return edges.empty() ? ElementWords(domain.type(), mood, 16) : edges[random_.Below(edges.size())];
}

std::vector<std::vector<Words>> InputMaker::EdgeTuples(size_t most) {
  const size_t params = edges_.size();
  std::vector<std::vector<Words>> tuples;
  if (params == 0) return tuples;
  // As many values of each as fit; a short list leaves room for the others.
  size_t each = 1;
  auto product = [&](size_t limit) {
    size_t total = 1;
    for (const auto& values : edges_) {
      total *= std::min(values.size(), limit);
      if (total > most) return most + 1;
    }
    return total;
  };
  while (each < 64 && product(each + 1) <= most) ++each;
  constexpr size_t FewestEach = 4;
  if (each < FewestEach) {
    for (size_t i = 0; i < most; ++i) {
      std::vector<Words>& tuple = tuples.emplace_back();
      for (const auto& values : edges_) tuple.push_back(values[random_.Below(values.size())]);
    }
    return tuples;
  }
  std::vector<size_t> digits(params, 0);
  while (true) {
    std::vector<Words>& tuple = tuples.emplace_back();
    for (size_t i = 0; i < params; ++i) tuple.push_back(edges_[i][digits[i]]);
    size_t at = params;
    while (at > 0 && ++digits[at - 1] == std::min(edges_[at - 1].size(), each)) digits[--at] = 0;
    if (at == 0) return tuples;
  }
}

std::vector<Words> InputMaker::RandomTuple() {
  std::vector<Words> tuple;
  const Mood mood = RandomMood();
  for (size_t i = 0; i < edges_.size(); ++i) {
    const Domain& domain = space_.domains[i];
    // Equal operands are where comparisons differ.
    if (i > 0 && random_.Chance(12) && space_.domains[i - 1].type() == domain.type() &&
        domain.Contains(tuple.back())) {
      tuple.push_back(tuple.back());
      continue;
    }
    tuple.push_back(ScalarWords(domain, random_.Chance(20) ? RandomMood() : mood, edges_[i]));
  }
  return tuple;
}

int64_t InputMaker::LengthFor(uint32_t param, uint64_t number) {
  const BufferRule& rule = space_.buffers[param];
  if (rule.length) return *rule.length;
  const bool is_long = Combinations() <= number && number < Rounds();
  const int64_t wanted =
      is_long ? LongLengths[number - Combinations()] : lengths_[number % lengths_.size()];
  int64_t length = std::max(wanted, rule.at_least);
  if (length % rule.multiple != 0) length += rule.multiple - length % rule.multiple;
  return length;
}

std::shared_ptr<Memory> InputMaker::Fill(Type element, int64_t length, uint64_t offset_elements,
                                         int64_t alignment) {
  const uint64_t offset = offset_elements * ir::BytesOf(element) /
                          static_cast<uint64_t>(alignment) * static_cast<uint64_t>(alignment);
  auto memory = MakeGuardedMemory(element, length, offset);
  const Mood mood = RandomMood();
  for (int64_t i = 0; i < length; ++i) memory->Set(i, ElementWords(element, mood, length));
  return memory;
}

void InputMaker::MakeBuffers(uint64_t number, Input& result) {
  const uint64_t offset = number / lengths_.size() % Offsets;
  const auto& aliases = alias_classes_[number / lengths_.size() / Offsets % alias_classes_.size()];
  // Now and then lengths differ between buffers.
  const bool mixed = number >= Combinations() / 2 && random_.Chance(25);
  std::vector<uint32_t> group(edges_.size());
  for (uint32_t i = 0; i < group.size(); ++i) group[i] = space_.buffers[i].group;
  for (const auto& [a, b] : aliases) {
    const uint32_t from = group[b];
    std::ranges::replace(group, from, group[a]);
  }
  std::map<uint32_t, std::shared_ptr<Memory>> made;
  for (uint32_t i = 0; i < group.size(); ++i) {
    const Type type = space_.entry->param_type(i);
    if (!type.is_buffer()) continue;
    std::shared_ptr<Memory>& memory = made[group[i]];
    if (memory == nullptr) {
      const int64_t length = LengthFor(i, mixed ? random_.Next() : number);
      if (length > MostElements) continue;
      // The second of them stands elsewhere than the first.
      const uint64_t place = offset == 0 ? 0 : offset + made.size() - 1;
      memory = Fill(type.element(), length, place, space_.buffers[i].alignment);
    }
    result.arguments[i] = Value::Buffer(memory);
    result.lanes = std::max(result.lanes, static_cast<uint64_t>(memory->length()));
  }
}

int64_t InputMaker::IndexNear(const Input& result) {
  std::vector<int64_t> lengths;
  for (const Value& value : result.arguments) {
    if (value.memory != nullptr) lengths.push_back(value.memory->length());
  }
  const int64_t length =
      lengths.empty() ? random_.Between(0, 16) : lengths[random_.Below(lengths.size())];
  switch (random_.Below(8)) {
    case 0: return length - 1;
    case 1: return length + 1;
    case 2: return random_.Between(-1, length + 1);
    default: return length;
  }
}

// The size of a symbolic dimension. A long one only where it cannot become the square or the cube of itself.
int64_t InputMaker::SizeFor(uint64_t number) {
  constexpr int64_t Sizes[] = {2, 3, 1, 5, 0, 8, 17, 4, 33};
  const bool is_long = Combinations() <= number && number < Rounds();
  if (!is_long) return Sizes[random_.Below(std::size(Sizes))];
  size_t rank = 1;
  for (const ir::Shape& shape : space_.entry->shapes) {
    const auto symbols = std::ranges::count_if(shape, [](ir::Dim dim) { return dim.is_symbol(); });
    rank = std::max(rank, static_cast<size_t>(symbols));
  }
  return rank == 1 ? LongLengths[number - Combinations()] : 65;
}

void InputMaker::MakeScalars(uint64_t number, Input& result) {
  const Mood mood = RandomMood();
  for (uint32_t i = 0; i < edges_.size(); ++i) {
    const Type type = space_.entry->param_type(i);
    if (!type.is_scalar()) continue;
    const Domain& domain = space_.domains[i];
    if (space_.is_symbol[i] && !domain.one()) {
      const uint64_t word = static_cast<uint64_t>(SizeFor(number));
      // A range that allows none of these is met by its least value.
      result.arguments[i] = Value::Word(
          type, domain.Contains(std::span(&word, 1)) || domain.is_full() ? word : domain.At(0));
      continue;
    }
    if (type == ir::types::Index && random_.Chance(80)) {
      const uint64_t word = static_cast<uint64_t>(IndexNear(result));
      if (domain.Contains(std::span(&word, 1))) {
        result.arguments[i] = Value::Word(type, word);
        continue;
      }
    }
    result.arguments[i] = Value::Scalar(type, ScalarWords(domain, mood, edges_[i]));
  }
}

void InputMaker::MakeTensors(Input& result) {
  for (uint32_t i = 0; i < edges_.size(); ++i) {
    const Type type = space_.entry->param_type(i);
    if (!type.is_tensor()) continue;
    std::vector<int64_t> dims;
    int64_t count = 1;
    for (ir::Dim dim : space_.entry->shape(type)) {
      dims.push_back(dim.is_symbol() ? static_cast<int64_t>(result.arguments[dim.param()].word)
                                     : dim.value);
      if (dims.back() < 0 || __builtin_mul_overflow(count, dims.back(), &count) ||
          count > MostTensorElements)
        return;
    }
    result.arguments[i] =
        Value::Tensor(Fill(type.element(), count, 0, space_.buffers[i].alignment), dims);
    result.lanes = std::max(result.lanes, static_cast<uint64_t>(count));
  }
}

// Mixed streams are made by trial in sampled.cpp; here the types take turns.
std::vector<Value> InputMaker::MakeStream(std::span<const Type> types, uint64_t number) {
  constexpr uint64_t Lengths[] = {16, 64, 3, 1, 0, 200};
  std::vector<Value> values;
  if (types.empty()) return values;
  const uint64_t length = Lengths[number % std::size(Lengths)];
  const Mood mood = RandomMood();
  for (uint64_t i = 0; i < length; ++i) {
    const Type type = types[i % types.size()];
    values.push_back(Value::Scalar(type, ElementWords(type, mood, static_cast<int64_t>(length))));
  }
  return values;
}

std::optional<Input> InputMaker::Make(uint64_t number) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    // Without these, a program whose elements may trap would hardly ever get to its end.
    calm_ = random_.Chance(40);
    Input result;
    result.arguments.resize(edges_.size());
    MakeBuffers(number, result);
    MakeScalars(number, result);
    MakeTensors(result);
    bool whole = true;
    for (uint32_t i = 0; i < edges_.size(); ++i)
      whole = whole &&
              (space_.entry->param_type(i).is_scalar() || result.arguments[i].memory != nullptr);
    if (!whole || !Allows(space_, result.arguments)) continue;
    result.input = MakeStream(space_.input_types, number);
    result.hints = MakeStream(space_.hint_types, number / 2);
    return result;
  }
  return std::nullopt;
}

}  // namespace frazil::verify
