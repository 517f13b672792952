// Pairs that mean the same by construction are proved; pairs at random that are proved agree on runs; what the
// original's unsound passes did is refuted.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/number/goldilocks.h"
#include "verify/tasm/sample.h"
#include "verify/tasm/tasm.h"

namespace frazil::verify::tasm {
namespace {

namespace gl = goldilocks;
using mt::Opcode;

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e37'79b9'7f4a'7c15u + 1) {}
  uint64_t Next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    return state_ ^= state_ << 17;
  }
  uint64_t Below(uint64_t n) { return (Next() >> 11) % n; }

 private:
  uint64_t state_;
};

using Code = std::vector<mt::Instruction>;

mt::Instruction Make(Opcode op, uint64_t argument = 0) {
  mt::Instruction instruction;
  instruction.op = op;
  instruction.argument = argument;
  return instruction;
}

uint64_t SomeElement(Random& random) {
  const uint64_t few[] = {0, 1, 2, 3, 5, gl::P - 1, 0xffff'ffffu, uint64_t{1} << 32};
  return random.Below(2) == 0 ? few[random.Below(8)] : random.Below(1000);
}

mt::Instruction SomeInstruction(Random& random) {
  constexpr Opcode Ops[] = {
      Opcode::Push,          Opcode::Push,     Opcode::Dup,       Opcode::Dup,
      Opcode::Swap,          Opcode::Pick,     Opcode::Place,     Opcode::Add,
      Opcode::Mul,           Opcode::AddI,     Opcode::Eq,        Opcode::Pop,
      Opcode::Split,         Opcode::Lt,       Opcode::And,       Opcode::Xor,
      Opcode::DivMod,        Opcode::PopCount, Opcode::ReadIo,    Opcode::WriteIo,
      Opcode::Divine,        Opcode::ReadMem,  Opcode::WriteMem,  Opcode::Invert,
      Opcode::XxAdd,         Opcode::XxMul,    Opcode::XbMul,     Opcode::Pow,
      Opcode::Log2Floor,     Opcode::Assert,   Opcode::Hash,      Opcode::SpongeInit,
      Opcode::SpongeSqueeze, Opcode::XInvert,  Opcode::MerkleStep};
  const Opcode op = Ops[random.Below(std::size(Ops))];
  switch (mt::Info(op).argument) {
    case mt::Argument::Element: return Make(op, SomeElement(random));
    case mt::Argument::Count: return Make(op, 1 + random.Below(3));
    case mt::Argument::Place: return Make(op, random.Below(random.Below(3) == 0 ? 16 : 4));
    default: return Make(op);
  }
}

Code SomeCode(Random& random, size_t length) {
  Code code;
  for (size_t i = 0; i < length; ++i) code.push_back(SomeInstruction(random));
  return code;
}

void Insert(Code& code, size_t at, const Code& what) {
  code.insert(code.begin() + static_cast<long>(at), what.begin(), what.end());
}

// One rewrite that changes nothing.
void Rewrite(Random& random, Code& code) {
  const size_t at = random.Below(code.size() + 1);
  const uint64_t place = random.Below(16), element = SomeElement(random);
  switch (random.Below(9)) {
    case 0: return Insert(code, at, {Make(Opcode::Swap, place), Make(Opcode::Swap, place)});
    case 1: return Insert(code, at, {Make(Opcode::Pick, place), Make(Opcode::Place, place)});
    case 2: return Insert(code, at, {Make(Opcode::Push, element), Make(Opcode::Pop, 1)});
    case 3:
      return Insert(code, at, {Make(Opcode::AddI, element), Make(Opcode::AddI, gl::Neg(element))});
    case 4: return Insert(code, at, {Make(Opcode::Dup, place), Make(Opcode::Pop, 1)});
    case 5:
      return Insert(code, at,
                    {Make(Opcode::Split), Make(Opcode::Swap, 1),
                     Make(Opcode::Push, uint64_t{1} << 32), Make(Opcode::Mul), Make(Opcode::Add)});
    case 6:
      return Insert(code, at,
                    {Make(Opcode::Push, gl::P - 1), Make(Opcode::Mul),
                     Make(Opcode::Push, gl::P - 1), Make(Opcode::Mul)});
    default: break;
  }
  // An operand order, a constant in two parts.
  for (size_t i = 0; i < code.size(); ++i) {
    const size_t j = (at + i) % code.size();
    const Opcode op = code[j].op;
    if (op == Opcode::Add || op == Opcode::Mul || op == Opcode::And || op == Opcode::Xor ||
        op == Opcode::Eq) {
      return Insert(code, j, {Make(Opcode::Swap, 1)});
    }
    if (op == Opcode::Push) {
      code[j].argument = gl::Sub(code[j].argument, element);
      return Insert(code, j + 1, {Make(Opcode::AddI, element)});
    }
  }
}

mt::Program Program(Code code) {
  mt::Program program;
  program.code = std::move(code);
  return program;
}

// Runs both many times; the samples of the checker and others.
std::optional<std::string> Runs(const mt::Program& a, const mt::Program& b, uint64_t seed,
                                int times) {
  Sampler sampler({0, 1, 2, 3, 5}, true, seed);
  for (int i = 0; i < times; ++i) {
    if (auto difference = Difference(a, b, sampler.Next(), true)) return difference;
  }
  return std::nullopt;
}

TEST(TasmEquivalent, RewrittenFragmentsAreProved) {
  Random random(7);
  Options options;
  options.fragments = true;
  uint64_t proved = 0;
  for (int i = 0; i < 400; ++i) {
    const Code code = SomeCode(random, 1 + random.Below(14));
    Code other = code;
    const uint64_t times = 1 + random.Below(4);
    for (uint64_t k = 0; k < times; ++k) Rewrite(random, other);
    const mt::Program a = Program(code), b = Program(other);
    options.deep_stack = true;
    const Verdict answer = Compare(a, b, options);
    EXPECT_TRUE(CallsEqual(answer)) << mt::Print(a) << "against\n"
                                    << mt::Print(b) << Describe(answer);
    proved += std::holds_alternative<Proved>(answer) ? 1 : 0;
  }
  EXPECT_GE(proved, 200u);
}

// Small changes of a fragment: some mean the same, most do not. Whatever is proved must agree on every run.
TEST(TasmEquivalent, WhatIsProvedAgrees) {
  Random random(11);
  Options options;
  options.fragments = true;
  uint64_t proved = 0, refuted = 0, unknown = 0;
  for (int i = 0; i < 600; ++i) {
    const Code code = SomeCode(random, 1 + random.Below(8));
    Code other = code;
    const uint64_t times = 1 + random.Below(2);
    for (uint64_t k = 0; k < times; ++k) {
      const size_t at = random.Below(other.size());
      switch (random.Below(4)) {
        case 0: other[at] = SomeInstruction(random); break;
        case 1: std::swap(other[at], other[random.Below(other.size())]); break;
        case 2: Insert(other, at, {SomeInstruction(random)}); break;
        default:
          if (other.size() > 1) other.erase(other.begin() + static_cast<long>(at));
      }
    }
    const mt::Program a = Program(code), b = Program(other);
    const Verdict answer = Compare(a, b, options);
    if (std::holds_alternative<Refuted>(answer)) {
      ++refuted;
      EXPECT_TRUE(Replays(a, b, std::get<Refuted>(answer).start(), true));
    }
    unknown += std::holds_alternative<Unknown>(answer) ? 1 : 0;
    if (!CallsEqual(answer)) continue;
    ++proved;
    const auto difference = Runs(a, b, static_cast<uint64_t>(i), 200);
    EXPECT_FALSE(difference.has_value()) << mt::Print(a) << "against\n"
                                         << mt::Print(b) << difference.value_or("");
  }
  EXPECT_GE(proved, 25u);
  EXPECT_GE(refuted, 250u);
  RecordProperty("proved", static_cast<int>(proved));
  RecordProperty("unknown", static_cast<int>(unknown));
}

TEST(TasmEquivalent, UnsoundPassesOfTheOriginalAreRefuted) {
  const std::pair<const char*, const char*> passes[] = {
      // Clean-up at a constant depth, and at falling depths, collapsed into one swap and one pop.
      {"swap 5 pop 1 swap 5 pop 1 swap 5 pop 1 swap 5 pop 1 swap 5 pop 1", "swap 5 pop 5"},
      {"swap 3 pop 1 swap 2 pop 1 swap 1 pop 1", "swap 3 pop 3"},
      // A store and its load deleted although the value has moved meanwhile, or another load reads it.
      {"push 1073741824 write_mem 1 pop 1 swap 1 push 1073741824 read_mem 1 pop 1", "swap 1"},
      {"push 1073741824 write_mem 1 pop 1 push 1073741824 read_mem 1 pop 1 push 1073741824 "
       "read_mem 1 pop 1",
       "push 1073741824 read_mem 1 pop 1"},
  };
  Options options;
  options.fragments = true;
  for (const auto& [before, after] : passes) {
    const mt::Program a = *mt::Parse(before), b = *mt::Parse(after);
    const Verdict answer = Compare(a, b, options);
    ASSERT_EQ(VerdictName(answer), "refuted") << before;
    EXPECT_TRUE(Replays(a, b, std::get<Refuted>(answer).start(), true));
  }
}

}  // namespace
}  // namespace frazil::verify::tasm
