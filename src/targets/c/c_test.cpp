// The C target by its headers: their text, their compilers, their users; and its callables at every limit.
#include "targets/c/c.h"
#include "ir/text/test_text.h"

#include <fmt/format.h>

#include "targets/c/test_support.h"

namespace frazil::targets::c {
namespace {

using testing::Compilers;
using testing::Folder;
using testing::Header;
using testing::Shell;

// One program for each thing that headers can need.
struct Sample {
  const char* symbol;
  std::string_view text;
};

constexpr Sample Samples[] = {
    {"muladd", R"(frz 1
func @main(%a: i32, %b: i32) -> (i32) {
  %c = const 7 : i32
  %m = mul %a, %b : i32
  %s = add %m, %c : i32
  return %s
})"},
    {"saxpy", ir::ScaleAndSumText},
    {"divide", R"(frz 1
func @main(%a: i64, %b: i64) -> (i64, i64) {
  %q = div.floor %a, %b : i64
  %r = rem.floor %a, %b : i64
  return %q, %r
})"},
    {"euclid", R"(frz 1
func @main(%a: u32, %b: u32) -> (u32) {
  %zero = const 0 : u32
  %x, %y = while (%p = %a, %q = %b) {
    %t = ne %q, %zero : u32
    condition %t
  } do {
    %less = lt %p, %q : u32
    %d = sub %p, %q : u32
    %p2 = select %less, %q, %q : u32
    %q2 = select %less, %p, %d : u32
    yield %p2, %q2
  }
  return %x
})"},
    {"factorial", R"(frz 1
func @fact(%n: int<4>) -> (int<4>) {
  %one = const 1 : int<4>
  %small = le %n, %one : int<4>
  %r = if %small -> (int<4>) {
    yield %one
  } else {
    %m = sub.checked %n, %one : int<4>
    %f = call @fact(%m)
    %p = mul.checked %n, %f : int<4>
    yield %p
  }
  return %r
}
func @main(%n: i32) -> (int<4>) {
  %w = cast.checked %n : int<4>
  %f = call @fact(%w)
  return %f
})"},
    {"fields", R"(frz 1
func @main(%a: field, %x: xfield) -> (field, xfield, digest, bool) {
  %i = invert %a : field
  %y = invert %x : xfield
  %z = mul %x, %y : xfield
  %p = xfield.part %z {part = 0} : xfield
  %d = digest.make %i, %p, %a, %i, %p : digest
  %same = eq %x, %z : xfield
  return %i, %z, %d, %same
})"},
    {"halves", R"(frz 1
func @main(%a: f16, %b: bf16, %c: f64) -> (f16, bf16, f16, i32) {
  %d = cast %c : f16
  %s = add %a, %d : f16
  %m = mul %b, %b : bf16
  %r = sqrt %s : f16
  %n = cast %m : i32
  return %s, %m, %r, %n
})"},
    {"fused", R"(frz 1
func @main(%a: f64, %b: f64, %c: f64) -> (f64, f64, u64) {
  %f = fma %a, %b, %c : f64
  %p = mul %a, %b : f64
  %s = add %p, %c : f64
  %r = sqrt %s : f64
  %n = nearest %r : f64
  %bits = bitcast %n : u64
  return %f, %s, %bits
})"},
    {"streams", R"(frz 1
func @main(%n: index) {
  %zero = const 0 : index
  %start = const 0 : field
  %sum = for %i = %zero to %n step 1 carry (%acc = %start) {
    %v = input : field
    %w = hint : i32
    %f = cast %w : field
    %t = add %v, %f : field
    %next = add %acc, %t : field
    output %w : i32
    yield %next
  }
  output %sum : field
  return
})"},
    {"scratch", R"(frz 1
data @table : u16 [3, 1, 4, 1, 5]
func @main(%n: index) -> (u16) {
  %zero = const 0 : index
  %b = alloc %n : u16
  parallel %i = %zero to %n {
    %t = lookup @table, %i : u16
    store %b, %i, %t : u16
    %old = atomic %b, %zero, %t {kind = max} : u16
    yield
  }
  %r = load %b, %zero : u16
  return %r
})"},
    {"choose", R"(frz 1
func @main(%v: i8, %a: bool) -> (i8) {
  %r = switch %v -> (i8) {
  case -5 {
    %n = not %v : i8
    yield %n
  }
  case 3 {
    unreachable
    yield %v
  }
  default {
    assert %a
    yield %v
  }
  }
  return %r
})"},
    {"waves", R"(frz 1
func @main(%x: f32, %y: f64) -> (f32, f64) {
  %s = sin %x : f32
  %e = exp %y : f64
  return %s, %e
})"},
};

TEST(CHeader, TextIsReadable) {
  const std::string header = Header(Samples[0].text, "muladd");
  EXPECT_NE(header.find("static inline int32_t muladd(int32_t a, int32_t b) {\n"
                        "  return (int32_t)((uint32_t)a * (uint32_t)b + 7u);\n"
                        "}\n"),
            std::string::npos)
      << header;
  // A program that cannot trap needs nothing of a run.
  EXPECT_EQ(header.find("typedef struct frz_run"), std::string::npos);
  const std::string saxpy = Header(Samples[1].text, "saxpy");
  EXPECT_NE(saxpy.find("  float sum = 0.0f;\n"
                       "  for (int64_t i = 0; i < n; ++i) {\n"
                       "    if (frz_outside(i, x_length)) return frz_trap(run, FRZ_OUT_OF_BOUNDS, "
                       "\"load\", -1);\n"
                       "    const float v = x[i];\n"
                       "    const float p = frz_one_nan_f32(a * v);\n"),
            std::string::npos)
      << saxpy;
  // The chain of the loop is free of NaN tests; there is one after it.
  EXPECT_NE(saxpy.find("    sum = sum + p;\n  }\n  sum = frz_nan_by_bits_f32(sum);\n"),
            std::string::npos)
      << saxpy;
}

TEST(CHeader, ParallelAssignmentKeepsOldValues) {
  const std::string header = Header(R"(frz 1
func @main(%n: index) -> (i32, i32) {
  %zero = const 0 : index
  %one = const 1 : i32
  %two = const 2 : i32
  %a, %b = for %i = %zero to %n step 1 carry (%p = %one, %q = %two) {
    yield %q, %p
  }
  return %a, %b
})");
  EXPECT_NE(header.find("    const int32_t next_a = b;\n    b = a;\n    a = next_a;\n"),
            std::string::npos)
      << header;
}

TEST(CHeader, NamesAreLegal) {
  const std::string header = Header(R"(frz 1
func @main(%int: i32, %run: i32, %_x.y: i32, %frz_a: i32, %linux: i32, %while: i32) -> (i32) {
  %class = add %int, %run : i32
  %a = add %class, %_x.y : i32
  %b = add %a, %frz_a : i32
  %c = add %b, %linux : i32
  %d = add %c, %while : i32
  return %d
})",
                                    "main");
  EXPECT_NE(
      header.find("main_(int32_t int_, int32_t run_, int32_t x_y, int32_t frz_a_, int32_t linux_,"),
      std::string::npos)
      << header;
}

// All samples in one unit, in both orders, under every compiler and language.
TEST(CHeader, NoWarnings) {
  Folder folder;
  std::string forward, backward;
  for (const Sample& sample : Samples) {
    for (bool metered : {false, true}) {
      const std::string symbol = std::string(sample.symbol) + (metered ? "_metered" : "");
      folder.Write(symbol + ".h", Header(sample.text, symbol, metered));
      const std::string line = "#include \"" + symbol + ".h\"\n";
      forward += line;
      backward = line + backward;
    }
  }
  folder.Write("forward.c", forward + forward);
  folder.Write("backward.c", backward);
  for (const std::string& compiler : Compilers()) {
    for (const char* file : {"forward.c", "backward.c"}) {
      const int status =
          Shell(folder, fmt::format("{} -Wall -Wextra -Wpedantic -Werror -c -o {} {}", compiler,
                                    folder.Path("out.o"), folder.Path(file)));
      EXPECT_EQ(status, 0) << compiler << "\n" << folder.Read("log");
    }
  }
}

TEST(CHeader, RefusesFastMath) {
  Folder folder;
  folder.Write("main.c", Header(Samples[1].text, "saxpy"));
  for (const char* flag : {"-ffast-math", "-ffinite-math-only"}) {
    for (const char* compiler : {"gcc-12", "clang-22"}) {
      EXPECT_NE(Shell(folder, fmt::format("{} {} -c -o {} {}", compiler, flag, folder.Path("out.o"),
                                          folder.Path("main.c"))),
                0);
      EXPECT_NE(folder.Read("log").find("computes exactly"), std::string::npos)
          << folder.Read("log");
    }
  }
}

// A user's program, with sanitizers.
TEST(CHeader, UsersProgram) {
  Folder folder;
  std::string text;
  for (const Sample& sample : Samples) {
    folder.Write(std::string(sample.symbol) + ".h", Header(sample.text, sample.symbol));
    text += fmt::format("#include \"{}.h\"\n", sample.symbol);
  }
  // In two parts, because this line is not an include of ours.
  text += std::string("#include") + " <stdio.h>\n";
  text += R"(
#define EXPECT(c) do { if (!(c)) { printf("line %d: %s\n", __LINE__, #c); failures += 1; } } while (0)
int main(void) {
  int failures = 0;
  EXPECT(muladd(INT32_MAX, 2) == 5);
  float x[3] = {1.0f, 2.0f, 3.0f};
  float out[3] = {0};
  float sum = -1.0f;
  EXPECT(saxpy_run(2.0f, 3, x, 3, out, 3, &sum, NULL) == FRZ_OK && sum == 12.0f && out[2] == 6.0f);
  frz_run run;
  frz_run_init(&run);
  EXPECT(saxpy_run(2.0f, 3, x, 3, out, 2, &sum, &run) == FRZ_OUT_OF_BOUNDS);
  EXPECT(run.trap == FRZ_OUT_OF_BOUNDS && run.trap_index == -1 && strcmp(run.trap_op, "store") == 0);
  int64_t q = 0;
  int64_t r = 0;
  EXPECT(divide_run(-7, 2, &q, &r, &run) == FRZ_OK && q == -4 && r == 1 && run.trap == FRZ_OK);
  EXPECT(divide_run(INT64_MIN, -1, &q, &r, NULL) == FRZ_OK && q == INT64_MIN && r == 0);
  EXPECT(divide_run(1, 0, &q, &r, NULL) == FRZ_DIVISION_BY_ZERO);
  EXPECT(euclid(12, 18) == 6);
  frz_int4 f;
  EXPECT(factorial_run(25, &f, NULL) == FRZ_OK && f.w[0] == 7034535277573963776ull && f.w[1] == 840864ull);
  EXPECT(factorial_run(100, &f, NULL) == FRZ_OVERFLOW);
  frz_run_init(&run);
  run.depth = 5;
  EXPECT(factorial_run(5, &f, &run) == FRZ_OK);
  EXPECT(factorial_run(6, &f, &run) == FRZ_DEPTH && strcmp(run.trap_op, "call") == 0);
  uint64_t i = 0;
  frz_xfield one = {{1, 2, 3}};
  frz_digest d;
  bool same = true;
  EXPECT(fields_run(2, one, &i, &one, &d, &same, NULL) == FRZ_OK);
  EXPECT(i == 0x7fffffff80000001ull && one.c[0] == 1 && one.c[1] == 0 && one.c[2] == 0 && !same && d.c[1] == 1);
  EXPECT(fields_run(0, one, &i, &one, &d, &same, NULL) == FRZ_INVERT_OF_ZERO);
  const halves_results h = halves(0x3c00, 0x4000, 2.0);
  EXPECT(h.result0 == 0x4200 && h.result1 == 0x4080 && h.result3 == 4);
  uint64_t input[2] = {5, 6};
  uint64_t hints[2] = {(uint64_t)-1, 10};
  frz_run_init(&run);
  run.input.data = input;
  run.input.words = 2;
  run.hints.data = hints;
  run.hints.words = 2;
  EXPECT(streams_run(2, &run) == FRZ_OK);
  EXPECT(run.output_values == 3 && run.output[0] == (uint64_t)-1 && run.output[1] == 10 && run.output[2] == 20);
  EXPECT(run.output_types[0] == FRZ_I32 && run.output_types[2] == FRZ_FIELD);
  run.output_words = run.output_values = 0;
  EXPECT(streams_run(3, &run) == FRZ_OUT_OF_BOUNDS && run.output_values == 2);
  free(run.output);
  free(run.output_types);
  uint16_t u = 0;
  EXPECT(scratch_run(5, &u, NULL) == FRZ_OK && u == 5);
  frz_run_init(&run);
  EXPECT(scratch_run(6, &u, &run) == FRZ_OUT_OF_BOUNDS && run.trap_index == 5 && strcmp(run.trap_op, "lookup") == 0);
  EXPECT(scratch_run(-1, &u, &run) == FRZ_MEMORY && run.trap_index == -1);
  run.memory_bytes = 8;
  EXPECT(scratch_run(5, &u, &run) == FRZ_MEMORY && scratch_run(4, &u, &run) == FRZ_OK);
  int8_t c = 0;
  EXPECT(choose_run(-5, true, &c, NULL) == FRZ_OK && c == 4);
  EXPECT(choose_run(3, true, &c, NULL) == FRZ_UNREACHABLE && choose_run(1, false, &c, NULL) == FRZ_ASSERT);
  const waves_results w = waves(0.0f, 0.0);
  EXPECT(w.result0 == 0.0f && w.result1 == 1.0);
  return failures != 0;
}
)";
  folder.Write("main.c", text);
  for (const char* compiler :
       {"gcc-12 -std=c11 -O1 -fsanitize=undefined,address -fno-sanitize-recover=all",
        "clang-22 -std=c11 -O2 -fsanitize=undefined,address,float-cast-overflow "
        "-fno-sanitize-recover=all",
        "g++-12 -std=c++17 -O2 -x c++", "clang++-22 -std=c++20 -O2 -x c++"}) {
    const int built = Shell(folder, fmt::format("{} -Wall -Wextra -Werror -o {} {} -lm", compiler,
                                                folder.Path("main"), folder.Path("main.c")));
    ASSERT_EQ(built, 0) << compiler << "\n" << folder.Read("log");
    EXPECT_EQ(Shell(folder, folder.Path("main")), 0) << compiler << "\n" << folder.Read("log");
  }
}

}  // namespace
}  // namespace frazil::targets::c
