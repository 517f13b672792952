// One function per group of ops, one case per op, in the words of ops.def. Nothing is shared with the lowering but
// the arithmetic of the field.
#include "machines/tir/interpreter.h"

#include <fmt/format.h>

#include <bit>

#include "base/number/goldilocks.h"

namespace frazil::machines::tir {
namespace {

namespace gl = goldilocks;

enum class Flow : uint8_t { Next, Return, Stop };

class Machine {
 public:
  Machine(const Program& program, const Inputs& inputs, Permutation permutation, uint64_t max_steps)
      : program_(program), inputs_(inputs), permutation_(permutation), max_steps_(max_steps) {
    result_.stack = inputs.stack;
    result_.ram = inputs.ram;
  }

  RunResult Run() {
    const Op* entry = nullptr;
    for (size_t i = 0; i < program_.ops.size(); ++i) {
      if (program_.ops[i].kind == Kind::Entry) entry = &program_.ops[i];
      if (program_.ops[i].kind == Kind::FnStart) functions_[program_.ops[i].text] = i + 1;
    }
    Call(entry->text);
    return std::move(result_);
  }

 private:
  uint64_t Pop() {
    const uint64_t value = result_.stack.back();
    result_.stack.pop_back();
    return value;
  }
  void Push(uint64_t value) { result_.stack.push_back(value); }
  uint64_t& At(size_t depth) { return result_.stack[result_.stack.size() - 1 - depth]; }
  uint64_t Ram(uint64_t address) const {
    const auto found = result_.ram.find(address);
    return found == result_.ram.end() ? 0 : found->second;
  }
  gl::XElement PopX() {
    const uint64_t c0 = Pop(), c1 = Pop(), c2 = Pop();
    return {c0, c1, c2};
  }
  void PushX(const gl::XElement& x) {
    for (int i = 2; i >= 0; --i) Push(x[static_cast<size_t>(i)]);
  }
  gl::XElement RamX(uint64_t address) const {
    return {Ram(address), Ram(gl::Add(address, 1)), Ram(gl::Add(address, 2))};
  }

  bool Crash(CrashKind kind, const Op& op) {
    result_.crash = tir::Crash{kind, op.kind, op.location, op.error_id};
    return false;
  }
  static bool IsU32(uint64_t value) { return value >> 32 == 0; }

  Flow Call(const std::string& name) {
    for (size_t i = functions_.at(name);; ++i) {
      const Op& op = program_.ops[i];
      if (op.kind == Kind::FnEnd) return Flow::Next;
      const Flow flow = One(op);
      if (flow == Flow::Return) return Flow::Next;
      if (flow == Flow::Stop) return flow;
    }
  }

  Flow Body(const std::vector<Op>& ops) {
    for (const Op& op : ops) {
      const Flow flow = One(op);
      if (flow != Flow::Next) return flow;
    }
    return Flow::Next;
  }

  Flow One(const Op& op) {
    if (++result_.steps > max_steps_) {
      Crash(CrashKind::Steps, op);
      return Flow::Stop;
    }
    switch (op.kind) {
      case Kind::Call: return Call(op.text);
      case Kind::Return: return Flow::Return;
      case Kind::Halt: return Flow::Stop;
      case Kind::IfElse: return Pop() != 0 ? Body(op.body) : Body(op.other);
      case Kind::IfOnly: return Pop() != 0 ? Body(op.body) : Flow::Next;
      case Kind::ProofBlock: return Body(op.body);
      case Kind::Loop:
        while (At(0) != 0) {
          At(0) = gl::Sub(At(0), 1);
          if (const Flow flow = Round(op, op.body); flow != Flow::Next) return flow;
        }
        return Flow::Next;
      case Kind::Repeat:
        do {
          if (const Flow flow = Round(op, op.body); flow != Flow::Next) return flow;
        } while (At(5) != At(6));
        return Flow::Next;
      case Kind::While:
        for (;;) {
          if (const Flow flow = Round(op, op.body); flow != Flow::Next) return flow;
          if (Pop() == 0) return Flow::Next;
          if (const Flow flow = Body(op.other); flow != Flow::Next) return flow;
        }
      default: return Simple(op) ? Flow::Next : Flow::Stop;
    }
  }

