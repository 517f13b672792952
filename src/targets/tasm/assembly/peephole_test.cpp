// The rules applied to code that holds their patterns, and to random code: the machine ends in the same state, and nothing
// costs more. The proof of each rule is verify/tasm's.
#include "targets/tasm/assembly/peephole.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "machines/tasm/fragment.h"
#include "machines/tasm/vm.h"

namespace frazil::targets::tasm {
namespace {

namespace mt = machines::tasm;

struct Cost {
  uint64_t words = 0, rows = 0, stack = 0, ram = 0;
};

Cost CostOf(const mt::Program& program) {
  Cost cost;
  cost.words = program.Words();
  for (const mt::Instruction& instruction : program.code) {
    const mt::OpcodeInfo& info = mt::Info(instruction.op);
    const uint64_t times = info.argument == mt::Argument::Count ? instruction.argument : 1;
    ++cost.rows;
    cost.stack += static_cast<uint64_t>(std::abs(info.delta)) * times;
    cost.ram += info.ram_rows * times;
  }
  return cost;
}

class Tester {
 public:
  // How many rules fitted.
  uint64_t Try(const std::string& text) {
    const Result<mt::Program> before = mt::Parse(text);
    EXPECT_TRUE(before) << before.error().ToString() << "\n" << text;
    mt::Program after = *before;
    const uint64_t applied = Peephole(after);
    const Cost old_cost = CostOf(*before), new_cost = CostOf(after);
    EXPECT_LE(new_cost.words, old_cost.words) << text;
    EXPECT_LE(new_cost.rows, old_cost.rows) << text;
    EXPECT_LE(new_cost.stack, old_cost.stack) << text;
    EXPECT_LE(new_cost.ram, old_cost.ram) << text;
    mt::Inputs inputs;
    for (uint64_t i = 0; i < 40; ++i) inputs.input.push_back(i * 7);
    for (uint64_t i = 0; i < 40; ++i) inputs.secret.push_back(i * 11);
    // On sixteen words the machine has nothing to spare: what ran before must run still.
    for (const uint64_t depth : {40u, 16u}) {
      mt::FragmentStart start;
      for (uint64_t i = 0; i < depth; ++i)
        start.stack.push_back(random() % 5 == 0 ? 1 : random() % 40);
      const mt::FragmentResult a = mt::RunFragment(*before, start, inputs);
      const mt::FragmentResult b = mt::RunFragment(after, start, inputs);
      if (a.crash && a.crash->kind == mt::CrashKind::OpStackTooShallow) continue;
      EXPECT_EQ(a.crash.has_value(), b.crash.has_value()) << text << "\n->\n" << mt::Print(after);
      if (a.crash && b.crash) EXPECT_EQ(a.crash->kind, b.crash->kind) << text;
      EXPECT_EQ(a.output, b.output) << text;
      if (a.crash || b.crash) continue;
      EXPECT_EQ(a.stack, b.stack) << text << "\n->\n" << mt::Print(after);
      EXPECT_EQ(a.written, b.written) << text << "\n->\n" << mt::Print(after);
      EXPECT_EQ(a.inputs_read, b.inputs_read) << text;
      EXPECT_EQ(a.secrets_read, b.secrets_read) << text;
    }
    mt::Program again = after;
    EXPECT_EQ(Peephole(again), 0u) << "no fixpoint: " << text << "\n->\n" << mt::Print(after);
    return applied;
  }

  // The pattern with a value for every letter.
  std::string Instance(std::string_view pattern) {
    std::map<char, uint64_t> values;
    std::string text;
    for (size_t i = 0; i < pattern.size(); ++i) {
      const char c = pattern[i];
      const bool argument =
          i > 0 && pattern[i - 1] == ' ' && (i + 1 == pattern.size() || pattern[i + 1] == ';');
      if (c == ';') {
        text += '\n';
      } else if (pattern.substr(i).starts_with("0-1")) {
        text += "-1";
        i += 2;
      } else if (argument && std::string_view("abc").contains(c)) {
        text += std::to_string(values.emplace(c, random() % 6).first->second);
      } else if (argument && std::string_view("ijk").contains(c)) {
        text += std::to_string(
            values.emplace(c, random() % (random() % 2 == 0 ? 16 : 5)).first->second);
      } else if (argument && std::string_view("nm").contains(c)) {
        text += std::to_string(values.emplace(c, 1 + random() % 5).first->second);
      } else {
        text += c;
      }
    }
    return text + "\n";
  }

  std::string Noise(uint64_t count) {
    static constexpr std::string_view Lines[] = {
        "push {a}",     "push {a}",   "pop {n}",      "dup {i}",       "dup {i}",
        "swap {i}",     "swap {i}",   "pick {i}",     "place {i}",     "addi {a}",
        "add",          "mul",        "eq",           "split",         "read_io {n}",
        "write_io {n}", "divine {n}", "read_mem {n}", "write_mem {n}", "lt",
        "nop",          "xx_add",     "xx_mul",       "invert",        "assert",
        "hash",         "push 0",     "swap 1",       "pop 1"};
    std::string text;
    for (uint64_t i = 0; i < count; ++i) {
      text +=
          fmt::format(fmt::runtime(Lines[random() % std::size(Lines)]), fmt::arg("a", random() % 6),
                      fmt::arg("n", 1 + random() % 3), fmt::arg("i", random() % 5));
      text += '\n';
    }
    return text;
  }

  std::mt19937_64 random{5};
};

TEST(Peephole, EveryRuleFitsSomewhereAndIsRight) {
  Tester tester;
  ASSERT_GE(PeepholeRules().size(), 40u);
  for (const PeepholeRule& rule : PeepholeRules()) {
    uint64_t fitted = 0;
    for (int i = 0; i < 60; ++i) {
      const std::string middle = tester.Instance(rule.pattern);
      tester.Try(middle);
      fitted += tester.Try("read_io 2\n" + middle);
      tester.Try(tester.Noise(tester.random() % 3) + middle + tester.Noise(tester.random() % 3));
      ASSERT_FALSE(::testing::Test::HasFailure()) << rule.name;
    }
    EXPECT_GT(fitted, 0u) << rule.name;
  }
}

TEST(Peephole, RandomCode) {
  Tester tester;
  for (int i = 0; i < 10'000; ++i) {
    tester.Try(tester.Noise(1 + tester.random() % 20));
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
}

TEST(Peephole, BlocksAndWhatSkizSkipsStay) {
  Result<mt::Program> program = mt::Parse(
      "push 1 skiz push 2 pop 1 skiz nop push 3 call f pop 1 halt f: push 4 pop 1 g: pop 1 return");
  ASSERT_TRUE(program);
  EXPECT_EQ(Peephole(*program), 1u);
  EXPECT_EQ(mt::Print(*program),
            mt::Print(*mt::Parse(
                "push 1 skiz push 2 pop 1 skiz nop push 3 call f pop 1 halt f: g: pop 1 return")));
}

}  // namespace
}  // namespace frazil::targets::tasm
