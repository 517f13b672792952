// Tensor ops: the reduction tree and the matmul chain against formulas written another way, moves
// and their traps, random numbers against published ones.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <random>

#include "base/number/float16.h"
#include "exec/meaning/interpreter.h"
#include "exec/test_run.h"
#include "ir/text/text.h"

namespace frazil::exec {
namespace {

namespace types = ir::types;

Value Tensor(ir::Type element, std::vector<int64_t> dims, const std::vector<double>& values) {
  auto memory = std::make_shared<Memory>(element, static_cast<int64_t>(values.size()));
  for (size_t i = 0; i < values.size(); ++i) {
    const Value value = ir::IsFloat(element.scalar)
                            ? Value::Float(element, values[i])
                            : Value::Int(element, static_cast<int64_t>(values[i]));
    memory->Set(static_cast<int64_t>(i), value.scalar_words());
  }
  return Value::Tensor(std::move(memory), std::move(dims));
}

float FloatAt(const Value& tensor, int64_t i) {
  uint64_t word = 0;
  tensor.memory->Get(i, std::span(&word, 1));
  return std::bit_cast<float>(static_cast<uint32_t>(word));
}

// The tree by recursion, top down; the interpreter goes bottom up.
class Tree {
 public:
  Tree(const std::vector<float>& x, size_t chains, size_t block)
      : x_(x), chains_(chains), block_(block) {}
  float Sum() const {
    return x_.empty() ? 0.0f : Blocks(0, (x_.size() + block_ - 1) / block_, Level());
  }

 private:
  int Level() const {
    int level = 0;
    while ((block_ << level) < x_.size()) ++level;
    return level;
  }
  // Blocks [first, first + 2^level) as far as they exist.
  float Blocks(size_t first, size_t end, int level) const {
    if (level == 0) return Folded(first * block_, 0, 1);
    const size_t middle = first + (size_t{1} << (level - 1));
    const float left = Blocks(first, end, level - 1);
    return middle < end ? left + Blocks(middle, end, level - 1) : left;
  }
  // Chain c after the step with this distance.
  float Folded(size_t start, size_t c, size_t distance) const {
    if (distance == chains_) return Chain(start, c);
    const size_t count = std::min(block_, x_.size() - start);
    const float left = Folded(start, c, distance * 2);
    return c + distance < count ? left + Folded(start, c + distance, distance * 2) : left;
  }
  float Chain(size_t start, size_t c) const {
    const size_t end = std::min(start + block_, x_.size());
    float sum = x_[start + c];
    for (size_t i = start + c + chains_; i < end; i += chains_) sum += x_[i];
    return sum;
  }
  const std::vector<float>& x_;
  size_t chains_;
  size_t block_;
};

TEST(Reduce, TheTree) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 1000);
  int differs_from_left_fold = 0;
  for (auto [chains, block] :
       {std::pair<size_t, size_t>(64, 4096), {1, 4096}, {8, 8}, {4, 20}, {4096, 4096}}) {
    const std::string text = fmt::format(R"(
func @main(%n: index, %t: tensor<f32, [%n]>) -> (tensor<f32, []>) {{
  %r = reduce %t {{kind = sum, axis = 0, chains = {}, block = {}}} : tensor<f32, []>
  return %r
}})",
                                         chains, block);
    for (size_t n : {0, 1, 2, 63, 64, 65, 4095, 4096, 4097, 9000, 20481}) {
      std::vector<float> x(n);
      for (float& v : x) v = normal(random);
      const std::vector<double> values(x.begin(), x.end());
      const int64_t length = static_cast<int64_t>(n);
      const Outcome outcome = Execute(text, {Index(length), Tensor(types::F32, {length}, values)});
      ASSERT_EQ(outcome.results.size(), 1u);
      const float sum = FloatAt(outcome.results[0], 0);
      EXPECT_EQ(std::bit_cast<uint32_t>(sum), std::bit_cast<uint32_t>(Tree(x, chains, block).Sum()))
          << n << " " << chains << " " << block;
      float left = 0;
      for (float v : x) left += v;
      differs_from_left_fold += left != sum;
    }
  }
  // Otherwise the data would not tell one order from another.
  EXPECT_GT(differs_from_left_fold, 20);
}

