// IR against assembly: programs as Trident makes them, each with wrong variants; ops against the interpreter; and what
// is simplified about high halves against numbers.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <functional>

#include "exec/meaning/interpreter.h"
#include "ir/text/text.h"
#include "verify/tasm/tasm.h"
#include "verify/tasm/terms/facts.h"

namespace frazil::verify::tasm {
namespace {

mt::Program Assembly(std::string_view text) {
  auto program = mt::Parse(text);
  EXPECT_TRUE(program.has_value()) << text << program.error().ToString();
  return program ? std::move(*program) : mt::Program{};
}

void Check(std::string_view text, std::string_view assembly, std::string_view kind) {
  auto program = ir::ParseText("frz 1\n\n" + std::string(text));
  ASSERT_TRUE(program.has_value()) << text << program.error().ToString();
  const Verdict answer = Compare(*program, Assembly(assembly));
  EXPECT_EQ(VerdictName(answer), kind) << assembly << ": " << Describe(answer);
}

constexpr std::string_view Proved = "proved";
constexpr std::string_view Refuted = "refuted";

TEST(TasmIr, ForWithVariableBounds) {
  const char* factorial = R"(func @main(%n: u32) -> (field) {
  %zero = const 0 : index
  %one = const 1 : field
  %end = cast %n : index
  %last = for %i = %zero to %end step 1 carry (%p = %one) {
    %j = cast %i : u32
    %f = cast %j : field
    %k = add %f, %one : field
    %q = mul %p, %k : field
    yield %q
  }
  return %last
}
)";
  const char* text =
      "read_io 1 dup 0 split pop 1 push 0 eq assert push 0 push 1 call l write_io 1 halt "
      "l: dup 1 dup 3 eq skiz return swap 1 addi {} dup 0 pick 2 {} recurse";
  Check(factorial, fmt::format(fmt::runtime(text), 1, "mul"), Proved);
  Check(factorial, fmt::format(fmt::runtime(text), 1, "add"), Refuted);
  // One iteration more, and one less.
  Check(factorial,
        "read_io 1 addi 1 push 0 push 1 call l write_io 1 halt "
        "l: dup 1 dup 3 eq skiz return swap 1 addi 1 dup 0 pick 2 mul recurse",
        Refuted);
  Check(factorial,
        "read_io 1 push 1 push 1 call l write_io 1 halt "
        "l: dup 1 dup 3 eq skiz return swap 1 addi 1 dup 0 pick 2 mul recurse",
        "unknown");
}

TEST(TasmIr, LowerBoundOfLoops) {
  const char* sum = R"(func @main(%a: u32, %n: u32) -> (field) {
  %one = const 0 : field
  %start = cast %a : index
  %end = cast %n : index
  %last = for %i = %start to %end step 1 carry (%p = %one) {
    %j = cast %i : u32
    %f = cast %j : field
    %q = add %p, %f : field
    yield %q
  }
  return %last
}
)";
  // Without the test before the loop it does not end for a > n: not to be called proved.
  auto program = ir::ParseText("frz 1\n\n" + std::string(sum));
  ASSERT_TRUE(program.has_value()) << program.error().ToString();
  const char* loop =
      "read_io 2 swap 1 push 0 call l write_io 1 halt "
      "l: dup 1 dup 3 eq skiz return dup 1 add swap 1 addi 1 swap 1 recurse";
  const Verdict answer = Compare(*program, Assembly(loop));
  EXPECT_FALSE(CallsEqual(answer));
}

TEST(TasmIr, Halves) {
  const char* split = R"(func @main(%x: field) -> (u32, u32) {
  %w = cast %x : u64
  %s = const 32 : u64
  %h = shr %w, %s : u64
  %lo = cast %w : u32
  %hi = cast %h : u32
  return %lo, %hi
}
)";
  Check(split, "read_io 1 split write_io 2 halt", Proved);
  Check(split, "read_io 1 split swap 1 push 4294967296 mul split pop 1 swap 1 write_io 2 halt",
        Proved);
  Check(split, "read_io 1 split swap 1 write_io 2 halt", Refuted);
  Check(split, "read_io 1 split swap 1 push 2147483648 mul split pop 1 swap 1 write_io 2 halt",
        Refuted);
}

TEST(TasmIr, LeadingZeros) {
  const char* log = R"(func @main(%x: u32) -> (u32) {
  %c = clz %x : u32
  %all = const 31 : u32
  %l = sub.checked %all, %c : u32
  return %l
}
)";
  Check(log, "read_io 1 log_2_floor write_io 1 halt", Proved);
  Check(log, "read_io 1 addi 1 log_2_floor write_io 1 halt", Refuted);
}

