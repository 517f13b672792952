// Statements of all kinds but control.
#include "generator.h"

#include <array>

namespace frazil::tests {

using tasm::Opcode;

namespace {

constexpr uint64_t Edges[] = {0,
                              1,
                              2,
                              3,
                              7,
                              255,
                              256,
                              65535,
                              65536,
                              0x7fffffff,
                              0x80000000,
                              0xfffffffe,
                              0xffffffff,
                              0x100000000,
                              0x100000001,
                              0x7fffffff80000000,
                              P - 0x100000000,
                              P - 0xffffffff,
                              0x8000000000000000,
                              P - 2,
                              P - 1};

}  // namespace

oracle::Job Generator::Make() {
  Body main;
  main.base = 0;  // nobody else needs the sixteen elements
  const uint64_t length = 5 + Below(Chance(3) ? 150 : 40);
  for (uint64_t i = 0; i < length; ++i) Statement(main);
  while (main.stack.size() > 20 && Chance(2)) Emit(main, Opcode::WriteIo, Take(main, 1 + Below(4)));
  Emit(main, Opcode::Halt);
  return Assemble(std::move(main));
}

uint64_t Generator::RandomElement() {
  if (Chance(2)) return Edges[Below(std::size(Edges))];
  return Chance(2) ? random_() % P : Below(1000);
}

void Generator::Emit(Body& body, Opcode op, uint64_t argument) {
  tasm::Instruction instruction;
  instruction.op = op;
  instruction.argument = argument;
  // Function numbers stand in for addresses until all code is there.
  if ((op == Opcode::Assert || op == Opcode::AssertVector) && Chance(4))
    instruction.error_id = static_cast<int64_t>(Below(1000));
  body.code.push_back(instruction);
  spent_ += body.times;
}

uint64_t Generator::Own(const Body& body) const {
  return body.stack.size() - std::max<size_t>(body.base, 16);
}

uint64_t Generator::Take(Body& body, uint64_t count) {
  body.stack.resize(body.stack.size() - count);
  return count;
}

void Generator::Give(Body& body, uint64_t count, bool is_u32) {
  body.stack.insert(body.stack.end(), count, Element{is_u32, std::nullopt});
}

void Generator::Push(Body& body, uint64_t element) {
  Emit(body, Opcode::Push, element);
  body.stack.push_back({element <= 0xffffffff, element});
}

const Element& Generator::At(const Body& body, uint64_t place) const {
  return body.stack[body.stack.size() - 1 - place];
}

void Generator::Any(Body& body, uint64_t count) {
  for (; count > 0; --count) {
    if (Chance(3)) {
      Push(body, RandomElement());
    } else {
      const uint64_t place = Below(16);
      Emit(body, Opcode::Dup, place);
      body.stack.push_back(At(body, place));
    }
  }
}

void Generator::U32(Body& body) {
  for (int tries = 0; tries < 4; ++tries) {
    const uint64_t place = Below(16);
    if (!At(body, place).is_u32) continue;
    Emit(body, Opcode::Dup, place);
    body.stack.push_back(At(body, place));
    return;
  }
  Push(body, Word());
}

void Generator::Address(Body& body) {
  if (Chance(6)) return Any(body);
  Push(body, Chance(8) ? P - 1 - Below(5) : Below(60));
}

void Generator::Statement(Body& body) {
  if (spent_ > CycleBudget * 2) return;
  if (Own(body) > 24) return Shrink(body);
  switch (Below(12)) {
    case 0:
    case 1: return Shuffle(body);
    case 2:
    case 3: return Field(body);
    case 4:
    case 5: return Integers(body);
    case 6: return Extension(body);
    case 7: return Memory(body);
    case 8: return Hashing(body);
    case 9: return InputOutput(body);
    case 10: return Control(body);
    default: return Own(body) > 8 ? Shrink(body) : Shuffle(body);
  }
}

void Generator::Shrink(Body& body) {
  const uint64_t count = 1 + Below(std::min<uint64_t>(5, Own(body)));
  if (Own(body) == 0) return;
  if (Own(body) >= 10 && body.sponge && Chance(3)) {
    Emit(body, Opcode::SpongeAbsorb);
    Take(body, 10);
  } else if (Own(body) >= 10 && Chance(3)) {
    Emit(body, Opcode::Hash);
    Take(body, 10);
    Give(body, 5);
  } else {
    Emit(body, Chance(2) ? Opcode::WriteIo : Opcode::Pop, count);
    Take(body, count);
  }
}

void Generator::Shuffle(Body& body) {
  const uint64_t reach = std::min<uint64_t>(16, body.stack.size() - body.base);
  const uint64_t kind = Below(6);
  if (kind <= 1 || reach == 0) return Any(body, 1 + Below(2));
  const uint64_t place = Below(reach);
  const size_t at = body.stack.size() - 1 - place;
  const Element moved = body.stack[at];
  if (kind == 2) {
    Emit(body, Opcode::Swap, place);
    std::swap(body.stack[at], body.stack.back());
  } else if (kind == 3) {
    Emit(body, Opcode::Pick, place);
    body.stack.erase(body.stack.begin() + static_cast<long>(at));
    body.stack.push_back(moved);
  } else if (kind == 4) {
    Emit(body, Opcode::Place, place);
    const Element top = body.stack.back();
    body.stack.pop_back();
    body.stack.insert(body.stack.begin() + static_cast<long>(at), top);
  } else {
    Emit(body, Opcode::AddI, RandomElement());
    body.stack.back() = {};
  }
}

void Generator::Field(Body& body) {
  switch (Below(5)) {
    case 0:
      Any(body, 2);
      Emit(body, Opcode::Add);
      Take(body, 2);
      return Give(body, 1);
    case 1:
      Any(body, 2);
      Emit(body, Opcode::Mul);
      Take(body, 2);
      return Give(body, 1);
    case 2: {
      if (Chance(3)) {
        Any(body);
        Emit(body, Opcode::Dup, 0);
        Give(body, 1);
      } else {
        Any(body, 2);
      }
      Emit(body, Opcode::Eq);
      Take(body, 2);
      return Give(body, 1, true);
    }
    case 3: {
      Push(body, 1 + RandomElement() % (P - 1));
      Emit(body, Opcode::Invert);
      Take(body, 1);
      return Give(body, 1);
    }
    default: {
      if (Chance(2)) {
        Push(body, 1);
        Emit(body, Opcode::Assert);
        Take(body, 1);
      } else {
        Any(body, 5);
        for (int i = 0; i < 5; ++i) Emit(body, Opcode::Dup, 4);
        Emit(body, Opcode::AssertVector);
      }
    }
  }
}

void Generator::Integers(Body& body) {
  switch (Below(9)) {
    case 0:
      Any(body);
      Emit(body, Opcode::Split);
      Take(body, 1);
      return Give(body, 2, true);
    case 1:
      U32(body);
      U32(body);
      Emit(body, Opcode::Lt);
      Take(body, 2);
      return Give(body, 1, true);
    case 2:
      U32(body);
      U32(body);
      Emit(body, Opcode::And);
      Take(body, 2);
      return Give(body, 1, true);
    case 3:
      U32(body);
      U32(body);
      Emit(body, Opcode::Xor);
      Take(body, 2);
      return Give(body, 1, true);
    case 4: {
      U32(body);
      // 2x+1 of a number below 2^31 is never 0; a constant may serve as it is.
      if (!At(body, 0).constant || *At(body, 0).constant == 0) {
        Take(body, 1);
        Emit(body, Opcode::Pop, 1);
        Push(body, 1 + (Word() & 0x7fffffff));
      }
      Emit(body, Opcode::Log2Floor);
      Take(body, 1);
      return Give(body, 1, true);
    }
    case 5:
      U32(body);
      Any(body);
      Emit(body, Opcode::Pow);
      Take(body, 2);
      return Give(body, 1);
    case 6: {
      Push(body, 1 + Word() % 0xffffffff);
      U32(body);
      Emit(body, Opcode::DivMod);
      Take(body, 2);
      return Give(body, 2, true);
    }
    default:
      U32(body);
      Emit(body, Opcode::PopCount);
      Take(body, 1);
      return Give(body, 1, true);
  }
}

void Generator::Extension(Body& body) {
  switch (Below(4)) {
    case 0:
      Any(body, 6);
      Emit(body, Opcode::XxAdd);
      Take(body, 6);
      return Give(body, 3);
    case 1:
      Any(body, 6);
      Emit(body, Opcode::XxMul);
      Take(body, 6);
      return Give(body, 3);
    case 2:
      Any(body, 4);
      Emit(body, Opcode::XbMul);
      Take(body, 4);
      return Give(body, 3);
    default: {
      Any(body, 2);
      Push(body, 1 + RandomElement() % (P - 1));
      Emit(body, Opcode::XInvert);
      Take(body, 3);
      return Give(body, 3);
    }
  }
}

void Generator::Memory(Body& body) {
  const uint64_t count = 1 + Below(5);
  switch (Below(5)) {
    case 0:
    case 1: {
      Any(body, count);
      Address(body);
      Emit(body, Opcode::WriteMem, count);
      Take(body, count + 1);
      return Give(body, 1);
    }
    case 2:
    case 3: {
      Address(body);
      Emit(body, Opcode::ReadMem, count);
      Take(body, 1);
      return Give(body, count + 1);
    }
    default: {
      Any(body, 3);
      Address(body);
      Address(body);
      for (uint64_t steps = 1 + Below(3); steps > 0; --steps)
        Emit(body, Chance(2) ? Opcode::XxDotStep : Opcode::XbDotStep);
      Take(body, 5);
      return Give(body, 5);
    }
  }
}

void Generator::Hashing(Body& body) {
  switch (Below(7)) {
    case 0:
      Any(body, 3 + Below(3));
      while (Own(body) < 10) Any(body);
      Emit(body, Opcode::Hash);
      Take(body, 10);
      return Give(body, 5);
    case 1:
      Emit(body, Opcode::SpongeInit);
      body.sponge = true;
      return;
    case 2: {
      NeedSponge(body);
      Emit(body, Opcode::SpongeSqueeze);
      return Give(body, 10);
    }
    case 3: {
      NeedSponge(body);
      while (Own(body) < 10) Any(body);
      Emit(body, Opcode::SpongeAbsorb);
      Take(body, 10);
      return;
    }
    case 4: {
      NeedSponge(body);
      Any(body, 4);
      Address(body);
      Emit(body, Opcode::SpongeAbsorbMem);
      Take(body, 5);
      return Give(body, 5);
    }
    case 5: {
      U32(body);
      Any(body, 5);
      for (uint64_t steps = 1 + Below(3); steps > 0; --steps) {
        Emit(body, Opcode::MerkleStep);
        digests_ += body.times;
      }
      Take(body, 6);
      Give(body, 1, true);
      return Give(body, 5);
    }
    default: {
      Address(body);
      Any(body);
      U32(body);
      Any(body, 5);
      for (uint64_t steps = 1 + Below(3); steps > 0; --steps) Emit(body, Opcode::MerkleStepMem);
      Take(body, 8);
      Give(body, 2);
      Give(body, 1, true);
      return Give(body, 5);
    }
  }
}

void Generator::NeedSponge(Body& body) {
  if (!body.sponge) Emit(body, Opcode::SpongeInit);
  body.sponge = true;
}

void Generator::InputOutput(Body& body) {
  const uint64_t count = 1 + Below(5);
  switch (Below(3)) {
    case 0:
      Emit(body, Opcode::ReadIo, count);
      inputs_ += count * body.times;
      return Give(body, count);
    case 1:
      Emit(body, Opcode::Divine, count);
      secrets_ += count * body.times;
      return Give(body, count);
    default:
      Any(body, count);
      Emit(body, Opcode::WriteIo, count);
      Take(body, count);
  }
}

oracle::Job GenerateJob(uint64_t seed) { return Generator(seed).Make(); }

}  // namespace frazil::tests
