// The flat form of a guard against exec::Holds, on random guards of all kinds and arguments that often satisfy them.
#include "dispatch/flat_guard.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <random>

#include "exec/guard_eval.h"
#include "exec/launch.h"
#include "exec/test_words.h"
#include "exec/value.h"
#include "ir/text/text.h"

namespace frazil::dispatch {
namespace {

using exec::Memory;
using exec::Value;
using exec::WordsOfCall;
using ir::GuardKind;

constexpr char Text[] = R"(frz 1
func @main(%a: i32, %x: in buffer<f32>, %u: u8, %y: buffer<f32>, %f: f64, %d: digest, %z: in buffer<u16>,
  %g: f32, %k: index, %w: int<12>, %q: u64, %t: tensor<f32, [4]>, %h: f16, %b: bool, %l: i64) {
  return
}
)";
constexpr std::array<uint32_t, 9> ScalarArgs = {0, 2, 4, 7, 8, 10, 12, 13, 14};
constexpr std::array<uint32_t, 4> MemoryArgs = {1, 3, 6, 11};

class Maker {
 public:
  explicit Maker(const ir::Program& program) : entry_(program.entry_function()) {}

  uint64_t Pick(uint64_t n) { return std::uniform_int_distribution<uint64_t>(0, n - 1)(random_); }

  // Small numbers, edges and anything, as words of the type.
  uint64_t Word(ir::Type type) {
    if (type == ir::types::F64) return DoubleBits();
    if (type == ir::types::F32)
      return std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(DoubleBits())));
    if (type == ir::types::F16) return Pick(0x10000);
    int64_t value = 0;
    switch (Pick(4)) {
      case 0: value = static_cast<int64_t>(random_()); break;
      case 1: value = std::numeric_limits<int64_t>::min() + static_cast<int64_t>(Pick(3)); break;
      default: value = static_cast<int64_t>(Pick(9)) - 4; break;
    }
    return Value::Int(type, value).scalar_words()[0];
  }

  uint64_t DoubleBits() {
    constexpr double Special[] = {0.0,
                                  -0.0,
                                  1.0,
                                  -1.0,
                                  2.5,
                                  std::numeric_limits<double>::infinity(),
                                  -std::numeric_limits<double>::infinity(),
                                  1e-310,
                                  3e38};
    if (Pick(8) == 0) return 0x7ff8000000000000;
    if (Pick(3) == 0) return random_();
    return std::bit_cast<uint64_t>(Special[Pick(std::size(Special))]);
  }

  Value Argument(uint32_t arg) {
    const ir::Type type = entry_.param_type(arg);
    if (type.is_scalar()) {
      std::vector<uint64_t> words(ir::WordsOf(type));
      for (uint64_t& word : words)
        word = type.scalar == ir::Scalar::Digest ? Pick(3) : Word(ir::types::I64);
      if (words.size() == 1) words[0] = Word(type);
      return Value::Scalar(type, words);
    }
    // Pieces of one small arena, so that they often touch, overlap, contain each other or coincide.
    const uint64_t bytes = ir::BytesOf(type.element());
    std::byte* data = arena_ + 64 - reinterpret_cast<uintptr_t>(arena_) % 64 + bytes * Pick(24);
    return Value::Buffer(
        std::make_shared<Memory>(type.element(), static_cast<int64_t>(Pick(12)), data));
  }

  ir::GuardAtom Atom(const std::vector<Value>& arguments) {
    ir::GuardAtom atom;
    atom.kind = static_cast<GuardKind>(Pick(static_cast<uint64_t>(GuardKind::Cover) + 1));
    const bool is_scalar = atom.kind == GuardKind::Equals || atom.kind == GuardKind::Between;
    atom.arg =
        is_scalar ? ScalarArgs[Pick(ScalarArgs.size())] : MemoryArgs[Pick(MemoryArgs.size())];
    const Value& value = arguments[atom.arg];
    switch (atom.kind) {
      case GuardKind::Equals:
        if (Pick(3) == 0) atom.arg = Pick(2) ? 5 : 9;
        atom.type = entry_.param_type(atom.arg);
        atom.low.assign(arguments[atom.arg].scalar_words().begin(),
                        arguments[atom.arg].scalar_words().end());
        if (Pick(4) == 0 && atom.low.size() > 1) atom.low[Pick(atom.low.size())] = 7;
        if (Pick(4) == 0 && atom.low.size() == 1) atom.low[0] = Word(atom.type);
        break;
      case GuardKind::Between:
        atom.type = entry_.param_type(atom.arg);
        atom.low = {Pick(3) ? value.word : Word(atom.type)};
        atom.high = {Pick(3) ? value.word : Word(atom.type)};
        break;
      case GuardKind::Same:
      case GuardKind::Disjoint: atom.other = MemoryArgs[Pick(MemoryArgs.size())]; break;
      case GuardKind::Apart:
      case GuardKind::Cover:
        atom.arg = atom.kind == GuardKind::Cover ? 8 : 0;
        for (const uint32_t arg : MemoryArgs) {
          const uint64_t list = Pick(3);
          if (list == 0) atom.low.push_back(arg);
          if (list == 1 && atom.kind == GuardKind::Apart) atom.high.push_back(arg);
        }
        break;
      case GuardKind::Alignment: atom.number = int64_t{1} << Pick(7); break;
      case GuardKind::Cpu: atom.feature = static_cast<ir::CpuFeature>(Pick(12)); break;
      default: atom.number = static_cast<int64_t>(Pick(13));
    }
    return atom;
  }

 private:
  std::mt19937_64 random_{20};
  const ir::Function& entry_;
  std::byte arena_[1024];
};