class Random {
 public:
  uint64_t Next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    return state_ ^= state_ << 17;
  }
  uint64_t Word() {
    constexpr uint64_t Edges[] = {0,
                                  1,
                                  2,
                                  31,
                                  0x7fff'ffff,
                                  0x8000'0000,
                                  0xffff'ffff,
                                  0x1'0000'0000,
                                  0x7fff'ffff'ffff'ffff,
                                  0x8000'0000'0000'0000,
                                  0xffff'ffff'0000'0001,
                                  ~uint64_t{0}};
    switch (Next() % 4) {
      case 0: return Edges[Next() % std::size(Edges)];
      case 1: return Next() % 70;
      case 2: return Next() >> (Next() % 64);
      default: return Next();
    }
  }

 private:
  uint64_t state_ = 0x9e37'79b9'7f4a'7c15u;
};

// A raw store at a secret address, and an array of the compiler's own.
constexpr const char* RawAndOwn = R"(func @main(%ram: buffer<field>) -> (field, field) {
  %a = hint : field
  %k = hint : field
  %len = const 2 : index
  %own = alloc %len : field
  %kw = cast %k : u64
  %ki = cast %kw : index
  %seven = const 7 : field
  store %own, %ki, %seven : field
  OFFSET
  %wide = cast %at : u64
  %to = cast %wide : index
  %five = const 5 : field
  store %ram, %to, %five : field
  %zero = const 0 : index
  %x = load %own, %zero : field
  %y = load %ram, %to : field
  return %x, %y
}
)";

std::string WithOffset(std::string_view offset) {
  std::string text = RawAndOwn;
  return text.replace(text.find("OFFSET"), 6, offset);
}

TEST(TasmIr, RawAddressesBeyondTheirRangeAreUnspecified) {
  const std::string plain = WithOffset("%c0 = const 0 : field\n  %at = add %a, %c0 : field");
  const std::string behind = WithOffset("%c0 = const 9 : field\n  %at = add %a, %c0 : field");
  // Scratch at 2^60; the index must be below 2; address `a` plus what is added.
  const char* text =
      "divine 2 push 0 push 0 push 1152921504606846976 write_mem 2 pop 1 "
      "dup 0 split push 2 swap 1 lt assert push 0 eq assert "
      "push 7 swap 1 push 1152921504606846976 add write_mem 1 pop 1 "
      "{} push {} swap 1 {} write_mem 1 pop 1 "
      "push 1152921504606846976 read_mem 1 pop 1 swap 1 {} read_mem 1 pop 1 swap 1 write_io 2 halt";
  const char* checked = "dup 0 split pop 1 push 0 eq assert dup 0";
  const auto assembly = [&](const char* check, int value, const char* add) {
    return fmt::format(fmt::runtime(text), check, value, add, add);
  };
  Check(plain, assembly(checked, 5, ""), Proved);
  Check(plain, assembly("dup 0", 5, ""), Proved);
  Check(plain, assembly(checked, 6, ""), Refuted);
  Check(plain, assembly(checked, 5, "addi 1"),
        "proved");  // no other cell of `ram` is read
  Check(plain, assembly("dup 0 push 77 eq push 0 eq assert dup 0", 5, ""), Refuted);
  // The check is of the address before the constant is added.
  Check(behind, assembly(checked, 5, "addi 9"), Proved);
  Check(behind, assembly("dup 0", 5, "addi 9"), Proved);
  Check(behind, assembly("dup 0 addi 9 split pop 1 push 0 eq assert dup 0", 5, "addi 9"), Proved);
  Check(behind, assembly(checked, 4, "addi 9"), Refuted);
}

// Terms, what is known of them, and numbers for their atoms.
struct Numbers {
  Random& random;
  Terms terms{Seed({"test"})};
  Facts facts{terms}, values{terms};

  // An input; it is known to lie below 2^32 except once in so many times.
  Term Input(uint64_t i, uint64_t wide_once_in) {
    const Term atom = terms.Atom(Base::Input, 0, i);
    uint64_t value = goldilocks::FromUint64(random.Word());
    if (random.Next() % wide_once_in != 0) value &= 0xffff'ffffu, facts.Assume(Below32(atom));
    values.Replace(atom, terms.Constant(value));
    return atom;
  }
};
void ForManyNumbers(const std::function<void(Numbers&, int round)>& body) {
  Random random;
  for (int round = 0; round < 3000; ++round) {
    Numbers numbers{random};
    body(numbers, round);
  }
}

