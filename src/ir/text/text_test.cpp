#include "ir/text/text.h"
#include "ir/text/test_text.h"

#include <gtest/gtest.h>

namespace frazil::ir {
namespace {

// What is printed once is printed the same again after reading.
void ExpectRoundTrip(std::string_view text) {
  Result<Program> first = ParseText(text);
  ASSERT_TRUE(first) << first.error().ToString();
  std::string printed = PrintText(*first);
  Result<Program> second = ParseText(printed);
  ASSERT_TRUE(second) << second.error().ToString() << "\n" << printed;
  EXPECT_EQ(printed, PrintText(*second));
}

TEST(Text, KeepsCanonicalTextUnchanged) {
  std::string text(ScaleAndSumText);
  text.insert(text.find("func"), "\ndata @weights : f64 [0.5, -1.25, 3]\n\n");
  Result<Program> program = ParseText(text);
  ASSERT_TRUE(program) << program.error().ToString();
  EXPECT_EQ(PrintText(*program), text);
}

TEST(Text, RoundTripsEveryStructure) {
  ExpectRoundTrip(R"(frz 1
func @helper(%n: index, %t: tensor<f32, [%n]>) -> (tensor<f32, [%n]>, i32) {
  %c = const 3 : i32
  return %t, %c
}
func @main(%n: index, %t: tensor<f32, [%n]>, %v: i32, %x: xfield, %b: buffer<u8>) -> (i32) {
  %u, %five = call @helper(%n, %t)
  %m = map (%p = %t, %q = %u) -> tensor<f32, [%n]> {
    %s = add %p, %q : f32
    yield %s
  }
  %r = reduce %m {kind = sum, axis = 0, chains = 64, block = 4096} : tensor<f32, []>
  %z = const 0 : index
  %part = xfield.part %x {part = 2} : xfield
  output %part : field
  parallel %i = %z to %n {
    %one = const 1 : u8
    %old = atomic %b, %i, %one {kind = add} : u8
    barrier
    yield
  }
  %w = switch %v -> (i32) {
  case 0 {
    yield %v
  }
  case -5 {
    %k = const -9 : i32
    yield %k
  }
  default {
    yield %five
  }
  }
  %out = while (%p = %w) {
    %limit = const 100 : i32
    %t2 = lt %p, %limit : i32
    condition %t2
  } do {
    %next = add %p, %limit : i32
    yield %next
  }
  %cond = ge %out, %five : i32
  if %cond {
    assert %cond
    yield
  }
  %res = if %cond -> (i32) {
    yield %out
  } else {
    unreachable
    yield %out
  }
  return %res
}
)");
}

TEST(Text, LiteralsKeepTheirBits) {
  struct Case {
    Type type;
    const char* text;
    const char* printed;
  };
  for (const Case& c :
       std::initializer_list<Case>{{types::F32, "nan", "nan"},
                                   {types::F32, "bits(0xffc00001)", "bits(0xffc00001)"},
                                   {types::F32, "-0", "-0"},
                                   {types::F32, "0.1", "0.1"},
                                   {types::F64, "0x1.8p+3", "12"},
                                   {types::F64, "-inf", "-inf"},
                                   {types::F16, "65504", "65504"},
                                   {types::BF16, "1.5", "1.5"},
                                   {types::I8, "-128", "-128"},
                                   {types::I8, "0xff", "-1"},
                                   {types::U64, "18446744073709551615", "18446744073709551615"},
                                   {types::Bool, "true", "true"},
                                   {Type::Int(2), "-170141183460469231731687303715884105728",
                                    "-170141183460469231731687303715884105728"},
                                   {types::Field, "18446744069414584320", "18446744069414584320"},
                                   {types::XField, "(1, 2, 3)", "(1, 2, 3)"}}) {
    Result<std::vector<uint64_t>> words = ParseLiteral(c.type, c.text);
    ASSERT_TRUE(words) << c.text;
    EXPECT_EQ(PrintLiteral(c.type, *words), c.printed);
  }
  EXPECT_FALSE(ParseLiteral(types::I8, "128"));
  EXPECT_FALSE(ParseLiteral(types::U8, "-1"));
  EXPECT_FALSE(ParseLiteral(types::Field, "18446744069414584321"));
  EXPECT_FALSE(ParseLiteral(types::F32, "1e400"));
  EXPECT_FALSE(ParseLiteral(types::F32, "--1"));
  EXPECT_FALSE(ParseLiteral(Type::Int(1), "9223372036854775808"));
}

TEST(Text, ErrorsAreLocated) {
  auto location = [](std::string_view text) {
    Result<Program> program = ParseText(text);
    EXPECT_FALSE(program);
    return program ? std::string() : program.error().ToString();
  };
  EXPECT_EQ(location("frz 1\nfunc @main() {\n  %x = foo %y : i32\n  return\n}\n"),
            "3:8: error FRZ0104: there is no operation 'foo'");
  EXPECT_EQ(location("frz 1\nfunc @main() {\n  %x = neg %y : i32\n  return\n}\n"),
            "3:12: error FRZ0106: %y is not defined here");
  EXPECT_EQ(location("frz 1\nfunc @main(%x: i33) {\n  return\n}\n"),
            "2:16: error FRZ0105: 'i33' is no type");
  EXPECT_EQ(location("frz 2\n"),
            "1:1: error FRZ0101: this reader knows version 1 of the text form only");
  EXPECT_EQ(location("frz 1\nfunc @main() {\n\xff"),
            "3:1: error FRZ0103: the text is not UTF-8 here: byte \\xff (save the file as UTF-8)");
}

}  // namespace
}  // namespace frazil::ir