  // One turn of a loop; a loop whose body is empty still takes steps.
  Flow Round(const Op& op, const std::vector<Op>& body) {
    if (++result_.steps > max_steps_) {
      Crash(CrashKind::Steps, op);
      return Flow::Stop;
    }
    return Body(body);
  }

  bool Simple(const Op& op) {
    switch (Info(op.kind).group) {
      case Group::Structure: return true;  // One's; Interpret refuses asm
      case Group::Stack: return Stack(op);
      case Group::Field: return Field(op);
      case Group::Words:
      case Group::Shift: return TwoWords(op);
      case Group::Word: return OneWord(op);
      case Group::Streams: return Streams(op);
      case Group::Memory: return Memory(op);
      case Group::Hash:
      case Group::Merkle: return Hashing(op);
      case Group::Extension:
      case Group::Horner: return Extension(op);
    }
    return true;
  }

  bool Stack(const Op& op) {
    switch (op.kind) {
      case Kind::Push: Push(op.number); break;
      case Kind::Pop:
        for (uint64_t i = 0; i < op.number; ++i) Pop();
        break;
      case Kind::Dup: Push(At(op.number)); break;
      case Kind::Swap: std::swap(At(0), At(op.number)); break;
      case Kind::Pick: {
        const auto from = result_.stack.end() - 1 - static_cast<ptrdiff_t>(op.number);
        const uint64_t value = *from;
        result_.stack.erase(from);
        Push(value);
        break;
      }
      default: {  // place
        const uint64_t value = Pop();
        result_.stack.insert(result_.stack.end() - static_cast<ptrdiff_t>(op.number), value);
      }
    }
    return true;
  }

  bool Field(const Op& op) {
    const uint64_t b = Pop();
    switch (op.kind) {
      case Kind::Neg: return Push(gl::Neg(b)), true;
      case Kind::AddI: return Push(gl::Add(b, op.number)), true;
      case Kind::Invert:
        if (b == 0) return Crash(CrashKind::InverseOfZero, op);
        return Push(gl::Invert(b)), true;
      default: break;
    }
    const uint64_t a = Pop();
    if (op.kind == Kind::Add) Push(gl::Add(a, b));
    if (op.kind == Kind::Sub) Push(gl::Sub(a, b));
    if (op.kind == Kind::Mul) Push(gl::Mul(a, b));
    if (op.kind == Kind::Eq) Push(a == b ? 1 : 0);
    return true;
  }