std::string ReduceAll(const std::string& type, const std::string& kind) {
  return fmt::format(R"(
func @main(%n: index, %t: tensor<{0}, [%n]>) -> (tensor<{0}, []>) {{
  %r = reduce %t {{kind = {1}, axis = 0, chains = 64, block = 4096}} : tensor<{0}, []>
  return %r
}})",
                     type, kind);
}

TEST(Reduce, EmptyGivesTheIdentity) {
  struct Case {
    std::string type, kind;
    std::string_view identity;
  };
  const Case cases[] = {{"f32", "sum", "0"},
                        {"f32", "product", "1"},
                        {"f16", "min", "inf"},
                        {"f64", "maximum", "-inf"},
                        {"i8", "min", "127"},
                        {"i8", "max", "-128"},
                        {"i64", "max", "-9223372036854775808"},
                        {"u64", "min", "18446744073709551615"},
                        {"u16", "and", "65535"},
                        {"i32", "and", "-1"},
                        {"bool", "and", "true"},
                        {"bool", "or", "false"},
                        {"xfield", "product", "(1, 0, 0)"}};
  for (const auto& [type, kind, identity] : cases) {
    const Value empty = Tensor(*ir::ParseType(type), {0}, {});
    EXPECT_EQ(Results(Execute(ReduceAll(type, kind), {Index(0), empty})), identity)
        << type << " " << kind;
  }
}

TEST(Reduce, KindsAndAxes) {
  const std::string text = R"(
func @main(%t: tensor<i32, [2, 3]>) -> (tensor<i32, [3]>, tensor<i32, [2]>, tensor<i32, [2]>) {
  %a = reduce %t {kind = sum, axis = 0, chains = 1, block = 4096} : tensor<i32, [3]>
  %b = reduce %t {kind = product, axis = 1, chains = 64, block = 4096} : tensor<i32, [2]>
  %c = reduce %t {kind = xor, axis = 1, chains = 64, block = 4096} : tensor<i32, [2]>
  return %a, %b, %c
})";
  EXPECT_EQ(Results(Execute(text, {Tensor(types::I32, {2, 3}, {1, 2, 3, 4, 5, 6})})),
            "[5, 7, 9] [6, 120] [0, 7]");
  const std::vector<double> some = {1, NAN, -2};
  EXPECT_EQ(Results(Execute(ReduceAll("f32", "min"), {Index(3), Tensor(types::F32, {3}, some)})),
            "-2");
  EXPECT_EQ(
      Results(Execute(ReduceAll("f32", "minimum"), {Index(3), Tensor(types::F32, {3}, some)})),
      "nan");
  // One element is moved, not computed with.
  Value odd_nan = Tensor(types::F32, {1}, {0});
  odd_nan.memory->Set(0, std::array<uint64_t, 1>{0xffa12345});
  EXPECT_EQ(Results(Execute(ReduceAll("f32", "sum"), {Index(1), odd_nan})), "bits(0xffa12345)");
}

TEST(Reduce, HalfAccumulatesInF32) {
  // 2048 + 1 + 1: in f16 each 1 would be lost.
  const std::vector<double> values = {2048, 1, 1};
  EXPECT_EQ(Results(Execute(ReduceAll("f16", "sum"), {Index(3), Tensor(types::F16, {3}, values)})),
            "2050");
  const std::vector<double> big = {60000, 60000, -60000};
  EXPECT_EQ(Results(Execute(ReduceAll("f16", "sum"), {Index(3), Tensor(types::F16, {3}, big)})),
            "60000");
}

std::string MatmulText(const std::string& op, const std::string& type) {
  return fmt::format(R"(
func @main(%m: index, %k: index, %n: index, %a: tensor<{1}, [2, %m, %k]>, %b: tensor<{1}, [2, %k, %n]>)
    -> (tensor<{1}, [2, %m, %n]>) {{
  %c = {0} %a, %b : tensor<{1}, [2, %m, %n]>
  return %c
}})",
                     op, type);
}

