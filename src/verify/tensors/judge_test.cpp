// What a fusion makes of tensor ops is proved; what traps elsewhere or is not known to be in bounds is not.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "verify/tensors/test_pairs.h"
#include "verify/verify.h"

namespace frazil::verify::tensors {
namespace {

TEST(TensorForms, FusedProgramsAreProved) {
  for (const TestPair& pair : TestPairs()) {
    const ir::Program source = TestProgram(pair.head, pair.source);
    const ir::Program candidate = TestProgram(pair.head, pair.candidate);
    EXPECT_EQ(Judged(source, candidate), "proved") << pair.name;
    EXPECT_EQ(Judged(candidate, source), "proved") << pair.name << ", the other way";
    const Result<Verdict> verdict = Verify(source, {candidate, {}, {}, "test"});
    ASSERT_TRUE(verdict) << pair.name;
    EXPECT_TRUE(std::holds_alternative<Proved>(*verdict)) << pair.name << Describe(*verdict);
  }
}

struct Doubt {
  std::string name, head, source, candidate;
  std::string reason;  // part of it; "proved" if it is
};

const std::string Neg = R"(
  %r = map (%x = %a) -> tensor<i32, [%n]> {
    %z = neg %x : i32
    yield %z
  }
)";
const std::string NegHead = "(%n: index, %k: index, %a: tensor<i32, [%n]>) -> (tensor<i32, [%n]>)";
const std::string Two = "(%n: index, %a: tensor<i32, [%n]>, %b: tensor<i32, [%n]>) -> (i32)";
const std::string Square =
    "(%n: index, %a: tensor<f32, [%n, %n]>, %b: tensor<f32, [%n, %n]>) -> (f32)";

std::string SumOfSums(const std::string& element) {
  return R"(
  %r = fold sum %i to %n chains 64 block 4096 -> f32 {
    %s = fold sum %j to %n chains 64 block 4096 -> f32 {
)" + element +
         R"(
      yield %z
    }
    yield %s
  }
  return %r
)";
}

