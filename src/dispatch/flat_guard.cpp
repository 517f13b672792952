// Atoms to tests of words. What can be decided now is decided now; an atom that can never hold becomes a test that
// never does, because a slot may keep such a form (the fluid path answers), and only the verifier refuses one.
#include "dispatch/flat_guard.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <span>

#include "base/number/goldilocks.h"
#include "exec/guard_eval.h"
#include "exec/launch.h"

namespace frazil::dispatch {
namespace {

// Pairs beyond these are tested all at once: so many take as long as sorting the buffers that make them (bench: slots).
constexpr size_t MostPairs = 16;
float AsF32(uint64_t word) { return std::bit_cast<float>(static_cast<uint32_t>(word)); }
double AsF64(uint64_t word) { return std::bit_cast<double>(word); }

}  // namespace

bool FlatGuard::Apart::Holds(const uint64_t* words) const {
  const uint64_t size_a = words[a + 1] * bytes_a, size_b = words[b + 1] * bytes_b;
  return QuickHolds(words) || size_a == 0 || size_b == 0 ||
         (or_same && words[a] == words[b] && size_a == size_b);
}

bool FlatGuard::Shape::Holds(const uint64_t* words) const {
  std::array<int64_t, ir::MaxRank + 1> sizes = {numbers};
  for (uint32_t i = 0; i < count; ++i) sizes[i + 1] = static_cast<int64_t>(words[dims[i]]);
  return exec::ElementCount(std::span(sizes).first(count + 1)) ==
         static_cast<int64_t>(words[length_word]);
}

bool FlatGuard::Test::Holds(const uint64_t* words) const {
  switch (kind) {
    case Kind::Mask: return mask.QuickHolds(words);
    case Kind::Range: return range.QuickHolds(words);
    case Kind::Apart: return apart.Holds(words);
    case Kind::Same:
      return words[apart.a] == words[apart.b] && words[apart.a + 1] == words[apart.b + 1];
    case Kind::Float32:
      return AsF32(range.low) <= AsF32(words[range.word]) &&
             AsF32(words[range.word]) <= AsF32(range.width);
    case Kind::Float64:
      return AsF64(range.low) <= AsF64(words[range.word]) &&
             AsF64(words[range.word]) <= AsF64(range.width);
    case Kind::Multiple: return words[range.word] % range.low == 0;
    case Kind::AtLeast:
      return static_cast<int64_t>(words[range.word]) >= static_cast<int64_t>(words[range.low]);
    case Kind::Never: return false;
  }
  return false;
}

void FlatGuard::AddApart(const ir::GuardAtom& atom, const ir::Function& entry,
                         const exec::CallWords& call) {
  const auto element = [&](uint64_t arg) {
    return entry.param_type(static_cast<uint32_t>(arg)).element();
  };
  const auto pairs = ir::DisjointPairs(atom);
  if (pairs.size() <= MostPairs) {
    for (const auto& [a, b] : pairs) {
      Add({.kind = Kind::Apart,
           .apart = {call.params[a].word, call.params[b].word, ir::BytesOf(element(a)),
                     ir::BytesOf(element(b)), false}});
    }
    return;
  }
  // A tensor is what must not be the same as another either.
  exec::BuffersOfCall& all = aparts_at_once_.emplace_back();
  for (const uint64_t arg : atom.low) all.Add(call.params[arg].word, element(arg), true, true);
  for (const uint64_t arg : atom.high) all.Add(call.params[arg].word, element(arg), false, true);
  has_more_ = true;
}

// Atoms on one word or one pair; a constant of several words is taken apart by the caller.
Result<FlatGuard::Test> FlatGuard::FlattenAtom(const ir::GuardAtom& atom, const ir::Function& entry,
                                               const exec::CallWords& call) {
  const uint32_t word = call.params[atom.arg].word;
  const auto number = static_cast<uint64_t>(atom.number);
  auto mask = [](uint64_t at, uint64_t bits) {
    return Test{.kind = Kind::Mask, .mask = {at, bits}};
  };
  auto range = [](Kind kind, uint64_t at, uint64_t low, uint64_t width) {
    return Test{.kind = kind, .range = {at, low, width}};
  };
  auto pair = [&](Kind kind) {
    const Apart both = {word, call.params[atom.other].word,
                        ir::BytesOf(entry.param_type(atom.arg).element()),
                        ir::BytesOf(entry.param_type(atom.other).element()), false};
    return Test{.kind = kind, .apart = both};
  };
  switch (atom.kind) {
    case ir::GuardKind::Between:
      if (atom.type.scalar == ir::Scalar::F32)
        return range(Kind::Float32, word, atom.low[0], atom.high[0]);
      if (atom.type.scalar == ir::Scalar::F64)
        return range(Kind::Float64, word, atom.low[0], atom.high[0]);
      return range(Kind::Range, word, atom.low[0], atom.high[0] - atom.low[0]);
    case ir::GuardKind::LengthIs: return range(Kind::Range, word + 1, number, 0);
    case ir::GuardKind::LengthAtLeast:
      return range(Kind::Range, word + 1, number, static_cast<uint64_t>(INT64_MAX) - number);
    case ir::GuardKind::LengthMultiple:
      if (std::has_single_bit(number)) return mask(word + 1, number - 1);
      return range(Kind::Multiple, word + 1, number, 0);
    case ir::GuardKind::Alignment: return mask(word, number - 1);
    case ir::GuardKind::Same: return pair(Kind::Same);
    case ir::GuardKind::Disjoint: return pair(Kind::Apart);
    case ir::GuardKind::Equals:
    case ir::GuardKind::Stride:
    case ir::GuardKind::Apart:
    case ir::GuardKind::Cover:
    case ir::GuardKind::Cpu: break;
  }
  return Fail(Diag::Internal, "a guard atom has no flat form");
}

Result<FlatGuard> FlatGuard::Flatten(const ir::Guard& guard, const ir::Program& program) {
  TRY_VOID(ir::CheckGuard(guard, program));
  const ir::Function& entry = program.entry_function();
  const exec::CallWords call(entry);
  FlatGuard flat;
  for (const ir::GuardAtom& atom : guard.atoms) {
    switch (atom.kind) {
      case ir::GuardKind::Cpu:
        if (!exec::HostHas(atom.feature)) flat.Add(Test{});
        break;
      case ir::GuardKind::Stride:  // memory of ours is packed
        if (atom.number != 1) flat.Add(Test{});
        break;
      case ir::GuardKind::Equals:
        for (uint32_t i = 0; i < atom.low.size(); ++i) {
          flat.Add(
              Test{.kind = Kind::Range, .range = {call.params[atom.arg].word + i, atom.low[i], 0}});
        }
        break;
      case ir::GuardKind::Apart: flat.AddApart(atom, entry, call); break;
      case ir::GuardKind::Cover:
        for (const uint64_t buffer : atom.low)
          flat.Add(Test{.kind = Kind::AtLeast,
                        .range = {call.params[buffer].word + 1, call.params[atom.arg].word, 0}});
        break;
      default: flat.Add(TRY(FlattenAtom(atom, entry, call)));
    }
  }
  return flat;
}

void FlatGuard::AddLaunchTests(const ir::Program& program) {
  const ir::Function& entry = program.entry_function();
  const exec::CallWords call(entry);
  std::vector<exec::CallParam> buffers;
  for (const exec::CallParam& param : call.params) {
    if (!param.is_buffer()) {
      AddScalarTests(param.type, param.word);
      continue;
    }
    buffers.push_back(param);
    presents_.push_back({param.word, exec::MostElements(ir::BytesOf(param.type.element()))});
    if (param.type.is_tensor()) AddShapeTest(entry, call, param);
  }
  std::vector<Test> pairs;
  for (size_t i = 0; i < buffers.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const exec::CallParam &a = buffers[j], &b = buffers[i];
      if ((!a.is_written() && !b.is_written()) || IsApartTested(a.word, b.word)) continue;
      const ir::Type element_a = a.type.element(), element_b = b.type.element();
      const bool may_be_same = !a.type.is_tensor() && !b.type.is_tensor() && element_a == element_b;
      pairs.push_back(
          {.kind = Kind::Apart,
           .apart = {a.word, b.word, ir::BytesOf(element_a), ir::BytesOf(element_b), may_be_same}});
    }
  }
  if (pairs.size() <= MostPairs) {
    for (const Test& pair : pairs) Add(pair);
  } else {
    for (const exec::CallParam& buffer : buffers)
      many_.Add(buffer.word, buffer.type.element(), buffer.is_written(), buffer.type.is_tensor());
    has_more_ = true;
  }
  for (const exec::CallParam& buffer : buffers) AddLone(buffer.word);
}