TEST(FlatGuard, AgreesWithTheMeaningOfGuards) {
  Result<ir::Program> program = ir::ParseText(Text);
  ASSERT_TRUE(program) << program.error().ToString();
  Maker maker(*program);
  constexpr int Pairs = 120'000;
  int compared = 0, held = 0, quick = 0;
  std::array<std::array<int, 2>, 12> by_kind = {};
  while (compared < Pairs) {
    std::vector<Value> arguments;
    for (uint32_t i = 0; i < program->entry_function().param_count(); ++i)
      arguments.push_back(maker.Argument(i));
    if (maker.Pick(3) == 0) arguments[3] = arguments[1];
    const std::vector<uint64_t> words = WordsOfCall(arguments);
    ir::Guard guard;
    const uint64_t atoms = maker.Pick(3) ? 1 : maker.Pick(ir::MaxGuardAtoms + 1);
    while (guard.atoms.size() < atoms) {
      ir::GuardAtom atom = maker.Atom(arguments);
      // Holding atoms are preferred where there are many, or no long guard would ever hold.
      if (atoms > 1 && maker.Pick(12) && !exec::Holds(atom, arguments)) continue;
      if (ir::CheckGuard({{atom}}, *program)) guard.atoms.push_back(std::move(atom));
    }
    Result<FlatGuard> flat = FlatGuard::Flatten(guard, *program);
    ASSERT_TRUE(flat) << flat.error().ToString();
    const bool holds = exec::Holds(guard, arguments);
    ASSERT_EQ(flat->Holds(words.data()), holds) << ir::PrintGuard(guard);
    const bool holds_quickly = flat->QuickHolds(words.data()) && !flat->has_more();
    ASSERT_TRUE(holds || !holds_quickly) << ir::PrintGuard(guard);
    quick += holds_quickly;
    if (atoms == 1) ++by_kind[static_cast<size_t>(guard.atoms[0].kind)][holds];
    held += holds;
    ++compared;
  }
  EXPECT_GT(quick, held / 4);
  EXPECT_GT(held, Pairs / 5);
  EXPECT_LT(held, Pairs * 4 / 5);
  for (const auto& [fails, holds] : by_kind) {
    EXPECT_GT(fails, 100);
    EXPECT_GT(holds, 100);
  }
}