// A range of a sum with negative coefficients, against numbers.
TEST(TasmIr, RangesOfDifferences) {
  uint64_t narrow = 0;
  ForManyNumbers([&](Numbers& numbers, int round) {
    auto& [random, terms, facts, values] = numbers;
    Term sum = terms.Constant(random.Next() % 2 == 0 ? goldilocks::FromUint64(random.Word()) : 0);
    for (uint64_t i = 0; i < 1 + random.Next() % 3; ++i) {
      const Term atom = numbers.Input(i, 8);
      constexpr uint64_t Factors[] = {1,
                                      3,
                                      uint64_t{1} << 31,
                                      goldilocks::P - 1,
                                      goldilocks::P - 5,
                                      goldilocks::P - (uint64_t{1} << 31),
                                      goldilocks::P / 2,
                                      goldilocks::P / 2 + 1};
      sum = terms.Add(sum, terms.Scale(atom, Factors[random.Next() % std::size(Factors)]));
    }
    const Interval range = facts.RangeOf(sum);
    const uint64_t number = terms.ConstantOf(values.Simplify(sum));
    narrow += range.low > 0 || range.high < goldilocks::P - 1;
    EXPECT_TRUE(range.low <= number && number <= range.high) << round;
  });
  EXPECT_GT(narrow, 500u);
}

// The op on constants: its words are then numbers, and must be the interpreter's.
void OpOnConstants(const char* op, const char* type, uint64_t a, uint64_t b, bool unary) {
  const bool wide = std::string_view(type) != "u32";
  if (!wide) a &= 0xffff'ffffu, b &= 0xffff'ffffu;
  const bool sign = std::string_view(type) == "index";
  auto number = [&](uint64_t word) {
    return sign ? fmt::format("{}", static_cast<int64_t>(word)) : fmt::format("{}", word);
  };
  const std::string_view name = op;
  const bool compare =
      name == "lt" || name == "le" || name == "gt" || name == "ge" || name == "eq" || name == "ne";
  const std::string text = fmt::format(
      "frz 1\n\nfunc @main() -> ({}) {{\n  %a = const {} : {}\n  %b = const {} : {}\n"
      "  %r = {} %a{} : {}\n  return %r\n}}\n",
      compare ? "bool" : type, number(a), type, number(b), type, op, unary ? "" : ", %b", type);
  auto program = ir::ParseText(text);
  ASSERT_TRUE(program.has_value()) << text << program.error().ToString();
  auto outcome = exec::Interpret(*program, {}, {});
  ASSERT_TRUE(outcome.has_value() && !outcome->trap) << text;
  const uint64_t word = outcome->results[0].scalar_words()[0];
  const bool two = wide && !compare;
  const uint64_t low = two || !compare ? word & 0xffff'ffffu : word;
  for (const bool wrong : {false, true}) {
    const std::string assembly =
        two ? fmt::format("push {} push {} write_io 2 halt", (word >> 32) ^ wrong, low)
            : fmt::format("push {} write_io 1 halt", low ^ wrong);
    const Verdict answer = Compare(*program, Assembly(assembly));
    EXPECT_EQ(VerdictName(answer), wrong ? Refuted : Proved)
        << text << assembly << Describe(answer);
  }
}

TEST(TasmIr, OpsAreThoseOfTheInterpreter) {
  Random random;
  for (int round = 0; round < 40; ++round) {
    const uint64_t a = random.Word(), b = round % 5 == 0 ? a : random.Word();
    for (const char* op : {"add", "sub", "mul", "and", "or", "xor", "shl", "shr", "lt", "le", "gt",
                           "ge", "eq", "ne"}) {
      OpOnConstants(op, "u32", a, b, false);
      OpOnConstants(op, "u64", a, b, false);
    }
    for (const char* op : {"rotl", "rotr", "min", "max"}) OpOnConstants(op, "u32", a, b, false);
    for (const char* op : {"lt", "le", "gt", "ge", "add", "sub"})
      OpOnConstants(op, "index", a, b, false);
    for (const char* op : {"not", "clz", "popcnt"}) OpOnConstants(op, "u32", a, b, true);
    OpOnConstants("not", "u64", a, b, true);
  }
}