// Only these have words that every target reads as a whole and that are no value.
void FlatGuard::AddScalarTests(ir::Type type, uint32_t word) {
  constexpr ir::ScalarSet Partial =
      ir::sets::Fields | ir::sets::Bool | ir::Only(ir::Scalar::Digest);
  if (!ir::Contains(Partial, type.scalar)) return;
  const uint64_t most = type.scalar == ir::Scalar::Bool ? 1 : goldilocks::P - 1;
  for (uint32_t i = 0; i < ir::WordsOf(type); ++i) {
    Add(Test{.kind = Kind::Range, .range = {word + i, 0, most}});
  }
}

void FlatGuard::AddShapeTest(const ir::Function& entry, const exec::CallWords& call,
                             const exec::CallParam& param) {
  Shape shape;
  shape.length_word = param.word + 1;
  std::vector<int64_t> numbers;
  for (const ir::Dim dim : entry.shape(param.type)) {
    if (dim.is_symbol()) {
      shape.dims[shape.count++] = call.params[dim.param()].word;
    } else {
      numbers.push_back(dim.value);
    }
  }
  // None: no length fits, unless a word is 0; left to the fluid path.
  const std::optional<int64_t> product = exec::ElementCount(numbers);
  if (!product) Add(Test{});
  shape.numbers = product.value_or(0);
  shapes_.push_back(shape);
  has_more_ = true;
}

