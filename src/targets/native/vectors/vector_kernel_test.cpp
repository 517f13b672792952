// Kernels against the interpreter: matrix products of known and unknown shape around the sizes of tiles and panels,
// reductions around chains and blocks, nests as users write them, and what must not become a kernel.
#include <fmt/format.h>

#include <cmath>

#include "ir/lower/lower.h"
#include "ir/text/test_text.h"
#include "targets/native/kernels/kernel_match.h"
#include "targets/native/vectors/test_vectors.h"

namespace frazil::targets::native {
namespace {

using namespace testing;

// Rows, depth and columns at run time; strides too.
std::string Nest(std::string_view type) {
  return fmt::format(R"(frz 1
func @main(%m: index, %k: index, %n: index, %lda: index, %ldb: index, %ldc: index, %a: in buffer<{0}>, %b: in buffer<{0}>, %c: buffer<{0}>) {{
  %zero = const 0 : index
  %start = const 0 : {0}
  parallel %i = %zero to %m {{
    parallel %j = %zero to %n {{
      %ai = mul %i, %lda : index
      %s = for %e = %zero to %k step 1 carry (%acc = %start) {{
        %p = add %ai, %e : index
        %row = mul %e, %ldb : index
        %q = add %row, %j : index
        %x = load %a, %p : {0}
        %y = load %b, %q : {0}
        %next = fma %x, %y, %acc : {0}
        yield %next
      }}
      %ci = mul %i, %ldc : index
      %o = add %ci, %j : index
      store %c, %o, %s : {0}
      yield
    }}
    yield
  }}
  return
}}
)",
                     type);
}

struct Shape {
  int64_t m, k, n;
  int64_t lda, ldb, ldc;
};

Case CaseOf(const Shape& s, uint64_t seed) {
  return {{std::max<int64_t>(0, s.m * s.lda), std::max<int64_t>(0, s.k * s.ldb),
           std::max<int64_t>(0, s.m * s.ldc)},
          {Index(s.m), Index(s.k), Index(s.n), Index(s.lda), Index(s.ldb), Index(s.ldc)},
          {},
          seed,
          seed % 3 != 0};
}

TEST(KernelMatmul, ShapesAtRunTime) {
  for (std::string_view type : {"f32", "f64"}) {
    SCOPED_TRACE(type);
    Differential test(Nest(type));
    uint64_t seed = 1;
    for (int64_t m : {1, 2, 3, 7, 8, 9, 15})
      for (int64_t n : {1, 7, 16, 17, 47, 48, 49, 70}) {
        const int64_t k = 1 + static_cast<int64_t>(++seed % 9);
        test.Check(CaseOf({m, k, n, k + 2, n + 3, n}, seed));
      }
    // More than one panel of depth, more than one block of columns.
    test.Check(CaseOf({3, 1050, 20, 1050, 20, 20}, 5));
    test.Check(CaseOf({2, 3, 210, 3, 210, 211}, 6));
    // None, a single one, and what the tests before the kernel must refuse: rows of c that overlap, lengths that end
    // early, sizes below zero.
    for (const Shape& s :
         {Shape{0, 4, 4, 4, 4, 4}, Shape{4, 0, 4, 4, 4, 4}, Shape{4, 4, 0, 4, 4, 4},
          Shape{1, 1, 1, 1, 1, 1}, Shape{9, 5, 20, 5, 20, 19}, Shape{9, 5, 20, 5, 20, 0},
          Shape{9, 5, 20, 4, 20, 20}, Shape{-1, 5, 20, 5, 20, 20}, Shape{3, -1, 5, 1, 5, 5}})
      test.Check(CaseOf(s, 7));
    Case same = CaseOf({8, 8, 8, 8, 8, 8}, 8);
    for (const std::vector<int>& alias :
         {std::vector<int>{-1, 0}, {-1, -1, 0}, {-1, -1, 1}, {-1, 0, 0}}) {
      same.same_as = alias;
      test.Check(same);
    }
  }
}

// Above the size that stays in place: b is packed. Judged by chains of our own; the interpreter would take minutes.
TEST(KernelMatmul, PackedPanels) {
  constexpr int64_t M = 40, K = 1100, N = 400;
  for (exec::CpuLevel level : Levels()) {
    if (level == exec::CpuLevel::Baseline) continue;
    for (bool known : {true, false}) {
      const std::string text = known ? fmt::format(R"(frz 1
func @main(%a: tensor<f32, [{0}, {1}]>, %b: tensor<f32, [{1}, {2}]>) -> (tensor<f32, [{0}, {2}]>) {{
  %c = matmul %a, %b : tensor<f32, [{0}, {2}]>
  return %c
}}
)",
                                                   M, K, N)
                                     : R"(frz 1
func @main(%m: index, %k: index, %n: index, %a: tensor<f32, [%m, %k]>, %b: tensor<f32, [%k, %n]>) -> (tensor<f32, [%m, %n]>) {
  %c = matmul %a, %b : tensor<f32, [%m, %n]>
  return %c
}
)";
      NativeOptions options;
      options.level = level;
      auto target = MakeNativeTarget(options);
      auto artifact = target->Emit(Parse(text));
      ASSERT_TRUE(artifact.has_value());
      auto callable = target->Load(*artifact);
      ASSERT_TRUE(callable.has_value());
      std::mt19937_64 random(3);
      auto tensor = [&](int64_t rows, int64_t columns) {
        auto memory = std::make_shared<exec::Memory>(ir::types::F32, rows * columns);
        Fill(*memory, random, true);
        return exec::Value::Tensor(memory, {rows, columns});
      };
      std::vector<exec::Value> arguments;
      if (!known) arguments = {Index(M), Index(K), Index(N)};
      const exec::Value a = tensor(M, K);
      const exec::Value b = tensor(K, N);
      arguments.push_back(a);
      arguments.push_back(b);
      for (uint64_t memory : {uint64_t{1} << 30, uint64_t{M * N * 4}}) {
        exec::RunContext context;
        context.limits.memory_bytes = memory;  // the second: no room for packing, and no trap
        auto outcome = (*callable)->Run(arguments, context);
        ASSERT_TRUE(outcome.has_value()) << outcome.error().ToString();
        ASSERT_FALSE(outcome->trap.has_value()) << outcome->trap->ToString();
        const auto* x = reinterpret_cast<const float*>(a.memory->data());
        const auto* y = reinterpret_cast<const float*>(b.memory->data());
        const auto* z = reinterpret_cast<const float*>(outcome->results[0].memory->data());
        for (int64_t i = 0; i < M; i += 13)
          for (int64_t j = 0; j < N; ++j) {
            float sum = 0;
            for (int64_t k = 0; k < K; ++k) sum = std::fma(x[i * K + k], y[k * N + j], sum);
            ASSERT_EQ(sum, z[i * N + j]) << exec::CpuLevelName(level) << " " << i << " " << j;
          }
      }
    }
  }
}

