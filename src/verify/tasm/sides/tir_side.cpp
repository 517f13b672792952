// A TIR program as a side. Bodies are frames; a loop's frame knows at which point of the loop it stands, and loops can be
// cut where a lowering has its label: before the test, or before the body of `repeat`.
#include "verify/tasm/sides/side.h"

namespace frazil::verify::tasm {

using machines::tasm::Opcode;
using tir_Op = machines::tir::Op;
using machines::tir::Kind;

namespace {

struct Frame {
  enum class Kind : uint8_t { Function, Body, Loop, Test, WhileBody, Repeat } kind;
  const tir_Op* op;                // of a loop
  const std::vector<tir_Op>* ops;  // the code
  size_t at;                       // the next op
};

class TirSide final : public Side {
 public:
  TirSide(const machines::tir::Program& program, Heads* heads) : program_(program), heads_(heads) {
    for (const tir_Op& op : program.ops) {
      if (op.kind == Kind::Entry) Enter(op.text);
    }
  }

  std::unique_ptr<Side> Clone() const override { return std::make_unique<TirSide>(*this); }

  Step Advance(Exec& exec) override {
    if (frames_.empty()) return Halt();
    Frame& frame = frames_.back();
    if (AtHead(frame) && !passed_ && heads_->cut.contains(IdOf(frame.op)))
      return {Step::Kind::Cut, Zero(0), ""};
    Step step = frame.at >= frame.ops->size() || (*frame.ops)[frame.at].kind == Kind::FnEnd
                    ? EndOfBody(exec, frame)
                    : One(exec, frame);
    if (step.kind == Step::Kind::Continue) passed_ = false;
    return step;
  }

  std::vector<uint64_t> Key() const override {
    std::vector<uint64_t> key;
    for (const Frame& frame : frames_) {
      key.push_back(reinterpret_cast<uintptr_t>(
          frame.op == nullptr ? static_cast<const void*>(frame.ops) : frame.op));
      key.push_back((frame.at << 3) | static_cast<uint64_t>(frame.kind));
    }
    return key;
  }

  void NoteBranch() override {
    for (const Frame& frame : frames_) {
      if (frame.op != nullptr) heads_->branched.insert(IdOf(frame.op));
    }
  }

 private:
  static uint64_t IdOf(const tir_Op* op) { return reinterpret_cast<uintptr_t>(op); }
  static bool AtHead(const Frame& frame) {
    switch (frame.kind) {
      case Frame::Kind::Loop: return frame.at == frame.ops->size();
      case Frame::Kind::Test:
      case Frame::Kind::Repeat: return frame.at == 0;
      default: return false;
    }
  }
  Step Halt() {
    exit = Exit::Halt;
    return {Step::Kind::End, Zero(0), ""};
  }
  Step Stuck(std::string reason) { return {Step::Kind::Stuck, Zero(0), std::move(reason)}; }

  bool Enter(const std::string& name) {
    for (size_t i = 0; i < program_.ops.size(); ++i) {
      if (program_.ops[i].kind != Kind::FnStart || program_.ops[i].text != name) continue;
      frames_.push_back({Frame::Kind::Function, nullptr, &program_.ops, i + 1});
      return true;
    }
    return false;
  }

  Step Again(Frame& frame) {
    heads_->entered.insert(IdOf(frame.op));
    frame.at = 0;
    return {};
  }

  Step EndOfBody(Exec& exec, Frame& frame) {
    bool done;
    switch (frame.kind) {
      case Frame::Kind::Function:
      case Frame::Kind::Body: frames_.pop_back(); return {};
      case Frame::Kind::Loop: {
        const Term counter = exec.Top(state, 0);
        if (!exec.Know(Zero(counter), done)) return exec.Take();
        if (done) return frames_.pop_back(), Step{};
        exec.Set(state, 0, exec.terms().Sub(counter, exec.terms().Constant(1)));
        return Again(frame);
      }
      case Frame::Kind::Test:
        if (!exec.Know(Zero(exec.Top(state, 0)), done)) return exec.Take();
        exec.Drop(state, 1);
        if (done) return frames_.pop_back(), Step{};
        frame.kind = Frame::Kind::WhileBody;
        frame.ops = &frame.op->other;
        frame.at = 0;
        return {};
      case Frame::Kind::WhileBody:
        frame.kind = Frame::Kind::Test;
        frame.ops = &frame.op->body;
        return Again(frame);
      case Frame::Kind::Repeat:
        if (!exec.Know(Zero(exec.terms().Sub(exec.Top(state, 5), exec.Top(state, 6))), done))
          return exec.Take();
        if (done) return frames_.pop_back(), Step{};
        return Again(frame);
    }
    return {};
  }

