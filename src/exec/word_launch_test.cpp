// The rules on words against the rules on values: nothing is let through that those refuse, and nearly everything else is.
#include "exec/word_launch.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "exec/launch.h"
#include "exec/test_words.h"
#include "ir/text/text.h"

namespace frazil::exec {
namespace {

// Words that are a value of the type, nearly always.
Value ScalarOf(ir::Type type, std::mt19937_64& random) {
  std::vector<uint64_t> words(ir::WordsOf(type));
  for (uint64_t& word : words) word = random() % 200 ? random() % 2 : random();
  if (random() % 4 == 0) words[0] = 0 - words[0];
  return Value::Scalar(type, words);
}

TEST(WordLaunch, AgreesWithTheLaunchRules) {
  const Result<ir::Program> program = ir::ParseText(R"(frz 1
func @main(%a: i8, %b: bool, %x: in buffer<bool>, %c: u16, %y: buffer<f32>, %d: field, %e: digest, %z: in buffer<f32>,
  %f: f16, %w: out buffer<bool>, %g: i64, %v: buffer<field>, %h: int<3>, %i: f64, %j: f32, %k: i32) {
  return
}
)");
  ASSERT_TRUE(program) << program.error().ToString();
  const WordLaunch launch(*program);
  const ir::Function& entry = program->entry_function();
  std::mt19937_64 random(3);
  alignas(64) std::array<std::byte, 512> arena = {};
  std::array<int, 2> seen = {};
  for (int round = 0; round < 10'000; ++round) {
    for (std::byte& byte : arena) byte = std::byte{0};
    if (random() % 4 == 0) arena[random() % arena.size()] = std::byte{2};
    if (random() % 8 == 0)
      std::fill_n(arena.begin() + static_cast<ptrdiff_t>(8 * (random() % 32)), 8, std::byte{0xff});
    std::vector<Value> arguments;
    for (uint32_t i = 0; i < entry.param_count(); ++i) {
      const ir::Type type = entry.param_type(i);
      if (type.is_scalar()) {
        arguments.push_back(ScalarOf(type, random));
        continue;
      }
      auto length = static_cast<int64_t>(random() % 4);
      if (random() % 200 == 0) length = static_cast<int64_t>(random() << random() % 64);
      const uint64_t bytes = ir::BytesOf(type.element());
      // What is looked into must be there.
      const auto most = static_cast<int64_t>(arena.size() / 2 / bytes);
      const uint64_t place = bytes * (random() % (arena.size() / 2 / bytes));
      if (length > most && type.element().scalar != ir::Scalar::F32) length = most;
      std::byte* data = random() % 100 ? arena.data() + place : nullptr;
      Value value =
          Value::Buffer(std::make_shared<Memory>(type.element(), length, static_cast<void*>(data)));
      value.type = type;
      arguments.push_back(std::move(value));
    }
    if (random() % 3 == 0) arguments[7].memory = arguments[4].memory;
    const bool launches = CheckLaunch(*program, arguments).has_value();
    ASSERT_EQ(launch.Holds(WordsOfCall(arguments).data()), launches)
        << round << " " << (launches ? "" : CheckLaunch(*program, arguments).error().ToString());
    ++seen[launches];
  }
  EXPECT_GT(seen[0], 500);
  EXPECT_GT(seen[1], 500);
}

// Too careful only where a size is 0 beside others whose product no length says.
TEST(WordLaunch, TensorsAreAsLargeAsTheirSizesSay) {
  const Result<ir::Program> program = ir::ParseText(R"(frz 1
func @main(%m: index, %a: tensor<f32, [%m, %k]>, %k: index, %b: tensor<bool, [%k, 2, %m]>)
  -> (i64, tensor<index, [%m, 3]>) {
  %r = const 0 : i64
  %c = iota {axis = 0} : tensor<index, [%m, 3]>
  return %r, %c
}
)");
  ASSERT_TRUE(program) << program.error().ToString();
  const WordLaunch launch(*program);
  std::mt19937_64 random(9);
  constexpr int64_t Sizes[] = {0, 1, 2, 3, 5, -1, int64_t{1} << 32, int64_t{1} << 62, INT64_MIN};
  std::vector<std::byte> arena(1 << 12);
  std::array<int, 2> seen = {};
  for (int round = 0; round < 10'000; ++round) {
    auto size = [&] { return Sizes[random() % (round % 4 ? 5 : std::size(Sizes))]; };
    const int64_t m = size(), k = size();
    uint64_t next = 0;
    auto memory = [&](ir::Type element, uint64_t count) {
      if (random() % 16 == 0 || count > 100) count = random() % 8;
      auto result =
          std::make_shared<Memory>(element, static_cast<int64_t>(count), arena.data() + next);
      next += random() % 16 ? 1024 : 0;
      return Value::Buffer(std::move(result));
    };
    const auto um = static_cast<uint64_t>(m), uk = static_cast<uint64_t>(k);
    const std::vector<Value> arguments = {
        Value::Int(ir::types::Index, m), memory(ir::types::F32, um * uk),
        Value::Int(ir::types::Index, k), memory(ir::types::Bool, uk * 2 * um),
        memory(ir::types::Index, um * 3)};
    const bool launches = CheckLoweredLaunch(*program, arguments).has_value();
    const bool holds = launch.Holds(WordsOfCall(arguments).data());
    if (round % 4) {
      ASSERT_EQ(holds, launches) << m << " " << k;
    } else {
      ASSERT_TRUE(launches || !holds) << m << " " << k;
    }
    ++seen[holds];
  }
  EXPECT_GT(seen[0], 500);
  EXPECT_GT(seen[1], 500);
}

// Many buffers: what is refused is still refused with both names.
TEST(WordLaunch, OfManyBuffersTheTwoThatOverlapAreNamed) {
  std::string params;
  for (int i = 0; i < 70; ++i)
    params += fmt::format("{}%b{}: {}buffer<f32>", i == 0 ? "" : ", ", i, i % 2 ? "in " : "");
  const Result<ir::Program> program =
      ir::ParseText(fmt::format("frz 1\nfunc @main({}) {{\n  return\n}}\n", params));
  ASSERT_TRUE(program) << program.error().ToString();
  const WordLaunch launch(*program);
  std::vector<float> memory(70 * 16);
  std::vector<Value> arguments;
  auto set = [&](size_t i, size_t at, int64_t length) {
    Value value =
        Value::Buffer(std::make_shared<Memory>(ir::types::F32, length, memory.data() + at));
    value.type = program->entry_function().param_type(static_cast<uint32_t>(i));
    arguments.resize(std::max(arguments.size(), i + 1));
    arguments[i] = std::move(value);
  };
  for (size_t i = 0; i < 70; ++i) set(i, 16 * ((i * 13) % 70), 16);
  EXPECT_TRUE(launch.Holds(WordsOfCall(arguments).data()));
  EXPECT_TRUE(CheckLaunch(*program, arguments));
  arguments[33].memory = arguments[12].memory;  // one buffer twice
  EXPECT_TRUE(launch.Holds(WordsOfCall(arguments).data()));
  set(33, 16 * ((12 * 13) % 70) + 4, 8);  // a part of what is written
  EXPECT_FALSE(launch.Holds(WordsOfCall(arguments).data()));
  const Result<void> refused = CheckLaunch(*program, arguments);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "arguments 13 and 34 overlap, and one of them is written");
  set(33, 16 * ((13 * 13) % 70) + 4, 8);  // a part of what is read: it is read itself
  EXPECT_TRUE(launch.Holds(WordsOfCall(arguments).data()));
  EXPECT_TRUE(CheckLaunch(*program, arguments));
}

}  // namespace
}  // namespace frazil::exec
