// Attempts to get past the gate, for every target and by every way in.
#include <gtest/gtest.h>

#include <type_traits>

#include "aot/code.h"
#include "aot/targets.h"
#include "aot/unit.h"
#include "dispatch/slot.h"
#include "engine/admit.h"
#include "engine/gate.h"
#include "frazil/tri.h"
#include "ir/digest.h"
#include "ir/signed_program.h"
#include "ir/text/text.h"
#include "store/store.h"
#include "store/test_store.h"
#include "targets/cuda/cuda.h"
#include "targets/native/native.h"
#include "targets/tasm/tasm.h"
#include "targets/tiles/tile.h"
#include "verify/target_judges.h"

namespace frazil {
namespace {

using exec::CompiledForm;
using Form = verify::Verified<CompiledForm>;

// --- what does not compile --------------------------------------------------------------------------------------
// Only verify/ makes a verified form, only Admit an admitted one, and only that is embedded or dispatched.
static_assert(!std::is_default_constructible_v<Form>);
static_assert(!std::is_constructible_v<Form, CompiledForm>);
static_assert(!std::is_constructible_v<Form, CompiledForm, verify::EvidencePair>);
static_assert(!std::is_default_constructible_v<engine::Admitted>);
static_assert(!std::is_constructible_v<engine::Admitted, Form>);
static_assert(!std::is_constructible_v<engine::Admitted, Form, std::string>);
static_assert(!std::is_constructible_v<aot::Code, CompiledForm>);
static_assert(!std::is_constructible_v<aot::Code, Form>);
static_assert(!std::is_constructible_v<aot::Code, exec::NativeImage>);
static_assert(std::is_constructible_v<aot::Code, engine::Admitted>);
// Assembly is made of what was admitted, and by nothing else.
static_assert(!std::is_default_constructible_v<tri::Assembly>);
static_assert(!std::is_constructible_v<tri::Assembly, machines::tasm::Program>);
static_assert(!std::is_constructible_v<tri::Assembly, machines::tasm::Program, Form>);
static_assert(!std::is_constructible_v<tri::Assembly, Form>);
static_assert(!std::is_invocable_v<decltype(&tri::Assembly::Of), CompiledForm>);
static_assert(!std::is_invocable_v<decltype(&tri::Assembly::Of), Form>);
static_assert(std::is_invocable_v<decltype(&tri::Assembly::Of), const engine::Admitted&>);
static_assert(
    !std::is_invocable_v<decltype(&dispatch::Solid::Make), CompiledForm, const ir::SignedProgram&>);
static_assert(!std::is_constructible_v<dispatch::Solid, CompiledForm>);
static_assert(!std::is_invocable_v<decltype(&verify::Seal), CompiledForm, verify::InstallKey>);
static_assert(
    !std::is_invocable_v<decltype(&engine::Admit), CompiledForm, const Form*, verify::Policy>);
// A slot takes what Solid made, and that is made of a verified form; nobody else makes one, of any target's bytes.
template <typename Form>
constexpr bool SlotTakes = requires(dispatch::Slot& slot, Form form) { slot.Install(form); };
static_assert(SlotTakes<std::shared_ptr<const dispatch::Solid>>);
static_assert(!SlotTakes<CompiledForm>);
static_assert(!SlotTakes<Form>);
static_assert(!SlotTakes<exec::NativeImage>);
static_assert(!SlotTakes<exec::Artifact>);
static_assert(!SlotTakes<std::shared_ptr<exec::Callable>>);
static_assert(!std::is_invocable_v<decltype(&dispatch::Solid::Make), exec::Artifact,
                                   const ir::SignedProgram&>);
// Nothing is embedded but code that was admitted or that comes back sealed; bytes are not enough.
static_assert(!std::is_constructible_v<aot::Code, std::string>);
static_assert(!std::is_constructible_v<aot::Code, exec::Artifact>);
static_assert(!std::is_constructible_v<aot::Code, machines::simt::Module>);
static_assert(!std::is_constructible_v<aot::Code, targets::cuda::PtxModule>);
static_assert(!std::is_assignable_v<decltype(aot::BuiltKernel::isa)&, std::string>);
static_assert(!std::is_assignable_v<decltype(aot::BuiltKernel::wasm)&, std::string>);
static_assert(!std::is_assignable_v<decltype(aot::BuiltKernel::c)&, std::string>);
static_assert(!std::is_assignable_v<decltype(aot::BuiltKernel::ptx)&, std::string>);
// Tiles run a module that was proved, or one that is its own source and says so; words of the machine are not enough.
static_assert(!std::is_constructible_v<targets::isa::ProvedModule, machines::simt::Module>);
static_assert(!std::is_constructible_v<targets::isa::ProvedModule, machines::simt::Module,
                                       std::shared_ptr<const ir::Program>>);
static_assert(!std::is_invocable_v<decltype(&targets::tiles::Prepare), machines::simt::Module,
                                   targets::tiles::TileOptions>);
static_assert(!std::is_invocable_v<decltype(&targets::tiles::Prepare), ir::Program,
                                   targets::tiles::TileOptions>);
// An admitted form is a copy of a verified one: neither can be changed afterwards.
static_assert(std::is_same_v<decltype(*std::declval<Form&>()), const CompiledForm&>);
static_assert(std::is_same_v<decltype(std::declval<engine::Admitted&>().form()), const Form&>);
// What the store gives as callable is verified, and what it gives of others has no code.
static_assert(std::is_same_v<decltype(std::declval<store::Store>().FindVerified({}, {})),
                             std::optional<Form>>);

// --- what is refused --------------------------------------------------------------------------------------------
ir::Program Parse(const std::string& body) { return *ir::ParseText("frz 1\n" + body); }

// Programs that differ by one op, in a loop, so that every target has something to get wrong.
std::string Text(std::string_view op) {
  return "func @main(%n: index, %x: in buffer<u32>, %y: out buffer<u32>) {\n %z = const 0 : index\n"
         " parallel %i = %z to %n {\n %v = load %x, %i : u32\n %w = " +
         std::string(op) + " %v, %v : u32\n store %y, %i, %w : u32\n yield\n }\n return\n}";
}

constexpr std::string_view Names[] = {"native", "isa", "wasm", "c", "tasm"};

std::shared_ptr<const exec::Target> TargetNamed(std::string_view name) {
  if (name == "native") return targets::native::MakeNativeTarget();
  if (name == "isa") return aot::TargetOf(aot::Target::Isa);
  if (name == "wasm") return aot::TargetOf(aot::Target::Wasm);
  if (name == "tasm") return targets::tasm::MakeTarget();
  return aot::TargetOf(aot::Target::C);
}

class Gate : public testing::TestWithParam<std::string_view> {
 protected:
  // The form of `program` whose payload was made from `emitted`.
  CompiledForm FormOf(const ir::Program& program, const ir::Program& emitted) {
    const auto target = TargetNamed(GetParam());
    Result<exec::Artifact> artifact = target->Emit(emitted);
    EXPECT_TRUE(artifact) << artifact.error().message;
    CompiledForm form;
    form.source_exact = form.candidate_exact = ir::ExactDigest(program);
    form.guard = "true";
    form.candidate = ir::PrintText(program);
    form.toolchain = "test";
    form.target = GetParam();
    form.symbol = artifact->entry_symbol;
    form.payload = artifact->bytes;
    if (form.target == "native")
      form.profile = exec::CpuLevelName(exec::ParseImage(form.payload)->level);
    if (form.target == "tasm") form.profile = "dot";
    form.cost = exec::Bytes{form.payload.size()};
    return form;
  }
  verify::Examined Ask(const ir::Program& program, CompiledForm form,
                       const verify::Policy& policy = {}) {
    aot::RegisterJudges();
    tri::RegisterAssemblyJudge();
    auto examined = verify::Examine(program, {program, {}, {}, "source"}, std::move(form), policy);
    EXPECT_TRUE(examined) << examined.error().message;
    return std::move(*examined);
  }

