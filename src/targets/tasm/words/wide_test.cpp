// Functions of more words than the machine can reach, and calls that would never end if each were written out.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "exec/meaning/interpreter.h"
#include "ir/text/text.h"
#include "targets/tasm/tasm.h"

namespace frazil::targets::tasm {
namespace {

// The program's outcome on the machine is the interpreter's.
void Same(const std::string& text, std::vector<int64_t> arguments) {
  const auto program = ir::ParseText(text);
  ASSERT_TRUE(program.has_value()) << program.error().ToString() << "\n" << text;
  const auto lowered = Lower(*program);
  ASSERT_TRUE(lowered.has_value()) << lowered.error().ToString() << "\n" << text;
  std::vector<exec::Value> values;
  for (int64_t a : arguments) values.push_back(exec::Value::Int(ir::types::Field, a));
  const auto expected = exec::Interpret(*program, values);
  ASSERT_TRUE(expected.has_value()) << expected.error().ToString();
  const auto inputs = ToInputs(*program, values, {});
  ASSERT_TRUE(inputs.has_value());
  const auto actual = ToOutcome(*program, *lowered, mt::Run(lowered->program, *inputs), values);
  ASSERT_TRUE(actual.has_value()) << actual.error().ToString();
  EXPECT_EQ(expected->trap, actual->trap);
  EXPECT_EQ(expected->results, actual->results);
  EXPECT_EQ(expected->output, actual->output);
}

std::string List(int count, auto item) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i ? ", " : "") + item(i);
  return text;
}

// `count` field parameters after the machine's RAM; three are used.
TEST(Wide, ParametersBesideRam) {
  for (int count : {10, 61, 62, 63, 64, 70}) {
    std::string text =
        "frz 1\nfunc @main(%a: field, %b: field, %ram: buffer<field>) -> (field, field) {\n";
    const std::string given = List(count, [](int i) { return std::string(i % 3 ? "%a" : "%b"); });
    text += fmt::format("  %x = call @f(%ram, {})\n  %y = call @f(%ram, {})\n  return %x, %y\n}}\n",
                        given, given);
    text += fmt::format("func @f(%ram: buffer<field>, {}) -> (field) {{\n",
                        List(count, [](int i) { return fmt::format("%p{}: field", i); }));
    text += "  %i = const 2 : index\n  %old = load %ram, %i : field\n";
    text += fmt::format("  %s = add %p{}, %old : field\n  store %ram, %i, %s : field\n", count - 1);
    text += fmt::format(
        "  %t = mul %s, %p{} : field\n  %u = add %t, %p0 : field\n  return %u\n}}\n", count - 4);
    const auto program = ir::ParseText(text);
    ASSERT_TRUE(program.has_value()) << program.error().ToString();
    const auto lowered = Lower(*program);
    ASSERT_TRUE(lowered.has_value()) << lowered.error().ToString();
    const auto argument = [](int i) -> uint64_t { return i % 3 ? 3 : 11; };
    mt::Inputs inputs;
    inputs.input = {3, 11};
    const uint64_t last = argument(count - 1), other = argument(count - 4);
    EXPECT_EQ(mt::Run(lowered->program, inputs).output,
              (std::vector<uint64_t>{last * other + 11, 2 * last * other + 11}));
  }
}

// Forty functions, each of which calls the one before twice.
std::string Doubling(const std::string& argument, bool parallel) {
  std::string text = "frz 1\nfunc @main(%a: field) -> (field) {\n";
  if (parallel)
    text +=
        "  %zero = const 0 : index\n  %two = const 2 : index\n  parallel %i = %zero to %two {\n    "
        "yield\n  }\n";
  text += argument + "  %r = call @f39(%x)\n  return %r\n}\n";
  text +=
      "func @f0(%a: field) -> (field) {\n  %one = const 1 : field\n  %b = add %a, %one : field\n  "
      "return %b\n}\n";
  for (int i = 1; i < 40; ++i) {
    text += fmt::format("func @f{}(%a: field) -> (field) {{\n  %b = call @f{}(%a)\n", i, i - 1);
    text += fmt::format("  %c = call @f{}(%b)\n  return %c\n}}\n", i - 1);
  }
  return text;
}

TEST(Wide, CallsThatDouble) {
  for (const char* argument : {"  %x = add %a, %a : field\n", "  %x = const 3 : field\n"}) {
    const auto program = ir::ParseText(Doubling(argument, false));
    ASSERT_TRUE(program.has_value()) << program.error().ToString();
    const auto lowered = Lower(*program);
    ASSERT_TRUE(lowered.has_value()) << lowered.error().ToString();
    EXPECT_LT(lowered->program.code.size(), 10'000u);
  }
  // Inside of a program with a parallel every call is written out.
  const auto program = ir::ParseText(Doubling("  %x = add %a, %a : field\n", true));
  ASSERT_TRUE(program.has_value()) << program.error().ToString();
  const auto refused = Lower(*program);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().diag, Diag::LimitReached);
}

