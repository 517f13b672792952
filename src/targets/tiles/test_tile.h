// What tests of the tile interpreter share: a program, its plan, and runs that are compared with the meaning.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>

#include "exec/meaning/after_trap.h"
#include "exec/meaning/interpreter.h"
#include "exec/random_arguments.h"
#include "ir/text/test_text.h"
#include "ir/text/text.h"
#include "targets/tiles/tile_maker.h"

namespace frazil::targets::tiles {

inline exec::Value RandomBuffer(ir::Type element, int64_t length, uint64_t seed) {
  auto memory = std::make_shared<exec::Memory>(element, length);
  for (int64_t i = 0; i < length; ++i)
    memory->Set(i,
                exec::RandomScalar(element, seed * 7919 + static_cast<uint64_t>(i)).scalar_words());
  return exec::Value::Buffer(std::move(memory));
}

class Prepared {
 public:
  explicit Prepared(ir::Program program, const TileOptions& options = {})
      : program_(std::move(program)) {
    auto made = Prepare(program_, options);
    if (made) plan_ = *made;
    EXPECT_TRUE(made.has_value());
  }
  const TilePlan& plan() const { return *plan_; }
  const ir::Program& program() const { return program_; }

  void ExpectSame(const std::vector<exec::Value>& arguments,
                  const exec::RunContext& context = {}) const {
    const std::vector<exec::Value> expected_arguments = exec::CopyValues(arguments);
    const Result<exec::Outcome> expected = exec::Interpret(program_, expected_arguments, context);
    for (int threads : {1, 2}) {
      const std::vector<exec::Value> actual_arguments = exec::CopyValues(arguments);
      const Result<exec::Outcome> actual = Run(*plan_, actual_arguments, context, {threads});
      ASSERT_EQ(expected.has_value(), actual.has_value());
      if (!expected) continue;
      ASSERT_EQ(expected->trap.has_value(), actual->trap.has_value())
          << (expected->trap ? expected->trap->ToString() : actual->trap->ToString());
      if (expected->trap) {
        EXPECT_EQ(*expected->trap, *actual->trap)
            << expected->trap->ToString() << " / " << actual->trap->ToString();
        const auto wrong =
            exec::WrongAfterTrap(*exec::InterpreterProgram::Create(program_), arguments,
                                 expected_arguments, actual_arguments, context);
        EXPECT_FALSE(wrong) << "after " << expected->trap->ToString() << " argument "
                            << wrong->argument << ", element " << wrong->element << ", " << threads
                            << " threads";
        continue;
      }
      EXPECT_TRUE(expected->results == actual->results);
      EXPECT_TRUE(expected->output == actual->output);
      for (size_t i = 0; i < arguments.size(); ++i)
        ASSERT_TRUE(expected_arguments[i] == actual_arguments[i])
            << "argument " << i << ", " << threads << " threads";
    }
  }

 private:
  ir::Program program_;
  std::shared_ptr<const TilePlan> plan_;
};

inline ir::Program ReadProgram(std::string_view text) { return ir::Parsed(text); }

// Blocks of %block lanes, each of which reads what the lane opposite has put into the scratch that they share: `put`,
// then `middle`, then `end` with that value as %w and its own as %v.
inline std::string BlockKernel(std::string_view middle, std::string_view put,
                               std::string_view end = "store %y, %i, %w : f32") {
  return fmt::format(R"(frz 1
func @main(%grid: index, %block: index, %x: buffer<f32>, %y: buffer<f32>) {{
  %zero = const 0 : index
  %one = const 1 : index
  parallel %b = %zero to %grid {{
    %shared = alloc %block : f32
    parallel %l = %zero to %block {{
      %base = mul %b, %block : index
      %i = add %base, %l : index
      %v = load %x, %i : f32
      {}
      {}
      %last = sub %block, %one : index
      %m = sub %last, %l : index
      %w = load %shared, %m : f32
      {}
      yield
    }}
    yield
  }}
  return
}}
)",
                     put, middle, end);
}

}  // namespace frazil::targets::tiles
