// A product with scales, transposes and a sum behind it, as kernels write it, against the interpreter at every level.
#include <fmt/format.h>

#include "targets/native/vectors/test_vectors.h"

namespace frazil::targets::native {
namespace {

using namespace testing;

// The element of a matrix that lies two products behind its start.
std::string ElementOf(std::string_view matrix, std::string_view first, std::string_view second) {
  return fmt::format(R"(
        %{0}first = mul {1} : index
        %{0}second = mul {2} : index
        %{0}i = add %{0}first, %{0}second : index
        %{0}v = load %{0}, %{0}i : f32
)",
                     matrix, first, second);
}

const std::string FullGemm = R"(frz 1
func @gemm(%a: in buffer<f32>, %b: in buffer<f32>, %c: in buffer<f32>, %y: buffer<f32>, %m: u32, %n: u32, %k: u32, %alpha: f32,
           %beta: f32, %transa: u32, %transb: u32) {
  %zero = const 0 : index
  %rows = cast %m : index
  %columns = cast %n : index
  parallel %row = %zero to %rows {
    parallel %column = %zero to %columns {
      %u0 = const 0 : u32
      %one = const 1 : index
      %ki = cast %k : index
      %mi = cast %m : index
      %ni = cast %n : index
      %ta = eq %transa, %u0 : u32
      %tb = eq %transb, %u0 : u32
      %arow = select %ta, %ki, %one : index
      %astep = select %ta, %one, %mi : index
      %bstep = select %tb, %ni, %one : index
      %bcol = select %tb, %one, %ki : index
      %none = const 0 : f32
      %depth = cast %k : index
      %total = for %p = %zero to %depth step 1 carry (%t = %none) {
)" + ElementOf("a", "%row, %arow", "%p, %astep") +
                             ElementOf("b", "%p, %bstep", "%column, %bcol") + R"(
        %s = fma %av, %bv, %t : f32
        yield %s
      }
      %scaled = mul %alpha, %total : f32
      %some = ne %beta, %none : f32
      %result = if %some -> (f32) {
        %n1 = cast %n : index
        %cr = mul %row, %n1 : index
        %ci = add %cr, %column : index
        %cv = load %c, %ci : f32
        %f = fma %beta, %cv, %scaled : f32
        yield %f
      } else {
        yield %scaled
      }
      %n2 = cast %n : index
      %yr = mul %row, %n2 : index
      %yi = add %yr, %column : index
      store %y, %yi, %result : f32
      yield
    }
    yield
  }
  return
}
)";

struct Sizes {
  int64_t m, n, k;
};

TEST(SplitProduct, BecomesTheKernel) {
  NativeOptions options;
  options.level = exec::CpuLevel::Avx512;
  Result<std::string> llvm = EmitLlvm(Parse(FullGemm), options);
  ASSERT_TRUE(llvm);
  EXPECT_NE(llvm->find("a nest in registers"), std::string::npos);
}

TEST(SplitProduct, EveryForm) {
  Differential test(FullGemm);
  uint64_t seed = 1;
  for (Sizes s : {Sizes{1, 1, 1}, {3, 5, 0}, {17, 19, 23}, {40, 50, 33}, {8, 49, 16}, {33, 65, 40}})
    for (int form = 0; form < 8; ++form) {
      const double beta = (form & 4) != 0 ? 0.5 : 0.0;
      Case c{{s.m * s.k, s.k * s.n, s.m * s.n, s.m * s.n},
             {U32(s.m), U32(s.n), U32(s.k), exec::Value::Float(ir::types::F32, 0.75),
              exec::Value::Float(ir::types::F32, beta), U32(form & 1), U32(form & 2)},
             {},
             ++seed,
             seed % 4 != 0};
      test.Check(c);
      // In place; then without the last element of each buffer in turn.
      c.same_as = {-1, -1, -1, 2};
      test.Check(c);
      c.same_as = {};
      c.lengths[seed % 4] -= 1;
      if (c.lengths[seed % 4] >= 0) test.Check(c);
      if (::testing::Test::HasFatalFailure()) return;
    }
}

TEST(SplitProduct, TheOutputIsAnOperand) {
  Differential test(FullGemm);
  for (int operand : {0, 1}) {
    std::vector<int> same_as = {-1, -1, -1, operand};
    test.Check({{20 * 20, 20 * 20, 20 * 20, 20 * 20},
                {U32(20), U32(20), U32(20), exec::Value::Float(ir::types::F32, 0.25),
                 exec::Value::Float(ir::types::F32, 0.5), U32(0), U32(0)},
                same_as,
                7,
                true});
  }
}

}  // namespace
}  // namespace frazil::targets::native
