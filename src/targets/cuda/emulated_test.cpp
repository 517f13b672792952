// Kernels as the GPU would run them, on this machine (test_gpu.h), against the interpreter, bit for bit.
#include <gtest/gtest.h>

#include <random>

#include "exec/meaning/interpreter.h"
#include "ir/text/text.h"
#include "targets/cuda/cuda.h"
#include "targets/cuda/driver/callable.h"
#include "targets/cuda/test_gpu.h"

namespace frazil::targets::cuda {
namespace {

using exec::Value;

class Emulated : public testing::Test {
 protected:
  void SetUp() override {
    if (!test_gpu::IsThere()) GTEST_SKIP() << "clang-22 compiles the kernels, and is not there";
    test_driver::Get().compile = test_gpu::Compile;
  }
  void TearDown() override { test_driver::Get().compile = {}; }

  static ir::Program Parse(const std::string& text) {
    auto program = ir::ParseText("frz 1\n" + text);
    EXPECT_TRUE(program) << program.error().ToString();
    return program ? std::move(*program) : ir::Program();
  }

  void Load(const std::string& text, const PtxOptions& options = {}) {
    program_ = Parse(text);
    auto module = EmitPtx(program_, options);
    ASSERT_TRUE(module) << module.error().ToString();
    kinds_.clear();
    for (const PtxStep& step : module->steps) kinds_.push_back(step.kind);
    auto llvm = EmitPtxLlvm(program_, options);
    ASSERT_TRUE(llvm) << llvm.error().ToString();
    module->text = *llvm;
    auto device = Device::Open("");
    ASSERT_TRUE(device);
    auto callable = MakeCudaCallable(*device, std::move(*module));
    ASSERT_TRUE(callable) << callable.error().ToString();
    callable_ = std::move(*callable);
  }

  // Ordinary numbers, and now and then one that is special; `wild`: often.
  Value Tensor(ir::Type type, std::vector<int64_t> dims, bool wild) {
    int64_t count = 1;
    for (int64_t dim : dims) count *= dim;
    auto memory = std::make_shared<exec::Memory>(type, count);
    const uint64_t specials[] = {0x7fc00000, 0x7f800001, 0xffc12345, 0x80000000, 0,
                                 0x7f800000, 0xff800000, 1,          0x80000001, 0x7f7fffff,
                                 0xbf800000, 0x1e3ce508, 0x9e3ce508};
    for (int64_t i = 0; i < count; ++i) {
      float value = std::uniform_real_distribution<float>(-2, 2)(random_);
      uint32_t bits;
      std::memcpy(&bits, &value, 4);
      if (random_() % (wild ? 5 : 4000) == 0)
        bits = static_cast<uint32_t>(specials[random_() % std::size(specials)]);
      const uint64_t word = bits;
      memory->Set(i, std::span(&word, 1));
    }
    return Value::Tensor(memory, dims);
  }

  void Check(const std::vector<Value>& arguments, const std::string& what) {
    const auto theirs = exec::CopyValues(arguments), ours = exec::CopyValues(arguments);
    auto expected = exec::Interpret(program_, theirs);
    ASSERT_TRUE(expected);
    auto outcome = callable_->Run(ours, {});
    ASSERT_TRUE(outcome) << what << outcome.error().ToString();
    ASSERT_EQ(expected->trap.has_value(), outcome->trap.has_value()) << what;
    for (size_t i = 0; i < ours.size(); ++i) {
      expected->results.push_back(theirs[i]);
      outcome->results.push_back(ours[i]);
    }
    ASSERT_EQ(expected->results.size(), outcome->results.size());
    for (size_t r = 0; r < expected->results.size(); ++r) {
      const Value &a = expected->results[r], &b = outcome->results[r];
      if (!a.memory) {
        EXPECT_EQ(a.word, b.word) << what;
        continue;
      }
      ASSERT_EQ(a.memory->size_bytes(), b.memory->size_bytes());
      if (std::memcmp(a.memory->data(), b.memory->data(), a.memory->size_bytes()) == 0) continue;
      int shown = 0;
      for (int64_t i = 0; i < a.memory->length() && shown < 5; ++i) {
        uint64_t x[8] = {}, y[8] = {};
        a.memory->Get(i, x);
        b.memory->Get(i, y);
        if (x[0] != y[0] && ++shown)
          ADD_FAILURE() << what << " result " << r << " element " << i << ": " << std::hex << x[0]
                        << " but is " << y[0];
      }
    }
  }

