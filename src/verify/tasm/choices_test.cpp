// Programs that choose, index and loop in different ways: each pair is proved, and each candidate with one thing wrong is refuted by
// inputs that replay.
#include <gtest/gtest.h>

#include "ir/text/text.h"
#include "verify/tasm/tasm.h"

namespace frazil::verify::tasm {
namespace {

mt::Program Assembly(const std::string& text) {
  auto program = mt::Parse(text, mt::Profile::Dot, "test");
  EXPECT_TRUE(program.has_value()) << (program ? "" : program.error().ToString()) << "\n" << text;
  return program ? *program : mt::Program{};
}

void Same(const std::string& source, const std::string& candidate) {
  const Verdict answer = Compare(Assembly(source), Assembly(candidate));
  EXPECT_TRUE(CallsEqual(answer)) << Describe(answer) << "\n" << candidate;
}

void Wrong(const std::string& source, const std::string& candidate) {
  const mt::Program a = Assembly(source), b = Assembly(candidate);
  const Verdict answer = Compare(a, b);
  ASSERT_EQ(VerdictName(answer), "refuted") << Describe(answer) << "\n" << candidate;
  EXPECT_TRUE(Replays(a, b, std::get<Refuted>(answer).start(), false));
}

std::string With(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// The candidate is right, and wrong with any one of these changes.
struct Change {
  std::string from, to;
};
void SameUnless(const std::string& source, const std::string& candidate,
                const std::vector<Change>& changes) {
  Same(source, candidate);
  for (const Change& change : changes) Wrong(source, With(candidate, change.from, change.to));
}

// Eight values through seven exchanges, by branches and by products.
TEST(TasmChoices, SelectionByBranchAndByProduct) {
  std::string branches = "read_io 1 push 0 xor ", products = branches;
  for (int i = 0; i < 7; ++i) {
    branches += "read_io 1 push 0 xor dup 1 dup 1 lt skiz call s swap 1 write_io 1 ";
    products += "read_io 1 push 0 xor call p swap 1 write_io 1 ";
  }
  branches += "write_io 1 halt s: swap 1 return";
  // b a -> min max, the last on top; the larger is a + (a < b) (b - a).
  const std::string good = products +
                           "write_io 1 halt p: dup 1 dup 1 push -1 mul add dup 2 dup 2 lt mul dup "
                           "1 add swap 2 add dup 1 "
                           "push -1 mul add swap 1 return";
  SameUnless(branches, good,
             {{"add swap 1 return", "add return"},
              {"dup 2 dup 2 lt", "dup 1 dup 3 lt"},
              {"dup 2 dup 2 lt", "dup 2 dup 2 eq"}});
}

const char* Tally =
    "push 0 push 0 push 0 push 0 push 100 write_mem 4 pop 1 push -20 call l "
    "push 103 read_mem 4 pop 1 write_io 4 halt "
    "l: divine 1 push 4 swap 1 div_mod swap 1 pop 1 addi 100 dup 0 read_mem 1 pop 1 addi 1 swap 1 "
    "write_mem 1 pop 1 addi 1 dup 0 skiz recurse return";

TEST(TasmChoices, ArraysAtComputedAddresses) {
  std::string elsewhere = Tally;
  for (const auto& [from, to] :
       {std::pair("push 100", "push 5000"), {"addi 100", "addi 5000"}, {"push 103", "push 5003"}})
    elsewhere = With(elsewhere, from, to);
  SameUnless(Tally, elsewhere,
             {{"addi 5000", "addi 5001"},
              {"push 4 swap", "push 3 swap"},
              {"push -20", "push -19"},
              {"pop 1 addi 1 swap", "pop 1 addi 2 swap"}});
  // A slot of its own among the cells.
  Wrong(Tally,
        With(elsewhere, "call l push 5003", "call l push 9 push 5002 write_mem 1 pop 1 push 5003"));
  Same(Tally,
       With(elsewhere, "call l push 5003", "call l push 9 push 5004 write_mem 1 pop 1 push 5003"));
}

const char* Collatz =
    "read_io 1 push 0 xor push -200 swap 1 push 0 call w swap 1 assert write_io 1 halt "
    "t: swap 2 push 3 mul push 0 xor addi 1 push 0 xor return "
    "u: push 2 dup 2 div_mod skiz call t pick 2 pop 1 swap 1 addi 1 push 0 xor return "
    "w: dup 1 push 1 lt skiz call u pick 2 addi 1 place 2 dup 2 skiz recurse return";

TEST(TasmChoices, LoopsOfManyIterations) {
  std::string up = With(With(Collatz, "push -200", "push 0"), "dup 2 skiz recurse",
                        "dup 2 addi -200 skiz recurse");
  SameUnless(Collatz, up,
             {{"addi -200", "addi -50"},
              {"push 3 mul", "push 5 mul"},
              {"addi 1 push 0 xor return w:", "addi 2 push 0 xor return w:"}});
}

const char* Gcd = R"(frz 1

func @main() -> (u32) {
  %lo = const 0 : index
  %hi = const 48 : index
  %no = const false : bool
  %yes = const true : bool
  %zero = const 0 : u32
  %fa = input : field
  %ua = cast %fa : u64
  %a0 = cast.checked %ua : u32
  %fb = input : field
  %ub = cast %fb : u64
  %b0 = cast.checked %ub : u32
  %done, %r, %x, %y = for %i = %lo to %hi step 1 carry (%d = %no, %s = %zero, %a = %a0, %b = %b0) {
    %d1, %s1, %a1, %b1 = if %d -> (bool, u32, u32, u32) {
      yield %d, %s, %a, %b
    } else {
      %e = eq %b, %zero : u32
      %d2, %s2, %a2, %b2 = if %e -> (bool, u32, u32, u32) {
        yield %yes, %a, %a, %b
      } else {
        %m = rem.trunc %a, %b : u32
        yield %no, %zero, %b, %m
      }
      yield %d2, %s2, %a2, %b2
    }
    yield %d1, %s1, %a1, %b1
  }
  %out = select %done, %r, %x : u32
  return %out
}
)";

// Stack: counter a b done result.
const char* GcdAssembly =
    "push -48 read_io 1 push 0 xor read_io 1 push 0 xor push 0 push 0 call w "
    "dup 3 push -1 mul dup 1 add dup 2 mul dup 4 add write_io 1 halt "
    "w: dup 1 push 0 eq skiz call n pick 4 addi 1 place 4 dup 4 skiz recurse return "
    "n: dup 2 push 0 eq push 1 swap 1 skiz call z skiz call m return "
    "z: pop 3 push 1 dup 2 push 0 return "
    "m: pop 2 dup 0 pick 2 div_mod swap 1 pop 1 push 0 push 0 return";

TEST(TasmChoices, FlagsAtLoopHeads) {
  auto program = ir::ParseText(Gcd);
  ASSERT_TRUE(program.has_value()) << program.error().ToString();
  auto kind = [&](const std::string& text) {
    return VerdictName(Compare(*program, Assembly(text)));
  };
  const std::string good = GcdAssembly;
  EXPECT_EQ(kind(good), "proved");
  EXPECT_EQ(kind(With(good, "push -48", "push -2")), "refuted");
  EXPECT_EQ(kind(With(good, "push 1 dup 2 push 0", "push 1 dup 1 push 0")), "refuted");
  EXPECT_EQ(kind(With(good, "mul dup 4 add", "mul dup 3 add")), "refuted");
}

// Until st5 and st6 are equal.
TEST(TasmChoices, LoopsThatCompareWithTheirEnd) {
  const std::string plain =
      "read_io 1 push 0 xor push 0 swap 1 push 0 push 0 call l write_io 2 halt "
      "l: dup 3 dup 3 eq skiz return pick 3 addi 1 place 3 dup 3 add swap 1 addi 2 swap 1 recurse";
  Same(plain, With(plain, "dup 3 dup 3 eq", "dup 2 dup 4 eq"));
  // Five words above the two; ten iterations.
  const std::string counted =
      "push 0 push 0 push -10 call l pop 1 write_io 2 halt "
      "l: swap 2 read_io 1 add swap 2 pick 1 addi 3 place 1 addi 1 dup 0 skiz recurse return";
  const std::string compared =
      "push 10 push 0 push 0 push 0 push 0 push 0 push 0 call l pop 3 write_io 2 halt "
      "l: pick 4 read_io 1 add place 4 pick 3 addi 3 place 3 pick 5 addi 1 place 5 "
      "recurse_or_return";
  SameUnless(counted, compared, {{"push 10", "push 9"}, {"addi 3", "addi 4"}});
  // A bound that is an input.
  const std::string bound =
      "read_io 1 push 0 xor dup 0 push 0 eq push 0 eq assert push 0 swap 1 push 0 swap 1 call l "
      "pop 1 write_io 1 halt "
      "l: swap 1 read_io 1 add swap 1 addi -1 dup 0 skiz recurse return";
  const std::string compared_bound =
      "read_io 1 push 0 xor dup 0 push 0 eq push 0 eq assert push 0 push 0 push 0 push 0 push 0 "
      "push 0 call l pop 4 write_io 1 halt "
      "l: pick 4 read_io 1 add place 4 pick 5 addi 1 place 5 recurse_or_return";
  SameUnless(bound, compared_bound, {{"pick 5 addi 1", "pick 5 addi 2"}});
}

// A sum of products by steps of the machine and word by word.
TEST(TasmChoices, DotProducts) {
  const std::string fill = "push 0 call f pop 1 ";
  const std::string filled =
      " f: read_io 1 dup 1 addi 100 write_mem 1 pop 1 read_io 1 dup 1 addi 300 write_mem 1 pop 1 "
      "addi 1 "
      "dup 0 addi -24 skiz recurse return";
  const std::string steps =
      fill +
      "push 0 push 0 push 0 push 300 push 100 push -8 call l pop 3 write_io 3 halt "
      "l: place 5 xb_dot_step pick 5 addi 1 dup 0 skiz recurse return" +
      filled;
  const std::string unrolled = [&] {
    std::string text = fill + "push 0 push 0 push 0 push 300 push 100 ";
    for (int i = 0; i < 8; ++i) text += "xb_dot_step ";
    return text + "pop 2 write_io 3 halt " + filled;
  }();
  SameUnless(unrolled, steps,
             {{"push -8", "push -7"},
              {"push 300 push 100", "push 303 push 100"},
              {"xb_dot_step", "xx_dot_step"}});
}

TEST(TasmChoices, AbsorbingFromMemory) {
  std::string fill, loads;
  for (int i = 0; i < 10; ++i)
    fill += "read_io 1 push " + std::to_string(40 + i) + " write_mem 1 pop 1 ";
  for (int i = 9; i >= 0; --i) loads += "push " + std::to_string(40 + i) + " read_mem 1 pop 1 ";
  const std::string ten =
      fill + "sponge_init " + loads + "sponge_absorb sponge_squeeze write_io 5 write_io 5 halt";
  const std::string one = fill +
                          "sponge_init push 0 push 0 push 0 push 0 push 40 sponge_absorb_mem pop 5 "
                          "sponge_squeeze write_io 5 write_io 5 halt";
  SameUnless(ten, one,
             {{"push 40 sponge", "push 39 sponge"},
              {"sponge_absorb_mem", "sponge_absorb_mem sponge_absorb_mem"}});
}

}  // namespace
}  // namespace frazil::verify::tasm
