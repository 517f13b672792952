// Lifting: the code of a module read as a program. Each register, predicate and buffer stands for the value that it holds
// at this place, which the verifier has made sure is one; a move gives a value another name, a structure gets its carried
// registers as parameters and results. What is written becomes IR, in the order in which it is written.
#include <array>

#include <fmt/format.h>

#include "base/check.h"
#include "ir/builder.h"
#include "ir/check/check.h"
#include "machines/simt/operands.h"
#include "targets/isa/isa.h"
#include "targets/isa/lift.h"
#include "targets/isa/simt_names.h"

namespace frazil::targets::isa {
namespace {

using ir::Op;
using ir::ValueId;
using ir::Values;
using namespace simt_names;

class Lifting {
 public:
  explicit Lifting(const Module& module)
      : module_(module), builder_(program_, std::string(module.name), {}, {}) {}

  Result<ir::Program> Run() {
    if (module_.mode == Mode::Launch)
      return Fail(Diag::BadIsaProgram, "a module in launch mode has no program form");
    DeclareParams();
    for (at_ = 0; at_ < module_.code.size(); ++at_) {
      if (!module_.lines.empty()) builder_.SetLocation(module_.location(at_));
      TRY_VOID(Visit(module_.code[at_]));
    }
    builder_.Finish();
    return std::move(program_);
  }

 private:
  struct Scope {
    ir::InstId inst;
    Opcode opener;
    uint32_t parts = 0;  // regions that were begun
    uint32_t at;
    std::array<ValueId, machines::simt::PlaceCount> before;
    std::vector<Place> carried;
    Values params;  // of a loop, for the carried
  };

  static ir::Type Scalar(Type type) { return ir::Type::Of(type); }

  std::unexpected<Error> NoForm(std::string_view what) const {
    const auto& info = machines::simt::Info(module_.code[at_].op);
    return Fail(
        Diag::BadIsaProgram,
        fmt::format("instruction {} ({}) has no program form: {}", at_, info.mnemonic, what),
        module_.location(at_));
  }

  void DeclareParams() {
    std::vector<ir::Type> results;
    for (Type type : module_.results) results.push_back(Scalar(type));
    builder_.SetResults(std::move(results));
    results_.resize(module_.results.size());
    for (uint32_t i = 0; i < module_.params.size(); ++i) {
      const machines::simt::ParamRow& row = module_.params[i];
      ir::Type type = Scalar(row.type);
      ValueId param = builder_.AddParam(row.is_buffer ? ir::Type::Buffer(type, row.access) : type);
      builder_.Name(param, std::string(module_.param_name(i)));
      if (row.is_buffer) value_[BufferPlace(static_cast<uint8_t>(row.buffer))] = param;
    }
    for (uint32_t i = 0; i < module_.tables.size(); ++i) {
      std::span<const uint64_t> words = module_.table(i);
      program_.data.push_back({std::string(module_.table_name(i)),
                               Scalar(module_.tables[i].type),
                               {words.begin(), words.end()}});
    }
  }

  ValueId Get(Place place) const { return value_[place]; }
  ValueId Register(uint8_t number) const { return value_[number]; }
  ValueId Predicate(uint8_t number) const { return value_[PredicatePlace(number)]; }
  ValueId Operand(const Instruction& i, uint8_t number) const {
    return value_[PlaceOf(i.type, number)];
  }
  void Set(Place place, ValueId value) { value_[place] = value; }
  void SetDst(const Instruction& i, ValueId value) { Set(PlaceOf(i.type, i.dst), value); }

  ValueId Const(Type type, uint64_t word) {
    return builder_.Const(Scalar(type), std::span(&word, 1));
  }

  // An integer register as an index.
  ValueId Index(uint8_t number) {
    ValueId value = Register(number);
    return builder_.TypeOf(value) == ir::types::Index
               ? value
               : builder_.Cast(Op::Cast, value, ir::types::Index);
  }

  // --- structures -----------------------------------------------------------------------------------------------

  void ReadCarries(Scope& scope) {
    while (module_.code[at_ + 1].op == Opcode::Carry) {
      const Instruction& carry = module_.code[++at_];
      scope.carried.push_back(PlaceOf(carry.type, carry.dst));
    }
  }

