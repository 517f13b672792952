// Scalars and prover ops. Each op is written once for its kind of type; folding is the builder's.
#include "targets/tasm/words/select.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/limits.h"
#include "targets/tasm/assembly/asm_reach.h"
#include "targets/tasm/assembly/emitter.h"
#include "targets/tasm/words/selector.h"
#include "targets/tasm/words/words.h"

namespace frazil::targets::tasm {

using ir::Op;
using ir::Scalar;
using ir::Trap;

namespace {
// Of one function.
constexpr size_t MostNodes = 400'000;

// Only its operands are the assembly's own; what lies below them is somebody else's.
Result<void> CheckAsm(const std::string& text, const ir::Inst& inst, mt::Profile profile) {
  tir::Op op;
  op.kind = tir::Kind::Asm;
  op.text = text;
  op.effect = static_cast<int32_t>(inst.results.count) - static_cast<int32_t>(inst.operands.count);
  op.location = inst.location;
  mt::Program program;
  TRY_VOID(EmitSimple(op, profile, program.code));
  const uint32_t reach = ReachOf(program);
  if (reach <= inst.operands.count) return {};
  return Fail(Diag::BadInlineAsm,
              fmt::format("this assembly goes {} words deep into the stack, but only {} are its "
                          "own: what lies below must "
                          "not be touched",
                          reach, inst.operands.count),
              inst.location);
}

bool IsDigestHint(const ir::Inst& inst) {
  return inst.op == Op::Hint && inst.type.scalar == Scalar::Digest;
}
}  // namespace

Selector::Selector(ProgramState& state, WordFunction& function)
    : state_(state), b_(function), ints_(b_, [this](Trap kind) { return Site(kind); }) {}

int32_t Selector::Site(Trap kind) { return Site(kind, op_); }

int32_t Selector::Site(Trap kind, Op op) {
  if (silent_) return -1;
  const auto key = std::tuple(static_cast<int>(kind), static_cast<int>(op), parallel_);
  auto [place, fresh] =
      state_.sites.try_emplace(key, static_cast<int32_t>(state_.words.sites.size()));
  if (fresh) state_.words.sites.push_back({{kind, op}, parallel_});
  return place->second;
}

std::vector<Word> Selector::ConstOp(ir::Type type, std::span<const uint64_t> words) {
  std::vector<Word> out;
  if (type.scalar == Scalar::Field || type.scalar == Scalar::XField ||
      type.scalar == Scalar::Digest) {
    for (uint64_t word : words) out.push_back(b_.Const(word));
    return out;
  }
  return ints_.Constant(Integers::ShapeOf(type), words);
}

// False: nothing is known about it.
bool Selector::AllocAsPlanned(const ir::Inst& inst, ir::RegionId region, size_t at) {
  const std::vector<Word>& length = Operand(inst, 0);
  if (!b_.IsConst(length[0]) || !b_.IsConst(length[1], 0)) return false;
  const BufferPlan plan =
      state_.plans.Of(f(), region, at, b_.ValueOf(length[0]), [&](ir::ValueId other) {
        const auto place = scope_->values.find(other.index);
        return place != scope_->values.end() && place->second.size() == 2 &&
               place->second[1] == length[0];
      });
  for (ir::InstId id : plan.skipped) scope_->skipped.insert(id.index);
  op_ = inst.trap_op();
  b_.SetLocation(inst.location);
  if (plan.same) {
    const std::vector<Word> place = Get(*plan.same);
    if (plan.zero) ZeroFill(place[0], b_.MulI(length[0], WordsOnMachine(inst.type)));
    SetResult(inst, place);
  } else {
    Alloc(inst, plan.zero);
  }
  return true;
}

Result<std::vector<Word>> Selector::Body(ir::RegionId region) {
  const std::vector<ir::InstId>& insts = f().region(region).insts;
  for (size_t i = 0; i + 1 < insts.size(); ++i) {
    const ir::Inst& inst = f().inst(insts[i]);
    if (scope_->skipped.contains(insts[i].index)) continue;
    if (inst.op == Op::Alloc && AllocAsPlanned(inst, region, i)) continue;
    TRY_VOID(Inst(inst));
  }
  const ir::Inst& last = f().inst(insts.back());
  std::vector<Word> taken;
  for (ir::ValueId v : f().operands_of(last)) {
    const std::vector<Word>& words = Get(v);
    taken.insert(taken.end(), words.rbegin(), words.rend());
  }
  return taken;
}

Result<void> Selector::Inst(const ir::Inst& inst) {
  op_ = inst.trap_op();
  b_.SetLocation(inst.location);
  // Whatever is written out or gone through while compiling is counted here: no program takes forever.
  if (++state_.work > state_.most_work || b_.function().nodes.size() > MostNodes)
    return Fail(Diag::LimitReached,
                "the program is too large for Triton VM once its calls are written out",
                inst.location);
  if (TRY(ProverOp(inst))) return {};
  switch (inst.op) {
    case Op::If: return If(inst);
    case Op::Switch: return IfChain(inst, 0);
    case Op::For:
    case Op::Parallel: return For(inst);
    case Op::While: return While(inst);
    case Op::Call: return Call(inst);
    case Op::RandomBits: return CallPrelude(inst);
    case Op::Alloc: return Alloc(inst, true), Result<void>{};
    case Op::Load: return Load(inst), Result<void>{};
    case Op::Store: return Store(inst), Result<void>{};
    case Op::Length: return SetResult(inst, {Operand(inst, 0)[1], b_.Const(0)}), Result<void>{};
    case Op::Lookup: return Lookup(inst), Result<void>{};
    case Op::AtomicRmw:
    case Op::AtomicCas: return Atomic(inst), Result<void>{};
    case Op::Input:
      SetResult(inst, ReadValue(WordOp::ReadIo, inst.type, Site(Trap::OutOfBounds)));
      return {};
    case Op::Hint:
      SetResult(inst, ReadValue(WordOp::Divine, inst.type, Site(Trap::OutOfBounds)));
      return {};
    case Op::Output: b_.Write(Operand(inst, 0)); return {};
    case Op::Assert: {
      const ir::InstId def = f().values[f().operand(inst, 0).index].def;
      if (silent_) return {};
      if (def.valid() && f().inst(def).op == Op::Eq &&
          f().inst(def).type.scalar == Scalar::Digest) {
        std::vector<Word> inputs = Ordered(Operand(f().inst(def), 1));
        const std::vector<Word> top = Ordered(Operand(f().inst(def), 0));
        inputs.insert(inputs.end(), top.begin(), top.end());
        b_.Emit(WordOp::AssertVector, inputs, std::span<const uint64_t>{}, Site(Trap::Assert));
        b_.last_node().returned = 5;
        return {};
      }
      b_.Assert(Operand(inst, 0)[0], Site(Trap::Assert));
      return {};
    }
    case Op::Unreachable:
      b_.Emit(WordOp::Assert, {b_.Const(0)}, {}, Site(Trap::Unreachable));
      return {};
    case Op::Barrier: return {};
    default: return ScalarOp(inst);
  }
}

// Their traps are those of what they mean in plain IR.
Result<bool> Selector::ProverOp(const ir::Inst& inst) {
  const std::string_view name = ir::Info(inst.op).mnemonic;
  auto operands = [&] {
    std::vector<Word> words;
    for (uint32_t i = 0; i < inst.operands.count; ++i) {
      const std::vector<Word>& more = Operand(inst, i);
      words.insert(words.end(), more.begin(), more.end());
    }
    return words;
  };
  auto spread = [&](const std::vector<Word>& words) {  // one word for each result
    for (uint32_t i = 0; i < inst.results.count; ++i)
      Set(ir::Function::result_of(inst, i), {words[i]});
  };
  if (name == "hash") {
    SetResult(inst, Ordered(b_.Hash(Ordered(operands()))));
    return true;
  }
  if (name == "field.pow") {
    SetResult(inst, {b_.Pow(Operand(inst, 0)[0], Operand(inst, 1)[0])});
    return true;
  }
  if (name == "sponge.init") {
    b_.Emit(WordOp::SpongeInit, {}, {});
    return true;
  }
  if (name == "sponge.absorb") {
    b_.Emit(WordOp::SpongeAbsorb, Ordered(operands()), std::span<const uint64_t>{},
            Site(Trap::Assert, Op::Assert));
    return true;
  }
  if (name == "sponge.squeeze") {
    const std::vector<uint64_t> max(10, MaxField);
    spread(Ordered(b_.Emit(WordOp::SpongeSqueeze, std::span<const Word>{}, max,
                           Site(Trap::Assert, Op::Assert))));
    return true;
  }
  if (name == "merkle.step") {
    std::vector<Word> inputs = Ordered(operands());  // digest 4..0, index
    std::rotate(inputs.begin(), inputs.end() - 1, inputs.end());
    std::vector<uint64_t> max(6, MaxField);
    max[0] = b_.Max(inputs[0]) / 2;
    const std::vector<Word> out =
        b_.Emit(WordOp::MerkleStep, inputs, max, Site(Trap::OutOfBounds, Op::Hint));
    Set(ir::Function::result_of(inst, 0), {out[0]});
    Set(ir::Function::result_of(inst, 1), Ordered({out.begin() + 1, out.end()}));
    return true;
  }
  if (name == "tasm") {
    const ir::Data& data = scope_->program->data[static_cast<size_t>(f().word(inst, 0))];
    std::string text;
    for (uint64_t c : data.words) text.push_back(static_cast<char>(c));
    TRY_VOID(CheckAsm(text, inst, state_.profile));
    const std::vector<uint64_t> max(inst.results.count, MaxField);
    spread(b_.Emit(WordOp::Asm, operands(), max, Site(Trap::Assert)));
    b_.last_node().text = std::move(text);
    return true;
  }
  return false;
}

Result<void> Selector::ScalarOp(const ir::Inst& inst) {
  switch (inst.op) {
    case Op::Const: SetResult(inst, ConstOp(inst.type, f().words_of(inst))); return {};
    case Op::Cast:
    case Op::CastChecked:
    case Op::Bitcast: SetResult(inst, TRY(CastOp(inst))); return {};
    case Op::Select:
      SetResult(inst, ints_.Select(Operand(inst, 0)[0], Operand(inst, 1), Operand(inst, 2)));
      return {};
    case Op::Eq: SetResult(inst, {ints_.Eq(Operand(inst, 0), Operand(inst, 1))}); return {};
    case Op::Ne: SetResult(inst, {b_.Not(ints_.Eq(Operand(inst, 0), Operand(inst, 1)))}); return {};
    case Op::MakeXField:
    case Op::MakeDigest: {
      std::vector<Word> parts;
      for (uint32_t i = 0; i < inst.operands.count; ++i) parts.push_back(Operand(inst, i)[0]);
      SetResult(inst, parts);
      return {};
    }
    case Op::PartXField:
    case Op::PartDigest:
      SetResult(inst, {Operand(inst, 0)[static_cast<size_t>(f().word(inst, 0))]});
      return {};
    default: break;
  }
  switch (inst.type.scalar) {
    case Scalar::Field: SetResult(inst, FieldOp(inst)); return {};
    case Scalar::XField: SetResult(inst, XFieldOp(inst)); return {};
    default: break;
  }
  if (WordsOnMachine(inst.type) == 0 || inst.type.scalar == Scalar::Digest)
    return Fail(Diag::Unsupported,
                fmt::format("{} on {} has no form on Triton VM", ir::Info(inst.op).mnemonic,
                            ir::ScalarName(inst.type.scalar)),
                inst.location);
  SetResult(inst, IntegerOp(inst));
  return {};
}

std::vector<Word> Selector::FieldOp(const ir::Inst& inst) {
  const Word a = Operand(inst, 0)[0];
  const Word b = inst.operands.count > 1 ? Operand(inst, 1)[0] : a;
  switch (inst.op) {
    case Op::Add: return {b_.Add(a, b)};
    case Op::Sub: return {b_.Sub(a, b)};
    case Op::Mul: return {b_.Mul(a, b)};
    case Op::Neg: return {b_.Neg(a)};
    case Op::Invert: return {b_.Invert(a, Site(Trap::InvertOfZero))};
    case Op::FieldDiv: return {b_.Mul(a, b_.Invert(b, Site(Trap::InvertOfZero)))};
    default: break;
  }
  CHECK(false && "an op on field");
}

std::vector<Word> Selector::XFieldOp(const ir::Inst& inst) {
  using Element = std::vector<Word>;
  const std::vector<uint64_t> max(3, MaxField);
  auto lifted = [&](const Element& x) { return b_.IsConst(x[1], 0) && b_.IsConst(x[2], 0); };
  auto scale = [&](const Element& x, Word s) -> Element {
    if (b_.IsConst(s, 1)) return x;
    if (lifted(x)) return {b_.Mul(x[0], s), x[1], x[2]};
    return Ordered(b_.Emit(WordOp::XbMul, std::vector<Word>{x[2], x[1], x[0], s}, max));
  };
  auto two = [&](WordOp op, const Element& x, const Element& y) {
    return Ordered(b_.Emit(op, std::vector<Word>{x[2], x[1], x[0], y[2], y[1], y[0]}, max));
  };
  auto add = [&](const Element& x, const Element& y) -> Element {
    if (lifted(y)) return {b_.Add(x[0], y[0]), x[1], x[2]};
    if (lifted(x)) return {b_.Add(x[0], y[0]), y[1], y[2]};
    return two(WordOp::XxAdd, x, y);
  };
  auto mul = [&](const Element& x, const Element& y) {
    return lifted(y) ? scale(x, y[0]) : lifted(x) ? scale(y, x[0]) : two(WordOp::XxMul, x, y);
  };
  auto invert = [&](const Element& x) {
    return Ordered(b_.Emit(WordOp::XInvert, Ordered(x), max, Site(Trap::InvertOfZero)));
  };
  const Element a = Operand(inst, 0);
  const Element b = inst.operands.count > 1 ? Operand(inst, 1) : a;
  switch (inst.op) {
    case Op::Add: return add(a, b);
    case Op::Sub: return add(a, scale(b, b_.Const(MaxField)));
    case Op::Mul: return mul(a, b);
    case Op::Neg: return scale(a, b_.Const(MaxField));
    case Op::Invert: return invert(a);
    case Op::FieldDiv: return mul(a, invert(b));
    default: break;
  }
  CHECK(false && "an op on xfield");
}

// 31 - clz x, which overflows for 0, is the machine's own logarithm, which crashes there; the word x, or NoWord.
Word Selector::LogarithmOf(const ir::Inst& inst) const {
  const Integers::Shape s = Integers::ShapeOf(inst.type);
  if (s.limbs != 1 || s.bits != 32 || s.is_signed || !b_.IsConst(Operand(inst, 0)[0], 31))
    return NoWord;
  const ir::InstId def = f().values[f().operand(inst, 1).index].def;
  if (!def.valid() || f().inst(def).op != Op::Clz) return NoWord;
  return Operand(f().inst(def), 0)[0];
}

std::vector<Word> Selector::IntegerOp(const ir::Inst& inst) {
  const Integers::Shape s = Integers::ShapeOf(inst.type);
  const Limbs a = Operand(inst, 0);
  const Limbs b = inst.operands.count > 1 ? Operand(inst, 1) : a;
  using R = Integers::Rounding;
  switch (inst.op) {
    case Op::Add: return ints_.Add(s, a, b, false);
    case Op::Sub: return ints_.Sub(s, a, b, false);
    case Op::Mul: return ints_.Mul(s, a, b, false);
    case Op::Neg: return ints_.Neg(s, a, false);
    case Op::MulHi: return ints_.MulHi(s, a, b);
    case Op::DivTrunc: return ints_.Div(s, a, b, R::Trunc);
    case Op::DivFloor: return ints_.Div(s, a, b, R::Floor);
    case Op::DivChecked: return ints_.Div(s, a, b, R::Checked);
    case Op::RemTrunc:
    case Op::RemChecked: return ints_.Rem(s, a, b, R::Trunc);
    case Op::RemFloor: return ints_.Rem(s, a, b, R::Floor);
    case Op::Abs: return ints_.Abs(s, a, false);
    case Op::AddChecked: return ints_.Add(s, a, b, true);
    case Op::SubChecked:
      if (const Word x = LogarithmOf(inst); x != NoWord)
        return {b_.Log2Floor(x, Site(Trap::Overflow))};
      return ints_.Sub(s, a, b, true);
    case Op::MulChecked: return ints_.Mul(s, a, b, true);
    case Op::NegChecked: return ints_.Neg(s, a, true);
    case Op::AbsChecked: return ints_.Abs(s, a, true);
    case Op::Min: {
      const Limbs least = ints_.Select(ints_.Lt(s, a, b), a, b);
      if (s.limbs == 1 && !s.is_signed) b_.Bounded(least[0], std::min(b_.Max(a[0]), b_.Max(b[0])));
      return least;
    }
    case Op::Max: return ints_.Select(ints_.Lt(s, a, b), b, a);
    case Op::Lt: return {ints_.Lt(s, a, b)};
    case Op::Gt: return {ints_.Lt(s, b, a)};
    case Op::Le: return {b_.Not(ints_.Lt(s, b, a))};
    case Op::Ge: return {b_.Not(ints_.Lt(s, a, b))};
    case Op::And: return ints_.And(a, b);
    case Op::Or: return ints_.Or(a, b);
    case Op::Xor: return ints_.Xor(a, b);
    case Op::Not: return ints_.Not(s, a);
    case Op::Shl: return ints_.Shl(s, a, b);
    case Op::Shr: return ints_.Shr(s, a, b);
    case Op::Rotl: return ints_.Rotate(s, a, b, true);
    case Op::Rotr: return ints_.Rotate(s, a, b, false);
    case Op::Clz: return ints_.Clz(s, a);
    case Op::Ctz: return ints_.Ctz(s, a);
    case Op::Popcnt: return ints_.Popcnt(s, a);
    default: break;
  }
  CHECK(false && "an op on integers");
}

Result<std::vector<Word>> Selector::CastOp(const ir::Inst& inst) {
  const ir::Type from = OperandType(inst, 0), to = inst.type;
  const std::vector<Word>& a = Operand(inst, 0);
  if (inst.op == Op::Bitcast) return a;
  const Word zero = b_.Const(0);
  if (to.scalar == Scalar::XField) return std::vector<Word>{a[0], zero, zero};
  if (to.scalar == Scalar::Field)
    return std::vector<Word>{
        from.scalar == Scalar::Field ? a[0] : ints_.ToField(Integers::ShapeOf(from), a)};
  if (from.scalar == Scalar::Field) {
    const WordBuilder::Pair halves = b_.Split(a[0]);
    const std::vector<Word> whole = {halves.low, halves.high};
    return ints_.Cast({32, 2, false}, whole, Integers::ShapeOf(to), inst.op == Op::CastChecked);
  }
  return ints_.Cast(Integers::ShapeOf(from), a, Integers::ShapeOf(to), inst.op == Op::CastChecked);
}

std::string WhyNot(const ir::Program& program) {
  std::vector<int> seen(program.functions.size(), 0);
  std::function<std::string(uint32_t)> visit = [&](uint32_t id) -> std::string {
    if (seen[id] == 2) return {};
    if (seen[id] == 1)
      return "Triton VM has no stack frames: a function that calls itself has no form there";
    seen[id] = 1;
    const ir::Function& f = program.functions[id];
    for (const ir::ValueInfo& value : f.values) {
      if (ir::IsFloat(value.type.scalar)) return "floats have no form on Triton VM";
      if (value.type.scalar == Scalar::Int && value.type.limbs > 8)
        return "integers of more than 512 bits do not fit on Triton VM's stack";
    }
    for (const ir::Inst& inst : f.insts) {
      if (ir::IsFloat(inst.type.scalar) && inst.op != Op::Const)
        return "floats have no form on Triton VM";
      if (IsDigestHint(inst))
        return "a hint of type digest is read only by merkle.step on Triton VM";
      if (inst.op == Op::Call)
        if (std::string why = visit(static_cast<uint32_t>(f.word(inst, 0))); !why.empty())
          return why;
    }
    seen[id] = 2;
    return {};
  };
  return visit(program.entry.index);
}

}  // namespace frazil::targets::tasm