  bool TwoWords(const Op& op) {
    const uint64_t b = Pop(), a = Pop();
    if (!IsU32(a) || !IsU32(b)) return Crash(CrashKind::NotU32, op);
    switch (op.kind) {
      case Kind::Lt: Push(a < b ? 1 : 0); break;
      case Kind::And: Push(a & b); break;
      case Kind::Or: Push(a | b); break;
      case Kind::Xor: Push(a ^ b); break;
      case Kind::DivMod:
        if (b == 0) return Crash(CrashKind::DivisionByZero, op);
        Push(a / b);
        Push(a % b);
        break;
      default:  // shifts: an amount of 32 or more is not a word that they take
        if (b >= 32) return Crash(CrashKind::NotU32, op);
        Push(op.kind == Kind::Shl ? (a << b) & 0xffff'ffffu : a >> b);
    }
    return true;
  }

  bool OneWord(const Op& op) {
    const uint64_t a = Pop();
    if (op.kind == Kind::Split) {
      Push(a >> 32);
      return Push(a & 0xffff'ffffu), true;
    }
    if (!IsU32(a)) return Crash(CrashKind::NotU32, op);
    if (op.kind == Kind::PopCount) Push(static_cast<uint64_t>(std::popcount(a)));
    if (op.kind == Kind::Log2) {
      if (a == 0) return Crash(CrashKind::LogarithmOfZero, op);
      Push(static_cast<uint64_t>(std::bit_width(a) - 1));
    }
    if (op.kind == Kind::Pow) Push(gl::Pow(Pop(), a));
    return true;
  }

  bool Streams(const Op& op) {
    switch (op.kind) {
      case Kind::ReadIo:
      case Kind::Hint: {
        const bool secret = op.kind == Kind::Hint;
        const std::vector<uint64_t>& stream = secret ? inputs_.secret : inputs_.input;
        size_t& next = secret ? result_.secrets_read : result_.inputs_read;
        for (uint64_t i = 0; i < op.number; ++i) {
          if (next == stream.size())
            return Crash(secret ? CrashKind::SecretEmpty : CrashKind::InputEmpty, op);
          Push(stream[next++]);
        }
        return true;
      }
      case Kind::Reveal: result_.output.push_back(op.tag); [[fallthrough]];
      case Kind::WriteIo:
        for (uint64_t i = 0; i < op.number; ++i) result_.output.push_back(Pop());
        return true;
      default: break;
    }
    if (op.number == 1) return Pop() == 1 || Crash(CrashKind::AssertionFailed, op);
    for (size_t i = 0; i < 5; ++i) {
      if (At(i) != At(i + 5)) return Crash(CrashKind::VectorAssertionFailed, op);
    }
    for (size_t i = 0; i < 5; ++i) Pop();
    return true;
  }

  bool Memory(const Op& op) {
    const uint64_t n = op.number;
    switch (op.kind) {
      case Kind::ReadMem: {
        uint64_t p = Pop();
        for (uint64_t i = 0; i < n; ++i, p = gl::Sub(p, 1)) Push(Ram(p));
        return Push(p), true;
      }
      case Kind::WriteMem: {
        uint64_t p = Pop();
        for (uint64_t i = 0; i < n; ++i, p = gl::Add(p, 1)) result_.ram[p] = Pop();
        return Push(p), true;
      }
      case Kind::RamRead: {
        const uint64_t key = Pop();
        for (uint64_t i = n; i > 0; --i) Push(Ram(gl::Add(key, i - 1)));
        return true;
      }
      default: {
        const uint64_t key = At(n);
        for (uint64_t i = 0; i < n; ++i) result_.ram[gl::Add(key, i)] = Pop();
        return Pop(), true;
      }
    }
  }

  using State = std::array<uint64_t, 16>;

  // The digest of ten elements, pushed with its first element on top.
  void HashTen(const std::array<uint64_t, 10>& input) {
    State state{};
    std::copy(input.begin(), input.end(), state.begin());
    std::fill(state.begin() + 10, state.end(), 1);
    permutation_(state);
    for (size_t i = 5; i > 0; --i) Push(state[i - 1]);
  }

  bool Merkle(const Op& op) {
    if (!IsU32(At(5))) return Crash(CrashKind::NotU32, op);
    std::array<uint64_t, 5> sibling{};
    if (op.kind == Kind::MerkleStep) {
      if (result_.digests_read == inputs_.digests.size()) return Crash(CrashKind::DigestsEmpty, op);
      sibling = inputs_.digests[result_.digests_read++];
    } else {
      for (uint64_t i = 0; i < 5; ++i) sibling[i] = Ram(gl::Add(At(7), i));
      At(7) = gl::Add(At(7), 5);
    }
    std::array<uint64_t, 10> input{};
    const bool right = At(5) % 2 == 1;
    for (size_t i = 0; i < 5; ++i) input[right ? i + 5 : i] = Pop();
    for (size_t i = 0; i < 5; ++i) input[right ? i : i + 5] = sibling[i];
    Push(Pop() / 2);
    return HashTen(input), true;
  }

  bool Hashing(const Op& op) {
    std::array<uint64_t, 10> ten{};
    switch (op.kind) {
      case Kind::Hash:
        for (uint64_t& x : ten) x = Pop();
        return HashTen(ten), true;
      case Kind::Seal:
        ten[0] = op.tag;
        for (uint64_t i = 0; i < op.number; ++i) ten[i + 1] = Pop();
        HashTen(ten);
        for (int i = 0; i < 5; ++i) result_.output.push_back(Pop());
        return true;
      case Kind::SpongeInit: return sponge_ = State{}, true;
      case Kind::MerkleStep:
      case Kind::MerkleLoad: return Merkle(op);
      default: break;
    }
    if (!sponge_) return Crash(CrashKind::SpongeNotInitialized, op);
    if (op.kind == Kind::SpongeAbsorb) {
      for (size_t i = 0; i < 10; ++i) (*sponge_)[i] = Pop();
    } else if (op.kind == Kind::SpongeSqueeze) {
      for (size_t i = 10; i > 0; --i) Push((*sponge_)[i - 1]);
    } else {
      for (size_t i = 0; i < 10; ++i, At(0) = gl::Add(At(0), 1)) {
        (*sponge_)[i] = Ram(At(0));
        if (i < 4) At(i + 1) = (*sponge_)[i];
      }
    }
    return permutation_(*sponge_), true;
  }

  bool Extension(const Op& op) {
    switch (op.kind) {
      case Kind::ExtMul: {
        const uint64_t s = Pop();
        return PushX(gl::Scale(PopX(), s)), true;
      }
      case Kind::ExtInvert: {
        const gl::XElement x = PopX();
        if (gl::IsZero(x)) return Crash(CrashKind::InverseOfZero, op);
        return PushX(gl::Invert(x)), true;
      }
      case Kind::ExtAdd: {
        const gl::XElement b = PopX(), a = PopX();
        return PushX(gl::Add(a, b)), true;
      }
      case Kind::ExtProduct: {
        const gl::XElement b = PopX(), a = PopX();
        return PushX(gl::Mul(a, b)), true;
      }
      case Kind::FoldExt:
      case Kind::FoldBase: {
        const uint64_t p = Pop(), q = Pop();
        const bool base = op.kind == Kind::FoldBase;
        const gl::XElement x = RamX(q);
        const gl::XElement product = base ? gl::Scale(x, Ram(p)) : gl::Mul(RamX(p), x);
        PushX(gl::Add(PopX(), product));
        Push(gl::Add(q, 3));
        return Push(gl::Add(p, base ? 1 : 3)), true;
      }
      default: {
        const bool base = op.kind == Kind::HornerBase;
        const uint64_t p = At(5);
        const gl::XElement coefficient = base ? gl::XElement{Ram(p), 0, 0} : RamX(gl::Sub(p, 2));
        const gl::XElement x = {At(0), At(1), At(2)}, sum = {At(7), At(8), At(9)};
        const gl::XElement next = gl::Add(gl::Mul(sum, x), coefficient);
        At(5) = gl::Sub(p, base ? 1 : 3);
        for (size_t i = 0; i < 3; ++i) At(7 + i) = next[i];
        return true;
      }
    }
  }

  const Program& program_;
  const Inputs& inputs_;
  Permutation permutation_;
  uint64_t max_steps_;
  std::unordered_map<std::string, size_t> functions_;
  std::optional<State> sponge_;
  RunResult result_;
};

const Op* FindAsm(const std::vector<Op>& ops) {
  for (const Op& op : ops) {
    if (op.kind == Kind::Asm) return &op;
    if (const Op* inner = FindAsm(op.body)) return inner;
    if (const Op* inner = FindAsm(op.other)) return inner;
  }
  return nullptr;
}

}  // namespace

std::string_view CrashName(CrashKind kind) {
  switch (kind) {
#define FRAZIL_CRASH(name, words) \
  case CrashKind::name: return words;
#include "machines/crashes.def"
#undef FRAZIL_CRASH
    case CrashKind::Steps: return "limit of steps reached";
  }
  return "";
}

Result<RunResult> Interpret(const Program& program, const Inputs& inputs, Permutation permutation,
                            uint64_t max_steps) {
  TRY(Check(program));
  if (const Op* op = FindAsm(program.ops)) {
    return Fail(Diag::Unsupported, "`asm` cannot be interpreted: lower it and run the assembly",
                op->location);
  }
  if (inputs.stack.size() < 16)
    return Fail(Diag::WrongArgument, "the initial stack has at least 16 words");
  return Machine(program, inputs, permutation, max_steps).Run();
}

}  // namespace frazil::machines::tir
