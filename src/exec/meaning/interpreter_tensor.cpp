// Tensor instructions: sizes first (what does not fit traps), then the op of tensor_ops.h. `map`
// and the random fills run a region or a function for each element; they are activations like
// loops.
#include <algorithm>

#include "base/check.h"
#include "exec/launch.h"
#include "exec/meaning/interpreter_machine.h"

namespace frazil::exec {

using ir::Function;
using ir::Op;

Machine::Flow Machine::TensorOp(const ir::Inst& inst) {
  switch (inst.op) {
    case Op::Map: return EnterMap(inst);
    case Op::TensorUniform:
    case Op::TensorNormal: return EnterRandom(inst);
    case Op::Reduce: return ReduceOp(inst);
    case Op::Matmul:
    case Op::MatmulFast: return MatmulOp(inst);
    case Op::Reshape: return ReshapeOp(inst);
    case Op::Transpose: return TransposeOp(inst);
    case Op::Broadcast: return BroadcastOp(inst);
    case Op::Slice: return SliceOp(inst);
    case Op::Concat: return ConcatOp(inst);
    case Op::Gather: return GatherOp(inst);
    case Op::Iota: return IotaOp(inst);
    case Op::Extract: return ExtractOp(inst);
    case Op::TensorLoad: return TensorLoadOp(inst);
    case Op::TensorStore: return TensorStoreOp(inst);
    case Op::Generate: return EnterGenerate(inst);
    case Op::Fold: return EnterFold(inst);
    case Op::Conv: return ConvOp(inst);
    case Op::Scan: return ScanOp(inst);
    case Op::Sort: return SortOp(inst);
    case Op::Scatter: return ScatterOp(inst);
    case Op::MatmulQ: return MatmulQOp(inst);
    default: break;
  }
  CHECK(!"a tensor op");
  return Flow::Turn;
}

// The sizes of a type, symbols being the function's parameters.
std::vector<int64_t> Machine::DimsOf(ir::Type tensor) {
  std::vector<int64_t> dims;
  for (ir::Dim dim : function().shape(tensor))
    dims.push_back(dim.is_symbol() ? static_cast<int64_t>(Word(function().param(dim.param())))
                                   : dim.value);
  return dims;
}

// A tensor takes memory as `alloc` does, with the same trap.
Object* Machine::MakeResult(const ir::Inst& inst, uint32_t k) {
  const ir::ValueId result = Function::result_of(inst, k);
  const ir::Type type = TypeOf(result);
  std::vector<int64_t> dims = DimsOf(type);
  const std::optional<int64_t> count = ElementCount(dims);
  std::shared_ptr<Memory> memory = count ? Allocate(type.element(), *count) : nullptr;
  if (memory == nullptr) {
    Trap(ir::Trap::Memory, inst);
    return nullptr;
  }
  SetObject(result, {std::move(memory), std::move(dims)});
  return &ObjectOf(result);
}

Machine::Flow Machine::EnterMap(const ir::Inst& inst) {
  const Object* result = MakeResult(inst);
  if (result == nullptr) return Flow::Turn;
  const int64_t count = result->memory->length();
  if (count == 0) return Flow::Next;
  PushRegion(&inst, Function::region_of(inst, 0));
  activations_.back().left = static_cast<uint64_t>(count) - 1;
  StartElement(inst);
  return Flow::Turn;
}

void Machine::StartElement(const ir::Inst& owner) {
  Activation& top = activations_.back();
  top.next = 0;
  const ir::Region& region = function().region(top.region);
  for (uint32_t i = 0; i < owner.operands.count; ++i) {
    const Memory& memory = *OperandObject(owner, i).memory;
    memory.Get(static_cast<int64_t>(top.counter), WordsOf(Function::param_of(region, i)));
  }
}

// One element of a map or of a random fill has been taken.
Machine::Flow Machine::NextElement(const ir::Inst& owner) {
  if (Expired()) return TrapEnded(owner);
  const uint64_t element = activations_.back().counter;
  const uint64_t left = activations_.back().left;
  const bool is_map = owner.op == Op::Map;
  if (is_map) {
    ReleaseObjects(activations_.back().objects_made);
  } else {
    PopRegion();
    PopFrame();
  }
  ObjectOf(Function::result_of(owner)).memory->Set(static_cast<int64_t>(element), taken_words_);
  if (left == 0) {
    if (is_map) PopRegion();
    return Flow::Turn;
  }
  if (is_map) {
    activations_.back().counter = element + 1;
    activations_.back().left = left - 1;
    StartElement(owner);
  } else {
    StartRandom(owner, element + 1);
  }
  return Flow::Turn;
}

Machine::Flow Machine::EnterRandom(const ir::Inst& inst) {
  const Object* result = MakeResult(inst);
  if (result == nullptr) return Flow::Turn;
  if (result->memory->length() == 0) return Flow::Next;
  StartRandom(inst, 0);
  return Flow::Turn;
}

void Machine::StartRandom(const ir::Inst& inst, uint64_t element) {
  const int64_t count = ObjectOf(Function::result_of(inst)).memory->length();
  taken_words_ = {Operand(inst, 0), Operand(inst, 1), element};
  PushFrame(prepared_.RandomFunction(inst.op, inst.type.element()));
  PushRegion(&inst, function().body);
  activations_.back().counter = element;
  activations_.back().left = static_cast<uint64_t>(count) - 1 - element;
  Put(function().region(function().body).params);
}

Machine::Flow Machine::ReduceOp(const ir::Inst& inst) {
  Object* result = MakeResult(inst);
  if (result == nullptr) return Flow::Turn;
  const ir::Function& f = function();
  const ReduceSpec spec = {static_cast<ir::ReduceKind>(f.word(inst, 0)),
                           static_cast<size_t>(f.word(inst, 1)), f.word(inst, 2), f.word(inst, 3)};
  Reduce(OperandObject(inst, 0), spec, *result);
  return Flow::Next;
}

Machine::Flow Machine::MatmulOp(const ir::Inst& inst) {
  Object* result = MakeResult(inst);
  if (result == nullptr) return Flow::Turn;
  const auto expired = [this] { return Expired(); };
  const bool fast = inst.op == Op::MatmulFast;
  if (!Matmul(OperandObject(inst, 0), OperandObject(inst, 1), fast, expired, *result))
    return TrapEnded(inst);
  return Flow::Next;
}

Machine::Flow Machine::ReshapeOp(const ir::Inst& inst) {
  const Object& operand = OperandObject(inst, 0);
  std::vector<int64_t> dims = DimsOf(inst.type);
  if (ElementCount(dims) != operand.memory->length()) return Trap(ir::Trap::Assert, inst);
  // Tensors never change, so two of them may share their elements.
  SetObject(Function::result_of(inst), {operand.memory, std::move(dims)});
  return Flow::Next;
}

Machine::Flow Machine::TransposeOp(const ir::Inst& inst) {
  Object* result = MakeResult(inst);
  if (result == nullptr) return Flow::Turn;
  const Object& operand = OperandObject(inst, 0);
  const std::vector<int64_t> operand_strides = StridesOf(operand.dims);
  std::vector<int64_t> strides;
  for (uint64_t axis : function().words_of(inst)) strides.push_back(operand_strides[axis]);
  CopyStrided(operand, 0, strides, *result);
  return Flow::Next;
}

Machine::Flow Machine::BroadcastOp(const ir::Inst& inst) {
  const ir::ValueId operand_id = function().operand(inst, 0);
  if (TypeOf(operand_id).is_scalar()) {
    Object* result = MakeResult(inst);
    if (result == nullptr) return Flow::Turn;
    Fill(WordsOf(operand_id), *result);
    return Flow::Next;
  }
  const std::vector<int64_t> dims = DimsOf(inst.type);
  const std::span<const uint64_t> axes = function().words_of(inst);
  const std::vector<int64_t> operand_dims = ObjectOf(operand_id).dims;
  const std::vector<int64_t> operand_strides = StridesOf(operand_dims);
  std::vector<int64_t> strides(dims.size(), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const bool repeats = operand_dims[i] == 1;
    if (!repeats && operand_dims[i] != dims[axes[i]]) return Trap(ir::Trap::Assert, inst);
    strides[axes[i]] = repeats ? 0 : operand_strides[i];
  }
  Object* result = MakeResult(inst);
  if (result == nullptr) return Flow::Turn;
  CopyStrided(ObjectOf(operand_id), 0, strides, *result);
  return Flow::Next;
}

Machine::Flow Machine::SliceOp(const ir::Inst& inst) {
  Object* result = MakeResult(inst);
  if (result == nullptr) return Flow::Turn;
  if (result->memory->length() == 0) return Flow::Next;
  const Object& operand = OperandObject(inst, 0);
  const std::vector<int64_t> operand_strides = StridesOf(operand.dims);
  const uint32_t rank = static_cast<uint32_t>(operand.dims.size());
  std::vector<int64_t> strides;
  int64_t first = 0;
  for (uint32_t i = 0; i < rank; ++i) {
    __extension__ using int128 = __int128;
    const int64_t start = function().word(inst, i);
    const int64_t step = function().word(inst, rank + i);
    const int128 last = int128{start} + int128{step} * (result->dims[i] - 1);
    if (start >= operand.dims[i] || last < 0 || last >= operand.dims[i])
      return Trap(ir::Trap::OutOfBounds, inst);
    first += start * operand_strides[i];
    // A step that is never taken may be of any size.
    strides.push_back(result->dims[i] == 1 ? 0 : step * operand_strides[i]);
  }
  CopyStrided(operand, first, strides, *result);
  return Flow::Next;
}

Machine::Flow Machine::ConcatOp(const ir::Inst& inst) {
  const size_t axis = static_cast<size_t>(function().word(inst, 0));
  __extension__ __int128 total = 0;
  for (ir::ValueId id : function().operands_of(inst)) total += ObjectOf(id).dims[axis];
  if (total != DimsOf(inst.type)[axis]) return Trap(ir::Trap::Assert, inst);
  Object* result = MakeResult(inst);
  if (result == nullptr) return Flow::Turn;
  std::vector<const Object*> parts;
  for (ir::ValueId id : function().operands_of(inst)) parts.push_back(&ObjectOf(id));
  Concat(parts, axis, *result);
  return Flow::Next;
}

Machine::Flow Machine::GatherOp(const ir::Inst& inst) {
  Object* result = MakeResult(inst);
  if (result == nullptr) return Flow::Turn;
  const size_t axis = static_cast<size_t>(function().word(inst, 0));
  const auto trap = Gather(OperandObject(inst, 0), OperandObject(inst, 1), axis, *result);
  return trap ? Trap(*trap, inst) : Flow::Next;
}

Machine::Flow Machine::IotaOp(const ir::Inst& inst) {
  Object* result = MakeResult(inst);
  if (result == nullptr) return Flow::Turn;
  Iota(static_cast<size_t>(function().word(inst, 0)), *result);
  return Flow::Next;
}

Machine::Flow Machine::ExtractOp(const ir::Inst& inst) {
  const Object& operand = OperandObject(inst, 0);
  int64_t element = 0;
  for (uint32_t i = 0; i < operand.dims.size(); ++i) {
    const int64_t at = static_cast<int64_t>(Operand(inst, i + 1));
    if (at < 0 || at >= operand.dims[i]) return Trap(ir::Trap::OutOfBounds, inst);
    element = element * operand.dims[i] + at;
  }
  operand.memory->Get(element, WordsOf(Function::result_of(inst)));
  return Flow::Next;
}

Machine::Flow Machine::TensorLoadOp(const ir::Inst& inst) {
  Object* result = MakeResult(inst);
  if (result == nullptr) return Flow::Turn;
  const Memory& buffer = *OperandObject(inst, 0).memory;
  if (result->memory->length() > buffer.length()) return Trap(ir::Trap::OutOfBounds, inst);
  std::copy_n(buffer.data(), result->memory->size_bytes(), result->memory->data());
  return Flow::Next;
}

Machine::Flow Machine::TensorStoreOp(const ir::Inst& inst) {
  Memory& buffer = *OperandObject(inst, 0).memory;
  const Memory& tensor = *OperandObject(inst, 1).memory;
  if (tensor.length() > buffer.length()) return Trap(ir::Trap::OutOfBounds, inst);
  std::copy_n(tensor.data(), tensor.size_bytes(), buffer.data());
  for (int64_t i = 0; later_ != nullptr && i < tensor.length(); ++i) NoteStore(buffer, i);
  return Flow::Next;
}

// --- convolution, scan, sort, scatter, quantized products ---------------------------------------------------------
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
