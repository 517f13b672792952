// Single ops. An op whose operands are cells works on cells; an op on tiles takes cells where a fast loop does, else the
// cell becomes a tile first. An op with one user waits for it: two together may be one loop.
#include <array>

#include "base/check.h"
#include "targets/tiles/tile_compiler.h"
#include "targets/tiles/tile_math.h"

namespace frazil::targets::tiles {

using namespace ir::names;
using Kind = TileOp::Kind;

namespace {

exec::BatchIsa BatchIsaOf(embed::CpuLevel level) {
  return level >= embed::CpuLevel::Avx2 && exec::MachineHas(exec::BatchIsa::Avx2)
             ? exec::BatchIsa::Avx2
             : exec::BatchIsa::Baseline;
}

bool IsFirstOfPair(Op op) { return op == Op::Add || op == Op::Sub || op == Op::Mul; }
bool IsSecondOfPair(Op op) { return IsFirstOfPair(op) || op == Op::Min || op == Op::Max; }
bool IsOrder(Op op) { return op == Op::Lt || op == Op::Le || op == Op::Gt || op == Op::Ge; }
Op Mirrored(Op op) {
  switch (op) {
    case Op::Lt: return Op::Gt;
    case Op::Le: return Op::Ge;
    case Op::Gt: return Op::Lt;
    default: return Op::Le;
  }
}
bool IsWideFloat(Scalar s) { return s == Scalar::F32 || s == Scalar::F64; }

}  // namespace

TileOp FunctionCompiler::New(Kind kind, const ir::Inst& inst) const {
  TileOp op;
  op.kind = kind;
  op.op = inst.trap_op();
  op.type = inst.type.scalar;
  op.uniform = !in_tile_;
  op.where = inst.location;
  return op;
}

TileOp& FunctionCompiler::Append(TileOp op) { return code_->emplace_back(op); }

Slot FunctionCompiler::NewCell() {
  out_.slots.push_back({false, 8, static_cast<uint32_t>(out_.cells.size()), 0});
  out_.cells.push_back(0);
  return static_cast<Slot>(out_.slots.size() - 1);
}

Slot FunctionCompiler::NewTile(uint32_t bytes) {
  out_.slots.push_back({true, static_cast<uint8_t>(bytes), 0, 0});
  return static_cast<Slot>(out_.slots.size() - 1);
}

Slot FunctionCompiler::NewLike(ir::ValueId value) {
  return OnCells(value) ? NewCell() : NewTile(BytesOf(value));
}

Slot FunctionCompiler::CellOf(ir::ValueId value) {
  CHECK(OnCells(value) && slots_[value.index] != NoSlot);
  return slots_[value.index];
}

Slot FunctionCompiler::TileOf(ir::ValueId value) {
  Materialize(value);
  if (ClassOf(value).varying()) {
    CHECK(slots_[value.index] != NoSlot);
    return slots_[value.index];
  }
  Slot& tile = tiles_[value.index];
  if (tile != NoSlot) return tile;
  TileOp op;
  op.uniform = false;
  op.kind = ClassOf(value).affine() ? Kind::Iota : Kind::Broadcast;
  op.imm = ClassOf(value).stride;
  op.bytes = static_cast<uint8_t>(BytesOf(value));
  op.a = slots_[value.index];
  op.result = tile = NewTile(op.bytes);
  const ir::InstId def = function_.values[value.index].def;
  // Known before the lanes start: once for all tiles.
  const bool constant = def.valid() && function_.inst(def).op == Op::Const;
  const bool early =
      preamble_ != nullptr && ClassOf(value).uniform() && (!inside_[value.index] || constant);
  if (early) {
    preamble_->push_back(op);
  } else {
    Append(op);
    made_tiles_.push_back(value);
  }
  return tile;
}

bool FunctionCompiler::TryDefer(ir::InstId id) {
  const ir::Inst& inst = function_.inst(id);
  const ir::ValueId result = Function::result_of(inst);
  if (OnCells(result) || uses_[result.index] != 1) return false;
  const ir::InstId user_id = only_user_[result.index];
  if (region_of_inst_[user_id.index] != region_of_inst_[id.index]) return false;
  const ir::Inst& user = function_.inst(user_id);
  if (inst.operands.count != 2) return false;
  const bool first_varies = ClassOf(function_.operand(inst, 0)).varying();
  const Scalar type = inst.type.scalar;
  if (IsFirstOfPair(inst.op) && IsWideFloat(type) && IsSecondOfPair(user.op) &&
      user.type == inst.type && (first_varies || inst.op != Op::Sub)) {
    deferred_[result.index] = true;
  } else if (IsOrder(inst.op) && (IsWideFloat(type) || type == Scalar::I32) &&
             user.op == Op::Select && user.type == inst.type &&
             function_.operand(user, 0) == result) {
    deferred_[result.index] = true;
  }
  return deferred_[result.index];
}

void FunctionCompiler::Materialize(ir::ValueId value) {
  if (!deferred_[value.index]) return;
  deferred_[value.index] = false;
  EmitKernel(function_.inst(function_.values[value.index].def));
}

// Two ops in one: the kernel is chosen.
void FunctionCompiler::AppendFused(TileOp op, const ir::Inst& inst) {
  CHECK(op.kernel != nullptr);
  op.bytes = static_cast<uint8_t>(ir::BytesOf(inst.type));
  op.result = NewTile(op.bytes);
  op.imm = 2;
  Append(op);
  Define(Function::result_of(inst), op.result);
}

bool FunctionCompiler::EmitPair(const ir::Inst& inst) {
  if (!IsSecondOfPair(inst.op) || OnCells(Function::result_of(inst))) return false;
  ir::ValueId inner = function_.operand(inst, 0), other = function_.operand(inst, 1);
  bool swapped = false;
  if (!deferred_[inner.index]) {
    std::swap(inner, other);
    swapped = true;
  }
  if (!deferred_[inner.index]) return false;
  const ir::Inst& first = function_.inst(function_.values[inner.index].def);
  ir::ValueId p = function_.operand(first, 0), q = function_.operand(first, 1);
  if (!ClassOf(p).varying()) std::swap(p, q);
  deferred_[inner.index] = false;
  TileOp op = New(Kind::Kernel, inst);
  op.a = TileOf(p);
  const ModeSet modes = (ClassOf(q).uniform() ? 2u : 0u) | (ClassOf(other).uniform() ? 4u : 0u);
  op.b = OperandOf(q, ClassOf(q).uniform());
  op.c = OperandOf(other, ClassOf(other).uniform());
  op.kernel = FastPair(first.op, inst.op, swapped, inst.type.scalar, modes, plan_.level);
  return AppendFused(op, inst), true;
}

bool FunctionCompiler::EmitChoice(const ir::Inst& inst) {
  if (inst.op != Op::Select || OnCells(Function::result_of(inst))) return false;
  const ir::ValueId condition = function_.operand(inst, 0);
  if (!deferred_[condition.index]) return false;
  const ir::Inst& compare = function_.inst(function_.values[condition.index].def);
  ir::ValueId p = function_.operand(compare, 0), q = function_.operand(compare, 1);
  Op order = compare.op;
  if (!ClassOf(p).varying()) {
    std::swap(p, q);
    order = Mirrored(order);
  }
  deferred_[condition.index] = false;
  const ir::ValueId yes = function_.operand(inst, 1), no = function_.operand(inst, 2);
  const ModeSet modes = (ClassOf(q).uniform() ? 2u : 0u) |
                        (yes == p                 ? 1u
                         : ClassOf(yes).uniform() ? 4u
                                                  : 0u) |
                        (ClassOf(no).uniform() ? 8u : 0u);
  TileOp op = New(Kind::Kernel, inst);
  op.a = TileOf(p);
  op.b = OperandOf(q, ClassOf(q).uniform());
  op.c = OperandOf(yes, ClassOf(yes).uniform());
  op.d = OperandOf(no, ClassOf(no).uniform());
  op.kernel = FastChoice(order, inst.type.scalar, modes, plan_.level);
  return AppendFused(op, inst), true;
}

void FunctionCompiler::EmitSelect(Slot condition, Slot yes, Slot no, Slot result, ir::Type type,
                                  bool uniform) {
  TileOp op;
  op.kind = Kind::Kernel;
  op.op = Op::Select;
  op.uniform = uniform;
  op.bytes = static_cast<uint8_t>(ir::BytesOf(type));
  op.a = condition;
  op.b = yes;
  op.c = no;
  op.result = result;
  op.kernel = exec::KernelFor(Op::Select, type.scalar, Scalar::Bool, BatchIsaOf(plan_.level));
  Append(op);
}

// The op alone; its kernel exists.
void FunctionCompiler::EmitKernel(const ir::Inst& inst) {
  const ir::ValueId result = Function::result_of(inst);
  const auto operands = function_.operands_of(inst);
  TileOp op = New(ir::Info(inst.op).traps != 0 ? Kind::Checked : Kind::Kernel, inst);
  op.uniform = OnCells(result);
  op.bytes = static_cast<uint8_t>(BytesOf(result));
  op.imm = 1;
  if (!op.uniform && operands.size() == 2 && op.kind == Kind::Kernel) {
    const ModeSet modes =
        (ClassOf(operands[0]).uniform() ? 1u : 0u) | (ClassOf(operands[1]).uniform() ? 2u : 0u);
    op.kernel = FastBinary(inst.op, inst.type.scalar, modes, plan_.level);
    if (op.kernel != nullptr) {
      op.a = OperandOf(operands[0], (modes & 1) != 0);
      op.b = OperandOf(operands[1], (modes & 2) != 0);
    }
  }
  if (op.kernel == nullptr) {
    op.kernel = exec::KernelFor(inst.op, inst.type.scalar, function_.type(operands[0]).scalar,
                                BatchIsaOf(plan_.level));
    std::array<Slot*, 3> places = {&op.a, &op.b, &op.c};
    for (size_t i = 0; i < operands.size(); ++i) *places[i] = OperandOf(operands[i], op.uniform);
  }
  op.result = op.uniform ? NewCell() : NewTile(op.bytes);
  Append(op);
  Define(result, op.result);
}

Result<void> FunctionCompiler::Pure(const ir::Inst& inst) {
  const auto operands = function_.operands_of(inst);
  for (ir::ValueId operand : operands)
    if (!function_.type(operand).is_scalar() || ir::WordsOf(function_.type(operand)) != 1)
      return Fail(Diag::Unsupported, "tiles hold scalars of one word", inst.location);
  const ir::ValueId result = Function::result_of(inst);
  const Scalar source = operands.empty() ? inst.type.scalar : function_.type(operands[0]).scalar;
  if (operands.size() > 3 || ir::WordsOf(function_.type(result)) != 1 ||
      exec::KernelFor(inst.op, inst.type.scalar, source, BatchIsaOf(plan_.level)) == nullptr)
    return Fail(Diag::Unsupported,
                std::string(ir::Info(inst.op).mnemonic) + " has no loop over lanes", inst.location);
  // A parameter's cell holds its whole word, extended by its signedness: the same integer in 64 bits.
  const bool widens =
      inst.op == Op::Cast &&
      (inst.type == ir::types::Index || inst.type == ir::types::I64 || inst.type == ir::types::U64);
  if (widens && !is_called_ && (ir::IsFixedInt(source) || source == Scalar::Bool)) {
    const uint32_t first = function_.region(function_.body).params.begin;
    if (operands[0].index >= first && operands[0].index < first + function_.param_count()) {
      Define(result, slots_[operands[0].index]);
      return {};
    }
  }
  if (EmitPair(inst) || EmitChoice(inst)) return {};
  EmitKernel(inst);
  return {};
}

Result<void> FunctionCompiler::Memory(const ir::Inst& inst) {
  switch (inst.op) {
    case Op::Load: return Load(inst);
    case Op::Store: return Store(inst);
    case Op::AtomicRmw:
    case Op::AtomicCas: return Atomic(inst);
    case Op::Lookup: return Lookup(inst);
    case Op::Length: {
      TileOp op = New(Kind::Length, inst);
      op.uniform = true;
      op.buffer = BufferOf(function_.operand(inst, 0));
      op.result = NewCell();
      Define(Function::result_of(inst), op.result);
      Append(op);
      return {};
    }
    case Op::Alloc: {
      if (in_tile_ || ir::WordsOf(inst.type.element()) != 1)
        return Fail(Diag::Unsupported, "scratch of single lanes", inst.location);
      TileOp op = New(Kind::Alloc, inst);
      op.a = CellOf(function_.operand(inst, 0));
      op.bytes = static_cast<uint8_t>(ir::BytesOf(inst.type.element()));
      op.buffer = buffers_[Function::result_of(inst).index] =
          static_cast<int32_t>(out_.buffer_count++);
      Append(op);
      return {};
    }
    case Op::Assert: {
      const ir::ValueId condition = function_.operand(inst, 0);
      TileOp op = New(Kind::Assert, inst);
      op.uniform = ClassOf(condition).uniform();
      op.a = OperandOf(condition, op.uniform);
      Append(op);
      return {};
    }
    case Op::Unreachable: Append(New(Kind::Unreachable, inst)); return {};
    default:
      return Fail(Diag::Unsupported, std::string(ir::Info(inst.op).mnemonic) + " runs lane by lane",
                  inst.location);
  }
}

Result<void> FunctionCompiler::Load(const ir::Inst& inst) {
  const ir::ValueId index = function_.operand(inst, 1), result = Function::result_of(inst);
  if (ir::WordsOf(inst.type.element()) != 1)
    return Fail(Diag::Unsupported, "tiles hold scalars of one word", inst.location);
  TileOp op = New(Kind::LoadOne, inst);
  const LaneClass lane_class = ClassOf(index);
  op.uniform = lane_class.uniform();
  op.buffer = BufferOf(function_.operand(inst, 0));
  op.bytes = static_cast<uint8_t>(BytesOf(result));
  if (lane_class.affine()) {
    op.kind = lane_class.stride == 1 ? Kind::LoadRow : Kind::LoadStrided;
    op.imm = lane_class.stride;
  } else if (lane_class.varying()) {
    op.kind = Kind::LoadGather;
  }
  op.a = OperandOf(index, !lane_class.varying());
  op.result = op.uniform ? NewCell() : NewTile(op.bytes);
  Append(op);
  Define(result, op.result);
  return {};
}

Result<void> FunctionCompiler::Store(const ir::Inst& inst) {
  const ir::ValueId index = function_.operand(inst, 1), value = function_.operand(inst, 2);
  if (ir::WordsOf(inst.type.element()) != 1)
    return Fail(Diag::Unsupported, "tiles hold scalars of one word", inst.location);
  TileOp op = New(Kind::StoreOne, inst);
  op.buffer = BufferOf(function_.operand(inst, 0));
  op.bytes = static_cast<uint8_t>(BytesOf(value));
  if (in_tile_) {
    const bool row = ClassOf(index).affine() && ClassOf(index).stride == 1;
    op.kind = row ? Kind::StoreRow : Kind::StoreScatter;
    op.b = TileOf(value);
    op.a = OperandOf(index, row);
  } else {
    op.a = CellOf(index);
    op.b = CellOf(value);
  }
  Append(op);
  return {};
}

Result<void> FunctionCompiler::Atomic(const ir::Inst& inst) {
  TileOp op = New(inst.op == Op::AtomicRmw ? Kind::Atomic : Kind::Cas, inst);
  op.buffer = BufferOf(function_.operand(inst, 0));
  op.bytes = static_cast<uint8_t>(ir::BytesOf(inst.type.element()));
  op.type = inst.type.scalar;
  op.a = OperandOf(function_.operand(inst, 1), !in_tile_);
  op.b = OperandOf(function_.operand(inst, 2), !in_tile_);
  if (op.kind == Kind::Cas)
    op.c = OperandOf(function_.operand(inst, 3), !in_tile_);
  else
    op.extra = static_cast<uint32_t>(function_.word(inst, 0));
  op.result = in_tile_ ? NewTile(op.bytes) : NewCell();
  Append(op);
  Define(Function::result_of(inst), op.result);
  return {};
}

Result<void> FunctionCompiler::Lookup(const ir::Inst& inst) {
  const ir::ValueId index = function_.operand(inst, 0), result = Function::result_of(inst);
  TileOp op = New(Kind::Lookup, inst);
  op.uniform = OnCells(result);
  op.extra = static_cast<uint32_t>(function_.word(inst, 0));
  op.bytes = static_cast<uint8_t>(BytesOf(result));
  op.a = OperandOf(index, op.uniform);
  op.result = op.uniform ? NewCell() : NewTile(op.bytes);
  Append(op);
  Define(result, op.result);
  return {};
}

Slot FunctionCompiler::MathOn(Op math, Scalar type, std::span<const Slot> operands, bool uniform,
                              Location where) {
  TileOp op;
  op.kind = Kind::Math;
  op.op = math;
  op.type = type;
  op.where = where;
  op.uniform = uniform;
  op.bytes = static_cast<uint8_t>(ir::BytesOf(ir::Type::Of(type)));
  op.a = operands[0];
  if (operands.size() > 1) op.b = operands[1];
  if (operands.size() > 2) op.c = operands[2];
  op.extra = static_cast<uint32_t>(plan_.math.size());
  op.result = uniform ? NewCell() : NewTile(op.bytes);
  Append(op);
  return op.result;
}

// f16 and bf16 go through f32 and round once.
Result<void> FunctionCompiler::Math(const ir::Inst& inst) {
  const ir::ValueId result = Function::result_of(inst);
  const bool uniform = OnCells(result);
  const Scalar type = inst.type.scalar;
  const bool half = ir::Contains(ir::sets::Half, type);
  std::vector<Slot> operands;
  const auto convert = [&](Slot from, Scalar to, Scalar source) {
    TileOp op = New(Kind::Kernel, inst);
    op.op = Op::Cast;
    op.uniform = uniform;
    op.a = from;
    op.bytes = static_cast<uint8_t>(ir::BytesOf(ir::Type::Of(to)));
    op.kernel = exec::KernelFor(Op::Cast, to, source, BatchIsaOf(plan_.level));
    op.result = uniform ? NewCell() : NewTile(op.bytes);
    return Append(op).result;
  };
  for (ir::ValueId operand : function_.operands_of(inst)) {
    const Slot slot = OperandOf(operand, uniform);
    operands.push_back(half ? convert(slot, Scalar::F32, type) : slot);
  }
  const Scalar computed = half ? Scalar::F32 : type;
  const TilePlan* body = TRY(MathPlan(inst.op, computed, plan_.level));
  Slot slot = MathOn(inst.op, computed, operands, uniform, inst.location);
  plan_.math.push_back(body);
  if (half) slot = convert(slot, type, Scalar::F32);
  Define(result, slot);
  return {};
}

}  // namespace frazil::targets::tiles