// Fields and bools are often no values, buffers of one arena overlap, coincide, are empty, missing or larger than memory.
TEST(FlatGuard, LaunchTestsAgreeWithTheLaunchRules) {
  Result<ir::Program> program = ir::ParseText(R"(frz 1
func @main(%x: in buffer<f32>, %b: bool, %y: buffer<f32>, %e: xfield, %z: in buffer<u16>,
  %t: tensor<f32, [4]>, %o: out buffer<f32>) {
  return
}
)");
  ASSERT_TRUE(program) << program.error().ToString();
  const ir::Function& entry = program->entry_function();
  FlatGuard flat;
  flat.AddLaunchTests(*program);
  std::mt19937_64 random(7);
  alignas(64) std::byte arena[512] = {};
  std::array<int, 2> seen = {};
  for (int round = 0; round < 20'000; ++round) {
    std::vector<Value> arguments;
    for (uint32_t i = 0; i < entry.param_count(); ++i) {
      const ir::Type type = entry.param_type(i);
      if (type.is_scalar()) {
        std::vector<uint64_t> words(ir::WordsOf(type));
        for (uint64_t& word : words)
          word = random() % 20 ? random() % 2 : ~0ull - random() % 0x1'0000'0000;
        arguments.push_back(Value::Scalar(type, words));
        continue;
      }
      auto length = static_cast<int64_t>(type.is_tensor() ? 4 : random() % 4);
      if (random() % 64 == 0) length = static_cast<int64_t>(random() << random() % 64);
      std::byte* data = random() % 32 ? arena + 4 * (random() % 100) : nullptr;
      auto memory = std::make_shared<Memory>(type.element(), length, data);
      Value value = type.is_tensor() ? Value::Tensor(memory, {4}) : Value::Buffer(memory);
      if (type.is_buffer()) value.type = type;
      arguments.push_back(std::move(value));
    }
    if (round % 3 == 0) arguments[2].memory = arguments[0].memory;
    if (round % 5 == 0) arguments[6].memory = arguments[2].memory;
    const bool launches = exec::CheckLaunch(*program, arguments).has_value();
    const std::vector<uint64_t> words = WordsOfCall(arguments);
    ASSERT_EQ(flat.Holds(words.data()), launches) << round;
    if (flat.has_more()) ASSERT_EQ(flat.LetsThrough(words.data()), launches) << round;
    ++seen[launches];
  }
  EXPECT_GT(seen[0], 2000);
  EXPECT_GT(seen[1], 2000);
}

// More pairs than are tested one by one.
TEST(FlatGuard, ManyBuffersAgreeWithTheLaunchRules) {
  std::string params;
  for (int i = 0; i < 12; ++i)
    params += fmt::format("{}%b{}: {}buffer<{}>", i == 0 ? "" : ", ", i, i % 3 ? "in " : "",
                          i % 5 ? "f32" : "u16");
  Result<ir::Program> program =
      ir::ParseText(fmt::format("frz 1\nfunc @main(%n: i64, {}) {{\n  return\n}}\n", params));
  ASSERT_TRUE(program) << program.error().ToString();
  const ir::Function& entry = program->entry_function();
  Result<FlatGuard> flat =
      FlatGuard::Flatten(*ir::ParseGuard("1 <= arg0 <= 9 && len(arg1) == 3", *program), *program);
  ASSERT_TRUE(flat);
  flat->AddLaunchTests(*program);
  EXPECT_TRUE(flat->has_more());
  const FlatGuard::Parts parts = flat->Split(*program);
  EXPECT_FALSE(parts.of_others.has_more());
  std::mt19937_64 random(5);
  alignas(64) std::byte arena[2048] = {};
  std::array<int, 2> seen = {};
  for (int round = 0; round < 20'000; ++round) {
    std::vector<Value> arguments = {
        Value::Int(ir::types::I64, static_cast<int64_t>(random() % 10))};
    for (uint32_t i = 1; i < entry.param_count(); ++i) {
      const auto length = static_cast<int64_t>(i == 1 && random() % 8 ? 3 : random() % 4);
      std::byte* data = random() % 100 ? arena + 4 * (random() % 500) : nullptr;
      if (i > 3 && random() % 8 == 0) {
        arguments.push_back(arguments[i - 3]);
        continue;
      }
      Value value =
          Value::Buffer(std::make_shared<Memory>(entry.param_type(i).element(), length, data));
      value.type = entry.param_type(i);
      arguments.push_back(std::move(value));
    }
    // Copies of another type are none.
    for (uint32_t i = 1; i < entry.param_count(); ++i) {
      if (arguments[i].type.element() == entry.param_type(i).element()) {
        arguments[i].type = entry.param_type(i);
        continue;
      }
      arguments[i] = Value::Buffer(std::make_shared<Memory>(entry.param_type(i).element(),
                                                            arguments[i].memory->length(),
                                                            arguments[i].memory->data()));
      arguments[i].type = entry.param_type(i);
    }
    const std::vector<uint64_t> words = WordsOfCall(arguments);
    const bool launches = exec::CheckLaunch(*program, arguments).has_value() && words[0] >= 1 &&
                          words[0] <= 9 && words[2] == 3;
    ASSERT_EQ(flat->Holds(words.data()), launches) << round;
    ASSERT_EQ(flat->LetsThrough(words.data()), launches) << round;
    ASSERT_EQ(parts.of_buffers.Holds(words.data()) && parts.of_others.Holds(words.data()), launches)
        << round;
    ++seen[launches];
  }
  EXPECT_GT(seen[0], 2000);
  EXPECT_GT(seen[1], 2000);
}

