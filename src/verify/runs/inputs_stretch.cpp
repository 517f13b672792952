// Inputs for code that the usual ones did not reach: main loops of many lanes, blocks of sums, tiles of products. Values
// are plain but for a few, because one that traps or is no number everywhere would hide what comes behind it.
#include <algorithm>
#include <functional>

#include "ir/text/literal.h"
#include "verify/internal/inputs.h"

namespace frazil::verify {
namespace {

using exec::Value;
using ir::Type;

constexpr int64_t Lengths[] = {300, 140, 520, 77, 1030, 4161, 260, 8330};
// Some are as long as many blocks of a sum, whole ones and with every kind of rest, and one is longer than 16 bits count.
// Where nothing is carried from element to element there are no such blocks.
constexpr uint64_t FirstLong = 30;
constexpr int64_t LongLengths[] = {5 * 4096,     3 * 4096 + 64, 66'000,
                                   6 * 4096 + 1, 66'001,        4 * 4096 + 700};
constexpr int64_t LongWithoutBlocks[] = {66'001,
                                         5 * 4096 + 701};  // the second with buffers that are one
// Work grows with the number: most code is reached by little.
constexpr int64_t FirstVolume = 1 << 9;
constexpr int64_t MostVolume = 50'000;
constexpr int64_t MostLength = 1 << 15;
constexpr int64_t MostTile = 100'000;
constexpr uint64_t MostNudged = 70'000;
constexpr uint64_t LeastOwnSize = 32, MostOwnSize = 1100;
constexpr int64_t HeavyLength = 3 * 4096 + 200;  // what a run's fuel is enough for
constexpr uint64_t FirstLate = 56;
constexpr uint64_t FirstNone = 44;  // from here each size is 0 once

bool IsSize(Type type) {
  return type.is_scalar() && ir::WordsOf(type) == 1 && ir::IsFixedInt(type.scalar);
}

}  // namespace

// Only even ones: the others have sizes of their own.
std::optional<int64_t> InputMaker::LongLengthOf(uint64_t number) const {
  const std::span<const int64_t> lengths =
      folds_ ? std::span<const int64_t>(LongLengths) : std::span<const int64_t>(LongWithoutBlocks);
  const uint64_t at = (number - FirstLong) / 2;
  if (number < FirstLong || number % 2 != 0 || at >= lengths.size()) return std::nullopt;
  return lengths[at];
}

int64_t InputMaker::StretchedLength(uint64_t number) {
  if (const auto length = LongLengthOf(number))
    return is_heavy_ ? std::min<int64_t>(*length / 4096, 3) * 4096 + *length % 4096 % 200 : *length;
  if (number >= 16 && random_.Chance(50)) return random_.Between(1, 700);
  const int64_t length = Lengths[number / 2 % std::size(Lengths)];
  // Whole vectors and blocks, or about.
  return random_.Chance(25) ? length / 64 * 64
                            : std::max<int64_t>(length + random_.Between(-9, 9), 0);
}

// Tiny, small, as wide as a vector, as wide as a block: a tile is some rows of many columns. The stride of a row is often
// its length, so now and then the same number stands in many places.
std::vector<int64_t> InputMaker::Sizes(uint64_t number) {
  std::vector<int64_t> sizes(edges_.size(), 1);
  std::vector<size_t> free;
  const bool is_alike = random_.Chance(50);
  std::vector<int64_t> pool(random_.Below(3) + 1);
  for (int64_t& size : pool) size = OneSize();
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!IsSize(space_.entry->param_type(static_cast<uint32_t>(i)))) continue;
    free.push_back(i);
    sizes[i] = is_alike && random_.Chance(80) ? pool[random_.Below(pool.size())] : OneSize();
  }
  if (free.empty()) return sizes;
  if (number % 4 == 3 && (number < FirstLate || random_.Chance(40))) {
    // Whole tiles and rests of them: three sizes in every order, and strides that hold them, or switches.
    constexpr int64_t Tiles[14][3] = {{2, 18, 66},   {9, 67, 34},  {9, 34, 67},  {67, 9, 34},
                                      {1030, 34, 1}, {34, 9, 67},  {67, 34, 9},  {34, 1030, 1},
                                      {34, 67, 9},   {3, 400, 17}, {3, 17, 400}, {400, 3, 17},
                                      {17, 400, 3},  {66, 18, 5}};
    int64_t tile[3];
    std::ranges::copy(Tiles[number / 4 % std::size(Tiles)], tile);
    // Later, any that are about as much work.
    if (number / 4 >= std::size(Tiles) && random_.Chance(60)) {
      tile[0] = random_.Between(2, 12), tile[1] = random_.Between(10, 70);
      tile[2] = random_.Between(1, std::min<int64_t>(1100, MostTile / (tile[0] * tile[1])));
      for (size_t i = 2; i > 0; --i) std::swap(tile[i], tile[random_.Below(i + 1)]);
    }
    const bool has_strides = number / 48 % 2 == 0;
    for (size_t i = 0; i < free.size(); ++i)
      sizes[free[i]] = i < 3         ? tile[i] + random_.Between(0, 3)
                       : has_strides ? (tile[0] + tile[1] + tile[2] > 400 ? 404 : 72)
                                     : random_.Between(0, 3);
    return sizes;
  }
  // One is a number of the programs, as of a block that scratch is made for, each of them once; the others leave the fuel to
  // its turns. Small ones come by themselves.
  if (number >= FirstLate && number % 4 == 1) {
    uint64_t turn = (number - FirstLate) / 4;
    for (size_t at : free)
      for (const std::vector<uint64_t>& words : edges_[at]) {
        if (words[0] < LeastOwnSize || words[0] > MostOwnSize || turn-- != 0) continue;
        for (size_t other : free) sizes[other] = random_.Between(1, 3);
        sizes[at] = static_cast<int64_t>(words[0]);
        return sizes;
      }
  }
  // Loops are not nested deeper than three, or as deep as there are sizes.
  const bool is_deep = random_.Chance(50);
  const int64_t most = std::min(FirstVolume << std::min<uint64_t>(number / 8, 7), MostVolume);
  while (Volume(sizes, is_deep ? sizes.size() : 3) > most) {
    const int64_t greatest =
        sizes[*std::ranges::max_element(free, {}, [&](size_t at) { return sizes[at]; })];
    const int64_t less =
        random_.Chance(50) ? greatest / 2 : std::max<int64_t>(greatest - 10, greatest * 3 / 4);
    // What is alike stays alike.
    for (size_t at : free)
      if (sizes[at] == greatest) sizes[at] = std::max<int64_t>(less, 1);
  }
  return sizes;
}