TEST(KernelMatmul, KnownShapes) {
  std::mt19937_64 random(11);
  for (std::string_view type : {"f32", "f64"})
    for (auto [m, k, n] : {std::tuple{4, 4, 4},
                           {8, 8, 8},
                           {5, 3, 33},
                           {17, 17, 17},
                           {13, 9, 64},
                           {3, 20, 100},
                           {2, 2, 49},
                           {25, 4, 1},
                           {1, 6, 30},
                           {16, 5, 24}}) {
      SCOPED_TRACE(fmt::format("{} {}x{}x{}", type, m, k, n));
      const std::string text = fmt::format(R"(frz 1
func @main(%x: in buffer<{0}>, %y: in buffer<{0}>, %z: buffer<{0}>) {{
  %a = tensor.load %x : tensor<{0}, [{1}, {2}]>
  %b = tensor.load %y : tensor<{0}, [{2}, {3}]>
  %c = matmul %a, %b : tensor<{0}, [{1}, {3}]>
  tensor.store %z, %c : tensor<{0}, [{1}, {3}]>
  return
}}
)",
                                           type, m, k, n);
      Differential test(text);
      for (uint64_t seed = 1; seed <= 3; ++seed)
        test.Check({{m * k, k * n, m * n}, {}, {}, seed, seed == 1});
    }
}