// High halves of sums with multiples of 2^32, simplified and then filled in, against filled in first.
TEST(TasmIr, HighHalvesOfMultiples) {
  uint64_t simplified = 0;
  ForManyNumbers([&](Numbers& numbers, int round) {
    auto& [random, terms, facts, values] = numbers;
    Term sum = terms.Constant(random.Next() % 3 == 0 ? random.Word() % 1000 : 0);
    for (uint64_t i = 0; i < 1 + random.Next() % 3; ++i) {
      const Term atom = terms.Atom(Base::Input, 0, i);
      uint64_t value = goldilocks::FromUint64(random.Word());
      Term word = atom;
      switch (random.Next() % 4) {
        case 0: value &= 0xffff'ffffu, facts.Assume(Below32(atom)); break;
        case 1: word = terms.High(atom); break;
        case 2: word = terms.IsZero(atom); break;
        default: word = terms.Less(terms.High(atom), terms.Constant(77)); break;
      }
      values.Replace(atom, terms.Constant(value));
      constexpr uint64_t Factors[] = {1,
                                      2,
                                      uint64_t{1} << 31,
                                      uint64_t{1} << 32,
                                      uint64_t{1} << 33,
                                      goldilocks::P - 1,
                                      uint64_t{5} << 32,
                                      goldilocks::P - 2};
      sum = terms.Add(sum, terms.Scale(word, Factors[random.Next() % std::size(Factors)]));
    }
    const uint64_t number = terms.ConstantOf(values.Simplify(sum));
    const Term high = terms.High(sum), known = facts.Simplify(high);
    simplified += terms.KindOf(high) != Base::High || terms.KindOf(known) != Base::High;
    EXPECT_EQ(terms.ConstantOf(values.Simplify(high)), number >> 32) << round;
    values.Refresh();
    EXPECT_EQ(terms.ConstantOf(values.Simplify(known)), number >> 32) << round;
  });
  EXPECT_GT(simplified, 100u);
}

// What is called below 2^32 by cases is so for all values of what chooses.
TEST(TasmIr, BelowByCases) {
  uint64_t below = 0;
  ForManyNumbers([&](Numbers& numbers, int round) {
    auto& [random, terms, facts, values] = numbers;
    Term chosen = numbers.Input(0, 4);
    for (uint64_t i = 0; i < 1 + random.Next() % 3; ++i) {
      const Term other = numbers.Input(2 * i + 1, 4),
                 flag = terms.IsZero(terms.Atom(Base::Secret, 0, i));
      values.Replace(terms.Atom(Base::Secret, 0, i), terms.Constant(random.Next() % 2));
      const Term factor = random.Next() % 8 == 0 ? terms.Scale(flag, 2) : flag;
      chosen = terms.Add(chosen, terms.Mul(factor, terms.Sub(other, chosen)));
    }
    if (!facts.Decide(Below32(chosen)).value_or(false)) return;
    ++below;
    EXPECT_LE(terms.ConstantOf(values.Simplify(chosen)), 0xffff'ffffu) << round;
  });
  EXPECT_GT(below, 300u);
}

TEST(TasmIr, BelowABoundAndNoneOfTheNumbersBelow) {
  for (const uint64_t bound : {1, 2, 5}) {
    for (uint64_t order = 0; order < 2; ++order) {
      for (uint64_t spared = 0; spared <= bound; ++spared) {
        Terms terms(Seed({"test"}));
        Facts facts(terms);
        const Term x = terms.Atom(Base::Input, 0, 0);
        const Literal below = NonZero(terms.Less(x, terms.Constant(bound)));
        bool possible = order == 1 || facts.Assume(below);
        for (uint64_t i = 0; i < bound; ++i) {
          if (i != spared) possible &= facts.Assume(NonZero(terms.Sub(x, terms.Constant(i))));
        }
        if (order == 1) possible &= facts.Assume(below);
        EXPECT_EQ(possible, spared < bound) << bound << " " << order << " " << spared;
      }
    }
  }
}

// An application is known by any form of its arguments, whichever fact came first; and by no other argument.
TEST(TasmIr, KnownApplicationsFollowTheirArguments) {
  for (const bool argument_first : {false, true}) {
    Terms terms(Seed({"test"}));
    Facts facts(terms);
    const Term x = terms.Atom(Base::Input, 0, 0), y = terms.Atom(Base::Input, 0, 1);
    const Term other = terms.Atom(Base::Input, 0, 2), seven = terms.Constant(7),
               eight = terms.Constant(8);
    const Term of_x = terms.Apply(Base::Ram, {&x, 1});
    if (argument_first) {
      EXPECT_TRUE(facts.Assume(Zero(terms.Sub(x, seven))));
    }
    EXPECT_TRUE(facts.Assume(Zero(terms.Sub(of_x, y))));
    EXPECT_TRUE(facts.Assume(Zero(terms.Sub(x, seven))));
    EXPECT_TRUE(facts.Equal(terms.Apply(Base::Ram, {&seven, 1}), y));
    EXPECT_TRUE(facts.Equal(of_x, y));
    EXPECT_FALSE(facts.Equal(terms.Apply(Base::Ram, {&eight, 1}), y));
    EXPECT_FALSE(facts.Equal(terms.Apply(Base::Ram, {&other, 1}), y));
  }
}

}  // namespace
}  // namespace frazil::verify::tasm