// A tensor is long in one direction: all of them would be more than anybody can run.
std::optional<uint32_t> InputMaker::LongSymbol(uint64_t number) const {
  std::vector<uint32_t> symbols;
  for (uint32_t i = 0; i < edges_.size(); ++i)
    if (space_.is_symbol[i]) symbols.push_back(i);
  if (symbols.empty()) return std::nullopt;
  // The last is mostly that of rows, which loops go along: it has two turns of three.
  const uint64_t turn = number / 2 % (symbols.size() + 1);
  return symbols[std::min<uint64_t>(turn, symbols.size() - 1)];
}

int64_t InputMaker::FewRows(int64_t common) {
  return common > 5000 ? random_.Between(1, 2) : random_.Between(1, 5);
}

int64_t InputMaker::OneSize() {
  const uint64_t percent = random_.Below(100);
  if (percent < 30) return random_.Between(0, 3);
  if (percent < 50) return random_.Between(4, 9);
  if (percent < 75) return random_.Between(15, 40);
  return percent < 95 ? random_.Between(60, 210) : random_.Between(300, 1100);
}

// The product of the greatest.
int64_t InputMaker::Volume(const std::vector<int64_t>& sizes, size_t count) {
  std::vector<int64_t> sorted = sizes;
  std::ranges::sort(sorted, std::greater());
  int64_t volume = 1;
  for (size_t i = 0; i < std::min(count, sorted.size()); ++i)
    volume = std::min(volume * std::max<int64_t>(sorted[i], 1), MostVolume * 64);
  return volume;
}

// More than enough, mostly; what two of them ask for; or what some do.
int64_t InputMaker::SizedLength(const std::vector<int64_t>& sizes) {
  const uint64_t percent = random_.Below(100);
  if (percent < 50) return MostLength / 4 + random_.Between(0, 5);
  if (percent < 60) return MostLength + random_.Between(0, 5);
  if (percent < 80) return std::min(Volume(sizes, 2), MostLength) + random_.Between(0, 5);
  int64_t length = 1;
  for (int64_t size : sizes)
    if (random_.Chance(50)) length = std::min(length * std::max<int64_t>(size, 1), MostLength);
  return length;
}

