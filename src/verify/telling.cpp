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

}  // namespace

Telling TellingOf(const ir::Program& program) {
  Telling telling;
  telling.wholes = WholesOf(program.entry_function());
  for (const ir::Function& function : program.functions) {
    for (const ir::ValueInfo& value : function.values)
      telling.has_floats = telling.has_floats || ir::IsFloat(value.type.scalar);
    for (const ir::Inst& inst : function.insts) {
      switch (inst.op) {
        case Op::Fma:
        case Op::Matmul: telling.rounds = true; break;
        case Op::Cast:
        case Op::CastChecked:
          telling.makes_fields =
              telling.makes_fields ||
              function.type(ir::Function::result_of(inst)).scalar == ir::Scalar::Field;
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
