// The work itself: what is sent back is verified and priced, and whatever is wrong on the way is refused, with a line
// that says why. In this process with compilers that cheat, and through the real worker.
#include <gmock/gmock.h>

#include <chrono>
#include <functional>
#include <random>

#include "client.h"
#include "engine/worker/wire.h"
#include "engine/worker/worker_serve.h"
#include "exec/guard_eval.h"
#include "exec/native/native_callable.h"
#include "exec/native/native_toolchain.h"
#include "exec/random_arguments.h"
#include "generator/generator.h"
#include "ir/digest.h"
#include "ir/text/text.h"
#include "targets/native/native.h"
#include "verify/judge.h"
#include "verify/target_judges.h"

namespace frazil::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* Polynomial = R"(frz 1
func @main(%x: i32, %y: i32) -> (i32) {
  %two = const 2 : i32
  %a = mul %x, %two : i32
  %b = mul %x, %two : i32
  %c = add %a, %b : i32
  %d = mul %c, %y : i32
  return %d
}
)";

constexpr const char* Saxpy = R"(frz 1
func @main(%a: f32, %x: in buffer<f32>, %y: buffer<f32>) {
  %zero = const 0 : index
  %n = length %x : f32
  parallel %i = %zero to %n {
    %xi = load %x, %i : f32
    %yi = load %y, %i : f32
    %p = mul %a, %xi : f32
    %s = add %p, %yi : f32
    store %y, %i, %s : f32
    yield
  }
  return
}
)";

ir::Program Parse(std::string_view text) {
  Result<ir::Program> program = ir::ParseText(text);
  EXPECT_TRUE(program.has_value()) << program.error().ToString();
  return program.value_or(ir::Program());
}

// Makes native code as it is told to.
class TestCompiler : public exec::Target {
 public:
  using Make = std::function<Result<exec::NativeImage>(const ir::Program&, exec::CpuLevel)>;
  explicit TestCompiler(Make make = Honest) : make_(std::move(make)) {}
  static Result<exec::NativeImage> Honest(const ir::Program& program, exec::CpuLevel level) {
    targets::native::NativeOptions options;
    options.level = level;
    return targets::native::EmitImage(program, options);
  }
  std::string_view name() const override { return "native"; }
  std::string Refuses(const ir::Program&) const override { return {}; }
  Result<exec::Artifact> Emit(const ir::Program& program,
                              const exec::EmitOptions& options) const override {
    exec::Artifact artifact;
    artifact.bytes = exec::SerializeImage(TRY(make_(program, *options.level)));
    return artifact;
  }
  Result<std::unique_ptr<exec::Callable>> Load(const exec::Artifact&) const override {
    return Fail(Diag::Unsupported, "not here");
  }

 private:
  Make make_;
};

WorkRequest RequestFor(std::string_view text) {
  const ir::Program program = Parse(text);
  WorkRequest request;
  request.program = ir::PrintText(ir::Canonicalize(program));
  request.policy = verify::Policy::Default(program);
  request.key.fill(7);
  return request;
}

Result<verify::Verified<exec::CompiledForm>> Open(
    const WorkRequest& request, const std::string& sealed,
    const std::string& toolchain = targets::native::Toolchain()) {
  verify::Expected expected;
  expected.source_exact = ir::ExactDigest(Parse(request.program));
  expected.guard = verify::ReadForeign(sealed)->guard;
  expected.target = "native";
  expected.toolchain = toolchain;
  expected.profile = exec::CpuLevelName(request.level);
  expected.policy = request.policy;
  return verify::Readmit(sealed, request.key, expected);
}

const exec::CallTime& TimeOf(const exec::CompiledForm& form) {
  return std::get<exec::CallTime>(form.cost);
}

// Compiles another program in place of the one that it was given.
TestCompiler Swapping(std::string_view other) {
  return TestCompiler([program = Parse(other)](const ir::Program&, exec::CpuLevel level) {
    return TestCompiler::Honest(program, level);
  });
}