TEST(Matmul, OneFmaChain) {
  std::mt19937 random(2);
  std::normal_distribution<float> normal(0, 1);
  constexpr int M = 3, K = 7, N = 5;
  std::vector<double> a(2 * M * K), b(2 * K * N);
  for (double& v : a) v = normal(random);
  for (double& v : b) v = normal(random);
  const std::vector<Value> arguments = {Index(M), Index(K), Index(N),
                                        Tensor(types::F32, {2, M, K}, a),
                                        Tensor(types::F32, {2, K, N}, b)};
  const Outcome exact = Execute(MatmulText("matmul", "f32"), arguments);
  const Outcome fast = Execute(MatmulText("matmul.fast", "f32"), arguments);
  ASSERT_EQ(exact.results[0].dims, (std::vector<int64_t>{2, M, N}));
  int different = 0;
  for (int batch = 0; batch < 2; ++batch) {
    for (int i = 0; i < M; ++i) {
      for (int j = 0; j < N; ++j) {
        float fused = 0, plain = 0;
        for (int k = 0; k < K; ++k) {
          const float x = static_cast<float>(a[(batch * M + i) * K + k]);
          const float y = static_cast<float>(b[(batch * K + k) * N + j]);
          fused = std::fma(x, y, fused);
          const float product = x * y;
          plain = plain + product;
        }
        const int64_t at = (batch * M + i) * N + j;
        EXPECT_EQ(FloatAt(exact.results[0], at), fused);
        EXPECT_EQ(FloatAt(fast.results[0], at), plain);
        different += fused != plain;
      }
    }
  }
  EXPECT_GT(different, 0);
}

TEST(Matmul, OtherTypesAndNoDepth) {
  const std::vector<Value> none = {Index(1), Index(0), Index(2), Tensor(types::F32, {2, 1, 0}, {}),
                                   Tensor(types::F32, {2, 0, 2}, {})};
  EXPECT_EQ(Results(Execute(MatmulText("matmul", "f32"), none)), "[[[0, 0]], [[0, 0]]]");
  const std::vector<Value> ints = {Index(1), Index(2), Index(1),
                                   Tensor(types::U8, {2, 1, 2}, {16, 1, 2, 3}),
                                   Tensor(types::U8, {2, 2, 1}, {16, 5, 4, 5})};
  EXPECT_EQ(Results(Execute(MatmulText("matmul", "u8"), ints)), "[[[5]], [[23]]]");
  // f16: 2048 + 1 + 1 in f32, rounded at the end.
  const std::vector<Value> halves = {Index(1), Index(3), Index(1),
                                     Tensor(types::F16, {2, 1, 3}, {2048, 1, 1, 0, 0, 0}),
                                     Tensor(types::F16, {2, 3, 1}, {1, 1, 1, 1, 1, 1})};
  EXPECT_EQ(Results(Execute(MatmulText("matmul", "f16"), halves)), "[[[2050]], [[0]]]");
  const std::vector<Value> fields = {Index(1), Index(1), Index(1),
                                     Tensor(types::Field, {2, 1, 1}, {-1, 3}),
                                     Tensor(types::Field, {2, 1, 1}, {-1, 4})};
  EXPECT_EQ(Results(Execute(MatmulText("matmul", "field"), fields)), "[[[1]], [[12]]]");
}

TEST(Tensors, MapInLogicalOrder) {
  const std::string text = R"(
func @main(%n: index, %a: tensor<i32, [%n, 2]>, %d: i32) -> (tensor<i32, [%n, 2]>) {
  %r = map (%x = %a, %y = %a) -> tensor<i32, [%n, 2]> {
    %q = div.trunc %d, %x : i32
    %s = add %q, %y : i32
    yield %s
  }
  return %r
})";
  const Value d = Value::Int(types::I32, 12);
  EXPECT_EQ(Results(Execute(text, {Index(2), Tensor(types::I32, {2, 2}, {1, 2, 3, 4}), d})),
            "[[13, 8], [7, 7]]");
  EXPECT_EQ(Results(Execute(text, {Index(0), Tensor(types::I32, {0, 2}, {}), d})), "[]");
  EXPECT_EQ(Results(Execute(text, {Index(1), Tensor(types::I32, {1, 2}, {1, 0}), d})),
            "division by zero in div.trunc");
}

