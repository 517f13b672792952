// Every instruction and every crash, one line each; heights and digests pinned from the published machine.
#include "machines/tasm/vm.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "base/number/goldilocks.h"
#include "machines/tasm/fragment.h"
#include "machines/tasm/machine.h"
#include "machines/tasm/manual.h"

namespace frazil::machines::tasm {
namespace {

using Numbers = std::vector<uint64_t>;
constexpr uint64_t P = goldilocks::P;

Program Read(std::string_view text, Profile profile = Profile::Dot) {
  Result<Program> program = Parse(text, profile);
  EXPECT_TRUE(program) << program.error().ToString() << "\n" << text;
  return program ? std::move(*program) : Program{};
}

const Inputs Given = {
    .input = {11, 12, 13, 14, 15},
    .secret = {21, 22, 23, 24, 25},
    .digests = {{31, 32, 33, 34, 35}},
    .ram = {{100, 5}, {101, 6}, {102, 7}, {103, 8}, {104, 9}, {P - 1, 3}, {0, 4}}};

// Runs in all three ways; they agree.
RunResult RunAll(const Program& program, const Inputs& inputs = Given,
                 const RunLimits& limits = {}) {
  const RunResult run = Run(program, inputs, limits);
  const TraceResult trace = Trace(program, inputs, limits);
  RunLimits close = limits;
  close.cycles = std::min(limits.cycles, run.cycles + 1);
  const RunResult stepped = Run(program, inputs, close);
  for (const RunResult* other : {&trace.run, &stepped}) {
    EXPECT_EQ(run.output, other->output);
    EXPECT_EQ(run.cycles, other->cycles);
    EXPECT_EQ(run.stack, other->stack);
    EXPECT_EQ(run.crash.has_value(), other->crash.has_value());
    if (run.crash && other->crash) {
      EXPECT_EQ(run.crash->kind, other->crash->kind);
      EXPECT_EQ(run.crash->sentence, other->crash->sentence);
    }
  }
  return run;
}

struct Good {
  std::string_view code;  // what it leaves is written, top first
  Numbers output;
  Profile profile = Profile::Dot;
};

const Good GoodCases[] = {
    {"push 1 push 2 push 3 pop 2 write_io 1", {1}},
    {"push -1 write_io 1", {P - 1}},
    {"divine 5 write_io 5", {25, 24, 23, 22, 21}},
    {"read_io 5 write_io 5", {15, 14, 13, 12, 11}},
    {"push 1 push 2 push 3 pick 2 write_io 3", {1, 3, 2}},
    {"push 1 push 2 push 3 pick 0 write_io 3", {3, 2, 1}},
    {"push 9 push 8 place 15 pick 15 write_io 2", {8, 9}},
    {"push 1 push 2 push 3 place 2 write_io 3", {2, 1, 3}},
    {"push 7 push 8 push 9 place 1 write_io 3", {8, 9, 7}},
    {"push 1 push 2 dup 1 write_io 3", {1, 2, 1}},
    {"push 1 push 2 push 3 swap 2 write_io 3", {1, 2, 3}},
    {"push 5 swap 0 write_io 1", {5}},
    {"nop push 1 write_io 1", {1}},
    {"push 0 skiz push 1 push 2 write_io 1", {2}},
    {"push 3 skiz push 1 push 2 write_io 2", {2, 1}},
    {"push 0 skiz halt push 2 write_io 1", {2}},
    {"push 1 assert push 4 write_io 1", {4}},
    {"push 104 read_mem 5 write_io 5 write_io 1", {99, 5, 6, 7, 8, 9}},
    {"push 0 read_mem 2 write_io 3", {P - 2, 3, 4}},
    {"push 12345 read_mem 1 write_io 2", {12344, 0}},
    {"push 7 push 8 push 50 write_mem 2 write_io 1 push 51 read_mem 2 write_io 3", {52, 49, 8, 7}},
    {"push 1 push 2 push -1 write_mem 2 write_io 1 push 0 read_mem 2 write_io 3", {1, P - 2, 2, 1}},
    {"push 1 push 2 push 3 push 4 push 5 push 1 push 2 push 3 push 4 push 5 assert_vector write_io "
     "5",
     {5, 4, 3, 2, 1}},
    {"push 3 push 4 add write_io 1", {7}},
    {"push -1 push 1 add write_io 1", {0}},
    {"push -1 addi -1 write_io 1", {P - 2}},
    {"push -1 push -1 mul write_io 1", {1}},
    {"push 4294967296 push 4294967296 mul write_io 1", {4294967295}},
    {"push 7 invert push 7 mul write_io 1", {1}},
    {"push 3 push 3 eq push 3 push 4 eq write_io 2", {0, 1}},
    {"push -1 split write_io 2", {0, 4294967295}},
    {"push 4294967297 split write_io 2", {1, 1}},
    {"push 5 push 3 lt write_io 1", {1}},
    {"push 3 push 5 lt write_io 1", {0}},
    {"push 4 push 4 lt write_io 1", {0}},
    {"push 12 push 10 and push 12 push 10 xor write_io 2", {6, 8}},
    {"push 1 log_2_floor push 4294967295 log_2_floor write_io 2", {31, 0}},
    {"push 5 push 2 pow push 0 push 0 pow push 3 push 0 pow write_io 3", {0, 1, 32}},
    {"push 4294967295 push 7 pow write_io 1", {goldilocks::Pow(7, 4294967295)}},
    {"push 4294967295 push -1 pow write_io 1", {P - 1}},
    {"push 7 push 45 div_mod write_io 2", {3, 6}},
    {"push 4294967295 push 1 div_mod write_io 2", {1, 0}},
    {"push 4294967295 pop_count push 0 pop_count write_io 2", {0, 32}},
    {"push 3 push 2 push 1 push 30 push 20 push 10 xx_add write_io 3", {11, 22, 33}},
    // x * x^2 = x^3 = x - 1
    {"push 0 push 1 push 0 push 1 push 0 push 0 xx_mul write_io 3", {P - 1, 1, 0}},
    {"push 3 push 2 push 1 x_invert push 3 push 2 push 1 xx_mul write_io 3", {1, 0, 0}},
    {"push 3 push 2 push 1 push 10 xb_mul write_io 3", {10, 20, 30}},
    // 11 + (5 + 6x + 7x^2)(8 + 9x), x^3 = x - 1: 40 + 93x + 110x^2 + 63x^3 = -23 + 156x + 110x^2
    {"push 0 push 0 push 11 push 100 push 103 xx_dot_step write_io 5",
     {106, 103, P - 12, 156, 110}},
    {"push 0 push 0 push 11 push 102 push 100 xb_dot_step write_io 5", {101, 105, 46, 40, 45}},
    // (1 + 2x) * 10 + RAM[101]; then downward
    {"push 0 push 2 push 1 push 0 push 101 push 0 push 0 push 0 push 0 push 10 b_horner_step pop 5 "
     "write_io 5",
     {100, 0, 16, 20, 0},
     Profile::Horner},
    {"push 0 push 2 push 1 push 0 push 104 push 0 push 0 push 0 push 0 push 10 x_horner_step pop 5 "
     "write_io 5",
     {101, 0, 17, 28, 9},
     Profile::Horner},
    {"call f write_io 1 halt f: push 6 return", {6}},
    {"push 3 call f write_io 1 halt f: addi -1 dup 0 skiz recurse return", {0}},
    {"push 0 push 3 push 0 push 0 push 0 push 0 push 0 call f pop 5 write_io 2 halt "
     "f: pick 6 addi 1 place 6 recurse_or_return",
     {3, 3}},
};

TEST(Vm, EveryInstruction) {
  for (const Good& good : GoodCases) {
    const Program program = Read(
        fmt::format("{}{}", good.code, good.code.contains("halt f:") ? "" : " halt"), good.profile);
    const RunResult result = RunAll(program);
    EXPECT_FALSE(result.crash) << good.code << ": " << result.crash->sentence;
    EXPECT_EQ(result.output, good.output) << good.code;
  }
}

struct Bad {
  std::string_view code;
  CrashKind kind;
  uint64_t cycle;
};

const Bad BadCases[] = {
    {"", CrashKind::InstructionPointer, 0},
    {"nop", CrashKind::InstructionPointer, 1},
    {"push 0 skiz", CrashKind::InstructionPointer, 1},
    {"push 1 skiz", CrashKind::InstructionPointer, 2},
    {"push 0 skiz nop", CrashKind::InstructionPointer, 2},
    {"call f f:", CrashKind::InstructionPointer, 1},
    {"pop 1", CrashKind::OpStackTooShallow, 0},
    {"push 1 pop 2", CrashKind::OpStackTooShallow, 1},
    {"push 1 pop 1 pop 5", CrashKind::OpStackTooShallow, 2},
    {"skiz", CrashKind::OpStackTooShallow, 0},
    {"assert", CrashKind::OpStackTooShallow, 0},
    {"write_io 1", CrashKind::OpStackTooShallow, 0},
    {"push 0 write_mem 2", CrashKind::OpStackTooShallow, 1},
    {"hash", CrashKind::OpStackTooShallow, 0},
    {"push 1 push 1 push 1 push 1 hash", CrashKind::OpStackTooShallow, 4},
    {"assert_vector", CrashKind::OpStackTooShallow, 0},
    {"sponge_absorb", CrashKind::OpStackTooShallow, 0},
    {"add", CrashKind::OpStackTooShallow, 0},
    {"mul", CrashKind::OpStackTooShallow, 0},
    {"eq", CrashKind::OpStackTooShallow, 0},
    {"lt", CrashKind::OpStackTooShallow, 0},
    {"and", CrashKind::OpStackTooShallow, 0},
    {"xor", CrashKind::OpStackTooShallow, 0},
    {"pow", CrashKind::OpStackTooShallow, 0},
    {"xx_add", CrashKind::OpStackTooShallow, 0},
    {"xx_mul", CrashKind::OpStackTooShallow, 0},
    {"xb_mul", CrashKind::OpStackTooShallow, 0},
    {"return", CrashKind::JumpStackEmpty, 0},
    {"recurse", CrashKind::JumpStackEmpty, 0},
    {"recurse_or_return", CrashKind::JumpStackEmpty, 0},
    {"call f return f: return", CrashKind::JumpStackEmpty, 2},
    {"push 0 assert", CrashKind::AssertionFailed, 1},
    {"push 2 assert error_id 7", CrashKind::AssertionFailed, 1},
    {"push 1 push 2 push 3 push 4 push 5 assert_vector", CrashKind::VectorAssertionFailed, 5},
    {"push 0 invert", CrashKind::InverseOfZero, 1},
    {"push 0 push 0 push 0 x_invert", CrashKind::InverseOfZero, 3},
    {"push 0 push 4 div_mod", CrashKind::DivisionByZero, 2},
    {"push 0 push 4294967296 div_mod", CrashKind::NotU32, 2},
    {"push 4294967296 push 1 div_mod", CrashKind::NotU32, 2},
    {"push 0 log_2_floor", CrashKind::LogarithmOfZero, 1},
    {"push 4294967296 log_2_floor", CrashKind::NotU32, 1},
    {"push -1 pop_count", CrashKind::NotU32, 1},
    {"push 4294967296 push 1 lt", CrashKind::NotU32, 2},
    {"push 1 push 4294967296 lt", CrashKind::NotU32, 2},
    {"push 4294967296 push 1 and", CrashKind::NotU32, 2},
    {"push 1 push 4294967296 xor", CrashKind::NotU32, 2},
    {"push 4294967296 push 1 pow", CrashKind::NotU32, 2},
    {"push 4294967296 push 1 push 1 push 1 push 1 push 1 merkle_step", CrashKind::NotU32, 6},
    {"push 4294967296 push 1 push 1 push 1 push 1 push 1 merkle_step_mem", CrashKind::NotU32, 6},
    {"sponge_squeeze", CrashKind::SpongeNotInitialized, 0},
    {"sponge_absorb_mem", CrashKind::SpongeNotInitialized, 0},
    {"push 1 push 1 push 1 push 1 push 1 push 1 push 1 push 1 push 1 push 1 sponge_absorb",
     CrashKind::SpongeNotInitialized, 10},
    {"read_io 5 read_io 1", CrashKind::InputEmpty, 1},
    {"read_io 4 read_io 2", CrashKind::InputEmpty, 1},
    {"divine 5 divine 1", CrashKind::SecretEmpty, 1},
    {"merkle_step merkle_step", CrashKind::DigestsEmpty, 1},
};

TEST(Vm, EveryCrash) {
  for (const Bad& bad : BadCases) {
    const RunResult result = RunAll(Read(bad.code));
    ASSERT_TRUE(result.crash) << bad.code;
    EXPECT_EQ(CrashName(result.crash->kind), CrashName(bad.kind)) << bad.code;
    EXPECT_EQ(result.crash->cycle, bad.cycle) << bad.code;
    EXPECT_EQ(result.cycles, bad.cycle) << bad.code;
  }
  const RunResult result = RunAll(Read("nop main: push 0 push 4 div_mod"));
  EXPECT_EQ(result.crash->sentence,
            "division by zero at instruction 3 (div_mod) in `main`, cycle 3");
  EXPECT_EQ(RunAll(Read("push 2 assert error_id 7")).crash->error_id, 7);
}

TEST(Vm, TheStackStartsWithTheDigest) {
  const Program program = Read("halt");
  const Digest digest = {4843866011885844809u, 16618866032559590857u, 18247689143239181392u,
                         7637465675240023996u, 9104890367162237026u};
  EXPECT_EQ(ProgramDigest(program), digest);
  const RunResult result = RunAll(program);
  ASSERT_EQ(result.stack.size(), 16u);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(result.stack[4 - i], digest[i]);
}

TEST(Vm, HashingIsTip5) {
  std::array<uint64_t, 10> ten{};
  std::string pushes;
  for (size_t i = 10; i-- > 0;) {
    ten[i] = 100 + i;
    pushes += fmt::format("push {} ", 100 + i);
  }
  const auto numbers = [](const Digest& digest) { return Numbers(digest.begin(), digest.end()); };
  EXPECT_EQ(RunAll(Read(pushes + "hash write_io 5 halt")).output, numbers(HashTen(ten)));

  Tip5State sponge;
  std::ranges::copy(ten, sponge.elements.begin());
  Permute(sponge);
  const Numbers first(sponge.elements.begin(), sponge.elements.begin() + 10);
  EXPECT_EQ(RunAll(Read("sponge_init " + pushes +
                        "sponge_absorb sponge_squeeze write_io 5 write_io 5 halt"))
                .output,
            first);
  // Squeezing permutes; starting again forgets.
  Permute(sponge);
  const Numbers second(sponge.elements.begin(), sponge.elements.begin() + 10);
  EXPECT_EQ(
      RunAll(
          Read(
              "sponge_init " + pushes +
              "sponge_absorb sponge_squeeze pop 5 pop 5 sponge_squeeze write_io 5 write_io 5 halt"))
          .output,
      second);
  EXPECT_EQ(RunAll(Read("sponge_init " + pushes +
                        "sponge_absorb sponge_init sponge_squeeze write_io 5 write_io 5 halt"))
                .output,
            Numbers(10));

  // The sibling is 31..35, the node 1..5 with its first element on top.
  const Digest node = {1, 2, 3, 4, 5}, sibling = Given.digests[0];
  const std::string node_code =
      "push 5 push 4 push 3 push 2 push 1 merkle_step write_io 5 write_io 1 halt";
  Numbers even = numbers(HashPair(node, sibling)), odd = numbers(HashPair(sibling, node));
  even.push_back(3);
  odd.push_back(3);
  EXPECT_EQ(RunAll(Read("push 6 " + node_code)).output, even);
  EXPECT_EQ(RunAll(Read("push 7 " + node_code)).output, odd);
  const Digest in_ram = {5, 6, 7, 8, 9};
  Numbers up = numbers(HashPair(in_ram, node));
  up.insert(up.end(), {3, 0, 105});
  EXPECT_EQ(RunAll(Read("push 100 push 0 push 7 push 5 push 4 push 3 push 2 push 1 merkle_step_mem "
                        "write_io 5 write_io 3 halt"))
                .output,
            up);
  // Absorbing memory leaves its first four words below the pointer.
  EXPECT_EQ(
      RunAll(
          Read(
              "sponge_init push 9 push 9 push 9 push 9 push 100 sponge_absorb_mem write_io 5 halt"))
          .output,
      (Numbers{110, 5, 6, 7, 8}));
}

struct Measured {
  std::string_view code;
  std::array<uint64_t, 9> heights;
};

TEST(Vm, HeightsOfThePublishedMachine) {
  const Measured cases[] = {
      {"halt", {10, 1, 0, 0, 1, 6, 66, 256, 0}},
      {"push 0 push 1 read_io 1 dup 0 skiz call fib_loop pop 1 write_io 1 halt "
       "fib_loop: push -1 add swap 2 dup 1 add swap 1 swap 2 dup 0 skiz recurse return",
       {40, 119, 73, 0, 119, 24, 272, 256, 0}},
      {"read_io 2 dup 1 dup 1 lt skiz swap 1 loop_cond: dup 1 push 0 eq skiz call terminate dup 1 "
       "dup 1 div_mod "
       "swap 2 pop 2 swap 1 call loop_cond terminate: write_io 1 halt",
       {40, 34, 27, 0, 34, 24, 271, 256, 22}},
      {"push 1311768464867721216 split push 13387 push 78810 lt push 5 push 7 pow push 69584 push "
       "6796 xor "
       "push 64972 push 3915 and push 98668 push 15787 div_mod push 15787 push 98668 div_mod push "
       "98141 push 7397 and "
       "push 67749 push 60797 lt push 49528 split push 53483 call lsb push 79655 call is_u32 push "
       "60615 log_2_floor "
       "push 13 push 5 pow push 86323 push 37607 xor push 32374 push 20636 pow push 97416 "
       "log_2_floor push 14392 "
       "push 31589 div_mod halt lsb: push 2 swap 1 div_mod return is_u32: split pop 1 push 0 eq "
       "return",
       {100, 58, 46, 0, 58, 60, 680, 256, 349}},
      {"push 20 call f halt f: push 1 push 2 push 3 push 4 push 5 dup 5 dup 0 dup 0 dup 0 dup 0 "
       "hash pop 5 addi -1 "
       "dup 0 skiz recurse return",
       {40, 323, 441, 0, 323, 144, 1560, 256, 0}},
      {"sponge_init push 1 push 2 push 3 push 4 push 100 sponge_absorb_mem pop 5 sponge_squeeze "
       "sponge_absorb "
       "sponge_squeeze pop 5 write_io 5 halt",
       {30, 14, 50, 10, 14, 43, 494, 256, 0}},
      {"push 40 push 0 call f halt f: dup 1 dup 1 write_mem 1 dup 0 addi -1 read_mem 1 pop 2 swap "
       "1 addi -1 dup 0 "
       "push 0 eq skiz return swap 1 recurse",
       {40, 33, 24, 4, 33, 24, 271, 256, 0}},
  };
  for (const Measured& measured : cases) {
    const TraceResult trace = Trace(Read(measured.code), Given);
    EXPECT_FALSE(trace.run.crash) << measured.code;
    EXPECT_EQ(trace.profile.heights, measured.heights) << measured.code;
    EXPECT_EQ(Trace(Read(measured.code), Given, {}, false).profile, trace.profile);
  }
}

TEST(Vm, ProfilesAndCliffs) {
  TableProfile profile;
  EXPECT_EQ(profile.PaddedHeight(), 256u);
  profile.heights = {10, 300, 40, 50, 300, 60, 301, 256, 7};
  EXPECT_EQ(profile.MaxHeight(), 301u);
  EXPECT_EQ(profile.Binding(), Table::Cascade);
  EXPECT_EQ(profile.PaddedHeight(), 512u);
  EXPECT_EQ(profile.Visible(), (std::array<uint64_t, 6>{300, 60, 7, 40, 50, 300}));
  profile.heights[6] = 512;
  EXPECT_EQ(profile.PaddedHeight(), 512u);
  profile.heights[6] = UINT64_MAX;
  EXPECT_EQ(profile.PaddedHeight(), UINT64_MAX);
}

// Steps over coefficients in memory, from the highest down, are Horner's rule.
TEST(Vm, HornerStepsEvaluatePolynomials) {
  using goldilocks::XElement;
  std::mt19937_64 random(4);
  const auto element = [&] { return random() % P; };
  for (const bool extension : {false, true}) {
    const XElement x = {element(), element(), element()};
    Inputs inputs;
    XElement expected{};
    const uint64_t width = extension ? 3 : 1, first = P - 4;
    std::string steps;
    for (uint64_t i = 10; i-- > 0;) {
      XElement coefficient{};
      for (uint64_t k = 0; k < width; ++k) {
        coefficient[k] = element();
        inputs.ram[goldilocks::Add(first, i * width + k)] = coefficient[k];
      }
      expected = goldilocks::Add(goldilocks::Mul(expected, x), coefficient);
      steps += extension ? "x_horner_step " : "b_horner_step ";
    }
    const Program program = Read(
        fmt::format("push 0 push 0 push 0 push 0 push {} push 0 push 0 push {} push {} push {} {} "
                    "pop 5 write_io 5 halt",
                    goldilocks::Add(first, 10 * width - 1), x[2], x[1], x[0], steps),
        Profile::Horner);
    const RunResult result = RunAll(program, inputs);
    EXPECT_EQ(result.output,
              (Numbers{goldilocks::Sub(first, 1), 0, expected[0], expected[1], expected[2]}));
    EXPECT_EQ(Trace(program, inputs).profile[Table::Ram], 10 * width);
  }
}

// What ran before the crash counts, the instruction that crashed does not.
TEST(Vm, HeightsUpToACrash) {
  const TableProfile profile = Trace(Read("push 5 split hash invert"), Given).profile;
  EXPECT_EQ(profile[Table::Processor], 2u);
  EXPECT_EQ(profile[Table::OpStack], 2u);
  EXPECT_EQ(profile[Table::U32], 4u);
  EXPECT_EQ(profile[Table::Hash], 6u);
}

TEST(Vm, EveryInstructionHasAHandlerAndASentence) {
  const std::string manual = ManualText();
  for (int i = 0; i < OpcodeCount; ++i) {
    const auto opcode = static_cast<Opcode>(i);
    Program program;
    program.code.push_back({.op = opcode, .argument = 1});
    for (const Mode mode : {Mode::Fast, Mode::Traced, Mode::Stepping})
      EXPECT_NE(Predecode(program, mode)[0].handler, nullptr) << Info(opcode).mnemonic;
    EXPECT_FALSE(Info(opcode).effect.empty()) << Info(opcode).mnemonic;
    EXPECT_TRUE(manual.contains(fmt::format("| `{}", Info(opcode).mnemonic)));
  }
}

TEST(Vm, LimitsEndRuns) {
  const Program loop = Read("call f f: nop recurse");
  for (const uint64_t cycles : {0u, 1u, 2u, 3u, 100u, 100'001u}) {
    const RunResult result = RunAll(loop, Given, {.cycles = cycles});
    ASSERT_TRUE(result.crash);
    EXPECT_EQ(result.crash->kind, CrashKind::Cycles);
    EXPECT_EQ(result.cycles, cycles);
  }
  // As many cycles as it needs are enough.
  EXPECT_FALSE(RunAll(Read("nop nop halt"), Given, {.cycles = 3}).crash);
  EXPECT_TRUE(RunAll(Read("nop nop halt"), Given, {.cycles = 2}).crash);
  const RunLimits little = {.memory_words = 10'000};
  for (const std::string_view code :
       {"call f f: push 1 recurse", "call f f: call f",
        "push 0 call f f: push 1 dup 1 write_mem 1 pop 1 addi 1000 recurse",
        "call f f: push 1 write_io 1 recurse"}) {
    const RunResult result = tasm::Run(Read(code), Given, little);
    ASSERT_TRUE(result.crash) << code;
    EXPECT_EQ(result.crash->kind, CrashKind::Memory) << code;
  }
  const std::atomic<bool> stop = true;
  const RunResult stopped = tasm::Run(loop, Given, {.stop = &stop});
  ASSERT_TRUE(stopped.crash);
  EXPECT_NE(stopped.crash->sentence.find("stopped"), std::string::npos);
  // A time limit is time, not a number of cycles that once took as long.
  const auto begun = Deadline::Clock::now();
  const RunResult late = tasm::Run(loop, Given, {.deadline = Deadline::After(uint64_t{50})});
  ASSERT_TRUE(late.crash);
  EXPECT_EQ(late.crash->kind, CrashKind::Cycles);
  EXPECT_GE(Deadline::Clock::now() - begun, std::chrono::milliseconds(50));
}

TEST(Vm, DeepStacksAndDeepCallsGrow) {
  const RunResult deep =
      RunAll(Read("push 100000 call f halt f: dup 0 skiz recurse return"), Given, {.cycles = 1000});
  EXPECT_TRUE(deep.crash);
  // Pushes 30,000 words and sums them again.
  const RunResult sum =
      RunAll(Read("push 0 push 30000 call down pop 1 call up write_io 1 halt "
                  "down: dup 0 push 0 eq skiz return dup 0 addi -1 recurse "
                  "up: dup 1 push 0 eq skiz return add recurse"));
  ASSERT_FALSE(sum.crash) << sum.crash->sentence;
  EXPECT_EQ(sum.output, Numbers{30000ull * 30001 / 2});
  const RunResult calls =
      RunAll(Read("push 20000 call f write_io 1 halt f: dup 0 push 0 eq skiz return addi -1 call f "
                  "addi 1 return"));
  ASSERT_FALSE(calls.crash) << calls.crash->sentence;
  EXPECT_EQ(calls.output, Numbers{20000});
}

TEST(Vm, TellsHowMuchInputWasRead) {
  const Inputs inputs{{1, 2, 3, 4, 5}, {}, {}, {}};
  EXPECT_EQ(RunAll(Read("read_io 2 read_io 1 halt"), inputs).inputs_read, 3u);
  EXPECT_EQ(RunAll(Read("halt"), inputs).inputs_read, 0u);
  EXPECT_EQ(Trace(Read("read_io 5 halt"), inputs).run.inputs_read, 5u);
}

TEST(Vm, MemoryIsWideAndSparse) {
  std::mt19937_64 random(3);
  std::string code;
  std::unordered_map<uint64_t, uint64_t> expected;
  Numbers addresses;
  for (int i = 0; i < 2000; ++i) {
    const uint64_t address = i % 3 == 0   ? random() % P
                             : i % 3 == 1 ? random() % 300
                                          : P - 1 - random() % 300;
    const uint64_t value = random() % P;
    expected[address] = value;
    addresses.push_back(address);
    code += fmt::format("push {} push {} write_mem 1 pop 1 ", value, address);
  }
  for (const uint64_t address : addresses)
    code += fmt::format("push {} read_mem 1 pop 1 write_io 1 ", address);
  const RunResult result = RunAll(Read(code + "halt"), {});
  ASSERT_EQ(result.output.size(), addresses.size());
  for (size_t i = 0; i < addresses.size(); ++i) EXPECT_EQ(result.output[i], expected[addresses[i]]);
  EXPECT_EQ(RunFragment(Read(code), {}, {}).written, expected);
}

// Rows of functions and of chains add up to the heights, less what hashing the program costs.
TEST(Vm, AttributionAddsUp) {
  const Program program = Read(R"(
    push 5 call loop pop 1
    push 3 push 4 call mix pop 5 halt
    loop: dup 0 push 0 eq skiz return dup 0 split pop 2 call mix_one addi -1 recurse
    mix_one: push 7 push 9 lt pop 1 call mix_two return
    mix_two: push 1 push 2 push 50 write_mem 2 pop 1
    tail: push 51 read_mem 2 pop 3 return
    mix: push 1 push 2 push 3 push 4 push 5 push 6 push 7 push 8 hash return
    never: nop return)");
  const TraceResult trace = Trace(program, {});
  ASSERT_FALSE(trace.run.crash) << trace.run.crash->sentence;
  std::array<uint64_t, 9> by_function{}, by_frame{};
  uint64_t words = 0;
  for (const FunctionRows& function : trace.functions) {
    for (size_t i = 0; i < 9; ++i) by_function[i] += function.rows.heights[i];
    words += function.words;
  }
  for (const TraceResult::Frame& frame : trace.frames)
    for (size_t i = 0; i < 9; ++i) by_frame[i] += frame.rows.heights[i];
  EXPECT_EQ(by_function, by_frame);
  EXPECT_EQ(words, program.Words());
  const TableProfile& profile = trace.profile;
  for (const Table table :
       {Table::Processor, Table::OpStack, Table::Ram, Table::JumpStack, Table::U32})
    EXPECT_EQ(by_function[static_cast<size_t>(table)], profile[table]) << TableName(table);
  EXPECT_EQ(by_function[static_cast<size_t>(Table::Hash)] + profile[Table::Program] / 10 * 6,
            profile[Table::Hash]);

  const auto find = [&](std::string_view label) {
    return *std::ranges::find(trace.functions, label, &FunctionRows::label);
  };
  EXPECT_EQ(find("loop").calls, 1u);
  EXPECT_EQ(find("mix_one").calls, 5u);
  EXPECT_EQ(find("tail").calls, 0u);
  EXPECT_EQ(find("tail").rows[Table::Ram], 10u);
  EXPECT_EQ(find("mix_two").rows[Table::Ram], 10u);
  EXPECT_EQ(find("never").rows[Table::Processor], 0u);
  EXPECT_EQ(trace.functions[0].label, "");
  bool chain_found = false;
  for (const TraceResult::Frame& frame : trace.frames) {
    std::string text;
    for (const uint32_t function : frame.chain) text += trace.functions[function].label + ";";
    chain_found = chain_found || text == ";loop;mix_one;tail;";
  }
  EXPECT_TRUE(chain_found);
}

TEST(Vm, ADeepRecursionHasFewChains) {
  const TraceResult trace =
      Trace(Read("push 5000 call f halt f: dup 0 push 0 eq skiz return addi -1 call f return"), {});
  ASSERT_FALSE(trace.run.crash);
  EXPECT_LT(trace.frames.size(), 100u);
  EXPECT_EQ(std::accumulate(
                trace.frames.begin(), trace.frames.end(), uint64_t{0},
                [](uint64_t sum, const auto& frame) { return sum + frame.rows[Table::Processor]; }),
            trace.profile[Table::Processor]);
}

TEST(Fragment, EndsAtTheEnd) {
  Numbers stack(20);
  std::iota(stack.begin(), stack.end(), 1);
  const FragmentResult result = RunFragment(
      Read("add push 9 push 40 write_mem 1 pop 1 divine 2 sponge_init"), {.stack = stack}, Given);
  EXPECT_FALSE(result.crash);
  EXPECT_FALSE(result.halted);
  Numbers expected(stack.begin(), stack.end() - 2);
  expected.insert(expected.end(), {39, 21, 22});
  EXPECT_EQ(result.stack, expected);
  EXPECT_EQ(result.written, (std::unordered_map<uint64_t, uint64_t>{{40, 9}}));
  EXPECT_EQ(result.secrets_read, 2u);
  EXPECT_EQ(result.inputs_read, 0u);
  EXPECT_TRUE(result.sponge.has_value());
  EXPECT_EQ(result.cycles, 7u);
  EXPECT_TRUE(RunFragment(Read("halt"), {}, {}).halted);
  EXPECT_EQ(RunFragment(Read("pop 5"), {.stack = {1, 2, 3}}, {}).crash->kind,
            CrashKind::OpStackTooShallow);
  // As a function: return ends it, recurse starts it again.
  const FragmentResult called = RunFragment(Read("addi -1 dup 0 skiz recurse return push 99"),
                                            {.stack = {4}, .called = true}, {});
  EXPECT_FALSE(called.crash);
  EXPECT_EQ(called.stack.back(), 0u);
  EXPECT_EQ(RunFragment(Read("return"), {}, {}).crash->kind, CrashKind::JumpStackEmpty);
}

// Words of RAM are asked for once, where they are read before they are written.
TEST(Fragment, AsksForWhatLiesInRam) {
  std::vector<uint64_t> asked;
  FragmentStart start;
  start.found = [&](uint64_t address) {
    asked.push_back(address);
    return address + P;
  };
  const Inputs inputs{{}, {}, {}, {{41, 4}}};
  const FragmentResult result = RunFragment(
      Read("push 9 push 40 write_mem 1 read_mem 2 read_mem 1 addi 1 read_mem 1"), start, inputs);
  EXPECT_EQ(asked, (std::vector<uint64_t>{39}));
  EXPECT_EQ(result.stack,
            (Numbers{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 9, 39, 39, 38}));
  EXPECT_EQ(result.written, (std::unordered_map<uint64_t, uint64_t>{{40, 9}}));
}

}  // namespace
}  // namespace frazil::machines::tasm
