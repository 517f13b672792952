// Kernels of the shapes that real ones have, against the interpreter at every level: one lane per row, lanes that leave
// loops one by one, stores past the caches.
#include <fmt/format.h>

#include "ir/text/test_text.h"
#include "targets/native/vectors/test_vectors.h"

namespace frazil::targets::native {
namespace {

using namespace testing;

// A loop in a lane over the columns of its row: %at is the place of column %j in the row that starts at %first.
std::string Columns(std::string_view loop, std::string_view body, std::string_view end = "yield") {
  return fmt::format("    {} {{\n      %at = add %first, %j : index\n{}      {}\n    }}\n", loop,
                     ir::WithoutFirstNewline(body), end);
}
constexpr std::string_view InputAndOutput =
    "%x: in buffer<f32>, %y: buffer<f32>, %rows: u32, %cols: u32";

// Numbers are cast where they are used, more than once, as kernels do.
const std::string Softmax =
    ir::KernelText("softmax", InputAndOutput, "%rows",
                   R"(
    %c = cast %cols : index
    %first = mul %i, %c : index
    %low = const -inf : f32
    %n = cast %cols : index
)" +
                       Columns("%greatest = for %j = %zero to %n step 1 carry (%g = %low)",
                               R"(
      %v = load %x, %at : f32
      %m = max %g, %v : f32
)",
                               "yield %m") +
                       "    %none = const 0 : f32\n    %n2 = cast %cols : index\n" +
                       Columns("%total = for %j = %zero to %n2 step 1 carry (%t = %none)",
                               R"(
      %v = load %x, %at : f32
      %d = sub %v, %greatest : f32
      %w = exp %d : f32
      store %y, %at, %w : f32
      %s = add %t, %w : f32
)",
                               "yield %s") +
                       Columns("for %j = %zero to %n step 1", R"(
      %w = load %y, %at : f32
      %q = div %w, %total : f32
      store %y, %at, %q : f32
)"));

// What became of the loops, as the code generator says it.
std::string LoopsOf(std::string_view text, exec::CpuLevel level = exec::CpuLevel::Avx512) {
  NativeOptions options;
  options.level = level;
  Result<std::string> llvm = EmitLlvm(Parse(text), options);
  EXPECT_TRUE(llvm) << llvm.error().ToString();
  if (!llvm) return "";
  std::string loops;
  for (size_t at = llvm->find("!{!\"@"); at != std::string::npos; at = llvm->find("!{!\"@", at + 1))
    loops += llvm->substr(at, llvm->find('\n', at) - at) + "\n";
  return loops;
}

void CheckRows(std::string_view text, std::initializer_list<int> same_as = {}) {
  Differential test(text);
  uint64_t seed = 1;
  for (int64_t rows : {0, 1, 5, 16, 17, 35})
    for (int64_t columns : {0, 1, 7, 8, 15, 16, 17, 33}) {
      Case c{
          {rows * columns, rows * columns}, {U32(rows), U32(columns)}, {}, ++seed, seed % 3 != 0};
      test.Check(c);
      c.same_as = same_as;
      test.Check(c);
      // A row is missing: the trap of the first iteration that has none.
      c = Case{{rows * columns - (rows > 3 ? columns + 1 : 0), rows * columns},
               {U32(rows), U32(columns)},
               {},
               ++seed,
               true};
      if (rows > 3 && columns > 0) test.Check(c);
      if (::testing::Test::HasFatalFailure()) return;
    }
}

TEST(VectorRows, Softmax) {
  EXPECT_NE(LoopsOf(Softmax).find("16 iterations at a time"), std::string::npos)
      << LoopsOf(Softmax);
  CheckRows(Softmax, {-1, 0});
}

TEST(VectorRows, SumsOfRows) {
  const std::string Text = ir::KernelText("sum", InputAndOutput, "%rows", R"(
    %none = const 0 : f32
    %n = cast %cols : index
    %total = for %j = %zero to %n step 1 carry (%t = %none) {
      %c = cast %cols : index
      %first = mul %i, %c : index
      %at = add %first, %j : index
      %v = load %x, %at : f32
      %s = add %t, %v : f32
      yield %s
    }
    store %y, %i, %total : f32
)");
  EXPECT_NE(LoopsOf(Text).find("16 iterations at a time"), std::string::npos) << LoopsOf(Text);
  Differential test(Text);
  for (int64_t rows : {1, 16, 40})
    for (int64_t columns : {0, 1, 16, 50}) {
      test.Check({{rows * columns, rows}, {U32(rows), U32(columns)}, {}, 3, true});
      test.Check({{rows * columns, rows - 1}, {U32(rows), U32(columns)}, {}, 4, true});
    }
}

