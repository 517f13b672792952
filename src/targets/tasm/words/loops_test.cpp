// What rounds of loops cost: the instructions of one round are counted as the difference between two lengths.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "base/sanitized.h"
#include "exec/meaning/interpreter.h"
#include "ir/text/text.h"
#include "targets/tasm/tasm.h"

namespace frazil::targets::tasm {
namespace {

struct Ran {
  uint64_t cycles = 0;
  std::string assembly;
};

// The program's outcome is the interpreter's.
Ran Same(const std::string& text, const std::vector<uint64_t>& input = {}) {
  const auto program = ir::ParseText(text);
  if (!program) {
    ADD_FAILURE() << program.error().ToString() << "\n" << text;
    return {};
  }
  std::vector<exec::Value> values;
  const ir::Function& entry = program->entry_function();
  for (uint32_t i = 0; i < entry.param_count(); ++i)
    values.push_back(exec::Value::Int(entry.param_type(i), static_cast<int64_t>(input[i])));
  const auto lowered = Lower(*program);
  EXPECT_TRUE(lowered.has_value()) << text;
  const auto expected = exec::Interpret(*program, values);
  EXPECT_TRUE(expected.has_value());
  if (!lowered || !expected) return {};
  const auto inputs = ToInputs(*program, values, {});
  EXPECT_TRUE(inputs.has_value());
  const mt::RunResult run = mt::Run(lowered->program, *inputs);
  const auto actual = ToOutcome(*program, *lowered, run, values);
  EXPECT_TRUE(actual.has_value());
  if (actual) {
    EXPECT_EQ(expected->trap, actual->trap) << text;
    EXPECT_EQ(expected->output, actual->output) << text;
    EXPECT_EQ(expected->results, actual->results) << text;
  }
  return {run.cycles, mt::Print(lowered->program)};
}

// Instructions of one round of what `program` makes of a length.
uint64_t Round(const auto& program) {
  const uint64_t few = Same(program(20)).cycles, many = Same(program(30)).cycles;
  EXPECT_EQ((many - few) % 10, 0u);
  return (many - few) / 10;
}

std::string Sum(int length, std::string_view type, std::string_view before) {
  return fmt::format(R"(frz 1
func @main() {{
  %zero = const 0 : index
  %n = const {} : index
  %none = const {} : {}
{}  %s = for %i = %zero to %n step 1 carry (%t = %none) {{
    %v = load %a, %i : {}
    %u = add %t, %v : {}
    yield %u
  }}
  output %s : {}
  return
}}
)",
                     length, type == "field" ? "0" : "(0, 0, 0)", type, before, type, type, type);
}

// A write leaves the pointer where the next one begins; the test alone needs the counter: add, the value, write, test.
TEST(Loops, PointersThatCount) {
  auto fill = [](int length) {
    return Sum(length, "field", R"(  %a = alloc %n : field
  for %i = %zero to %n step 1 {
    %k = cast %i : u32
    %f = cast %k : field
    store %a, %i, %f : field
    yield
  }
)");
  };
  EXPECT_LE(Round(fill), 8u + 11u);
  // Elements of three words: the counter goes by threes.
  auto wide = [](int length) {
    return Sum(length, "xfield", R"(  %a = alloc %n : xfield
  %c = const (1, 2, 3) : xfield
  for %i = %zero to %n step 1 {
    store %a, %i, %c : xfield
    yield
  }
)");
  };
  EXPECT_LE(Round(wide), 12u + 11u);
}

// Counters in every place: as index, as value, moved, multiplied, in loops within loops.
std::string RandomLoops(uint32_t seed) {
  std::mt19937 random(seed);
  int next = 0;
  auto pick = [&](uint32_t below) { return static_cast<uint32_t>(random() % below); };
  auto name = [&] { return fmt::format("%v{}", next++); };
  std::string text = R"(frz 1
func @main() {
  %zero = const 0 : index
  %end = const 200 : index
  %none = const 0 : field
)";
  const bool wide = pick(3) == 0;
  const std::string type = wide ? "xfield" : "field";
  text += fmt::format("  %a = alloc %end : {}\n  %b = alloc %end : {}\n", type, type);
  std::function<std::string(const std::string&, int)> body = [&](const std::string& i, int depth) {
    std::string code;
    auto index = [&] {
      std::string at = i;
      for (uint32_t k = pick(3); k > 0; --k) {
        const std::string c = name(), r = name();
        const bool times = pick(3) == 0;
        code += fmt::format("    {} = const {} : index\n    {} = {} {}, {} : index\n", c,
                            times ? 2 + pick(3) : 1 + pick(20), r, times ? "mul" : "add", at, c);
        at = r;
      }
      return at;
    };
    for (uint32_t k = 1 + pick(4); k > 0; --k) {
      const std::string buffer = pick(2) != 0 ? "%a" : "%b", v = name();
      switch (pick(depth > 0 ? 3 : 4)) {
        case 0: {
          const std::string at = index();
          code += fmt::format("    {} = load {}, {} : {}\n    output {} : {}\n", v, buffer, at,
                              type, v, type);
          break;
        }
        case 1: {
          const std::string at = index(), from = index(), w = name(), x = name();
          code += fmt::format("    {} = cast {} : u32\n    {} = cast {} : field\n", v, from, w, v);
          if (wide) code += fmt::format("    {} = xfield.make {}, {}, %none : xfield\n", x, w, w);
          code += fmt::format("    store {}, {}, {} : {}\n", buffer, at, wide ? x : w, type);
          break;
        }
        case 2: {
          const std::string at = index(), to = index();
          code += fmt::format("    {} = load {}, {} : {}\n    store {}, {}, {} : {}\n", v, buffer,
                              at, type, pick(2) != 0 ? "%a" : "%b", to, v, type);
          break;
        }
        default: {
          const std::string inner = name(), hi = name();
          code += fmt::format(
              "    {} = const {} : index\n    for {} = %zero to {} step {} {{\n{}    "
              "yield\n    }}\n",
              hi, 1 + pick(6), inner, hi, 1 + pick(2), body(inner, depth + 1));
        }
      }
    }
    return code;
  };
  for (int k = 0; k < 3; ++k) {
    const std::string i = name(), lo = name(), hi = name();
    text += fmt::format("  {} = const {} : index\n  {} = const {} : index\n", lo, pick(4), hi,
                        4 + pick(9));
    text += fmt::format("  for {} = {} to {} step {} {{\n{}    yield\n  }}\n", i, lo, hi,
                        1 + pick(2), body(i, 0));
  }
  return text + "  return\n}\n";
}

TEST(Loops, RandomCounters) {
  for (uint32_t seed = 0; seed < (Sanitized ? 40 : 300) && !HasFailure(); ++seed)
    Same(RandomLoops(seed));
}

TEST(Loops, PowersOfTwo) {
  const std::string text = R"(frz 1
func @main(%e: u32) -> (u32) {
  %one = const 1 : u32
  %two = const 2 : u32
  %most = const 32 : u32
  %least = min %e, %most : u32
  %n = cast %least : index
  %zero = const 0 : index
  %r = for %i = %zero to %n step 1 carry (%p = %one) {
    %q = mul.checked %p, %two : u32
    yield %q
  }
  return %r
}
)";
  for (uint64_t e : {0u, 1u, 2u, 31u, 32u, 33u, 64u, 192u, 4294967295u})
    EXPECT_LE(Same(text, {e}).cycles, 20u);
}