TEST(Improve, GivesWhatIsVerifiedAndCheaper) {
  for (const char* text : {Polynomial, Saxpy}) {
    TestCompiler compiler;
    const WorkRequest request = RequestFor(text);
    const Result<WorkReply> reply = ImproveHere(request, compiler);
    ASSERT_TRUE(reply.has_value()) << reply.error().message;
    for (const char* verb : {"propose: ", "lower: ", "price: ", "verify: "})
      EXPECT_THAT(reply->log(), HasSubstr(verb));
    const auto form = Open(request, reply->sealed);
    ASSERT_TRUE(form.has_value()) << form.error().message;
    EXPECT_TRUE(verify::Satisfies(form->evidence(), request.policy));
    EXPECT_GT(TimeOf(**form).ns_per_call, 0);
    EXPECT_LT(TimeOf(**form).ns_per_call, TimeOf(**form).reference_ns) << reply->log();
    EXPECT_GT(reply->compile_ms, 0);
    EXPECT_GT(reply->verify_ms, 0);
    EXPECT_GT(reply->price_ms, 0);
  }
}

TEST(Improve, AProgramThatIsNoneIsAnError) {
  TestCompiler compiler;
  WorkRequest request = RequestFor(Polynomial);
  request.program = "frz 1\nfunc @main( {";
  const Result<WorkReply> reply = ImproveHere(request, compiler);
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(ClassOf(reply.error().diag), ErrorClass::User);
}

TEST(Improve, WrongCodeIsNeverSealed) {
  // Wrong for most arguments, and wrong for one that only a look at the edges finds.
  constexpr const char* Rarely = R"(frz 1
func @main(%x: i32, %y: i32) -> (i32) {
  %four = const 4 : i32
  %least = const -2147483648 : i32
  %one = const 1 : i32
  %c = mul %x, %four : i32
  %d = mul %c, %y : i32
  %e = add %d, %one : i32
  %is = eq %x, %least : i32
  %r = select %is, %e, %d : i32
  return %r
}
)";
  constexpr const char* Often =
      "frz 1\nfunc @main(%x: i32, %y: i32) -> (i32) {\n%r = add %x, %y : i32\nreturn %r\n}\n";
  for (const char* other : {Rarely, Often}) {
    TestCompiler compiler = Swapping(other);
    const Result<WorkReply> reply = ImproveHere(RequestFor(Polynomial), compiler);
    ASSERT_TRUE(reply.has_value()) << reply.error().message;
    EXPECT_EQ(reply->sealed, "") << reply->log();
    EXPECT_THAT(reply->log(), HasSubstr("refuse: "));
    EXPECT_EQ(reply->refuted.size(), 1u) << "such a worker serves no more";
  }
}

TEST(Improve, CodeThatWritesBesideItsBuffersIsFound) {
  // mov rax, [rdi + 8]; mov byte [rax - 1], 0; xor eax, eax; ret: the byte before x.
  TestCompiler compiler([](const ir::Program&, exec::CpuLevel level) -> Result<exec::NativeImage> {
    exec::NativeImage image;
    image.level = level;
    image.code = std::string("\x48\x8b\x47\x08\xc6\x40\xff\x00\x31\xc0\xc3", 11);
    return image;
  });
  const Result<WorkReply> reply = ImproveHere(RequestFor(Saxpy), compiler);
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->sealed, "");
  EXPECT_THAT(reply->log(), HasSubstr("beside its buffers"));
}

TEST(Improve, ACompilerThatRefusesIsAnAnswer) {
  TestCompiler compiler([](const ir::Program&, exec::CpuLevel) -> Result<exec::NativeImage> {
    return Fail(Diag::Unsupported, "not today");
  });
  const Result<WorkReply> reply = ImproveHere(RequestFor(Polynomial), compiler);
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->sealed, "");
  EXPECT_THAT(reply->log(), HasSubstr("not today"));
}

TEST(Improve, WhatIsBannedIsNotProposed) {
  TestCompiler compiler;
  WorkRequest request = RequestFor(Polynomial);
  for (int i = 0; i < 10; ++i) {
    const Result<WorkReply> reply = ImproveHere(request, compiler);
    ASSERT_TRUE(reply.has_value());
    if (reply->sealed.empty()) {
      EXPECT_GT(i, 0);
      EXPECT_THAT(reply->log(), HasSubstr("is banned"));
      return;
    }
    request.banned.push_back((*Open(request, reply->sealed))->candidate_exact);
  }
  FAIL() << "more and more candidates";
}

