// Certificates that hold, and many that do not: none of the latter may pass.
#include <gtest/gtest.h>

#include "generator/generator.h"
#include "ir/text/test_ops.h"
#include "ir/text/test_text.h"
#include "ir/text/text.h"
#include "verify/verify.h"

namespace frazil::verify {
namespace {

ir::Program Read(std::string_view text) {
  Result<ir::Program> program =
      ir::ParseText((text.starts_with("frz") ? "" : "frz 1\n") + std::string(text));
  EXPECT_TRUE(program) << (program ? "" : program.error().ToString()) << "\n" << text;
  return program ? std::move(*program) : ir::Program{};
}

ir::Certificate Lines(std::string_view text) {
  Result<ir::Certificate> certificate = ir::ParseCertificate("certificate 1\n" + std::string(text));
  EXPECT_TRUE(certificate) << (certificate ? "" : certificate.error().ToString()) << "\n" << text;
  return certificate ? std::move(*certificate) : ir::Certificate{};
}

Verdict Check(std::string_view source, std::string_view candidate, std::string_view lines = "",
              std::string_view guard = "true") {
  const ir::Program program = Read(source);
  ir::Candidate made{
      .program = Read(candidate), .guard = {}, .certificate = Lines(lines), .origin = "test"};
  Result<ir::Guard> parsed = ir::ParseGuard(guard, program);
  EXPECT_TRUE(parsed);
  if (parsed) made.guard = *parsed;
  return CheckCertificate(program, made);
}

std::string Why(const Verdict& verdict) {
  const Unknown* unknown = std::get_if<Unknown>(&verdict);
  return unknown == nullptr ? std::string(VerdictName(verdict)) : unknown->reason;
}

#define EXPECT_HOLDS(...)                                             \
  do {                                                                \
    const Verdict verdict = Check(__VA_ARGS__);                       \
    EXPECT_TRUE(std::holds_alternative<Proved>(verdict)) << Why(verdict); \
  } while (0)
#define EXPECT_REFUSED(reason, ...)                                              \
  do {                                                                           \
    const Verdict verdict = Check(__VA_ARGS__);                                  \
    EXPECT_TRUE(std::holds_alternative<Unknown>(verdict)) << "it passed";        \
    EXPECT_NE(Why(verdict).find(reason), std::string::npos) << Why(verdict);     \
  } while (0)

// None of these changes of what was right passes.
using Changes = std::initializer_list<std::pair<std::string_view, std::string_view>>;
void ExpectChangesRefused(std::string_view source, std::string_view right, Changes changes,
                          std::string_view lines = "") {
  for (const auto& [from, to] : changes) {
    std::string wrong(right);
    wrong.replace(wrong.find(from), from.size(), to);
    EXPECT_TRUE(std::holds_alternative<Unknown>(Check(source, wrong, lines))) << wrong;
  }
}

// The example of ir/certificate.h.
constexpr std::string_view Source = R"(
func @main(%0: u32, %1: u32) -> (u32) {
  %2 = const 8 : u32
  %3 = mul %0, %2 : u32
  %4 = mul %1, %2 : u32
  %5 = add %3, %4 : u32
  return %5
})";
constexpr std::string_view Shifted = R"(
func @main(%0: u32, %1: u32) -> (u32) {
  %2 = const 3 : u32
  %3 = add %0, %1 : u32
  %4 = shl %3, %2 : u32
  return %4
})";
constexpr std::string_view Terms =
    "term source 0 0\nterm source 0 1\nterm source 0 5\nterm apply add u32 u32 0 1\nterm constant "
    "u32 8\n"
    "term apply mul u32 u32 3 4\nterm candidate 0 4\n";
std::string With(std::string_view lines) { return std::string(Terms) + std::string(lines); }

TEST(Certificates, TheExampleHolds) {
  EXPECT_HOLDS(Source, Shifted, With("equal mul_distributes reversed 2 5\nequal mul_power 5 6\n"));
  // In any order, and without naming the inner steps.
  EXPECT_HOLDS(Source, Shifted, With("equal mul_power 5 6\nequal mul_distributes reversed 2 5\n"));
}

