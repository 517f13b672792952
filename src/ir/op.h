// The operations as C++: the enum, and one OpInfo row for each line of ops.def.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "ir/ops.def"
#include "ir/type.h"

// The labels of a group of ops.def in a switch: `FRAZIL_CASES(Tensor) return TensorOp(inst);`.
#define FRAZIL_CASE_OF(name, ...) case ::frazil::ir::Op::name:
#define FRAZIL_CASES(group) FRAZIL_OPS_##group(FRAZIL_CASE_OF)

namespace frazil::ir {

enum class Op : uint8_t {
#define FRAZIL_ENUMERATOR(name, ...) name,
  FRAZIL_OPS(FRAZIL_ENUMERATOR)
#undef FRAZIL_ENUMERATOR
};
#define FRAZIL_PLUS_ONE(...) +1
constexpr int OpCount = 0 FRAZIL_OPS(FRAZIL_PLUS_ONE);
#undef FRAZIL_PLUS_ONE

enum class Effect : uint8_t { Pure, Reads, Writes, Io, Control };

enum class Trap : uint8_t {
  DivisionByZero,
  Overflow,
  OutOfBounds,
  Assert,
  InvertOfZero,
  Unreachable,
  Fuel,
  Depth,
  Memory,
};
constexpr int TrapCount = 9;
std::string_view TrapName(Trap trap);  // "division by zero"
std::optional<Trap> TrapNamed(std::string_view name);
// A limit of the run was reached: this says nothing about the program.
constexpr bool IsLimit(Trap trap) {
  return trap == Trap::Fuel || trap == Trap::Depth || trap == Trap::Memory;
}

using TrapSet = uint16_t;
constexpr TrapSet Only(Trap t) { return static_cast<TrapSet>(1u << static_cast<uint32_t>(t)); }

// What lowerings write where an op of the source traps: scratch for its result, a test of sizes, an access outside.
constexpr bool CanStandFor(Op op) { return op == Op::Alloc || op == Op::Assert || op == Op::Load; }

enum class Law : uint8_t { None, Commutes, Prelude };

// The kinds of `reduce` (and `scan`), `atomic` and `scatter`, in the order of their rows' words.
enum class ReduceKind : uint8_t { Sum, Product, Min, Max, Minimum, Maximum, And, Or, Xor };
enum class AtomicKind : uint8_t { Add, Min, Max, And, Or, Xor, Exchange };
enum class ScatterKind : uint8_t { Set, Add, Mul, Min, Max, Minimum, Maximum, And, Or, Xor };

struct OpInfo {
  Op op;
  std::string_view name;       // the C++ name, "AddChecked"
  std::string_view mnemonic;   // the text, "add.checked"
  std::string_view signature;  // "T,T->T" or "custom"
  ScalarSet types;
  Effect effect;
  TrapSet traps;
  Law law;
  std::string_view attributes;
  std::string_view meaning;
};

const OpInfo& Info(Op op);
std::span<const OpInfo> AllOps();
std::optional<Op> OpNamed(std::string_view mnemonic);

// The op that joins two elements; nothing for exchange and set, which keep none of the old one.
Op CombinerOf(ReduceKind kind);
std::optional<Op> CombinerOf(AtomicKind kind);
std::optional<Op> CombinerOf(ScatterKind kind);

// Neither an effect nor a trap: may be dropped when unused and moved freely within its region.
inline bool IsRemovable(const OpInfo& info) {
  return info.effect == Effect::Pure && info.traps == 0;
}

}  // namespace frazil::ir