// Guards of many buffers: few enough for pairs, and more.
TEST(FlatGuard, ManyBuffersUnderApartAndCover) {
  for (const int count : {3, 5, 9, 20}) {
    std::string params = "%n: index", low, high, all;
    for (int i = 1; i <= count; ++i) {
      params += fmt::format(", %b{}: {}buffer<{}>", i, i % 3 ? "" : "in ", i % 5 ? "f32" : "u16");
      std::string& list = i % 3 ? low : high;
      list += fmt::format("{}arg{}", list.empty() ? "" : ", ", i);
      all += fmt::format("{}arg{}", all.empty() ? "" : ", ", i);
    }
    Result<ir::Program> program =
        ir::ParseText(fmt::format("frz 1\nfunc @main({}) {{\n  return\n}}\n", params));
    ASSERT_TRUE(program) << program.error().ToString();
    const ir::Function& entry = program->entry_function();
    const Result<ir::Guard> guard =
        ir::ParseGuard(fmt::format("apart({}; {}) && cover(arg0; {})", low, high, all), *program);
    ASSERT_TRUE(guard) << guard.error().ToString();
    Result<FlatGuard> flat = FlatGuard::Flatten(*guard, *program);
    ASSERT_TRUE(flat);
    flat->AddLaunchTests(*program);
    const FlatGuard::Parts parts = flat->Split(*program);
    std::mt19937_64 random(static_cast<uint64_t>(count));
    alignas(64) static std::byte arena[1 << 16];
    std::array<int, 2> seen = {};
    int same = 0;
    for (int round = 0; round < 5'000; ++round) {
      std::vector<Value> arguments = {
          Value::Int(ir::types::Index, static_cast<int64_t>(random() % 8) - 1)};
      for (uint32_t i = 1; i < entry.param_count(); ++i) {
        const auto length = static_cast<int64_t>(random() % 40 ? 8 : random() % 8);
        uint64_t place = i * 64;
        if (random() % 64 == 0) place += 16 * (random() % 8);
        const ir::Type type = entry.param_type(i);
        arguments.push_back(
            Value::Buffer(std::make_shared<Memory>(type.element(), length, arena + place)));
        arguments[i].type = type;
      }
      if (random() % 16 == 0 && count > 3) {
        arguments[2].memory = arguments[1].memory;
        ++same;
      }
      const std::vector<uint64_t> words = WordsOfCall(arguments);
      const bool holds =
          exec::Holds(*guard, arguments) && exec::CheckLaunch(*program, arguments).has_value();
      ASSERT_EQ(flat->Holds(words.data()), holds) << round;
      ASSERT_EQ(flat->LetsThrough(words.data()), holds) << round;
      ASSERT_EQ(parts.of_buffers.Holds(words.data()) && parts.of_others.Holds(words.data()), holds)
          << round;
      ++seen[holds];
    }
    EXPECT_GT(seen[0], 100) << count;
    EXPECT_GT(seen[1], 500) << count;
    EXPECT_TRUE(count <= 3 || same > 100);
  }
}

// The hot path's own tests, for buffers in pairs and for those that are in none: missing memory is never let through.
TEST(FlatGuard, MissingMemoryIsQuicklySeen) {
  for (const char* params :
       {"%x: in buffer<f32>", "%x: out buffer<f32>", "%x: in buffer<f32>, %y: in buffer<f32>",
        "%x: in buffer<f32>, %y: out buffer<f32>, %z: in buffer<f32>",
        "%x: in buffer<f32>, %y: in buffer<f32>, %z: in buffer<f32>, %u: in "
        "buffer<f32>, %v: in buffer<f32>"}) {
    Result<ir::Program> program =
        ir::ParseText(fmt::format("frz 1\nfunc @main({}) {{\n  return\n}}\n", params));
    ASSERT_TRUE(program) << program.error().ToString();
    const uint32_t count = program->entry_function().param_count();
    FlatGuard flat;
    flat.AddLaunchTests(*program);
    std::vector<uint64_t> words;
    for (uint64_t i = 0; i < count; ++i) words.insert(words.end(), {4096 * (i + 1), 8});
    EXPECT_TRUE(flat.Holds(words.data()));
    EXPECT_TRUE(flat.QuickHolds(words.data()));
    EXPECT_EQ(flat.has_more(), count > 4) << params;
    for (uint32_t i = 0; i < count; ++i) {
      std::vector<uint64_t> missing = words;
      missing[2 * i] = 0;
      EXPECT_FALSE(flat.Holds(missing.data())) << params << " " << i;
      EXPECT_FALSE(flat.LetsThrough(missing.data())) << params << " " << i;
      EXPECT_TRUE(flat.has_more() || !flat.QuickHolds(missing.data())) << params << " " << i;
      missing[2 * i + 1] = 0;  // and nothing in it
      EXPECT_TRUE(flat.Holds(missing.data())) << params << " " << i;
    }
  }
}

