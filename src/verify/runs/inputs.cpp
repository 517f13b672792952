// How inputs are made. Buffers share a length most of the time, because kernels are written for that, and index
// parameters are near that length; a mood for each buffer keeps sums from being NaN wherever one element is.
#include "verify/internal/inputs.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <set>

#include "base/check.h"
#include "base/number/goldilocks.h"
#include "exec/random_arguments.h"
#include "ir/text/literal.h"

namespace frazil::verify {
namespace {

using exec::Memory;
using exec::Value;
using ir::Scalar;
using ir::Type;
using Words = std::vector<uint64_t>;

constexpr size_t VectorBytes = 64;
// So many alias classes meet every length at every alignment, the others a few lengths.
constexpr size_t MostWholeClasses = 6;
constexpr size_t FewLengths = 4;
// A guard may ask for more; then no input is made and the comparison says so.
constexpr int64_t MostElements = 1 << 22;
constexpr int64_t MostTensorElements = 140'000;  // two rows of the longest
constexpr int64_t LongLengths[] = {519, 1029, 4096 + 64 + 1};

// Does it carry values from element to element?
bool Folds(const ir::Program& program) {
  for (const ir::Function& function : program.functions) {
    for (const ir::Inst& inst : function.insts) {
      if (inst.op == ir::Op::Reduce || inst.op == ir::Op::Fold ||
          (inst.op == ir::Op::For && inst.results.count > 0))
        return true;
    }
  }
  return false;
}

}  // namespace

bool HasShared(const Input& input) {
  std::set<const Memory*> seen;
  return std::ranges::any_of(input.arguments, [&](const Value& value) {
    return value.memory != nullptr && !seen.insert(value.memory.get()).second;
  });
}

uint64_t WithSign(Type type, uint64_t word, bool is_negative) {
  const uint64_t top = uint64_t{1} << (ir::BitsOf(type) - 1);
  if (ir::IsFloat(type.scalar)) return is_negative ? word | top : word & ~top;
  if (!ir::IsFixedInt(type.scalar) || !ir::IsSigned(type.scalar)) return word;
  return ((word & top) != 0) == is_negative ? word : ~word;
}

uint64_t OddNan(Type type, bool is_negative) {
  return ir::LiteralFromDouble(type, std::numeric_limits<double>::quiet_NaN()) | 0x23 |
         (is_negative ? uint64_t{1} << (ir::BitsOf(type) - 1) : 0);
}

Input CopyOf(const Input& input) {
  Input copy = input;
  std::map<const Memory*, std::shared_ptr<Memory>> copies;
  for (Value& value : copy.arguments) {
    if (value.memory == nullptr) continue;
    std::shared_ptr<Memory>& memory = copies[value.memory.get()];
    if (memory == nullptr) memory = CopyGuardedMemory(*value.memory);
    value.memory = memory;
  }
  return copy;
}

InputMaker::InputMaker(const InputSpace& space, const ir::Program& source,
                       const ir::Program& candidate, Random& random)
    : space_(space),
      random_(random),
      folds_(Folds(source) || Folds(candidate)),
      telling_(TellingOf(source)),
      has_wholes_(std::ranges::any_of(telling_.wholes, [](int64_t length) { return length > 0; })) {
  const EdgeValues edge_values(source, candidate);
  int64_t vector = 1;
  for (uint32_t i = 0; i < space.domains.size(); ++i) {
    const Type type = space.entry->param_type(i);
    edges_.push_back(type.is_scalar() ? edge_values.Of(space.domains[i]) : std::vector<Words>{});
    if (!type.is_buffer()) continue;
    lonely_count_ += ir::IsFloat(type.scalar) && type.access != ir::Access::Out ? 1 : 0;
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
  for (const auto& pair : pairs) alias_classes_.push_back({pair});
  if (pairs.size() > 1) alias_classes_.insert(alias_classes_.begin() + 1, pairs);
}

size_t InputMaker::CountPairs() const {
  return static_cast<size_t>(std::ranges::count_if(
      alias_classes_, [](const Aliases& aliases) { return aliases.size() == 1; }));
}

bool InputMaker::MayAlias(uint32_t a, uint32_t b) const {
  const Type x = space_.entry->param_type(a);
  const Type y = space_.entry->param_type(b);
  if (!x.is_buffer() || !y.is_buffer() || x.element() != y.element()) return false;
  return std::ranges::none_of(space_.disjoint, [&](const auto& pair) {
    return (pair.first == a && pair.second == b) || (pair.first == b && pair.second == a);
  });
}

void InputMaker::Repeat(Memory& memory, int64_t made) {
  const size_t bytes = ir::BytesOf(memory.element());
  for (int64_t i = made; i < memory.length(); i += made)
    std::memcpy(memory.data() + static_cast<size_t>(i) * bytes, memory.data(),
                static_cast<size_t>(std::min(made, memory.length() - i)) * bytes);
}

// After all combinations a long one for unrolled loops, and longer ones where something is summed up: the blocks of a
// reduction have 4096 elements.
uint64_t InputMaker::Rounds() const {
  return Combinations() + (folds_ ? std::size(LongLengths) : 1);
}
uint64_t InputMaker::Combinations() const {
  const size_t whole = std::min(alias_classes_.size(), MostWholeClasses);
  return lengths_.size() * Offsets * whole + FewLengths * (alias_classes_.size() - whole);
}

InputMaker::Round InputMaker::RoundOf(uint64_t number) const {
  const size_t whole = std::min(alias_classes_.size(), MostWholeClasses);
  const uint64_t all = lengths_.size() * Offsets * whole;
  if (number >= all && number < Combinations())
    return {(number - all) % FewLengths, (number - all) / FewLengths % Offsets,
            whole + (number - all) / FewLengths};
  return {number % lengths_.size(), number / lengths_.size() % Offsets,
          number / lengths_.size() / Offsets % whole};
}

InputMaker::Mood InputMaker::RandomMood() {
  if (calm_)
    return random_.Chance(70) ? Mood::Small : random_.Chance(80) ? Mood::Plain : Mood::Signs;
  constexpr Mood Moods[] = {Mood::Edge,  Mood::Edge, Mood::Plain, Mood::Plain,
                            Mood::Small, Mood::Wild, Mood::Signs, Mood::Halves};
  return Moods[random_.Below(std::size(Moods))];
}

// A value of the type, whatever the guard says.
Words InputMaker::ElementWords(Type type, Mood mood, int64_t length) {
  if (ir::WordsOf(type) == 1) return {ElementWord(type, mood, length)};
  const Value value = exec::RandomScalar(type, random_.Next());
  const auto random_words = value.scalar_words();
  Words words(random_words.begin(), random_words.end());
  if (type.scalar == Scalar::XField || type.scalar == Scalar::Digest)
    for (uint64_t& word : words)
      if (random_.Chance(50)) word = FieldWord();
  return words;
}

// Of a long buffer, some are near its end: fewer bits of them are not enough there.
uint64_t InputMaker::IndexWord(uint64_t length) {
  constexpr uint64_t Last = 300;
  return length > 2 * Last && random_.Chance(20) ? length - 1 - random_.Below(Last)
                                                 : random_.Below(length);
}

uint64_t InputMaker::ElementWord(Type type, Mood mood, int64_t length) {
  if (type.scalar == Scalar::Field && (mood == Mood::Edge || mood == Mood::Halves) &&
      random_.Chance(60))
    return FieldWord();
  if ((mood == Mood::Edge && !in_table_ && !is_tiny_) || type.scalar == Scalar::Int)
    return exec::RandomScalar(type, random_.Next()).word;
  if (type.scalar == Scalar::Index && !in_table_ && random_.Chance(70))
    return random_.Below(static_cast<uint64_t>(length) + 1);
  if (in_table_ && ir::IsFixedInt(type.scalar))
    return random_.Below(std::min<uint64_t>(static_cast<uint64_t>(telling_.least_table),
                                            uint64_t{1} << std::min(ir::BitsOf(type) - 1, 62)));
  if (indices_ && ir::IsFixedInt(type.scalar) && ir::BitsOf(type) >= 16)
    return ExtendWord(type, IndexWord(static_cast<uint64_t>(length)));
  if (is_tiny_ && ir::IsFixedInt(type.scalar))
    return ExtendWord(type, static_cast<uint64_t>(random_.Between(1, 3)));
  if (mood == Mood::Signs) return SignWord(type);
  if (mood == Mood::Halves) return HalfWord(type);
  if (mood == Mood::Near) return NearWord(type);
  if (ir::IsFloat(type.scalar)) {
    if (mood == Mood::Small)
      return ir::LiteralFromDouble(
          type, static_cast<double>(random_.Between(-8, 8)) * (random_.Chance(50) ? -1.0 : 1.0));
    if (mood == Mood::Plain) {
      const double unit = static_cast<double>(random_.Next() >> 11) * 0x1p-53;
      return ir::LiteralFromDouble(type, (unit - 0.5) * 8);
    }
    return ExtendWord(type, random_.Next());
  }
  if (mood == Mood::Small || calm_)
    return ExtendWord(
        type, static_cast<uint64_t>(random_.Between(ir::IsSigned(type.scalar) ? -8 : 0, 16)));
  return ExtendWord(type, random_.Next() >> (mood == Mood::Plain ? random_.Below(64) : shift_));
}

// A power of two, or its negative, or next to one: where a product's halves carry and a sum wraps.
uint64_t InputMaker::FieldWord() {
  const uint64_t power = uint64_t{1} << random_.Below(64);
  const uint64_t near = power + random_.Below(3) - 1;
  const uint64_t word = near < goldilocks::P ? near : near - goldilocks::P;
  return random_.Chance(50) || word == 0 ? word : goldilocks::P - word;
}

// Zeros, ones and what is next to the ends, all the time: sums that cancel, zeros of both signs side by side.
uint64_t InputMaker::SignWord(Type type) {
  const uint64_t kind = random_.Below(8);
  if (ir::IsFloat(type.scalar)) {
    const double value = kind < 7 ? 0.0 : 1.0;
    return ir::LiteralFromDouble(type, random_.Chance(50) ? value : -value);
  }
  if (type.scalar == Scalar::Field) {
    constexpr uint64_t Telling[] = {0,
                                    1,
                                    goldilocks::P - 1,
                                    goldilocks::P - 2,
                                    1ull << 32,
                                    (1ull << 32) - 1,
                                    goldilocks::P - (1ull << 32),
                                    1ull << 63};
    return Telling[kind];
  }
  if (telling_.makes_fields && ir::BitsOf(type) == 64 && random_.Chance(50))
    return goldilocks::P + kind - 4;
  const uint64_t top = 1ull << (ir::BitsOf(type) - 1);
  const uint64_t telling[] = {0, 1, ~0ull, top, top - 1, 2, ~1ull, top + 1};
  return ExtendWord(type, telling[kind]);
}

// Halfway between two numbers of a shorter float, or the least bit away from it: where rounding twice is rounding wrong.
uint64_t InputMaker::HalfWord(Type type) {
  constexpr uint64_t Mantissas[] = {7, 10, 23, 52};
  const uint64_t kept = Mantissas[random_.Below(std::size(Mantissas))];
  const bool is_float = ir::IsFloat(type.scalar);
  // A number of 64 bits, its leading one at the top: the kept ones behind it, the half, and what may lie at the end.
  uint64_t bits = 1ull << 63 | (random_.Next() >> 1 >> (63 - kept) << (63 - kept));
  bits |= 1ull << (62 - kept);
  const uint64_t width = is_float ? 0 : random_.Below(static_cast<uint64_t>(ir::BitsOf(type)));
  if (!is_float) {
    const uint64_t word = bits >> 1 >> width | (random_.Chance(50) ? 1 : 0);
    return ExtendWord(type, random_.Chance(50) ? word : -word);
  }
  // The double next to it, then as this type has it: a NaN or an infinity cannot come of it.
  const int exponent = static_cast<int>(random_.Between(-20, 14));
  const double value = std::ldexp(static_cast<double>(bits >> 11), exponent - 52);
  const uint64_t word = ir::LiteralFromDouble(type, random_.Chance(50) ? value : -value);
  return random_.Chance(50) ? word | 1 : word;
}

// One, the next above it, or as far below; or that by half of its last place. The sum of one and a product of two of
// them lies so near to the middle of two numbers that twice as many bits cannot tell: fused products, rounded twice.
uint64_t InputMaker::NearWord(Type type) {
  if (!ir::IsFloat(type.scalar)) return HalfWord(type);
  const int digits = type.scalar == Scalar::F64   ? 52
                     : type.scalar == Scalar::F32 ? 23
                     : type.scalar == Scalar::F16 ? 10
                                                  : 7;
  const uint64_t kind = random_.Below(10);
  const double last = std::ldexp(1.0, -digits);
  const double value = kind < 3 ? 1 : kind < 7 ? 1 + last : 1 - last;
  const double scaled = std::ldexp(value, random_.Chance(30) ? -digits - 1 : 0);
  return ir::LiteralFromDouble(type, random_.Chance(50) ? scaled : -scaled);
}

// The only NaN of an input: at the first or the last lane of a vector, or anywhere. What looks at all lanes at once and
// forgets one of them is right wherever two have it.
void InputMaker::PutLonely(Memory& memory) {
  const Type element = memory.element();
  const uint64_t length = static_cast<uint64_t>(memory.length());
  if (length == 0) return;
  const uint64_t few = std::min<uint64_t>(length, 256);
  const uint64_t places[] = {random_.Chance(50) ? 0 : random_.Below(few) / 64 * 64,
                             random_.Below(16), random_.Below(few) | 15, random_.Below(few)};
  const uint64_t word = OddNan(element, random_.Chance(50));
  memory.Set(static_cast<int64_t>(places[lonely_place_ % std::size(places)] % length),
             std::span(&word, 1));
}

// The least and the greatest of a long buffer once each, at its ends in turn: what repeats is found anywhere.
void InputMaker::PutExtremes(Memory& memory) {
  const Type element = memory.element();
  if (!ir::IsFloat(element.scalar) && !ir::IsFixedInt(element.scalar)) return;
  const int64_t last = memory.length() - 1;
  const uint64_t kind = random_.Below(3);
  const int64_t places[] = {kind == 0 ? 0 : std::max<int64_t>(last - random_.Between(0, 70), 0),
                            kind == 1 ? 0 : last - random_.Between(0, last)};
  for (const bool is_least : {true, false}) {
    const uint64_t word =
        ir::IsFloat(element.scalar) ? ir::LiteralFromDouble(element, is_least ? -1000 : 1000)
        : ir::IsSigned(element.scalar)
            ? ExtendWord(element, (1ull << (ir::BitsOf(element) - 1)) - (is_least ? 0 : 1))
            : ExtendWord(element, is_least ? 0 : ~0ull);
    memory.Set(places[is_least == (kind != 2) ? 0 : 1], std::span(&word, 1));
  }
}

// A NaN for a float now and then: the same for all who ask at this place.
Words InputMaker::SpecialWords(Type type, uint64_t place, int64_t length) {
  if (ir::IsFloat(type.scalar) && place % 4 < 2)
    return {ir::LiteralFromDouble(type, std::numeric_limits<double>::quiet_NaN()) |
            (random_.Chance(75) ? 0x23 : 0) |
            (random_.Chance(40) ? uint64_t{1} << (ir::BitsOf(type) - 1) : 0)};
  return ElementWords(type, Mood::Edge, length);
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
  const int64_t wanted = stretched_ ? stretched_()
                         : is_long  ? LongLengths[number - Combinations()]
                                    : lengths_[RoundOf(number).length];
  int64_t length = std::max({wanted, rule.at_least, is_whole_ ? telling_.wholes[param] : 0});
  if (length % rule.multiple != 0) length += rule.multiple - length % rule.multiple;
  return length;
}

std::shared_ptr<Memory> InputMaker::Fill(Type element, int64_t length, uint64_t offset_elements,
                                         int64_t alignment) {
  const uint64_t bytes_off = offset_elements * ir::BytesOf(element) + odd_bytes_;
  const uint64_t offset =
      fence_ == AtItsBegin || (fence_ == AtItsEnd && alignment == 1)
          ? fence_
          : bytes_off / static_cast<uint64_t>(alignment) * static_cast<uint64_t>(alignment);
  auto memory = MakeGuardedMemory(element, length, offset);
  const Mood mood = mood_.value_or(RandomMood());
  const Mood usual = sparse_ && mood == Mood::Edge ? Mood::Plain : mood;
  // What drops NaNs gives one only where there is nothing else.
  const bool is_nan =
      ir::IsFloat(element.scalar) && !no_nans_ && (all_nan_ || (stretched_ && random_.Chance(8)));
  // Making them one by one takes most of a verdict's time: long ones repeat themselves.
  const int64_t made = MadeOf(length);
  const bool is_word = !is_nan && ir::WordsOf(element) == 1;
  for (int64_t i = 0; i < made; ++i) {
    if (is_word) {
      uint64_t word = ElementWord(element, usual, length);
      if (negative_) word = WithSign(element, word, *negative_);
      memory->Set(i, std::span(&word, 1));
    } else {
      memory->Set(i,
                  is_nan ? SpecialWords(element, 0, length) : ElementWords(element, usual, length));
    }
  }
  Repeat(*memory, made);
  // Some at places that all buffers of this input have in common: two NaNs meet nowhere else.
  if (sparse_ && length > 0) {
    for (uint64_t n = random_.Below(4); n > 0; --n)
      memory->Set(random_.Between(0, length - 1), ElementWords(element, Mood::Edge, length));
    for (uint64_t place : special_)
      memory->Set(static_cast<int64_t>(place % static_cast<uint64_t>(length)),
                  SpecialWords(element, place, length));
  }
  if (stretched_ && telling_.orders && is_word &&
      (made < length || (length >= 64 && random_.Chance(50))))
    PutExtremes(*memory);
  if (lonely_ && ir::IsFloat(element.scalar) && (*lonely_)-- == 0) PutLonely(*memory);
  return memory;
}

void InputMaker::MakeBuffers(uint64_t number, Input& result) {
  const Round round = RoundOf(number);
  // The last of the places is before memory that is not there, or behind.
  if (round.offset == Offsets - 1) fence_ = random_.Chance(70) ? AtItsEnd : AtItsBegin;
  PlaceBuffers(number, round.offset, alias_classes_[round.alias], result);
  fence_ = 0;
}

void InputMaker::PlaceBuffers(uint64_t number, uint64_t offset, const Aliases& aliases,
                              Input& result) {
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
      const uint64_t place = offset == 0 || same_place_ ? offset : offset + made.size() - 1;
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
  // Where two buffers are one, an iteration meets what another wrote a little before.
  if (HasShared(result) && random_.Chance(40)) {
    const int64_t little = random_.Between(1, 20);
    return random_.Chance(50) ? std::max<int64_t>(length - little, 0) : little;
  }
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

bool InputMaker::Complete(const Input& result) const {
  for (uint32_t i = 0; i < edges_.size(); ++i)
    if (!space_.entry->param_type(i).is_scalar() && result.arguments[i].memory == nullptr)
      return false;
  return Allows(space_, result.arguments);
}

std::optional<Input> InputMaker::Make(uint64_t number) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    // Without these, a program whose elements may trap would hardly ever get to its end.
    calm_ = random_.Chance(40);
    is_whole_ = has_wholes_ && random_.Chance(50);
    Input result;
    result.arguments.resize(edges_.size());
    MakeBuffers(number, result);
    MakeScalars(number, result);
    FitCovers(result);
    MakeTensors(result);
    if (!Complete(result)) continue;
    result.input = MakeStream(space_.input_types, number);
    result.hints = MakeStream(space_.hint_types, number / 2);
    return result;
  }
  return std::nullopt;
}

}  // namespace frazil::verify