TEST(Tensors, MapWithMathAndInnerTensors) {
  const std::string text = R"(
func @main(%a: tensor<f32, [3]>) -> (tensor<f32, [3]>) {
  %r = map (%x = %a) -> tensor<f32, [3]> {
    %b = broadcast %x {axes = []} : tensor<f32, [4]>
    %s = reduce %b {kind = sum, axis = 0, chains = 64, block = 4096} : tensor<f32, []>
    %e = extract %s : f32
    %y = sqrt %e : f32
    %z = exp %y : f32
    yield %z
  }
  return %r
})";
  RunContext context;
  context.limits.memory_bytes = 100;
  const Outcome outcome = Execute(text, {Tensor(types::F32, {3}, {0, 1, 4})}, context);
  ASSERT_EQ(outcome.results.size(), 1u) << Results(outcome);
  EXPECT_EQ(FloatAt(outcome.results[0], 0), 1.0f);
  EXPECT_FLOAT_EQ(FloatAt(outcome.results[0], 2), std::exp(4.0f));
}

TEST(Tensors, Moves) {
  const std::string text = R"(
func @main(%t: tensor<i32, [2, 3]>) -> (tensor<i32, [3, 2]>, tensor<i32, [3, 2]>, tensor<i32, [2, 2, 3]>,
    tensor<i32, [2, 2]>, tensor<i32, [4, 3]>, tensor<i8, [2, 3]>) {
  %a = transpose %t {perm = [1, 0]} : tensor<i32, [3, 2]>
  %b = reshape %t : tensor<i32, [3, 2]>
  %c = broadcast %t {axes = [1, 2]} : tensor<i32, [2, 2, 3]>
  %d = slice %t {start = [1, 0], step = [-1, 2]} : tensor<i32, [2, 2]>
  %e = concat %t, %t {axis = 0} : tensor<i32, [4, 3]>
  %f = iota {axis = 1} : tensor<i8, [2, 3]>
  return %a, %b, %c, %d, %e, %f
})";
  EXPECT_EQ(Results(Execute(text, {Tensor(types::I32, {2, 3}, {1, 2, 3, 4, 5, 6})})),
            "[[1, 4], [2, 5], [3, 6]] [[1, 2], [3, 4], [5, 6]] [[[1, 2, 3], [4, 5, 6]], [[1, 2, "
            "3], [4, 5, 6]]] "
            "[[4, 6], [1, 3]] [[1, 2, 3], [4, 5, 6], [1, 2, 3], [4, 5, 6]] [[0, 1, 2], [0, 1, 2]]");
}

TEST(Tensors, ConcatInnerAxisAndGather) {
  const std::string text = R"(
func @main(%k: index, %t: tensor<i32, [2, 2]>, %u: tensor<i32, [2, 1]>, %p: tensor<index, [%k]>)
    -> (tensor<i32, [2, 3]>, tensor<i32, [%k, 2]>, tensor<i32, [2, %k]>) {
  %a = concat %t, %u {axis = 1} : tensor<i32, [2, 3]>
  %b = gather %t, %p {axis = 0} : tensor<i32, [%k, 2]>
  %c = gather %t, %p {axis = 1} : tensor<i32, [2, %k]>
  return %a, %b, %c
})";
  const Value t = Tensor(types::I32, {2, 2}, {1, 2, 3, 4});
  const Value u = Tensor(types::I32, {2, 1}, {8, 9});
  EXPECT_EQ(Results(Execute(text, {Index(3), t, u, Tensor(types::Index, {3}, {1, 0, 1})})),
            "[[1, 2, 8], [3, 4, 9]] [[3, 4], [1, 2], [3, 4]] [[2, 1, 2], [4, 3, 4]]");
  EXPECT_EQ(Results(Execute(text, {Index(1), t, u, Tensor(types::Index, {1}, {2})})),
            "out of bounds in gather");
  EXPECT_EQ(Results(Execute(text, {Index(1), t, u, Tensor(types::Index, {1}, {-1})})),
            "out of bounds in gather");
}