// Values that tell about what the program does, in turns: primes, so that they meet all kinds of sizes.
void InputMaker::ChooseValues(uint64_t number, bool is_tile) {
  negative_ = std::nullopt;
  lonely_ = std::nullopt;
  no_nans_ = is_tile;
  is_tiny_ = telling_.checks && number % 4 == 0;
  if (telling_.orders && number % 5 == 3) negative_ = number / 5 % 2 == 0;
  if (telling_.orders && (number % 5 == 1 || number % 5 == 4) && !is_tile) {
    mood_ = Mood::Signs;  // products of zeros would hide what tiles are for
  } else if (telling_.rounds && (number % 7 == 2 || number % 7 == 5)) {
    mood_ = Mood::Near;
  } else if (telling_.divides && (number % 5 == 0 || number % 5 == 2)) {
    mood_ = Mood::Wild;  // of every width
    calm_ = false;
    shift_ = (number / 5 * 8 + random_.Below(8)) % 56;
  } else if (lonely_count_ > 0 && (number % 7 == 4 || number % 7 == 0)) {
    mood_ = Mood::Plain;
    no_nans_ = true;
    const uint64_t turn = number / 7 * 2 + (number % 7 == 0 ? 0 : 1);
    lonely_ = turn % lonely_count_;
    lonely_place_ = turn / lonely_count_;
  } else if (is_tile) {
    mood_ = random_.Chance(70) ? Mood::Plain : Mood::Small;
    all_nan_ = false;
    return;
  } else {
    return;
  }
  sparse_ = all_nan_ = false;
}