std::string Dot(int length, bool base, int from) {
  return fmt::format(R"(frz 1
func @main() {{
  %zero = const 0 : index
  %from = const {} : index
  %n = const {} : index
  %start = const (5, 6, 7) : xfield
  %a = alloc %n : xfield
  %b = alloc %n : {}
  for %i = %zero to %n step 1 {{
    %k = cast %i : u32
    %f = cast %k : field
    %s = mul %f, %f : field
    %x = xfield.make %s, %f, %s : xfield
    store %a, %i, %x : xfield
    store %b, %i, %{} : {}
    yield
  }}
  %d = for %i = %from to %n step 1 carry (%t = %start) {{
    %v = load %a, %i : xfield
    %w = load %b, %i : {}
{}    %p = mul %{}, %v : xfield
    %u = add %p, %t : xfield
    yield %u
  }}
  output %d : xfield
  return
}}
)",
                     from, length, base ? "field" : "xfield", base ? "s" : "x",
                     base ? "field" : "xfield", base ? "field" : "xfield",
                     base ? "    %y = cast %w : xfield\n" : "", base ? "y" : "w");
}

TEST(Loops, DotSteps) {
  for (bool base : {false, true})
    for (int length : {2, 7, 8, 9, 12, 16, 37, 40, 60})
      for (int from : {0, 1}) {
        const Ran ran = Same(Dot(length, base, from));
        if (length - from == 1) continue;
        EXPECT_EQ(ran.assembly.find(base ? "xb_mul" : "xx_mul"), std::string::npos);
        EXPECT_NE(ran.assembly.find(base ? "xb_dot_step" : "xx_dot_step"), std::string::npos);
      }
}