// A function of many words, called where many words live, with ifs and loops that carry them.
std::string Crowded(uint32_t seed) {
  std::mt19937 random(seed);
  const int params = 1 + static_cast<int>(random() % 60),
            results = 1 + static_cast<int>(random() % 40);
  auto parameters = [&] {
    return List(params, [](int i) { return fmt::format("%p{}: field", i); });
  };
  auto any = [&](const std::string& name, int count) {
    return fmt::format("%{}{}", name, random() % count);
  };
  auto names = [&](const std::string& name) {
    return List(results, [&](int i) { return fmt::format("%{}{}", name, i); });
  };
  const std::string types = List(results, [](int) { return std::string("field"); });
  std::string text = "frz 1\nfunc @main(%p0: field, %p1: field) -> (" + types + ") {\n";
  for (int i = 2; i < 2 + params / 3; ++i)
    text += fmt::format("  %p{} = {} {}, {} : field\n", i, random() % 2 ? "mul" : "add",
                        any("p", i), any("p", i));
  const int live = 2 + params / 3;
  auto given = [&](const std::string& name, int count) {
    return List(params, [&](int) { return any(name, count); });
  };
  text += fmt::format("  {} = call @f({})\n", names("a"), given("p", live));
  text += fmt::format("  {} = call @f({})\n", names("b"), given("a", results));
  if (random() % 2)
    text += "  %zero = const 0 : field\n  %c = eq %b0, %zero : field\n";
  else
    text += "  %c = eq %p0, %p0 : field\n";
  text += fmt::format(
      "  {} = if %c -> ({}) {{\n    {} = call @f({})\n    yield {}\n  }} else {{\n    yield {}\n  "
      "}}\n",
      names("d"), types, names("e"), given("b", results), names("e"),
      List(results, [&](int) { return any("b", results); }));
  text += "  %lo = const 0 : index\n  %hi = const 3 : index\n";
  text += fmt::format("  {} = for %i = %lo to %hi step 1 carry ({}) {{\n", names("r"),
                      List(results, [](int i) { return fmt::format("%k{} = %d{}", i, i); }));
  text += fmt::format("    {} = call @f({})\n    output %l0 : field\n", names("l"),
                      given("k", results));
  text += fmt::format("    yield {}\n  }}\n",
                      List(results, [&](int) { return any(random() % 2 ? "l" : "k", results); }));
  text += fmt::format("  output {} : field\n  return {}\n}}\n", any("p", live),
                      List(results, [&](int) { return any("r", results); }));
  text += fmt::format("func @f({}) -> ({}) {{\n", parameters(), types);
  for (int i = 0; i < results; ++i)
    text += fmt::format("  %q{} = {} {}, {} : field\n", i, random() % 2 ? "mul" : "add",
                        any("p", params), i > 0 && random() % 2 ? any("q", i) : any("p", params));
  const auto result = [&](int) { return random() % 4 ? any("q", results) : any("p", params); };
  return text + fmt::format("  return {}\n}}\n", List(results, result));
}

TEST(Wide, ParametersAndResults) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Same(Crowded(seed), {3, 11});
    if (HasFailure()) break;
  }
}

// Neither takes time that grows with the square of its length.
TEST(Wide, LongChainsAndHundredsOfWords) {
  std::string chain = "frz 1\nfunc @main(%v0: field, %y: field) -> (field) {\n";
  for (int i = 1; i < 4000; ++i)
    chain += fmt::format("  %v{} = {} %v{}, %y : field\n", i, i % 2 ? "mul" : "add", i - 1);
  Same(chain + "  return %v3999\n}\n", {3, 11});
  const int live = 300;
  std::string crowd = "frz 1\nfunc @main(%v0: field, %y: field) -> (field) {\n";
  for (int i = 1; i < live; ++i)
    crowd += fmt::format("  %v{} = mul %v{}, %y : field\n  output %v{} : field\n", i, i - 1, i);
  crowd += "  %s0 = add %v0, %y : field\n";
  for (int i = 1; i < live; ++i)
    crowd += fmt::format("  %s{} = mul %s{}, %v{} : field\n", i, i - 1, i * 7 % live);
  Same(crowd + fmt::format("  return %s{}\n}}\n", live - 1), {3, 11});
}

TEST(Wide, CallsThatNestTooDeep) {
  std::string text =
      "frz 1\nfunc @main(%a: field) -> (field) {\n  %r = call @f8999(%a)\n  return %r\n}\n";
  text += "func @f0(%a: field) -> (field) {\n  %b = add %a, %a : field\n  return %b\n}\n";
  for (int i = 1; i < 9000; ++i)
    text += fmt::format(
        "func @f{0}(%a: field) -> (field) {{\n  %b = call @f{1}(%a)\n  %c = mul %b, %a : field\n"
        "  %d = call @f{1}(%c)\n  %e = add %d, %a : field\n  return %e\n}}\n",
        i, i - 1);
  const auto program = ir::ParseText(text);
  ASSERT_TRUE(program.has_value()) << program.error().ToString();
  const auto refused = Lower(*program);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().diag, Diag::LimitReached);
}

}  // namespace
}  // namespace frazil::targets::tasm
