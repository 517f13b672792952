#include "ir/op.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace frazil::ir {
namespace {

// The words of ops.def's columns, so that a row reads as a table and still is an expression.
namespace type_columns {
using namespace sets;
}
struct Traps {
  TrapSet bits = 0;
  friend constexpr Traps operator|(Traps a, Traps b) {
    return {static_cast<TrapSet>(a.bits | b.bits)};
  }
};
namespace trap_columns {
constexpr Traps None{0};
constexpr Traps DivisionByZero{Only(Trap::DivisionByZero)};
constexpr Traps Overflow{Only(Trap::Overflow)};
constexpr Traps OutOfBounds{Only(Trap::OutOfBounds)};
constexpr Traps Assert{Only(Trap::Assert)};
constexpr Traps InvertOfZero{Only(Trap::InvertOfZero)};
constexpr Traps Unreachable{Only(Trap::Unreachable)};
constexpr Traps Fuel{Only(Trap::Fuel)};
constexpr Traps Depth{Only(Trap::Depth)};
constexpr Traps Memory{Only(Trap::Memory)};
}  // namespace trap_columns

constexpr ScalarSet TypesOfRow(auto column) { return column(); }
constexpr TrapSet TrapsOfRow(auto column) { return column().bits; }

#define FRAZIL_ROW(name, mnemonic, signature, row_types, row_effect, row_traps, row_law, \
                   attributes, meaning) \
  OpInfo{Op::name,                                                                             \
         #name,                                                                                \
         mnemonic,                                                                             \
         signature,                                                                            \
         TypesOfRow([] { using namespace type_columns; return row_types; }),                       \
         Effect::row_effect,                                                                       \
         TrapsOfRow([] { using namespace trap_columns; return row_traps; }),                       \
         Law::row_law,                                                                             \
         attributes,                                                                           \
         meaning},
constexpr OpInfo Rows[] = {FRAZIL_OPS(FRAZIL_ROW)};
#undef FRAZIL_ROW

constexpr std::array<std::string_view, TrapCount> TrapNames = {
    "division by zero", "overflow", "out of bounds", "assert", "invert of zero",
    "unreachable",      "fuel",     "depth",         "memory",
};

}  // namespace

const OpInfo& Info(Op op) { return Rows[static_cast<size_t>(op)]; }
std::span<const OpInfo> AllOps() { return Rows; }

std::optional<Op> OpNamed(std::string_view mnemonic) {
  static const auto* by_name = [] {
    auto* map = new std::unordered_map<std::string_view, Op>;
    for (const OpInfo& info : Rows) map->emplace(info.mnemonic, info.op);
    return map;
  }();
  auto found = by_name->find(mnemonic);
  if (found == by_name->end()) return std::nullopt;
  return found->second;
}

std::string_view TrapName(Trap trap) { return TrapNames[static_cast<size_t>(trap)]; }

std::optional<Trap> TrapNamed(std::string_view name) {
  auto found = std::find(TrapNames.begin(), TrapNames.end(), name);
  if (found == TrapNames.end()) return std::nullopt;
  return static_cast<Trap>(found - TrapNames.begin());
}

Op CombinerOf(ReduceKind kind) {
  // In the order of the kinds.
  constexpr Op Combiners[] = {Op::Add,     Op::Mul, Op::Min, Op::Max, Op::Minimum,
                              Op::Maximum, Op::And, Op::Or,  Op::Xor};
  static_assert(std::size(Combiners) == static_cast<size_t>(ReduceKind::Xor) + 1);
  return Combiners[static_cast<size_t>(kind)];
}

std::optional<Op> CombinerOf(AtomicKind kind) {
  constexpr Op Combiners[] = {Op::Add, Op::Min, Op::Max, Op::And, Op::Or, Op::Xor};
  static_assert(std::size(Combiners) == static_cast<size_t>(AtomicKind::Exchange));
  if (kind == AtomicKind::Exchange) return std::nullopt;
  return Combiners[static_cast<size_t>(kind)];
}

std::optional<Op> CombinerOf(ScatterKind kind) {
  // After `set` the kinds of `reduce`, in their order.
  static_assert(static_cast<int>(ScatterKind::Xor) == static_cast<int>(ReduceKind::Xor) + 1);
  if (kind == ScatterKind::Set) return std::nullopt;
  return CombinerOf(static_cast<ReduceKind>(static_cast<int>(kind) - 1));
}

}  // namespace frazil::ir
