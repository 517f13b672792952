// The schedule on its own: exact arrangements of any stack, and programs with more live values than the machine
// can reach, deep nests and loops without rounds.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "exec/meaning/interpreter.h"
#include "ir/text/text.h"
#include "targets/tasm/stack/stack_steps.h"
#include "targets/tasm/tasm.h"

namespace frazil::targets::tasm {
namespace {

// Words 0 to 31: 24 on are constants.
WordFunction Plain() {
  WordFunction f;
  for (Word w = 0; w < 32; ++w) {
    WordNode node;
    node.op = w < 24 ? WordOp::Param : WordOp::Const;
    node.number = w;
    node.results = {w};
    f.nodes.push_back(node);
    f.words.push_back({w, 0, 0});
  }
  return f;
}

TEST(Arrange, ReachesEveryLayout) {
  const WordFunction f = Plain();
  const std::vector<bool> in_ram(32, false);
  std::mt19937 random(7);
  size_t moves = 0;
  for (int round = 0; round < 3000; ++round) {
    Stack stack;
    for (Word w = 0; w < random() % 12; ++w) stack.push_back(w);
    std::shuffle(stack.begin(), stack.end(), random);
    Stack target;
    for (Word w : stack)
      if (random() % 4 != 0) target.push_back(w);
    if (!stack.empty() && random() % 3 == 0) target.push_back(stack[random() % stack.size()]);
    if (random() % 3 == 0) target.push_back(24 + random() % 8);
    if (random() % 2 == 0) std::shuffle(target.begin(), target.end(), random);
    Steps steps;
    Word deep = NoWord;
    ASSERT_TRUE(Arrange(stack, target, {f, in_ram}, steps, deep));
    for (const Step& step : steps) {
      ASSERT_LT(step.number, Reach);
      Apply(stack, step);
    }
    ASSERT_EQ(stack, target);
    moves += steps.size();
  }
  EXPECT_LT(moves, 3000u * 9);
}

TEST(Arrange, OneMoveWhereOneIsEnough) {
  const WordFunction f = Plain();
  const std::vector<bool> in_ram(32, false);
  const std::pair<Stack, Stack> cases[] = {{{1, 2, 3}, {3, 2, 1}},
                                           {{1, 2, 3, 4}, {2, 3, 4, 1}},
                                           {{1, 2, 3, 4}, {4, 1, 2, 3}},
                                           {{1, 2}, {1}},
                                           {{1}, {1, 1}},
                                           {{1}, {1, 25}}};
  for (const auto& [from, to] : cases) {
    Steps steps;
    Word deep = NoWord;
    ASSERT_TRUE(Arrange(from, to, {f, in_ram}, steps, deep));
    EXPECT_EQ(steps.size(), 1u);
  }
}

// The program's outcome on the machine is the interpreter's.
void Same(const std::string& text, std::vector<int64_t> arguments,
          ir::Type type = ir::types::Field) {
  auto program = ir::ParseText(text);
  ASSERT_TRUE(program.has_value()) << program.error().ToString() << "\n" << text;
  auto target = MakeTarget();
  auto artifact = target->Emit(*program, {});
  ASSERT_TRUE(artifact.has_value()) << artifact.error().ToString();
  auto callable = target->Load(*artifact);
  ASSERT_TRUE(callable.has_value()) << callable.error().ToString();
  std::vector<exec::Value> values;
  for (int64_t a : arguments) values.push_back(exec::Value::Int(type, a));
  auto expected = exec::Interpret(*program, values);
  auto actual = (*callable)->Run(values, {});
  ASSERT_TRUE(expected.has_value() && actual.has_value());
  EXPECT_EQ(expected->trap, actual->trap);
  EXPECT_EQ(expected->results, actual->results);
  EXPECT_EQ(expected->output, actual->output);
}

TEST(Schedule, MoreLiveValuesThanReach) {
  for (int count : {15, 17, 33, 60}) {
    // All are read first, then used in the order of reading, then in the other.
    std::string text = "frz 1\nfunc @main(%seed: field) -> (field) {\n";
    for (int i = 0; i < count; ++i)
      text +=
          fmt::format("  %v{} = {} : field\n", i,
                      i == 0 ? "add %seed, %seed" : fmt::format("mul %v{}, %v{}", i - 1, i - 1));
    for (int i = 0; i < count; ++i) text += fmt::format("  output %v{} : field\n", i);
    text += "  %s0 = add %v0, %v0 : field\n";
    for (int i = 1; i < count; ++i)
      text += fmt::format("  %s{} = mul %s{}, %v{} : field\n", i, i - 1, count - i);
    text += fmt::format("  return %s{}\n}}\n", count - 1);
    Same(text, {3});
  }
}

TEST(Schedule, LoopsThatCarryMoreThanReach) {
  const int count = 20;
  std::string carry, yields, names;
  for (int i = 0; i < count; ++i) {
    carry += fmt::format("{}%c{} = %a", i ? ", " : "", i);
    yields += fmt::format("{}%n{}", i ? ", " : "", i);
    names += fmt::format("{}%r{}", i ? ", " : "", i);
  }
  for (int64_t rounds : {0, 1, 5}) {
    std::string text =
        "frz 1\nfunc @main(%a: field, %k: field) -> (field) {\n  %zero = const 0 : index\n  %ku = "
        "cast %k : u64\n";
    text += "  %hi = cast %ku : index\n";
    text += fmt::format("  {} = for %i = %zero to %hi step 1 carry ({}) {{\n", names, carry);
    // A rotation, with a sum at one place.
    for (int i = 0; i < count; ++i)
      text += fmt::format("    %n{} = add %c{}, %c{} : field\n", i, (i + 1) % count,
                          i == 7 ? 3 : (i + 1) % count);
    text += fmt::format("    yield {}\n  }}\n", yields);
    text += "  %s0 = add %r0, %r1 : field\n";
    for (int i = 1; i + 1 < count; ++i)
      text += fmt::format("  %s{} = mul %s{}, %r{} : field\n", i, i - 1, i + 1);
    text += fmt::format("  return %s{}\n}}\n", count - 2);
    Same(text, {3, rounds});
  }
}

TEST(Schedule, DeepNests) {
  std::string text =
      "frz 1\nfunc @main(%a: field) -> (field) {\n  %zero = const 0 : index\n  %two = const 2 : "
      "index\n";
  std::string end;
  const int depth = 7;
  for (int i = 0; i < depth; ++i) {
    const std::string from = i == 0 ? "a" : fmt::format("c{}", i - 1);
    text += fmt::format("  %r{} = for %i{} = %zero to %two step 1 carry (%c{} = %{}) {{\n", i, i, i,
                        from);
    end = fmt::format("  %y{} = add %r{}, %c{} : field\n  yield %y{}\n  }}\n", i,
                      i + 1 == depth ? depth - 1 : i + 1, i, i) +
          end;
  }
  const size_t last = end.find("%r6, ");
  ASSERT_NE(last, std::string::npos);
  end.replace(last, 3, "%c6");
  text += end + "  return %r0\n}\n";
  Same(text, {5});
}

// Many live values of which some go to RAM, and a store through an address that the caller names.
std::string StoreThroughAddress(int live, const std::string& address) {
  std::string text = "frz 1\nfunc @main(%a: field, %at: field, %ram: buffer<field>) -> (field) {\n";
  text += "  %one = const 1 : field\n  %v0 = add %a, %one : field\n";
  for (int i = 1; i < live; ++i)
    text += fmt::format("  %v{} = mul %v{}, %v{} : field\n", i, i - 1, i - 1);
  text +=
      address +
      "  %wide = cast %p : u64\n  %place = cast %wide : index\n  store %ram, %place, %a : field\n";
  // In an order in which they do not lie on the stack.
  text += "  %s0 = add %v0, %one : field\n";
  for (int i = 1; i < live; ++i)
    text += fmt::format("  %s{} = mul %s{}, %v{} : field\n", i, i - 1, i * 7 % live);
  return text + fmt::format("  return %s{}\n}}\n", live - 1);
}

mt::RunResult RunWith(const std::string& text, uint64_t at) {
  const auto lowered = Lower(*ir::ParseText(text));
  EXPECT_TRUE(lowered) << lowered.error().ToString();
  mt::Inputs inputs;
  inputs.input = {3, at};
  return mt::Run(lowered->program, inputs);
}

TEST(Schedule, RawAddressesCannotReachTheCompilersRam) {
  const std::string given = "  %zero = const 0 : field\n  %p = add %at, %zero : field\n";
  const std::string crowded = StoreThroughAddress(40, given);
  const mt::RunResult good = RunWith(crowded, 77);
  ASSERT_FALSE(good.crash);
  for (uint64_t slot = 0; slot < 30; ++slot) {
    const mt::RunResult aimed = RunWith(crowded, (uint64_t{1} << 62) + slot);
    ASSERT_TRUE(aimed.crash);
    EXPECT_TRUE(aimed.output.empty());
  }
  EXPECT_TRUE(RunWith(crowded, uint64_t{1} << 32).crash);
  EXPECT_EQ(RunWith(crowded, 0xffff'ffff).output, good.output);
  // Nothing of its own in RAM: any address will do.
  EXPECT_FALSE(RunWith(StoreThroughAddress(3, given), uint64_t{1} << 62).crash);
  const std::string beyond = "  %p = const 4611686018427387904 : field\n";
  EXPECT_TRUE(Lower(*ir::ParseText(StoreThroughAddress(3, beyond))));
  const auto refused = Lower(*ir::ParseText(StoreThroughAddress(40, beyond)));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().ToString().find("2^32"), std::string::npos);
}

size_t CountOf(const mt::Program& program, mt::Opcode opcode) {
  return static_cast<size_t>(std::count_if(program.code.begin(), program.code.end(),
                                           [&](const auto& i) { return i.op == opcode; }));
}

// The comparison crashes on what the checks would find: there are no checks. What is no number of 32 bits still traps
// as an input out of its range.
TEST(Words, ChecksThatTheNextInstructionMakes) {
  const auto program = ir::ParseText(
      "frz 1\nfunc @main(%a: u32, %b: u32) -> (bool) {\n  %c = lt %a, %b : u32\n  return %c\n}\n");
  ASSERT_TRUE(program.has_value());
  const auto lowered = Lower(*program);
  ASSERT_TRUE(lowered.has_value());
  EXPECT_EQ(CountOf(lowered->program, mt::Opcode::Xor), 0u);
  for (std::vector<uint64_t> input :
       {std::vector<uint64_t>{uint64_t{1} << 32, 5}, {5, uint64_t{1} << 32}}) {
    mt::Inputs inputs;
    inputs.input = input;
    const mt::RunResult run = mt::Run(lowered->program, inputs);
    ASSERT_TRUE(run.crash.has_value());
    const auto site = lowered->traps.find(run.crash->instruction);
    ASSERT_NE(site, lowered->traps.end());
    EXPECT_EQ(site->second.kind, ir::Trap::OutOfBounds);
  }
}

// A counter that nothing else needs ends at 0: its test is skiz alone.
TEST(Words, CountersThatOnlyTheEndNeeds) {
  const std::string text =
      "frz 1\nfunc @main(%a: field) -> (field) {\n  %zero = const 0 : index\n  %n = const 9 : "
      "index\n"
      "  %r = for %i = %zero to %n step 1 carry (%c = %a) {\n    %u = cast %i : u32\n    %d = mul "
      "%c, %c : field\n"
      "    yield %d\n  }\n  return %r\n}\n";
  Same(text, {3});
  const auto lowered = Lower(*ir::ParseText(text));
  ASSERT_TRUE(lowered.has_value());
  EXPECT_LE(lowered->program.code.size(), 18u) << mt::Print(lowered->program);
}

uint64_t WordsOfCallable(const std::string& text) {
  auto program = ir::ParseText(text);
  EXPECT_TRUE(program.has_value()) << program.error().ToString();
  const auto lowered = Lower(*program, {.callable = true});
  EXPECT_TRUE(lowered.has_value());
  return lowered->program.Words();
}

TEST(Schedule, SumsAreTakenFromTheTop) {
  for (const char* op : {"add", "mul"}) {
    std::string text = "frz 1\nfunc @f(%p0: field";
    for (int i = 1; i < 9; ++i) text += fmt::format(", %p{}: field", i);
    text += ") -> (field) {\n";
    for (int i = 1; i < 9; ++i)
      text += fmt::format("  %s{} = {} {}, %p{} : field\n", i, op,
                          i == 1 ? "%p0" : fmt::format("%s{}", i - 1), i);
    text += "  return %s8\n}\n";
    Same(text, {1, 2, 3, 4, 5, 6, 7, 8, 9});
    EXPECT_EQ(WordsOfCallable(text), 9u) << op;
  }
}

// A sum that is used twice is not made differently for one of its uses.
TEST(Schedule, SumsOfSumsThatAreShared) {
  const std::string text =
      "frz 1\nfunc @f(%a: field, %b: field, %c: field, %d: field) -> (field, field, field) {\n"
      "  %x = add %a, %b : field\n  %y = add %x, %c : field\n  %z = add %y, %d : field\n"
      "  %m = mul %y, %z : field\n  %n = add %x, %m : field\n  return %n, %y, %z\n}\n";
  Same(text, {3, 5, 7, 11});
}

TEST(Schedule, WhatIsDeadGoesAfterAnIf) {
  const std::string text =
      "frz 1\nfunc @f(%a: field, %b: field, %c: field) -> (field) {\n"
      "  %zero = const 0 : field\n  %e = eq %a, %zero : field\n"
      "  %r = if %e -> (field) {\n    yield %b\n  } else {\n    output %a : field\n"
      "    %m = mul %a, %b : field\n    %n = add %m, %c : field\n    yield %n\n  }\n"
      "  return %r\n}\n";
  Same(text, {0, 5, 9});
  Same(text, {2, 5, 9});
  EXPECT_LE(WordsOfCallable(text), 26u);
}

TEST(Arrange, DropsNeighborsTogether) {
  const WordFunction f = Plain();
  const std::vector<bool> in_ram(32, false);
  Steps steps;
  Word deep = NoWord;
  ASSERT_TRUE(Arrange({9, 1, 2, 3, 4, 5, 6}, {9, 4, 5, 6}, {f, in_ram}, steps, deep));
  EXPECT_LE(steps.size(), 4u);
}

}  // namespace
}  // namespace frazil::targets::tasm