// Sizes that are negative, do not fit the memory or whose products wrap to what fits it.
TEST(FlatGuard, TensorsAgreeWithTheLaunchRules) {
  Result<ir::Program> program = ir::ParseText(R"(frz 1
func @main(%m: index, %a: tensor<f32, [%m, %k]>, %k: index, %b: tensor<u8, [%k, 2, %m]>)
  -> (i64, tensor<index, [%m, 3]>) {
  %r = const 0 : i64
  %c = iota {axis = 0} : tensor<index, [%m, 3]>
  return %r, %c
}
)");
  ASSERT_TRUE(program) << program.error().ToString();
  FlatGuard flat;
  flat.AddLaunchTests(*program);
  EXPECT_TRUE(flat.has_more());
  std::mt19937_64 random(9);
  constexpr int64_t Sizes[] = {
      0, 1, 2, 3, 5, -1, -3, int64_t{1} << 32, int64_t{1} << 62, INT64_MIN, INT64_MAX};
  std::vector<std::byte> arena(1 << 12);
  std::array<int, 2> seen = {};
  for (int round = 0; round < 50'000; ++round) {
    auto size = [&] { return Sizes[random() % (round % 2 ? 5 : std::size(Sizes))]; };
    const int64_t m = size(), k = size();
    uint64_t next = 0;
    auto memory = [&](ir::Type element, uint64_t count) {
      if (random() % 16 == 0) count = random() % 8;
      auto result =
          std::make_shared<Memory>(element, static_cast<int64_t>(count), arena.data() + next);
      next += random() % 16 ? 1024 : 0;
      return Value::Buffer(std::move(result));
    };
    const auto um = static_cast<uint64_t>(m), uk = static_cast<uint64_t>(k);
    const std::vector<Value> arguments = {
        Value::Int(ir::types::Index, m), memory(ir::types::F32, um * uk),
        Value::Int(ir::types::Index, k), memory(ir::types::U8, uk * 2 * um),
        memory(ir::types::Index, um * 3)};
    const bool launches = exec::CheckLoweredLaunch(*program, arguments).has_value();
    ASSERT_EQ(flat.Holds(WordsOfCall(arguments).data()), launches) << m << " " << k;
    ASSERT_EQ(flat.LetsThrough(WordsOfCall(arguments).data()), launches) << m << " " << k;
    ++seen[launches];
  }
  EXPECT_GT(seen[0], 5000);
  EXPECT_GT(seen[1], 5000);
}

TEST(FlatGuard, AResultThatIsATensorIsApartFromEverything) {
  Result<ir::Program> program = ir::ParseText(
      "frz 1\nfunc @main(%t: tensor<f32, [4]>, %a: i64) -> (tensor<f32, [4]>) {\n  return %t\n}\n");
  ASSERT_TRUE(program) << program.error().ToString();
  FlatGuard flat;
  flat.AddLaunchTests(*program);
  for (uint64_t at : {0, 4, 15, 16, 100}) {
    const uint64_t words[] = {1000, 4, 0, 1000 + at, 4}, turned[] = {1000 + at, 4, 0, 1000, 4};
    EXPECT_EQ(flat.Holds(words), at >= 16);
    EXPECT_EQ(flat.Holds(turned), at >= 16);
  }
}

TEST(FlatGuard, RefusesWhatDoesNotFit) {
  Result<ir::Program> program = ir::ParseText("frz 1\nfunc @main(%a: i32) {\n  return\n}\n");
  ASSERT_TRUE(program);
  ir::GuardAtom atom;
  atom.kind = GuardKind::LengthIs;
  EXPECT_FALSE(FlatGuard::Flatten({{atom}}, *program));
  atom.arg = 3;
  EXPECT_FALSE(FlatGuard::Flatten({{atom}}, *program));
}

TEST(FlatGuard, WithoutArgumentsNothingIsRead) {
  Result<ir::Program> program = ir::ParseText("frz 1\nfunc @main() {\n  return\n}\n");
  ASSERT_TRUE(program);
  Result<FlatGuard> always = FlatGuard::Flatten({}, *program);
  Result<FlatGuard> never =
      FlatGuard::Flatten(*ir::ParseGuard("cpu(neon) && cpu(avx512f)", *program), *program);
  ASSERT_TRUE(always && never);
  EXPECT_TRUE(always->Holds(nullptr));
  EXPECT_FALSE(never->Holds(nullptr));
}

}  // namespace
}  // namespace frazil::dispatch
