// Convolution, scan, sort, scatter and quantized products as instructions: sizes first, then the op of tensor_ops.h.
#include "exec/meaning/interpreter_machine.h"

namespace frazil::exec {

using ir::Function;
using ir::Op;

Machine::Flow Machine::ConvOp(const ir::Inst& inst) {
  const ir::ConvSpec spec = ir::ConvSpec::Of(function().words_of(inst));
  const std::vector<int64_t>& x = OperandObject(inst, 0).dims;
  const std::vector<int64_t>& w = OperandObject(inst, 1).dims;
  const std::vector<int64_t> y = DimsOf(inst.type);
  bool fits = x[1] % spec.groups == 0 && x[1] / spec.groups == w[1] && y[1] % spec.groups == 0;
  for (uint32_t i = 0; fits && i < 2; ++i) {
    fits = x[2 + i] < ir::ConvSpec::Limit && w[2 + i] < ir::ConvSpec::Limit && w[2 + i] > 0;
    fits = fits && spec.OutputSize(i, x[2 + i], w[2 + i]) == y[2 + i];
  }
  if (!fits) return Trap(ir::Trap::Assert, inst);
  Object* result = MakeResult(inst);
  if (result == nullptr) return Flow::Turn;
  const auto expired = [this] { return Expired(); };
  if (!Convolve(OperandObject(inst, 0), OperandObject(inst, 1), spec, expired, *result))
    return TrapEnded(inst);
  return Flow::Next;
}

Machine::Flow Machine::ScanOp(const ir::Inst& inst) {
  Object* result = MakeResult(inst);
  if (result == nullptr) return Flow::Turn;
  Scan(OperandObject(inst, 0), static_cast<ir::ReduceKind>(function().word(inst, 0)),
       static_cast<size_t>(function().word(inst, 1)), *result);
  return Flow::Next;
}

Machine::Flow Machine::SortOp(const ir::Inst& inst) {
  if (MakeResult(inst, 0) == nullptr || MakeResult(inst, 1) == nullptr) return Flow::Turn;
  Object& sorted = ObjectOf(Function::result_of(inst, 0));
  Object& positions = ObjectOf(Function::result_of(inst, 1));
  const auto expired = [this] { return Expired(); };
  if (!Sort(OperandObject(inst, 0), static_cast<size_t>(function().word(inst, 0)),
            function().word(inst, 1) != 0, expired, sorted, positions))
    return TrapEnded(inst);
  return Flow::Next;
}

Machine::Flow Machine::ScatterOp(const ir::Inst& inst) {
  Object* result = MakeResult(inst);
  if (result == nullptr) return Flow::Turn;
  const auto trap = Scatter(OperandObject(inst, 0), OperandObject(inst, 1), OperandObject(inst, 2),
                            static_cast<ir::ScatterKind>(function().word(inst, 0)),
                            static_cast<size_t>(function().word(inst, 1)), *result);
  return trap ? Trap(*trap, inst) : Flow::Next;
}

Machine::Flow Machine::MatmulQOp(const ir::Inst& inst) {
  const int64_t bits = function().word(inst, 0);
  const int64_t depth = OperandObject(inst, 0).dims[1];
  const bool fits = depth % ir::QuantizedGroup == 0 &&
                    depth / ir::QuantizedGroup == OperandObject(inst, 1).dims[1] &&
                    OperandObject(inst, 2).dims[1] == (bits == 8 ? depth : depth / 2);
  if (!fits) return Trap(ir::Trap::Assert, inst);
  Object* result = MakeResult(inst);
  if (result == nullptr) return Flow::Turn;
  const Quantized a = {OperandObject(inst, 0), OperandObject(inst, 1), 8};
  const Quantized w = {OperandObject(inst, 2), OperandObject(inst, 3), bits};
  if (!MatmulQuantized(a, w, [this] { return Expired(); }, *result)) return TrapEnded(inst);
  return Flow::Next;
}

}  // namespace frazil::exec
