// What random values bring only by luck, brought to an input of which it is known that the program gets through it: one NaN in one
// place, numbers of one sign, quotients that overflow, sums that round twice, sizes whose lower half alone would fit, a fold that one
// element decides.
#include <algorithm>
#include <cmath>

#include "ir/text/literal.h"
#include "verify/internal/inputs.h"

namespace frazil::verify {

using exec::Memory;
using exec::Value;
using ir::Type;

namespace {

using Kind = InputMaker::Flavor::Kind;

bool HasFloats(Type type) { return ir::IsFloat(type.scalar); }
bool HasIntegers(Type type) { return ir::IsFixedInt(type.scalar); }

uint64_t LeastWord(Type type) { return ExtendWord(type, uint64_t{1} << (ir::BitsOf(type) - 1)); }

// Numbers for a size or an index that fits: with the same lower half, or below 0.
constexpr uint64_t FarNumbers = 5;
uint64_t FarWord(Type type, uint64_t word, uint64_t which) {
  const uint64_t half = uint64_t{1} << (ir::BitsOf(type) / 2);
  const uint64_t numbers[FarNumbers] = {~uint64_t{0}, LeastWord(type), word + half, word - half,
                                        word + half / 2};
  return ExtendWord(type, numbers[which]);
}

// How something is folded: what changes nothing, and what decides.
enum class Fold : uint8_t { And, Or, Product, Least, Greatest };

}  // namespace

std::vector<InputMaker::Flavor> InputMaker::Flavors() const {
  std::vector<Flavor> flavors;
  for (uint32_t i = 0; i < space_.entry->param_count(); ++i) {
    const Type type = space_.entry->param_type(i);
    const bool is_read = type.is_tensor() || (type.is_buffer() && type.access != ir::Access::Out);
    if (HasFloats(type) && (type.is_scalar() || is_read))
      for (uint64_t place = 0; place < (type.is_scalar() ? 1 : NanPlaces); ++place)
        flavors.push_back({Kind::OneNan, i, place});
    if (HasIntegers(type) && ir::BitsOf(type) >= 32 && is_read)
      for (const uint64_t which : {2, 3}) flavors.push_back({Kind::FarElement, i, which});
    if (!type.is_scalar() || !HasIntegers(type) || space_.domains[i].one() || space_.is_symbol[i])
      continue;
    // What is carried through no turn at all has been computed by nobody.
    if (telling_.has_floats) flavors.push_back({Kind::Nothing, i, 0});
    for (uint64_t which = ir::IsSigned(type.scalar) ? 0 : 2; which < FarNumbers; ++which)
      flavors.push_back({Kind::Far, i, which});
  }
  if (telling_.has_floats) flavors.push_back({Kind::Specials, 0, 0});
  if (telling_.orders) {
    for (const bool is_negative : {false, true}) flavors.push_back({Kind::OneSign, 0, is_negative});
    flavors.push_back({Kind::Values, 0, static_cast<uint64_t>(Mood::Signs)});
    flavors.push_back({Kind::Equal, 0, 0});
  }
  // What all of a vector fit is divided in another way.
  if (telling_.divides)
    for (const uint64_t bits : {0, 12, 24, 31, 32, 48, 53, 63})
      flavors.push_back({Kind::Quotients, 0, bits});
  if (telling_.casts) flavors.push_back({Kind::Borders, 0, 0});
  if (telling_.rounds)
    for (const Mood mood : {Mood::Halves, Mood::Near})
      flavors.push_back({Kind::Values, 0, static_cast<uint64_t>(mood)});
  return flavors;
}

std::vector<InputMaker::Flavor> InputMaker::DecisiveFlavors() const {
  std::vector<Fold> folds;
  if (telling_.folds_and) folds.push_back(Fold::And);
  if (telling_.folds_or) folds.push_back(Fold::Or);
  if (telling_.folds_product) folds.push_back(Fold::Product);
  if (telling_.folds_order) folds.insert(folds.end(), {Fold::Least, Fold::Greatest});
  std::vector<Flavor> flavors;
  for (const Fold fold : folds)
    for (uint64_t place = 0; place < Chains; ++place)
      flavors.push_back({Kind::Decisive, 0, static_cast<uint64_t>(fold), place});
  return flavors;
}

std::optional<Input> InputMaker::WithFlavor(const Input& from, const Flavor& flavor,
                                            bool only_floats) {
  if (from.arguments.empty()) return std::nullopt;
  Input result = CopyOf(from);
  Value& chosen = result.arguments[flavor.param];
  if (flavor.kind == Kind::Far) {
    chosen = Value::Word(chosen.type, FarWord(chosen.type, chosen.word, flavor.which));
  } else if (flavor.kind == Kind::FarElement) {
    const int64_t length = chosen.memory->length();
    if (length == 0) return std::nullopt;
    uint64_t word = 0;
    const auto at = static_cast<int64_t>(random_.Below(static_cast<uint64_t>(length)));
    chosen.memory->Get(at, std::span(&word, 1));
    word = FarWord(chosen.memory->element(), word, flavor.which);
    chosen.memory->Set(at, std::span(&word, 1));
  } else if (flavor.kind == Kind::OneNan && chosen.memory == nullptr) {
    chosen = Value::Word(chosen.type, OddNan(chosen.type, random_.Chance(50)));
  } else {
    std::vector<const Memory*> done;
    for (Value& value : result.arguments) {
      if (flavor.kind == Kind::Decisive && value.memory == nullptr) {
        // What a fold starts with decides nothing; sizes stay what they are.
        if (!IsLengthOf(result, value)) value = Neutral(value, flavor);
        continue;
      }
      if (value.memory == nullptr || std::ranges::find(done, value.memory.get()) != done.end())
        continue;
      // Dividends and divisors take turns.
      Flavor own = flavor;
      if (own.kind == Kind::Quotients && done.size() % 2 == 1) own.which = 0;
      done.push_back(value.memory.get());
      FlavorMemory(*value.memory, own, only_floats);
    }
    if (flavor.kind == Kind::Nothing) chosen = Value::Word(chosen.type, 0);
    if (flavor.kind == Kind::OneNan) {
      const int64_t length = chosen.memory->length();
      if (length == 0) return std::nullopt;
      // The last; else another vector and another lane of it each time.
      const int64_t place = flavor.which + 1 == NanPlaces
                                ? length - 1
                                : static_cast<int64_t>(flavor.which) * 67 % length;
      const uint64_t word = OddNan(chosen.memory->element(), flavor.which % 2 == 1);
      chosen.memory->Set(place, std::span(&word, 1));
    }
  }
  if (!Complete(result)) return std::nullopt;
  return result;
}

bool InputMaker::IsLengthOf(const Input& input, const Value& value) {
  return value.type == ir::types::Index ||
         std::ranges::any_of(input.arguments, [&](const Value& other) {
           return other.memory != nullptr &&
                  static_cast<uint64_t>(other.memory->length()) == value.word;
         });
}

Value InputMaker::Neutral(const Value& value, const Flavor& flavor) {
  if (!value.words.empty() || !(HasFloats(value.type) || HasIntegers(value.type))) return value;
  return Value::Word(value.type, FlavorWord(value.type, flavor, 1));
}

uint64_t InputMaker::FlavorWord(Type element, const Flavor& flavor, int64_t length) {
  const auto float_word = [&](double value) { return ir::LiteralFromDouble(element, value); };
  switch (flavor.kind) {
    case Kind::Values: return ElementWord(element, static_cast<Mood>(flavor.which), length);
    case Kind::OneSign:
      return WithSign(element, ElementWord(element, Mood::Plain, length), flavor.which == 1);
    case Kind::Nothing: return OddNan(element, random_.Chance(50));
    case Kind::Specials:
      return random_.Chance(50) ? SpecialWords(element, random_.Below(4), length)[0]
                                : ElementWord(element, Mood::Edge, length);
    case Kind::Equal: return HasFloats(element) ? float_word(1) : 1;
    case Kind::Quotients: {
      if (flavor.which > 0) {
        const uint64_t word = random_.Next() >> (64 - flavor.which);
        return ExtendWord(element, word == 0 ? 1 : word);
      }
      const uint64_t telling[] = {
          ~uint64_t{0}, LeastWord(element), 1, ~LeastWord(element), 2, ~uint64_t{1}, 3};
      if (random_.Chance(50))
        return ExtendWord(element, telling[random_.Below(std::size(telling))]);
      const uint64_t word = ExtendWord(element, random_.Next() >> random_.Below(64));
      return word == 0 ? 1 : word;
    }
    // Where an integer type ends, or the next number on either side.
    case Kind::Borders: {
      if (!HasFloats(element)) return ElementWord(element, Mood::Edge, length);
      constexpr int Powers[] = {0, 7, 8, 15, 16, 31, 32, 63, 64};
      const double power = std::ldexp(1.0, Powers[random_.Below(std::size(Powers))]);
      const double steps[] = {0, 0.5, -0.5, 1, -1};
      const uint64_t word = float_word(power + steps[random_.Below(std::size(steps))]);
      return WithSign(element, word + random_.Below(3) - 1, random_.Chance(50));
    }
    case Kind::Decisive:
      switch (static_cast<Fold>(flavor.which)) {
        case Fold::And:
          return HasFloats(element) ? float_word(1) : ExtendWord(element, ~uint64_t{0});
        case Fold::Or: return 0;
        case Fold::Product: return HasFloats(element) ? float_word(1) : 1;
        default: return ElementWord(element, Mood::Small, length);
      }
    default: return ElementWord(element, Mood::Plain, length);
  }
}

void InputMaker::PutDecisive(Memory& memory, const Flavor& flavor) {
  const Type element = memory.element();
  const uint64_t length = static_cast<uint64_t>(memory.length());
  if (length == 0) return;
  // Each chain once, in any block of them.
  const uint64_t blocks = std::max<uint64_t>(length / Chains, 1);
  const uint64_t place = (flavor.place + Chains * random_.Below(blocks)) % length;
  const uint64_t bit = uint64_t{1} << random_.Below(static_cast<uint64_t>(ir::BitsOf(element)));
  const bool is_float = HasFloats(element);
  const bool is_signed = HasIntegers(element) && ir::IsSigned(element.scalar);
  const auto choose = [&](double number, uint64_t word) {
    return is_float ? ir::LiteralFromDouble(element, number) : ExtendWord(element, word);
  };
  uint64_t word = 0;
  switch (static_cast<Fold>(flavor.which)) {
    case Fold::And: word = choose(0, ~bit); break;
    case Fold::Or: word = choose(1, bit); break;
    case Fold::Product: word = choose(3, 3); break;
    case Fold::Least: word = choose(-1000, is_signed ? ~uint64_t{99} : 0); break;
    case Fold::Greatest: word = choose(1000, 100); break;
  }
  if (element.scalar == ir::Scalar::Bool) word &= 1;
  memory.Set(static_cast<int64_t>(place), std::span(&word, 1));
}

void InputMaker::FlavorMemory(Memory& memory, const Flavor& flavor, bool only_floats) {
  const Type element = memory.element();
  const bool is_float = HasFloats(element);
  const bool is_flag = element.scalar == ir::Scalar::Bool;
  if (is_flag && flavor.kind != Kind::Decisive) return;
  if (!is_float && !is_flag && (!HasIntegers(element) || only_floats)) return;
  // Integers stay what they are where a float is what matters.
  if ((flavor.kind == Kind::OneNan || flavor.kind == Kind::Nothing ||
       flavor.kind == Kind::Specials) &&
      !is_float)
    return;
  if (flavor.kind == Kind::Quotients && is_float) return;
  const int64_t made = MadeOf(memory.length());
  for (int64_t i = 0; i < made; ++i) {
    uint64_t word = FlavorWord(element, flavor, memory.length());
    if (is_flag) word &= 1;
    memory.Set(i, std::span(&word, 1));
  }
  Repeat(memory, made);
  if (flavor.kind == Kind::Decisive) PutDecisive(memory, flavor);
}

}  // namespace frazil::verify