std::string Absorb(int length, const std::string& between, const std::string& rest) {
  std::string code = fmt::format(R"(frz 1
func @main() {{
  %zero = const 0 : index
  %n = const {} : index
  %blocks = const {} : index
  %ten = const 10 : index
  %a = alloc %n : field
  for %i = %zero to %n step 1 {{
    %k = cast %i : u32
    %f = cast %k : field
    %s = mul %f, %f : field
    store %a, %i, %s : field
    yield
  }}
  sponge.init
  for %b = %zero to %blocks step 1 {{
    %at = mul %b, %ten : index
)",
                                 length, length / 10);
  for (int j = 0; j < 10; ++j)
    code += fmt::format(
        "    %c{} = const {} : index\n    %i{} = add %at, %c{} : index\n    %v{} = load %a, %i{} : "
        "field\n",
        j, j, j, j, j, j);
  code += between + "    sponge.absorb %v0, %v1, %v2, %v3, %v4, %v5, %v6, %v7, %v8, %v9\n" + rest +
          "    yield\n  }\n  %q0, %q1, %q2, %q3, %q4, %q5, %q6, %q7, %q8, %q9 = sponge.squeeze\n";
  for (int j = 0; j < 10; ++j) code += fmt::format("  output %q{} : field\n", j);
  return code + "  return\n}\n";
}

TEST(Loops, SpongeFromMemory) {
  // One instruction and the test.
  const uint64_t few = Same(Absorb(40, "", "")).cycles, many = Same(Absorb(80, "", "")).cycles;
  const uint64_t filling = Round([](int length) { return Absorb(10 * length, "", ""); }) - 5;
  EXPECT_EQ(many - few, 4 * filling + 4 * 5);
  EXPECT_NE(Same(Absorb(40, "", "")).assembly.find("sponge_absorb_mem"), std::string::npos);
  // What is written between the loads and the absorb is not what is absorbed.
  const std::string write = "    store %a, %i3, %v7 : field\n";
  EXPECT_EQ(Same(Absorb(40, write, "")).assembly.find("sponge_absorb_mem"), std::string::npos);
  EXPECT_NE(Same(Absorb(40, "", write)).assembly.find("sponge_absorb_mem"), std::string::npos);
}

// Only the whole sum is checked, and whatever is too large traps as it did.
TEST(Loops, SumsThatAreChecked) {
  const std::string text = R"(frz 1
func @main(%a: u32, %b: u32, %c: u32, %d: u32) -> (u32) {
  %ab = add.checked %a, %b : u32
  %abc = add.checked %ab, %c : u32
  %two = add.checked %d, %d : u32
  %all = add.checked %abc, %two : u32
  output %all : u32
  %more = add.checked %all, %a : u32
  return %more
}
)";
  const uint64_t top = 4294967295;
  for (uint64_t a : {uint64_t{0}, uint64_t{1}, top})
    for (uint64_t b : {uint64_t{0}, top})
      for (uint64_t c : {uint64_t{0}, uint64_t{5}, top})
        for (uint64_t d : {uint64_t{0}, uint64_t{2147483647}, uint64_t{2147483648}, top})
          Same(text, {a, b, c, d});
}

// Five carried words lie above the counter and its end.
TEST(Loops, EndedByRecurseOrReturn) {
  auto program = [](int length, bool nested) {
    const std::string inner =
        nested ? R"(    %i0, %i1 = for %j = %zero to %three step 1 carry (%x = %b, %y = %c) {
      %z = mul %x, %y : field
      yield %y, %z
    }
)"
               : "    %i0 = add %b, %c : field\n    %i1 = mul %b, %c : field\n";
    return fmt::format(R"(frz 1
func @main(%one: field, %two: field) -> (field, field, field, field, field) {{
  %zero = const 0 : index
  %three = const 3 : index
  %n = const {} : index
  %r0, %r1, %r2, %r3, %r4 = for %i = %zero to %n step 1 carry (%a = %one, %b = %two, %c = %one, %d = %two, %e = %one) {{
    %k = cast %i : u32
    %f = cast %k : field
    %g = add %e, %f : field
{}    %h = mul %a, %d : field
    yield %i0, %h, %d, %g, %i1
  }}
  return %r0, %r1, %r2, %r3, %r4
}}
)",
                       length, inner);
  };
  for (bool nested : {false, true})
    for (int length : {100, 300}) {
      const Ran ran = Same(program(length, nested), {3, 5});
      EXPECT_NE(ran.assembly.find("recurse_or_return"), std::string::npos) << ran.assembly;
    }
}

TEST(Loops, LimitsHold) {
  const auto program = ir::ParseText(Dot(12, false, 0));
  ASSERT_TRUE(program.has_value());
  TasmOptions options;
  options.limits.program_insts = 8;
  const auto lowered = Lower(*program, options);
  ASSERT_FALSE(lowered.has_value());
  EXPECT_EQ(lowered.error().diag, Diag::LimitReached);
}

// What an assert shows holds only after it, and in the region it stands in.
TEST(Loops, BoundsFromAsserts) {
  const std::string text = R"(frz 1
func @main(%x: u32, %y: u32) -> (u32) {
  %ten = const 10 : u32
  %before = add.checked %x, %x : u32
  %small = lt %y, %ten : u32
  %r = if %small -> (u32) {
    %ok = lt %x, %ten : u32
    assert %ok
    %s = mul.checked %x, %x : u32
    yield %s
  } else {
    %t = mul.checked %x, %x : u32
    yield %t
  }
  %u = add.checked %r, %before : u32
  return %u
}
)";
  for (uint64_t x : {0u, 9u, 10u, 65535u, 65536u, 4294967295u})
    for (uint64_t y : {3u, 30u}) Same(text, {x, y});
}

}  // namespace
}  // namespace frazil::targets::tasm
