// Instructions that are statements: a check that returns, then the value.
#include <fmt/format.h>

#include "base/check.h"
#include "targets/c/ctype.h"
#include "targets/c/function_emitter.h"

namespace frazil::targets::c {

using namespace ir::names;

namespace {

std::string_view TrapConstant(ir::Trap kind) {
  switch (kind) {
    case ir::Trap::DivisionByZero: return "FRZ_DIVISION_BY_ZERO";
    case ir::Trap::Overflow: return "FRZ_OVERFLOW";
    case ir::Trap::OutOfBounds: return "FRZ_OUT_OF_BOUNDS";
    case ir::Trap::Assert: return "FRZ_ASSERT";
    case ir::Trap::InvertOfZero: return "FRZ_INVERT_OF_ZERO";
    case ir::Trap::Unreachable: return "FRZ_UNREACHABLE";
    case ir::Trap::Fuel: return "FRZ_FUEL";
    case ir::Trap::Depth: return "FRZ_DEPTH";
    case ir::Trap::Memory: return "FRZ_MEMORY";
  }
  return "";
}

// The trap of an instruction that is known to trap.
ir::Trap CertainTrap(Op op) {
  switch (op) {
    case Op::Lookup:
    case Op::Load:
    case Op::Store:
    case Op::AtomicRmw:
    case Op::AtomicCas: return ir::Trap::OutOfBounds;
    case Op::Invert:
    case Op::FieldDiv: return ir::Trap::InvertOfZero;
    case Op::Assert: return ir::Trap::Assert;
    case Op::Unreachable: return ir::Trap::Unreachable;
    default: return ir::Trap::DivisionByZero;
  }
}

}  // namespace

void FunctionEmitter::Trap(ir::Trap kind, const Inst& inst) {
  Line(fmt::format("return {}(run, {}, \"{}\", {});", support_.Use("trap"), TrapConstant(kind),
                   ir::Info(inst.trap_op()).mnemonic, parallel_index_));
}

void FunctionEmitter::TrapIf(const std::string& condition, ir::Trap kind, const Inst& inst) {
  Line(fmt::format("if ({}) return {}(run, {}, \"{}\", {});", condition, support_.Use("trap"),
                   TrapConstant(kind), ir::Info(inst.trap_op()).mnemonic, parallel_index_));
}

// False: the instruction is an expression, and what it needs before it is written.
bool FunctionEmitter::Statement(const Inst& inst) {
  const TrapChance chance = ChanceOfTrap(plan_.program, function_, facts_, inst);
  if (chance == TrapChance::Always) {
    Trap(CertainTrap(inst.op), inst);
    return true;
  }
  switch (inst.op) {
    case Op::AddChecked:
    case Op::SubChecked:
    case Op::MulChecked:
    case Op::NegChecked: Checked(inst); return true;
    case Op::AbsChecked:
      if (inst.type.scalar == Scalar::Int) {
        CheckedWide(inst);
        return true;
      } else {
        const uint64_t least = ~uint64_t{0} << (ir::BitsOf(inst.type) - 1);
        TrapIf(fmt::format("{} == {}", write_.Operand(Operand(inst, 0)),
                           Literal(inst.type, least, support_).text),
               ir::Trap::Overflow, inst);
        return false;
      }
    case Op::DivTrunc:
    case Op::DivFloor:
    case Op::RemTrunc:
    case Op::RemFloor:
    case Op::DivChecked:
    case Op::RemChecked:
      if (inst.type.scalar == Scalar::Int) {
        CheckedWide(inst);
        return true;
      }
      DivisionChecks(inst);
      return false;
    case Op::CastChecked: {
      const ir::Type from = TypeOf(Operand(inst, 0));
      const bool is_wide = inst.type.scalar == Scalar::Int || from.scalar == Scalar::Int;
      if (is_wide)
        CastCheckedWide(inst, from);
      else if (chance == TrapChance::Perhaps)
        CastChecked(inst);
      return is_wide || chance == TrapChance::Perhaps;
    }
    case Op::FieldDiv:
    case Op::Invert:
      if (chance == TrapChance::Perhaps) InverseCheck(inst);
      return false;
    case Op::Lookup:
      if (chance == TrapChance::Perhaps) {
        const uint64_t length =
            plan_.program.data[static_cast<size_t>(function_.word(inst, 0))].length();
        BoundsCheck(inst, Operand(inst, 0), std::to_string(length));
      }
      return false;
    case Op::Load: {
      const ValueId buffer = Operand(inst, 0);
      BoundsCheck(inst, Operand(inst, 1), write_.LengthOf(buffer));
      const std::string element =
          fmt::format("{}[{}]", write_.Name(buffer), write_.Plain(Operand(inst, 1)));
      Define(inst, ExpressionWriter::FromElement(inst.type, element));
      return true;
    }
    case Op::Store: {
      const ValueId buffer = Operand(inst, 0);
      BoundsCheck(inst, Operand(inst, 1), write_.LengthOf(buffer));
      Line(fmt::format("{}[{}] = {};", write_.Name(buffer), write_.Plain(Operand(inst, 1)),
                       write_.Plain(Operand(inst, 2))));
      return true;
    }
    case Op::AtomicRmw:
    case Op::AtomicCas: Atomic(inst); return true;
    case Op::Alloc: Alloc(inst); return true;
    case Op::Input:
    case Op::Hint: Read(inst); return true;
    case Op::Output: Output(inst); return true;
    case Op::Assert:
      if (chance == TrapChance::Perhaps)
        TrapIf("!" + write_.Operand(Operand(inst, 0)), ir::Trap::Assert, inst);
      return true;
    default: return false;
  }
}

void FunctionEmitter::BoundsCheck(const Inst& inst, ValueId index, const std::string& length) {
  TrapIf(fmt::format("{}({}, {})", support_.Use("outside"), write_.Plain(index), length),
         ir::Trap::OutOfBounds, inst);
}

void FunctionEmitter::Checked(const Inst& inst) {
  if (inst.type.scalar == Scalar::Int) return CheckedWide(inst);
  const ValueId result = Function::result_of(inst);
  const std::string name = NewName(result);
  write_.SetName(result, name);
  Line(fmt::format("{} {};", CTypeName(inst.type), name));
  const std::string first = write_.Plain(Operand(inst, 0));
  if (inst.op == Op::NegChecked)
    return TrapIf(fmt::format("__builtin_sub_overflow(0, {}, &{})", first, name),
                  ir::Trap::Overflow, inst);
  const std::string_view what = inst.op == Op::AddChecked   ? "add"
                                : inst.op == Op::SubChecked ? "sub"
                                                            : "mul";
  TrapIf(fmt::format("__builtin_{}_overflow({}, {}, &{})", what, first,
                     write_.Plain(Operand(inst, 1)), name),
         ir::Trap::Overflow, inst);
}

void FunctionEmitter::CheckedWide(const Inst& inst) {
  const ValueId result = Function::result_of(inst);
  const uint32_t n = inst.type.limbs;
  const std::string a = write_.Name(Operand(inst, 0)) + ".w";
  const std::string b = inst.operands.count > 1 ? write_.Name(Operand(inst, 1)) + ".w" : "";
  support_.UseType(inst.type);
  if (inst.op == Op::DivChecked || inst.op == Op::RemChecked)
    TrapIf(fmt::format("{}({}, {})", support_.Use("wide_is_zero"), b, n), ir::Trap::DivisionByZero,
           inst);
  const std::string name = NewName(result);
  write_.SetName(result, name);
  Line(fmt::format("{} {};", CTypeName(inst.type), name));
  std::string_view piece;
  switch (inst.op) {
    case Op::AddChecked: piece = "wide_add"; break;
    case Op::SubChecked: piece = "wide_sub"; break;
    case Op::MulChecked: piece = "wide_mul"; break;
    case Op::NegChecked: piece = "wide_neg"; break;
    case Op::AbsChecked: piece = "wide_abs"; break;
    case Op::DivChecked: piece = "wide_div"; break;
    default: piece = "wide_rem"; break;
  }
  const std::string call = fmt::format("{}({}.w, {}{}{}, {})", support_.Use(piece), name, a,
                                       b.empty() ? "" : ", ", b, n);
  if (inst.op == Op::RemChecked) return Line(call + ";");
  TrapIf(call, ir::Trap::Overflow, inst);
}

void FunctionEmitter::CastChecked(const Inst& inst) {
  const ValueId result = Function::result_of(inst);
  const std::string name = NewName(result);
  write_.SetName(result, name);
  Line(fmt::format("{} {};", CTypeName(inst.type), name));
  TrapIf(fmt::format("__builtin_add_overflow({}, 0, &{})", write_.Plain(Operand(inst, 0)), name),
         ir::Trap::Overflow, inst);
}

void FunctionEmitter::CastCheckedWide(const Inst& inst, ir::Type from) {
  const ValueId result = Function::result_of(inst);
  const std::string name = NewName(result);
  const bool may_trap = ChanceOfTrap(plan_.program, function_, facts_, inst) == TrapChance::Perhaps;
  auto convert = [&](const std::string& call) {
    if (may_trap)
      TrapIf(call, ir::Trap::Overflow, inst);
    else
      Line("(void)" + call + ";");
  };
  write_.SetName(result, name);
  support_.UseType(inst.type);
  Line(fmt::format("{} {};", CTypeName(inst.type), name));
  if (from.scalar != Scalar::Int) {
    const std::string value = write_.Plain(Operand(inst, 0));
    const std::string_view piece = from.scalar == Scalar::U64 ? "wide_from_u64" : "wide_from_i64";
    return convert(
        fmt::format("{}({}.w, {}, {})", support_.Use(piece), name, inst.type.limbs, value));
  }
  const std::string words = write_.Name(Operand(inst, 0)) + ".w";
  if (inst.type.scalar == Scalar::Int)
    return convert(fmt::format("{}({}.w, {}, {}, {})", support_.Use("wide_resize"), name,
                               inst.type.limbs, words, from.limbs));
  const bool is_signed = ir::IsSigned(inst.type.scalar);
  const std::string function = support_.Use(is_signed ? "wide_to_i64" : "wide_to_u64");
  if (ir::BitsOf(inst.type) == 64)
    return convert(fmt::format("{}(&{}, {}, {})", function, name, words, from.limbs));
  const std::string word = scope_.Add(name + "_word");
  Line(fmt::format("{} {};", is_signed ? "int64_t" : "uint64_t", word));
  convert(fmt::format("{}(&{}, {}, {}) || __builtin_add_overflow({}, 0, &{})", function, word,
                      words, from.limbs, word, name));
}

void FunctionEmitter::DivisionChecks(const Inst& inst) {
  const ValueId divisor = Operand(inst, 1);
  const auto constant = ConstantOf(function_, facts_, divisor);
  if (!constant)
    TrapIf(fmt::format("{} == 0", write_.Operand(divisor)), ir::Trap::DivisionByZero, inst);
  if (inst.op != Op::DivChecked || !ir::IsSigned(inst.type.scalar)) return;
  if (constant && (*constant)[0] != ~uint64_t{0}) return;
  if (Operand(inst, 0) == divisor) return;
  const uint64_t least = ~uint64_t{0} << (ir::BitsOf(inst.type) - 1);
  const std::string is_least = fmt::format("{} == {}", write_.Operand(Operand(inst, 0)),
                                           Literal(inst.type, least, support_).text);
  TrapIf(constant ? is_least : fmt::format("{} && {} == -1", is_least, write_.Operand(divisor)),
         ir::Trap::Overflow, inst);
}

void FunctionEmitter::InverseCheck(const Inst& inst) {
  const ValueId value = Operand(inst, inst.op == Op::Invert ? 0 : 1);
  const std::string name = write_.Plain(value);
  const std::string is_zero = inst.type.scalar == Scalar::XField
                                  ? fmt::format("{}({}.c, 3)", support_.Use("wide_is_zero"), name)
                                  : fmt::format("{} == 0", name);
  TrapIf(is_zero, ir::Trap::InvertOfZero, inst);
}

void FunctionEmitter::Atomic(const Inst& inst) {
  const ValueId buffer = Operand(inst, 0);
  const ValueId result = Function::result_of(inst);
  BoundsCheck(inst, Operand(inst, 1), write_.LengthOf(buffer));
  const std::string place =
      fmt::format("{}[{}]", write_.Name(buffer), write_.Plain(Operand(inst, 1)));
  const std::string old = NewName(result);
  write_.SetName(result, old);
  if (inst.op == Op::AtomicCas) {
    Line(fmt::format("const {} {} = {};", CTypeName(inst.type), old, place));
    Line(fmt::format("if ({} == {}) {} = {};", old, write_.Operand(Operand(inst, 2)), place,
                     write_.Plain(Operand(inst, 3))));
    return;
  }
  const auto kind = static_cast<ir::AtomicKind>(function_.word(inst, 0));
  const bool reads = kind != ir::AtomicKind::Exchange || IsLive(result);
  if (reads) Line(fmt::format("const {} {} = {};", CTypeName(inst.type), old, place));
  if (ir::IsFloat(inst.type.scalar)) support_.UseFloats();
  Line(fmt::format("{} = {};", place,
                   write_.Combine(kind, inst.type, old, write_.Operand(Operand(inst, 2))).text));
}

void FunctionEmitter::Alloc(const Inst& inst) {
  const ValueId result = Function::result_of(inst);
  const std::string element = ElementTypeName(inst.type);
  const std::string name = NewName(result);
  write_.SetName(result, name);
  const std::string length = write_.Plain(Operand(inst, 0));
  write_.SetLength(result, length);
  support_.UseType(inst.type);
  Line(fmt::format("{0}* const {1} = ({0}*){2}(run, {3}, sizeof({0}));", element, name,
                   support_.Use("alloc"), length));
  TrapIf(fmt::format("{} == NULL", name), ir::Trap::Memory, inst);
}

void FunctionEmitter::Read(const Inst& inst) {
  const ValueId result = Function::result_of(inst);
  const std::string read = support_.Use(inst.op == Op::Input ? "input" : "hint");
  const std::string type = StreamTypeName(inst.type);
  support_.UseType(inst.type);
  if (IsStruct(inst.type)) {
    const std::string name = NewName(result);
    write_.SetName(result, name);
    Line(fmt::format("{} {};", CTypeName(inst.type), name));
    Line(fmt::format("if ({}(run, {}, {}.{}, {}, {})) return true;", read, type, name,
                     WordsMember(inst.type), ir::WordsOf(inst.type), parallel_index_));
    return;
  }
  const std::string word = scope_.Add("word");
  Line(fmt::format("uint64_t {};", word));
  Line(fmt::format("if ({}(run, {}, &{}, 1, {})) return true;", read, type, word, parallel_index_));
  if (IsLive(result)) Define(inst, write_.FromWord(inst.type, word));
}

void FunctionEmitter::Output(const Inst& inst) {
  const ValueId value = Operand(inst, 0);
  const std::string write = support_.Use("output");
  const std::string type = StreamTypeName(inst.type);
  if (IsStruct(inst.type)) {
    Line(fmt::format("if ({}(run, {}, {}.{}, {}, {})) return true;", write, type,
                     write_.Name(value), WordsMember(inst.type), ir::WordsOf(inst.type),
                     parallel_index_));
    return;
  }
  const std::string word = scope_.Add("word");
  Line(fmt::format("const uint64_t {} = {};", word,
                   write_.ToWord(inst.type, write_.Operand(value))));
  Line(
      fmt::format("if ({}(run, {}, &{}, 1, {})) return true;", write, type, word, parallel_index_));
}

}  // namespace frazil::targets::c
