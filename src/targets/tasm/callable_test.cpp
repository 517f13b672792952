// Functions that assembly calls: arguments and results lie as tasm.h says, and what is below stays.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "exec/meaning/interpreter.h"
#include "ir/text/text.h"
#include "machines/tasm/fragment.h"
#include "targets/tasm/convention.h"
#include "targets/tasm/tasm.h"

namespace frazil::targets::tasm {
namespace {

constexpr uint64_t SpillFloor = uint64_t{1} << 62;

ir::Program Parse(const std::string& text) {
  auto program = ir::ParseText(text);
  EXPECT_TRUE(program.has_value()) << program.error().ToString() << "\n" << text;
  return *program;
}

// First word on top.
void Push(std::vector<uint64_t>& stack, const exec::Value& value) {
  const std::vector<uint64_t> words = ToWords(value);
  stack.insert(stack.end(), words.rbegin(), words.rend());
}

std::vector<exec::Value> Draw(const ir::Program& program, std::mt19937_64& random) {
  std::vector<exec::Value> values;
  const ir::Function& entry = program.entry_function();
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    const ir::Type type = entry.param_type(i);
    std::vector<uint64_t> words(ir::WordsOf(type));
    for (uint64_t& word : words)
      word = type.scalar == ir::Scalar::Bool ? random() % 2 : random() >> 33;
    values.push_back(exec::Value::Scalar(type, words));
  }
  return values;
}

void CallsIn(const std::string& text, bool spills, bool first_on_top) {
  const ir::Program program = Parse(text);
  const auto lowered = Lower(program, {.callable = true, .first_on_top = first_on_top});
  ASSERT_TRUE(lowered.has_value()) << lowered.error().ToString();
  ASSERT_FALSE(lowered->program.labels.empty());
  EXPECT_EQ(lowered->program.labels[0].name, program.entry_function().name);
  EXPECT_EQ(lowered->program.labels[0].instruction, 0u);
  std::mt19937_64 random(11);
  for (int round = 0; round < 20; ++round) {
    const std::vector<exec::Value> values = Draw(program, random);
    const auto expected = exec::Interpret(program, values);
    ASSERT_TRUE(expected.has_value());
    mt::FragmentStart start;
    start.called = true;
    for (int i = 0; i < 20; ++i) start.stack.push_back(1000 + i);
    std::vector<uint64_t> after = start.stack;
    std::vector<exec::Value> arguments = values, results = expected->results;
    if (first_on_top) std::reverse(arguments.begin(), arguments.end());
    if (first_on_top) std::reverse(results.begin(), results.end());
    for (const exec::Value& value : arguments) Push(start.stack, value);
    for (const exec::Value& value : results) Push(after, value);
    const mt::FragmentResult run = mt::RunFragment(lowered->program, start, {});
    ASSERT_EQ(run.crash.has_value(), expected->trap.has_value());
    if (run.crash) continue;
    EXPECT_EQ(run.stack, after) << mt::Print(lowered->program);
    EXPECT_FALSE(run.halted);
    if (spills) EXPECT_FALSE(run.written.empty());
    for (const auto& [address, value] : run.written) EXPECT_GE(address, SpillFloor);
  }
}

void Calls(const std::string& text, bool spills = false) {
  CallsIn(text, spills, false);
  CallsIn(text, false, true);
}

TEST(Callable, WideValuesHaveTheirFirstWordOnTop) {
  Calls("frz 1\nfunc @one(%a: field) -> (field) {\n  return %a\n}\n");
  Calls("frz 1\nfunc @none(%a: field, %d: digest) -> () {\n  return\n}\n");
  Calls("frz 1\nfunc @pair(%a: field, %d: digest) -> (digest, field) {\n  return %d, %a\n}\n");
  Calls(
      "frz 1\nfunc @mixed(%x: xfield, %k: u32, %d: digest, %b: bool) -> (bool, xfield, digest) {\n"
      "  %y = mul %x, %x : xfield\n  return %b, %y, %d\n}\n");
  Calls(
      "frz 1\nfunc @sum(%a: u32, %b: u32) -> (u32, field) {\n  %s = add.checked %a, %b : u32\n"
      "  %w = cast %a : u64\n  %f = cast %w : field\n  return %s, %f\n}\n");
}

TEST(Callable, CalleesHaveTheFunctionsName) {
  const std::string text =
      "frz 1\nfunc @inner(%a: field, %b: field) -> (field) {\n  %c = mul %a, %b : field\n"
      "  %d = mul %c, %c : field\n  %e = add %d, %a : field\n  %f = mul %e, %e : field\n"
      "  %g = add %f, %b : field\n  %h = mul %g, %e : field\n  return %h\n}\n"
      "func @outer(%a: field, %b: field) -> (field) {\n  %x = call @inner(%a, %b)\n"
      "  %y = call @inner(%x, %a)\n  %z = call @inner(%b, %y)\n  return %z\n}\n";
  Calls(text);
  const auto lowered = Lower(Parse(text), {.callable = true});
  ASSERT_TRUE(lowered.has_value());
  for (const mt::Label& label : lowered->program.labels)
    EXPECT_TRUE(label.name.starts_with("outer")) << label.name;
}

// More words than can be reached, all used; and all but some dropped.
TEST(Callable, DeepStacks) {
  for (int count : {15, 16, 17, 24, 40}) {
    std::string params, back, types;
    for (int i = 0; i < count; ++i) {
      params += fmt::format("{}%p{}: field", i ? ", " : "", i);
      back += fmt::format("{}%p{}", i ? ", " : "", count - 1 - i);
      types += i ? ", field" : "field";
    }
    Calls(fmt::format("frz 1\nfunc @turn({}) -> ({}) {{\n  return {}\n}}\n", params, types, back),
          count > 16);
    Calls(fmt::format("frz 1\nfunc @low({}) -> (field) {{\n  return %p0\n}}\n", params));
    std::string sum = "  %s0 = mul %p0, %p0 : field\n";
    for (int i = 1; i < count; ++i)
      sum += fmt::format("  %m{0} = mul %s{1}, %p{0} : field\n  %s{0} = add %m{0}, %p0 : field\n",
                         i, i - 1);
    Calls(fmt::format("frz 1\nfunc @fold({}) -> (field) {{\n{}  return %s{}\n}}\n", params, sum,
                      count - 1));
  }
}

TEST(Callable, Refuses) {
  const ir::Program program = Parse(
      "frz 1\nfunc @b(%x: in buffer<field>) -> (index) {\n  %n = length %x : field\n  return "
      "%n\n}\n");
  const auto lowered = Lower(program, {.callable = true});
  ASSERT_FALSE(lowered.has_value());
  EXPECT_NE(lowered.error().message.find("buffer"), std::string::npos);
}

}  // namespace
}  // namespace frazil::targets::tasm
