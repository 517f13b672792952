// What C++ programs may give to a slot and take from it.
#include <functional>
#include <stdexcept>

#include "frazil/frazil.h"
#include "support.h"

namespace frazil::engine {
namespace {

class PublicDoor : public EngineTest {};

std::string Misuse(const std::function<void()>& get) {
  try {
    get();
  } catch (const std::logic_error& mistake) {
    return mistake.what();
  }
  return "nothing was thrown";
}

TEST_F(PublicDoor, TakesIntegersThatFit) {
  frazil::Options options;
  options.store = folder_ / "store";
  frazil::Engine engine(options);
  frazil::Slot slot = engine
                          .Load(R"(frz 1
func @main(%i: index, %s: i16, %u: u8, %x: f32, %h: f16) -> (index, f32, bool) {
  %wide = cast %s : index
  %byte = cast %u : index
  %a = add %i, %wide : index
  %b = add %a, %byte : index
  %t = eq %x, %x : f32
  return %b, %x, %t
}
)")
                          .value();
  const uint16_t one = 0x3c00;
  auto call = [&](auto i, auto s, auto u) { return slot(i, s, u, 1.5f, one); };
  EXPECT_EQ(call(int64_t{100}, int16_t{-1}, uint8_t{5}).get<int64_t>(), 104);
  EXPECT_EQ(call(100, -1, 5).get<int64_t>(), 104);
  EXPECT_EQ(call(size_t{100}, int64_t{-32768}, 255u).get<int64_t>(), 100 - 32768 + 255);
  EXPECT_EQ(call(int8_t{-100}, uint8_t{200}, static_cast<signed char>(7)).get<int64_t>(), 107);
  EXPECT_EQ(call(100, 32768, 5).error(),
            "argument 2 is 32768, which does not fit its parameter, i16");
  EXPECT_EQ(call(100, -32769, 5).error(),
            "argument 2 is -32769, which does not fit its parameter, i16");
  EXPECT_EQ(call(100, 1, -1).error(), "argument 3 is -1, which does not fit its parameter, u8");
  EXPECT_EQ(call(~size_t{0}, 1, 1).error(),
            "argument 1 is 18446744073709551615, which does not fit its parameter, index");
  // The same types again: the values are looked at every time.
  EXPECT_TRUE(call(100, 1, 1));
  EXPECT_FALSE(call(100, 1, 256));
  EXPECT_EQ(call(true, 1, 1).error(), "argument 1 does not fit its parameter, which is index");
  EXPECT_EQ(call(1.0, 1, 1).error(), "argument 1 does not fit its parameter, which is index");
  EXPECT_EQ(slot(1, 1, 1, 1, one).error(), "argument 4 does not fit its parameter, which is f32");
  EXPECT_EQ(slot(1, 1, 1, 1.0, one).error(), "argument 4 does not fit its parameter, which is f32");
  EXPECT_EQ(slot(1, 1, 1, 1.5f, 1).error(), "argument 5 does not fit its parameter, which is f16");
}

TEST_F(PublicDoor, AskingForAResultThatIsNotThereIsLoud) {
  frazil::Options options;
  options.store = folder_ / "store";
  frazil::Engine engine(options);
  frazil::Slot slot = engine
                          .Load(R"(frz 1
func @main(%a: i32, %b: i32) -> (i32, f64) {
  %q = div.trunc %a, %b : i32
  %x = const 0.25 : f64
  return %q, %x
}
)")
                          .value();
  const frazil::Outcome outcome = slot(7, 2);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome.get<int32_t>(), 3);
  EXPECT_EQ(outcome.get<uint32_t>(0), 3u);
  EXPECT_EQ(outcome.get<double>(1), 0.25);
  EXPECT_EQ(Misuse([&] { outcome.get<int64_t>(); }), "frazil::Outcome::get<int64_t>(0): it is i32");
  EXPECT_EQ(Misuse([&] { outcome.get<float>(0); }), "frazil::Outcome::get<float>(0): it is i32");
  EXPECT_EQ(Misuse([&] { outcome.get<float>(1); }), "frazil::Outcome::get<float>(1): it is f64");
  EXPECT_EQ(
      Misuse([&] { outcome.get<double>(2); }),
      "frazil::Outcome::get<double>(2): the program gives 2 words of results, counted from 0");
  EXPECT_EQ(Misuse([&] { slot(7, 0).get<int32_t>(); }),
            "frazil::Outcome::get<int32_t>(0): the call gave no results: division by zero");
}

TEST_F(PublicDoor, AReadOnlyViewIsOnlyRead) {
  frazil::Options options;
  options.store = folder_ / "store";
  frazil::Engine engine(options);
  frazil::Slot slot =
      engine.Load("frz 1\nfunc @main(%x: in buffer<i32>, %y: buffer<i32>) {\n  return\n}\n")
          .value();
  std::vector<int32_t> y(4);
  const std::vector<int32_t> x(4);
  EXPECT_TRUE(slot(frazil::Buffer(x), frazil::Buffer(y)));
  EXPECT_EQ(slot(frazil::Buffer(x), frazil::Buffer(x)).error(),
            "argument 2 is read-only memory, but its parameter, buffer<i32>, is written");
  std::vector<uint32_t> other(4);
  EXPECT_EQ(slot(frazil::Buffer(other), frazil::Buffer(y)).error(),
            "argument 1 does not fit its parameter, which is in buffer<i32>");
}

TEST_F(PublicDoor, NoMemoryHasSuchALength) {
  frazil::Options options;
  options.store = folder_ / "store";
  frazil::Engine engine(options);
  frazil::Slot slot = engine
                          .Load(
                              "frz 1\nfunc @main(%x: in buffer<f64>) -> (index) {\n  %n = length "
                              "%x : f64\n  return %n\n}\n")
                          .value();
  std::vector<double> x(4);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(slot(frazil::Buffer(x)).get<int64_t>(), 4);
    EXPECT_EQ(slot(frazil::Buffer(x.data(), ~size_t{0})).error(),
              "argument 1: no memory has 18446744073709551615 elements");
    EXPECT_EQ(slot(frazil::Buffer(x.data(), size_t{1} << 60)).error(),
              "argument 1: no memory has 1152921504606846976 elements");
  }
}

}  // namespace
}  // namespace frazil::engine