TEST(Certificates, WrongLinesAreRefused) {
  EXPECT_REFUSED("result 1", Source, Shifted, "");
  EXPECT_REFUSED("there is no rule", Source, Shifted, With("equal mul_pover 5 6\n"));
  EXPECT_REFUSED("result 1", Source, Shifted, With("equal mul_distributes reversed 2 5\n"));
  EXPECT_REFUSED("result 1", Source, Shifted, With("equal mul_power 5 6\n"));
  // Right steps under wrong names or in the wrong direction.
  EXPECT_REFUSED("", Source, Shifted, With("equal mul_distributes 2 5\nequal mul_power 5 6\n"));
  EXPECT_REFUSED("", Source, Shifted,
                 With("equal mul_distributes_sub reversed 2 5\nequal mul_power 5 6\n"));
  EXPECT_REFUSED("", Source, Shifted,
                 With("equal mul_distributes reversed 2 5\nequal mul_power_plus_one 5 6\n"));
  EXPECT_REFUSED("", Source, Shifted, With("equal add_zero 2 6\n"));
  EXPECT_REFUSED("", Source, Shifted, With("equal fold 2 6\n"));
  // A line that does not hold spoils a certificate that would do without it.
  EXPECT_REFUSED(
      "equality 2", Source, Shifted,
      With("equal mul_distributes reversed 2 5\nequal mul_power 5 6\nequal add_zero 0 1\n"));
  EXPECT_REFUSED("equality 2", Source, Shifted,
                 With("equal mul_distributes reversed 2 5\nequal mul_power 5 6\nequal fold 0 4\n"));
}

TEST(Certificates, WrongTermsAreRefused) {
  const auto refused = [](std::string_view terms) { return Check(Source, Source, terms); };
  for (
      std::string_view terms : {
          "term source 0 99\n",
          "term source 7 0\n",
          "term candidate 0 99\n",
          "term source 0 0\nterm apply add u32 u32 0\n",        // too few
          "term source 0 0\nterm apply add u32 u32 0 0 0\n",    // too many
          "term source 0 0\nterm apply add u64 u64 0 0\n",      // wrong type
          "term source 0 0\nterm apply add u32 u64 0 0\n",      // wrong result
          "term source 0 0\nterm apply lt u32 u32 0 0\n",       // a comparison gives bool
          "term source 0 0\nterm apply add u32 u32 0 0 #1\n",   // attributes
          "term source 0 0\nterm apply store u32 u32 0 0 0\n",  // an effect
          "term source 0 0\nterm apply and f32 f32 0 0\n",      // no such op on floats
          "term source 0 0\nterm apply exp f32 f32 0\n",        // of another type
          "term constant xfield (1, 2, 3)\nterm apply xfield.part xfield field 0 #3\n",  // no such part
          "term constant xfield (1, 2, 3)\nterm apply xfield.part xfield field 0\n",  // which part?
          "term constant index 0\nterm apply lookup f64 f64 0 #0\n",                  // a table
          // conversions that there are not: folding them would break the interpreter's promise
          "term constant xfield (1, 2, 3)\nterm apply cast u32 u32 0\n",
          "term constant field 1\nterm apply cast u32 u32 0\n",
          "term constant i32 1\nterm apply cast bool bool 0\n",
          "term constant f32 1\nterm apply cast.checked i32 i32 0\n",
          "term constant f32 1\nterm apply bitcast u64 u64 0\n",
          "term constant field 2\nterm constant u64 3\nterm apply field.pow field field 0 1\n",
      }) {
    EXPECT_NE(Why(refused(terms)).find("malformed"), std::string::npos)
        << terms << Why(refused(terms));
  }
  ir::Candidate candidate{
      .program = Read(Source), .guard = {}, .certificate = {}, .origin = "test"};
  candidate.certificate.terms.push_back({.kind = ir::CertTerm::Kind::Constant,
                                         .type = ir::types::U8,
                                         .result = {},
                                         .words = {256},
                                         .children = {}});
  EXPECT_TRUE(std::holds_alternative<Unknown>(CheckCertificate(Read(Source), candidate)));
  candidate.certificate.terms = {};
  candidate.certificate.equalities.push_back({.rule = "fold", .left = 3, .right = 4});
  EXPECT_TRUE(std::holds_alternative<Unknown>(CheckCertificate(Read(Source), candidate)));
}