// Each of them is unequal somewhere, or would have to be argued for in another way.
const std::vector<Doubt>& Doubts() {
  static const std::vector<Doubt> doubts = {
      {"an added read that may be outside", NegHead, Neg + "  return %r\n",
       "  %o = const 0 : index\n  %d = extract %a, %o : i32\n" + Neg + "  return %r\n", "may trap"},
      {"a read at any index", NegHead, Neg + "  return %r\n",
       "  %d = extract %a, %k : i32\n" + Neg + "  return %r\n", "may trap"},
      {"a read that is missing", NegHead, "  %d = extract %a, %k : i32\n" + Neg + "  return %r\n",
       Neg + "  return %r\n", "may trap"},
      {"a tensor of a negative size", NegHead, Neg + "  return %r\n",
       "  %p = iota {axis = 0} : tensor<i32, [%k]>\n" + Neg + "  return %r\n", "negative size"},
      {"a tensor that is too large", NegHead, Neg + "  return %r\n",
       "  %p = iota {axis = 0} : tensor<i32, [%n, %n]>\n" + Neg + "  return %r\n", "larger"},
      {"a fold without end", NegHead, Neg + "  return %r\n",
       "  %c = const 4611686018427387904 : index\n  %p = fold sum %i to %c chains 1 block 1 -> "
       "index {\n"
       "    yield %i\n  }\n" +
           Neg + "  return %r\n",
       "larger"},
      {"a count that may wrap", NegHead, Neg + "  return %r\n",
       "  %c = mul %n, %n : index\n  %p = fold sum %i to %c chains 1 block 1 -> index {\n"
       "    yield %i\n  }\n" +
           Neg + "  return %r\n",
       "may wrap"},
      {"a product that may wrap, divided",
       "(%n: index, %m: index, %a: tensor<i32, [%n, %m, 0]>) -> (index)", "  return %n\n",
       "  %p = mul %n, %m : index\n  %one = const 1 : index\n  %d = max %m, %one : index\n"
       "  %q = div.trunc %p, %m : index\n  return %q\n",
       "may trap"},
      {"a product that may wrap, compared",
       "(%n: index, %m: index, %a: tensor<i32, [%n, %m, 0]>) -> (bool)",
       "  %t = const true : bool\n  return %t\n",
       "  %p = mul %n, %m : index\n  %z = const 0 : index\n  %t = ge %p, %z : index\n  return %t\n",
       "differ"},
      {"the traps of two maps, as one",
       "(%n: index, %a: tensor<i32, [%n]>, %b: tensor<i32, [%n]>) -> (tensor<i32, [%n]>, "
       "tensor<i32, [%n]>)",
       R"(
  %one = const 1 : i32
  %q = map (%x = %a) -> tensor<i32, [%n]> {
    %z = div.trunc %one, %x : i32
    yield %z
  }
  %r = map (%x = %b) -> tensor<i32, [%n]> {
    %z = add.checked %x, %one : i32
    yield %z
  }
  return %q, %r
)",
       R"(
  %one = const 1 : i32
  %q, %r = generate (%i) -> (tensor<i32, [%n]>, tensor<i32, [%n]>) {
    %x = extract %a, %i : i32
    %y = extract %b, %i : i32
    %z = div.trunc %one, %x : i32
    %w = add.checked %y, %one : i32
    yield %z, %w
  }
  return %q, %r
)",
       "may trap"},
      {"traps in another order", Two,
       "  %n0 = const 1 : i32\n  %o = const 0 : index\n  %x = extract %a, %o : i32\n"
       "  %p = div.trunc %n0, %x : i32\n  %q = add.checked %x, %n0 : i32\n  return %x\n",
       "  %n0 = const 1 : i32\n  %o = const 0 : index\n  %x = extract %a, %o : i32\n"
       "  %q = add.checked %x, %n0 : i32\n  %p = div.trunc %n0, %x : i32\n  return %x\n",
       "may trap"},
      {"a division that only rows make",
       "(%m: index, %n: index, %a: tensor<i32, [%m]>) -> (tensor<i32, [%m, %n]>)",
       R"(
  %one = const 1 : i32
  %q = map (%x = %a) -> tensor<i32, [%m]> {
    %z = div.trunc %one, %x : i32
    yield %z
  }
  %r = broadcast %q {axes = [0]} : tensor<i32, [%m, %n]>
  return %r
)",
       R"(
  %one = const 1 : i32
  %r = generate (%i) -> (tensor<i32, [%m, %n]>) {
    %x = extract %a, %i : i32
    %z = div.trunc %one, %x : i32
    %row = broadcast %z {axes = []} : tensor<i32, [%n]>
    yield %row
  }
  return %r
)",
       "may trap"},
      {"a division moved into a fold", Two,
       "  %one = const 1 : i32\n  %o = const 0 : index\n  %k = cast %n : i32\n"
       "  %q = div.trunc %one, %k : i32\n  %s = fold sum %i to %n chains 64 block 4096 -> i32 {\n"
       "    %x = extract %a, %i : i32\n    %z = mul %x, %q : i32\n    yield %z\n  }\n  return %s\n",
       "  %one = const 1 : i32\n  %o = const 0 : index\n  %k = cast %n : i32\n"
       "  %s = fold sum %i to %n chains 64 block 4096 -> i32 {\n    %q = div.trunc %one, %k : i32\n"
       "    %x = extract %a, %i : i32\n    %z = mul %x, %q : i32\n    yield %z\n  }\n  return %s\n",
       "may trap"},
      {"what holds in one branch, in the other", "(%a: tensor<i32, [2]>) -> (tensor<i32, [4]>)",
       "  %r = concat %a, %a {axis = 0} : tensor<i32, [4]>\n  return %r\n", R"(
  %two = const 2 : index
  %r = generate (%i) -> (tensor<i32, [4]>) {
    %first = lt %i, %two : index
    %x = if %first -> (i32) {
      %u = extract %a, %i : i32
      yield %u
    } else {
      %k = sub %i, %two : index
      %d = extract %a, %i : i32
      %u = extract %a, %k : i32
      yield %u
    }
    yield %x
  }
  return %r
)",
       "may trap"},
      {"both parts read, one chosen", "(%a: tensor<i32, [2]>) -> (tensor<i32, [4]>)",
       "  %r = concat %a, %a {axis = 0} : tensor<i32, [4]>\n  return %r\n", R"(
  %two = const 2 : index
  %r = generate (%i) -> (tensor<i32, [4]>) {
    %first = lt %i, %two : index
    %k = sub %i, %two : index
    %u = extract %a, %i : i32
    %v = extract %a, %k : i32
    %x = select %first, %u, %v : i32
    yield %x
  }
  return %r
)",
       "may trap"},
      {"the indices of nested folds exchanged", Square, SumOfSums("%z = extract %a, %i, %j : f32"),
       SumOfSums("%z = extract %a, %j, %i : f32"), "differ"},
      {"nested folds, one of two exchanged", Square,
       SumOfSums(
           "%x = extract %a, %i, %j : f32\n%y = extract %b, %i, %j : f32\n%z = mul %x, %y : f32"),
       SumOfSums(
           "%x = extract %a, %i, %j : f32\n%y = extract %b, %j, %i : f32\n%z = mul %x, %y : f32"),
       "differ"},
      {"nested folds, one index twice", Square, SumOfSums("%z = extract %a, %i, %j : f32"),
       SumOfSums("%z = extract %a, %j, %j : f32"), "differ"},
      {"as unsigned", "(%a: tensor<i64, [3]>) -> (tensor<f32, [3]>)",
       "  %r = map (%x = %a) -> tensor<f32, [3]> {\n    %z = cast %x : f32\n    yield %z\n  }\n  "
       "return %r\n",
       "  %r = map (%x = %a) -> tensor<f32, [3]> {\n    %u = cast %x : u64\n    %z = cast %u : "
       "f32\n    yield %z\n  }\n  return %r\n",
       "differ"},
      {"compared as unsigned", "(%a: tensor<i64, [3]>) -> (tensor<bool, [3]>)",
       "  %o = const 7 : i64\n  %r = map (%x = %a) -> tensor<bool, [3]> {\n    %z = lt %x, %o : "
       "i64\n    yield %z\n  }\n  return %r\n",
       "  %o = const 7 : u64\n  %r = map (%x = %a) -> tensor<bool, [3]> {\n    %u = cast %x : "
       "u64\n    %z = lt %u, %o : u64\n    yield %z\n  }\n  return %r\n",
       "differ"},
      {"an index through a byte", "(%a: tensor<i32, [300]>) -> (tensor<index, [300]>)",
       "  %r = iota {axis = 0} : tensor<index, [300]>\n  return %r\n",
       "  %r = generate (%i) -> (tensor<index, [300]>) {\n    %b = cast %i : u8\n    %k = cast %b "
       ": index\n    yield %k\n  }\n  return %r\n",
       "differ"},
      {"halves folded as floats", "(%n: index, %a: tensor<f16, [%n]>) -> (tensor<f16, []>)",
       "  %r = reduce %a {kind = sum, axis = 0, chains = 64, block = 4096} : tensor<f16, []>\n  "
       "return %r\n",
       "  %r = generate () -> (tensor<f16, []>) {\n    %s = fold sum %i to %n chains 64 block 4096 "
       "-> f16 {\n      %x = extract %a, %i : f16\n"
       "      %y = cast %x : f32\n      %z = cast %y : f16\n      yield %z\n    }\n    yield %s\n  "
       "}\n  return %r\n",
       "differ"},
      {"not less, of floats", "(%a: tensor<f32, [3]>) -> (tensor<bool, [3]>)",
       "  %o = const 7 : f32\n  %r = map (%x = %a) -> tensor<bool, [3]> {\n    %z = ge %x, %o : "
       "f32\n    yield %z\n  }\n  return %r\n",
       "  %o = const 7 : f32\n  %r = map (%x = %a) -> tensor<bool, [3]> {\n    %u = lt %x, %o : "
       "f32\n    %z = not %u : bool\n    yield %z\n  }\n  return %r\n",
       "differ"},
      {"a broadcast that may repeat",
       "(%m: index, %n: index, %a: tensor<i32, [%m]>, %b: tensor<i32, [%n]>) -> (tensor<i32, "
       "[%n]>)",
       "  %r = broadcast %a {axes = [0]} : tensor<i32, [%n]>\n  return %r\n",
       "  %w = broadcast %a {axes = [0]} : tensor<i32, [%n]>\n  %r = generate (%i) -> (tensor<i32, "
       "[%n]>) {\n    %x = extract %a, %i : i32\n    yield %x\n  }\n  return %r\n",
       "may trap"},
      {"a gather that nobody uses",
       "(%n: index, %a: tensor<i32, [%n]>, %k: tensor<index, [3]>) -> (tensor<i32, [%n]>)",
       "  %g = gather %a, %k {axis = 0} : tensor<i32, [3]>\n" + Neg + "  return %r\n",
       Neg + "  return %r\n", "may trap"},
      {"a gather as reads", "(%a: tensor<i32, [7]>, %k: tensor<index, [3]>) -> (tensor<i32, [3]>)",
       "  %g = gather %a, %k {axis = 0} : tensor<i32, [3]>\n  return %g\n",
       "  %r = generate (%i) -> (tensor<i32, [3]>) {\n    %p = extract %k, %i : index\n    %x = "
       "extract %a, %p : i32\n    yield %x\n  }\n  return %r\n",
       "may trap"},
      {"an assert that is missing", NegHead,
       "  %t = lt %k, %n : index\n  assert %t\n" + Neg + "  return %r\n", Neg + "  return %r\n",
       "may trap"},
      {"an assert that a read may rely on", NegHead,
       "  %zero = const 0 : index\n  %t = lt %k, %n : index\n  assert %t\n  %u = ge %k, %zero : "
       "index\n  "
       "assert %u\n" +
           Neg + "  return %r\n",
       "  %zero = const 0 : index\n  %t = lt %k, %n : index\n  assert %t\n  %u = ge %k, %zero : "
       "index\n  "
       "assert %u\n  %d = extract %a, %k : i32\n" +
           Neg + "  return %r\n",
       "proved"},
      {"an assert behind the read", NegHead,
       "  %zero = const 0 : index\n  %t = lt %k, %n : index\n  %u = ge %k, %zero : index\n  assert "
       "%t\n  "
       "assert %u\n" +
           Neg + "  return %r\n",
       "  %zero = const 0 : index\n  %t = lt %k, %n : index\n  %u = ge %k, %zero : index\n  assert "
       "%t\n  "
       "%d = extract %a, %k : i32\n  assert %u\n" +
           Neg + "  return %r\n",
       "may trap"},
      {"a loop", NegHead, Neg + "  return %r\n",
       "  %zero = const 0 : index\n  for %i = %zero to %n step 1 {\n    yield\n  }\n" + Neg +
           "  return %r\n",
       "'for' has no normal form"},
  };
  return doubts;
}