std::optional<Input> InputMaker::Stretch(uint64_t number) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    calm_ = random_.Chance(60);
    sparse_ = random_.Chance(70);
    const std::optional<int64_t> is_long = LongLengthOf(number);
    indices_ = is_long ? *is_long % 2 == 1 : random_.Chance(25);
    in_table_ = telling_.least_table > 0 && number % 4 == 2;
    mood_ = random_.Chance(25)   ? std::optional(RandomMood())
            : random_.Chance(10) ? std::optional(Mood::Signs)
                                 : std::nullopt;
    shift_ = random_.Chance(50) ? 0 : random_.Below(56);
    // Where nothing is carried on, a long one of NaNs would only hide what is written elsewhere.
    all_nan_ = number % 32 >= 26 && (folds_ || !is_long);
    std::vector<uint32_t> size_places;
    for (uint32_t i = 0; i < edges_.size(); ++i)
      if (IsSize(space_.entry->param_type(i))) size_places.push_back(i);
    const size_t size_params = size_places.size();
    // Each of the first tiles comes once, so it has to come to its end.
    const bool is_tile = size_params > 0 && number % 4 == 3 && number < FirstLate;
    is_whole_ = has_wholes_ && random_.Chance(80);
    ChooseValues(number, is_tile);
    special_.clear();
    for (uint64_t n = random_.Below(5); n > 0; --n) special_.push_back(random_.Next() >> 20);
    // What is still missing then depends on sizes.
    const bool is_late = number >= FirstLate;
    const bool is_sized = size_params > 0 && (number % 2 == 1 || (is_late && random_.Chance(50)));
    const std::vector<int64_t> sizes = is_sized ? Sizes(number) : std::vector<int64_t>();
    const int64_t common = StretchedLength(number);
    const bool is_cut = !is_long && !is_tile && random_.Chance(15);
    // One of the buffers a little shorter: what is right for many elements traps at the last.
    const bool is_uneven = !is_long && !is_tile && (number % 13 == 3 || number % 13 == 10);
    uint64_t to_shorter = number % 3;
    stretched_ = [&, this] {
      // There is room for whatever a tile is.
      const int64_t length = !is_sized ? common : is_tile ? MostLength : SizedLength(sizes);
      if (is_uneven)
        return to_shorter-- == 0 ? std::max<int64_t>(length - random_.Between(1, 4), 0) : length;
      return is_cut && random_.Chance(50) ? random_.Between(0, length) : length;
    };
    // Mostly no aliases; now and then whichever.
    const uint64_t aliases = number % 9 == 7 && number % 4 != 3 ? number / 9 % alias_classes_.size()
                             : is_long && number % 4 == 0       ? number / 4 % alias_classes_.size()
                             : is_long || is_tile || random_.Chance(75)
                                 ? 0
                                 : random_.Below(alias_classes_.size());
    same_place_ = random_.Chance(50);
    fence_ = random_.Chance(25) ? AtItsEnd : random_.Chance(8) ? AtItsBegin : 0;
    odd_bytes_ = number % 11 == 6     ? random_.Between(1, 7)
                 : random_.Chance(15) ? random_.Below(8)
                                      : 0;
    Input result;
    result.arguments.resize(edges_.size());
    PlaceBuffers(0, random_.Below(same_place_ ? 16 : Offsets), alias_classes_[aliases], result);
    same_place_ = indices_ = in_table_ = false;
    mood_ = std::nullopt;
    fence_ = 0;
    odd_bytes_ = 0;
    stretched_ = {};
    negative_ = std::nullopt;
    lonely_ = std::nullopt;
    is_tiny_ = false;
    MakeScalars(0, result);
    for (uint32_t i = 0; i < edges_.size(); ++i) {
      const Type type = space_.entry->param_type(i);
      if (!type.is_scalar() || !ir::IsFloat(type.scalar) || !random_.Chance(15)) continue;
      const auto words = SpecialWords(type, random_.Below(4), 1);
      if (space_.domains[i].Contains(words)) result.arguments[i] = Value::Scalar(type, words);
    }
    uint64_t size_count = 0;
    const bool is_only = size_params <= 1;
    // From somewhere to the end, where from the end to the end there would be no turn; and from behind all ends on.
    const uint32_t small =
        is_only || random_.Chance(30) ? UINT32_MAX : size_places[random_.Below(size_places.size())];
    const bool is_beyond = !is_only && !is_tile && !is_long && number % 13 == 8;
    const std::optional<uint32_t> long_symbol = LongSymbol(number);
    int64_t beyond = static_cast<int64_t>(result.lanes);
    for (uint32_t i = 0; i < edges_.size(); ++i) {
      const Type type = space_.entry->param_type(i);
      if (!IsSize(type) || space_.domains[i].one()) continue;
      const bool is_none =
          number % 2 == 0 && number >= FirstNone && size_count++ == (number - FirstNone) / 2;
      beyond += random_.Between(1, 40);
      const int64_t wanted = is_none               ? 0
                             : is_beyond           ? beyond
                             : is_sized            ? sizes[i]
                             : space_.is_symbol[i] ? (i == long_symbol ? common : FewRows(common))
                             : is_long             ? (is_only || random_.Chance(70) ? common : 0)
                             : i == small          ? random_.Between(0, 20)
                             : random_.Chance(10)  ? IndexNear(result) + random_.Between(2, 200)
                             : random_.Chance(80)  ? IndexNear(result)
                                                   : -1;
      if (!is_sized && wanted < 0) continue;
      const uint64_t word = ExtendWord(type, static_cast<uint64_t>(wanted));
      if (space_.domains[i].Contains(std::span(&word, 1)))
        result.arguments[i] = Value::Word(type, word);
    }
    FitCovers(result);
    MakeTensors(result);
    sparse_ = all_nan_ = no_nans_ = false;
    if (!Complete(result)) continue;
    result.input = MakeStream(space_.input_types, number);
    result.hints = MakeStream(space_.hint_types, number / 2);
    return result;
  }
  sparse_ = all_nan_ = no_nans_ = false;
  return std::nullopt;
}

// Extents that the guard says buffers are long enough for: mostly as long as the shortest.
void InputMaker::FitCovers(Input& result) {
  for (const auto& [extent, buffer] : space_.covers) {
    const auto& memory = result.arguments[buffer].memory;
    Value& value = result.arguments[extent];
    if (memory == nullptr || static_cast<int64_t>(value.word) <= memory->length()) continue;
    const int64_t most = memory->length();
    const auto word = static_cast<uint64_t>(random_.Chance(80) ? most : random_.Between(0, most));
    if (space_.domains[extent].Contains(std::span(&word, 1))) value = Value::Word(value.type, word);
  }
}