TEST(Tensors, SizesThatDoNotFit) {
  const std::string reshape = R"(
func @main(%n: index, %m: index, %t: tensor<i32, [%n]>) -> (tensor<i32, [%m, 2]>) {
  %r = reshape %t : tensor<i32, [%m, 2]>
  return %r
})";
  const Value t4 = Tensor(types::I32, {4}, {1, 2, 3, 4});
  EXPECT_EQ(Results(Execute(reshape, {Index(4), Index(2), t4})), "[[1, 2], [3, 4]]");
  EXPECT_EQ(Results(Execute(reshape, {Index(4), Index(3), t4})), "assert in reshape");
  EXPECT_EQ(Results(Execute(reshape, {Index(4), Index(-2), t4})), "assert in reshape");
  const std::string broadcast = R"(
func @main(%n: index, %m: index, %t: tensor<i32, [%n]>) -> (tensor<i32, [2, %m]>) {
  %r = broadcast %t {axes = [1]} : tensor<i32, [2, %m]>
  return %r
})";
  EXPECT_EQ(Results(Execute(broadcast, {Index(1), Index(3), Tensor(types::I32, {1}, {7})})),
            "[[7, 7, 7], [7, 7, 7]]");
  EXPECT_EQ(Results(Execute(broadcast, {Index(4), Index(3), t4})), "assert in broadcast");
  const std::string slice = R"(
func @main(%n: index, %m: index, %t: tensor<i32, [%n]>) -> (tensor<i32, [%m]>) {
  %r = slice %t {start = [1], step = [2]} : tensor<i32, [%m]>
  return %r
})";
  EXPECT_EQ(Results(Execute(slice, {Index(4), Index(2), t4})), "[2, 4]");
  EXPECT_EQ(Results(Execute(slice, {Index(4), Index(3), t4})), "out of bounds in slice");
  EXPECT_EQ(Results(Execute(slice, {Index(4), Index(0), t4})), "[]");
  const std::string iota = R"(
func @main(%n: index, %m: index) -> (tensor<index, [%n, %m]>) {
  %r = iota {axis = 0} : tensor<index, [%n, %m]>
  return %r
})";
  EXPECT_EQ(Results(Execute(iota, {Index(2), Index(1)})), "[[0], [1]]");
  EXPECT_EQ(Results(Execute(iota, {Index(-1), Index(1)})), "memory in iota");
  EXPECT_EQ(Results(Execute(iota, {Index(int64_t{1} << 32), Index(int64_t{1} << 32)})),
            "memory in iota");
}

TEST(Tensors, BuffersAndElements) {
  const std::string text = R"(
func @main(%b: buffer<f32>, %n: index, %i: index) -> (f32) {
  %t = tensor.load %b : tensor<f32, [%n]>
  %zero = const 0 : index
  %one = const 1 : f32
  store %b, %zero, %one : f32
  %x = extract %t, %i : f32
  %u = map (%v = %t) -> tensor<f32, [%n]> {
    %w = add %v, %v : f32
    yield %w
  }
  tensor.store %b, %u : tensor<f32, [%n]>
  return %x
})";
  const Value start = Tensor(types::F32, {3}, {10, 20, 30});
  auto memory = start.memory;
  EXPECT_EQ(Results(Execute(text, {Value::Buffer(memory), Index(2), Index(0)})), "10");
  EXPECT_EQ(PrintValue(Value::Buffer(memory)), "[20, 40, 30]");
  EXPECT_EQ(Results(Execute(text, {Value::Buffer(memory), Index(4), Index(0)})),
            "out of bounds in tensor.load");
  EXPECT_EQ(Results(Execute(text, {Value::Buffer(memory), Index(3), Index(3)})),
            "out of bounds in extract");
}