TEST(Improve, AForeignCandidateIsJudgedLikeAnyOther) {
  constexpr const char* Good = R"(frz 1
func @main(%x: i32, %y: i32) -> (i32) {
  %four = const 4 : i32
  %c = mul %x, %four : i32
  %d = mul %c, %y : i32
  return %d
}
)";
  constexpr const char* Bad = "frz 1\nfunc @main(%x: i32, %y: i32) -> (i32) {\nreturn %y\n}\n";
  constexpr const char* Other = "frz 1\nfunc @main(%x: f32) -> (f32) {\nreturn %x\n}\n";
  TestCompiler compiler;
  WorkRequest request = RequestFor(Polynomial);
  for (const char* text : {Good, Bad, Other, "nonsense"}) {
    request.foreign_candidate = text;
    request.banned.clear();
    Result<WorkReply> reply = ImproveHere(request, compiler);
    ASSERT_TRUE(reply.has_value()) << reply.error().message;
    if (std::string_view(text) == Bad) {
      // It was run: another worker, which is not given it, does the rest.
      EXPECT_EQ(reply->sealed, "") << reply->log();
      ASSERT_EQ(reply->refuted, std::vector{ir::ExactDigest(Parse(Bad))});
      request.banned = reply->refuted;
      reply = ImproveHere(request, compiler);
    }
    ASSERT_NE(reply->sealed, "") << reply->log();
    if (std::string_view(text) == Good) continue;
    EXPECT_THAT(reply->log(), HasSubstr("refuse: store: "));
    EXPECT_NE((*Open(request, reply->sealed))->candidate,
              ir::PrintText(ir::Canonicalize(Parse(Bad))));
  }
  request.foreign_candidate = Good;
  request.foreign_guard = "arg7 == 1";
  EXPECT_THAT(ImproveHere(request, compiler)->log(), HasSubstr("refuse: store: "));
}

TEST(Improve, SpecializesForConstantsUnderAGuard) {
  constexpr const char* Power = R"(frz 1
func @main(%x: f32, %n: i32) -> (f32) {
  %one = const 1.0 : f32
  %zero = const 0 : index
  %m = cast %n : index
  %r = for %i = %zero to %m step 1 carry (%p = %one) {
    %q = mul %p, %x : f32
    yield %q
  }
  return %r
}
)";
  TestCompiler compiler;
  WorkRequest request = RequestFor(Power);
  request.specialize = true;
  request.observed.calls = 1000;
  request.observed.constant_arguments = {{}, {3}};
  const Result<WorkReply> reply = ImproveHere(request, compiler);
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_THAT(reply->log(), HasSubstr(" if arg1 == 3"));
  const auto form = Open(request, reply->sealed);
  ASSERT_TRUE(form.has_value()) << reply->log();
}

