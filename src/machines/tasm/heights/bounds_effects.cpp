// Instructions on partly known values. What is not worth knowing becomes unknown; that is always right.
#include <bit>

#include "base/number/goldilocks.h"
#include "machines/tasm/heights/bounds_state.h"
#include "machines/tasm/heights/u32_set.h"

namespace frazil::machines::tasm::bounds {
namespace {

bool IsU32(const Value& value) { return value && *value >> 32 == 0; }

// How many elements an instruction takes off, where its results do not stand for what it took.
int Taken(Opcode op) {
  switch (op) {
    case Opcode::Hash:
    case Opcode::SpongeAbsorb: return 10;
    case Opcode::XxAdd:
    case Opcode::XxMul: return 6;
    case Opcode::XbMul: return 4;
    case Opcode::XInvert: return 3;
    case Opcode::XxDotStep:
    case Opcode::XbDotStep:
    case Opcode::SpongeAbsorbMem:
    case Opcode::AssertVector: return 5;
    case Opcode::BHornerStep:
    case Opcode::XHornerStep: return 10;
    default: return 0;
  }
}

template <typename Function>
Value Combine(const Value& a, const Value& b, Function function) {
  if (!a || !b) return {};
  return function(*a, *b);
}

}  // namespace

void Effects::AddU32(State& state, int op, Value left, Value right, bool certain) {
  const auto kind = static_cast<U32Op>(op);
  // An unknown entry may be one that is there already, or have the rows of 2^32 - 1.
  constexpr uint64_t Widest = 33;
  if (!left || !right) {
    const uint64_t most = kind == U32Op::Pow && right ? U32Rows(kind, 0, *right) : Widest;
    state.rows.u32.Add(0, most);
    return;
  }
  const std::array<uint64_t, 3> key = {static_cast<uint64_t>(op), *left, *right};
  if (entries_.contains(key)) return;
  const uint64_t rows = U32Rows(kind, *left, *right);
  if (certain) {
    entries_.insert(key);
    state.rows.u32.Add(rows);
  } else {
    state.rows.u32.Add(0, rows);
  }
}

void Effects::Apply(const Instruction& instruction, State& state, bool certain) {
  const uint64_t argument = instruction.argument;
  const auto u32 = [&](U32Op op, const Value& left, const Value& right) {
    AddU32(state, static_cast<int>(op), left, right, certain);
  };
  switch (instruction.op) {
    case Opcode::Pop:
    case Opcode::WriteIo:
      for (uint64_t i = 0; i < argument; ++i) state.Pop();
      return;
    case Opcode::Push: state.Push(argument); return;
    case Opcode::Divine:
    case Opcode::ReadIo:
      for (uint64_t i = 0; i < argument; ++i) state.Push({});
      return;
    case Opcode::Pick: {
      state.Reach(argument);
      const auto at = state.stack.end() - 1 - static_cast<ptrdiff_t>(argument);
      std::rotate(at, at + 1, state.stack.end());
      return;
    }
    case Opcode::Place: {
      state.Reach(argument);
      const auto at = state.stack.end() - 1 - static_cast<ptrdiff_t>(argument);
      std::rotate(at, state.stack.end() - 1, state.stack.end());
      return;
    }
    case Opcode::Dup: state.Push(state.Peek(argument)); return;
    case Opcode::Swap: {
      const Value top = state.Peek(0), other = state.Peek(argument);
      state.Poke(argument, top);
      state.Poke(0, other);
      return;
    }
    case Opcode::Assert: state.Pop(); return;
    case Opcode::Add: {
      const Value a = state.Pop(), b = state.Pop();
      state.Push(Combine(a, b, [](uint64_t x, uint64_t y) { return goldilocks::Add(x, y); }));
      return;
    }
    case Opcode::AddI: {
      const Value a = state.Pop();
      state.Push(Combine(a, Value(argument),
                         [](uint64_t x, uint64_t y) { return goldilocks::Add(x, y); }));
      return;
    }
    case Opcode::Mul: {
      const Value a = state.Pop(), b = state.Pop();
      if ((a && *a == 0) || (b && *b == 0))
        state.Push(0);
      else
        state.Push(Combine(a, b, [](uint64_t x, uint64_t y) { return goldilocks::Mul(x, y); }));
      return;
    }
    case Opcode::Invert: {
      const Value a = state.Pop();
      state.Push(a && *a != 0 ? Value(goldilocks::Invert(*a)) : Value());
      return;
    }
    case Opcode::Eq: {
      const Value a = state.Pop(), b = state.Pop();
      state.Push(Combine(a, b, [](uint64_t x, uint64_t y) -> uint64_t { return x == y ? 1 : 0; }));
      return;
    }
    case Opcode::Split: {
      const Value a = state.Pop();
      const Value high = a ? Value(*a >> 32) : Value(),
                  low = a ? Value(*a & 0xffff'ffffu) : Value();
      u32(U32Op::Split, low, high);
      state.Push(high);
      state.Push(low);
      return;
    }
    case Opcode::Lt:
    case Opcode::And:
    case Opcode::Xor: {
      const Value a = state.Pop(), b = state.Pop();
      const bool fit = IsU32(a) && IsU32(b);
      u32(instruction.op == Opcode::Lt ? U32Op::Lt : U32Op::And, fit ? a : Value(),
          fit ? b : Value());
      if (!fit)
        state.Push({});
      else if (instruction.op == Opcode::Lt)
        state.Push(*a < *b ? 1 : 0);
      else
        state.Push(instruction.op == Opcode::And ? *a & *b : *a ^ *b);
      return;
    }
    case Opcode::Log2Floor:
    case Opcode::PopCount: {
      const Value a = state.Pop();
      const bool fit = IsU32(a) && (*a != 0 || instruction.op == Opcode::PopCount);
      const bool log = instruction.op == Opcode::Log2Floor;
      u32(log ? U32Op::Log2Floor : U32Op::PopCount, fit ? a : Value(), fit ? Value(0) : Value());
      state.Push(
          !fit ? Value()
               : Value(static_cast<uint64_t>(log ? std::bit_width(*a) - 1 : std::popcount(*a))));
      return;
    }
    case Opcode::Pow: {
      const Value base = state.Pop(), exponent = state.Pop();
      u32(U32Op::Pow, base, IsU32(exponent) ? exponent : Value());
      state.Push(base && IsU32(exponent) ? Value(goldilocks::Pow(*base, *exponent)) : Value());
      return;
    }
    case Opcode::DivMod: {
      const Value n = state.Pop(), d = state.Pop();
      const bool fit = IsU32(n) && IsU32(d) && *d != 0;
      const Value quotient = fit ? Value(*n / *d) : Value(),
                  remainder = fit ? Value(*n % *d) : Value();
      u32(U32Op::Lt, remainder, fit ? d : Value());
      u32(U32Op::Split, fit ? n : Value(), quotient);
      state.Push(quotient);
      state.Push(remainder);
      return;
    }
    case Opcode::ReadMem: {
      Value pointer = state.Pop();
      for (uint64_t i = 0; i < argument; ++i) {
        const auto found = pointer ? state.ram.find(*pointer) : state.ram.end();
        state.Push(found == state.ram.end() ? Value() : Value(found->second));
        if (pointer) pointer = goldilocks::Sub(*pointer, 1);
      }
      state.Push(pointer);
      return;
    }
    case Opcode::WriteMem: {
      Value pointer = state.Pop();
      if (!pointer) state.ram.clear();
      for (uint64_t i = 0; i < argument; ++i) {
        const Value value = state.Pop();
        if (!pointer) continue;
        state.Write(*pointer, value);
        pointer = goldilocks::Add(*pointer, 1);
      }
      state.Push(pointer);
      return;
    }
    case Opcode::SpongeSqueeze:
      for (int i = 0; i < 10; ++i) state.Push({});
      return;
    case Opcode::MerkleStep:
    case Opcode::MerkleStepMem: {
      const Value index = state.Peek(5);
      const bool fit = IsU32(index);
      u32(U32Op::Split, fit ? index : Value(), fit ? Value(*index / 2) : Value());
      for (size_t i = 0; i < 5; ++i) state.Poke(i, {});
      state.Poke(5, fit ? Value(*index / 2) : Value());
      if (instruction.op == Opcode::MerkleStepMem)
        if (const Value pointer = state.Peek(7)) state.Poke(7, goldilocks::Add(*pointer, 5));
      return;
    }
    case Opcode::Nop:
    case Opcode::SpongeInit: return;
    case Opcode::Hash:
    case Opcode::AssertVector:
    case Opcode::SpongeAbsorb:
    case Opcode::SpongeAbsorbMem:
    case Opcode::XxAdd:
    case Opcode::XxMul:
    case Opcode::XInvert:
    case Opcode::XbMul:
    case Opcode::BHornerStep:
    case Opcode::XHornerStep:
    case Opcode::XxDotStep:
    case Opcode::XbDotStep: {
      const int taken = Taken(instruction.op);
      // assert_vector takes five and leaves nothing in their place.
      const int delta = Info(instruction.op).delta;
      for (int i = 0; i < taken; ++i) state.Pop();
      for (int i = 0; i < taken + delta; ++i) state.Push({});
      return;
    }
    case Opcode::Halt:
    case Opcode::Skiz:
    case Opcode::Call:
    case Opcode::Return:
    case Opcode::Recurse:
    case Opcode::RecurseOrReturn: return;
  }
}

}  // namespace frazil::machines::tasm::bounds