// Another value for a number: near where something happens.
std::vector<uint64_t> InputMaker::OtherWords(uint32_t param, const Input& input) {
  const Type type = space_.entry->param_type(param);
  if (IsSize(type) && random_.Chance(80)) {
    constexpr int64_t Telling[] = {0, 1, 2, 3, 8, 17, 33, 40, 65, 130, 200, 400};
    const uint64_t kind = random_.Below(4);
    int64_t number = Telling[random_.Below(std::size(Telling))];
    if (kind == 0) number = IndexNear(input);
    if (kind == 1) {
      const uint32_t other = static_cast<uint32_t>(random_.Below(edges_.size()));
      if (IsSize(space_.entry->param_type(other)))
        number = static_cast<int64_t>(
            input.arguments[other].word +
            static_cast<uint64_t>(random_.Chance(50) ? 0 : random_.Between(-1, 1)));
    }
    return {ExtendWord(type, static_cast<uint64_t>(number))};
  }
  return ScalarWords(space_.domains[param], Mood::Edge, edges_[param]);
}

void InputMaker::ChangeMemory(exec::Memory& memory) {
  const int64_t length = memory.length();
  if (length == 0) return;
  const Type element = memory.element();
  const uint64_t kind = random_.Below(6);
  if (kind == 0) {  // one value everywhere
    const auto words = ElementWords(element, Mood::Edge, length);
    for (int64_t i = 0; i < length; ++i) memory.Set(i, words);
    return;
  }
  if (kind == 1) {  // other ones everywhere
    const Mood mood = RandomMood();
    for (int64_t i = 0; i < length; ++i) memory.Set(i, ElementWords(element, mood, length));
    return;
  }
  for (uint64_t n = random_.Below(8) + 1; n > 0; --n) {
    const int64_t at = random_.Between(0, length - 1);
    memory.Set(at, kind == 2 ? SpecialWords(element, 0, length)
                             : ElementWords(element, Mood::Edge, length));
  }
}

std::optional<Input> InputMaker::Change(const Input& from) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    Input result = CopyOf(from);
    for (uint64_t n = random_.Below(3) + 1; n > 0 && !edges_.empty(); --n) {
      const uint32_t param = static_cast<uint32_t>(random_.Below(edges_.size()));
      const Type type = space_.entry->param_type(param);
      Value& value = result.arguments[param];
      if (type.is_scalar()) {
        if (!space_.domains[param].one() && !space_.is_symbol[param])
          value = Value::Scalar(type, OtherWords(param, result));
      } else if (type.is_buffer() && random_.Chance(30)) {
        Resize(param, result);
      } else {
        ChangeMemory(*value.memory);
      }
    }
    FitCovers(result);
    if (!Complete(result)) continue;
    return result;
  }
  return std::nullopt;
}

void InputMaker::Resize(uint32_t param, Input& input) {
  const exec::Memory& old = *input.arguments[param].memory;
  const int64_t length = old.length();
  SetLength(param, input,
            random_.Chance(50) ? random_.Between(0, length)
                               : std::min<int64_t>(length * 2 + 1, MostLength),
            PlaceOf(old));
}

// A buffer's length or the number that a parameter may freely have.
std::optional<int64_t> InputMaker::SizeOf(uint32_t param, const Input& input) const {
  const Type type = space_.entry->param_type(param);
  if (type.is_buffer()) return input.arguments[param].memory->length();
  if (!IsSize(type) || space_.domains[param].one()) return std::nullopt;
  return static_cast<int64_t>(input.arguments[param].word);
}

void InputMaker::SetSize(uint32_t param, int64_t size, Input& input) const {
  const Type type = space_.entry->param_type(param);
  if (type.is_buffer())
    return SetLength(param, input, size, PlaceOf(*input.arguments[param].memory));
  input.arguments[param] = Value::Word(type, ExtendWord(type, static_cast<uint64_t>(size)));
}

