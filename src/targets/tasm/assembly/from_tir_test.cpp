// TIR -> assembly against the interpreter of TIR: every op by hand, structures at all their forms, and random programs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "base/number/goldilocks.h"
#include "machines/tasm/tip5/tip5.h"
#include "machines/tir/interpreter.h"
#include "machines/tir/test_random.h"
#include "targets/tasm/assembly/peephole.h"
#include "targets/tasm/tasm.h"

namespace frazil::targets::tasm {
namespace {

struct Sides {
  tir::RunResult interpreted;
  mt::RunResult run;
  mt::Program assembly;
};

// Runs both sides and compares everything that can be seen; false: the interpreter's steps ran out, nothing to compare.
bool Same(const tir::Program& program, const tir::Inputs& inputs, const TasmOptions& options,
          Sides* sides = nullptr) {
  const Result<mt::Program> assembly = LowerTir(program, options);
  EXPECT_TRUE(assembly) << assembly.error().ToString() << "\n" << tir::Print(program);
  if (!assembly) return false;
  // The machine starts with the program's digest at the bottom of the stack.
  tir::Inputs with_digest = inputs;
  const mt::Digest digest = mt::ProgramDigest(*assembly);
  std::copy(digest.rbegin(), digest.rend(), with_digest.stack.begin());
  const Result<tir::RunResult> expected =
      tir::Interpret(program, with_digest, mt::PermuteElements, 100'000);
  EXPECT_TRUE(expected) << expected.error().ToString() << "\n" << tir::Print(program);
  if (!expected || (expected->crash && expected->crash->kind == tir::CrashKind::Steps))
    return false;
  mt::Inputs machine{inputs.input, inputs.secret, inputs.digests, inputs.ram};
  mt::RunLimits limits;
  limits.cycles = 10'000'000;
  const mt::RunResult run = mt::Run(*assembly, machine, limits);
  auto text = [&] { return tir::Print(program) + "\n" + mt::Print(*assembly); };
  EXPECT_EQ(run.output, expected->output) << text();
  EXPECT_EQ(run.crash.has_value(), expected->crash.has_value())
      << (run.crash ? run.crash->sentence : std::string(tir::CrashName(expected->crash->kind)))
      << "\n"
      << text();
  if (run.crash && expected->crash) {
    // One table has the names of both.
    EXPECT_EQ(mt::CrashName(run.crash->kind), tir::CrashName(expected->crash->kind))
        << run.crash->sentence << "\n"
        << text();
    EXPECT_EQ(run.crash->error_id, expected->crash->error_id) << text();
    if (run.crash->kind == mt::CrashKind::AssertionFailed ||
        run.crash->kind == mt::CrashKind::VectorAssertionFailed) {
      EXPECT_EQ(assembly->code[run.crash->instruction].location.line,
                expected->crash->location.line)
          << text();
    }
  }
  // What `halt` leaves on the stack is nobody's business.
  if (!run.crash && !expected->crash && tir::Print(program).find("halt") == std::string::npos) {
    EXPECT_EQ(run.stack, expected->stack) << text();
  }
  if (sides) *sides = {*expected, run, *assembly};
  return true;
}

tir::Program Read(const std::string& text) {
  Result<tir::Program> program = tir::Parse(text);
  EXPECT_TRUE(program) << program.error().ToString() << "\n" << text;
  return program ? std::move(*program) : tir::Program{};
}

tir::Inputs SomeInputs() {
  tir::Inputs inputs;
  for (uint64_t i = 0; i < 40; ++i) inputs.input.push_back(i * i * 0x9e37'79b9u % goldilocks::P);
  for (uint64_t i = 0; i < 40; ++i) inputs.secret.push_back(i + 3);
  for (uint64_t i = 0; i < 4; ++i) inputs.digests.push_back({i, i + 1, i + 2, i + 3, i + 4});
  for (uint64_t i = 0; i < 64; ++i) inputs.ram[i] = 1000 + i * i;
  return inputs;
}

void ExpectOutput(const std::string& body, std::vector<uint64_t> output,
                  mt::Profile profile = mt::Profile::Dot) {
  for (const bool peephole : {false, true}) {
    TasmOptions options;
    options.profile = profile;
    options.peephole = peephole;
    Sides sides;
    ASSERT_TRUE(
        Same(Read("entry main\nfn main\n" + body + "\nend\n"), SomeInputs(), options, &sides));
    EXPECT_EQ(sides.run.output, output) << body;
    EXPECT_FALSE(sides.run.crash) << sides.run.crash->sentence;
  }
}

void ExpectCrash(const std::string& body, mt::CrashKind kind) {
  Sides sides;
  ASSERT_TRUE(Same(Read("entry main\nfn main\n" + body + "\nend\n"), SomeInputs(), {}, &sides));
  ASSERT_TRUE(sides.run.crash) << body;
  EXPECT_EQ(mt::CrashName(sides.run.crash->kind), mt::CrashName(kind)) << body;
}

TEST(FromTir, OperandsInTheOrderOfTheTable) {
  ExpectOutput("push 7\npush 3\nsub\nwrite_io 1", {4});
  ExpectOutput("push 3\npush 7\nlt\nwrite_io 1", {1});
  ExpectOutput("push 7\npush 3\nlt\nwrite_io 1", {0});
  ExpectOutput("push 17\npush 5\ndiv_mod\nwrite_io 2", {2, 3});
  ExpectOutput("push 2\npush 10\npow\nwrite_io 1", {1024});
  ExpectOutput("push 12\npush 10\nor\nwrite_io 1", {14});
  ExpectOutput("push 12\npush 10\nand\nwrite_io 1", {8});
  ExpectOutput("push 12\npush 10\nxor\nwrite_io 1", {6});
  ExpectOutput("push 5\nneg\naddi 6\nwrite_io 1", {1});
  ExpectOutput("push 12\nlog2\npush 255\npop_count\nwrite_io 2", {8, 3});
  ExpectOutput("push 4294967298\nsplit\nwrite_io 2", {2, 1});
  ExpectOutput("push 4\ninvert\npush 4\nmul\npush 1\neq\nwrite_io 1", {1});
}

TEST(FromTir, ShiftsByConstantsAndByValues) {
  for (uint64_t x : {0ull, 1ull, 0xffff'ffffull, 0x8000'0001ull, 12345ull}) {
    for (uint64_t n : {0ull, 1ull, 7ull, 31ull}) {
      const uint64_t left = (x << n) & 0xffff'ffffu, right = x >> n;
      ExpectOutput(
          fmt::format("push {}\npush {}\nshl\nwrite_io 1\npush {}\npush {}\nshr\nwrite_io 1", x, n,
                      x, n),
          {left, right});
      ExpectOutput(fmt::format("push {}\npush {}\naddi 0\nshl\nwrite_io 1\npush {}\npush {}\naddi "
                               "0\nshr\nwrite_io 1",
                               x, n, x, n),
                   {left, right});
    }
  }
  for (const std::string shift : {"shl", "shr"}) {
    for (const std::string between : {"", "addi 0\n"}) {
      ExpectCrash("push 1\npush 32\n" + between + shift + "\npop 1", mt::CrashKind::NotU32);
      ExpectCrash("push 1\npush 64\n" + between + shift + "\npop 1", mt::CrashKind::NotU32);
      ExpectCrash("push 4294967296\npush 1\n" + between + shift + "\npop 1", mt::CrashKind::NotU32);
    }
  }
}

TEST(FromTir, MemoryAndStreams) {
  ExpectOutput("push 20\npush 1\npush 2\npush 3\nram_write 3\npush 20\nram_read 3\nwrite_io 3",
               {3, 2, 1});
  ExpectOutput(
      "push 40\npush 1\npush 2\npush 3\npush 4\npush 5\npush 6\npush 7\nram_write 7\npush "
      "40\nram_read 7\nwrite_io 7",
      {7, 6, 5, 4, 3, 2, 1});
  ExpectOutput("push 9\nread_mem 2\nwrite_io 3", {7, 1064, 1081});
  ExpectOutput(
      "push 5\npush 6\npush 30\nwrite_mem 2\nwrite_io 1\npush 31\nread_mem 2\npop 1\nwrite_io 2",
      {32, 6, 5});
  ExpectOutput("read_io 7\npop 6\nwrite_io 1\nhint 6\npop 5\nwrite_io 1", {0, 3});
  ExpectOutput("push 3\npush 2\npush 1\nreveal Paid 99 3", {99, 1, 2, 3});
  ExpectOutput("reveal None 98 0", {98});
}

TEST(FromTir, SealIsTheHashOfTagFieldsAndZeros) {
  for (uint64_t fields = 0; fields <= 9; ++fields) {
    std::string body;
    std::array<uint64_t, 10> ten{77};
    for (uint64_t i = 0; i < fields; ++i) {
      body += fmt::format("push {}\n", 100 + i);
      ten[fields - i] = 100 + i;
    }
    const mt::Digest digest = mt::HashTen(ten);
    ExpectOutput(body + fmt::format("seal Paid 77 {}", fields), {digest.begin(), digest.end()});
  }
}

TEST(FromTir, HashesAndExtension) {
  std::string ten;
  for (int i = 9; i >= 0; --i) ten += fmt::format("push {}\n", i);
  const mt::Digest digest = mt::HashTen({0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  ExpectOutput(ten + "hash\nwrite_io 5", {digest.begin(), digest.end()});
  Sides sides;
  auto run = [&](const std::string& body, mt::Profile profile = mt::Profile::Dot) {
    TasmOptions options;
    options.profile = profile;
    EXPECT_TRUE(
        Same(Read("entry main\nfn main\n" + body + "\nend\n"), SomeInputs(), options, &sides));
    EXPECT_FALSE(sides.run.crash);
    EXPECT_FALSE(sides.run.output.empty());
  };
  run("sponge_init\n" + ten + "sponge_absorb\nsponge_squeeze\nwrite_io 10");
  run("sponge_init\npush 1\npush 2\npush 3\npush 4\npush 10\nsponge_load\nwrite_io "
      "5\nsponge_squeeze\nwrite_io 10");
  for (int index : {4, 5}) {
    const std::string node =
        fmt::format("push {}\npush 1\npush 2\npush 3\npush 4\npush 5\n", index);
    run(node + "merkle_step\nmerkle_step\nwrite_io 6");
    run("push 8\npush 0\n" + node + "merkle_load\nwrite_io 8");
  }
  run("push 3\npush 2\npush 1\npush 5\next_mul\nwrite_io 3");
  run("push 3\npush 2\npush 1\next_invert\npush 3\npush 2\npush 1\next_product\nwrite_io 3");
  EXPECT_EQ(sides.run.output, (std::vector<uint64_t>{1, 0, 0}));
  run("push 3\npush 2\npush 1\npush 6\npush 5\npush 4\next_add\nwrite_io 3");
  EXPECT_EQ(sides.run.output, (std::vector<uint64_t>{5, 7, 9}));
  run("push 3\npush 2\npush 1\npush 10\npush 20\nfold_ext\nwrite_io 5");
  run("push 3\npush 2\npush 1\npush 10\npush 20\nfold_base\nwrite_io 5");
  const std::string horner =
      "push 3\npush 2\npush 1\npush 0\npush 30\npush 0\npush 0\npush 6\npush 5\npush 4\n";
  run(horner + "horner_base\nhorner_base\nwrite_io 10", mt::Profile::Horner);
  run(horner + "horner_ext\nhorner_ext\nwrite_io 10", mt::Profile::Horner);
}

TEST(FromTir, CrashesHaveTheirKind) {
  ExpectCrash("push 0\ninvert\npop 1", mt::CrashKind::InverseOfZero);
  ExpectCrash("push 1\npush 0\ndiv_mod\npop 2", mt::CrashKind::DivisionByZero);
  ExpectCrash("push 0\nlog2\npop 1", mt::CrashKind::LogarithmOfZero);
  ExpectCrash("push -1\npush 1\nor\npop 1", mt::CrashKind::NotU32);
  ExpectCrash("push 2\nwrite_io 1\npush 0\nassert 1 error_id 5", mt::CrashKind::AssertionFailed);
  ExpectCrash("push 1\npush 1\npush 1\npush 1\npush 1\nassert 5",
              mt::CrashKind::VectorAssertionFailed);
  ExpectCrash("sponge_squeeze\npop 10", mt::CrashKind::SpongeNotInitialized);
  ExpectCrash("read_io 41\npop 41", mt::CrashKind::InputEmpty);
  ExpectCrash("hint 41\npop 41", mt::CrashKind::SecretEmpty);
  ExpectCrash("push 0\npush 0\npush 0\next_invert\npop 3", mt::CrashKind::InverseOfZero);
}

TEST(FromTir, Structures) {
  for (uint64_t c : {0ull, 1ull, 5ull}) {
    const std::string push = fmt::format("push {}\naddi 0\n", c);
    ExpectOutput(push + "if {\npush 3\n} else {\npush 4\n}\nwrite_io 1", {c ? 3u : 4u});
    ExpectOutput(push + "if {\npush 3\n} else {\npush 4\npush 2\nmul\n}\nwrite_io 1",
                 {c ? 3u : 8u});
    ExpectOutput("push 9\n" + push +
                     "if {\naddi 1\npush 2\nmul\n} else {\naddi 2\ndup 0\nmul\n}\nwrite_io 1",
                 {c ? 20u : 121u});
    ExpectOutput("push 9\n" + push + "if_only {\naddi 1\n}\nwrite_io 1", {c ? 10u : 9u});
    ExpectOutput("push 9\n" + push + "if_only {\naddi 1\ndup 0\nmul\n}\nwrite_io 1",
                 {c ? 100u : 9u});
    ExpectOutput("push 9\n" + push + "push 0\neq\nif_only {\naddi 1\ndup 0\nmul\n}\nwrite_io 1",
                 {c ? 9u : 100u});
    ExpectOutput("push 9\n" + push + "if {\nhalt\n} else {\naddi 1\n}\nwrite_io 1",
                 c ? std::vector<uint64_t>{} : std::vector<uint64_t>{10});
    ExpectOutput("push 9\n" + push + "if {\naddi 1\n} else {\nhalt\n}\nwrite_io 1",
                 c ? std::vector<uint64_t>{10} : std::vector<uint64_t>{});
    std::vector<uint64_t> sixes(c, 6);
    sixes.push_back(0);
    ExpectOutput(push + "loop {\npush 6\nwrite_io 1\n}\nwrite_io 1", sixes);
  }
}

TEST(FromTir, StructuresAtAllPlaces) {
  ExpectOutput("push 3\nwhile {\ndup 0\n} do {\ndup 0\nwrite_io 1\naddi -1\n}\nwrite_io 1",
               {3, 2, 1, 0});
  ExpectOutput(
      "push 3\nwhile {\ndup 0\npush 5\nlt\n} do {\ndup 0\nwrite_io 1\naddi 1\n}\nwrite_io 1",
      {3, 4, 5});
  ExpectOutput(
      "push 3\nwhile {\ndup 0\npush 5\neq\npush 0\neq\n} do {\ndup 0\nwrite_io 1\naddi "
      "1\n}\nwrite_io 1",
      {3, 4, 5});
  ExpectOutput(
      "push 3\npush 0\npush 0\npush 0\npush 0\npush 0\npush 0\nrepeat {\npick 5\naddi 1\ndup "
      "0\nwrite_io 1\nplace 5\n}\npop 5\nwrite_io 2",
      {1, 2, 3, 3, 3});
  ExpectOutput(
      "push 2\nloop {\npush 1\nwrite_io 1\n}\npop 1\nproof_block ab {\npush 4\nwrite_io 1\n}",
      {1, 1, 4});
}

TEST(FromTir, ReturnLeavesTheFunction) {
  for (uint64_t c = 0; c < 4; ++c) {
    const std::string text = fmt::format(R"(entry main
fn main
  push {}
  call f
  write_io 1
  push 50
  write_io 1
end
fn f
  dup 0
  push 1
  eq
  if_only {{
    push 10
    add
    return
  }}
  dup 0
  push 2
  eq
  if {{
    dup 0
    if {{
      addi 20
      return
    }} else {{
    }}
    addi 1
  }} else {{
    dup 0
    if_only {{
      addi 30
      return
    }}
  }}
  addi 40
end
fn unused
  call f
end
)",
                                         c);
    Sides sides;
    ASSERT_TRUE(Same(Read(text), SomeInputs(), {}, &sides));
    EXPECT_EQ(sides.run.output,
              (std::vector<uint64_t>{std::array<uint64_t, 4>{40, 11, 22, 33}[c], 50}));
    EXPECT_EQ(mt::Print(sides.assembly).find("unused"), std::string::npos);
  }
}

TEST(FromTir, ManyReturnsInARow) {
  std::string text = "entry main\nfn main\nread_io 1\ncall f\nwrite_io 1\nend\nfn f\n";
  for (int i = 0; i < 5'000; ++i)
    text += fmt::format("dup 0\npush {}\neq\nif_only {{\naddi {}\nreturn\n}}\n", i, 1000 + i);
  const tir::Program program = Read(text + "end\n");
  const Result<mt::Program> assembly = LowerTir(program);
  ASSERT_TRUE(assembly);
  for (uint64_t x : {0u, 39u, 2'345u, 5'000u}) {
    EXPECT_EQ(mt::Run(*assembly, {{x}, {}, {}, {}}).output,
              std::vector<uint64_t>{x < 5'000 ? 2 * x + 1000 : x});
  }
}

TEST(FromTir, Assembly) {
  const Result<mt::Program> program =
      LowerTir(Read("entry main\nfn main\npush 3\nasm 0 {\npush 4 add\n}\nwrite_io 1\nend\n"));
  ASSERT_TRUE(program) << program.error().ToString();
  EXPECT_EQ(mt::Run(*program, {}).output, std::vector<uint64_t>{7});
  auto error = [](const std::string& body) {
    const Result<mt::Program> program = LowerTir(Read("entry main\nfn main\n" + body + "\nend\n"));
    return program ? "" : program.error().ToString();
  };
  EXPECT_NE(error("asm 1 {\nadd 3\n}\npop 1").find("in `asm`, line 1"), std::string::npos);
  EXPECT_NE(error("asm 1 {\npush 3 push 3\n}\npop 1")
                .find("changes the stack by 1 words, but it does by 2"),
            std::string::npos);
  EXPECT_NE(error("asm 0 {\nreturn\n}").find("cannot hold `return`"), std::string::npos);
  EXPECT_NE(error("push 1\nhorner_base\npop 1").find("not in the instruction profile dot"),
            std::string::npos);
}

TEST(FromTir, RandomProgramsRunAlike) {
  std::mt19937_64 random(20);
  int compared = 0, crashed = 0;
  for (int i = 0; i < 4000; ++i) {
    TasmOptions options;
    options.profile = i % 4 == 3 ? mt::Profile::Horner : mt::Profile::Dot;
    options.peephole = i % 3 != 0;
    tir::RandomOptions what;
    what.horner = options.profile == mt::Profile::Horner;
    const tir::Program made = tir::RandomProgram(random, what);
    const tir::Program program = Read(tir::Print(made));
    ASSERT_EQ(program.ops, made.ops);
    Sides sides;
    if (!Same(program, tir::RandomInputs(random), options, &sides)) continue;
    ++compared;
    crashed += sides.run.crash.has_value();
    ASSERT_FALSE(HasFailure()) << i;
  }
  EXPECT_GE(compared, 3000);
  EXPECT_GE(crashed, 100);
  EXPECT_LE(crashed, compared * 3 / 4);
}

}  // namespace
}  // namespace frazil::targets::tasm