// One changed token of the candidate each, under the certificate that was right before.
TEST(Certificates, WrongCandidatesAreRefused) {
  const std::string lines = With("equal mul_distributes reversed 2 5\nequal mul_power 5 6\n");
  ExpectChangesRefused(Source, Shifted,
                       {{"const 3", "const 4"},
                        {"const 3", "const 35"},
                        {"add %0, %1", "sub %0, %1"},
                        {"add %0, %1", "add %0, %0"},
                        {"shl %3, %2", "shr %3, %2"},
                        {"shl %3, %2", "shl %2, %3"},
                        {"shl %3, %2", "rotl %3, %2"},
                        {"return %4", "return %3"},
                        {"shl %3, %2", "mul %3, %2"}},
                       lines);
}

TEST(Certificates, ConditionsOfRulesCount) {
  const auto division = [](std::string_view divisor, std::string_view type) {
    return "func @main(%0: " + std::string(type) + ") -> (" + std::string(type) +
           ") {\n  %1 = const " + std::string(divisor) + " : " + std::string(type) +
           "\n  %2 = div.trunc %0, %1 : " + std::string(type) + "\n  return %2\n}";
  };
  const auto shift = [](std::string_view by, std::string_view type) {
    return "func @main(%0: " + std::string(type) + ") -> (" + std::string(type) +
           ") {\n  %1 = const " + std::string(by) + " : " + std::string(type) +
           "\n  %2 = shr %0, %1 : " + std::string(type) + "\n  return %2\n}";
  };
  const std::string_view lines = "term source 0 2\nterm candidate 0 2\nequal div_power 0 1\n";
  EXPECT_HOLDS(division("16", "u32"), shift("4", "u32"), lines);
  EXPECT_REFUSED("", division("16", "u32"), shift("5", "u32"), lines);  // another amount
  EXPECT_REFUSED("", division("24", "u32"), shift("3", "u32"), lines);  // no power of two
  EXPECT_REFUSED("", division("16", "i32"), shift("4", "i32"),
                 lines);  // the rule is for unsigned types
}

TEST(Certificates, FloatsNeedArithmetic) {
  const std::string_view source =
      "func @main(%0: f32) -> (f32) {\n%1 = neg %0 : f32\n%2 = neg %1 : f32\nreturn %2\n}";
  const std::string_view lines = "term source 0 2\nterm source 0 0\nequal float_neg_neg 0 1\n";
  EXPECT_REFUSED("", source, "func @main(%0: f32) -> (f32) {\nreturn %0\n}", lines);
  const std::string_view after =
      "func @main(%0: f32) -> (f32) {\n%1 = mul %0, %0 : f32\n%2 = neg %1 : f32\n%3 = neg %2 : "
      "f32\nreturn %3\n}";
  EXPECT_HOLDS(after, "func @main(%0: f32) -> (f32) {\n%1 = mul %0, %0 : f32\nreturn %1\n}",
               "term source 0 3\nterm source 0 1\nequal float_neg_neg 0 1\n");
}

TEST(Certificates, SharingMovingAndDroppingNeedNoLine) {
  const std::string_view source = R"(
func @main(%n: index, %x: i32, %out: out buffer<i32>) -> (i32) {
  %lo = const 0 : index
  %unused = mul %x, %x : i32
  %zero = const 0 : i32
  %r = for %i = %lo to %n step 1 carry (%acc = %zero) {
    %seven = const 7 : i32
    %a = mul %x, %seven : i32
    %b = mul %seven, %x : i32
    %s = add %a, %b : i32
    %next = add %acc, %s : i32
    store %out, %i, %next : i32
    yield %next
  }
  return %r
})";
  const std::string_view hoisted = R"(
func @main(%n: index, %x: i32, %out: out buffer<i32>) -> (i32) {
  %lo = const 0 : index
  %zero = const 0 : i32
  %seven = const 7 : i32
  %a = mul %x, %seven : i32
  %s = add %a, %a : i32
  %r = for %i = %lo to %n step 1 carry (%acc = %zero) {
    %next = add %s, %acc : i32
    store %out, %i, %next : i32
    yield %next
  }
  return %r
})";
  EXPECT_HOLDS(source, hoisted);
  ExpectChangesRefused(
      source, hoisted,
      {{"store %out, %i, %next", "store %out, %lo, %next"},  // another place
       {"store %out, %i, %next", "store %out, %i, %acc"},    // another value
       {"    store %out, %i, %next : i32\n", ""},            // no store
       {"yield %next", "yield %acc"},
       {"step 1", "step 2"},
       {"carry (%acc = %zero)", "carry (%acc = %seven)"},
       {"%lo to %n", "%n to %lo"},
       {"return %r", "return %zero"},
       {"yield %next\n  }", "yield %next\n  }\n  store %out, %lo, %zero : i32"}});  // one more
}

