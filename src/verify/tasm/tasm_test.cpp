// Pairs of fragments and programs that mean the same, and pairs that nearly do.
#include "verify/tasm/tasm.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/test_counts.h"
#include "ir/text/test_ops.h"
#include "ir/text/text.h"

namespace frazil::verify::tasm {
namespace {

mt::Program Read(std::string_view text, mt::Profile profile = mt::Profile::Dot) {
  auto program = mt::Parse(text, profile);
  EXPECT_TRUE(program.has_value()) << text << ": " << program.error().ToString();
  return program.has_value() ? *program : mt::Program{};
}

void Proves(std::string_view a, std::string_view b, bool fragments = true,
            mt::Profile profile = mt::Profile::Dot) {
  Options options;
  options.fragments = fragments;
  const Verdict answer = Compare(Read(a, profile), Read(b, profile), options);
  EXPECT_EQ(VerdictName(answer), "proved") << a << "\n  against\n" << b << "\n" << Describe(answer);
}

void Refutes(std::string_view a, std::string_view b, bool fragments = true,
             mt::Profile profile = mt::Profile::Dot) {
  Options options;
  options.fragments = fragments;
  const mt::Program x = Read(a, profile), y = Read(b, profile);
  const Verdict answer = Compare(x, y, options);
  EXPECT_EQ(VerdictName(answer), "refuted") << a << "\n  against\n"
                                            << b << "\n"
                                            << Describe(answer);
  if (std::holds_alternative<Refuted>(answer))
    EXPECT_TRUE(Replays(x, y, std::get<Refuted>(answer).start(), fragments)) << a << " / " << b;
}

TEST(TasmChecker, StackShuffles) {
  Proves("swap 1 swap 1", "nop");
  Proves("push 3 add", "addi 3");
  Proves("push 2 push 3 add", "push 5");
  Proves("dup 0 pop 1", "");
  Proves("swap 1 swap 2 swap 1", "swap 2 swap 1 swap 2");
  Proves("pick 2 pick 2 pick 2", "");
  Proves("pick 5 place 5", "");
  Proves("pop 1 pop 1", "pop 2");
  Proves("swap 1 add", "add");
  Proves("push -1 mul push -1 mul", "");
  Refutes("swap 1 swap 2", "swap 2 swap 1");
  Refutes("pick 3", "place 3");
  Refutes("push 3 add", "addi 4");
  Refutes("add", "mul");
}

TEST(TasmChecker, Ring) {
  Proves("dup 1 dup 1 add dup 0 mul place 2 pop 2",
         "dup 1 dup 0 mul dup 1 dup 0 mul add dup 2 dup 2 mul push 2 mul add place 2 pop 2");
  Proves("push 7 mul push 9 mul", "push 63 mul");
  Refutes("dup 0 mul", "push 2 mul");
  Proves("xx_mul", "pick 5 pick 5 pick 5 xx_mul");
  Refutes("xx_mul", "xx_add");
  Proves("invert invert", "dup 0 invert pop 1");
  Refutes("invert invert", "nop");
  Proves("dup 0 invert mul", "invert push 1 swap 1 pop 1");
}

TEST(TasmChecker, Integers) {
  Proves("split push 4294967296 pick 2 mul add", "");
  Proves("dup 0 split pop 2", "");
  Proves("swap 1 and", "and");
  Proves("swap 1 xor", "xor");
  Proves("dup 1 dup 1 xor place 2 and push 2 mul add", "dup 1 dup 1 and pop 1 add");
  Refutes("swap 1 lt", "lt");
  Refutes("swap 1 div_mod", "div_mod");
  Proves("push 0 eq push 0 eq push 0 eq", "push 0 eq");
  Refutes("push 0 eq push 0 eq", "nop");
  Proves("dup 0 push 5 lt pop 1 split pop 1", "dup 0 push 5 lt pop 1 split pop 1");
  Proves("dup 0 push 0 lt pop 1 split swap 1 pop 1", "dup 0 push 0 lt pop 1");
  Refutes("split swap 1 pop 1", "nop");
  Refutes("dup 1 dup 1 and pop 1", "nop");
  Refutes("pop_count", "log_2_floor");
  Proves("push 2 swap 1 div_mod swap 1 push 2 mul add", "dup 0 push 0 and pop 1");
}

TEST(TasmChecker, MemoryAndStreams) {
  Proves("push 1 push 10 write_mem 1 read_mem 1", "push 1 push 10 write_mem 1 read_mem 1");
  Proves("push 7 push 10 write_mem 1 pop 1 push 10 read_mem 1 pop 1",
         "push 7 push 10 write_mem 1 pop 1 push 7");
  Proves("push 1 push 10 write_mem 1 pop 1 push 2 push 11 write_mem 1 pop 1",
         "push 2 push 1 push 10 write_mem 2 pop 1");
  Refutes("push 1 push 10 write_mem 1 pop 1 push 2 push 11 write_mem 1 pop 1",
          "push 1 push 2 push 10 write_mem 2 pop 1");
  Proves("push 1 swap 1 write_mem 1 pop 1 push 2 swap 1 write_mem 1 pop 1",
         "push 1 swap 1 write_mem 1 pop 1 push 2 swap 1 write_mem 1 pop 1");
  Refutes("push 1 swap 1 write_mem 1 pop 1 push 2 swap 1 write_mem 1 pop 1",
          "swap 1 push 2 swap 1 write_mem 1 pop 1 push 1 swap 1 write_mem 1 pop 1");
  Proves("read_io 1 read_io 1", "read_io 2");
  Proves("divine 2 pop 1", "divine 1 divine 1 pop 1");
  Refutes("divine 2 pop 1", "divine 1");
  Refutes("read_io 1 divine 1", "divine 1 read_io 1");
  Proves("write_io 1 write_io 1", "write_io 2");
  Refutes("swap 1 write_io 2", "write_io 2");
}

TEST(TasmChecker, HashAndSponge) {
  Proves("hash swap 1 swap 1", "hash");
  Refutes("swap 1 hash", "hash");
  Proves("sponge_init sponge_squeeze pop 5 pop 5", "sponge_init sponge_squeeze pop 5 pop 5 nop");
  Refutes("sponge_init sponge_squeeze pop 5 pop 5", "sponge_init");
  Refutes("sponge_absorb", "pop 5 pop 5");
  Proves("merkle_step merkle_step", "merkle_step nop merkle_step");
  Refutes("merkle_step merkle_step", "merkle_step");
  Proves("assert_vector", "assert_vector nop");
  Refutes("assert_vector", "pop 5");
}

TEST(TasmChecker, Branches) {
  // if x { 7 } else { 9 }, in two ways.
  const char* then_else =
      "read_io 1 push 1 swap 1 skiz call a skiz call b write_io 1 halt "
      "a: pop 1 push 7 push 0 return b: push 9 return";
  const char* shorter = "read_io 1 push 9 swap 1 skiz call c write_io 1 halt c: addi -2 return";
  Proves(then_else, shorter, false);
  Refutes(then_else, "read_io 1 push 9 swap 1 skiz call c write_io 1 halt c: addi -3 return",
          false);
  Refutes(then_else, "read_io 1 push 7 swap 1 skiz call c write_io 1 halt c: addi 2 return", false);
  // By arithmetic.
  Proves(then_else, "read_io 1 push 0 eq push 2 mul addi 7 write_io 1 halt", false);
  Refutes(then_else, "read_io 1 push 2 mul addi 7 write_io 1 halt", false);
  // A skipped instruction of two words.
  Proves("skiz addi 3", "push 0 eq push -1 mul addi 1 push 3 mul add");
}

TEST(TasmChecker, Aliases) {
  // RAM[p] = a; RAM[q] = b; read p: b if p = q.
  const char* store =
      "pick 3 pick 3 write_mem 1 addi -1 place 2 swap 1 write_mem 1 pop 1 read_mem 1 pop 1";
  Proves(store, store);
  Refutes("push 5 pick 1 write_mem 1 pop 1 read_mem 1 pop 1",
          "push 5 pick 1 write_mem 1 pop 1 pop 1 push 5");
  // Loads that cannot alias may change places with stores.
  Proves("dup 0 read_mem 1 pop 1 push 9 pick 2 addi 1 write_mem 1 pop 1",
         "push 9 dup 1 addi 1 write_mem 1 pop 1 read_mem 1 pop 1");
  Refutes("dup 0 read_mem 1 pop 1 push 9 pick 2 write_mem 1 pop 1",
          "push 9 dup 1 write_mem 1 pop 1 read_mem 1 pop 1");
}

TEST(TasmChecker, LoopsThatEnd) {
  const char* ten =
      "push 10 push 0 call l pop 1 write_io 1 halt "
      "l: dup 1 push 0 eq skiz return swap 1 addi -1 swap 1 dup 1 add recurse";
  Proves(
      "push 3 push 0 call l write_io 1 halt l: dup 1 push 0 eq skiz return dup 1 add swap 1 addi "
      "-1 swap 1 recurse",
      "push 6 write_io 1 halt", false);
  Refutes(
      "push 3 push 0 call l write_io 1 halt l: dup 1 push 0 eq skiz return dup 1 add swap 1 addi "
      "-1 swap 1 recurse",
      "push 5 write_io 1 halt", false);
  Proves(ten, ten, false);
}

TEST(TasmChecker, LoopsByInduction) {
  // Sum of 1 .. n, n read.
  const char* down =
      "read_io 1 push 0 call l write_io 1 halt "
      "l: dup 1 push 0 eq skiz return dup 1 add swap 1 addi -1 swap 1 recurse";
  const char* other =
      "push 0 read_io 1 call l pop 1 write_io 1 halt "
      "l: dup 0 push 0 eq skiz return dup 0 pick 2 add swap 1 addi -1 recurse";
  Proves(down, other, false);
  Refutes(down,
          "push 0 read_io 1 call l pop 1 write_io 1 halt "
          "l: dup 0 push 0 eq skiz return dup 0 pick 2 add swap 1 addi -1 push 0 pop 1 "
          "recurse_or_return",
          false);
  Refutes(down,
          "push 1 read_io 1 call l pop 1 write_io 1 halt "
          "l: dup 0 push 0 eq skiz return dup 0 pick 2 add swap 1 addi -1 recurse",
          false);
  // Counting up against counting down.
  Proves(
      down,
      "read_io 1 push 0 push 0 call l write_io 1 halt "
      "l: dup 2 dup 2 eq skiz return dup 2 dup 2 push -1 mul add add swap 1 addi 1 swap 1 recurse",
      false);
  // Inputs read and outputs written on the way.
  Proves(
      "read_io 1 call l halt l: dup 0 push 0 eq skiz return read_io 1 dup 0 mul write_io 1 addi -1 "
      "recurse",
      "read_io 1 call l halt l: dup 0 push 0 eq skiz return addi -1 read_io 1 push 1 mul dup 0 mul "
      "write_io 1 recurse",
      false);
  Refutes(
      "read_io 1 call l halt l: dup 0 push 0 eq skiz return read_io 1 dup 0 mul write_io 1 addi -1 "
      "recurse",
      "read_io 1 call l halt l: dup 0 push 0 eq skiz return addi -1 read_io 1 dup 0 add write_io 1 "
      "recurse",
      false);
  // RAM filled by a loop.
  Proves(
      "read_io 1 call l push 5 read_mem 1 pop 1 write_io 1 halt "
      "l: dup 0 push 0 eq skiz return dup 0 dup 1 write_mem 1 pop 1 addi -1 recurse",
      "read_io 1 call l push 5 read_mem 1 pop 1 write_io 1 halt "
      "l: dup 0 push 0 eq skiz return dup 0 dup 0 write_mem 1 pop 1 push -1 add recurse",
      false);
}

TEST(TasmChecker, TirAgainstAssembly) {
  auto tir_program = tir::Parse(
      "entry main\nfn main\nread_io 1\nread_io 1\nlt\nif {\npush 5\n} else {\npush 6\n}\n"
      "write_io 1\nend\n");
  ASSERT_TRUE(tir_program.has_value()) << tir_program.error().ToString();
  auto check = [&](std::string_view text, std::string_view kind) {
    const Verdict answer = Compare(*tir_program, Read(text));
    EXPECT_EQ(VerdictName(answer), kind) << text << ": " << Describe(answer);
  };
  check("read_io 2 swap 1 lt push -1 mul addi 6 write_io 1 halt", "proved");
  check("read_io 2 lt push -1 mul addi 6 write_io 1 halt", "refuted");
  tir_program = tir::Parse(
      "entry main\nfn main\npush 1\nread_io 1\nloop {\nswap 1\npush 2\nmul\nswap 1\n}\npop 1\n"
      "write_io 1\nend\n");
  ASSERT_TRUE(tir_program.has_value()) << tir_program.error().ToString();
  check(
      "call main halt main: push 1 read_io 1 call l pop 1 write_io 1 return "
      "l: dup 0 push 0 eq skiz return addi -1 swap 1 dup 0 add swap 1 recurse",
      "proved");
  check(
      "call main halt main: push 1 read_io 1 call l pop 1 write_io 1 return "
      "l: dup 0 push 0 eq skiz return addi -1 swap 1 dup 0 mul swap 1 recurse",
      "refuted");
}

void IrAgainst(std::string_view text, std::string_view assembly, std::string_view kind) {
  auto program = ir::ParseText("frz 1\n\n" + std::string(text));
  ASSERT_TRUE(program.has_value()) << program.error().ToString();
  const Verdict answer = Compare(*program, Read(assembly));
  EXPECT_EQ(VerdictName(answer), kind) << assembly << ": " << Describe(answer);
}

TEST(TasmChecker, IrAgainstAssembly) {
  const char* sum = R"(func @main(%a: field, %b: field) -> (field) {
  %s = add %a, %b : field
  %p = mul %s, %s : field
  return %p
}
)";
  IrAgainst(sum, "read_io 2 add dup 0 mul write_io 1 halt", "proved");
  IrAgainst(sum,
            "read_io 2 dup 1 dup 1 mul push 2 mul place 2 dup 0 mul swap 1 dup 0 mul add add "
            "write_io 1 halt",
            "proved");
  IrAgainst(sum, "read_io 2 mul dup 0 mul write_io 1 halt", "refuted");
  const char* checked = R"(func @main(%a: u32, %b: u32) -> (u32) {
  %s = add.checked %a, %b : u32
  return %s
}
)";
  const std::string word = "read_io 1 dup 0 split pop 1 push 0 eq assert ";
  const std::string sum_checked = "add dup 0 split pop 1 push 0 eq assert write_io 1 halt";
  IrAgainst(checked, word + word + sum_checked, "proved");
  // Parameters are no more promised to be in range than what is read later.
  IrAgainst(checked, word + "read_io 1 " + sum_checked, "unknown");
  IrAgainst(checked, "read_io 2 " + sum_checked, "unknown");
  IrAgainst(checked, "read_io 2 add split swap 1 pop 1 write_io 1 halt", "refuted");
  IrAgainst(checked, "read_io 2 add write_io 1 halt", "refuted");
  const std::string choice =
      "func @main(%a: u32, %b: u32) -> (u32) {\n" + ir::OpLines("u32", "c = lt a b") +
      ir::ChoiceLines("%c", "u32", {"", "%b"}, {"", "%a"}) + "  return %r\n}\n";
  IrAgainst(choice, "read_io 2 dup 0 dup 2 lt skiz swap 1 pop 1 write_io 1 halt", "proved");
  IrAgainst(choice, "read_io 2 dup 0 dup 2 lt skiz swap 1 write_io 1 halt", "refuted");
  IrAgainst(choice, "read_io 2 dup 0 dup 2 lt push 0 eq skiz swap 1 write_io 1 halt", "proved");
  const std::string turned =
      "func @main(%a: bool) -> (bool) {\n  %b = not %a : bool\n  return %b\n}\n";
  IrAgainst(turned, "read_io 1 push 2 dup 1 lt assert push -1 mul addi 1 write_io 1 halt",
            "proved");
  IrAgainst(turned, "read_io 1 push -1 mul addi 1 write_io 1 halt", "unknown");
}

TEST(TasmChecker, TimeIsLimitedForLongPrograms) {
  auto piece = mt::Parse("read_io 1 push 7 add dup 0 pop 1 write_io 1 halt");
  ASSERT_TRUE(piece.has_value());
  mt::Program program = *piece;
  program.code.clear();
  program.code.push_back(piece->code[0]);
  for (uint64_t i = 0; i < SanitizedCount(500'000); ++i)
    program.code.insert(program.code.end(), piece->code.begin() + 1, piece->code.begin() + 5);
  program.code.insert(program.code.end(), piece->code.begin() + 5, piece->code.end());
  Options options;
  options.milliseconds = 50;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(VerdictName(Compare(program, program, options)), "unknown");
  // Of a loaded machine; unlimited it takes several times as long.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(4));
}

}  // namespace
}  // namespace frazil::verify::tasm