TEST(VectorRows, RowsThatAreStoredUnderAConditionOrTwice) {
  const std::string Text = ir::KernelText("clip", InputAndOutput, "%rows", R"(
    %n = cast %cols : index
    %first = mul %i, %n : index
    %one = const 1 : f32
    %none = const 0 : f32
)" + Columns("for %j = %zero to %n step 1", R"(
      %v = load %x, %at : f32
      %big = gt %v, %one : f32
      if %big {
        store %y, %at, %one : f32
        yield
      } else {
        %low = lt %v, %none : f32
        if %low {
          store %y, %at, %v : f32
          yield
        } else {
          yield
        }
        yield
      }
      %w = load %y, %at : f32
      %s = add %w, %one : f32
      store %y, %at, %s : f32
)"));
  CheckRows(Text, {-1, 0});
}

TEST(VectorRows, RowsApart) {
  // f64, rows `ld` apart, a scale per column, written below `n` of them.
  const std::string Text = ir::KernelText(
      "scale",
      "%x: in buffer<f64>, %s: in buffer<f64>, %y: buffer<f64>, %rows: u32, %cols: u32, %ld: u32",
      "%rows", R"(
    %n = cast %cols : index
    %l = cast %ld : index
    %first = mul %i, %l : index
)" + Columns("for %j = %zero to %n step 1", R"(
      %v = load %x, %at : f64
      %f = load %s, %j : f64
      %p = mul %v, %f : f64
      store %y, %at, %p : f64
)"));
  Differential test(Text);
  for (int64_t rows : {1, 8, 21})
    for (int64_t columns : {1, 8, 13})
      for (int64_t ld : {columns - 1, columns, columns + 5}) {
        const int64_t length = std::max<int64_t>((rows - 1) * ld + columns, 0);
        Case c{{length, columns, length}, {U32(rows), U32(columns), U32(ld)}, {}, 5, true};
        test.Check(c);
        c.lengths[1] = length;
        c.same_as = {-1, -1, 1};
        test.Check(c);
        if (::testing::Test::HasFatalFailure()) return;
      }
}

TEST(VectorDiverge, Mandelbrot) {
  constexpr std::string_view Text = R"(frz 1
func @mandelbrot(%out: buffer<i32>, %width: u32, %height: u32, %most: i32) {
  %zero = const 0 : index
  %w = cast %width : index
  %h = cast %height : index
  %count = mul %w, %h : index
  parallel %i = %zero to %count {
    %px = rem.floor %i, %w : index
    %py = div.floor %i, %w : index
    %fx = cast %px : f32
    %fy = cast %py : f32
    %sx = const 0.05 : f32
    %ox = const 2 : f32
    %oy = const 1 : f32
    %ax = mul %fx, %sx : f32
    %ay = mul %fy, %sx : f32
    %cx = sub %ax, %ox : f32
    %cy = sub %ay, %oy : f32
    %none = const 0 : f32
    %start = const 0 : i32
    %zx, %zy, %turns = while (%x = %none, %y = %none, %n = %start) {
      %xx = mul %x, %x : f32
      %yy = mul %y, %y : f32
      %r = add %xx, %yy : f32
      %four = const 4 : f32
      %in = le %r, %four : f32
      %more = lt %n, %most : i32
      %both = and %in, %more : bool
      condition %both
    } do {
      %d = sub %xx, %yy : f32
      %nx = add %d, %cx : f32
      %two = const 2 : f32
      %t = mul %two, %x : f32
      %u = mul %t, %y : f32
      %ny = add %u, %cy : f32
      %one = const 1 : i32
      %m = add %n, %one : i32
      yield %nx, %ny, %m
    }
    store %out, %i, %turns : i32
    yield
  }
  return
}
)";
  EXPECT_NE(LoopsOf(Text).find("iterations at a time"), std::string::npos) << LoopsOf(Text);
  Differential test(Text);
  test.Check({{60 * 40}, {U32(60), U32(40), exec::Value::Int(ir::types::I32, 50)}, {}, 1});
  test.Check({{7 * 5}, {U32(7), U32(5), exec::Value::Int(ir::types::I32, 9)}, {}, 2});
  test.Check({{7 * 5 - 1}, {U32(7), U32(5), exec::Value::Int(ir::types::I32, 9)}, {}, 3});
}