TEST(Tensors, ThroughBranchesLoopsAndCalls) {
  const std::string text = R"(
func @twice(%n: index, %t: tensor<i32, [%n]>) -> (tensor<i32, [%n]>) {
  %r = map (%x = %t) -> tensor<i32, [%n]> {
    %y = add %x, %x : i32
    yield %y
  }
  return %r
}
func @main(%n: index, %t: tensor<i32, [%n]>, %c: bool) -> (tensor<i32, [%n]>, tensor<i32, [%n]>) {
  %zero = const 0 : index
  %three = const 3 : index
  %r, %s = for %i = %zero to %three step 1 carry (%a = %t, %b = %t) {
    %d = call @twice(%n, %a)
    %e = if %c -> (tensor<i32, [%n]>) {
      %f = call @twice(%n, %d)
      yield %f
    } else {
      yield %b
    }
    yield %e, %d
  }
  return %r, %s
})";
  const Value t = Tensor(types::I32, {2}, {1, 3});
  RunContext context;
  // Dead tensors must not count: each has 8 bytes, and the loop makes six.
  context.limits.memory_bytes = 32;
  EXPECT_EQ(Results(Execute(text, {Index(2), t, Value::Int(types::Bool, 1)}, context)),
            "[64, 192] [32, 96]");
  EXPECT_EQ(Results(Execute(text, {Index(2), t, Value::Int(types::Bool, 0)}, context)),
            "[2, 6] [4, 12]");
  context.limits.memory_bytes = 15;
  EXPECT_EQ(Results(Execute(text, {Index(2), t, Value::Int(types::Bool, 1)}, context)),
            "memory in map");
}

TEST(Tensors, AReturnedArgumentIsACopy) {
  const Value t = Tensor(types::I32, {1}, {5});
  const Outcome outcome =
      Execute("func @main(%t: tensor<i32, [1]>) -> (tensor<i32, [1]>) {\nreturn %t\n}", {t});
  EXPECT_NE(outcome.results[0].memory, t.memory);
  EXPECT_EQ(outcome.results[0], t);
}

TEST(Random, Philox) {
  // Known answers of Philox4x32-10 (Salmon et al., 2011): all zeros, all ones.
  const std::string bits = R"(
func @main(%s: u64, %d: u64, %e: u64) -> (u32, u64) {
  %a = random.bits %s, %d, %e : u32
  %b = random.bits %s, %d, %e : u64
  return %a, %b
})";
  const auto u64 = [](uint64_t v) { return Value::Word(types::U64, v); };
  const Outcome zeros = Execute(bits, {u64(0), u64(0), u64(0)});
  EXPECT_EQ(zeros.results[0].word, 0x6627e8d5u);
  EXPECT_EQ(zeros.results[1].word, 0xe169c58d6627e8d5u);
  const uint64_t ones = ~uint64_t{0};
  EXPECT_EQ(Execute(bits, {u64(ones), u64(ones), u64(ones)}).results[0].word, 0x408f276du);
}

TEST(Random, FillsMeanTheScalarOpOnEachElement) {
  const std::string text = R"(
func @main(%s: u64, %d: u64, %n: index) -> (tensor<f32, [%n, 3]>, tensor<f32, [%n, 3]>) {
  %u = tensor.uniform %s, %d : tensor<f32, [%n, 3]>
  %v = tensor.normal %s, %d : tensor<f32, [%n, 3]>
  return %u, %v
})";
  const std::string scalar = R"(
func @main(%s: u64, %d: u64, %e: u64) -> (f32, f32) {
  %u = random.uniform %s, %d, %e : f32
  %v = random.normal %s, %d, %e : f32
  return %u, %v
})";
  const Value seed = Value::Word(types::U64, 42);
  const Value draw = Value::Word(types::U64, 7);
  const Outcome filled = Execute(text, {seed, draw, Index(2)});
  ASSERT_EQ(filled.results.size(), 2u) << Results(filled);
  for (int64_t e = 0; e < 6; ++e) {
    const Outcome one = Execute(scalar, {seed, draw, Value::Int(types::U64, e)});
    EXPECT_EQ(std::bit_cast<uint32_t>(FloatAt(filled.results[0], e)), one.results[0].word);
    EXPECT_EQ(std::bit_cast<uint32_t>(FloatAt(filled.results[1], e)), one.results[1].word);
  }
}

}  // namespace
}  // namespace frazil::exec