  Step One(Exec& exec, Frame& frame) {
    const tir_Op& op = (*frame.ops)[frame.at];
    bool zero;
    switch (op.kind) {
      case Kind::Call: ++frame.at; return Enter(op.text) ? Step{} : Stuck("a call of no function");
      case Kind::Return:
        while (frames_.back().kind != Frame::Kind::Function) frames_.pop_back();
        frames_.pop_back();
        return {};
      case Kind::Halt: return Halt();
      case Kind::IfElse:
      case Kind::IfOnly:
        if (!exec.Know(Zero(exec.Top(state, 0)), zero)) return exec.Take();
        exec.Drop(state, 1);
        ++frame.at;
        if (!zero) frames_.push_back({Frame::Kind::Body, nullptr, &op.body, 0});
        if (zero && op.kind == Kind::IfElse)
          frames_.push_back({Frame::Kind::Body, nullptr, &op.other, 0});
        return {};
      case Kind::Loop:
        ++frame.at;
        frames_.push_back({Frame::Kind::Loop, &op, &op.body, op.body.size()});
        return {};
      case Kind::While:
        ++frame.at;
        frames_.push_back({Frame::Kind::Test, &op, &op.body, 0});
        return {};
      case Kind::Repeat:
        ++frame.at;
        frames_.push_back({Frame::Kind::Repeat, &op, &op.body, 0});
        return {};
      case Kind::ProofBlock:
        ++frame.at;
        frames_.push_back({Frame::Kind::Body, nullptr, &op.body, 0});
        return {};
      case Kind::Asm: {
        Step step = Assembly(exec, op);
        if (step.kind == Step::Kind::Continue) ++frame.at;
        return step;
      }
      default: {
        if (!Simple(exec, op)) return exec.Take();
        ++frame.at;
        return {};
      }
    }
  }

  // Straight lines only: what branches inside is opaque.
  Step Assembly(Exec& exec, const tir_Op& op) {
    auto program = machines::tasm::Parse(op.text);
    if (!program) return Stuck("assembly that cannot be read");
    const State before = state;
    for (const auto& instruction : program->code) {
      Step step = exec.Execute(state, instruction.op, instruction.argument);
      if (step.kind == Step::Kind::Continue) continue;
      state = before;
      return step;
    }
    return {};
  }

  bool As(Exec& exec, Opcode opcode, uint64_t argument = 0) {
    Step step = exec.Execute(state, opcode, argument);
    if (step.kind == Step::Kind::Continue) return true;
    exec.Put(std::move(step));
    return false;
  }

  bool Binary(Exec& exec, const tir_Op& op);
  bool Simple(Exec& exec, const tir_Op& op);
  bool Event(Exec& exec, const tir_Op& op);
  bool Ram(Exec& exec, const tir_Op& op);

