// Rows of branches, more than paths could be gone one by one: random programs against themselves written in another way,
// and against ones with a mistake, which no run may tell apart if they are called equal.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "base/sanitized.h"
#include "base/test_counts.h"
#include "ir/text/test_ops.h"
#include "ir/text/text.h"
#include "verify/tasm/sample.h"

namespace frazil::verify::tasm {
namespace {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e37'79b9'7f4a'7c15u + 1) {}
  uint64_t Below(uint64_t bound) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return (state_ >> 11) % bound;
  }

 private:
  uint64_t state_;
};

constexpr int Branches = 12;

// What a way does to the four words; the height stays. `other`: the same, written differently.
std::string Work(Random& random, bool other) {
  std::string text;
  for (uint64_t i = 0; i < 1 + random.Below(3); ++i) {
    const uint64_t place = random.Below(4), number = random.Below(5);
    switch (random.Below(7)) {
      case 0: text += fmt::format(fmt::runtime(other ? "push {} add " : "addi {} "), number); break;
      case 1: text += fmt::format("swap {} ", 1 + place % 3); break;
      case 2:
        text +=
            other ? fmt::format("dup {} swap 1 add ", place) : fmt::format("dup {} add ", place);
        break;
      case 3: text += fmt::format("dup {} mul ", place); break;
      case 4: text += fmt::format("dup {} push {} write_mem 1 pop 1 ", place, 40 + number); break;
      case 5: text += fmt::format("push {} read_mem 1 pop 1 add ", 40 + number); break;
      default:
        if (number < 4) {
          text += fmt::format("dup {} push {} eq add ", place, number);
        } else {
          text += "dup 0 split pop 1 push 0 eq assert ";  // may crash
        }
    }
  }
  return text;
}

std::string Make(uint64_t seed, bool other) {
  Random random(seed);
  std::string text = "read_io 4 ", functions;
  for (int i = 0; i < Branches; ++i) {
    const uint64_t a = random.Below(4), b = random.Below(4), number = random.Below(3);
    text += random.Below(2) == 0 ? fmt::format("dup {} push {} eq ", a, number)
                                 : fmt::format("dup {} dup {} eq ", a, b + 1);
    const std::string one = Work(random, other), two = Work(random, other);
    // The same two ways under the opposite condition.
    if (other) text += "push 0 eq ";
    text += fmt::format("push 1 swap 1 skiz call t{} skiz call e{} ", i, i);
    functions += fmt::format("t{}: pop 1 {}push 0 return e{}: {}return ", i, other ? two : one, i,
                             other ? one : two);
  }
  return text + "write_io 4 halt " + functions;
}

mt::Program Assembly(const std::string& text) {
  auto program = mt::Parse(text);
  EXPECT_TRUE(program.has_value()) << text << program.error().ToString();
  return program ? std::move(*program) : mt::Program{};
}

void NoRunDiffers(const mt::Program& a, const mt::Program& b, uint64_t seed) {
  Random random(seed + 1000);
  MachineStart inputs;
  for (int i = 0; i < 300; ++i) {
    inputs.inputs.input.clear();
    for (int k = 0; k < 4; ++k) inputs.inputs.input.push_back(random.Below(k % 2 == 0 ? 3 : 6));
    for (uint64_t k = 0; k < 5; ++k) inputs.inputs.ram[40 + k] = random.Below(3);
    const auto difference = Difference(a, b, inputs, false);
    ASSERT_FALSE(difference.has_value()) << seed << ": " << *difference;
  }
}

TEST(TasmJoin, RowsOfBranches) {
  Options options;
  options.milliseconds = Sanitized ? 10'000 : 1000;
  options.steps = 100'000;
  const uint64_t seeds = (Sanitized ? 8 : 24) * TestScale();
  uint64_t proved = 0, refuted = 0;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const mt::Program program = Assembly(Make(seed, false)), other = Assembly(Make(seed, true));
    const Verdict same = Compare(program, other, options);
    EXPECT_NE(VerdictName(same), "refuted") << seed;
    proved += CallsEqual(same);
    if (CallsEqual(same)) NoRunDiffers(program, other, seed);
    Random random(seed + 77);
    mt::Program wrong = other;
    for (int tries = 0; tries < 100; ++tries) {
      auto& instruction = wrong.code[random.Below(wrong.code.size())];
      if (instruction.op != mt::Opcode::Push && instruction.op != mt::Opcode::Dup) continue;
      instruction.argument = (instruction.argument + 1) % 4;
      break;
    }
    const Verdict answer = Compare(program, wrong, options);
    refuted += std::holds_alternative<Refuted>(answer);
    if (CallsEqual(answer)) NoRunDiffers(program, wrong, seed);
  }
  RecordProperty("proved", static_cast<int>(proved));
  RecordProperty("refuted", static_cast<int>(refuted));
  EXPECT_GE(proved, seeds * 3 / 4);
  EXPECT_GE(refuted, seeds / 2);
}

TEST(TasmJoin, BranchesOfTheIr) {
  const std::string text =
      R"(frz 1

func @main() -> (field) {
  %lo = const 0 : index
  %hi = const 14 : index
  %zero = const 0 : field
  %one = const 1 : field
  %all = for %i = %lo to %hi step 1 carry (%acc = %one) {
    %x = input : field
    %c = eq %x, %zero : field
)" +
      ir::ChoiceLines("%c", "field", {ir::OpLines("field", "p = add acc one"), "%p"},
                      {ir::OpLines("field", "q = mul acc x"), "%q"}) +
      R"(
    yield %r
  }
  return %all
}
)";
  auto program = ir::ParseText(text);
  ASSERT_TRUE(program.has_value()) << program.error().ToString();
  const char* assembly =
      "push 14 push 1 call l write_io 1 halt l: dup 1 push 0 eq skiz return read_io 1 "
      "dup 0 push 0 eq push 1 swap 1 skiz call t skiz call e swap 1 addi -1 swap 1 recurse "
      "t: pop 2 addi {} push 0 return e: mul return";
  for (const int added : {1, 2}) {
    const Verdict answer = Compare(*program, Assembly(fmt::format(fmt::runtime(assembly), added)));
    EXPECT_EQ(CallsEqual(answer), added == 1) << Describe(answer);
    EXPECT_EQ(std::holds_alternative<Refuted>(answer), added == 2) << Describe(answer);
  }
}

}  // namespace
}  // namespace frazil::verify::tasm