TEST(VectorFolds, FloatsInAnyOrder) {
  for (std::string_view op : {"min", "max", "minimum", "maximum"})
    for (std::string_view type : {"f32", "f64"})
      for (std::string_view init : {"const -inf", "const nan", "const 0", "load %y, %zero"}) {
        const std::string text = fmt::format(R"(frz 1
func @fold(%n: index, %x: in buffer<{1}>, %y: buffer<{1}>) {{
  %zero = const 0 : index
  %start = {2} : {1}
  %r = for %i = %zero to %n step 1 carry (%g = %start) {{
    %v = load %x, %i : {1}
    %m = {0} %g, %v : {1}
    yield %m
  }}
  store %y, %zero, %r : {1}
  return
}}
)",
                                             op, type, init);
        EXPECT_NE(LoopsOf(text).find("iterations at a time"), std::string::npos) << LoopsOf(text);
        Differential test(text);
        for (int64_t n : {0, 1, 3, 16, 64, 200})
          for (uint64_t seed : {1, 2})
            test.Check({{n, 1}, {Index(n)}, {}, seed + static_cast<uint64_t>(n), seed == 2});
        if (::testing::Test::HasFatalFailure()) return;
      }
}

TEST(VectorStream, StoresPastTheCaches) {
  const std::string Text = ir::KernelText(
      "two", "%x: in buffer<f32>, %y: buffer<f32>, %z: buffer<f32>, %n: u32", "%n", R"(
    %a = load %x, %i : f32
    %b = add %a, %a : f32
    store %y, %i, %b : f32
    %c = neg %a : f32
    store %z, %i, %c : f32
)");
  const ir::Program program = Parse(Text);
  for (exec::CpuLevel level : Levels()) {
    NativeOptions options;
    options.level = level;
    options.stream_bytes = 1;
    std::unique_ptr<exec::Target> target = MakeNativeTarget(options);
    Result<exec::Artifact> artifact = target->Emit(program, {});
    ASSERT_TRUE(artifact);
    if (level == exec::CpuLevel::Avx512) {
      EXPECT_NE(EmitAssembly(program, options)->find("vmovntp"), std::string::npos);
    }
    auto callable = target->Load(*artifact);
    ASSERT_TRUE(callable);
    for (int64_t n : {4096, 5000, 5001, 5017})
      for (size_t off : {0, 4, 60, 33}) {
        Guarded x(ir::types::F32, n, 0), y(ir::types::F32, n, off), z(ir::types::F32, n, off % 8);
        std::mt19937_64 random(static_cast<uint64_t>(n));
        Fill(*x.memory(), random);
        std::vector<exec::Value> arguments = {exec::Value::Buffer(x.memory()),
                                              exec::Value::Buffer(y.memory()),
                                              exec::Value::Buffer(z.memory()), U32(n)};
        Result<exec::Outcome> outcome = (*callable)->Run(arguments, {});
        ASSERT_TRUE(outcome && !outcome->trap);
        EXPECT_TRUE(x.intact() && y.intact() && z.intact());
        auto ys = std::make_shared<exec::Memory>(ir::types::F32, n),
             zs = std::make_shared<exec::Memory>(ir::types::F32, n);
        std::vector<exec::Value> expected = {exec::Value::Buffer(x.memory()),
                                             exec::Value::Buffer(ys), exec::Value::Buffer(zs),
                                             U32(n)};
        ASSERT_TRUE(exec::Interpret(program, expected));
        EXPECT_TRUE(expected[1] == arguments[1] && expected[2] == arguments[2]) << n << " " << off;
      }
  }
}

}  // namespace
}  // namespace frazil::targets::native