  const ir::Program right = Parse(Text("add"));
  const ir::Program wrong = Parse(Text("mul"));
};

TEST_P(Gate, TheRightFormPasses) {
  const verify::Examined examined = Ask(right, FormOf(right, right));
  ASSERT_TRUE(examined.form) << examined.refusal;
  EXPECT_TRUE(engine::Admit(*examined.form, nullptr, {}));
}

TEST_P(Gate, CodeOfAnotherProgramDoesNot) {
  const verify::Examined examined = Ask(right, FormOf(right, wrong));
  EXPECT_FALSE(examined.form);
  EXPECT_NE(examined.refusal, "");
}

TEST_P(Gate, NeitherDoesAFormThatLiesAboutItself) {
  const CompiledForm honest = FormOf(right, right);
  const auto refused = [&](const auto& lie) {
    CompiledForm form = honest;
    lie(form);
    return !Ask(right, std::move(form)).form;
  };
  EXPECT_TRUE(refused([](CompiledForm& f) { f.source_exact[0] ^= 1; }));
  EXPECT_TRUE(refused([](CompiledForm& f) { f.candidate_exact[0] ^= 1; }));
  EXPECT_TRUE(refused([&](CompiledForm& f) { f.candidate = ir::PrintText(wrong); }));
  EXPECT_TRUE(refused([](CompiledForm& f) { f.guard = "arg0 == 1"; }));
  EXPECT_TRUE(refused([](CompiledForm& f) { f.target = "fpga"; }));
  EXPECT_TRUE(refused([](CompiledForm& f) { f.calling = "in pieces"; }));
  EXPECT_TRUE(refused([](CompiledForm& f) { f.payload.clear(); }));
  EXPECT_TRUE(refused([](CompiledForm& f) { f.payload.resize(f.payload.size() / 2); }));
}

TEST_P(Gate, APolicyThatAsksForMoreIsNotMet) {
  const verify::Policy policy{verify::Grade::Proved, verify::Grade::Proved};
  const verify::Examined examined = Ask(right, FormOf(right, right), policy);
  // Lifting proves; runs do not.
  EXPECT_EQ(examined.form.has_value(), GetParam() == "isa") << examined.refusal;
}

TEST_P(Gate, WhatIsNotCheaperIsNotAdmitted) {
  CompiledForm form = FormOf(right, right);
  const verify::Examined in_use = Ask(right, form);
  ASSERT_TRUE(in_use.form) << in_use.refusal;
  EXPECT_FALSE(engine::Admit(*in_use.form, &*in_use.form, {})) << "the same again";
  form.cost = exec::CallTime{1, 100};
  const verify::Examined other = Ask(right, form);
  ASSERT_TRUE(other.form);
  EXPECT_FALSE(engine::Admit(*other.form, &*in_use.form, {})) << "another kind of cost";
}

// Whoever has not the key can put no form in anybody's way, and a slot calls only what is made for it.
TEST_P(Gate, TheStoreAndTheSlotTakeNothingElse) {
  const verify::Examined examined = Ask(right, FormOf(right, right));
  ASSERT_TRUE(examined.form) << examined.refusal;
  const verify::InstallKey ours = {1}, theirs = {2};
  const verify::Expected expected{ir::ExactDigest(right),    "true", std::string(GetParam()), "",
                                  (*examined.form)->profile, {}};
  const std::string sealed = verify::Seal(*examined.form, ours);
  EXPECT_TRUE(verify::Readmit(sealed, ours, expected));
  EXPECT_FALSE(verify::Readmit(sealed, theirs, expected));
  for (size_t i = 0; i < sealed.size(); i += 61) {
    std::string damaged = sealed;
    damaged[i] = static_cast<char>(damaged[i] ^ 4);
    EXPECT_FALSE(verify::Readmit(damaged, ours, expected)) << i;
  }
  verify::Expected other = expected;
  other.target = GetParam() == "isa" ? "wasm" : "isa";
  EXPECT_FALSE(verify::Readmit(sealed, ours, other));
  EXPECT_TRUE(verify::ReadForeign(sealed)->payload.empty()) << "code of others is thrown away";
  const auto signed_program = ir::SignedProgram::Of(ir::Program(right));
  EXPECT_EQ(dispatch::Solid::Make(*examined.form, *signed_program).has_value(),
            GetParam() == "native");
}

// Served from the store: only what this installation sealed, under the key that it was sealed for.
TEST_P(Gate, TheStoreServesNothingElse) {
  const store::TempFolder folder;
  const auto store = store::OpenQuickly(folder / "store");
  ASSERT_TRUE(store->writable()) << store->reason();
  const verify::Examined examined = Ask(right, FormOf(right, right));
  ASSERT_TRUE(examined.form) << examined.refusal;
  const Form& form = *examined.form;
  const store::StoreKey key{ir::ExactDigest(right), "true", form->target, form->toolchain,
                            form->profile};
  const std::string sealed = verify::Seal(form, store->key());
  const auto served = [&](const store::StoreKey& under, std::string_view bytes) {
    store->Put(under, bytes);
    return store->FindVerified(under, {}).has_value();
  };
  EXPECT_TRUE(served(key, sealed));
  EXPECT_FALSE(store->FindVerified(key, {verify::Grade::Proved, verify::Grade::Proved}) &&
               GetParam() != "isa")
      << "a policy that asks for more";
  EXPECT_FALSE(served(key, form->payload)) << "bytes that nobody sealed";
  EXPECT_FALSE(served(key, verify::Seal(form, verify::InstallKey{9}))) << "sealed elsewhere";
  if (const auto foreign = store->FindForeign(key)) EXPECT_TRUE(foreign->payload.empty());
  std::string damaged = sealed;
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
  EXPECT_FALSE(served(key, damaged));
  store::StoreKey other = key;
  other.source_exact = ir::ExactDigest(wrong);
  EXPECT_FALSE(served(other, sealed)) << "for another program";
  other = key;
  other.target = GetParam() == "wasm" ? "c" : "wasm";
  EXPECT_FALSE(served(other, sealed)) << "for another target";
  other = key;
  other.guard = "arg 0 == 1";
  EXPECT_FALSE(served(other, sealed)) << "under another guard";
  other = key;
  other.calling = "in pieces";
  EXPECT_FALSE(served(other, sealed)) << "to be called otherwise";
  EXPECT_TRUE(served(key, sealed));
  store->Ban(form->candidate_exact, "caught");
  EXPECT_FALSE(served(key, sealed)) << "banned";
}

// Embedded from kept work: the same.
TEST_P(Gate, CodeIsOpenedFromNothingElse) {
  const verify::Examined examined = Ask(right, FormOf(right, right));
  ASSERT_TRUE(examined.form) << examined.refusal;
  const verify::InstallKey ours = {1}, theirs = {2};
  const verify::Expected expected{ir::ExactDigest(right),    "true", std::string(GetParam()), "",
                                  (*examined.form)->profile, {}};
  const auto admitted = engine::Admit(*examined.form, nullptr, {});
  ASSERT_TRUE(admitted) << admitted.error();
  const std::string sealed = aot::Code(*admitted).Seal(ours);
  const auto opened = aot::Code::Open(sealed, ours, expected);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->bytes(), (*examined.form)->payload);
  EXPECT_FALSE(aot::Code::Open(sealed, theirs, expected));
  EXPECT_FALSE(aot::Code::Open((*examined.form)->payload, ours, expected));
  verify::Expected other = expected;
  other.target = GetParam() == "isa" ? "wasm" : "isa";
  EXPECT_FALSE(aot::Code::Open(sealed, ours, other));
  other = expected;
  other.source_exact = ir::ExactDigest(wrong);
  EXPECT_FALSE(aot::Code::Open(sealed, ours, other));
  other = expected;
  other.calling = "in pieces";
  EXPECT_FALSE(aot::Code::Open(sealed, ours, other));
}

INSTANTIATE_TEST_SUITE_P(Targets, Gate, testing::ValuesIn(Names),
                         [](const auto& info) { return std::string(info.param); });

// PTX is judged by runs on a GPU: where there is none nobody vouches for it, and nowhere for PTX of another program.
TEST(Cuda, IsJudgedOnADeviceOrNotAtAll) {
  aot::RegisterJudges();
  const auto target = aot::TargetOf(aot::Target::Ptx);
  const ir::Program right = Parse(Text("add")), wrong = Parse(Text("mul"));
  const auto examine = [&](const ir::Program& emitted) {
    Result<exec::Artifact> artifact = target->Emit(emitted);
    EXPECT_TRUE(artifact) << artifact.error().message;
    CompiledForm form;
    form.source_exact = form.candidate_exact = ir::ExactDigest(right);
    form.guard = "true";
    form.candidate = ir::PrintText(right);
    form.toolchain = "test";
    form.target = "cuda";
    form.symbol = artifact->entry_symbol;
    form.payload = artifact->bytes;
    form.cost = exec::Bytes{form.payload.size()};
    return *verify::Examine(right, {right, {}, {}, "source"}, std::move(form), {});
  };
  const bool has_device = target->Load(*target->Emit(right)).has_value();
  const verify::Examined examined = examine(right);
  EXPECT_EQ(examined.form.has_value(), has_device) << examined.refusal;
  EXPECT_FALSE(examine(wrong).form);
}

// A target without a judge in this process is nobody's to trust, and nobody takes the judge of native code's place.
TEST(Judges, NobodyVouchesForTheUnknown) {
  class Believer final : public verify::TargetJudge {
   public:
    Result<verify::Verdict> Judge(const ir::Program&, const CompiledForm&, const ir::Guard&,
                                  const verify::VerifyOptions&) const override {
      return verify::Proved{{verify::Grade::Proved, "believer", "", 0}};
    }
  };
  EXPECT_FALSE(verify::HasJudge("fpga"));
  verify::RegisterJudge("native", std::make_shared<const Believer>());
  const ir::Program program = Parse(Text("add"));
  CompiledForm form;
  form.source_exact = form.candidate_exact = ir::ExactDigest(program);
  form.guard = "true";
  form.candidate = ir::PrintText(program);
  exec::NativeImage image;
  image.code = "\x31\xc0\xc3";  // xor eax, eax; ret
  exec::PutImage(form, image);
  aot::RegisterJudges();
  const auto examined = verify::Examine(program, {program, {}, {}, "source"}, form, {});
  ASSERT_TRUE(examined);
  EXPECT_FALSE(examined->form);
}

}  // namespace
}  // namespace frazil
