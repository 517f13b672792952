// The bytes themselves: what stays on the stack, which locals there are, what a module does not
// contain.
#include "ir/text/test_ops.h"
#include "targets/wasm/module/module_reader.h"
#include "targets/wasm/test_tools.h"

namespace frazil::targets::wasm {
namespace {

std::string BodyOf(const ir::Program& program) {
  return Hex(FunctionBody(Emitted(program).bytes, "main").value_or("?"));
}
std::string WatOf(const ir::Program& program) {
  return PrintWat(Emitted(program).bytes).value_or("?");
}

TEST(Emit, ConstantExpressions) {
  for (std::string_view op : {"sub", "sub.checked"}) {
    ir::Program program = Parsed(
        "func @main() -> (i32) {\n  %a = const 50 : i32\n  %b = const 15 : i32\n"
        "  %c = " +
        std::string(op) + " %a, %b : i32\n  return %c\n}\n");
    EXPECT_EQ(BodyOf(program), "41 32 41 0f 6b") << op;
    // Type, function, export and code section; nothing else.
    EXPECT_EQ(
        Hex(Emitted(program).bytes),
        "00 61 73 6d 01 00 00 00 01 05 01 60 00 01 7f 03 02 01 00 07 08 01 04 6d 61 69 6e 00 00 "
        "0a 09 01 07 00 41 32 41 0f 6b 0b");
  }
  EXPECT_EQ(BodyOf(Parsed("func @main() -> (i32) {\n  %a = const 16 : i32\n  %b = const 3 : i32\n"
                          "  %c = sub.checked %a, %b : i32\n  %d = const 5 : i32\n"
                          "  %e = mul.checked %c, %d : i32\n  return %e\n}\n")),
            "41 10 41 03 6b 41 05 6c");
}

TEST(Emit, SumLoopIsTight) {
  std::string_view sum = R"(func @main() -> (i32) {
  %lo = const 1 : i32
  %hi = const 11 : i32
  %zero = const 0 : i32
  %s = for %i = %lo to %hi step 1 carry (%acc = %zero) {
    %n = add %acc, %i : i32
    yield %n
  }
  return %s
}
)";
  // i = 1; loop { acc += i; i += 1; if i < 11 again }; acc. Both bounds are constants: no test
  // before entry.
  EXPECT_EQ(BodyOf(Parsed(sum)),
            "41 01 21 00 03 40 20 01 20 00 6a 21 01 20 00 41 01 6a 22 00 41 0b 48 0d 00 0b 20 01");
}

TEST(Emit, LoopWithUnknownBoundIsTestedBeforeEntry) {
  std::string wat = WatOf(Parsed(R"(func @main(%n: i64) -> (i64) {
  %lo = const 1 : i64
  %s = for %i = %lo to %n step 1 carry (%acc = %lo) {
    %next = mul %acc, %i : i64
    yield %next
  }
  return %s
}
)"));
  EXPECT_EQ(wat, R"((module
  (type (;0;) (func (param i64) (result i64)))
  (func (;0;) (type 0) (param i64) (result i64)
    (local i64 i64)
    i64.const 1
    local.set 1
    i64.const 1
    local.set 2
    local.get 1
    local.get 0
    i64.lt_s
    if
      loop
        local.get 2
        local.get 1
        i64.mul
        local.set 2
        local.get 1
        i64.const 1
        i64.add
        local.tee 1
        local.get 0
        i64.lt_s
        br_if 0
      end
    end
    local.get 2)
  (export "main" (func 0)))
)");
}

TEST(Emit, NestedLoopsShareOneAccumulator) {
  Result<std::string> body = FunctionBody(Emitted(Parsed(R"(func @main(%n: index) -> (index) {
  %lo = const 0 : index
  %s = for %i = %lo to %n step 1 carry (%a = %lo) {
    %t = for %j = %lo to %n step 1 carry (%b = %a) {
      %c = xor %b, %j : index
      yield %c
    }
    yield %t
  }
  return %s
}
)"))
                                              .bytes,
                                          "main");
  ASSERT_TRUE(body);
  // Three locals beside the parameter: two counters and the accumulator; no move between
  // accumulators.
  std::string hex = Hex(*body);
  EXPECT_EQ(hex.find("21 04"), std::string::npos) << hex;
  EXPECT_NE(hex.find("20 02 20 03 85 21 02"), std::string::npos) << hex;
}