TEST(Certificates, TrapsStayWhereTheyAre) {
  const std::string_view source = R"(
func @main(%a: i32, %b: i32, %x: in buffer<i32>, %i: index) -> (i32) {
  %q = div.trunc %a, %b : i32
  %v = load %x, %i : i32
  %q2 = div.trunc %a, %b : i32
  %w = load %x, %i : i32
  %s = add %q2, %w : i32
  %r = add %s, %q : i32
  return %r
})";
  EXPECT_HOLDS(source, R"(
func @main(%a: i32, %b: i32, %x: in buffer<i32>, %i: index) -> (i32) {
  %q = div.trunc %a, %b : i32
  %v = load %x, %i : i32
  %s = add %q, %v : i32
  %r = add %s, %q : i32
  return %r
})");
  EXPECT_REFUSED("meets", source, R"(
func @main(%a: i32, %b: i32, %x: in buffer<i32>, %i: index) -> (i32) {
  %v = load %x, %i : i32
  %q = div.trunc %a, %b : i32
  %s = add %q, %v : i32
  %r = add %s, %q : i32
  return %r
})");
  // A trap is dropped, added, or changed in kind, though the value is right.
  const std::string_view plain = "func @main(%a: i32, %b: i32) -> (i32) {\n  return %a\n}";
  const std::string_view traps =
      "func @main(%a: i32, %b: i32) -> (i32) {\n  %q = div.trunc %a, %b : i32\n  return %a\n}";
  const std::string_view other =
      "func @main(%a: i32, %b: i32) -> (i32) {\n  %q = rem.trunc %a, %b : i32\n  return %a\n}";
  EXPECT_REFUSED("no counterpart", traps, plain);
  EXPECT_REFUSED("no counterpart", plain, traps);
  EXPECT_REFUSED("meets", traps, other);
  EXPECT_HOLDS(
      "func @main(%a: i32) -> (i32) {\n %c = const 4 : i32\n %q = div.trunc %a, %c : i32\n return "
      "%a\n}",
      "func @main(%a: i32) -> (i32) {\n return %a\n}");
  EXPECT_REFUSED("no counterpart",
                 "func @main(%a: i32) -> (i32) {\n %c = const -1 : i32\n %q = div.checked %a, %c : "
                 "i32\n return %a\n}",
                 "func @main(%a: i32) -> (i32) {\n return %a\n}");
  EXPECT_REFUSED("no counterpart",
                 "func @main(%a: i32) -> (i32) {\n %c = const 1 : i32\n %q = add.checked %a, %c : "
                 "i32\n return %a\n}",
                 "func @main(%a: i32) -> (i32) {\n return %a\n}");
  // Two 16-bit numbers fit their sum in 32 bits.
  EXPECT_HOLDS(
      "func @main(%a: i16) -> (i16) {\n %c = cast.checked %a : i32\n %q = add.checked %c, %c : "
      "i32\n return %a\n}",
      "func @main(%a: i16) -> (i16) {\n return %a\n}");
}

// What was checked and went on is in range, where it was checked: not before, nor behind a branch that did so.
TEST(Certificates, ACheckedSumIsInRangeWhereItRan) {
  const auto program = [](std::string_view body) {
    return "func @main(%p: bool, %a: i32, %b: i32) -> (i32) {\n" + std::string(body) +
           " return %a\n}";
  };
  const std::string sum = " %s = add.checked %a, %b : i32\n",
                    cast = " %c = cast.checked %s : u32\n";
  const std::string_view guard = "0 <= arg1 <= 2147483647 && 0 <= arg2 <= 2147483647";
  EXPECT_HOLDS(program(sum + cast), program(sum), "", guard);
  EXPECT_HOLDS(program(sum), program(sum + cast), "", guard);
  EXPECT_REFUSED("no counterpart", program(sum + cast), program(sum));
  const std::string branch = " if %p {\n " + sum + " yield\n } else {\n yield\n }\n";
  const std::string wrapping = " %w = add %a, %b : i32\n %c = cast.checked %w : u32\n";
  EXPECT_REFUSED("no counterpart", program(branch + wrapping), program(branch), "", guard);
}