TEST(Improve, PricesWithTheArgumentsOfARealCall) {
  TestCompiler compiler;
  WorkRequest request = RequestFor(Saxpy);
  const auto reference_ns = [&](int64_t length) {
    auto x = std::make_shared<exec::Memory>(ir::types::F32, length);
    auto y = std::make_shared<exec::Memory>(ir::types::F32, length);
    request.sample_arguments = wire::EncodeValues(std::vector<exec::Value>{
        exec::Value::Float(ir::types::F32, 2), exec::Value::Buffer(x), exec::Value::Buffer(y)});
    // Whether the code is faster than tiles there is another matter.
    for (const Event& event : ImproveHere(request, compiler)->events)
      if (event.verb == Verb::Price) return event.Number(Quantity::ReferenceNs);
    return 0.0;
  };
  EXPECT_GT(reference_ns(200'000), 5 * reference_ns(3));
  request.sample_arguments = "nonsense";
  EXPECT_FALSE(ImproveHere(request, compiler).has_value());
}

// Whatever the generator makes: an answer, and what is sealed agrees with the interpreter in shadow runs.
TEST(Improve, RandomPrograms) {
  TestCompiler compiler;
  int sealed = 0;
  for (uint64_t seed = 0; seed < 26; ++seed) {
    generator::GeneratorOptions options;
    options.seed = 1000 + seed;
    options.size = 10;
    options.allow_streams = false;
    const ir::Program program = generator::Generate(options);
    WorkRequest request = RequestFor(ir::PrintText(program));
    request.policy = {verify::Grade::Sampled, verify::Grade::Sampled};
    const Result<WorkReply> reply = ImproveHere(request, compiler);
    ASSERT_TRUE(reply.has_value()) << seed << ": " << reply.error().message;
    if (reply->sealed.empty()) continue;
    ++sealed;
    for (uint64_t k = 0; k < 5; ++k) {
      ShadowRequest shadow{request.program, reply->sealed, {}, request.key};
      shadow.arguments = wire::EncodeValues(exec::RandomArguments(program, k));
      const Result<ShadowReply> agreed = ShadowHere(shadow);
      ASSERT_TRUE(agreed.has_value()) << seed << ": " << agreed.error().message;
      EXPECT_TRUE(agreed->agreed) << seed << ": " << agreed->difference;
    }
  }
  EXPECT_GT(sealed, 8);  // of 40 programs 18 were
}

// A form that somebody vouched for although it is wrong: what shadowing is for.
std::string WronglySealed(const WorkRequest& request, std::string_view other) {
  exec::CompiledForm form;
  form.source_exact = ir::ExactDigest(Parse(request.program));
  form.guard = "true";
  form.candidate = request.program;
  form.candidate_exact = form.source_exact;
  form.toolchain = targets::native::Toolchain();
  exec::PutImage(form, *TestCompiler::Honest(Parse(other), request.level));
  const verify::Evidence claimed{verify::Grade::Proved, "nobody", "", 0};
  return verify::Seal(verify::Judge::Vouch(std::move(form), {claimed, claimed}), request.key);
}

constexpr const char* WrongSaxpy = R"(frz 1
func @main(%a: f32, %x: in buffer<f32>, %y: buffer<f32>) {
  %i = const 2 : index
  %xi = load %x, %i : f32
  store %y, %i, %xi : f32
  return
}
)";

ShadowRequest ShadowOf(const WorkRequest& request, std::string sealed) {
  auto x = std::make_shared<exec::Memory>(ir::types::F32, 5);
  auto y = std::make_shared<exec::Memory>(ir::types::F32, 5);
  for (int64_t i = 0; i < 5; ++i) x->Set(i, std::vector<uint64_t>{0x3f800000});
  ShadowRequest shadow{request.program, std::move(sealed), {}, request.key};
  shadow.arguments = wire::EncodeValues(std::vector<exec::Value>{
      exec::Value::Float(ir::types::F32, 2), exec::Value::Buffer(x), exec::Value::Buffer(y)});
  return shadow;
}

TEST(Shadow, FindsWhatIsWrong) {
  const WorkRequest request = RequestFor(Saxpy);
  const Result<ShadowReply> wrong =
      ShadowHere(ShadowOf(request, WronglySealed(request, WrongSaxpy)));
  ASSERT_TRUE(wrong.has_value()) << wrong.error().message;
  EXPECT_FALSE(wrong->agreed);
  EXPECT_EQ(wrong->difference, "argument 2, element 0: 2 against 0");
  const Result<ShadowReply> right = ShadowHere(ShadowOf(request, WronglySealed(request, Saxpy)));
  ASSERT_TRUE(right.has_value());
  EXPECT_TRUE(right->agreed) << right->difference;
}

// All three trap out of bounds: the op, and what memory then holds, tell them apart.
TEST(Shadow, LooksAtTrapsWithTheirOpAndMemory) {
  const auto program = [](std::string_view body) {
    return "frz 1\nfunc @main(%a: f32, %x: in buffer<f32>, %y: buffer<f32>) {\n  %zero = const 0 : "
           "index\n  %far = const 9 : index\n" +
           std::string(body) + "  return\n}\n";
  };
  const std::string store = "  store %y, %zero, %a : f32\n", load = "  %v = load %x, %far : f32\n";
  const WorkRequest request = RequestFor(program(store + load));
  const auto difference = [&](const std::string& other) {
    const Result<ShadowReply> reply = ShadowHere(ShadowOf(request, WronglySealed(request, other)));
    return reply ? reply->difference : reply.error().message;
  };
  EXPECT_EQ(difference(program(store + load)), "");
  EXPECT_EQ(difference(program(load + store)), "argument 2, element 0: 2 against 0");
  EXPECT_EQ(difference(program(store + "  store %y, %far, %a : f32\n")),
            "trap: out of bounds in load against out of bounds in store");
}

TEST(Shadow, RunsNothingThatIsNotSealed) {
  const WorkRequest request = RequestFor(Saxpy);
  ShadowRequest shadow = ShadowOf(request, WronglySealed(request, Saxpy));
  shadow.sealed[shadow.sealed.size() / 2] ^= 1;
  EXPECT_FALSE(ShadowHere(shadow).has_value());
  shadow = ShadowOf(request, WronglySealed(request, Saxpy));
  shadow.key[0] ^= 1;
  const Result<ShadowReply> foreign = ShadowHere(shadow);
  ASSERT_FALSE(foreign.has_value());
  EXPECT_EQ(foreign.error().diag, Diag::NotAdmitted);
  shadow = ShadowOf(request, "");
  EXPECT_FALSE(ShadowHere(shadow).has_value());
}

// The product, all of it.
TEST(RealWorker, ImprovesAndShadows) {
  WorkerOptions options;
  options.program = FRAZIL_REAL_WORKER;
  Worker worker(options);
  const WorkRequest request = RequestFor(Saxpy);
  for (int i = 0; i < 3; ++i) {
    const Result<WorkReply> reply = worker.Improve(request);
    ASSERT_TRUE(reply.has_value()) << reply.error().message;
    ASSERT_NE(reply->sealed, "") << reply->log();
    EXPECT_EQ(reply->toolchain, exec::NativeToolchainOf(FRAZIL_REAL_WORKER));
    EXPECT_TRUE(Open(request, reply->sealed, reply->toolchain).has_value());
    const Result<ShadowReply> shadow = worker.Shadow(ShadowOf(request, reply->sealed));
    ASSERT_TRUE(shadow.has_value()) << shadow.error().message;
    EXPECT_TRUE(shadow->agreed) << shadow->difference;
  }
  EXPECT_EQ(worker.spawned(), 1u);
  // After wrong code has run in it, it goes.
  const Result<ShadowReply> wrong =
      worker.Shadow(ShadowOf(request, WronglySealed(request, WrongSaxpy)));
  ASSERT_TRUE(wrong.has_value()) << wrong.error().message;
  EXPECT_FALSE(wrong->agreed);
  EXPECT_EQ(worker.pid(), -1);
  EXPECT_TRUE(worker.Improve(request).has_value());
  EXPECT_EQ(worker.spawned(), 2u);
  EXPECT_EQ(worker.TakeComplaint(), "");
  // Not knowing any order of the tests'.
  const Result<WorkReply> order = worker.Improve(Order("segv"));
  ASSERT_FALSE(order.has_value());
  EXPECT_EQ(order.error().diag, Diag::BadHeader);
}

// Code that dies while it is judged costs one request.
TEST(RealWorker, AFormThatCrashesCostsOneRequest) {
  if (Sanitized) GTEST_SKIP();
  WorkerOptions options;
  options.program = FRAZIL_REAL_WORKER;
  Worker worker(options);
  const WorkRequest request = RequestFor(Saxpy);
  exec::CompiledForm form;
  form.source_exact = ir::ExactDigest(Parse(request.program));
  form.guard = "true";
  form.candidate = request.program;
  form.candidate_exact = form.source_exact;
  exec::NativeImage image;
  image.code = "\x0f\x0b";  // ud2
  exec::PutImage(form, image);
  const verify::Evidence claimed{verify::Grade::Proved, "nobody", "", 0};
  const std::string sealed =
      verify::Seal(verify::Judge::Vouch(std::move(form), {claimed, claimed}), request.key);
  const Result<ShadowReply> reply = worker.Shadow(ShadowOf(request, sealed));
  ASSERT_FALSE(reply.has_value());
  EXPECT_THAT(reply.error().message, HasSubstr("signal 4"));
  EXPECT_TRUE(worker.Improve(request).has_value());
}

// Both arms of a branch run in lanes: what its condition says of an index does not keep the load inside. Found by buffers
// that end where memory does.
TEST(Judged, ALoadUnderABranch) {
  const ir::Program program = Parse(R"(frz 1
func @main(%x: in buffer<f32>, %y: buffer<f32>, %n: index) {
  %zero = const 0 : index
  parallel %i = %zero to %n {
    %length = length %x : f32
    %is_inside = lt %i, %length : index
    %v = if %is_inside -> (f32) {
      %a = load %x, %i : f32
      yield %a
    } else {
      %one = const 1 : f32
      yield %one
    }
    store %y, %i, %v : f32
    yield
  }
  return
}
)");
  for (int i = 0; i <= static_cast<int>(exec::HostLevel()); ++i) {
    targets::native::NativeOptions options;
    options.level = static_cast<exec::CpuLevel>(i);
    const Result<exec::NativeImage> image = targets::native::EmitImage(program, options);
    ASSERT_TRUE(image.has_value());
    const Result<verify::Verdict> verdict = verify::VerifyCode(program, *image, {});
    ASSERT_TRUE(verdict.has_value());
    EXPECT_EQ(verify::VerdictName(*verdict), "tested");
  }
}

// --- under a guard ------------------------------------------------------------------------------------------------

exec::CompiledForm FormOf(const ir::Program& program) {
  exec::CompiledForm form;
  exec::PutImage(form, *TestCompiler::Honest(program, exec::HostLevel()));
  return form;
}

// Code, and how many of its calls are under a guard.
class Counted final : public exec::Callable {
 public:
  Counted(std::unique_ptr<exec::Callable> code, const ir::Guard& guard, uint64_t& under)
      : code_(std::move(code)), guard_(guard), under_(under) {}
  Result<exec::Outcome> Run(std::span<const exec::Value> arguments,
                            const exec::RunContext& context) override {
    under_ += exec::Holds(guard_, arguments) ? 1 : 0;
    return code_->Run(arguments, context);
  }

 private:
  std::unique_ptr<exec::Callable> code_;
  const ir::Guard& guard_;
  uint64_t& under_;
};

// Tests of bounds run only beyond such a guard; what does is no input of the evidence.
TEST(Judged, OnlyInputsUnderTheGuardAreInputs) {
  const ir::Program program = Parse(R"(frz 1
func @main(%n: index, %x: in buffer<u32>, %y: out buffer<u32>) {
  %zero = const 0 : index
  parallel %i = %zero to %n {
    %v = load %x, %i : u32
    %w = add %v, %v : u32
    store %y, %i, %w : u32
    yield
  }
  return
}
)");
  const ir::Guard guard = *ir::ParseGuard("apart(arg2; arg1) && cover(arg0; arg1, arg2)", program);
  uint64_t under = 0;
  const auto counted =
      [&](std::shared_ptr<const exec::NativeCode> code) -> Result<std::unique_ptr<exec::Callable>> {
    return std::make_unique<Counted>(
        TRY(exec::MakeNativeCallable(std::move(code),
                                     std::make_shared<const ir::Program>(program))),
        guard, under);
  };
  const Result<verify::Verdict> verdict =
      verify::VerifyForm(program, FormOf(program), guard, {}, counted);
  ASSERT_TRUE(verdict.has_value()) << verdict.error().message;
  const verify::Evidence* evidence = verify::EvidenceOf(*verdict);
  ASSERT_NE(evidence, nullptr) << verify::Describe(*verdict);
  EXPECT_GT(evidence->cases, 0u);
  EXPECT_LE(evidence->cases, under) << evidence->detail;
  EXPECT_THAT(evidence->detail, HasSubstr("ran beyond the guard"));
}

// No square ends in the bits of 2: that code is never reached, under the guard or beyond it, and both searches are one.
TEST(Judged, BothLooksShareOneLimitOfTime) {
  const ir::Program program = Parse(R"(frz 1
func @main(%mode: i32, %x: i32) -> (i32) {
  %one = const 1 : i32
  %two = const 2 : i32
  %square = mul %x, %x : i32
  %never = eq %square, %two : i32
  %usual = eq %mode, %one : i32
  %a = if %usual -> (i32) {
    yield %x
  } else {
    %q = div.trunc %x, %mode : i32
    yield %q
  }
  %b = if %never -> (i32) {
    %r = div.trunc %a, %square : i32
    yield %r
  } else {
    yield %a
  }
  return %b
}
)");
  verify::VerifyOptions options;
  options.limits.verify_ms = 1'000;
  options.search_ms = 60'000;
  const auto start = std::chrono::steady_clock::now();
  const Result<verify::Verdict> verdict =
      verify::VerifyForm(program, FormOf(program), *ir::ParseGuard("arg0 == 1", program), options);
  const auto taken = std::chrono::steady_clock::now() - start;
  ASSERT_TRUE(verdict.has_value()) << verdict.error().message;
  EXPECT_THAT(verify::Describe(*verdict), HasSubstr("never ran"));
  EXPECT_LT(taken, std::chrono::milliseconds(1'700));
}

}  // namespace
}  // namespace frazil::engine