TEST(Emit, SwappedCarriedValuesAreReadBeforeTheyAreSet) {
  ir::Program fibonacci = Parsed("func @main(%n: i32) -> (i64) {\n" +
                                 ir::FibonacciLines("i64", "i32", "%n") + "  return %a\n}\n");
  auto callable = Loaded(fibonacci);
  for (auto [n, expected] : {std::pair{10, 55}, {20, 6765}, {30, 832040}}) {
    exec::Value argument = exec::Value::Int(ir::types::I32, n);
    auto outcome = callable->Run(std::span(&argument, 1), {});
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->results[0].word, static_cast<uint64_t>(expected));
  }
}

TEST(Emit, ChecksThatCannotFailAreLeftOut) {
  std::string wat = WatOf(Parsed(R"(data @table : i32 [1, 2, 3, 4]
func @main(%x: in buffer<i32>, %k: index) -> (i64) {
  %zero = const 0 : index
  %three = const 3 : index
  %start = const 0 : i64
  %n = length %x : i32
  %s = for %i = %zero to %n step 1 carry (%acc = %start) {
    %v = load %x, %i : i32
    %m = and %i, %three : index
    %t = lookup @table, %m : i32
    %a = cast.checked %v : i64
    %b = cast.checked %t : i64
    %p = mul.checked %a, %b : i64
    %next = xor %acc, %p : i64
    yield %next
  }
  return %s
}
)"));
  EXPECT_EQ(wat.find("unreachable"), std::string::npos) << wat;
  EXPECT_EQ(wat.find("global"), std::string::npos) << wat;
}

TEST(Emit, MovedNanIsMadeCanonicalOnce) {
  std::string moved =
      WatOf(Parsed("func @main(%a: f64) -> (f64) {\n  %b = mul %a, %a : f64\n"
                   "  %c = add %b, %a : f64\n  return %c\n}\n"));
  size_t first = moved.find("f64.const nan");
  ASSERT_NE(first, std::string::npos) << moved;
  EXPECT_EQ(moved.find("f64.const nan", first + 1), std::string::npos) << moved;
  std::string compared =
      WatOf(Parsed("func @main(%a: f64) -> (bool) {\n  %b = mul %a, %a : f64\n"
                   "  %c = lt %b, %a : f64\n  return %c\n}\n"));
  EXPECT_EQ(compared.find("nan"), std::string::npos) << compared;
}

TEST(Emit, OnlyWhatIsNeeded) {
  // Depth and fuel appear with calls and when metered.
  std::string_view text = R"(func @f(%n: i32) -> (i32) {
  return %n
}
func @main(%n: i32) -> (i32) {
  %r = call @f(%n)
  return %r
}
)";
  auto exports = [](const exec::Artifact& artifact) {
    std::string names;
    ModuleView module = ReadModule(artifact.bytes).value();
    for (const ModuleView::Export& entry : module.exports) names += std::string(entry.name) + " ";
    return names;
  };
  EXPECT_EQ(exports(Emitted(Parsed(text))), "main trap depth ");
  EXPECT_EQ(exports(Emitted(Parsed(text), true)), "main fuel trap depth ");
}

TEST(Emit, AnotherName) {
  exec::EmitOptions options;
  options.symbol = "answer";
  auto artifact = MakeWasmTarget()->Emit(
      Parsed("func @main() -> (i32) {\n  %a = const 7 : i32\n  return %a\n}\n"), options);
  ASSERT_TRUE(artifact);
  EXPECT_EQ(Hex(FunctionBody(artifact->bytes, "answer").value_or("")), "41 07");
  EXPECT_FALSE(FunctionBody(artifact->bytes, "main"));
}

}  // namespace
}  // namespace frazil::targets::wasm
