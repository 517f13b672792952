// Vector code against the interpreter: every length around the vector widths, buffers at odd addresses with canaries,
// identical buffers, NaNs with payloads, traps in the middle of a block.
#include <fmt/format.h>

#include "ir/text/test_text.h"
#include "targets/native/vectors/test_vectors.h"

namespace frazil::targets::native {
namespace {

using namespace testing;

// What `emit --to llvm` says of the loops.
std::string Loops(std::string_view text) {
  Result<std::string> llvm = EmitLlvm(Parse(text));
  EXPECT_TRUE(llvm.has_value()) << llvm.error().ToString();
  return llvm ? *llvm : "";
}
void ExpectVector(std::string_view text) {
  EXPECT_NE(Loops(text).find("iterations at a time"), std::string::npos);
}
void ExpectScalar(std::string_view text, std::string_view reason) {
  const std::string llvm = Loops(text);
  EXPECT_NE(llvm.find(reason), std::string::npos) << llvm.substr(llvm.find("!frazil.loops"));
}

std::vector<int64_t> Around() {
  std::vector<int64_t> lengths;
  for (int64_t n = 0; n <= 70; ++n) lengths.push_back(n);
  for (int64_t n : {95, 96, 97, 127, 128, 129, 130, 255, 256, 257, 300, 511, 513})
    lengths.push_back(n);
  return lengths;
}

// Two inputs, one output, the same index.
std::string Binary(std::string_view type, std::string_view body) {
  return fmt::format(R"(frz 1
func @main(%n: index, %x: in buffer<{0}>, %y: in buffer<{0}>, %z: out buffer<{0}>) {{
  %zero = const 0 : index
  parallel %i = %zero to %n {{
    %a = load %x, %i : {0}
    %b = load %y, %i : {0}
    {1}
    store %z, %i, %r : {0}
    yield
  }}
  return
}}
)",
                     type, body);
}

void CheckBinary(const std::string& text) {
  ExpectVector(text);
  Differential test(text);
  for (int64_t n : Around()) {
    test.Check({{n, n, n}, {Index(n)}, {}, static_cast<uint64_t>(n + 1)});
    if (n % 16 == 1) {
      test.Check({{n, n, n}, {Index(n)}, {-1, -1, 0}, 7});
      test.Check({{n, n, n}, {Index(n)}, {-1, 0, 0}, 8});
    }
  }
}

TEST(VectorLoop, EveryElementType) {
  for (std::string_view type : {"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "index",
                                "f32", "f64", "f16", "bf16", "field"}) {
    SCOPED_TRACE(type);
    CheckBinary(Binary(type, fmt::format("%r = add %a, %b : {}", type)));
  }
  CheckBinary(Binary("bool", "%r = xor %a, %b : bool"));
}

TEST(VectorLoop, FloatOps) {
  for (std::string_view type : {"f32", "f64"})
    for (std::string_view op :
         {"sub", "mul", "div", "min", "max", "minimum", "maximum", "copysign"}) {
      SCOPED_TRACE(fmt::format("{} {}", op, type));
      CheckBinary(Binary(type, fmt::format("%r = {} %a, %b : {}", op, type)));
    }
}

TEST(VectorLoop, MovesKeepPayloadsAndArithmeticDoesNot) {
  CheckBinary(Binary("f32", R"(%t = lt %a, %b : f32
    %s = add %a, %b : f32
    %r = select %t, %a, %s : f32)"));
  CheckBinary(Binary("f64", R"(%s = neg %a : f64
    %u = bitcast %s : u64
    %v = bitcast %b : u64
    %w = xor %u, %v : u64
    %r = bitcast %w : f64)"));
}

TEST(VectorLoop, IntegerOps) {
  for (std::string_view type : {"i8", "u16", "i32", "u32", "i64", "u64"})
    for (std::string_view op : {"mul", "mul.hi", "min", "max", "and", "shl", "shr", "rotl"}) {
      SCOPED_TRACE(fmt::format("{} {}", op, type));
      CheckBinary(Binary(type, fmt::format("%r = {} %a, %b : {}", op, type)));
    }
}

// There is no instruction for it: quotients come from doubles, or one by one where 64 bits are used.
TEST(VectorLoop, Divisions) {
  for (std::string_view type : {"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "index"})
    for (std::string_view op : {"div.trunc", "div.floor", "rem.trunc", "rem.floor"}) {
      SCOPED_TRACE(fmt::format("{} {}", op, type));
      // Divisors that are not 0, of which every sixteenth is -1 or MAX.
      CheckBinary(Binary(type, fmt::format(R"(%one = const 1 : {1}
    %d = or %b, %one : {1}
    %r = {0} %a, %d : {1})",
                                           op, type)));
      if (op != "div.trunc") continue;
      // Zeros among them: the block is left to the scalar loop, which traps.
      CheckBinary(Binary(type, fmt::format("%r = {} %a, %b : {}", op, type)));
    }
  for (std::string_view type : {"i64", "u64", "index"})
    for (std::string_view op : {"div.trunc", "rem.floor"}) {
      SCOPED_TRACE(fmt::format("small {} {}", op, type));
      // All below 2^32, some of them just.
      CheckBinary(Binary(type, fmt::format(R"(%most = const 4294967295 : {1}
    %one = const 1 : {1}
    %c = and %a, %most : {1}
    %low = and %b, %most : {1}
    %d = or %low, %one : {1}
    %r = {0} %c, %d : {1})",
                                           op, type)));
      CheckBinary(Binary(type, fmt::format(R"(%seven = const 7 : {1}
    %r = {0} %a, %seven : {1})",
                                           op, type)));
    }
  CheckBinary(Binary("i32", R"(%one = const 1 : i32
    %d = or %b, %one : i32
    %r = rem.checked %a, %d : i32)"));
}

// 780 scalar divisions in 106 KB, where byte elements are gathered by computed indices.
TEST(VectorLoop, GathersOfBytesStayShort) {
  const std::string Text = ir::Lanes("%w: index, %x: in buffer<u8>, %y: out buffer<u8>", R"(
  %one = const 1 : index
  %n = length %y : u8
)",
                                     R"(
    %l = add %i, %w : index
    %m = rem.floor %l, %n : index
    %a = load %x, %m : u8
    %o = add %i, %one : index
    %p = rem.floor %o, %n : index
    %b = load %x, %p : u8
    %r = add %a, %b : u8
    store %y, %i, %r : u8
)");
  ExpectVector(Text);
  for (int i = 0; i < exec::CpuLevelCount; ++i) {
    NativeOptions options;
    options.level = static_cast<exec::CpuLevel>(i);
    const auto image = EmitImage(Parse(Text), options);
    ASSERT_TRUE(image.has_value());
    EXPECT_LT(image->code.size(), 6'000u) << i;
  }
  Differential test(Text);
  for (int64_t n : Around()) test.Check({{n, n}, {Index(n / 3)}, {}, static_cast<uint64_t>(n)});
}

TEST(VectorLoop, TheFirstFormSaysWhetherThereIsABetterOne) {
  NativeOptions first;
  first.tuned = false;
  const ir::Program map = Parse(Binary("f32", "%r = add %a, %b : f32"));
  EXPECT_FALSE(EmitImage(map, first)->tuned);
  EXPECT_TRUE(EmitImage(map)->tuned);
  EXPECT_LT(EmitImage(map, first)->code.size(), EmitImage(map)->code.size());
  const ir::Program scalar = Parse("frz 1\nfunc @main(%x: i32) -> (i32) {\n  return %x\n}\n");
  EXPECT_TRUE(EmitImage(scalar, first)->tuned);
  const exec::NativeImage image = *EmitImage(map, first);
  EXPECT_EQ(*exec::ParseImage(exec::SerializeImage(image)), image);
}

TEST(VectorLoop, BranchesBecomeMasks) {
  CheckBinary(Binary("f32", R"(%t = lt %a, %b : f32
    %r = if %t -> (f32) {
      %p = mul %a, %b : f32
      yield %p
    } else {
      %q = sub %b, %a : f32
      yield %q
    })"));
  for (std::string_view type : {"f32", "i16", "u8", "f64"}) {
    CheckBinary(fmt::format(R"(frz 1
func @main(%n: index, %x: in buffer<{0}>, %y: in buffer<{0}>, %z: buffer<{0}>) {{
  %zero = const 0 : index
  parallel %i = %zero to %n {{
    %a = load %x, %i : {0}
    %b = load %y, %i : {0}
    %t = lt %a, %b : {0}
    if %t {{
      %s = add %a, %b : {0}
      store %z, %i, %s : {0}
      yield
    }}
    yield
  }}
  return
}}
)",
                            type));
  }
}

TEST(VectorLoop, ArmsThatCostMuchArePassedOver) {
  CheckBinary(Binary("f32", R"(%lim = const 0.5 : f32
    %t = lt %a, %lim : f32
    %r = if %t -> (f32) {
      %p = sin %b : f32
      yield %p
    } else {
      yield %b
    })"));
}

TEST(VectorLoop, MathFunctions) {
  for (std::string_view op : {"exp", "log", "sin", "tanh", "erf", "cbrt"}) {
    SCOPED_TRACE(op);
    CheckBinary(Binary("f32", fmt::format("%s = {} %a : f32\n    %r = add %s, %b : f32", op)));
  }
  for (std::string_view op : {"exp", "log", "cos"}) {
    SCOPED_TRACE(op);
    CheckBinary(Binary("f64", fmt::format("%s = {} %a : f64\n    %r = add %s, %b : f64", op)));
  }
}

TEST(VectorLoop, TrapsAreExactWhereverTheyStand) {
  const std::string text = Binary("i32", R"(%q = div.trunc %a, %b : i32
    %r = add.checked %q, %a : i32)");
  ExpectVector(text);
  Differential test(text);
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const int64_t n = static_cast<int64_t>(seed * 7 % 150);
    test.Check({{n, n, n}, {Index(n)}, {}, seed});
  }
  // Lengths that end early: the trap of the first iteration beyond.
  for (int64_t short_by : {1, 5, 40}) {
    test.Check({{200, 200 - short_by, 200}, {Index(200)}, {}, 3, true});
    test.Check({{200 - short_by, 200, 200}, {Index(200)}, {}, 3, true});
  }
}

TEST(VectorLoop, OnlyLanesThatCountTrap) {
  CheckBinary(Binary("i32", R"(%nothing = const 0 : i32
    %t = ne %b, %nothing : i32
    %r = if %t -> (i32) {
      %q = rem.floor %a, %b : i32
      yield %q
    } else {
      yield %a
    })"));
}

TEST(VectorLoop, ShiftedAndIdenticalBuffers) {
  const std::string text = ir::Lanes("%n: index, %c: index, %x: in buffer<f32>, %z: buffer<f32>",
                                     ir::ShiftedLanes("add", "%z, %i"));
  ExpectVector(text);
  Differential test(text);
  for (int64_t n : {0, 1, 5, 31, 64, 100, 200})
    for (int64_t c : {0, 1, 3, 8}) {
      test.Check({{n + c, n + c}, {Index(n), Index(c)}});
      test.Check({{n + c, n + c}, {Index(n), Index(c)}, {-1, 0}});
      test.Check({{n + c, n + c}, {Index(n), Index(c + 1)}});
      test.Check({{n + c, n + c}, {Index(n), Index(-1)}});
    }
}

TEST(VectorLoop, ReadingAheadInPlace) {
  const std::string text = ir::DifferencesText("%n: index, %z: buffer<i64>", "i64", "%z", "%z");
  ExpectVector(text);
  Differential test(text);
  for (int64_t n : Around()) test.Check({{n + 1}, {Index(n)}, {}, 5});
}

// A slope of -1 is no number below 2^62: a test that says so never lets the vector code run.
TEST(VectorLoop, ReadingBackwards) {
  const std::string text = R"(frz 1
func @main(%n: index, %x: in buffer<f32>, %z: out buffer<f32>) {
  %zero = const 0 : index
  %one = const 1 : index
  %last = sub %n, %one : index
  parallel %i = %zero to %n {
    %j = sub %last, %i : index
    %v = load %x, %j : f32
    %r = add %v, %v : f32
    store %z, %i, %r : f32
    yield
  }
  return
}
)";
  ExpectVector(text);
  EXPECT_EQ(Loops(text).find("i1 false"), std::string::npos);
  Differential test(text);
  for (int64_t n : Around()) {
    test.Check({{n, n}, {Index(n)}, {}, 1});
    test.Check({{n + 3, n}, {Index(n)}, {}, 2});
    if (n > 0) test.Check({{n - 1, n}, {Index(n)}, {}, 3});
    if (n % 16 == 1) test.Check({{n, n}, {Index(n)}, {-1, 0}, 4});
  }
}

TEST(VectorLoop, GathersAndUniformElements) {
  const std::string text = ir::Lanes(
      "%n: index, %k: index, %x: in buffer<f32>, %p: in buffer<i32>, %z: out buffer<f32>", R"(
  %mask = const 31 : i32
)",
      R"(
    %s = load %x, %k : f32
    %q = load %p, %i : i32
    %m = and %q, %mask : i32
    %j = cast %m : index
    %a = load %x, %j : f32
    %f = cast %i : f32
    %g = add %a, %f : f32
    %r = mul %g, %s : f32
    store %z, %i, %r : f32
)");
  ExpectVector(text);
  Differential test(text);
  for (int64_t n : Around()) test.Check({{32, n, n}, {Index(n), Index(3)}, {}, 9});
  test.Check({{20, 100, 100}, {Index(100), Index(3)}, {}, 9});
  test.Check({{32, 100, 100}, {Index(100), Index(32)}, {}, 9});
  test.Check({{32, 100, 100}, {Index(100), Index(3)}, {-1, -1, 0}, 9});
}

TEST(VectorLoop, LoopsInsideStayLoops) {
  const std::string text = ir::Lanes(
      "%n: index, %count: index, %x: in buffer<f32>, %y: in buffer<f32>, %z: out buffer<f32>",
      ir::DotLoop("%count", R"(
      %row = mul %k, %n : index
      %at = add %row, %i : index
)",
                  "%x", "%y") +
          "    store %z, %i, %sum : f32\n");
  ExpectVector(text);
  Differential test(text);
  for (int64_t n : {0, 1, 7, 16, 33, 64, 65, 130}) {
    for (int64_t k : {0, 1, 5}) {
      test.Check({{n * k, k, n}, {Index(n), Index(k)}, {}, 3});
      test.Check({{n * k, k, n}, {Index(n), Index(k + 1)}, {}, 3});
    }
  }
}

// All elements by `op`, from %start on.
std::string FoldText(std::string_view type, std::string_view op) {
  return fmt::format(R"(frz 1
func @main(%n: index, %start: {0}, %x: in buffer<{0}>) -> ({0}) {{
  %zero = const 0 : index
  %s = for %i = %zero to %n step 1 carry (%acc = %start) {{
    %a = load %x, %i : {0}
    %next = {1} %acc, %a : {0}
    yield %next
  }}
  return %s
}}
)",
                     type, op);
}

TEST(VectorLoop, IntegersAreCollectedInAnyOrder) {
  for (std::string_view op : {"add", "mul", "min", "max", "and", "or", "xor"})
    for (std::string_view type : {"i32", "u8", "i64"}) {
      const std::string text = FoldText(type, op);
      ExpectVector(text);
      Differential test(text);
      const ir::Type element = *ir::ParseType(type);
      for (int64_t n : {0, 1, 3, 15, 16, 17, 63, 64, 65, 200, 257})
        test.Check(
            {{n}, {Index(n), exec::Value::Int(element, 77)}, {}, static_cast<uint64_t>(n + 2)});
      test.Check({{100}, {Index(120), exec::Value::Int(element, 77)}});
    }
}

TEST(VectorLoop, SaysWhyNot) {
  ExpectScalar(ir::Lanes("%n: index, %z: buffer<f32>", R"(
  %one = const 1 : index
)",
                         R"(
    %j = sub %i, %one : index
    %a = load %z, %j : f32
    store %z, %i, %a : f32
)"),
               "iterations meet in a buffer");
  ExpectScalar(FoldText("f32", "add"), "it carries a value from one iteration to the next");
}

}  // namespace
}  // namespace frazil::targets::native
