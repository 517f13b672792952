// Floats to integers in lanes: every pair of types, around the ends of each.
#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "targets/native/vectors/test_vectors.h"

namespace frazil::targets::native {
namespace {

using namespace testing;

// The elements are bits, so that every one of them is what this file says.
std::string Casts(std::string_view from, std::string_view bits, std::string_view to,
                  std::string_view clamp = "") {
  return fmt::format(R"(frz 1
func @main(%n: index, %in: in buffer<{1}>, %out: buffer<{2}>) {{
  %zero = const 0 : index
  parallel %i = %zero to %n {{
    %b = load %in, %i : {1}
    %r = bitcast %b : {0}
{3}    %c = cast {4} : {2}
    store %out, %i, %c : {2}
    yield
  }}
  return
}}
)",
                     from, bits, to, clamp, clamp.empty() ? "%r" : "%k");
}

struct Words {
  std::vector<uint64_t> bits;
  void Add(double value, bool is_double) {
    if (is_double)
      bits.push_back(std::bit_cast<uint64_t>(value));
    else
      bits.push_back(std::bit_cast<uint32_t>(static_cast<float>(value)));
  }
};

Words Around(bool is_double) {
  Words words;
  for (int power : {0, 7, 8, 15, 16, 23, 24, 31, 32, 52, 53, 62, 63, 64, 100})
    for (double sign : {1.0, -1.0})
      for (double off : {-1.5, -1.0, -0.5, 0.0, 0.5, 0.75, 1.0, 1.5}) {
        words.Add(sign * std::ldexp(1.0, power) + off, is_double);
        const float near = static_cast<float>(sign * std::ldexp(1.0, power));
        words.Add(is_double ? std::nextafter(static_cast<double>(near), 0.0)
                            : static_cast<double>(std::nextafter(near, 0.0f)),
                  is_double);
      }
  for (double special : {0.0, -0.0, HUGE_VAL, -HUGE_VAL, 1e-40, -0.999, 0.999})
    words.Add(special, is_double);
  // NaNs of either sign, quiet and signaling.
  for (uint64_t nan :
       {uint64_t{0x7ff8} << 48, uint64_t{0xfff8} << 48, (uint64_t{0x7ff0} << 48) + 1})
    words.bits.push_back(is_double                 ? nan
                         : nan >> 32 == 0x7ff00000 ? 0x7f800001
                                                   : (nan >> 32) | 0x7fc00000);
  return words;
}

void CheckCasts(const std::string& text, const Words& words, ir::Type bits, ir::Type to) {
  const ir::Program program = Parse(text);
  const int64_t n = static_cast<int64_t>(words.bits.size());
  auto run = [&](auto&& call) {
    auto in = std::make_shared<exec::Memory>(bits, n);
    auto out = std::make_shared<exec::Memory>(to, n);
    for (int64_t i = 0; i < n; ++i) in->Set(i, std::span(&words.bits[static_cast<size_t>(i)], 1));
    std::vector<exec::Value> arguments = {Index(n), exec::Value::Buffer(in),
                                          exec::Value::Buffer(out)};
    call(arguments);
    return exec::PrintValue(arguments[2]);
  };
  const std::string expected = run([&](std::vector<exec::Value>& arguments) {
    ASSERT_TRUE(exec::Interpret(program, arguments).has_value());
  });
  for (exec::CpuLevel level : Levels()) {
    NativeOptions options;
    options.level = level;
    auto target = MakeNativeTarget(options);
    auto artifact = target->Emit(program, {});
    ASSERT_TRUE(artifact.has_value());
    auto callable = target->Load(*artifact);
    ASSERT_TRUE(callable.has_value());
    EXPECT_EQ(run([&](std::vector<exec::Value>& arguments) {
                ASSERT_TRUE((*callable)->Run(arguments, {}).has_value());
              }),
              expected)
        << exec::CpuLevelName(level) << "\n"
        << text;
  }
}

TEST(VectorCast, FloatsToIntegers) {
  for (const bool is_double : {false, true})
    for (ir::Type to :
         {ir::types::I8, ir::types::U8, ir::types::I16, ir::types::U16, ir::types::I32,
          ir::types::U32, ir::types::I64, ir::types::U64, ir::types::Index})
      CheckCasts(
          Casts(is_double ? "f64" : "f32", is_double ? "u64" : "u32", ir::ScalarOrBufferName(to)),
          Around(is_double), is_double ? ir::types::U64 : ir::types::U32, to);
}

// What is known to fit is not tested again; bounds just too wide are.
TEST(VectorCast, BoundsAreKnown) {
  for (auto [low, high] : {std::pair{"-32768.0", "32767.0"},
                           {"-32768.5", "32767.5"},
                           {"-32769.0", "32768.0"},
                           {"-32768.0", "32768.0"},
                           {"0.0", "256.0"},
                           {"0.0", "255.0"},
                           {"-1.0", "256.0"}})
    for (ir::Type to : {ir::types::I16, ir::types::U8, ir::types::U16, ir::types::I8})
      CheckCasts(Casts("f32", "u32", ir::ScalarOrBufferName(to),
                       fmt::format("    %low = const {} : f32\n    %high = const {} : f32\n    %m "
                                   "= max %r, %low : f32\n"
                                   "    %k = min %m, %high : f32\n",
                                   low, high)),
                 Around(false), ir::types::U32, to);
}

}  // namespace
}  // namespace frazil::targets::native