  void Open(const Instruction& i) {
    scopes_.push_back(
        {.inst = {}, .opener = i.op, .at = at_, .before = value_, .carried = {}, .params = {}});
    Scope& scope = scopes_.back();
    uint32_t opener = at_;
    std::vector<ir::Type> types;
    ReadCarries(scope);
    for (uint32_t c = opener + 1; c <= at_; ++c) types.push_back(Scalar(module_.code[c].type));
    bool loop = i.op == Opcode::For || i.op == Opcode::While || i.op == Opcode::Par;
    Values operands;
    std::vector<uint64_t> words;
    uint32_t regions = 1;
    Op op = *machines::simt::Info(i.op).op;
    if (i.op == Opcode::If) operands = {Predicate(i.a)};
    if (i.op == Opcode::Switch) {
      operands = {Register(i.a)};
      words = Cases(opener);
      regions = static_cast<uint32_t>(words.size()) + 1;
    }
    if (i.op == Opcode::If || i.op == Opcode::While) regions = 2;
    if (i.op == Opcode::For || i.op == Opcode::Par) operands = {Register(i.a), Register(i.b)};
    if (i.op == Opcode::For) words = {i.imm};
    if (loop)
      for (Place place : scope.carried) operands.push_back(Get(place));
    scope.inst = builder_.Begin(op, ir::Type{}, operands, types, words, regions);
    if (i.op == Opcode::Switch) return;  // its regions begin with CASE and DEFAULT
    std::vector<ir::Type> params;
    if (i.op == Opcode::For || i.op == Opcode::Par) params.push_back(Scalar(i.type));
    if (loop) params.insert(params.end(), types.begin(), types.end());
    Values values = builder_.BeginRegion(scope.inst, scope.parts++, params);
    size_t first = 0;
    if (i.op == Opcode::For || i.op == Opcode::Par) Set(RegisterPlace(i.dst), values[first++]);
    for (size_t c = 0; loop && c < scope.carried.size(); ++c)
      Set(scope.carried[c], values[first + c]);
    scope.params.assign(values.begin() + static_cast<ptrdiff_t>(first), values.end());
  }

  // The cases of a switch, which come one after the other at its own depth.
  std::vector<uint64_t> Cases(uint32_t opener) {
    if (match_.empty()) match_ = machines::simt::MatchStructure(module_.code);
    std::vector<uint64_t> cases;
    for (uint32_t at = match_[opener]; module_.code[at].op == Opcode::Case; at = match_[at])
      cases.push_back(module_.code[at].imm);
    return cases;
  }

  void Yield(const Scope& scope) {
    Values values;
    for (Place place : scope.carried) values.push_back(Get(place));
    builder_.Terminate(Op::Yield, values);
    builder_.EndRegion();
  }

  Result<void> NextPart(const Instruction& i) {
    Scope& scope = scopes_.back();
    if (i.op == Opcode::BreakUnless) {
      for (size_t c = 0; c < scope.carried.size(); ++c)
        if (Get(scope.carried[c]) != scope.params[c])
          return NoForm("its test changes what the loop carries");
      ValueId condition = Predicate(i.a);
      builder_.Terminate(Op::Condition, std::span(&condition, 1));
      builder_.EndRegion();
    } else {
      if (scope.parts > 0) Yield(scope);
      value_ = scope.before;
    }
    builder_.BeginRegion(scope.inst, scope.parts++, {});
    return {};
  }

  void Close() {
    Scope& scope = scopes_.back();
    Yield(scope);
    if (scope.opener == Opcode::If && scope.parts == 1) {  // no ELSE: the second region is empty
      builder_.BeginRegion(scope.inst, 1, {});
      builder_.Terminate(Op::Yield, {});
      builder_.EndRegion();
    }
    value_ = scope.before;
    const ir::Inst& inst = builder_.function().inst(scope.inst);
    for (uint32_t c = 0; c < scope.carried.size(); ++c)
      Set(scope.carried[c], ir::Function::result_of(inst, c));
    scopes_.pop_back();
  }

