// The instructions of the symbolic machine, by family. Their meaning is that of the published machine, written here a
// second time: the machine's own code is what counterexamples are replayed on.
#include <algorithm>

#include "verify/tasm/sides/state.h"

namespace frazil::verify::tasm {

namespace gl = goldilocks;
using machines::tasm::Opcode;

bool Exec::ExecuteStack(State& state, Opcode op, uint64_t argument) {
  Terms& t = terms();
  auto& stack = state.stack;
  switch (op) {
    case Opcode::Pop: return Drop(state, argument);
    case Opcode::Push: Push(state, t.Constant(argument)); return true;
    case Opcode::Divine:
      for (uint64_t i = 0; i < argument; ++i) Push(state, Next(state.secret, Base::Secret));
      return true;
    case Opcode::ReadIo:
      for (uint64_t i = 0; i < argument; ++i) Push(state, Next(state.input, Base::Input));
      return true;
    case Opcode::WriteIo:
      for (uint64_t i = 0; i < argument; ++i) state.output.push_back(Top(state, i));
      return Drop(state, argument);
    case Opcode::Pick:
      std::rotate(stack.end() - 1 - static_cast<long>(argument),
                  stack.end() - static_cast<long>(argument), stack.end());
      return true;
    case Opcode::Place:
      std::rotate(stack.end() - 1 - static_cast<long>(argument), stack.end() - 1, stack.end());
      return true;
    case Opcode::Dup: Push(state, Top(state, argument)); return true;
    case Opcode::Swap: {
      const Term top = Top(state, 0);
      Set(state, 0, Top(state, argument));
      Set(state, argument, top);
      return true;
    }
    case Opcode::Add:
    case Opcode::Mul:
    case Opcode::Eq: {
      const Term a = Top(state, 0), b = Top(state, 1);
      Drop(state, 2);
      Push(state, op == Opcode::Add   ? t.Add(a, b)
                  : op == Opcode::Mul ? t.Mul(a, b)
                                      : t.IsZero(t.Sub(a, b)));
      return true;
    }
    case Opcode::AddI: Set(state, 0, t.Add(Top(state, 0), t.Constant(argument))); return true;
    case Opcode::Invert:
      if (!Require(NonZero(Top(state, 0)))) return false;
      Set(state, 0, t.Inverse(Top(state, 0)));
      return true;
    case Opcode::Assert:
      if (!Require(Zero(t.Sub(Top(state, 0), t.Constant(1))))) return false;
      return Drop(state, 1);
    default: return true;  // nop
  }
}

bool Exec::ExecuteMemory(State& state, Opcode op, uint64_t argument) {
  Terms& t = terms();
  const Term one = t.Constant(1);
  switch (op) {
    case Opcode::ReadMem: {
      std::array<Term, 5> values;
      Term pointer = Top(state, 0);
      for (uint64_t i = 0; i < argument; ++i) {
        if (!Read(state, pointer, values[i])) return false;
        pointer = t.Sub(pointer, one);
      }
      Drop(state, 1);
      for (uint64_t i = 0; i < argument; ++i) Push(state, values[i]);
      Push(state, pointer);
      return true;
    }
    case Opcode::WriteMem: {
      Term pointer = Top(state, 0);
      for (uint64_t i = 0; i < argument; ++i) {
        Write(state, pointer, Top(state, i + 1));
        pointer = t.Add(pointer, one);
      }
      Drop(state, argument + 1);
      Push(state, pointer);
      return true;
    }
    case Opcode::SpongeAbsorbMem: {
      if (!SpongeReady(state)) return false;
      std::array<Term, 10> values;
      Term pointer = Top(state, 0);
      for (Term& value : values) {
        if (!Read(state, pointer, value)) return false;
        pointer = t.Add(pointer, one);
      }
      for (uint64_t i = 0; i < 4; ++i) Set(state, i + 1, values[i]);
      Set(state, 0, pointer);
      std::copy(values.begin(), values.end(), state.sponge.begin());
      Permute(state.sponge);
      return true;
    }
    case Opcode::MerkleStepMem: return Merkle(state, true);
    case Opcode::XxDotStep: return Dot(state, true);
    case Opcode::XbDotStep: return Dot(state, false);
    case Opcode::XHornerStep: return Horner(state, true);
    default: return Horner(state, false);
  }
}

// Pointers st0 and st1, accumulator st2 to st4.
bool Exec::Dot(State& state, bool extension) {
  Terms& t = terms();
  const Term one = t.Constant(1), zero = t.Constant(0);
  Term right_pointer = Top(state, 0), left_pointer = Top(state, 1);
  X right{zero, zero, zero}, left{zero, zero, zero};
  for (size_t i = 0; i < (extension ? 3u : 1u); ++i) {
    if (!Read(state, right_pointer, right[i])) return false;
    right_pointer = t.Add(right_pointer, one);
  }
  for (size_t i = 0; i < 3; ++i) {
    if (!Read(state, left_pointer, left[i])) return false;
    left_pointer = t.Add(left_pointer, one);
  }
  const X product = MulX(right, left);
  for (uint64_t i = 0; i < 3; ++i) Set(state, 2 + i, t.Add(Top(state, 2 + i), product[i]));
  Set(state, 0, right_pointer);
  Set(state, 1, left_pointer);
  return true;
}

// Indeterminate st0 to st2, pointer st5, accumulator st7 to st9.
bool Exec::Horner(State& state, bool extension) {
  Terms& t = terms();
  const Term one = t.Constant(1), zero = t.Constant(0);
  Term pointer = Top(state, 5);
  X coefficient{zero, zero, zero};
  if (extension) {
    for (size_t i = 3; i-- > 0;) {
      if (!Read(state, pointer, coefficient[i])) return false;
      pointer = t.Sub(pointer, one);
    }
  } else {
    if (!Read(state, pointer, coefficient[0])) return false;
    pointer = t.Sub(pointer, one);
  }
  const X product = MulX(TopX(state, 7), TopX(state, 0));
  for (uint64_t i = 0; i < 3; ++i) Set(state, 7 + i, t.Add(product[i], coefficient[i]));
  Set(state, 5, pointer);
  return true;
}

bool Exec::Merkle(State& state, bool from_memory) {
  Terms& t = terms();
  const Term index = Top(state, 5);
  std::array<Term, 5> sibling, node;
  if (from_memory) {
    if (!Require(Below32(index))) return false;
    Term pointer = Top(state, 7);
    for (Term& word : sibling) {
      if (!Read(state, pointer, word)) return false;
      pointer = t.Add(pointer, t.Constant(1));
    }
    Set(state, 7, pointer);
  } else {
    if (!Require(Below32(index))) return false;
    for (uint64_t i = 0; i < 5; ++i)
      sibling[i] = t.Atom(Base::Digest, state.digests.token, state.digests.count * 5 + i);
    ++state.digests.count;
  }
  for (uint64_t i = 0; i < 5; ++i) node[i] = Top(state, i);
  const std::array<Term, 5> parent = Parent(index, node, sibling);
  for (uint64_t i = 0; i < 5; ++i) Set(state, i, parent[i]);
  Set(state, 5, t.Quotient(index, t.Constant(2)));
  return true;
}

bool Exec::Absorb(State& state) {
  if (!SpongeReady(state)) return false;
  for (uint64_t i = 0; i < 10; ++i) state.sponge[i] = Top(state, i);
  Drop(state, 10);
  Permute(state.sponge);
  return true;
}

bool Exec::ExecuteHash(State& state, Opcode op) {
  Terms& t = terms();
  switch (op) {
    case Opcode::Hash: {
      std::array<Term, 10> words;
      for (uint64_t i = 0; i < 10; ++i) words[i] = Top(state, i);
      const std::array<Term, 5> digest = Hash(words);
      Drop(state, 10);
      for (size_t i = 5; i-- > 0;) Push(state, digest[i]);
      return true;
    }
    case Opcode::AssertVector:
      for (uint64_t i = 0; i < 5; ++i) {
        if (!Require(Zero(t.Sub(Top(state, i), Top(state, i + 5))))) return false;
      }
      return Drop(state, 5);
    case Opcode::SpongeInit:
      state.sponge.fill(t.Constant(0));
      state.sponge_ready = true;
      return true;
    case Opcode::SpongeAbsorb: return Absorb(state);
    case Opcode::SpongeSqueeze:
      if (!SpongeReady(state)) return false;
      for (size_t i = 10; i-- > 0;) Push(state, state.sponge[i]);
      Permute(state.sponge);
      return true;
    default: return Merkle(state, false);
  }
}

bool Exec::ExecuteInteger(State& state, Opcode op) {
  Terms& t = terms();
  const Term a = Top(state, 0);
  if (op == Opcode::Split) {
    Set(state, 0, t.High(a));
    Push(state, t.Low(a));
    return true;
  }
  if (op != Opcode::Pow && !Require(Below32(a))) return false;
  if (op == Opcode::Log2Floor) {
    if (!Require(NonZero(a))) return false;
    Set(state, 0, t.Log2(a));
    return true;
  }
  if (op == Opcode::PopCount) {
    Set(state, 0, t.PopCount(a));
    return true;
  }
  const Term b = Top(state, 1);
  if (!Require(Below32(b))) return false;
  if (op == Opcode::DivMod) {
    if (!Require(NonZero(b))) return false;
    Set(state, 1, t.Quotient(a, b));
    Set(state, 0, t.Remainder(a, b));
    return true;
  }
  Drop(state, 2);
  Push(state, op == Opcode::Lt    ? t.Less(a, b)
              : op == Opcode::And ? t.And(a, b)
              : op == Opcode::Xor ? t.Xor(a, b)
                                  : t.Power(a, b));
  return true;
}

Exec::X Exec::TopX(State& state, uint64_t depth) {
  return {Top(state, depth), Top(state, depth + 1), Top(state, depth + 2)};
}

void Exec::SetX(State& state, uint64_t depth, const X& value) {
  for (uint64_t i = 0; i < 3; ++i) Set(state, depth + i, value[i]);
}

bool Exec::ExecuteExtension(State& state, Opcode op) {
  Terms& t = terms();
  switch (op) {
    case Opcode::XxAdd:
    case Opcode::XxMul: {
      const X a = TopX(state, 0), b = TopX(state, 3);
      Drop(state, 3);
      SetX(state, 0,
           op == Opcode::XxMul ? MulX(a, b)
                               : X{t.Add(a[0], b[0]), t.Add(a[1], b[1]), t.Add(a[2], b[2])});
      return true;
    }
    case Opcode::XInvert: {
      X result;
      if (!InverseX(TopX(state, 0), result)) return false;
      SetX(state, 0, result);
      return true;
    }
    default: {
      const Term scalar = Top(state, 0);
      Drop(state, 1);
      const X a = TopX(state, 0);
      SetX(state, 0, {t.Mul(a[0], scalar), t.Mul(a[1], scalar), t.Mul(a[2], scalar)});
      return true;
    }
  }
}

}  // namespace frazil::verify::tasm