TEST(KernelRows, ReductionsAroundChainsAndBlocks) {
  for (auto [type, kind] : {std::pair{"f32", "sum"},
                            {"f32", "min"},
                            {"f32", "maximum"},
                            {"f64", "sum"},
                            {"f64", "product"},
                            {"i32", "sum"},
                            {"i64", "max"},
                            {"u32", "xor"},
                            {"f16", "sum"},
                            {"field", "sum"}}) {
    SCOPED_TRACE(fmt::format("{} {}", type, kind));
    const std::string text = fmt::format(R"(frz 1
func @main(%n: index, %x: in buffer<{0}>, %z: buffer<{0}>) {{
  %t = tensor.load %x : tensor<{0}, [%n]>
  %s = reduce %t {{kind = {1}, axis = 0, chains = 64, block = 4096}} : tensor<{0}, []>
  tensor.store %z, %s : tensor<{0}, []>
  return
}}
)",
                                         type, kind);
    Differential test(text);
    for (int64_t n :
         {0, 1, 2, 31, 63, 64, 65, 127, 128, 129, 200, 4095, 4096, 4097, 4160, 8192, 12289})
      test.Check({{n, 1}, {Index(n)}, {}, static_cast<uint64_t>(n + 1), n % 2 == 0});
  }
}

TEST(KernelRows, RowsAsUsersWriteThem) {
  const std::string text =
      ir::MainText("%lo: index, %hi: index, %x: in buffer<f32>, %t: buffer<f32>",
                   R"(
  %zero = const 0 : index
  %w = const 16 : index
  for %row = %lo to %hi step 16 {
    %left = sub %hi, %row : index
    %width = min %left, %w : index
    parallel %i = %zero to %width {
)" +
                       ir::OwnElements("f32", {"t"}, R"(
      %at = add %row, %i : index
      %e = load %x, %at : f32
      %r = add %e, %ti : f32
)",
                                       "t") +
                       "yield\n}\nyield\n}\n");
  Differential test(text);
  for (int64_t lo : {0, 3, 16})
    for (int64_t n : {0, 1, 15, 16, 17, 64, 65, 100, 160}) {
      test.Check({{lo + n, 16}, {Index(lo), Index(lo + n)}, {}, 3});
      test.Check({{lo + n, 15}, {Index(lo), Index(lo + n)}, {}, 3});
      test.Check({{lo + n + 16, 16}, {Index(lo), Index(lo + n)}, {-1, 0}, 3});
    }
  test.Check({{50, 16}, {Index(-5), Index(40)}, {}, 3});
  test.Check({{50, 16}, {Index(0), Index(70)}, {}, 3});
}

TEST(KernelMatch, KnowsWhatIsNoProduct) {
  auto matches = [](const std::string& text) {
    const ir::Program program = Parse(text);
    const ProgramFacts facts = FindFacts(program, false);
    const ir::Function& main = program.entry_function();
    bool found = false;
    for (const ir::Inst& inst : main.insts)
      if (inst.op == ir::Op::Parallel)
        found = found || MatchMatmul({program, facts, program.entry, false,
                                      [](ir::Op, ir::Type, ir::Type) { return true; }},
                                     inst)
                             .has_value();
    return found;
  };
  const std::string good = Nest("f32");
  EXPECT_TRUE(matches(good));
  auto with = [&](std::string_view from, std::string_view to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  EXPECT_FALSE(matches(with("const 0 : f32", "const -0.0 : f32")));
  EXPECT_FALSE(matches(with("const 0 : f32", "const 1 : f32")));
  EXPECT_FALSE(matches(with("fma %x, %y, %acc", "fma %acc, %y, %x")));
  EXPECT_FALSE(matches(with("for %e = %zero to %k step 1", "for %e = %zero to %k step 2")));
  EXPECT_FALSE(matches(with("add %row, %j", "add %row, %row")));
  EXPECT_FALSE(matches(with("%o = add %ci, %j", "%o = add %ci, %i")));
  EXPECT_FALSE(matches(with("for %e = %zero", "for %e = %j")));
}

}  // namespace
}  // namespace frazil::targets::native
