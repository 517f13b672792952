// Code against its program: code that is right, code that is wrong in every way that can be seen, and admission.
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "exec/meaning/interpreter.h"
#include "ir/digest.h"
#include "ir/text/text.h"
#include "verify/verify.h"

namespace frazil::verify {
namespace {

using exec::Value;

ir::Program Parse(const std::string& body) {
  auto program = ir::ParseText("frz 1\n" + body);
  EXPECT_TRUE(program.has_value()) << (program ? "" : program.error().ToString());
  return std::move(*program);
}

// Some program on the interpreter, with something done to the arguments and the outcome.
class Engine : public exec::Callable {
 public:
  using Damage = std::function<void(std::span<const Value>, exec::Outcome&)>;
  explicit Engine(ir::Program program, Damage damage = {})
      : program_(std::move(program)), damage_(std::move(damage)) {}
  Result<exec::Outcome> Run(std::span<const Value> arguments,
                            const exec::RunContext& context) override {
    exec::Outcome outcome = TRY(exec::Interpret(program_, arguments, context));
    if (damage_) damage_(arguments, outcome);
    calls += 1;
    return outcome;
  }
  int calls = 0;

 private:
  ir::Program program_;
  Damage damage_;
};

constexpr char Scale[] =
    "func @main(%k: i32, %x: in buffer<i32>, %y: out buffer<i32>) {\n %z = const 0 : index\n %n = "
    "length %x : i32\n"
    " parallel %i = %z to %n {\n %v = load %x, %i : i32\n %p = mul.checked %v, %k : i32\n store "
    "%y, %i, %p : i32\n yield\n }\n"
    " return\n}";

std::string Difference(const Result<Verdict>& verdict) {
  if (!verdict) return verdict.error().ToString();
  const bool refuted = std::holds_alternative<Refuted>(*verdict);
  return refuted ? WhyNot(*verdict) : std::string(VerdictName(*verdict));
}

TEST(Lowering, RightCodeIsTested) {
  Engine code(Parse(Scale));
  const auto verdict = VerifyLowering(Parse(Scale), code, {});
  ASSERT_EQ(Difference(verdict), "tested");
  const Evidence& evidence = std::get<Tested>(*verdict).evidence;
  EXPECT_EQ(evidence.grade, Grade::Sampled);
  EXPECT_EQ(evidence.judge, "interpreter");
  EXPECT_EQ(evidence.cases, static_cast<uint64_t>(code.calls));
}

TEST(Lowering, FewInputsAreAllRun) {
  const char text[] =
      "func @main(%a: u8, %t: bool) -> (u8) {\n %n = not %a : u8\n %r = select %t, %n, %a : u8\n "
      "return %r\n}";
  Engine code(Parse(text));
  const auto verdict = VerifyLowering(Parse(text), code, {});
  ASSERT_EQ(Difference(verdict), "proved");
  EXPECT_EQ(std::get<Proved>(*verdict).evidence.grade, Grade::Exhaustive);
  EXPECT_EQ(code.calls, 512);
}

TEST(Lowering, BytesOutsideOfABufferAreSeen) {
  for (int64_t at : {-1, 0}) {
    Engine code(Parse(Scale), [at](std::span<const Value> arguments, exec::Outcome&) {
      exec::Memory& memory = *arguments[2].memory;
      memory.data()[at < 0 ? -1 : static_cast<int64_t>(memory.size_bytes())] ^= std::byte{1};
    });
    EXPECT_EQ(Difference(VerifyLowering(Parse(Scale), code, {})),
              "bytes outside of a buffer were written");
  }
}

TEST(Lowering, InputsMustNotChange) {
  Engine code(Parse(Scale), [](std::span<const Value> arguments, exec::Outcome& outcome) {
    if (arguments[1].memory->length() > 3 && !outcome.trap)
      arguments[1].memory->data()[0] ^= std::byte{1};
  });
  EXPECT_TRUE(
      Difference(VerifyLowering(Parse(Scale), code, {})).starts_with("argument 2, element 0"));
}

TEST(Lowering, OnlyTheLongTailIsWrong) {
  // As if the last, partial vector were forgotten.
  Engine code(Parse(Scale), [](std::span<const Value> arguments, exec::Outcome&) {
    const int64_t n = arguments[2].memory->length();
    const uint64_t zero = 0;
    if (n > 16 && n % 16 == 1) arguments[2].memory->Set(n - 1, std::span(&zero, 1));
  });
  EXPECT_TRUE(
      Difference(VerifyLowering(Parse(Scale), code, {})).starts_with("argument 3, element "));
}

TEST(Lowering, WrongOnlyWhereTwoBuffersAreOne) {
  Engine code(Parse(Scale), [](std::span<const Value> arguments, exec::Outcome&) {
    const uint64_t zero = 0;
    if (arguments[1].memory == arguments[2].memory && arguments[1].memory->length() > 0)
      arguments[2].memory->Set(0, std::span(&zero, 1));
  });
  EXPECT_TRUE(Difference(VerifyLowering(Parse(Scale), code, {})).starts_with("argument "));
  const ir::Program program = Parse(Scale);
  EXPECT_EQ(
      Difference(VerifyLowering(program, code, *ir::ParseGuard("disjoint(arg1, arg2)", program))),
      "tested");
}

TEST(Lowering, TrapsAreComparedWithTheirPlace) {
  Engine other_index(Parse(Scale), [](std::span<const Value>, exec::Outcome& outcome) {
    if (outcome.trap) outcome.trap->index += 1;
  });
  EXPECT_TRUE(Difference(VerifyLowering(Parse(Scale), other_index, {})).starts_with("trap: "));
  Engine other_op(Parse(Scale), [](std::span<const Value>, exec::Outcome& outcome) {
    if (outcome.trap) outcome.trap->op = ir::Op::AddChecked;
  });
  EXPECT_TRUE(Difference(VerifyLowering(Parse(Scale), other_op, {})).starts_with("trap: "));
  Engine no_trap(Parse(Scale),
                 [](std::span<const Value>, exec::Outcome& outcome) { outcome.trap.reset(); });
  EXPECT_TRUE(Difference(VerifyLowering(Parse(Scale), no_trap, {})).starts_with("trap: "));
}

// Changes an element of the output after a trap, counted from the iteration that trapped.
std::string DifferenceAfterTrap(int64_t from_trap) {
  // Every iteration stores before it may trap.
  const char text[] =
      "func @main(%k: i32, %x: in buffer<i32>, %y: out buffer<i32>) {\n %z = const 0 : index\n %n "
      "= "
      "length %x : i32\n"
      " parallel %i = %z to %n {\n %v = load %x, %i : i32\n store %y, %i, %v : i32\n %p = "
      "mul.checked %v, %k : i32\n store %y, %i, %p : i32\n yield\n }\n"
      " return\n}";
  Engine code(Parse(text), [=](std::span<const Value> arguments, exec::Outcome& outcome) {
    const int64_t at = outcome.trap ? outcome.trap->index + from_trap : -1;
    const int64_t stored = std::min(arguments[1].memory->length(), arguments[2].memory->length());
    if (at >= 0 && at < stored) arguments[2].memory->data()[at * 4] ^= std::byte{1};
  });
  return Difference(VerifyLowering(Parse(text), code, {}));
}

// Iterations below the trap have stored, so has the trapping one; only what later ones store is open.
TEST(Lowering, MemoryAfterATrapIsCompared) {
  EXPECT_NE(DifferenceAfterTrap(-1).find(", after "), std::string::npos) << DifferenceAfterTrap(-1);
  EXPECT_NE(DifferenceAfterTrap(0).find(", after "), std::string::npos) << DifferenceAfterTrap(0);
  EXPECT_EQ(DifferenceAfterTrap(1), "tested");
}

TEST(Lowering, CodeIsNotCalledWhereTheProgramDoesNotEnd) {
  const char text[] =
      "func @main(%a: i64) -> (i64) {\n %t = const true : bool\n %r = while (%p = %a) {\n "
      "condition %t\n } do {\n yield %p\n }\n return %r\n}";
  Engine code(Parse(text));
  VerifyOptions options;
  options.limits.verify_ms = 300;
  const auto verdict = VerifyLowering(Parse(text), code, {}, options);
  ASSERT_EQ(Difference(verdict), "unknown");
  EXPECT_EQ(code.calls, 0);
}

// A function by hand: adds (or subtracts) two i32.
exec::NativeImage ImageOf(bool right) {
  exec::NativeImage image;
  image.uses_run = false;
  const unsigned char bytes[] = {0x8b,
                                 0x07,  // mov eax, [rdi]
                                 static_cast<unsigned char>(right ? 0x03 : 0x2b),
                                 0x47,
                                 8,  // add (sub) eax, [rdi + 8]
                                 0x48,
                                 0x98,  // cdqe
                                 0x48,
                                 0x89,
                                 0x06,  // mov [rsi], rax
                                 0x31,
                                 0xc0,   // xor eax, eax
                                 0xc3};  // ret
  image.code.assign(reinterpret_cast<const char*>(bytes), sizeof(bytes));
  return image;
}

exec::CompiledForm FormOf(const ir::Program& source, const ir::Candidate& candidate, bool right) {
  exec::CompiledForm form;
  form.source_exact = ir::ExactDigest(source);
  form.guard = ir::PrintGuard(candidate.guard);
  form.candidate = ir::PrintText(candidate.program);
  form.candidate_exact = ir::ExactDigest(candidate.program);
  form.toolchain = "by hand";
  exec::PutImage(form, ImageOf(right));
  return form;
}

class Examination : public testing::Test {
 protected:
  void SetUp() override {
#if !defined(__x86_64__)
    GTEST_SKIP() << "the code is x86-64";
#endif
    candidate.program = Parse(
        "func @main(%a: i32, %b: i32) -> (i32) {\n %n = neg %b : i32\n %r = sub %a, %n : i32\n "
        "return %r\n}");
  }
  Examined Ask(exec::CompiledForm form) {
    auto examined = Examine(source, candidate, std::move(form), Policy::Default(source));
    EXPECT_TRUE(examined.has_value()) << (examined ? "" : examined.error().ToString());
    return std::move(*examined);
  }
  const ir::Program source =
      Parse("func @main(%a: i32, %b: i32) -> (i32) {\n %r = add %a, %b : i32\n return %r\n}");
  ir::Candidate candidate;
};

TEST_F(Examination, RightCodeIsAdmitted) {
  const Examined examined = Ask(FormOf(source, candidate, true));
  ASSERT_TRUE(examined.form.has_value()) << examined.refusal;
  EXPECT_EQ(examined.form->evidence().meaning.grade, Grade::Proved);
  EXPECT_EQ(examined.form->evidence().lowering.grade, Grade::Sampled);
  EXPECT_EQ((*examined.form)->payload, exec::SerializeImage(ImageOf(true)));
}

// Two of 64 buffers as one, in each of a thousand ways: more memory than a process may map if all were there at a time.
TEST_F(Examination, ManyBuffers) {
  std::string params;
  for (int i = 0; i < 64; ++i)
    params += ", %p" + std::to_string(i) + (i % 3 == 0 ? ": out" : ": in") + " buffer<f32>";
  const ir::Program many = Parse("func @main(%a: i64" + params + ") -> (i64) {\n return %a\n}");
  exec::NativeImage image;
  image.uses_run = false;
  // mov rax, [rdi]; mov [rsi], rax; xor eax, eax; ret
  image.code = std::string("\x48\x8b\x07\x48\x89\x06\x31\xc0\xc3", 9);
  exec::CompiledForm form;
  form.source_exact = form.candidate_exact = ir::ExactDigest(many);
  form.guard = "true";
  form.candidate = ir::PrintText(ir::Canonicalize(many));
  form.toolchain = "by hand";
  exec::PutImage(form, image);
  const auto examined = Examine(many, {many, {}, {}, "by hand"}, form, Policy::Default(many));
  ASSERT_TRUE(examined) << examined.error().ToString();
  EXPECT_TRUE(examined->form.has_value()) << examined->refusal;
}

TEST_F(Examination, WrongCodeIsRefused) {
  const Examined examined = Ask(FormOf(source, candidate, false));
  EXPECT_FALSE(examined.form.has_value());
  EXPECT_TRUE(std::holds_alternative<Refuted>(examined.lowering));
  EXPECT_TRUE(examined.refusal.starts_with("lowering refuted: result 1:")) << examined.refusal;
}

TEST_F(Examination, WrongMeaningIsRefusedBeforeAnythingRuns) {
  candidate.program =
      Parse("func @main(%a: i32, %b: i32) -> (i32) {\n %r = sub %a, %b : i32\n return %r\n}");
  const Examined examined = Ask(FormOf(source, candidate, true));
  EXPECT_FALSE(examined.form.has_value());
  EXPECT_TRUE(examined.refusal.starts_with("meaning refuted")) << examined.refusal;
  EXPECT_TRUE(std::holds_alternative<Unknown>(examined.lowering));
}

TEST_F(Examination, FalseClaimsAreRefused) {
  auto refused = [&](auto change) {
    exec::CompiledForm form = FormOf(source, candidate, true);
    change(form);
    const Examined examined = Ask(form);
    EXPECT_FALSE(examined.form.has_value());
    return examined.refusal;
  };
  EXPECT_EQ(refused([](exec::CompiledForm& f) { f.source_exact[0] ^= 1; }),
            "the form is for another program");
  EXPECT_EQ(refused([](exec::CompiledForm& f) { f.candidate_exact[0] ^= 1; }),
            "the form was made from another candidate");
  EXPECT_EQ(refused([&](exec::CompiledForm& f) { f.candidate = ir::PrintText(source); }),
            "the form carries another candidate than it names");
  EXPECT_EQ(refused([](exec::CompiledForm& f) { f.guard = "arg0 == 1"; }),
            "the form's guard is not the candidate's");
  EXPECT_EQ(refused([](exec::CompiledForm& f) { f.target = "wasm"; }),
            "lowering unknown: forms of target 'wasm' cannot be judged");
}

TEST_F(Examination, APolicyMayAskForMore) {
  auto examined =
      Examine(source, candidate, FormOf(source, candidate, true), {Grade::Proved, Grade::Proved});
  ASSERT_TRUE(examined.has_value());
  EXPECT_FALSE(examined->form.has_value());
  EXPECT_NE(examined->refusal.find("less than the policy asks for"), std::string::npos);
}

// --- inputs and code that do not end ---

constexpr char Halve[] =
    "func @main(%x: u64) -> (u64) {\n %k = const 12345 : u64\n %one = const 1 : u64\n"
    " %r = while (%v = %x) {\n %more = ne %v, %k : u64\n condition %more\n } do {\n"
    " %w = shr %v, %one : u64\n yield %w\n }\n return %r\n}";

double Seconds(const std::function<void()>& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(Lowering, ManyInputsThatDoNotEndAreSaidSoon) {
  const ir::Program program = Parse(Halve);
  Engine code(program);
  VerifyOptions options;
  options.limits.verify_ms = 40'000;
  Result<Verdict> verdict = Unknown{};
  EXPECT_LT(Seconds([&] { verdict = VerifyLowering(program, code, {}, options); }), 15);
  ASSERT_TRUE(std::holds_alternative<Unknown>(*verdict)) << Difference(verdict);
  const std::string& reason = std::get<Unknown>(*verdict).reason;
  EXPECT_TRUE(reason.starts_with("limit reached: ")) << reason;
  EXPECT_NE(reason.find(" inputs ended at fuel"), std::string::npos) << reason;
}

TEST(Lowering, CodeThatDoesNotEndIsNotWaitedFor) {
  class Slow : public exec::Callable {
   public:
    Result<exec::Outcome> Run(std::span<const Value>, const exec::RunContext& context) override {
      std::this_thread::sleep_for(std::chrono::milliseconds(context.limits.run_ms));
      exec::Outcome outcome;
      outcome.trap = exec::TrapInfo{ir::Trap::Fuel, ir::Op::While};
      return outcome;
    }
  };
  Slow code;
  VerifyOptions options;
  options.limits.verify_ms = 40'000;
  Result<Verdict> verdict = Unknown{};
  EXPECT_LT(Seconds([&] { verdict = VerifyLowering(Parse(Scale), code, {}, options); }), 15);
  ASSERT_TRUE(std::holds_alternative<Unknown>(*verdict)) << Difference(verdict);
  EXPECT_NE(std::get<Unknown>(*verdict).reason.find("the code did not end"), std::string::npos)
      << std::get<Unknown>(*verdict).reason;
}

TEST(Lowering, NotesSpareTheInterpreterAndNothingElse) {
  const ir::Program program = Parse(Scale);
  SampleNotes notes;
  VerifyOptions options;
  options.notes = &notes;
  Engine first(program);
  const auto verdict = VerifyLowering(program, first, {}, options);
  ASSERT_EQ(Difference(verdict), "tested");
  const uint64_t cases = std::get<Tested>(*verdict).evidence.cases;
  // All but those that are made from others.
  const size_t noted = notes.answers.size();
  EXPECT_GT(2 * noted, cases);
  Engine second(program);
  const auto again = VerifyLowering(program, second, {}, options);
  ASSERT_EQ(Difference(again), "tested");
  EXPECT_EQ(std::get<Tested>(*again).evidence.cases, cases);
  EXPECT_EQ(std::get<Tested>(*again).evidence.detail, std::get<Tested>(*verdict).evidence.detail);
  // Wrong code is wrong by the noted answers, too.
  Engine wrong(program, [](std::span<const Value> arguments, exec::Outcome&) {
    if (arguments[2].memory->length() > 0) arguments[2].memory->data()[0] ^= std::byte{1};
  });
  EXPECT_TRUE(std::holds_alternative<Refuted>(*VerifyLowering(program, wrong, {}, options)));
  // And they are what is compared with: a note that is wrong speaks against code that is right.
  for (auto& [number, answer] : notes.answers)
    if (!answer.memory[2].empty()) answer.memory[2][0] ^= 1;
  Engine right(program);
  EXPECT_NE(Difference(VerifyLowering(program, right, {}, options)), "tested");
  // Another program's notes are none.
  const ir::Program other = Parse(Halve);
  Engine code(other);
  (void)VerifyLowering(other, code, {}, options);
  EXPECT_LT(notes.answers.size(), noted);
}

}  // namespace
}  // namespace frazil::verify
