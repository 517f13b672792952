// Atoms to tests of words. What can be decided now is decided now; an atom that can never hold becomes a test that
// never does, because a slot may keep such a form (the fluid path answers), and only the verifier refuses one.
#include "dispatch/flat_guard.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <span>

#include "base/goldilocks.h"
#include "exec/guard_eval.h"
#include "exec/launch.h"

namespace frazil::dispatch {
namespace {

float AsF32(uint64_t word) { return std::bit_cast<float>(static_cast<uint32_t>(word)); }
double AsF64(uint64_t word) { return std::bit_cast<double>(word); }

}  // namespace

std::vector<uint32_t> FirstWords(const ir::Function& entry) {
  std::vector<uint32_t> first;
  uint32_t next = 0;
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    first.push_back(next);
    const ir::Type type = entry.param_type(i);
    next += type.is_scalar() ? ir::WordsOf(type) : 2;
  }
  return first;
}

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
    case Kind::Never: return false;
  }
  return false;
}

// Atoms on one word or one pair; a constant of several words is taken apart by the caller.
Result<FlatGuard::Test> FlatGuard::FlattenAtom(const ir::GuardAtom& atom, const ir::Function& entry,
                                               const std::vector<uint32_t>& first_word) {
  const uint32_t word = first_word[atom.arg];
  const auto number = static_cast<uint64_t>(atom.number);
  auto mask = [](uint64_t at, uint64_t bits) {
    return Test{.kind = Kind::Mask, .mask = {at, bits}};
  };
  auto range = [](Kind kind, uint64_t at, uint64_t low, uint64_t width) {
    return Test{.kind = kind, .range = {at, low, width}};
  };
  auto pair = [&](Kind kind) {
    const Apart both = {word, first_word[atom.other],
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
    case ir::GuardKind::Cpu: break;
  }
  return Fail(Diag::Internal, "a guard atom has no flat form");
}

Result<FlatGuard> FlatGuard::Flatten(const ir::Guard& guard, const ir::Program& program) {
  TRY_VOID(ir::CheckGuard(guard, program));
  const ir::Function& entry = program.entry_function();
  const std::vector<uint32_t> first_word = FirstWords(entry);
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
          flat.Add(Test{.kind = Kind::Range, .range = {first_word[atom.arg] + i, atom.low[i], 0}});
        }
        break;
      default: flat.Add(TRY(FlattenAtom(atom, entry, first_word)));
    }
  }
  return flat;
}

void FlatGuard::AddLaunchTests(const ir::Program& program) {
  struct Use {
    uint32_t word;
    ir::Type element;
    bool is_written, is_tensor;
  };
  std::vector<Use> uses;
  uint32_t next = 0;
  const ir::Function& entry = program.entry_function();
  auto add_use = [&](ir::Type type, bool is_written) {
    uses.push_back({next, type.element(), is_written, type.is_tensor()});
    presents_.push_back({next, exec::MostElements(ir::BytesOf(type.element()))});
    if (type.is_tensor()) AddShapeTest(entry, type, next);
    next += 2;
  };
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    const ir::Type type = entry.param_type(i);
    if (type.is_scalar()) {
      AddScalarTests(type, next);
      next += ir::WordsOf(type);
    } else {
      add_use(type, type.is_buffer() && type.access != ir::Access::In);
    }
  }
  for (const ir::Type type : entry.results) {
    if (type.is_tensor()) add_use(type, true);
  }
  for (size_t i = 0; i < uses.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const Use &a = uses[j], &b = uses[i];
      if ((!a.is_written && !b.is_written) || IsApartTested(a.word, b.word)) continue;
      const bool may_be_same = !a.is_tensor && !b.is_tensor && a.element == b.element;
      Add(Test{
          .kind = Kind::Apart,
          .apart = {a.word, b.word, ir::BytesOf(a.element), ir::BytesOf(b.element), may_be_same}});
    }
  }
  for (const Use& use : uses) AddLone(use.word);
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

void FlatGuard::AddShapeTest(const ir::Function& entry, ir::Type type, uint32_t word) {
  const std::vector<uint32_t> first_word = FirstWords(entry);
  Shape shape;
  shape.length_word = word + 1;
  std::vector<int64_t> numbers;
  for (const ir::Dim dim : entry.shape(type)) {
    if (dim.is_symbol()) {
      shape.dims[shape.count++] = first_word[dim.param()];
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
  return std::ranges::any_of(std::span(aparts_).first(apart_count_), [&](const Apart& apart) {
    return !apart.or_same && ((apart.a == a && apart.b == b) || (apart.a == b && apart.b == a));
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

bool FlatGuard::Holds(const uint64_t* words) const {
  auto quickly = [&](const auto& test) { return test.QuickHolds(words); };
  auto exactly = [&](const auto& test) { return test.Holds(words); };
  return std::ranges::all_of(std::span(masks_).first(mask_count_), quickly) &&
         std::ranges::all_of(std::span(ranges_).first(range_count_), quickly) &&
         std::ranges::all_of(presents_, exactly) &&
         std::ranges::all_of(std::span(aparts_).first(apart_count_), exactly) &&
         std::ranges::all_of(more_, exactly) && std::ranges::all_of(shapes_, exactly);
}

bool FlatGuard::MoreHolds(const uint64_t* words) const {
  // Buffers that neither a pair nor the hot path has room for are in presents_ only.
  return std::ranges::all_of(more_, [&](const Test& test) { return test.Holds(words); }) &&
         std::ranges::all_of(shapes_,
                             [&](const Shape& shape) { return shape.QuickHolds(words); }) &&
         std::ranges::all_of(presents_, [&](const Present& it) { return it.Holds(words); });
}

}  // namespace frazil::dispatch