  ir::Program program_;
  std::vector<StepKind> kinds_;
  std::unique_ptr<exec::Callable> callable_;
  std::mt19937_64 random_{5};
};

Value Index(int64_t n) { return Value::Int(ir::types::Index, n); }

constexpr const char* Matmul =
    R"(func @main(%m: index, %k: index, %n: index, %a: tensor<f32, [%m, %k]>, %b: tensor<f32, [%k, %n]>) -> (tensor<f32, [%m, %n]>) {
  %r = matmul %a, %b : tensor<f32, [%m, %n]>
  return %r
}
)";

TEST_F(Emulated, ProductsOfMatrices) {
  Load(Matmul);
  EXPECT_EQ(kinds_, std::vector{StepKind::Tiles});
  const int64_t sizes[][3] = {{1, 1, 1},      {4, 4, 4},    {128, 16, 128}, {128, 64, 128},
                              {130, 20, 132}, {7, 33, 129}, {5, 0, 3},      {0, 4, 4}};
  for (const auto& [m, k, n] : sizes)
    for (const bool wild : {false, true})
      Check({Index(m), Index(k), Index(n), Tensor(ir::types::F32, {m, k}, wild),
             Tensor(ir::types::F32, {k, n}, wild)},
            std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n));
}

// What is made of each element behind its chain; columns of b one behind the other; more of a than is there.
TEST_F(Emulated, ProductsWithATail) {
  Load(
      R"(func @main(%m: index, %k: index, %n: index, %a: in buffer<f32>, %b: in buffer<f32>, %t: in buffer<f32>, %c: buffer<f32>) {
  %zero = const 0 : index
  %none = const 0 : f32
  parallel %i = %zero to %m {
    parallel %j = %zero to %n {
      %acc = for %p = %zero to %k step 1 carry (%s = %none) {
        %ar = mul %i, %k : index
        %ai = add %ar, %p : index
        %x = load %a, %ai : f32
        %br = mul %j, %k : index
        %bi = add %br, %p : index
        %y = load %b, %bi : f32
        %next = fma %x, %y, %s : f32
        yield %next
      }
      %bias = load %t, %j : f32
      %u = add %acc, %bias : f32
      %v = max %u, %none : f32
      %cr = mul %i, %n : index
      %ci = add %cr, %j : index
      store %c, %ci, %v : f32
      yield
    }
    yield
  }
  return
}
)");
  ASSERT_EQ(kinds_, std::vector{StepKind::Tiles});
  const auto buffer = [&](int64_t length) {
    return Value::Buffer(Tensor(ir::types::F32, {length}, true).memory);
  };
  for (const int64_t missing : {0, 1})
    for (const int64_t n : {3, 132})
      Check({Index(5), Index(36), Index(n), buffer(5 * 36 - missing), buffer(36 * n), buffer(n),
             buffer(5 * n)},
            std::to_string(n));
}

constexpr const char* Softmax =
    R"(func @main(%m: index, %n: index, %a: tensor<f32, [%m, %n]>) -> (tensor<f32, [%m, %n]>) {
  %r = generate (%0) -> (tensor<f32, [%m, %n]>) {
    %1 = fold max %2 to %n chains 64 block 4096 -> f32 {
      %3 = extract %a, %0, %2 : f32
      yield %3
    }
    %4 = generate (%5) -> (tensor<f32, [%n]>) {
      %6 = extract %a, %0, %5 : f32
      %d = sub %6, %1 : f32
      %q = exp.fast %d : f32
      yield %q
    }
    %7 = fold sum %8 to %n chains 64 block 4096 -> f32 {
      %9 = extract %4, %8 : f32
      yield %9
    }
    %10 = generate (%11) -> (tensor<f32, [%n]>) {
      %12 = extract %4, %11 : f32
      %q = div %12, %7 : f32
      yield %q
    }
    yield %10
  }
  return %r
}
)";

TEST_F(Emulated, SoftmaxOfRows) {
  Load(Softmax);
  ASSERT_EQ(kinds_, std::vector{StepKind::Rows});
  const int64_t sizes[][2] = {{1, 1},    {3, 2},    {5, 3},     {37, 64},  {4, 63},   {3, 65},
                              {9, 128},  {7, 100},  {3, 768},   {2, 1000}, {1, 1028}, {2, 4096},
                              {1, 4100}, {1, 4097}, {1, 12300}, {0, 5},    {5, 0},    {2, 70000}};
  for (const auto& [m, n] : sizes)
    for (const bool wild : {false, true})
      Check({Index(m), Index(n), Tensor(ir::types::F32, {m, n}, wild)},
            std::to_string(m) + "x" + std::to_string(n));
}