TEST(Certificates, EffectsKeepTheirOrder) {
  const std::string_view source =
      "func @main(%a: i32, %b: i32) -> () {\n  output %a : i32\n  output %b : i32\n  return\n}";
  EXPECT_HOLDS(source, source);
  EXPECT_REFUSED(
      "", source,
      "func @main(%a: i32, %b: i32) -> () {\n  output %b : i32\n  output %a : i32\n  return\n}");
  EXPECT_REFUSED("", source,
                 "func @main(%a: i32, %b: i32) -> () {\n  output %a : i32\n  return\n}");
  const std::string_view reads =
      "func @main() -> (i32) {\n  %a = input : i32\n  %b = input : i32\n  %c = sub %a, %b : i32\n  "
      "return %c\n}";
  EXPECT_HOLDS(reads, reads);
  EXPECT_REFUSED("", reads,
                 "func @main() -> (i32) {\n  %a = input : i32\n  %b = input : i32\n  %c = sub %b, "
                 "%a : i32\n  return %c\n}");
  EXPECT_REFUSED(
      "", reads,
      "func @main() -> (i32) {\n  %a = input : i32\n  %c = sub %a, %a : i32\n  return %c\n}");
  EXPECT_REFUSED("", reads,
                 "func @main() -> (i32) {\n  %a = hint : i32\n  %b = input : i32\n  %c = sub %a, "
                 "%b : i32\n  return %c\n}");
}

TEST(Certificates, MemoryIsNotForgotten) {
  const std::string_view source = R"(
func @main(%x: buffer<i32>, %i: index, %v: i32) -> (i32) {
  %a = load %x, %i : i32
  store %x, %i, %v : i32
  %b = load %x, %i : i32
  %r = add %a, %b : i32
  return %r
})";
  EXPECT_HOLDS(source, source);
  EXPECT_REFUSED("", source, R"(
func @main(%x: buffer<i32>, %i: index, %v: i32) -> (i32) {
  %a = load %x, %i : i32
  store %x, %i, %v : i32
  %r = add %a, %a : i32
  return %r
})");
  EXPECT_REFUSED("", source, R"(
func @main(%x: buffer<i32>, %i: index, %v: i32) -> (i32) {
  store %x, %i, %v : i32
  %a = load %x, %i : i32
  %b = load %x, %i : i32
  %r = add %a, %b : i32
  return %r
})");
}

TEST(Certificates, BranchesReduceUnderAGuard) {
  const std::string source =
      "func @main(%k: i32, %x: i32) -> (i32) {\n" +
      ir::SwitchLines(
          "%k", "i32",
          {{"case 0", {ir::OpLines("i32", "a = add x x"), "%a"}},
           {"case 5", {ir::OpLines("i32", "b = mul x k") + "    output %b : i32\n", "%b"}},
           {"default", {"", "%x"}}}) +
      "  return %q\n}";
  const std::string arm = "func @main(%k: i32, %x: i32) -> (i32) {\n" +
                          ir::OpLines("i32", "five = const 5; b = mul x five") +
                          "  output %b : i32\n  return %b\n}";
  EXPECT_HOLDS(source, arm, "", "arg0 == 5");
  EXPECT_REFUSED("", source, arm);
  EXPECT_REFUSED("", source, arm, "", "arg0 == 0");
  EXPECT_REFUSED("", source, arm, "", "arg1 == 5");
  EXPECT_REFUSED("", source, arm, "", "4 <= arg0 <= 6");
  const std::string choice =
      "func @main(%p: bool, %a: i32, %b: i32) -> (i32) {\n" +
      ir::ChoiceLines("%p", "i32", {"", "%a"}, {ir::OpLines("i32", "s = add b b"), "%s"}) +
      "  return %r\n}";
  EXPECT_HOLDS(choice,
               "func @main(%p: bool, %a: i32, %b: i32) -> (i32) {\n%s = add %b, %b : i32\n"
               "%r = select %p, %a, %s : i32\nreturn %r\n}");
  EXPECT_REFUSED("", choice,
                 "func @main(%p: bool, %a: i32, %b: i32) -> (i32) {\n%s = add %b, %b : i32\n"
                 "%r = select %p, %s, %a : i32\nreturn %r\n}");
}

