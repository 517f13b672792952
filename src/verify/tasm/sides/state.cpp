// One step of the symbolic machine. Everything that may crash or be undecided comes before anything is changed.
#include "verify/tasm/sides/state.h"

namespace frazil::verify::tasm {

namespace gl = goldilocks;
using machines::tasm::Opcode;

void Exec::Begin(State& state, bool fragment, uint32_t side) {
  state = {};
  state.fragment = fragment;
  for (uint64_t i = 0; i < 16; ++i) state.sponge[i] = terms().Atom(Base::SpongeWord, 0, i);
  if (fragment) {
    Need(state, 16);
    return;
  }
  for (uint64_t i = 0; i < 16; ++i) {
    state.stack.push_back(i < 5 ? terms().Atom(Base::ProgramWord, side, 4 - i)
                                : terms().Constant(0));
  }
}

bool Exec::Require(Literal literal) {
  const std::optional<bool> known = facts_.Decide(literal);
  if (known.value_or(false)) return true;
  if (known) {
    result_.kind = Step::Kind::Crash;
    return false;
  }
  if (!follows_) {
    if (facts_.Assume(literal)) return true;
    result_.kind = Step::Kind::Crash;
    return false;
  }
  result_.kind = Step::Kind::Stuck;
  result_.literal = literal;
  result_.reason = "it could not be shown that one does not crash where the other does not";
  return false;
}

bool Exec::Know(Literal literal, bool& value) {
  if (const std::optional<bool> known = facts_.Decide(literal)) {
    value = *known;
    return true;
  }
  result_.kind = Step::Kind::Undecided;
  result_.literal = literal;
  return false;
}

bool Exec::Need(State& state, uint64_t depth) {
  if (state.stack.size() >= depth) return true;
  if (!state.fragment) {
    result_.kind = Step::Kind::Crash;
    return false;
  }
  const uint64_t more = depth - state.stack.size() + 16;
  std::vector<Term> words;
  words.reserve(more + state.stack.size());
  for (uint64_t i = more; i-- > 0;) words.push_back(terms().Atom(Base::Stack, 0, state.below + i));
  words.insert(words.end(), state.stack.begin(), state.stack.end());
  state.stack = std::move(words);
  state.below += more;
  return true;
}

// Every instruction reaches at most sixteen deep, and that much is always there.
Term Exec::Top(State& state, uint64_t depth) {
  Need(state, depth + 1);
  return state.stack[state.stack.size() - 1 - depth];
}

void Exec::Set(State& state, uint64_t depth, Term value) {
  Need(state, depth + 1);
  state.stack[state.stack.size() - 1 - depth] = value;
}

bool Exec::Drop(State& state, uint64_t count) {
  if (!Need(state, count)) return false;
  state.stack.resize(state.stack.size() - count);
  return true;
}

void Exec::Permute(std::array<Term, 16>& words) {
  const std::array<Term, 16> before = words;
  for (uint64_t i = 0; i < 16; ++i) words[i] = terms().Apply(Base::Permute, before, i);
}

// The capacity of a hash of fixed length is ones.
std::array<Term, 5> Exec::Hash(const std::array<Term, 10>& words) {
  std::array<Term, 16> all;
  all.fill(terms().Constant(1));
  std::copy(words.begin(), words.end(), all.begin());
  std::array<Term, 5> digest;
  for (uint64_t i = 0; i < 5; ++i) digest[i] = terms().Apply(Base::Permute, all, i);
  return digest;
}

std::array<Term, 5> Exec::Parent(Term index, const std::array<Term, 5>& node,
                                 const std::array<Term, 5>& sibling) {
  const Term parity = facts_.Simplify(terms().Remainder(index, terms().Constant(2)));
  if (terms().IsConstant(parity)) {
    const bool odd = terms().ConstantOf(parity) != 0;
    std::array<Term, 10> words;
    std::copy(node.begin(), node.end(), words.begin() + (odd ? 5 : 0));
    std::copy(sibling.begin(), sibling.end(), words.begin() + (odd ? 0 : 5));
    return Hash(words);
  }
  std::array<Term, 11> arguments{parity};
  std::copy(node.begin(), node.end(), arguments.begin() + 1);
  std::copy(sibling.begin(), sibling.end(), arguments.begin() + 6);
  std::array<Term, 5> parent;
  for (uint64_t i = 0; i < 5; ++i) parent[i] = terms().Apply(Base::Merkle, arguments, i);
  return parent;
}

bool Exec::SpongeReady(State& state) {
  if (state.sponge_ready) return true;
  if (state.fragment) return Require(NonZero(terms().Atom(Base::SpongeReady, 0, 0)));
  result_.kind = Step::Kind::Crash;
  return false;
}

// x^3 = x - 1.
Exec::X Exec::MulX(const X& a, const X& b) {
  Terms& t = terms();
  std::array<Term, 5> c;
  c.fill(t.Constant(0));
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) c[i + j] = t.Add(c[i + j], t.Mul(a[i], b[j]));
  }
  return {t.Sub(c[0], c[3]), t.Sub(t.Add(c[1], c[3]), c[4]), t.Add(c[2], c[4])};
}

