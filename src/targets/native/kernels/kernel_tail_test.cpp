// Products with something behind their chains, against the interpreter at every level.
#include <fmt/format.h>

#include "targets/native/vectors/test_vectors.h"

namespace frazil::targets::native {
namespace {

using namespace testing;

// c[i, j] = tail of the sum %s; buffers a, b, bias [n], res [m, n], row [m], c, d [m, n].
std::string Nest(std::string_view type, std::string_view tail, std::string_view out = "") {
  return fmt::format(R"(frz 1
func @main(%m: index, %n: index, %k: index, %a: in buffer<{0}>, %b: in buffer<{0}>, %bias: in buffer<{0}>,
           %res: in buffer<{0}>, %row: in buffer<{0}>, %c: buffer<{1}>, %d: buffer<{0}>) {{
  %zero = const 0 : index
  parallel %i = %zero to %m {{
    parallel %j = %zero to %n {{
      %none = const 0 : {0}
      %ai = mul %i, %k : index
      %s = for %e = %zero to %k step 1 carry (%acc = %none) {{
        %ax = add %ai, %e : index
        %x = load %a, %ax : {0}
        %bi = mul %e, %n : index
        %bx = add %bi, %j : index
        %y = load %b, %bx : {0}
        %f = fma %x, %y, %acc : {0}
        yield %f
      }}
      %in = mul %i, %n : index
      %o = add %in, %j : index
      {2}
      yield
    }}
    yield
  }}
  return
}}
)",
                     type, out.empty() ? type : out, tail);
}

struct Tail {
  std::string_view name, text, out = "";
};
constexpr Tail Tails[] = {
    {"bias", "%v = load %bias, %j : f32\n%t = add %s, %v : f32\nstore %c, %o, %t : f32"},
    {"bias and relu",
     "%v = load %bias, %j : f32\n%t = add %s, %v : f32\n%r = max %t, %none : f32\nstore %c, %o, %r "
     ": f32"},
    {"bias and residual",
     "%v = load %bias, %j : f32\n%w = load %res, %o : f32\n%t = add %s, %v : f32\n%r = add %w, %t "
     ": "
     "f32\nstore %c, %o, %r : f32"},
    {"a scale for each row",
     "%v = load %row, %i : f32\n%t = mul %v, %s : f32\nstore %c, %o, %t : f32"},
    {"one number", "%v = load %bias, %zero : f32\n%t = mul %v, %s : f32\nstore %c, %o, %t : f32"},
    {"only half of it",
     "%half = lt %i, %j : index\n%t = select %half, %s, %none : f32\nstore %c, %o, %t : f32"},
    {"bits that are moved",
     "%w = load %res, %o : f32\n%half = lt %s, %w : f32\n%t = select %half, %s, %w : f32\nstore "
     "%c, "
     "%o, %t : f32"},
    {"two results",
     "%w = load %res, %o : f32\n%t = sub %s, %w : f32\nstore %c, %o, %s : f32\nstore %d, %o, %t : "
     "f32"},
    {"a branch",
     "%v = load %bias, %j : f32\n%p = lt %v, %none : f32\n%t = if %p -> (f32) {\n%q = mul %s, %v : "
     "f32\nyield %q\n} else {\nyield %s\n}\nstore %c, %o, %t : f32"},
    {"gelu",
     "%v = load %bias, %j : f32\n%t = add %s, %v : f32\n%r = gelu %t : f32\nstore %c, %o, %r "
     ": f32"},
    {"exp.fast and residual",
     "%w = load %res, %o : f32\n%t = exp.fast %s : f32\n%r = sub %t, %w : f32\nstore %c, %o, %r : "
     "f32"},
    {"bf16", "%t = cast %s : bf16\nstore %c, %o, %t : bf16", "bf16"},
    {"bits", "%t = bitcast %s : i32\nstore %c, %o, %t : i32", "i32"},
};

Case Sizes(int64_t m, int64_t n, int64_t k, uint64_t seed) {
  return {{m * k, k * n, n, m * n, m, m * n, m * n},
          {Index(m), Index(n), Index(k)},
          {},
          seed,
          seed % 3 != 0};
}

void CheckSizes(const Differential& test) {
  uint64_t seed = 1;
  for (auto [m, n, k] : {std::tuple{0, 3, 2},
                         {1, 1, 1},
                         {3, 5, 0},
                         {7, 15, 3},
                         {6, 64, 8},
                         {13, 65, 17},
                         {40, 130, 33},
                         {5, 200, 20}})
    test.Check(Sizes(m, n, k, ++seed));
}

// More depth than a panel has: sums wait where there is a place for them.
void CheckPanels(const Differential& test, const Tail& tail) {
  for (int64_t k : {1024, 1025, 2100}) {
    Case c = Sizes(7, 37, k, static_cast<uint64_t>(k));
    test.Check(c);
    c.plain = true;
    test.Check(c);
    if (!tail.out.empty()) continue;
    c.same_as = {-1, -1, -1, -1, -1, 3};
    test.Check(c);
  }
}

// Whatever the output is the same as.
void CheckAliases(const Differential& test) {
  uint64_t seed = 1;
  for (auto [m, n, k] : {std::tuple{20, 20, 20}, {9, 65, 9}})
    for (int buffer = 0; buffer < 5; ++buffer) {
      Case c = Sizes(m, n, k, ++seed);
      // All as long as the output.
      for (int64_t& length : c.lengths) length = std::max<int64_t>(length, m * n);
      c.same_as = {-1, -1, -1, -1, -1, buffer};
      test.Check(c);
      c.same_as = {-1, -1, -1, -1, -1, -1, buffer};
      test.Check(c);
      c.same_as = {-1, -1, -1, -1, -1, buffer, buffer};
      test.Check(c);
    }
}

// One element too few, in each buffer: the same trap at the same place.
void CheckBounds(const Differential& test) {
  for (size_t buffer = 0; buffer < 7; ++buffer) {
    Case c = Sizes(9, 33, 5, buffer + 1);
    c.lengths[buffer] -= 1;
    test.Check(c);
  }
}

TEST(KernelTail, EveryKind) {
  for (const Tail& tail : Tails) {
    SCOPED_TRACE(tail.name);
    const Differential test(Nest("f32", tail.text, tail.out));
    CheckSizes(test);
    CheckPanels(test, tail);
    CheckBounds(test);
    if (tail.out.empty()) CheckAliases(test);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

// Products of tensors, of shapes that are known or not, in batches, with what is made of them in `generate` or `map`.
std::string Tensors(std::string_view sizes, std::string_view batch, std::string_view m,
                    std::string_view n, std::string_view k, std::string_view made) {
  return fmt::format(R"(frz 1
func @main({0}%x: in buffer<f32>, %y: in buffer<f32>, %v: in buffer<f32>, %w: in buffer<f32>, %z: buffer<f32>) {{
  %none = const 0 : f32
  %a = tensor.load %x : tensor<f32, [{1}{2}, {4}]>
  %b = tensor.load %y : tensor<f32, [{1}{4}, {3}]>
  %bias = tensor.load %v : tensor<f32, [{3}]>
  %res = tensor.load %w : tensor<f32, [{1}{2}, {3}]>
  %c = matmul %a, %b : tensor<f32, [{1}{2}, {3}]>
  {5}
  tensor.store %z, %o : tensor<f32, [{1}{2}, {3}]>
  return
}}
)",
                     sizes, batch, m, n, k, made);
}

TEST(KernelTail, Tensors) {
  const std::string flat = R"(%o = generate (%i, %j) -> (tensor<f32, [M, N]>) {
    %s = extract %c, %i, %j : f32
    %p = extract %bias, %j : f32
    %t = add %s, %p : f32
    %q = extract %res, %i, %j : f32
    %u = add %t, %q : f32
    %again = extract %c, %i, %j : f32
    %r = max %u, %again : f32
    yield %r
  })";
  const std::string batches = R"(%o = generate (%h, %i, %j) -> (tensor<f32, [3, M, N]>) {
    %q = extract %res, %h, %i, %j : f32
    %s = extract %c, %h, %i, %j : f32
    %p = extract %bias, %j : f32
    %t = mul %s, %p : f32
    %r = sub %t, %q : f32
    yield %r
  })";
  const std::string map = R"(%o = map (%p = %res, %s = %c, %q = %c) -> tensor<f32, [M, N]> {
    %t = sub %s, %p : f32
    %r = mul %t, %q : f32
    yield %r
  })";
  const auto with = [](std::string text, std::string_view m, std::string_view n) {
    for (auto [name, value] : {std::pair{std::string_view("M,"), m}, {"N]", n}})
      for (size_t at = text.find(name); at != std::string::npos; at = text.find(name))
        text.replace(at, 1, value);
    return text;
  };
  for (const auto& [made, count] : {std::pair{flat, 1}, {batches, 3}, {map, 1}}) {
    const std::string batch = count == 3 ? "3, " : "";
    const auto lengths = [&](int64_t m, int64_t n, int64_t k) {
      return std::vector<int64_t>{count * m * k, count * k * n, n, count * m * n, count * m * n};
    };
    Differential open(Tensors("%m: index, %n: index, %k: index, ", batch, "%m", "%n", "%k",
                              with(made, "%m", "%n")));
    for (auto [m, n, k] : {std::tuple{5, 33, 7}, {1, 64, 3}, {8, 8, 0}, {0, 4, 4}, {13, 70, 1030}})
      open.Check({lengths(m, n, k), {Index(m), Index(n), Index(k)}, {}, 3, k > 9});
    Differential known(Tensors("", batch, "9", "40", "5", with(made, "9", "40")));
    known.Check({lengths(9, 40, 5), {}, {}, 4, false});
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(KernelTail, F64) {
  for (std::string_view tail :
       {"%v = load %bias, %j : f64\n%t = add %s, %v : f64\nstore %c, %o, %t : f64",
        "%w = load %res, %o : f64\n%t = exp %s : f64\n%r = add %t, %w : f64\nstore %c, %o, %r : "
        "f64"}) {
    Differential test(Nest("f64", tail));
    for (auto [m, n, k] : {std::tuple{13, 35, 17}, {6, 64, 8}}) test.Check(Sizes(m, n, k, 5));
  }
}

// f16 and bf16 have chains of f32, which are rounded once.
TEST(KernelTail, Halves) {
  for (std::string_view type : {"bf16", "f16"})
    for (std::string_view known : {"", "9, 40, 5"}) {
      SCOPED_TRACE(fmt::format("{} {}", type, known));
      const bool is_open = known.empty();
      const std::string text =
          fmt::format(R"(frz 1
func @main({1}%x: in buffer<{0}>, %y: in buffer<{0}>, %w: in buffer<{0}>, %z: buffer<{0}>) {{
  %a = tensor.load %x : tensor<{0}, [{2}, {4}]>
  %b = tensor.load %y : tensor<{0}, [{4}, {3}]>
  %res = tensor.load %w : tensor<{0}, [{2}, {3}]>
  %c = matmul %a, %b : tensor<{0}, [{2}, {3}]>
  %o = map (%s = %c, %p = %res) -> tensor<{0}, [{2}, {3}]> {{
    %r = add %s, %p : {0}
    yield %r
  }}
  tensor.store %z, %o : tensor<{0}, [{2}, {3}]>
  return
}}
)",
                      type, is_open ? "%m: index, %n: index, %k: index, " : "",
                      is_open ? "%m" : "9", is_open ? "%n" : "40", is_open ? "%k" : "5");
      Differential test(text);
      const auto lengths = [](int64_t m, int64_t n, int64_t k) {
        return std::vector<int64_t>{m * k, k * n, m * n, m * n};
      };
      if (!is_open) {
        for (uint64_t seed : {1, 2, 3}) test.Check({lengths(9, 40, 5), {}, {}, seed});
        continue;
      }
      for (auto [m, n, k] :
           {std::tuple{5, 33, 7}, {1, 64, 3}, {8, 8, 0}, {40, 70, 9}, {7, 70, 1100}})
        test.Check(
            {lengths(m, n, k), {Index(m), Index(n), Index(k)}, {}, static_cast<uint64_t>(m)});
      NativeOptions options;
      Result<std::string> llvm = EmitLlvm(Parse(text), options);
      ASSERT_TRUE(llvm);
      EXPECT_NE(llvm->find("a nest in registers"), std::string::npos);
      if (::testing::Test::HasFatalFailure()) return;
    }
}

TEST(KernelTail, IsTakenByTheKernel) {
  for (const Tail& tail : Tails) {
    NativeOptions options;
    options.level = exec::CpuLevel::Avx512;
    Result<std::string> llvm = EmitLlvm(Parse(Nest("f32", tail.text, tail.out)), options);
    ASSERT_TRUE(llvm);
    EXPECT_NE(llvm->find("a nest in registers"), std::string::npos) << tail.name;
    EXPECT_EQ(llvm->find("iterations at a time"), std::string::npos) << tail.name;
  }
}

}  // namespace
}  // namespace frazil::targets::native