  const machines::tir::Program& program_;
  Heads* heads_;
  std::vector<Frame> frames_;
};

// a b, b on top: the order of TIR's description, not of the machine's instructions.
bool TirSide::Binary(Exec& exec, const tir_Op& op) {
  Terms& t = exec.terms();
  const Term b = exec.Top(state, 0), a = exec.Top(state, 1);
  const bool words =
      op.kind != Kind::Add && op.kind != Kind::Sub && op.kind != Kind::Mul && op.kind != Kind::Eq;
  if (words && op.kind != Kind::Pow && !exec.Require(Below32(a))) return false;
  if (words && !exec.Require(Below32(b))) return false;
  if (op.kind == Kind::DivMod) {
    if (!exec.Require(NonZero(b))) return false;
    exec.Set(state, 1, t.Quotient(a, b));
    exec.Set(state, 0, t.Remainder(a, b));
    return true;
  }
  Term result = a;
  switch (op.kind) {
    case Kind::Add: result = t.Add(a, b); break;
    case Kind::Sub: result = t.Sub(a, b); break;
    case Kind::Mul: result = t.Mul(a, b); break;
    case Kind::Eq: result = t.IsZero(t.Sub(a, b)); break;
    case Kind::Lt: result = t.Less(a, b); break;
    case Kind::And: result = t.And(a, b); break;
    case Kind::Or: result = t.Or(a, b); break;
    case Kind::Xor: result = t.Xor(a, b); break;
    case Kind::Pow: result = t.Power(a, b); break;
    default: {  // shifts
      if (!exec.Require(NonZero(t.Less(b, t.Constant(32))))) return false;
      const Term power = t.Power(t.Constant(2), b);
      result = op.kind == Kind::Shr ? t.Quotient(a, power) : t.Low(t.Mul(a, power));
    }
  }
  exec.Drop(state, 2);
  exec.Push(state, result);
  return true;
}

bool TirSide::Event(Exec& exec, const tir_Op& op) {
  Terms& t = exec.terms();
  const Term tag = t.Constant(op.tag);
  if (op.kind == Kind::Reveal) {
    state.output.push_back(tag);
    for (uint64_t i = 0; i < op.number; ++i) state.output.push_back(exec.Top(state, i));
  } else {
    std::array<Term, 10> words;
    words.fill(t.Constant(0));
    words[0] = tag;
    for (uint64_t i = 0; i < op.number && i < 9; ++i) words[i + 1] = exec.Top(state, i);
    for (Term word : exec.Hash(words)) state.output.push_back(word);
  }
  return exec.Drop(state, op.number);
}

bool TirSide::Ram(Exec& exec, const tir_Op& op) {
  Terms& t = exec.terms();
  const uint64_t n = op.number;
  if (op.kind == Kind::RamWrite) {
    const Term key = exec.Top(state, n);
    for (uint64_t i = 0; i < n; ++i)
      exec.Write(state, t.Add(key, t.Constant(i)), exec.Top(state, i));
    return exec.Drop(state, n + 1);
  }
  const Term key = exec.Top(state, 0);
  std::vector<Term> values(n);
  for (uint64_t i = 0; i < n; ++i) {
    if (!exec.Read(state, t.Add(key, t.Constant(i)), values[i])) return false;
  }
  exec.Drop(state, 1);
  for (uint64_t i = n; i-- > 0;) exec.Push(state, values[i]);
  return true;
}

bool TirSide::Simple(Exec& exec, const tir_Op& op) {
  Terms& t = exec.terms();
  switch (op.kind) {
    case Kind::Push: exec.Push(state, t.Constant(op.number)); return true;
    case Kind::Pop: return exec.Drop(state, op.number);
    case Kind::Dup: return As(exec, Opcode::Dup, op.number);
    case Kind::Swap: return As(exec, Opcode::Swap, op.number);
    case Kind::Pick: return As(exec, Opcode::Pick, op.number);
    case Kind::Place: return As(exec, Opcode::Place, op.number);
    case Kind::Neg: exec.Set(state, 0, t.Neg(exec.Top(state, 0))); return true;
    case Kind::AddI: return As(exec, Opcode::AddI, op.number);
    case Kind::Invert: return As(exec, Opcode::Invert);
    case Kind::PopCount: return As(exec, Opcode::PopCount);
    case Kind::Split: return As(exec, Opcode::Split);
    case Kind::Log2: return As(exec, Opcode::Log2Floor);
    case Kind::Add:
    case Kind::Sub:
    case Kind::Mul:
    case Kind::Eq:
    case Kind::Lt:
    case Kind::And:
    case Kind::Or:
    case Kind::Xor:
    case Kind::DivMod:
    case Kind::Shl:
    case Kind::Shr:
    case Kind::Pow: return Binary(exec, op);
    case Kind::ReadIo:
      for (uint64_t i = 0; i < op.number; ++i)
        exec.Push(state, exec.Next(state.input, Base::Input));
      return true;
    case Kind::Hint:
      for (uint64_t i = 0; i < op.number; ++i)
        exec.Push(state, exec.Next(state.secret, Base::Secret));
      return true;
    case Kind::WriteIo:
      for (uint64_t i = 0; i < op.number; ++i) state.output.push_back(exec.Top(state, i));
      return exec.Drop(state, op.number);
    case Kind::ReadMem:
      for (uint64_t i = 0; i < op.number; ++i) {
        Term unused;
        if (!exec.Read(state, t.Sub(exec.Top(state, 0), t.Constant(i)), unused)) return false;
      }
      for (uint64_t i = 0; i < op.number; ++i) As(exec, Opcode::ReadMem, 1);
      return true;
    case Kind::WriteMem:
      for (uint64_t i = 0; i < op.number; ++i) As(exec, Opcode::WriteMem, 1);
      return true;
    case Kind::Assert: return As(exec, op.number == 1 ? Opcode::Assert : Opcode::AssertVector);
    case Kind::Hash: return As(exec, Opcode::Hash);
    case Kind::Reveal:
    case Kind::Seal: return Event(exec, op);
    case Kind::RamRead:
    case Kind::RamWrite: return Ram(exec, op);
    case Kind::SpongeInit: return As(exec, Opcode::SpongeInit);
    case Kind::SpongeAbsorb: return As(exec, Opcode::SpongeAbsorb);
    case Kind::SpongeSqueeze: return As(exec, Opcode::SpongeSqueeze);
    case Kind::SpongeLoad: return As(exec, Opcode::SpongeAbsorbMem);
    case Kind::MerkleStep: return As(exec, Opcode::MerkleStep);
    case Kind::MerkleLoad: return As(exec, Opcode::MerkleStepMem);
    case Kind::ExtMul: return As(exec, Opcode::XbMul);
    case Kind::ExtInvert: return As(exec, Opcode::XInvert);
    case Kind::ExtAdd: return As(exec, Opcode::XxAdd);
    case Kind::ExtProduct: return As(exec, Opcode::XxMul);
    case Kind::FoldExt: return As(exec, Opcode::XxDotStep);
    case Kind::FoldBase: return As(exec, Opcode::XbDotStep);
    case Kind::HornerBase: return As(exec, Opcode::BHornerStep);
    case Kind::HornerExt: return As(exec, Opcode::XHornerStep);
    default: return true;  // comments
  }
}

}  // namespace

std::unique_ptr<Side> MakeTirSide(const machines::tir::Program& program, Heads* heads) {
  return std::make_unique<TirSide>(program, heads);
}

}  // namespace frazil::verify::tasm
