// Atoms against arguments, one after the other. Memory of ours is packed, so that its stride is
// always 1.
#include "exec/guard_eval.h"

#include <algorithm>
#include <bit>

namespace frazil::exec {
namespace {

bool Between(ir::Type type, uint64_t low, uint64_t value, uint64_t high) {
  auto within = [](auto a, auto b, auto c) { return a <= b && b <= c; };
  auto f32 = [](uint64_t word) { return std::bit_cast<float>(static_cast<uint32_t>(word)); };
  auto f64 = [](uint64_t word) { return std::bit_cast<double>(word); };
  auto i64 = [](uint64_t word) { return static_cast<int64_t>(word); };
  if (type.scalar == ir::Scalar::F32) return within(f32(low), f32(value), f32(high));
  if (type.scalar == ir::Scalar::F64) return within(f64(low), f64(value), f64(high));
  if (ir::IsSigned(type.scalar)) return within(i64(low), i64(value), i64(high));
  return within(low, value, high);
}

bool Overlap(const Memory& a, const Memory& b) {
  return a.size_bytes() != 0 && b.size_bytes() != 0 && a.data() < b.data() + b.size_bytes() &&
         b.data() < a.data() + a.size_bytes();
}

bool Same(const Memory& a, const Memory& b) {
  return a.element() == b.element() && a.length() == b.length() && a.data() == b.data();
}

bool ScalarHolds(const ir::GuardAtom& atom, const Value& argument) {
  if (argument.type != atom.type) return false;
  std::span<const uint64_t> words = argument.scalar_words();
  if (atom.kind == ir::GuardKind::Equals) return std::ranges::equal(words, atom.low);
  return words.size() == 1 && atom.low.size() == 1 && atom.high.size() == 1 &&
         Between(atom.type, atom.low[0], words[0], atom.high[0]);
}

bool MemoryHolds(const ir::GuardAtom& atom, const Memory& memory) {
  switch (atom.kind) {
    case ir::GuardKind::LengthIs: return memory.length() == atom.number;
    case ir::GuardKind::LengthMultiple:
      return atom.number > 0 && memory.length() % atom.number == 0;
    case ir::GuardKind::LengthAtLeast: return memory.length() >= atom.number;
    case ir::GuardKind::Alignment:
      return atom.number > 0 &&
             reinterpret_cast<uintptr_t>(memory.data()) % static_cast<uint64_t>(atom.number) == 0;
    case ir::GuardKind::Stride: return atom.number == 1;
    default: return false;
  }
}

const Memory* MemoryAt(std::span<const Value> arguments, uint64_t arg) {
  return arg < arguments.size() ? arguments[arg].memory.get() : nullptr;
}

bool ApartHolds(const ir::GuardAtom& atom, std::span<const Value> arguments) {
  return std::ranges::all_of(ir::DisjointPairs(atom), [&](const auto& pair) {
    const Memory* a = MemoryAt(arguments, pair.first);
    const Memory* b = MemoryAt(arguments, pair.second);
    return a != nullptr && b != nullptr && !Overlap(*a, *b);
  });
}

bool CoverHolds(const ir::GuardAtom& atom, std::span<const Value> arguments) {
  if (atom.arg >= arguments.size() || arguments[atom.arg].type != ir::types::Index) return false;
  const auto extent = static_cast<int64_t>(arguments[atom.arg].word);
  return std::ranges::all_of(atom.low, [&](uint64_t arg) {
    const Memory* memory = MemoryAt(arguments, arg);
    return memory != nullptr && memory->length() >= extent;
  });
}

}  // namespace

bool HostHas([[maybe_unused]] ir::CpuFeature feature) {
#if defined(__x86_64__)
  switch (feature) {
    case ir::CpuFeature::Sse42: return __builtin_cpu_supports("sse4.2");
    case ir::CpuFeature::Popcnt: return __builtin_cpu_supports("popcnt");
    case ir::CpuFeature::Avx: return __builtin_cpu_supports("avx");
    case ir::CpuFeature::Avx2: return __builtin_cpu_supports("avx2");
    case ir::CpuFeature::Fma: return __builtin_cpu_supports("fma");
    case ir::CpuFeature::F16c: return __builtin_cpu_supports("f16c");
    case ir::CpuFeature::Bmi2: return __builtin_cpu_supports("bmi2");
    case ir::CpuFeature::Avx512f: return __builtin_cpu_supports("avx512f");
    case ir::CpuFeature::Avx512bw: return __builtin_cpu_supports("avx512bw");
    case ir::CpuFeature::Avx512dq: return __builtin_cpu_supports("avx512dq");
    case ir::CpuFeature::Avx512vl: return __builtin_cpu_supports("avx512vl");
    case ir::CpuFeature::Neon: return false;
  }
  return false;
#elif defined(__aarch64__)
  return feature == ir::CpuFeature::Neon;
#else
  return false;
#endif
}

bool Holds(const ir::GuardAtom& atom, std::span<const Value> arguments) {
  if (atom.kind == ir::GuardKind::Cpu) return HostHas(atom.feature);
  if (atom.kind == ir::GuardKind::Apart) return ApartHolds(atom, arguments);
  if (atom.kind == ir::GuardKind::Cover) return CoverHolds(atom, arguments);
  if (atom.arg >= arguments.size()) return false;
  const Value& argument = arguments[atom.arg];
  if (atom.kind == ir::GuardKind::Equals || atom.kind == ir::GuardKind::Between)
    return ScalarHolds(atom, argument);
  if (argument.memory == nullptr) return false;
  if (atom.kind != ir::GuardKind::Same && atom.kind != ir::GuardKind::Disjoint)
    return MemoryHolds(atom, *argument.memory);
  if (atom.other >= arguments.size() || arguments[atom.other].memory == nullptr) return false;
  const Memory& other = *arguments[atom.other].memory;
  return atom.kind == ir::GuardKind::Same ? Same(*argument.memory, other)
                                          : !Overlap(*argument.memory, other);
}

bool Holds(const ir::Guard& guard, std::span<const Value> arguments) {
  return std::ranges::all_of(guard.atoms,
                             [&](const ir::GuardAtom& atom) { return Holds(atom, arguments); });
}

}  // namespace frazil::exec