TEST(TensorForms, DoubtsAreNotProved) {
  for (const Doubt& doubt : Doubts()) {
    const ir::Program source = TestProgram(doubt.head, doubt.source);
    const ir::Program candidate = TestProgram(doubt.head, doubt.candidate);
    const std::string said = Judged(source, candidate);
    EXPECT_NE(said.find(doubt.reason), std::string::npos) << doubt.name << ": " << said;
  }
}

// What a guard fixes is a constant; a call is what it calls.
TEST(TensorForms, GuardsAndCalls) {
  const std::string head = "(%n: index, %a: tensor<f32, [%n]>) -> (tensor<f32, []>)";
  const ir::Program source = TestProgram(head,
                                         "  %r = reduce %a {kind = sum, axis = 0, chains = 4, "
                                         "block = 8} : tensor<f32, []>\n  return %r\n");
  const ir::Program fixed = TestProgram(
      head,
      "  %c = const 9 : index\n  %r = generate () -> (tensor<f32, []>) {\n"
      "    %s = fold sum %i to %c chains 4 block 8 -> f32 {\n      %x = extract %a, %i : f32\n"
      "      yield %x\n    }\n    yield %s\n  }\n  return %r\n");
  EXPECT_EQ(Judged(source, fixed), "what may trap differs");
  EXPECT_EQ(Judged(source, fixed, *ir::ParseGuard("arg0 == 9", source)), "proved");
  EXPECT_NE(Judged(source, fixed, *ir::ParseGuard("arg0 == 8", source)), "proved");

  const Result<ir::Program> called = ir::ParseText(R"(frz 1
func @sum(%k: index, %t: tensor<f32, [%k]>) -> (tensor<f32, []>) {
  %r = reduce %t {kind = sum, axis = 0, chains = 4, block = 8} : tensor<f32, []>
  return %r
}
func @main(%n: index, %a: tensor<f32, [%n]>) -> (tensor<f32, []>) {
  %r = call @sum(%n, %a)
  return %r
}
)");
  ASSERT_TRUE(called) << called.error().ToString();
  EXPECT_EQ(Judged(*called, source), "proved");
  EXPECT_EQ(Judged(source, *called), "proved");
}

