// The encoder against the interpreter's meaning, op by op; then proofs, refutations, time-outs and a missing library.
#include "verify/smt/smt.h"

#include <chrono>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "exec/meaning/interpreter.h"
#include "exec/meaning/scalar_ops.h"
#include "exec/random_arguments.h"
#include "ir/builder.h"
#include "ir/text/test_ops.h"
#include "ir/text/text.h"
#include "verify/smt/encoder.h"

namespace frazil::verify::smt {
namespace {

using ir::Op;

ir::Program Read(std::string_view text) {
  Result<ir::Program> program = ir::ParseText("frz 1\n" + std::string(text));
  EXPECT_TRUE(program) << (program ? "" : program.error().ToString()) << "\n" << text;
  return program ? std::move(*program) : ir::Program{};
}

Verdict Prove(std::string_view source, std::string_view candidate, std::string_view guard = "true",
              uint64_t ms = 20'000) {
  const ir::Program a = Read(source), b = Read(candidate);
  Limits limits;
  limits.smt_ms = ms;
  return MakeZ3Prover()->Prove(a, b, *ir::ParseGuard(guard, a), limits);
}

// Constants through the encoder, simplified, against EvalScalar.
class EncoderCheck {
 public:
  explicit EncoderCheck(const Z3Api& api) : context_(api), encoder_(context_) {}

  void Check(Op op, ir::Type type, ir::Type source, ir::Type result,
             const std::vector<exec::Value>& operands) {
    std::vector<Z3_ast> encoded;
    std::vector<exec::Words> words;
    for (const exec::Value& value : operands) {
      encoded.push_back(encoder_.Constant(value.type, value.scalar_words()));
      words.push_back(value.scalar_words());
    }
    Encoder::Trapping trap;
    const Z3_ast value = encoder_.Apply(op, type, source, encoded, trap);
    ASSERT_NE(value, nullptr) << ir::Info(op).mnemonic << " " << ir::ScalarName(type.scalar);
    std::vector<uint64_t> expected(ir::WordsOf(result));
    const std::optional<ir::Trap> trapped = exec::EvalScalar({op, type, source}, words, expected);
    const bool division = trap.division != nullptr && IsTrue(trap.division);
    const bool overflow = trap.overflow != nullptr && IsTrue(trap.overflow);
    std::string what = fmt::format("{} {}", ir::Info(op).mnemonic, ir::ScalarName(type.scalar));
    for (const exec::Value& operand : operands) what += " " + exec::PrintValue(operand);
    if (trapped) {
      EXPECT_TRUE(*trapped == ir::Trap::DivisionByZero ? division : overflow && !division) << what;
      return;
    }
    EXPECT_FALSE(division || overflow) << what;
    EXPECT_TRUE(IsTrue(encoder_.Equal(value, encoder_.Constant(result, expected)))) << what;
  }

