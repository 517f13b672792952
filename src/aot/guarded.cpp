#include "aot/guarded.h"

#include <limits>

namespace frazil::aot {
namespace {

constexpr uint64_t MostLeast = UINT16_MAX;  // what a descriptor's row has room for

embed::PairData Row(uint64_t first, uint64_t second) {
  return {static_cast<uint16_t>(first), static_cast<uint16_t>(second)};
}

bool TakeAtom(const ir::GuardAtom& atom, LaunchGuard& tests) {
  switch (atom.kind) {
    case ir::GuardKind::Disjoint:
    case ir::GuardKind::Apart:
      for (const auto& [a, b] : ir::DisjointPairs(atom)) tests.apart.push_back(Row(a, b));
      return true;
    case ir::GuardKind::Cover:
      for (const uint64_t buffer : atom.low) tests.cover.push_back(Row(atom.arg, buffer));
      return true;
    case ir::GuardKind::LengthAtLeast:
      tests.least.push_back(Row(atom.arg, static_cast<uint64_t>(atom.number)));
      return static_cast<uint64_t>(atom.number) <= MostLeast;
    case ir::GuardKind::Between:
      // Open above, and from a small number on.
      if (atom.type != ir::types::Index || atom.low[0] > MostLeast ||
          atom.high[0] != static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
        return false;
      tests.least.push_back(Row(atom.arg, atom.low[0]));
      return true;
    default: return false;
  }
}

}  // namespace

std::optional<LaunchGuard> LaunchGuardOf(const ir::Guard& guard) {
  LaunchGuard tests;
  for (const ir::GuardAtom& atom : guard.atoms)
    if (!TakeAtom(atom, tests)) return std::nullopt;
  return tests;
}

}  // namespace frazil::aot