  // --- instructions -------------------------------------------------------------------------------------------------

  Result<ValueId> Element(const Instruction& i) {
    uint64_t size = ir::BytesOf(Scalar(i.type));
    if (i.address() == Address::Elements) return Index(i.b);
    if (i.address() != Address::Offset) return NoForm("it addresses bytes");
    Type element = module_.buffers[i.a].type;
    if (i.imm % size != 0 || element != i.type)
      return NoForm("its address is not that of an element");
    return Const(Type::Index, i.imm / size);
  }

  Result<void> Memory(const Instruction& i) {
    ir::Type type = Scalar(i.type);
    ValueId element = TRY(Element(i));
    ValueId buffer = Get(BufferPlace(i.a));
    switch (i.op) {
      case Opcode::Ldg:
        SetDst(i, builder_.Emit1(Op::Load, type, {buffer, element}, type));
        builder_.StandFor(machines::simt::SourceOp(i));
        break;
      case Opcode::Stg: builder_.Store(buffer, element, Operand(i, i.c)); break;
      case Opcode::Atom:
        SetDst(i,
               builder_.Emit1(Op::AtomicRmw, type, {buffer, element, Operand(i, i.c)}, type,
                              {static_cast<uint64_t>(i.atomic_kind()), i.unordered() ? 1u : 0u}));
        break;
      case Opcode::AtomCas:
        SetDst(i, builder_.Emit1(
                      Op::AtomicCas, type,
                      {buffer, element, Operand(i, i.c), Register(static_cast<uint8_t>(i.imm))},
                      type));
        break;
      default: CHECK(!"an access of a buffer");
    }
    return {};
  }

  ValueId OperandB(const Instruction& i) {
    if (i.immediate_b()) return Const(i.type, i.imm);
    ValueId b = Operand(i, i.b);
    return builder_.TypeOf(b) == Scalar(i.type)
               ? b
               : builder_.Cast(Op::Cast, b, Scalar(i.type));  // shifts by u32
  }

  ValueId Compare(const Instruction& i) {
    ValueId a = Operand(i, i.a), b = OperandB(i);
    Condition condition = i.condition();
    if (std::optional<Op> op = machines::simt::IrOpOf(condition)) return builder_.Binary(*op, a, b);
    auto base = [&](Condition first, Op op) {
      return static_cast<Op>(static_cast<int>(op) + static_cast<int>(condition) -
                             static_cast<int>(first));
    };
    if (condition <= Condition::Geu) {
      ir::Type as = Scalar(Unsigned(i.type));
      return builder_.Binary(base(Condition::Ltu, Op::Lt), builder_.Cast(Op::Cast, a, as),
                             builder_.Cast(Op::Cast, b, as));
    }
    if (condition <= Condition::Nge)
      return builder_.Unary(Op::Not, builder_.Binary(base(Condition::Nlt, Op::Lt), a, b));
    bool unordered = condition == Condition::Uno;
    Op op = unordered ? Op::Ne : Op::Eq;
    return builder_.Binary(unordered ? Op::Or : Op::And, builder_.Binary(op, a, a),
                           builder_.Binary(op, b, b));
  }

  static Type Unsigned(Type type) {
    if (type == Type::Index) return Type::U64;
    return ir::IsSigned(type) ? static_cast<Type>(static_cast<int>(type) + 4) : type;
  }
  static_assert(static_cast<int>(Type::I8) + 4 == static_cast<int>(Type::U8));

