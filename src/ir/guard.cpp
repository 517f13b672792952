// Guards as data: what is well formed, what is equal, and the bytes that stand for them in a
// digest. The text form is in guard_text.cpp.
#include "ir/guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <tuple>

#include "base/bytes.h"
#include "ir/text/literal.h"

namespace frazil::ir {
namespace {

constexpr std::string_view CpuNames[] = {
#define FRAZIL_CPU(name, text) text,
#include "ir/cpu_features.def"
#undef FRAZIL_CPU
};

auto KeyOf(const GuardAtom& atom) {
  return std::tuple(atom.kind, atom.arg, atom.other, atom.number, atom.feature,
                    std::bit_cast<uint64_t>(atom.type), std::tie(atom.low, atom.high));
}

template <typename... Args>
std::unexpected<Error> Bad(const GuardAtom& atom, fmt::format_string<Args...> format,
                           Args&&... args) {
  return Fail(Diag::BadGuard, fmt::format(format, std::forward<Args>(args)...), atom.location);
}

// A NaN is in no order.
bool InOrder(Type type, uint64_t low, uint64_t high) {
  if (type.scalar == Scalar::F64) return std::bit_cast<double>(low) <= std::bit_cast<double>(high);
  if (type.scalar == Scalar::F32)
    return std::bit_cast<float>(static_cast<uint32_t>(low)) <=
           std::bit_cast<float>(static_cast<uint32_t>(high));
  if (IsSigned(type.scalar)) return static_cast<int64_t>(low) <= static_cast<int64_t>(high);
  return low <= high;
}

Result<void> CheckConstants(const GuardAtom& atom, Type param) {
  if (!param.is_scalar() || atom.type != param)
    return Bad(atom, "arg{} is {}, which the atom's constant is not", atom.arg,
               ScalarOrBufferName(param));
  bool is_between = atom.kind == GuardKind::Between;
  if (is_between && !Contains(sets::Fixed | sets::Wide, param.scalar))
    return Bad(atom, "arg{} is {}, which has no range", atom.arg, ScalarOrBufferName(param));
  for (const std::vector<uint64_t>* words : {&atom.low, is_between ? &atom.high : &atom.low})
    if (words->size() != WordsOf(param) || !IsCanonicalLiteral(param, *words))
      return Bad(atom, "the constant for arg{} is no value of {}", atom.arg,
                 ScalarOrBufferName(param));
  if (is_between && !InOrder(param, atom.low[0], atom.high[0]))
    return Bad(atom, "the range of arg{} is empty", atom.arg);
  return {};
}

Result<void> CheckNumber(const GuardAtom& atom) {
  switch (atom.kind) {
    case GuardKind::LengthIs:
    case GuardKind::LengthAtLeast:
      if (atom.number < 0) return Bad(atom, "no length is {}", atom.number);
      return {};
    case GuardKind::LengthMultiple:
      if (atom.number < 1)
        return Bad(atom, "a length is a multiple of 1 or more, not of {}", atom.number);
      return {};
    case GuardKind::Alignment:
      if (atom.number < 1 || atom.number > MaxGuardAlignment ||
          !std::has_single_bit(static_cast<uint64_t>(atom.number)))
        return Bad(atom, "an alignment is a power of two up to {}, not {}", MaxGuardAlignment,
                   atom.number);
      return {};
    case GuardKind::Stride:
      if (atom.number < 0) return Bad(atom, "a stride is 0 or more, not {}", atom.number);
      return {};
    default: return {};
  }
}

// Buffers of Apart and Cover.
Result<void> CheckList(const GuardAtom& atom, const Function& entry) {
  std::vector<uint64_t> all = atom.low;
  all.insert(all.end(), atom.high.begin(), atom.high.end());
  for (const uint64_t arg : all) {
    if (arg >= entry.param_count())
      return Bad(atom, "@{} has {} parameters, there is no arg{}", entry.name, entry.param_count(),
                 arg);
    if (entry.param_type(static_cast<uint32_t>(arg)).is_scalar())
      return Bad(atom, "arg{} is a scalar and has no memory", arg);
  }
  std::ranges::sort(all);
  if (const auto twice = std::ranges::adjacent_find(all); twice != all.end())
    return Bad(atom, "arg{} is named twice", *twice);
  if (atom.low.empty()) return Bad(atom, "no buffer is named");
  if (atom.kind == GuardKind::Apart)
    return all.size() > 1 ? Result<void>() : Bad(atom, "one buffer is apart from nothing");
  if (!atom.high.empty()) return Bad(atom, "buffers are covered in one list");
  if (atom.arg >= entry.param_count() || entry.param_type(atom.arg) != types::Index)
    return Bad(atom, "arg{} is no index and counts no elements", atom.arg);
  return {};
}

Result<void> CheckAtom(const GuardAtom& atom, const Function& entry) {
  if (atom.kind == GuardKind::Apart || atom.kind == GuardKind::Cover) return CheckList(atom, entry);
  if (atom.kind == GuardKind::Cpu) {
    if (static_cast<size_t>(atom.feature) >= std::size(CpuNames))
      return Bad(atom, "no such CPU feature");
    return {};
  }
  bool is_pair = atom.kind == GuardKind::Same || atom.kind == GuardKind::Disjoint;
  for (uint32_t arg : {atom.arg, is_pair ? atom.other : atom.arg})
    if (arg >= entry.param_count())
      return Bad(atom, "@{} has {} parameters, there is no arg{}", entry.name, entry.param_count(),
                 arg);
  Type param = entry.param_type(atom.arg);
  if (atom.kind == GuardKind::Equals || atom.kind == GuardKind::Between)
    return CheckConstants(atom, param);
  if (param.is_scalar()) return Bad(atom, "arg{} is a scalar and has no memory", atom.arg);
  if (!is_pair) return CheckNumber(atom);
  if (atom.arg == atom.other) return Bad(atom, "arg{} is compared with itself", atom.arg);
  Type other = entry.param_type(atom.other);
  if (other.is_scalar()) return Bad(atom, "arg{} is a scalar and has no memory", atom.other);
  if (atom.kind == GuardKind::Same && other.element() != param.element())
    return Bad(atom, "arg{} and arg{} hold different types and are never the same", atom.arg,
               atom.other);
  return {};
}

}  // namespace

std::string_view CpuFeatureName(CpuFeature feature) {
  return CpuNames[static_cast<size_t>(feature)];
}

std::optional<CpuFeature> CpuFeatureNamed(std::string_view name) {
  auto found = std::find(std::begin(CpuNames), std::end(CpuNames), name);
  if (found == std::end(CpuNames)) return std::nullopt;
  return static_cast<CpuFeature>(found - std::begin(CpuNames));
}

Result<void> CheckGuard(const Guard& guard, const Program& program) {
  if (guard.atoms.size() > MaxGuardAtoms)
    return Fail(Diag::LimitReached,
                fmt::format("a guard has at most {} atoms, this one has {}", MaxGuardAtoms,
                            guard.atoms.size()),
                guard.atoms[MaxGuardAtoms].location);
  for (const GuardAtom& atom : guard.atoms) TRY_VOID(CheckAtom(atom, program.entry_function()));
  return {};
}

std::vector<std::pair<uint32_t, uint32_t>> DisjointPairs(const GuardAtom& atom) {
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  const auto add = [&](uint64_t a, uint64_t b) {
    pairs.emplace_back(static_cast<uint32_t>(std::min(a, b)),
                       static_cast<uint32_t>(std::max(a, b)));
  };
  if (atom.kind == GuardKind::Disjoint) add(atom.arg, atom.other);
  if (atom.kind != GuardKind::Apart) return pairs;
  for (size_t i = 0; i < atom.low.size(); ++i) {
    for (size_t j = 0; j < i; ++j) add(atom.low[i], atom.low[j]);
    for (const uint64_t other : atom.high) add(atom.low[i], other);
  }
  return pairs;
}

Guard CanonicalGuard(const Guard& guard) {
  Guard canonical = guard;
  std::vector<GuardAtom>& atoms = canonical.atoms;
  for (GuardAtom& atom : atoms) {
    bool is_pair = atom.kind == GuardKind::Same || atom.kind == GuardKind::Disjoint;
    if (is_pair && atom.arg > atom.other) std::swap(atom.arg, atom.other);
    if (atom.kind == GuardKind::Apart || atom.kind == GuardKind::Cover) {
      std::ranges::sort(atom.low);
      std::ranges::sort(atom.high);
    }
    atom.location = {};
  }
  std::sort(atoms.begin(), atoms.end(),
            [](const GuardAtom& a, const GuardAtom& b) { return KeyOf(a) < KeyOf(b); });
  auto same = [](const GuardAtom& a, const GuardAtom& b) { return KeyOf(a) == KeyOf(b); };
  atoms.erase(std::unique(atoms.begin(), atoms.end(), same), atoms.end());
  return canonical;
}

std::string GuardBytes(const Guard& guard) {
  const Guard canonical = CanonicalGuard(guard);
  ByteWriter out;
  out.Number<uint32_t>(static_cast<uint32_t>(canonical.atoms.size()));
  for (const GuardAtom& atom : canonical.atoms) {
    out.Enum(atom.kind);
    out.Number<uint32_t>(atom.arg);
    out.Number<uint32_t>(atom.other);
    out.Number<int64_t>(atom.number);
    out.Enum(atom.feature);
    out.Enum(atom.type.scalar);
    out.Number<uint8_t>(atom.type.limbs);
    for (const std::vector<uint64_t>* words : {&atom.low, &atom.high}) {
      out.Number<uint32_t>(static_cast<uint32_t>(words->size()));
      for (const uint64_t word : *words) out.Number<uint64_t>(word);
    }
  }
  return out.Take();
}

}  // namespace frazil::ir