// Pairs have looked at their buffers.
void FlatGuard::AddLone(uint64_t word) {
  if (std::ranges::any_of(std::span(aparts_).first(apart_count_),
                          [&](const Apart& apart) { return apart.a == word || apart.b == word; }))
    return;
  if (lone_count_ < lones_.size()) {
    lones_[lone_count_++] = {word};
  } else {
    has_more_ = true;
  }
}

bool FlatGuard::IsApartTested(uint64_t a, uint64_t b) const {
  const auto tests = [&](const Apart& apart) {
    return !apart.or_same && ((apart.a == a && apart.b == b) || (apart.a == b && apart.b == a));
  };
  return std::ranges::any_of(std::span(aparts_).first(apart_count_), tests) ||
         std::ranges::any_of(more_, [&](const Test& test) {
           return test.kind == Kind::Apart && tests(test.apart);
         });
}

void FlatGuard::Add(const Test& test) {
  if (test.kind == Kind::Mask && mask_count_ < masks_.size()) {
    masks_[mask_count_++] = test.mask;
  } else if (test.kind == Kind::Range && range_count_ < ranges_.size()) {
    ranges_[range_count_++] = test.range;
  } else if (test.kind == Kind::Apart && apart_count_ < aparts_.size()) {
    aparts_[apart_count_++] = test.apart;
  } else {
    more_.push_back(test);
    has_more_ = true;
  }
}

FlatGuard::Parts FlatGuard::Split(const ir::Program& program) const {
  std::vector<bool> buffer_words;
  for (const exec::CallParam& param : exec::CallWords(program.entry_function()).params)
    buffer_words.insert(buffer_words.end(), param.words, param.is_buffer());
  Parts parts;
  auto add = [&](const Test& test) {
    (test.IsOf(buffer_words) ? parts.of_buffers : parts.of_others).Add(test);
  };
  for (const Mask& mask : std::span(masks_).first(mask_count_))
    add({.kind = Kind::Mask, .mask = mask});
  for (const Range& range : std::span(ranges_).first(range_count_))
    add({.kind = Kind::Range, .range = range});
  for (const Apart& apart : std::span(aparts_).first(apart_count_))
    add({.kind = Kind::Apart, .apart = apart});
  for (const Test& test : more_) add(test);
  // Whoever is in none of these is in presents_.
  parts.of_buffers.presents_ = presents_;
  parts.of_buffers.many_ = many_;
  parts.of_buffers.aparts_at_once_ = aparts_at_once_;
  parts.of_buffers.has_more_ = true;
  parts.of_others.shapes_ = shapes_;
  parts.of_others.has_more_ |= !shapes_.empty();
  return parts;
}

bool FlatGuard::Test::IsOf(const std::vector<bool>& buffer_words) const {
  switch (kind) {
    case Kind::Mask: return buffer_words[mask.word];
    case Kind::Apart:
    case Kind::Same: return buffer_words[apart.a] && buffer_words[apart.b];
    case Kind::Range:
    case Kind::Float32:
    case Kind::Float64:
    case Kind::Multiple: return buffer_words[range.word];
    case Kind::AtLeast: return buffer_words[range.word] && buffer_words[range.low];
    case Kind::Never: break;
  }
  return false;
}

bool FlatGuard::Holds(const uint64_t* words) const {
  auto quickly = [&](const auto& test) { return test.QuickHolds(words); };
  auto exactly = [&](const auto& test) { return test.Holds(words); };
  return std::ranges::all_of(std::span(masks_).first(mask_count_), quickly) &&
         std::ranges::all_of(std::span(ranges_).first(range_count_), quickly) &&
         std::ranges::all_of(presents_, exactly) &&
         std::ranges::all_of(std::span(aparts_).first(apart_count_), exactly) &&
         std::ranges::all_of(more_, exactly) && std::ranges::all_of(shapes_, exactly) &&
         many_.AreApart(words) && AreApartAtOnce(words);
}

bool FlatGuard::MoreHolds(const uint64_t* words) const {
  // Buffers that neither a pair nor the hot path has room for are in presents_ only.
  return std::ranges::all_of(more_, [&](const Test& test) { return test.Holds(words); }) &&
         std::ranges::all_of(shapes_,
                             [&](const Shape& shape) { return shape.QuickHolds(words); }) &&
         std::ranges::all_of(presents_, [&](const Present& it) { return it.Holds(words); }) &&
         many_.AreApart(words) && AreApartAtOnce(words);
}

bool FlatGuard::AreApartAtOnce(const uint64_t* words) const {
  return std::ranges::all_of(aparts_at_once_,
                             [&](const exec::BuffersOfCall& all) { return all.AreApart(words); });
}

}  // namespace frazil::dispatch