constexpr const char* LayerNorm =
    R"(func @main(%m: index, %n: index, %a: tensor<f32, [%m, %n]>, %g: tensor<f32, [%n]>, %b: tensor<f32, [%n]>) -> (tensor<f32, [%m, %n]>, tensor<f32, [%m]>) {
  %count = cast %n : f32
  %one = const 1 : f32
  %r, %s = generate (%i) -> (tensor<f32, [%m, %n]>, tensor<f32, [%m]>) {
    %sum = fold sum %j to %n chains 64 block 4096 -> f32 {
      %x = extract %a, %i, %j : f32
      yield %x
    }
    %mean = div %sum, %count : f32
    %squares = fold sum %j to %n chains 64 block 4096 -> f32 {
      %x = extract %a, %i, %j : f32
      %d = sub %x, %mean : f32
      %q = mul %d, %d : f32
      yield %q
    }
    %root = sqrt %squares : f32
    %scale = div %one, %root : f32
    %row = generate (%j) -> (tensor<f32, [%n]>) {
      %x = extract %a, %i, %j : f32
      %d = sub %x, %mean : f32
      %t = mul %d, %scale : f32
      %gj = extract %g, %j : f32
      %bj = extract %b, %j : f32
      %u = mul %t, %gj : f32
      %q = add %u, %bj : f32
      yield %q
    }
    yield %row, %scale
  }
  return %r, %s
}
)";

TEST_F(Emulated, LayerNormOfRows) {
  Load(LayerNorm);
  ASSERT_EQ(kinds_, std::vector{StepKind::Rows});
  const int64_t sizes[][2] = {{1, 1}, {3, 7}, {5, 64}, {4, 132}, {2, 1001}, {3, 4096}, {2, 9000}};
  for (const auto& [m, n] : sizes)
    for (const bool wild : {false, true})
      Check({Index(m), Index(n), Tensor(ir::types::F32, {m, n}, wild),
             Tensor(ir::types::F32, {n}, wild), Tensor(ir::types::F32, {n}, wild)},
            std::to_string(m) + "x" + std::to_string(n));
}

// The row itself is handed on: what is kept must have its bits.
TEST_F(Emulated, FoldsOfAllKinds) {
  for (const char* kind : {"product", "min", "maximum"}) {
    Load(
        std::string(
            R"(func @main(%m: index, %n: index, %a: tensor<f32, [%m, %n]>) -> (tensor<f32, [%m, %n]>, tensor<f32, [%m]>) {
  %r, %s = generate (%i) -> (tensor<f32, [%m, %n]>, tensor<f32, [%m]>) {
    %one = fold )") +
        kind + R"( %j to %n chains 64 block 4096 -> f32 {
      %x = extract %a, %i, %j : f32
      yield %x
    }
    %e = generate (%j) -> (tensor<f32, [%n]>) {
      %x = extract %a, %i, %j : f32
      %q = add %x, %one : f32
      yield %q
    }
    %two = fold )" +
        kind + R"( %j to %n chains 64 block 4096 -> f32 {
      %x = extract %e, %j : f32
      yield %x
    }
    %row = generate (%j) -> (tensor<f32, [%n]>) {
      %x = extract %e, %j : f32
      %y = extract %a, %i, %j : f32
      %c = lt %x, %two : f32
      %q = select %c, %x, %y : f32
      yield %q
    }
    yield %row, %two
  }
  return %r, %s
}
)");
    ASSERT_EQ(kinds_, std::vector{StepKind::Rows}) << kind;
    const int64_t sizes[][2] = {{3, 1}, {9, 64}, {1, 67}, {3, 160}, {1, 4164}};
    for (const auto& [m, n] : sizes)
      for (const bool wild : {false, true})
        Check({Index(m), Index(n), Tensor(ir::types::F32, {m, n}, wild)},
              std::string(kind) + " " + std::to_string(m) + "x" + std::to_string(n));
  }
}

TEST_F(Emulated, RowsOfAReduction) {
  Load(R"(func @main(%m: index, %n: index, %a: tensor<f64, [%m, %n]>) -> (tensor<f64, [%m]>) {
  %r = reduce %a {kind = sum, axis = 1, chains = 64, block = 4096} : tensor<f64, [%m]>
  return %r
}
)");
  ASSERT_EQ(kinds_, std::vector{StepKind::Rows});
  for (const int64_t n : {1, 65, 128, 700, 5000})
    Check({Index(3), Index(n), Tensor(ir::types::F64, {3, n}, true)}, std::to_string(n));
}

}  // namespace
}  // namespace frazil::targets::cuda
