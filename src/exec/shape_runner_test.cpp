#include "exec/shape_runner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "exec/generator.h"
#include "exec/interpreter.h"
#include "ir/check.h"
#include "ir/generalize.h"
#include "ir/text.h"

namespace frazil::exec {
namespace {

ir::Program Parse(const std::string& text) {
  Result<ir::Program> program = ir::ParseText(text);
  EXPECT_TRUE(program) << (program ? "" : program.error().ToString());
  return program ? *program : ir::Program{};
}

TEST(ShapeRunner, CompilesAShapeOnceAndAnswersEachProgram) {
  std::unique_ptr<Target> target = MakeInterpreterTarget();
  ShapeRunner runner(*target);
  for (int i = 0; i < 10; ++i) {
    ir::Program program = Parse(fmt::format(
        "frz 1\nfunc @main(%x: i32) -> (i32) {{\n%a = const {} : i32\n%b = const 7 : i32\n"
        "%s = sub %a, %b : i32\n%r = mul %s, %x : i32\nreturn %r\n}}\n",
        i));
    Value three = Value::Int(ir::types::I32, 3);
    Result<Outcome> outcome = runner.Run(program, std::span(&three, 1), {});
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->results.at(0), Value::Int(ir::types::I32, (i - 7) * 3));
  }
  EXPECT_EQ(runner.compiled(), 1u);
}

TEST(ShapeRunner, ForgetsTheLeastRecentlyUsed) {
  std::unique_ptr<Target> target = MakeInterpreterTarget();
  ShapeRunner runner(*target, 2);
  auto run = [&](const char* op) {
    ir::Program program =
        Parse(fmt::format("frz 1\nfunc @main(%x: i32) -> (i32) {{\n%r = {} %x, %x : i32\n"
                          "return %r\n}}\n",
                          op));
    Value one = Value::Int(ir::types::I32, 1);
    ASSERT_TRUE(runner.Run(program, std::span(&one, 1), {}));
  };
  run("add"), run("mul"), run("add"), run("sub"), run("add");
  EXPECT_EQ(runner.compiled(), 3u);
  run("mul");
  EXPECT_EQ(runner.compiled(), 4u);
}

TEST(Generalize, RandomProgramsKeepTheirMeaning) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    GeneratorOptions options;
    options.seed = seed;
    ir::Program program = Generate(options);
    Result<ir::Generalized> shape = ir::Generalize(program);
    ASSERT_TRUE(shape) << seed;
    ASSERT_TRUE(ir::Check(shape->program)) << ir::PrintText(shape->program);
    std::vector<Value> plain = RandomArguments(program, seed);
    std::vector<Value> general = RandomArguments(program, seed);
    for (const auto& constant : shape->constants)
      general.push_back(Value::Scalar(constant.type, constant.words));
    RunContext context;
    context.limits.fuel = 100'000;
    Result<Outcome> expected = Interpret(program, plain, context);
    Result<Outcome> seen = Interpret(shape->program, general, context);
    ASSERT_EQ(expected.has_value(), seen.has_value()) << seed;
    if (!expected) continue;
    EXPECT_EQ(expected->trap, seen->trap) << seed;
    EXPECT_EQ(expected->results, seen->results) << seed;
    EXPECT_EQ(expected->output, seen->output) << seed;
  }
}

}  // namespace
}  // namespace frazil::exec
