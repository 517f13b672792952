#include "verify/internal/telling.h"

#include <algorithm>
#include <optional>

namespace frazil::verify {
namespace {

using ir::Op;

// Elements of a tensor whose shape is constant and of which a buffer may well be made.
std::optional<int64_t> CountOf(const ir::Shape& shape) {
  constexpr int64_t Most = 1 << 16;
  int64_t count = 1;
  for (const ir::Dim dim : shape) {
    if (dim.is_symbol() || __builtin_mul_overflow(count, dim.value, &count) || count > Most)
      return std::nullopt;
  }
  return count;
}

std::vector<int64_t> WholesOf(const ir::Function& entry) {
  std::vector<int64_t> wholes(entry.param_count(), 0);
  for (const ir::Inst& inst : entry.insts) {
    if (inst.op != Op::TensorLoad && inst.op != Op::TensorStore) continue;
    const ir::ValueId tensor =
        inst.op == Op::TensorLoad ? ir::Function::result_of(inst) : entry.operand(inst, 1);
    const auto count = CountOf(entry.shape(entry.type(tensor)));
    for (uint32_t i = 0; count && i < wholes.size(); ++i)
      if (entry.param(i) == entry.operand(inst, 0)) wholes[i] = std::max(wholes[i], *count);
  }
  return wholes;
}

// Values that a loop carries, of one function.
std::vector<bool> CarriedOf(const ir::Function& function) {
  std::vector<bool> carried(function.values.size());
  for (const ir::Inst& inst : function.insts) {
    if (inst.op != Op::For && inst.op != Op::While) continue;
    for (uint32_t r = 0; r < inst.regions.count; ++r) {
      const ir::Region& region = function.region(ir::Function::region_of(inst, r));
      for (uint32_t i = inst.op == Op::For ? 1 : 0; i < region.params.count; ++i)
        carried[ir::Function::param_of(region, i).index] = true;
    }
  }
  return carried;
}

void NoteFold(Op op, Telling& telling) {
  switch (op) {
    case Op::And: telling.folds_and = true; break;
    case Op::Or: telling.folds_or = true; break;
    case Op::Mul:
    case Op::MulChecked: telling.folds_product = true; break;
    case Op::Min:
    case Op::Max:
    case Op::Minimum:
    case Op::Maximum:
    case Op::Select: telling.folds_order = true; break;
    default: break;
  }
}

}  // namespace

Telling TellingOf(const ir::Program& program) {
  Telling telling;
  telling.wholes = WholesOf(program.entry_function());
  for (const ir::Function& function : program.functions) {
    for (const ir::ValueInfo& value : function.values)
      telling.has_floats = telling.has_floats || ir::IsFloat(value.type.scalar);
    const std::vector<bool> carried = CarriedOf(function);
    for (const ir::Inst& inst : function.insts) {
      telling.checks =
          telling.checks || (ir::Info(inst.op).traps & ir::Only(ir::Trap::Overflow)) != 0;
      if (inst.op == Op::Reduce || inst.op == Op::Fold || inst.op == Op::Scan)
        NoteFold(ir::CombinerOf(static_cast<ir::ReduceKind>(function.word(inst, 0))), telling);
      if (std::ranges::any_of(function.operands_of(inst),
                              [&](ir::ValueId id) { return carried[id.index]; }))
        NoteFold(inst.op, telling);
      switch (inst.op) {
        case Op::Fma:
        case Op::Conv:
        case Op::MatmulQ:
        case Op::Matmul: telling.rounds = true; break;
        case Op::Cast:
        case Op::CastChecked:
          telling.makes_fields =
              telling.makes_fields ||
              function.type(ir::Function::result_of(inst)).scalar == ir::Scalar::Field;
          telling.casts =
              telling.casts || (ir::IsFloat(function.type(function.operand(inst, 0)).scalar) &&
                                !ir::IsFloat(function.type(ir::Function::result_of(inst)).scalar));
          telling.rounds =
              telling.rounds || ir::IsFloat(function.type(ir::Function::result_of(inst)).scalar);
          break;
        case Op::Lookup: {
          const auto length =
              static_cast<int64_t>(program.data[function.words_of(inst)[0]].length());
          telling.least_table =
              telling.least_table == 0 ? length : std::min(telling.least_table, length);
          break;
        }
        case Op::DivTrunc:
        case Op::DivFloor:
        case Op::RemTrunc:
        case Op::RemFloor:
        case Op::DivChecked:
        case Op::RemChecked: telling.divides = true; break;
        case Op::Min:
        case Op::Max:
        case Op::Minimum:
        case Op::Maximum:
        case Op::Fold:
        case Op::Reduce:  // not of indices, which are bounds of loops
          telling.orders = telling.orders ||
                           function.type(ir::Function::result_of(inst)).scalar != ir::Scalar::Index;
          break;
        default: break;
      }
    }
  }
  telling.rounds = telling.rounds && telling.has_floats;
  return telling;
}

}  // namespace frazil::verify