// By Cramer's rule on the matrix of "times a"; its determinant, the norm, is 0 for 0 alone.
bool Exec::InverseX(const X& a, X& result) {
  Terms& t = terms();
  auto times_x = [&](const X& v) { return X{t.Neg(v[2]), t.Add(v[0], v[2]), v[1]}; };
  const X ax = times_x(a), axx = times_x(ax);
  auto minor = [&](const X& u, const X& v) { return t.Sub(t.Mul(u[1], v[2]), t.Mul(u[2], v[1])); };
  const X cofactors = {minor(ax, axx), minor(axx, a), minor(a, ax)};
  const Term norm = t.Add(t.Mul(a[0], cofactors[0]),
                          t.Add(t.Mul(ax[0], cofactors[1]), t.Mul(axx[0], cofactors[2])));
  if (!Require(NonZero(norm))) return false;
  const Term inverse = t.Inverse(norm);
  for (size_t i = 0; i < 3; ++i) result[i] = t.Mul(cofactors[i], inverse);
  return true;
}

Step Exec::Execute(State& state, Opcode op, uint64_t argument) {
  const auto& info = machines::tasm::Info(op);
  const int64_t delta = info.argument == machines::tasm::Argument::Count
                            ? info.delta * static_cast<int64_t>(argument)
                            : info.delta;
  const int64_t height = state.Height() + delta;
  // The machine's stack never gets shorter than sixteen.
  if (!state.fragment && static_cast<int64_t>(state.stack.size()) + delta < 16)
    return {Step::Kind::Crash, Zero(0), ""};
  Need(state, 16);
  bool done = false;
  switch (op) {
    case Opcode::Pop:
    case Opcode::Push:
    case Opcode::Divine:
    case Opcode::Pick:
    case Opcode::Place:
    case Opcode::Dup:
    case Opcode::Swap:
    case Opcode::Nop:
    case Opcode::Add:
    case Opcode::AddI:
    case Opcode::Mul:
    case Opcode::Invert:
    case Opcode::Eq:
    case Opcode::ReadIo:
    case Opcode::WriteIo:
    case Opcode::Assert: done = ExecuteStack(state, op, argument); break;
    case Opcode::ReadMem:
    case Opcode::WriteMem:
    case Opcode::SpongeAbsorbMem:
    case Opcode::MerkleStepMem:
    case Opcode::XxDotStep:
    case Opcode::XbDotStep:
    case Opcode::BHornerStep:
    case Opcode::XHornerStep: done = ExecuteMemory(state, op, argument); break;
    case Opcode::Hash:
    case Opcode::AssertVector:
    case Opcode::SpongeInit:
    case Opcode::SpongeAbsorb:
    case Opcode::SpongeSqueeze:
    case Opcode::MerkleStep: done = ExecuteHash(state, op); break;
    case Opcode::Split:
    case Opcode::Lt:
    case Opcode::And:
    case Opcode::Xor:
    case Opcode::Log2Floor:
    case Opcode::Pow:
    case Opcode::DivMod:
    case Opcode::PopCount: done = ExecuteInteger(state, op); break;
    case Opcode::XxAdd:
    case Opcode::XxMul:
    case Opcode::XInvert:
    case Opcode::XbMul: done = ExecuteExtension(state, op); break;
    case Opcode::Halt:
    case Opcode::Skiz:
    case Opcode::Call:
    case Opcode::Return:
    case Opcode::Recurse:
    case Opcode::RecurseOrReturn:
      return {Step::Kind::Stuck, Zero(0), "control flow where there is none"};
  }
  if (!done) return Take();
  state.lowest = std::min(state.lowest, height);
  return {};
}

}  // namespace frazil::verify::tasm
