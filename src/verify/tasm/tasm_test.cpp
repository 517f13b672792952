// Pairs of fragments and programs that mean the same, and pairs that nearly do.
#include "verify/tasm/tasm.h"

#include <gtest/gtest.h>

namespace frazil::verify::tasm {
namespace {

mt::Program Read(std::string_view text, mt::Profile profile = mt::Profile::Dot) {
  auto program = mt::Parse(text, profile);
  EXPECT_TRUE(program.has_value()) << text << ": " << program.error().ToString();
  return program.has_value() ? *program : mt::Program{};
}

void Proves(std::string_view a, std::string_view b, bool fragments = true, mt::Profile profile = mt::Profile::Dot) {
  Options options;
  options.fragments = fragments;
  const Answer answer = Compare(Read(a, profile), Read(b, profile), options);
  EXPECT_EQ(answer.kind, Answer::Kind::Proved)
      << a << "\n  against\n" << b << "\n" << AnswerName(answer.kind) << " " << answer.reason
      << (answer.counterexample ? answer.counterexample->difference : "");
}

void Refutes(std::string_view a, std::string_view b, bool fragments = true, mt::Profile profile = mt::Profile::Dot) {
  Options options;
  options.fragments = fragments;
  const mt::Program x = Read(a, profile), y = Read(b, profile);
  const Answer answer = Compare(x, y, options);
  EXPECT_EQ(answer.kind, Answer::Kind::Refuted) << a << "\n  against\n" << b << "\n" << answer.reason;
  if (answer.counterexample) EXPECT_TRUE(Replays(x, y, *answer.counterexample, fragments)) << a << " / " << b;
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
  Proves("push 7 push 10 write_mem 1 pop 1 push 10 read_mem 1 pop 1", "push 7 push 10 write_mem 1 pop 1 push 7");
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

}  // namespace
}  // namespace frazil::verify::tasm