TEST(Certificates, AGuardOnARecursiveEntryIsNotUsed) {
  const std::string source =
      "func @main(%n: i32) -> (i32) {\n" + ir::OpLines("i32", "one = const 1; t = gt n one") +
      ir::ChoiceLines("%t", "i32",
                      {ir::OpLines("i32", "m = sub n one") + "    %s = call @main(%m)\n", "%s"},
                      {"", "%n"}) +
      "  return %r\n}";
  const std::string_view wrong =
      "func @main(%n: i32) -> (i32) {\n  %five = const 5 : i32\n  return %five\n}";
  EXPECT_REFUSED("calls its entry", source, wrong, "", "arg0 == 5");
  EXPECT_HOLDS(source, source);
}

TEST(Certificates, LoopsOfNoTurnOrOne) {
  const auto loop = [](int hi) {
    return "func @main(%x: i32) -> (i32) {\n%lo = const 3 : i32\n%hi = const " +
           std::to_string(hi) +
           " : i32\n%r = for %i = %lo to %hi step 2 carry (%a = %x) {\n%n = add %a, %i : "
           "i32\noutput %n : i32\n"
           "yield %n\n}\nreturn %r\n}";
  };
  EXPECT_HOLDS(loop(3), "func @main(%x: i32) -> (i32) {\nreturn %x\n}");
  EXPECT_HOLDS(loop(5),
               "func @main(%x: i32) -> (i32) {\n%c = const 3 : i32\n%r = add %x, %c : i32\noutput "
               "%r : i32\nreturn %r\n}");
  EXPECT_REFUSED("", loop(6),
                 "func @main(%x: i32) -> (i32) {\n%c = const 3 : i32\n%r = add %x, %c : "
                 "i32\noutput %r : i32\nreturn %r\n}");
  EXPECT_REFUSED("", loop(5), "func @main(%x: i32) -> (i32) {\nreturn %x\n}");
}

TEST(Certificates, CarriedValuesArePairedByInduction) {
  const std::string_view source = R"(
func @main(%n: i32) -> (i32) {
  %zero = const 0 : i32
  %one = const 1 : i32
  %a, %b = while (%p = %zero, %q = %one) {
    %t = lt %p, %n : i32
    condition %t
  } do {
    %s = add %p, %one : i32
    %u = mul %q, %s : i32
    yield %s, %u
  }
  return %b
})";
  std::string same(source);
  for (const auto& [from, to] :
       {std::pair<std::string_view, std::string_view>{"add %p, %one", "add %one, %p"},
        {"mul %q, %s", "mul %s, %q"}})
    same.replace(same.find(from), from.size(), to);
  EXPECT_HOLDS(source, same);
  ExpectChangesRefused(source, same,
                       {{"%q = %one", "%q = %zero"},
                        {"yield %s, %u", "yield %u, %s"},
                        {"lt %p, %n", "le %p, %n"},
                        {"mul %s, %q", "mul %p, %q"},
                        {"return %b", "return %a"}});
}

TEST(Certificates, CallsMatchTheirBodies) {
  const std::string_view source = R"(
func @twice(%a: i32) -> (i32) {
  %r = add %a, %a : i32
  return %r
}
func @main(%a: i32) -> (i32) {
  %r = call @twice(%a)
  return %r
})";
  EXPECT_HOLDS(source, source);
  std::string wrong(source);
  wrong.replace(wrong.find("add %a, %a"), 10, "mul %a, %a");
  EXPECT_REFUSED("", source, wrong);
}

TEST(Certificates, BarriersKeepTheirStructure) {
  const std::string source =
      ir::Lanes("%n: index, %x: buffer<i32>", "  %t = const true : bool\n", R"(
    %a = load %x, %zero : i32
    if %t {
      store %x, %i, %a : i32
      barrier
      yield
    }
)");
  const std::string flat = ir::Lanes("%n: index, %x: buffer<i32>", R"(
    %a = load %x, %zero : i32
    store %x, %i, %a : i32
    barrier
)");
  EXPECT_HOLDS(source, source);
  EXPECT_REFUSED("", source, flat);
}

// Mutants of such programs are for tests/judges.
TEST(Certificates, AProgramIsItsOwnProof) {
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    generator::GeneratorOptions options;
    options.seed = seed;
    options.size = 10 + static_cast<uint32_t>(seed % 12);
    options.allow_tensors = seed % 4 == 0;
    const ir::Program source = generator::Generate(options);
    const Verdict itself =
        CheckCertificate(source, {.program = source, .guard = {}, .certificate = {}, .origin = ""});
    EXPECT_TRUE(std::holds_alternative<Proved>(itself)) << "seed " << seed << ": " << Why(itself);
  }
}

}  // namespace
}  // namespace frazil::verify