std::optional<Input> InputMaker::Nudge(const Input& from, uint64_t distance) {
  std::vector<uint32_t> sizes;
  for (uint32_t i = 0; i < edges_.size(); ++i)
    if (SizeOf(i, from)) sizes.push_back(i);
  if (sizes.empty()) return Change(from);
  for (int attempt = 0; attempt < 8; ++attempt) {
    Input result = CopyOf(from);
    bool has_other_dims = false;
    // What is larger needs room.
    if (random_.Chance(30)) {
      for (const uint32_t i : sizes)
        if (space_.entry->param_type(i).is_buffer() && *SizeOf(i, result) < MostLength)
          SetSize(i, MostLength, result);
    }
    for (uint64_t n = random_.Below(2) + 1; n > 0; --n) {
      const int64_t old = *SizeOf(sizes[random_.Below(sizes.size())], result);
      // As if it were one of the compared numbers; or somewhat, or much.
      const int64_t far = distance < MostNudged ? static_cast<int64_t>(distance) : 1;
      const int64_t steps[] = {
          1, far, far + 1, far / 2, random_.Between(2, 20), old, random_.Between(20, 700)};
      const int64_t step = steps[random_.Below(std::size(steps))];
      const int64_t wanted = random_.Chance(8) ? 0 : random_.Chance(65) ? old + step : old - step;
      if (wanted < 0 ||
          static_cast<uint64_t>(wanted) > (is_heavy_ ? uint64_t{HeavyLength} : MostNudged))
        continue;
      // What is alike mostly stays alike.
      const bool is_alike = random_.Chance(60);
      const uint32_t one = sizes[random_.Below(sizes.size())];
      for (const uint32_t i : sizes) {
        if (is_alike ? SizeOf(i, result) != old : i != one) continue;
        has_other_dims = has_other_dims || space_.is_symbol[i];
        SetSize(i, wanted, result);
      }
    }
    FitCovers(result);
    if (has_other_dims) MakeTensors(result);
    if (Complete(result)) return result;
  }
  return std::nullopt;
}

std::optional<Input> InputMaker::Season(const Input& from) {
  Input result = CopyOf(from);
  for (uint32_t i = 0; i < edges_.size(); ++i) {
    const Value& value = result.arguments[i];
    if (value.memory != nullptr && random_.Chance(60)) {
      const Type element = value.memory->element();
      const int64_t length = value.memory->length();
      if (random_.Chance(30)) {
        ChangeMemory(*value.memory);
        continue;
      }
      if (random_.Chance(15)) {
        for (int64_t at = 0; at < length; ++at)
          value.memory->Set(at, SpecialWords(element, 0, length));
        continue;
      }
      for (uint64_t n = length == 0 ? 0 : random_.Below(4) + 1; n > 0; --n)
        value.memory->Set(random_.Between(0, length - 1),
                          SpecialWords(element, random_.Below(3), length));
    }
    const Type type = space_.entry->param_type(i);
    if (type.is_scalar() && !IsSize(type) && !space_.domains[i].one() && random_.Chance(30))
      result.arguments[i] =
          Value::Scalar(type, ScalarWords(space_.domains[i], Mood::Edge, edges_[i]));
  }
  if (!Complete(result)) return std::nullopt;
  return result;
}

std::optional<Input> InputMaker::Cut(const Input& from, uint32_t param, int64_t length) const {
  Input result = CopyOf(from);
  SetLength(param, result, length, AtItsEnd);
  if (!Complete(result)) return std::nullopt;
  return result;
}

void InputMaker::Unite(const Input& from, const std::function<bool(const Input&)>& visit) const {
  const auto is_in = [&](uint32_t i) {
    return space_.entry->param_type(i).access == ir::Access::In;
  };
  for (uint32_t a = 0; a < from.arguments.size(); ++a) {
    for (uint32_t b = a + 1; b < from.arguments.size(); ++b) {
      if (!MayAlias(a, b) || (is_in(a) && is_in(b))) continue;
      const auto& x = from.arguments[a].memory;
      const auto& y = from.arguments[b].memory;
      if (x == y) continue;
      const bool is_first = x->length() > y->length();
      Input result = CopyOf(from);
      result.arguments[is_first ? b : a] = result.arguments[is_first ? a : b];
      if (Complete(result) && visit(result)) return;
    }
  }
}

// The buffer of a parameter, and all that are the same, shorter or longer.
void InputMaker::SetLength(uint32_t param, Input& input, int64_t wanted, uint64_t offset) {
  const std::shared_ptr<exec::Memory> old = input.arguments[param].memory;
  const int64_t length = old->length();
  const auto memory = MakeGuardedMemory(old->element(), wanted, offset);
  for (int64_t i = 0; i < wanted; ++i) {
    std::vector<uint64_t> words(ir::WordsOf(old->element()));
    if (length > 0) old->Get(i % length, words);
    memory->Set(i, words);
  }
  for (Value& value : input.arguments)
    if (value.memory == old) value = Value::Buffer(memory);
  for (const Value& value : input.arguments)
    if (value.memory != nullptr)
      input.lanes = std::max(input.lanes, static_cast<uint64_t>(value.memory->length()));
}

}  // namespace frazil::verify
