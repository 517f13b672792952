// Products of a matrix and a vector against the interpreter: sizes around vectors, groups and blocks, 16-bit floats, shared and
// short buffers, and what must not become such a kernel.
#include <fmt/format.h>

#include "ir/text/test_text.h"
#include "targets/native/kernels/match_matvec.h"
#include "targets/native/vectors/test_vectors.h"

namespace frazil::targets::native {
namespace {

using namespace testing;

// What x, w and c hold, and the chain's type; `index` computes %i, where w is read.
std::string Nest(std::string_view x, std::string_view w, std::string_view c, std::string_view chain,
                 std::string_view index) {
  auto loaded = [&](std::string_view name, std::string_view at, std::string_view type) {
    if (type == chain) return fmt::format("%{0}f = load %{0}, %{1} : {2}\n", name, at, type);
    return fmt::format("%{0}_ = load %{0}, %{1} : {2}\n%{0}f = cast %{0}_ : {3}\n", name, at, type,
                       chain);
  };
  const std::string store = c == chain
                                ? fmt::format("store %c, %t, %s : {}\n", c)
                                : fmt::format("%r = cast %s : {0}\nstore %c, %t, %r : {0}\n", c);
  return fmt::format(R"(frz 1
func @main(%n: index, %k: index, %step: index, %x: in buffer<{0}>, %w: in buffer<{1}>, %c: buffer<{2}>) {{
  %zero = const 0 : index
  %start = const 0 : {3}
  parallel %t = %zero to %n {{
    %s = for %e = %zero to %k step 1 carry (%acc = %start) {{
      {4}{5}{6}
      %next = fma %xf, %wf, %acc : {3}
      yield %next
    }}
    {7}
    yield
  }}
  return
}}
)",
                     x, w, c, chain, index, loaded("x", "e", x), loaded("w", "i", w), store);
}

constexpr std::string_view ByColumns = "%r0 = mul %e, %step : index\n%i = add %r0, %t : index\n";
constexpr std::string_view ByRows = "%r0 = mul %t, %step : index\n%i = add %r0, %e : index\n";

Case CaseOf(bool by_rows, int64_t n, int64_t k, int64_t step, uint64_t seed) {
  return {{k, by_rows ? n * step : k * step, n},
          {Index(n), Index(k), Index(step)},
          {},
          seed,
          seed % 3 != 0};
}

struct Types {
  std::string_view x, w, c, chain;
};
constexpr Types All[] = {{"f32", "f32", "f32", "f32"},    {"f64", "f64", "f64", "f64"},
                         {"bf16", "bf16", "bf16", "f32"}, {"f32", "bf16", "f32", "f32"},
                         {"f16", "f16", "f16", "f32"},    {"bf16", "f32", "f32", "f32"}};

TEST(KernelMatvec, Columns) {
  for (const Types& t : All) {
    SCOPED_TRACE(fmt::format("{} {} {}", t.x, t.w, t.c));
    Differential test(Nest(t.x, t.w, t.c, t.chain, ByColumns));
    uint64_t seed = 1;
    for (int64_t n : {1, 2, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48, 65})
      for (int64_t k : {1, 3, 7, 8, 9, 17}) {
        ++seed;
        test.Check(CaseOf(false, n, k, n + static_cast<int64_t>(seed % 3), seed));
      }
  }
}

TEST(KernelMatvec, Rows) {
  for (const Types& t : All) {
    SCOPED_TRACE(fmt::format("{} {} {}", t.x, t.w, t.c));
    Differential test(Nest(t.x, t.w, t.c, t.chain, ByRows));
    uint64_t seed = 1;
    for (int64_t n : {1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 47, 65})
      for (int64_t k : {1, 4, 7, 8, 15, 16, 17, 31, 32, 33, 64, 72}) {
        ++seed;
        test.Check(CaseOf(true, n, k, k + static_cast<int64_t>(seed % 3), seed));
      }
  }
}

// None, sizes below zero, lengths that end early, rows that overlap, and c that is an operand: as the loops have it.
TEST(KernelMatvec, WhatTheTestsRefuse) {
  for (bool by_rows : {false, true}) {
    Differential test(Nest("f32", "f32", "f32", "f32", by_rows ? ByRows : ByColumns));
    for (auto [n, k, step] : {std::tuple{0, 4, 4}, {20, 0, 20}, {-1, 4, 4}, {20, -3, 20}}) {
      Case c = CaseOf(by_rows, n, k, step, 5);
      for (int64_t& length : c.lengths) length = 80;
      test.Check(c);
    }
    test.Check(CaseOf(by_rows, 20, 20, 0, 6));
    test.Check(CaseOf(by_rows, 20, 20, 1, 6));
    for (size_t b = 0; b < 3; ++b)
      for (int64_t less : {1, 17}) {
        Case c = CaseOf(by_rows, 33, 33, 33, 7);
        c.lengths[b] -= less;
        test.Check(c);
      }
    Case same = CaseOf(by_rows, 24, 24, 24, 8);
    same.lengths = {576, 576, 576};
    for (const std::vector<int>& alias :
         {std::vector<int>{-1, 0}, {-1, -1, 0}, {-1, -1, 1}, {-1, 0, 0}}) {
      same.same_as = alias;
      test.Check(same);
    }
  }
}

// Tensors of known and unknown sizes, and more than one output's sums in scratch.
TEST(KernelMatvec, Tensors) {
  for (std::string_view type : {"f32", "f64", "bf16"})
    for (auto [m, k, n] :
         {std::tuple{1, 37, 100}, {1, 9, 16}, {50, 40, 1}, {16, 16, 1}, {1, 1, 3}}) {
      SCOPED_TRACE(fmt::format("{} {}x{}x{}", type, m, k, n));
      Differential test(fmt::format(R"(frz 1
func @main(%x: in buffer<{0}>, %y: in buffer<{0}>, %z: buffer<{0}>) {{
  %a = tensor.load %x : tensor<{0}, [{1}, {2}]>
  %b = tensor.load %y : tensor<{0}, [{2}, {3}]>
  %c = matmul %a, %b : tensor<{0}, [{1}, {3}]>
  tensor.store %z, %c : tensor<{0}, [{1}, {3}]>
  return
}}
)",
                                    type, m, k, n));
      for (uint64_t seed = 1; seed <= 3; ++seed)
        test.Check({{m * k, k * n, m * n}, {}, {}, seed, seed == 1});
    }
}

