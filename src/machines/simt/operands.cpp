// Operands by shape. Two exhaustive switches: what is read and written, and which bytes are in use.
#include "machines/simt/operands.h"

namespace frazil::machines::simt {
namespace {

void AddAddress(Operands& operands, const Instruction& i) {
  bool shared = i.op == Opcode::Lds || i.op == Opcode::Sts;
  switch (i.address()) {
    case Address::Bytes:
    case Address::Elements:
      operands.Add(RegisterPlace(i.b), Type::Index, Need::Integer);
      [[fallthrough]];
    case Address::Offset:
      if (!shared) operands.Add(BufferPlace(i.a), i.type, Need::Buffer);
      return;
    case Address::Phi: return;
    case Address::HandleBytes:
      operands.Add(RegisterPlace(i.b), Type::Index, Need::Integer);
      [[fallthrough]];
    case Address::Handle: operands.Add(RegisterPlace(i.a), Type::U64); return;
  }
}

void AddressFields(Fields& fields, const Instruction& i) {
  bool shared = i.op == Opcode::Lds || i.op == Opcode::Sts;
  Address mode = i.address();
  fields.a = !shared && mode != Address::Phi;
  fields.b = mode == Address::Bytes || mode == Address::Elements || mode == Address::HandleBytes;
  fields.imm = mode == Address::Offset || mode == Address::Bytes || mode == Address::Phi ||
               mode == Address::Handle;
}

}  // namespace

Operands OperandsOf(const Instruction& i) {
  Operands o;
  Type type = i.type;
  switch (Info(i.op).shape) {
    case Shape::Plain:
    case Shape::Imm:
    case Shape::Label:
    case Shape::Fence: break;
    case Shape::Dst:
    case Shape::DImm: o.Set(PlaceOf(type, i.dst), type); break;
    case Shape::DABC:
      o.Add(PlaceOf(type, i.a), type);
      o.Add(PlaceOf(type, i.b), type);
      o.Add(PlaceOf(type, i.c), type);
      o.Set(PlaceOf(type, i.dst), type);
      break;
    case Shape::DAB:
      o.Add(PlaceOf(type, i.a), type);
      if (!i.immediate_b()) {
        bool shift = i.op == Opcode::Shl || i.op == Opcode::Shr || i.op == Opcode::Rotl ||
                     i.op == Opcode::Rotr;
        o.Add(PlaceOf(type, i.b), type, shift ? Need::Shift : Need::Exact);
      }
      o.Set(PlaceOf(type, i.dst), type);
      break;
    case Shape::DA:
    case Shape::LaneReduce:
      o.Add(PlaceOf(type, i.a), type);
      o.Set(PlaceOf(type, i.dst), type);
      break;
    case Shape::RegReduce: o.Set(RegisterPlace(i.dst), type); break;
    case Shape::Load:
      AddAddress(o, i);
      o.Set(PlaceOf(type, i.dst), type);
      break;
    case Shape::Store:
      AddAddress(o, i);
      o.Add(PlaceOf(type, i.c), type);
      break;
    case Shape::Atomic:
    case Shape::AtomicCas:
      AddAddress(o, i);
      o.Add(RegisterPlace(i.c), type);
      if (i.op == Opcode::AtomCas) o.Add(RegisterPlace(static_cast<uint8_t>(i.imm)), type);
      o.Set(RegisterPlace(i.dst), type);
      break;
    case Shape::Convert:
      o.Add(PlaceOf(i.source(), i.a), i.source());
      o.Set(PlaceOf(type, i.dst), type);
      break;
    case Shape::Length:
      o.Add(BufferPlace(i.a), type, Need::Buffer);
      o.Set(RegisterPlace(i.dst), Type::Index);
      break;
    case Shape::Alloc:
      o.Add(RegisterPlace(i.a), Type::Index);
      o.Set(BufferPlace(i.dst), type);
      break;
    case Shape::Lookup:
      o.Add(RegisterPlace(i.a), Type::Index, Need::Integer);
      o.Set(PlaceOf(type, i.dst), type);
      break;
    case Shape::Result:
    case Shape::Switch: o.Add(PlaceOf(type, i.a), type); break;
    case Shape::PredToReg:
      o.Add(PredicatePlace(i.a), Type::Bool);
      o.Set(RegisterPlace(i.dst), Type::Bool);
      break;
    case Shape::RegToPred:
      o.Add(RegisterPlace(i.a), Type::Bool);
      o.Set(PredicatePlace(i.dst), Type::Bool);
      break;
    case Shape::Special: o.Set(RegisterPlace(i.dst), type); break;
    case Shape::Compare:
      o.Add(PlaceOf(type, i.a), type);
      if (!i.immediate_b()) o.Add(PlaceOf(type, i.b), type);
      o.Set(PredicatePlace(i.dst), Type::Bool);
      break;
    case Shape::Select:
      o.Add(PredicatePlace(i.a), Type::Bool);
      o.Add(PlaceOf(type, i.b), type);
      o.Add(PlaceOf(type, i.c), type);
      o.Set(PlaceOf(type, i.dst), type);
      break;
    case Shape::TestPred: o.Add(PredicatePlace(i.a), Type::Bool); break;
    case Shape::For:
      o.Add(RegisterPlace(i.a), type);
      o.Add(RegisterPlace(i.b), type);
      o.Set(RegisterPlace(i.dst), type);
      break;
    case Shape::Loop:
      o.Add(RegisterPlace(i.a), type);
      o.Set(RegisterPlace(i.a), type);
      break;
    case Shape::Shuffle:
      o.Add(PlaceOf(type, i.a), type);
      o.Add(RegisterPlace(i.b), Type::U32);
      o.Set(PlaceOf(type, i.dst), type);
      break;
    case Shape::Vote:
      o.Add(PredicatePlace(i.a), Type::Bool);
      o.Set(PredicatePlace(i.dst), Type::Bool);
      break;
    case Shape::Ballot:
      o.Add(PredicatePlace(i.a), Type::Bool);
      o.Set(RegisterPlace(i.dst), type);
      break;
    case Shape::RangeReduce:
      o.Add(BufferPlace(i.a), type, Need::Buffer);
      o.Add(RegisterPlace(i.b), Type::Index);
      o.Add(RegisterPlace(i.c), Type::Index);
      o.Set(RegisterPlace(i.dst), type);
      break;
    case Shape::PoolAlloc:
      o.Add(RegisterPlace(i.a), Type::U64);
      o.Set(RegisterPlace(i.dst), Type::U64);
      break;
    case Shape::PoolFree: o.Add(RegisterPlace(i.a), Type::U64); break;
    case Shape::Random:
      o.Add(RegisterPlace(i.a), Type::U64);
      o.Add(RegisterPlace(i.b), Type::U64);
      o.Add(RegisterPlace(i.c), Type::U64);
      o.Set(RegisterPlace(i.dst), type);
      break;
  }
  return o;
}

Fields FieldsOf(const Instruction& i) {
  Fields f;
  f.type = Info(i.op).types != 0;
  switch (Info(i.op).shape) {
    case Shape::Plain: break;
    case Shape::Imm:
    case Shape::Label: f.imm = true; break;
    case Shape::Fence: f.aux = true; break;
    case Shape::Dst: f.dst = true; break;
    case Shape::DImm:
    case Shape::Special: f.dst = f.imm = true; break;
    case Shape::DA:
    case Shape::PredToReg:
    case Shape::RegToPred:
    case Shape::Length:
    case Shape::Alloc:
    case Shape::Ballot:
    case Shape::PoolAlloc: f.dst = f.a = true; break;
    case Shape::DAB:
    case Shape::Compare:
      f.dst = f.a = f.aux = true;
      (i.immediate_b() ? f.imm : f.b) = true;
      break;
    case Shape::DABC:
    case Shape::Select:
    case Shape::Random: f.dst = f.a = f.b = f.c = true; break;
    case Shape::Load:
      AddressFields(f, i);
      f.dst = f.aux = true;
      break;
    case Shape::Store:
      AddressFields(f, i);
      f.c = f.aux = true;
      break;
    case Shape::Atomic:
    case Shape::AtomicCas:
      AddressFields(f, i);
      f.dst = f.c = f.aux = true;
      f.imm |= i.op == Opcode::AtomCas;
      break;
    case Shape::Convert:
    case Shape::Vote:
    case Shape::LaneReduce: f.dst = f.a = f.aux = true; break;
    case Shape::Lookup: f.dst = f.a = f.imm = true; break;
    case Shape::Result:
    case Shape::Loop: f.a = f.imm = true; break;
    case Shape::TestPred:
    case Shape::Switch:
    case Shape::PoolFree: f.a = true; break;
    case Shape::For: f.dst = f.a = f.b = f.imm = true; break;
    case Shape::Shuffle: f.dst = f.a = f.b = f.aux = true; break;
    case Shape::RegReduce: f.dst = f.a = f.imm = f.aux = true; break;
    case Shape::RangeReduce: f.dst = f.a = f.b = f.c = f.aux = true; break;
  }
  f.imm |= CanStandFor(i);
  return f;
}

}  // namespace frazil::machines::simt
