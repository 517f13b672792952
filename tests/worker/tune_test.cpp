// The second form of a site that stays hot: the same candidate with more effort, and only if it is faster than the one in
// use, on a call like those that come.
#include <gmock/gmock.h>

#include "engine/admit.h"
#include "engine/gate.h"
#include "engine/worker/worker_price.h"
#include "engine/worker/worker_serve.h"
#include "ir/digest.h"
#include "ir/text/text.h"
#include "targets/native/native.h"

namespace frazil::engine {
namespace {

using targets::native::NativeOptions;
using ::testing::HasSubstr;

constexpr const char* Square = R"(frz 1
func @main(%x: in buffer<f32>, %y: out buffer<f32>, %n: index) {
  %zero = const 0 : index
  parallel %i = %zero to %n {
    %a = load %x, %i : f32
    %p = mul %a, %a : f32
    %s = add %p, %a : f32
    store %y, %i, %s : f32
    yield
  }
  return
}
)";
// One element is not like the others, far behind what made-up lengths reach.
constexpr const char* WrongFarBehind = R"(frz 1
func @main(%x: in buffer<f32>, %y: out buffer<f32>, %n: index) {
  %zero = const 0 : index
  %far = const 100000 : index
  parallel %i = %zero to %n {
    %a = load %x, %i : f32
    %p = mul %a, %a : f32
    %s = add %p, %a : f32
    %is = eq %i, %far : index
    %r = select %is, %a, %s : f32
    store %y, %i, %r : f32
    yield
  }
  return
}
)";

// Scalar code and vector code stand for a form that comes first and one that takes longer; or the other way round.
class TwoForms : public exec::Target {
 public:
  explicit TwoForms(bool first_is_slow = true) : first_is_slow_(first_is_slow) {}
  std::string_view name() const override { return "native"; }
  std::string Refuses(const ir::Program&) const override { return {}; }
  Result<exec::Artifact> Emit(const ir::Program& program,
                              const exec::EmitOptions& options) const override {
    const bool tuned = options.style == exec::CodeStyle::Tuned;
    const ir::Program& emitted = tuned && instead_ ? *instead_ : program;
    exec::Artifact artifact;
    artifact.bytes =
        exec::SerializeImage(TRY(Emit(emitted, *options.level, tuned == first_is_slow_, tuned)));
    return artifact;
  }
  Result<std::unique_ptr<exec::Callable>> Load(const exec::Artifact&) const override {
    return Fail(Diag::Unsupported, "not here");
  }
  void TuneInstead(std::string_view other) { instead_ = *ir::ParseText(other); }

 private:
  static Result<exec::NativeImage> Emit(const ir::Program& program, exec::CpuLevel level,
                                        bool vectorize, bool tuned) {
    NativeOptions options;
    options.level = level;
    options.vectorize = vectorize;
    Result<exec::NativeImage> image = targets::native::EmitImage(program, options);
    if (image) image->tuned = tuned;
    return image;
  }
  bool first_is_slow_;
  std::optional<ir::Program> instead_;
};

WorkRequest FirstRequest() {
  const ir::Program program = *ir::ParseText(Square);
  WorkRequest request;
  request.program = ir::PrintText(ir::Canonicalize(program));
  request.policy = verify::Policy::Default(program);
  request.key.fill(7);
  return request;
}

// The form that came first, sealed, with a cost that got it admitted.
std::string FirstForm(const WorkRequest& request, const exec::Target& compiler) {
  const ir::Program program = *ir::ParseText(request.program);
  Gate gate(program, {program, {}, {}, "first"});
  exec::EmitOptions options;
  options.level = request.level;
  options.style = exec::CodeStyle::Quick;
  exec::CompiledForm form = gate.Form("native");
  exec::PutImage(form, *exec::ParseImage(compiler.Emit(program, options)->bytes));
  form.cost = exec::CallTime{50, 100};
  const Result<verify::Examined> examined = gate.Examine(form);
  EXPECT_TRUE(examined.has_value() && examined->form) << examined->refusal;
  return verify::Seal(*examined->form, request.key);
}