 private:
  bool IsTrue(Z3_ast condition) {
    return context_.api().get_bool_value(
               context_.get(), context_.api().simplify(context_.get(), condition)) == Z3_L_TRUE;
  }
  Context context_;
  Encoder encoder_;
};

TEST(Encoder, MeansWhatTheInterpreterMeans) {
  const Result<const Z3Api*> api = LoadZ3();
  ASSERT_TRUE(api) << api.error().ToString();
  EncoderCheck check(**api);
  uint64_t seed = 1;
  for (const ir::OpInfo& info : ir::AllOps()) {
    if (info.effect != ir::Effect::Pure || info.law == ir::Law::Prelude ||
        info.signature == "custom" || !info.attributes.empty() ||
        info.signature.find('S') != std::string_view::npos || info.signature.find('F') == 0) {
      continue;
    }
    for (int t = 0; t < ir::ScalarCount; ++t) {
      ir::Type type = ir::Type::Of(static_cast<ir::Scalar>(t));
      if (type.scalar == ir::Scalar::Int) type = ir::Type::Int(2);
      if (!ir::Contains(info.types, type.scalar) || !Encoder::Knows(type)) continue;
      for (int i = 0; i < 12; ++i) {
        std::vector<exec::Value> operands;
        for (char letter : info.signature.substr(0, info.signature.find("->"))) {
          if (letter == ',') continue;
          operands.push_back(exec::RandomScalar(letter == 'B' ? ir::types::Bool : type, seed++));
        }
        const ir::Type result = info.signature.back() == 'B' ? ir::types::Bool : type;
        check.Check(info.op, type, operands[0].type, result, operands);
      }
    }
  }
}

TEST(Encoder, CastsMeanWhatTheInterpreterMeans) {
  const Result<const Z3Api*> api = LoadZ3();
  ASSERT_TRUE(api) << api.error().ToString();
  EncoderCheck check(**api);
  uint64_t seed = 77;
  for (int from = 0; from < ir::ScalarCount; ++from) {
    for (int to = 0; to < ir::ScalarCount; ++to) {
      const ir::Type a = ir::Type::Of(static_cast<ir::Scalar>(from)),
                     b = ir::Type::Of(static_cast<ir::Scalar>(to));
      const bool machine = Encoder::Knows(a) && Encoder::Knows(b) && a.scalar != ir::Scalar::Int &&
                           b.scalar != ir::Scalar::Int && b.scalar != ir::Scalar::Bool;
      if (!machine) continue;
      const bool both_integers =
          (ir::IsFixedInt(a.scalar) || a.scalar == ir::Scalar::Bool) && ir::IsFixedInt(b.scalar);
      for (int i = 0; i < 8; ++i) {
        check.Check(Op::Cast, b, a, b, {exec::RandomScalar(a, seed++)});
        if (both_integers) check.Check(Op::CastChecked, b, a, b, {exec::RandomScalar(a, seed++)});
      }
    }
  }
}

TEST(Smt, ProvesIntegerPrograms) {
  const std::string source = ir::OpsFunction(
      "i32", "a b", "x = xor a b; y = and a b; one = const 1; z = shl y one; r = add x z");
  const Verdict verdict = Prove(source, ir::OpsFunction("i32", "a b", "r = add a b"));
  ASSERT_TRUE(std::holds_alternative<Proved>(verdict)) << Describe(verdict);
  EXPECT_EQ(std::get<Proved>(verdict).evidence.judge.substr(0, 3), "z3 ");
}

TEST(Smt, BranchesLoopsAndCalls) {
  const std::string source = ir::OpsFunction("u16", "a", "r = add a a", "twice") + R"(
func @main(%a: u16, %k: i32) -> (u16) {
  %lo = const -2 : i32
  %hi = const 1 : i32
  %r = for %i = %lo to %hi step 1 carry (%s = %a) {
    %t = call @twice(%s)
    yield %t
  }
)" + ir::SwitchLines("%k", "u16", {{"case -1", {"", "%a"}}, {"default", {"", "%r"}}}) +
                             "  return %q\n}";
  const std::string shifted = "func @main(%a: u16, %k: i32) -> (u16) {\n" +
                              ir::OpLines("u16", "three = const 3; s = shl a three") +
                              ir::OpLines("i32", "m = const -1; t = ne k m") +
                              ir::ChoiceLines("%t", "u16", {"", "%s"}, {"", "%a"}) +
                              "  return %r\n}";
  const Verdict verdict = Prove(source, shifted);
  EXPECT_TRUE(std::holds_alternative<Proved>(verdict)) << Describe(verdict);
}

TEST(Smt, RefutesWithArgumentsThatReproduce) {
  const std::string source = ir::OpsFunction("i64", "a", "r = abs a");
  const std::string wrong =
      ir::OpsFunction("i64", "a", "z = const 0; n = neg a; m = max n z; p = max a z; r = add m p");
  const Verdict verdict = Prove(source, wrong);  // they differ at MIN only
  ASSERT_TRUE(std::holds_alternative<Refuted>(verdict)) << Describe(verdict);
  const Refuted& refuted = std::get<Refuted>(verdict);
  EXPECT_EQ(exec::PrintValue(refuted.call().arguments[0]), "-9223372036854775808");
  EXPECT_FALSE(refuted.difference.empty());
  // And under a guard that leaves MIN out they are equal.
  EXPECT_TRUE(std::holds_alternative<Proved>(Prove(source, wrong, "-1000 <= arg0 <= 5")));
}

TEST(Smt, TrapsArePartOfTheMeaning) {
  const std::string traps = ir::OpsFunction("u8", "a b", "r = div.trunc a b; z = sub r r");
  const std::string zero = ir::OpsFunction("u8", "a b", "z = const 0");
  const Verdict verdict = Prove(traps, zero);
  ASSERT_TRUE(std::holds_alternative<Refuted>(verdict)) << Describe(verdict);
  EXPECT_TRUE(std::get<Refuted>(verdict).call().source.trap.has_value());
  EXPECT_TRUE(std::holds_alternative<Proved>(Prove(traps, zero, "arg1 == 3")));
  // The first trap counts.
  const std::string_view divide = "r = div.trunc a b", twice = "s = add.checked a a";
  const auto in_order = [](std::string_view one, std::string_view two) {
    return ir::OpsFunction("u8", "a b", fmt::format("{}; {}; s", one, two));
  };
  const std::string first = in_order(divide, twice), second = in_order(twice, divide);
  EXPECT_TRUE(std::holds_alternative<Refuted>(Prove(first, second)));
  // So does the op.
  const std::string quotient =
      ir::OpsFunction("i64", "a b", "q = div.trunc a b; r = rem.floor a b; s = add q r");
  const std::string remainder =
      ir::OpsFunction("i64", "a b", "r = rem.floor a b; q = div.trunc a b; s = add q r");
  EXPECT_TRUE(std::holds_alternative<Refuted>(Prove(quotient, remainder)));
  EXPECT_TRUE(std::holds_alternative<Proved>(Prove(quotient, quotient)));
  // An instruction that stands for another op traps as that one.
  const auto asserts = [](std::string_view as) {
    return "func @main(%a: i32, %b: i32) -> (i32) {\n%c = lt %a, %b : i32\nassert %c" +
           std::string(as) + "\nreturn %a\n}";
  };
  EXPECT_TRUE(std::holds_alternative<Refuted>(Prove(asserts(""), asserts(" as reshape"))));
  EXPECT_TRUE(
      std::holds_alternative<Proved>(Prove(asserts(" as reshape"), asserts(" as reshape"))));
}

TEST(Smt, FloatsToTheBit) {
  const std::string_view twice =
      "func @main(%a: f32) -> (f32) {\n%r = add %a, %a : f32\nreturn %r\n}";
  EXPECT_TRUE(std::holds_alternative<Proved>(Prove(
      twice,
      "func @main(%a: f32) -> (f32) {\n%c = const 2 : f32\n%r = mul %a, %c : f32\nreturn %r\n}")));
  // -0 + 0 is 0, and a NaN loses its payload.
  const Verdict verdict = Prove(
      "func @main(%a: f32) -> (f32) {\n%c = const 0 : f32\n%r = add %a, %c : f32\nreturn %r\n}",
      "func @main(%a: f32) -> (f32) {\nreturn %a\n}");
  EXPECT_TRUE(std::holds_alternative<Refuted>(verdict)) << Describe(verdict);
}

TEST(Smt, WideIntegers) {
  const std::string_view a =
      "func @main(%a: i64) -> (int<2>) {\n%w = cast.checked %a : int<2>\n%r = add.checked %w, %w : "
      "int<2>\nreturn %r\n}";
  const std::string_view b =
      "func @main(%a: i64) -> (int<2>) {\n%w = cast.checked %a : int<2>\n%n = neg.checked %w : "
      "int<2>\n%r = add.checked %n, %w : int<2>\nreturn %r\n}";
  EXPECT_TRUE(std::holds_alternative<Proved>(Prove(a, a)));
  EXPECT_TRUE(std::holds_alternative<Refuted>(Prove(a, b)));
}

TEST(Smt, WhatIsNotEncodedIsUnknown) {
  const std::string_view buffer = "func @main(%x: in buffer<i32>) -> () {\nreturn\n}";
  EXPECT_NE(WhyNot(Prove(buffer, buffer)).find("not encoded"), std::string::npos);
  const std::string_view field = "func @main(%x: field) -> (field) {\nreturn %x\n}";
  EXPECT_NE(WhyNot(Prove(field, field)).find("not encoded"), std::string::npos);
  const std::string_view math = "func @main(%x: f32) -> (f32) {\n%r = exp %x : f32\nreturn %r\n}";
  EXPECT_NE(WhyNot(Prove(math, math)).find("'exp' is not encoded"), std::string::npos);
  const std::string_view loop =
      "func @main(%n: i32) -> (i32) {\n%z = const 0 : i32\n%r = for %i = %z to %n step 1 carry (%a "
      "= %z) {\nyield %i\n}\nreturn %r\n}";
  EXPECT_NE(WhyNot(Prove(loop, loop)).find("constant number of turns"), std::string::npos);
  const std::string_view recursion =
      "func @main(%n: i32) -> (i32) {\n%r = call @main(%n)\nreturn %r\n}";
  EXPECT_NE(WhyNot(Prove(recursion, recursion)).find("too deeply"), std::string::npos);
}

// Factoring: Z3 would take years; the child is ended at its time.
TEST(Smt, TheTimeOutIsHard) {
  const std::string_view hard = R"(
func @main(%a: u64, %b: u64) -> (bool) {
  %one = const 1 : u64
  %h = mul.hi %a, %b : u64
  %l = mul %a, %b : u64
  %high = const 0x3b9aca07000000 : u64
  %low = const 0x1e240000d431f35 : u64
  %p = eq %h, %high : u64
  %q = eq %l, %low : u64
  %r = and %p, %q : bool
  return %r
})";
  const std::string_view never =
      "func @main(%a: u64, %b: u64) -> (bool) {\n%r = const false : bool\nreturn %r\n}";
  const auto start = std::chrono::steady_clock::now();
  const Verdict verdict = Prove(hard, never, "true", 300);
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                      std::chrono::steady_clock::now() - start)
                      .count();
  EXPECT_EQ(WhyNot(verdict), "z3: time-out after 300 ms");
  EXPECT_LT(ms, 3000);
}

TEST(Smt, AMissingLibraryIsSaid) {
  const ir::Program program = Read("func @main(%a: i32) -> (i32) {\nreturn %a\n}");
  const Verdict verdict = MakeZ3Prover("libz3-is-not-here.so")->Prove(program, program, {}, {});
  ASSERT_TRUE(std::holds_alternative<Unknown>(verdict));
  EXPECT_NE(Describe(verdict).find("Z3 cannot be opened"), std::string::npos);
  // A library that is there but is not Z3.
  EXPECT_NE(WhyNot(MakeZ3Prover("libc.so.6")->Prove(program, program, {}, {})).find("has no Z3_"),
            std::string::npos);
}

TEST(Smt, IsRegisteredFromAbove) {
  RegisterZ3();
  ASSERT_NE(RegisteredProver(), nullptr);
  EXPECT_EQ(RegisteredProver()->name(), "z3");
  RegisterProver(nullptr);
}

}  // namespace
}  // namespace frazil::verify::smt
