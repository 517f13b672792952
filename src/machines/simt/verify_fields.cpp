// One instruction by itself: type, operand numbers, immediates, addresses. Everything that needs the instructions before
// it is in verify.cpp.
#include "machines/simt/verify_fields.h"

#include <fmt/format.h>

#include "machines/simt/operands.h"

namespace frazil::machines::simt {
namespace {

bool CanRead(ir::Access access) {
  return (static_cast<uint8_t>(access) & static_cast<uint8_t>(ir::Access::In)) != 0;
}
bool CanWrite(ir::Access access) {
  return (static_cast<uint8_t>(access) & static_cast<uint8_t>(ir::Access::Out)) != 0;
}

std::string WrongBuffer(const Module& module, const Instruction& i, uint8_t buffer, bool reads,
                        bool writes) {
  if (buffer >= module.buffers.size())
    return fmt::format("there is no buffer b{}: the module has {}", buffer, module.buffers.size());
  const BufferRow& row = module.buffers[buffer];
  if (reads && !CanRead(row.access))
    return fmt::format("b{} is an `out` buffer and cannot be read", buffer);
  if (writes && !CanWrite(row.access))
    return fmt::format("b{} is an `in` buffer and cannot be written", buffer);
  bool by_element = i.op == Opcode::Len || i.op == Opcode::Alloc || i.op == Opcode::RangeReduce ||
                    i.op == Opcode::AtomCas || i.op == Opcode::Atom ||
                    i.address() == Address::Elements || row.type == Type::Bool;
  if (by_element && row.type != i.type)
    return fmt::format("b{} has elements of type {}, not {}", buffer, TypeName(row.type),
                       TypeName(i.type));
  return {};
}

std::string WrongAddress(const Module& module, const Instruction& i, bool reads, bool writes) {
  uint8_t mode = i.aux & 15;
  if (mode >= AddressCount) return fmt::format("address mode {} does not exist", mode);
  Address address = i.address();
  bool atomic = i.op == Opcode::Atom || i.op == Opcode::AtomCas;
  if (!atomic && (i.aux >> 4) != 0) return "aux has bits that a load or store does not have";
  if (atomic && address != Address::Elements)
    return "an atomic names an element of a buffer: [bN + rM*size]";
  bool shared = i.op == Opcode::Lds || i.op == Opcode::Sts;
  if (shared && address > Address::Elements)
    return "shared memory is addressed by [rM], [imm] or [rM*size]";
  uint64_t size = ir::BytesOf(ir::Type::Of(i.type));
  if (address == Address::Phi)
    return i.imm <= PhiBytes - size ? std::string{}
                                    : fmt::format("Φ address {} is outside of the arena", i.imm);
  if (shared || address > Address::Elements) return {};
  return WrongBuffer(module, i, i.a, reads, writes);
}

std::string WrongImmediate(const Instruction& i) {
  if (IsCanonical(i.type, i.imm)) return {};
  return fmt::format("{:#x} is no {}", i.imm, TypeName(i.type));
}

bool ReduceAllowed(ir::ReduceKind kind, Type type) {
  bool bits =
      kind == ir::ReduceKind::And || kind == ir::ReduceKind::Or || kind == ir::ReduceKind::Xor;
  bool propagating = kind == ir::ReduceKind::Minimum || kind == ir::ReduceKind::Maximum;
  if (ir::IsFloat(type)) return !bits;
  return !propagating;
}

std::string WrongReduce(const Instruction& i, uint8_t kind) {
  if (kind > static_cast<uint8_t>(ir::ReduceKind::Xor))
    return fmt::format("reduction {} does not exist", kind);
  if (!ReduceAllowed(static_cast<ir::ReduceKind>(kind), i.type))
    return fmt::format("this reduction is not defined on {}", TypeName(i.type));
  return {};
}

std::string WrongCondition(const Instruction& i) {
  if ((i.aux & ~ImmediateB) >= ConditionCount)
    return fmt::format("condition {} does not exist", i.aux & ~ImmediateB);
  Condition condition = i.condition();
  bool is_float = ir::IsFloat(i.type), is_pred = i.type == Type::Bool;
  bool as_unsigned = condition >= Condition::Ltu && condition <= Condition::Geu;
  if (as_unsigned && (is_float || is_pred))
    return fmt::format("set{} compares integers, not {}", ConditionName(condition),
                       TypeName(i.type));
  if (condition >= Condition::Nlt && !is_float)
    return fmt::format("set{} compares floats, not {}", ConditionName(condition), TypeName(i.type));
  if (is_pred && condition > Condition::Ne) return "predicates have no order: seteq or setne";
  return i.immediate_b() ? WrongImmediate(i) : std::string{};
}

std::string WrongConvert(const Instruction& i) {
  if (!IsType(i.aux)) return fmt::format("source type {} does not exist", i.aux);
  Type source = i.source();
  if (i.op == Opcode::CvtChecked && ir::IsFloat(source))
    return "cvt.checked converts integers and pred";
  if (i.op == Opcode::Bitcast) {
    bool same_width = ir::BitsOf(ir::Type::Of(source)) == ir::BitsOf(ir::Type::Of(i.type));
    if (source == Type::Bool || !same_width) return "bitcast needs two types of one width";
  }
  return {};
}

std::string WrongAtomic(const Instruction& i) {
  if (((i.aux >> 4) & 7) > static_cast<uint8_t>(ir::AtomicKind::Exchange))
    return "this kind of atomic does not exist";
  ir::AtomicKind kind = i.atomic_kind();
  bool bits =
      kind == ir::AtomicKind::And || kind == ir::AtomicKind::Or || kind == ir::AtomicKind::Xor;
  if (ir::IsFloat(i.type) && (bits || !i.unordered()))
    return bits ? "this atomic is not defined on floats"
                : "an atomic on floats must be marked .unordered";
  return {};
}

std::string WrongByShape(const Module& module, const Instruction& i) {
  switch (Info(i.op).shape) {
    case Shape::DAB:
      if ((i.aux & ~ImmediateB) != 0) return "aux has bits that this instruction does not have";
      return i.immediate_b() ? WrongImmediate(i) : std::string{};
    case Shape::DImm:
      if (i.op == Opcode::MovImm) return WrongImmediate(i);
      if (i.imm >= module.params.size()) return fmt::format("there is no parameter {}", i.imm);
      if (module.params[i.imm].is_buffer) return fmt::format("parameter {} is a buffer", i.imm);
      if (module.params[i.imm].type != i.type)
        return fmt::format("parameter {} is {}", i.imm, TypeName(module.params[i.imm].type));
      return {};
    case Shape::Load: return WrongAddress(module, i, true, false);
    case Shape::Store: return WrongAddress(module, i, false, true);
    case Shape::Atomic:
      if (std::string wrong = WrongAtomic(i); !wrong.empty()) return wrong;
      return WrongAddress(module, i, true, true);
    case Shape::AtomicCas:
      if ((i.aux >> 4) != 0) return "aux has bits that atom.cas does not have";
      if (i.imm >= Registers) return fmt::format("there is no register {}", i.imm);
      return WrongAddress(module, i, true, true);
    case Shape::Convert: return WrongConvert(i);
    case Shape::Length: return WrongBuffer(module, i, i.a, false, false);
    case Shape::Alloc:
      if (i.dst < module.buffers.size() && !module.buffers[i.dst].is_scratch)
        return fmt::format("b{} is a parameter, not scratch", i.dst);
      return WrongBuffer(module, i, i.dst, false, false);
    case Shape::Lookup:
      if (i.imm >= module.tables.size()) return fmt::format("there is no table {}", i.imm);
      if (module.tables[i.imm].type != i.type)
        return fmt::format("table {} holds {}", i.imm, TypeName(module.tables[i.imm].type));
      return {};
    case Shape::Result:
      if (i.imm >= module.results.size()) return fmt::format("there is no result {}", i.imm);
      if (module.results[i.imm] != i.type)
        return fmt::format("result {} is {}", i.imm, TypeName(module.results[i.imm]));
      return {};
    case Shape::Special: {
      if (module.mode != Mode::Launch) return "launch registers exist in launch mode only";
      if (i.imm >= SpecialCount) return fmt::format("there is no launch register {}", i.imm);
      bool wide = i.imm == static_cast<uint64_t>(SpecialRegister::GlobalLane);
      return (i.type == Type::U64) == wide ? std::string{}
                                           : std::string("this launch register has another type");
    }
    case Shape::Compare: return WrongCondition(i);
    case Shape::For:
      if (i.op == Opcode::Par && i.imm != 1) return "the step of par is 1";
      return i.signed_imm() >= 1 ? std::string{} : std::string("the step must be at least 1");
    case Shape::Fence: return i.aux <= 3 ? std::string{} : std::string("this scope does not exist");
    case Shape::Shuffle:
      return i.aux <= 3 ? std::string{} : std::string("this kind of shuffle does not exist");
    case Shape::Vote:
      return i.aux <= 1 ? std::string{} : std::string("this kind of vote does not exist");
    case Shape::LaneReduce:
      if (i.op == Opcode::LaneScan)
        return (i.aux & ~31) ? std::string("this scan does not exist") : WrongReduce(i, i.aux & 15);
      return WrongReduce(i, i.aux);
    case Shape::RegReduce:
      if (i.imm < 1 || i.imm > FirstReadOnly || i.a + i.imm > FirstReadOnly)
        return fmt::format("registers r{} and {} after it do not exist", i.a, i.imm);
      return WrongReduce(i, i.aux);
    case Shape::RangeReduce:
      if (std::string wrong = WrongReduce(i, i.aux); !wrong.empty()) return wrong;
      return WrongBuffer(module, i, i.a, true, false);
    case Shape::Imm:
      return i.op == Opcode::BarSync && i.imm > 15 ? "barriers are numbered 0 to 15"
                                                   : std::string{};
    default: return {};
  }
}

}  // namespace

bool IsCanonical(Type type, uint64_t bits) {
  if (type == Type::Bool) return bits <= 1;
  int width = ir::BitsOf(ir::Type::Of(type));
  if (width == 64) return true;
  if (!ir::IsSigned(type)) return bits >> width == 0;
  int64_t value = static_cast<int64_t>(bits);
  return value >= -(int64_t{1} << (width - 1)) && value < (int64_t{1} << (width - 1));
}

std::string WrongFields(const Module& module, const Instruction& i) {
  const InstructionInfo& info = Info(i.op);
  if (info.types == 0 ? static_cast<uint8_t>(i.type) != 0
                      : !IsType(static_cast<uint8_t>(i.type)) || !ir::Contains(info.types, i.type))
    return "its type is not one of those it has";
  Fields fields = FieldsOf(i);
  if ((!fields.aux && i.aux) || (!fields.dst && i.dst) || (!fields.a && i.a) ||
      (!fields.b && i.b) || (!fields.c && i.c) || (!fields.imm && i.imm))
    return "a field that it does not use is not 0";
  if (i.guard != 0 && ((i.guard & 0x80) == 0 || (i.guard & 0x30) != 0))
    return "its guard is malformed";
  if (CanStandFor(i) && i.imm != 0 && !IsNumberOfSource(i.imm))
    return fmt::format("operation {} of a source does not exist", i.imm);
  if (std::string wrong = WrongByShape(module, i); !wrong.empty()) return wrong;
  Operands operands = OperandsOf(i);
  bool no_predicate = operands.writes && operands.written == PlaceCount;
  for (uint8_t r = 0; r < operands.read_count; ++r)
    no_predicate |= operands.reads[r].place == PlaceCount;
  if (no_predicate) return "predicates are p0 to p15";
  if (operands.writes && operands.written >= FirstReadOnly && operands.written < Registers)
    return fmt::format(
        "r{} is read-only: it says which lane this is; use an ordinary register, r0 to r251",
        operands.written);
  return {};
}

}  // namespace frazil::machines::simt