  Result<void> Visit(const Instruction& i) {
    if (i.guarded()) return NoForm("it has a guard");
    ir::Type type = Scalar(i.type);
    switch (i.op) {
      case Opcode::If:
      case Opcode::For:
      case Opcode::While:
      case Opcode::Switch:
      case Opcode::Par: Open(i); return {};
      case Opcode::Else:
      case Opcode::BreakUnless:
      case Opcode::Case:
      case Opcode::Default: return NextPart(i);
      case Opcode::End: Close(); return {};
      case Opcode::Ldg:
      case Opcode::Stg:
      case Opcode::Atom:
      case Opcode::AtomCas: return Memory(i);
      case Opcode::Mov: SetDst(i, Operand(i, i.a)); return {};
      case Opcode::PredToReg: Set(RegisterPlace(i.dst), Predicate(i.a)); return {};
      case Opcode::RegToPred: Set(PredicatePlace(i.dst), Register(i.a)); return {};
      case Opcode::MovImm: SetDst(i, Const(i.type, i.imm)); return {};
      case Opcode::Ldp: SetDst(i, builder_.Param(static_cast<uint32_t>(i.imm))); return {};
      case Opcode::Len:
        Set(RegisterPlace(i.dst), builder_.Length(Get(BufferPlace(i.a))));
        return {};
      case Opcode::Alloc:
        Set(BufferPlace(i.dst), builder_.Alloc(type, Register(i.a)));
        builder_.StandFor(machines::simt::SourceOp(i));
        return {};
      case Opcode::Lut:
        SetDst(i, builder_.Emit1(Op::Lookup, type, {Index(i.a)}, type, {i.imm}));
        return {};
      case Opcode::Result: results_[i.imm] = Operand(i, i.a); return {};
      case Opcode::Exit: builder_.Return(results_); return {};
      case Opcode::Mad: {
        ValueId product = builder_.Binary(Op::Mul, Operand(i, i.a), Operand(i, i.b));
        SetDst(i, builder_.Binary(Op::Add, product, Operand(i, i.c)));
        return {};
      }
      case Opcode::Set: Set(PredicatePlace(i.dst), Compare(i)); return {};
      case Opcode::Sel:
        SetDst(i, builder_.Select(Predicate(i.a), Operand(i, i.b), Operand(i, i.c)));
        return {};
      case Opcode::Cvt:
      case Opcode::CvtChecked:
      case Opcode::Bitcast:
        SetDst(i,
               builder_.Cast(*machines::simt::Info(i.op).op, Get(PlaceOf(i.source(), i.a)), type));
        return {};
      case Opcode::Assert: {
        ValueId condition = Predicate(i.a);
        builder_.Emit(Op::Assert, ir::Type{}, std::span(&condition, 1), {});
        builder_.StandFor(machines::simt::SourceOp(i));
        return {};
      }
      case Opcode::Trap: builder_.Emit(Op::Unreachable, ir::Type{}, {}, {}); return {};
      case Opcode::BarSync: builder_.Emit(Op::Barrier, ir::Type{}, {}, {}); return {};
      case Opcode::MemFence: return {};
      default: return Plain(i);
    }
  }

  Result<void> Plain(const Instruction& i) {
    const machines::simt::InstructionInfo& info = machines::simt::Info(i.op);
    if (!info.op) return NoForm("it is none of the IR's");
    ir::Type type = Scalar(i.type);
    switch (info.shape) {
      case Shape::DA: SetDst(i, builder_.Emit1(*info.op, type, {Operand(i, i.a)}, type)); return {};
      case Shape::DAB: {
        ValueId a = Operand(i, i.a), b = OperandB(i);
        SetDst(i, builder_.Emit1(*info.op, type, {a, b}, type));
        return {};
      }
      case Shape::DABC:
        SetDst(i, builder_.Emit1(*info.op, type,
                                 {Operand(i, i.a), Operand(i, i.b), Operand(i, i.c)}, type));
        return {};
      case Shape::Random:
        SetDst(i,
               builder_.Emit1(*info.op, type, {Register(i.a), Register(i.b), Register(i.c)}, type));
        return {};
      default: return NoForm("it is none of the IR's");
    }
  }

  const Module& module_;
  ir::Program program_;
  ir::FunctionBuilder builder_;
  uint32_t at_ = 0;
  std::array<ValueId, machines::simt::PlaceCount> value_{};
  std::vector<Scope> scopes_;
  Values results_;
  std::vector<uint32_t> match_;  // made for the first switch
};

}  // namespace

Result<ir::Program> LiftUnchecked(const Module& module) { return Lifting(module).Run(); }

Result<ir::Program> Lift(const Module& module) {
  ir::Program program = TRY(LiftUnchecked(module));
  TRY_VOID(ir::Check(program));
  return program;
}

}  // namespace frazil::targets::isa
