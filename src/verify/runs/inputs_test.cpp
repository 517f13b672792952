// Inputs that only some programs get: those whose values or lengths can tell something about them.
#include "verify/internal/inputs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/number/goldilocks.h"
#include "ir/text/text.h"
#include "verify/internal/telling.h"

namespace frazil::verify {
namespace {

constexpr uint64_t Numbers = 56;  // as many as the judge makes at least

std::vector<Input> Stretched(const ir::Program& program) {
  const InputSpace space = MakeInputSpace(program, program, {});
  Random random("a seed");
  InputMaker maker(space, program, program, random);
  std::vector<Input> inputs;
  for (uint64_t number = 0; number < Numbers; ++number)
    if (auto input = maker.Stretch(number)) inputs.push_back(std::move(*input));
  return inputs;
}

ir::Program Read(const char* text) {
  Result<ir::Program> program = ir::ParseText(text);
  EXPECT_TRUE(program) << (program ? "" : program.error().ToString());
  return std::move(*program);
}

ir::Program MapOf(const std::string& op) {
  return Read(("frz 1\n"
               "func @main(%n: index, %x: in buffer<f32>, %y: in buffer<f32>, %z: buffer<f32>) {\n"
               "  %zero = const 0 : index\n"
               "  parallel %i = %zero to %n {\n"
               "    %a = load %x, %i : f32\n"
               "    %b = load %y, %i : f32\n"
               "    %r = " +
               op +
               " : f32\n"
               "    store %z, %i, %r : f32\n"
               "    yield\n"
               "  }\n"
               "  return\n"
               "}\n")
                  .c_str());
}

std::vector<float> Floats(const exec::Value& value) {
  std::vector<float> floats(static_cast<size_t>(value.memory->length()));
  if (!floats.empty())
    std::memcpy(floats.data(), value.memory->data(), floats.size() * sizeof(float));
  return floats;
}

// Under a guard of many buffers inputs are made to fit: hardly any attempt fails, and nothing is the same that must not be.
TEST(Inputs, FitApartAndCover) {
  const ir::Program program = MapOf("add %a, %b");
  for (const char* text : {"apart(arg3; arg1, arg2) && cover(arg0; arg1, arg2, arg3)",
                           "1 <= arg0 <= 9223372036854775807 && cover(arg0; arg1, arg2, arg3)"}) {
    const ir::Guard guard = *ir::ParseGuard(text, program);
    const InputSpace space = MakeInputSpace(program, program, guard);
    ASSERT_EQ(space.empty, "");
    Random random("a seed");
    InputMaker maker(space, program, program, random);
    int made = 0, whole = 0, reads_same = 0;
    for (uint64_t number = 0; number < 100; ++number) {
      for (const auto& input : {maker.Make(number), maker.Stretch(number)}) {
        if (!input) continue;
        ++made;
        ASSERT_TRUE(Allows(space, input->arguments));
        const auto length = [&](size_t i) { return input->arguments[i].memory->length(); };
        whole += static_cast<int64_t>(input->arguments[0].word) ==
                         std::min({length(1), length(2), length(3)})
                     ? 1
                     : 0;
        reads_same += input->arguments[1].memory == input->arguments[2].memory ? 1 : 0;
      }
    }
    EXPECT_GT(made, 190) << text;
    EXPECT_GT(whole, 90) << text << ": few passes over all there is";
    EXPECT_GT(reads_same, 5) << text << ": what is only read may be one buffer";
  }
  const InputSpace none = MakeInputSpace(
      program, program,
      *ir::ParseGuard("5 <= arg0 <= 9 && cover(arg0; arg1) && len(arg1) == 4", program));
  EXPECT_EQ(none.empty, "the guard never holds");
}

// Inputs of which both buffers that are read have an element as asked for.
size_t CountBoth(const std::vector<Input>& inputs, bool (*is_wanted)(float)) {
  size_t count = 0;
  for (const Input& input : inputs)
    count += std::ranges::any_of(Floats(input.arguments[1]), is_wanted) &&
                     std::ranges::any_of(Floats(input.arguments[2]), is_wanted)
                 ? 1
                 : 0;
  return count;
}

size_t CountOneNan(const std::vector<Input>& inputs) {
  size_t count = 0;
  for (const Input& input : inputs) {
    int64_t nans = 0;
    for (size_t i = 1; i < 4; ++i)
      nans += std::ranges::count_if(Floats(input.arguments[i]), [](float x) { return x != x; });
    count += nans == 1 ? 1 : 0;
  }
  return count;
}

TEST(Inputs, WhatAProgramDoesIsSeen) {
  EXPECT_TRUE(TellingOf(MapOf("fma %a, %b, %a")).rounds);
  EXPECT_FALSE(TellingOf(MapOf("fma %a, %b, %a")).orders);
  EXPECT_TRUE(TellingOf(MapOf("max %a, %b")).orders);
  EXPECT_FALSE(TellingOf(MapOf("max %a, %b")).rounds);
  EXPECT_FALSE(
      TellingOf(MapOf("add %a, %b : f32\n    %m = min %i, %n : index\n    %q = add %r, %a"))
          .orders);
  EXPECT_FALSE(TellingOf(MapOf("add %a, %b")).divides);
  EXPECT_FALSE(TellingOf(MapOf("add %a, %b")).makes_fields);
}

TEST(Inputs, IntegersLieAroundTheSizeOfTheFieldThatTheyBecome) {
  const ir::Program program = Read(
      "frz 1\n"
      "func @main(%x: in buffer<u64>, %y: buffer<field>, %n: index) {\n"
      "  %zero = const 0 : index\n"
      "  parallel %i = %zero to %n {\n"
      "    %a = load %x, %i : u64\n"
      "    %b = cast %a : field\n"
      "    store %y, %i, %b : field\n"
      "    yield\n"
      "  }\n"
      "  return\n"
      "}\n");
  const std::vector<Input> inputs = Stretched(program);
  EXPECT_TRUE(std::ranges::any_of(inputs, [](const Input& input) {
    uint64_t word = 0;
    for (int64_t i = 0; i < input.arguments[0].memory->length(); ++i) {
      input.arguments[0].memory->Get(i, std::span(&word, 1));
      if (word == goldilocks::P) return true;
    }
    return false;
  }));
}

TEST(Inputs, ZerosMeetWhereSomethingIsOrdered) {
  const auto is_negative_zero = [](float x) { return x == 0 && std::signbit(x); };
  const size_t usual = CountBoth(Stretched(MapOf("add %a, %b")), is_negative_zero);
  EXPECT_GE(CountBoth(Stretched(MapOf("max %a, %b")), is_negative_zero), usual + 8);
}

TEST(Inputs, ProductsLieNearTheMiddleWhereTheyAreFused) {
  const auto is_next_to_one = [](float x) { return x == std::nextafter(1.0f, 2.0f); };
  EXPECT_EQ(CountBoth(Stretched(MapOf("add %a, %b")), is_next_to_one), 0u);
  EXPECT_GE(CountBoth(Stretched(MapOf("fma %a, %b, %a")), is_next_to_one), 8u);
}

TEST(Inputs, OneNanAmongManyNumbers) { EXPECT_GE(CountOneNan(Stretched(MapOf("add %a, %b"))), 8u); }

TEST(Inputs, TensorsOfConstantShapeFitTheirBuffers) {
  const ir::Program program = Read(
      "frz 1\n"
      "func @main(%x: in buffer<f32>, %z: buffer<f32>) {\n"
      "  %a = tensor.load %x : tensor<f32, [40, 500]>\n"
      "  tensor.store %z, %a : tensor<f32, [40, 500]>\n"
      "  return\n"
      "}\n");
  EXPECT_EQ(TellingOf(program).wholes, (std::vector<int64_t>{20'000, 20'000}));
  const std::vector<Input> inputs = Stretched(program);
  const auto fitting = std::ranges::count_if(inputs, [](const Input& input) {
    return input.arguments[0].memory->length() >= 20'000 &&
           input.arguments[1].memory->length() >= 20'000;
  });
  EXPECT_GE(fitting, 24);
  EXPECT_LT(fitting, static_cast<int64_t>(inputs.size()));  // too short ones trap
}

}  // namespace
}  // namespace frazil::verify