WorkRequest TuneRequest(const exec::Target& compiler) {
  WorkRequest request = FirstRequest();
  request.tuned = true;
  request.in_use = FirstForm(request, compiler);
  request.same_candidate = true;
  request.recent_call = {{200'000}, {200'000}, {200'000}};
  return request;
}

TEST(Tune, AFasterFormIsAdmittedByTheFactorThatWasMeasured) {
  TwoForms compiler;
  const WorkRequest request = TuneRequest(compiler);
  const Result<WorkReply> reply = ImproveHere(request, compiler);
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_THAT(reply->log(), HasSubstr("of tuned "));
  const std::string exact = ir::ExactDigest(*ir::ParseText(request.program));
  const auto in_use = OpenSealed(request.in_use, request.key, exact);
  const auto tuned = OpenSealed(reply->sealed, request.key, exact);
  ASSERT_TRUE(in_use.has_value() && tuned.has_value()) << reply->log();
  EXPECT_FALSE(exec::ParseImage((*in_use)->payload)->tuned);
  EXPECT_TRUE(exec::ParseImage((*tuned)->payload)->tuned);
  // The call of 1.6 MB was priced, not a small made-up one.
  EXPECT_GT(std::get<exec::CallTime>((*tuned)->cost).ns_per_call, 5'000);
  EXPECT_TRUE(Admit(*tuned, &*in_use, request.policy).has_value()) << reply->log();
}

TEST(Tune, WhatIsNotFasterIsRefusedBeforeItIsJudged) {
  TwoForms compiler(/*first_is_slow=*/false);
  const Result<WorkReply> reply = ImproveHere(TuneRequest(compiler), compiler);
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_TRUE(reply->sealed.empty());
  EXPECT_THAT(reply->log(), HasSubstr("not faster than the form in use"));
  EXPECT_THAT(reply->log(), ::testing::Not(HasSubstr("verify:")));
}

TEST(Tune, TheCodeInUseIsNotMadeAgain) {
  TwoForms compiler;
  WorkRequest request = TuneRequest(compiler);
  request.tuned = false;
  const Result<WorkReply> reply = ImproveHere(request, compiler);
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_TRUE(reply->sealed.empty());
  EXPECT_THAT(reply->log(), HasSubstr("it is the code in use"));
}

TEST(Tune, AnAnswerThatDiffersFromTheFormInUseIsFoundAtTheSizeOfTheCall) {
  TwoForms compiler;
  const WorkRequest request = TuneRequest(compiler);
  compiler.TuneInstead(WrongFarBehind);
  const Result<WorkReply> reply = ImproveHere(request, compiler);
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_TRUE(reply->sealed.empty());
  EXPECT_EQ(reply->refuted.size(), 1u);
  EXPECT_THAT(reply->log(), HasSubstr("its code is wrong"));
}

TEST(Tune, OnlyAFormOfThisInstallationIsCompared) {
  TwoForms compiler;
  WorkRequest request = TuneRequest(compiler);
  request.key.fill(8);
  EXPECT_FALSE(ImproveHere(request, compiler).has_value());
}

TEST(Tune, LargeCallsAreMadeUpAtTheirSizeAndShrinkTogether) {
  const ir::Program square = *ir::ParseText(Square);
  using Call = std::vector<std::vector<uint64_t>>;
  EXPECT_FALSE(LargeArguments(square, Call{{100}, {100}, {100}}));
  EXPECT_FALSE(LargeArguments(square, Call{{1 << 20}, {1 << 20}}));
  const auto as_it_is = LargeArguments(square, Call{{100'000}, {200'000}, {100'000}});
  ASSERT_TRUE(as_it_is.has_value());
  EXPECT_EQ((*as_it_is)[0].memory->length(), 100'000);
  EXPECT_EQ((*as_it_is)[1].memory->length(), 200'000);
  EXPECT_EQ((*as_it_is)[2].word, 100'000u);
  const uint64_t huge = uint64_t{1} << 30;
  const auto shrunk = LargeArguments(square, Call{{huge}, {huge}, {huge}});
  ASSERT_TRUE(shrunk.has_value());
  EXPECT_EQ((*shrunk)[0].memory->length(), 1 << 23);
  EXPECT_EQ((*shrunk)[2].word, uint64_t{1} << 23);
  // Contents that decide whether a program ends are not made up.
  const ir::Program endless = *ir::ParseText(R"(frz 1
func @main(%x: in buffer<u8>) -> (u8) {
  %zero = const 0 : index
  %a = load %x, %zero : u8
  %r = while (%i = %a) {
    %more = ne %i, %a : u8
    condition %more
  } do {
    yield %i
  }
  return %r
}
)");
  EXPECT_FALSE(LargeArguments(endless, Call{{1 << 20}}));
}

}  // namespace
}  // namespace frazil::engine