// A guard may say what no tensor can be: there every shape traps, and nothing made of one is equal to what needs none.
TEST(TensorForms, SizesThatAGuardMakesNegative) {
  const std::string head = "(%n: index, %m: index, %a: tensor<i32, [6]>) -> (tensor<i32, [6]>)";
  const ir::Program plain = TestProgram(head, "  return %a\n");
  const ir::Program reshaped =
      TestProgram(head, "  %r = reshape %a : tensor<i32, [%n, %m]>\n  return %a\n");
  const ir::Program made =
      TestProgram(head,
                  "  %z = const 0 : i32\n  %r = broadcast %z {axes = []} : tensor<i32, [%n]>\n"
                  "  return %a\n");
  const auto guard = [&](const std::string& text) { return *ir::ParseGuard(text, plain); };
  EXPECT_EQ(Judged(reshaped, plain, guard("arg0 == 2 && arg1 == 3")), "proved");
  EXPECT_EQ(Judged(reshaped, plain, guard("arg0 == -2 && arg1 == -3")), "what may trap differs");
  EXPECT_EQ(Judged(plain, made, guard("arg0 == 4")), "proved");
  EXPECT_NE(Judged(plain, made, guard("arg0 == -4")), "proved");
}

// A hundred ops and what they become as one region, in at most a millisecond.
TEST(TensorForms, AHundredOps) {
  std::string source, candidate =
                          "  %r = generate (%i, %j) -> (tensor<f32, [%m, %n]>) {\n    %v0 = "
                          "extract %a, %i, %j : f32\n    %w = extract %b, %j : f32\n";
  source = "  %t0 = transpose %a {perm = [1, 0]} : tensor<f32, [%n, %m]>\n";
  std::string last = "t0";
  int ops = 1;
  for (int k = 1; k <= 33; ++k) {
    source += fmt::format(
        "  %s{0} = broadcast %b {{axes = [0]}} : tensor<f32, [%n, %m]>\n"
        "  %m{0} = map (%x = %{1}, %y = %s{0}) -> tensor<f32, [%n, %m]> {{\n    %z = {2} %x, %y : "
        "f32\n"
        "    yield %z\n  }}\n  %t{0} = map (%x = %m{0}) -> tensor<f32, [%n, %m]> {{\n    %z = exp "
        "%x : f32\n"
        "    yield %z\n  }}\n",
        k, last, k % 2 == 0 ? "mul" : "sub");
    candidate += fmt::format("    %u{0} = {2} %v{1}, %w : f32\n    %v{0} = exp %u{0} : f32\n", k,
                             k - 1, k % 2 == 0 ? "mul" : "sub");
    last = fmt::format("t{}", k);
    ops += 3;
  }
  source += "  %r = transpose %" + last + " {perm = [1, 0]} : tensor<f32, [%m, %n]>\n  return %r\n";
  candidate += "    yield %v33\n  }\n  return %r\n";
  const std::string head =
      "(%m: index, %n: index, %a: tensor<f32, [%m, %n]>, %b: tensor<f32, [%n]>) -> (tensor<f32, "
      "[%m, %n]>)";
  const ir::Program f = TestProgram(head, source), g = TestProgram(head, candidate);
  double best = 1e9;
  for (int turn = 0; turn < 20; ++turn) {
    const auto start = std::chrono::steady_clock::now();
    ASSERT_EQ(Judged(f, g), "proved");
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  std::printf("%d ops against one region: %.0f us\n", ops + 1, best);
  RecordProperty("microseconds", static_cast<int>(best));
}

}  // namespace
}  // namespace frazil::verify::tensors