// A matrix that is widened, turned around or both before: it is read where it is (ir/lower/tensors/lower_tensors_matvec.cpp).
TEST(KernelMatvec, ReadInPlace) {
  const std::string_view widen = R"(
  %f = map (%e = %b) -> tensor<f32, [{0}, {1}]> {{
    %g = cast %e : f32
    yield %g
  }})";
  const std::string_view turn =
      "\n  %u = transpose %{2} {{perm = [1, 0]}} : tensor<f32, [{1}, {0}]>";
  for (bool is_left : {false, true})
    for (bool turns : {false, true})
      for (auto [k, n] : {std::pair{37, 50}, {16, 33}, {3, 2}}) {
        SCOPED_TRACE(fmt::format("{} {} {}x{}", is_left, turns, k, n));
        // The matrix as it is stored: [k, n] to be multiplied from the left as it stands.
        const int64_t rows = turns == is_left ? k : n;
        const int64_t columns = turns == is_left ? n : k;
        std::string made = fmt::format(fmt::runtime(widen), rows, columns);
        if (turns) made += fmt::format(fmt::runtime(turn), rows, columns, "f");
        const std::string_view matrix = turns ? "%u" : "%f";
        const std::string shape = is_left ? fmt::format("[{}, 1]", n) : fmt::format("[1, {}]", n);
        Differential test(fmt::format(
            R"(frz 1
func @main(%x: in buffer<f32>, %y: in buffer<bf16>, %z: buffer<f32>) {{
  %a = tensor.load %x : tensor<f32, {0}>
  %b = tensor.load %y : tensor<bf16, [{1}, {2}]>{3}
  %c = matmul {4}, {5} : tensor<f32, {6}>
  tensor.store %z, %c : tensor<f32, {6}>
  return
}}
)",
            is_left ? fmt::format("[{}, 1]", k) : fmt::format("[1, {}]", k), rows, columns, made,
            is_left ? matrix : "%a", is_left ? "%a" : matrix, shape));
        for (uint64_t seed = 1; seed <= 3; ++seed)
          test.Check({{k, k * n, n}, {}, {}, seed, seed == 1});
      }
}

TEST(MatchMatvec, KnowsWhatIsNone) {
  auto matches = [](const std::string& text) {
    const ir::Program program = Parse(text);
    const ProgramFacts facts = FindFacts(program, false);
    const ir::Function& main = program.entry_function();
    for (const ir::Inst& inst : main.insts)
      if (inst.op == ir::Op::Parallel &&
          MatchMatvec(main, facts.functions[program.entry.index], inst))
        return true;
    return false;
  };
  for (std::string_view index : {ByColumns, ByRows}) {
    const std::string good = Nest("f32", "bf16", "f32", "f32", index);
    EXPECT_TRUE(matches(good));
    auto with = [&](std::string_view from, std::string_view to) {
      std::string text = good;
      EXPECT_NE(text.find(from), std::string::npos) << from;
      text.replace(text.find(from), from.size(), to);
      return text;
    };
    EXPECT_FALSE(matches(with("const 0 : f32", "const -0.0 : f32")));
    EXPECT_FALSE(matches(with("const 0 : f32", "const 1 : f32")));
    EXPECT_FALSE(matches(with("fma %xf, %wf, %acc", "fma %acc, %wf, %xf")));
    EXPECT_FALSE(matches(with("fma %xf, %wf, %acc", "fma %xf, %xf, %acc")));
    EXPECT_FALSE(matches(with("for %e = %zero to %k step 1", "for %e = %zero to %k step 2")));
    EXPECT_FALSE(matches(with("for %e = %zero", "for %e = %t")));
    EXPECT_FALSE(matches(with("load %x, %e", "load %x, %i")));
    EXPECT_FALSE(matches(with("store %c, %t", "store %c, %n")));
  }
}

}  // namespace
}  // namespace frazil::targets::native
