#include "registry/targets.h"

#include <gtest/gtest.h>

#include "ir/text/text.h"

namespace frazil::registry {
namespace {

const ir::Program& Add() {
  static const auto* program = new ir::Program(*ir::ParseText(
      "frz 1\nfunc @main(%x: i32, %y: i32) -> (i32) {\n%r = add %x, %y : i32\nreturn %r\n}\n"));
  return *program;
}

std::vector<exec::Value> TwoAndThree() {
  return {exec::Value::Int(ir::types::I32, 2), exec::Value::Int(ir::types::I32, 3)};
}

// A target whose machine is nowhere.
class Moon final : public exec::Target {
 public:
  std::string_view name() const override { return "moon"; }
  std::string Refuses(const ir::Program& program) const override {
    return program.entry_function().param_count() == 0 ? "the moon computes with two things" : "";
  }
  Result<exec::Artifact> Emit(const ir::Program&, const exec::EmitOptions&) const override {
    return exec::Artifact();
  }
  Result<std::unique_ptr<exec::Callable>> Load(const exec::Artifact&) const override {
    return Fail(Diag::NoDevice, "there is no moon");
  }
};

TEST(Targets, StandardOnesAreThereInTheirOrder) {
  const std::vector<std::string> names = TargetNames();
  const std::vector<std::string> standard = {"interp", "isa", "wasm", "c", "cuda", "tasm"};
  EXPECT_EQ(std::vector(names.begin(), names.begin() + 6), standard);
  for (const std::string& name : standard) {
    const auto target = FindTarget(name);
    ASSERT_TRUE(target) << name;
    EXPECT_EQ((*target)->name(), name);
    EXPECT_EQ(*FindTarget(name), *target) << "made once";
  }
  const auto outcome = RunOn(**FindTarget("isa"), Add(), TwoAndThree(), {});
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->results[0], exec::Value::Int(ir::types::I32, 5));
}

TEST(Targets, AMissingOneIsNamedWithThoseThatThereAre) {
  const auto target = FindTarget("abacus");
  ASSERT_FALSE(target);
  EXPECT_EQ(target.error().diag, Diag::UnknownTarget);
  EXPECT_TRUE(target.error().message.starts_with(
      "there is no target 'abacus'; there are interp, isa, wasm, c, cuda, "))
      << target.error().message;
}

TEST(Targets, OneMoreIsRegisteredAtItsPlace) {
  ASSERT_TRUE(
      RegisterTarget({"moon", [] { return std::make_unique<Moon>(); }, verify::RunsJudge, "tasm"}));
  EXPECT_FALSE(RegisterTarget({"moon", [] { return std::make_unique<Moon>(); }}));
  EXPECT_FALSE(RegisterTarget({"interp", [] { return std::make_unique<Moon>(); }}));
  EXPECT_EQ(TargetNames(),
            (std::vector<std::string>{"interp", "isa", "wasm", "c", "cuda", "moon", "tasm"}));
  const exec::Target& moon = **FindTarget("moon");
  EXPECT_EQ(RunOn(moon, Add(), TwoAndThree(), {}).error().diag, Diag::NoDevice);
  // What it would refuse, it refuses wherever it runs.
  const ir::Program nothing = *ir::ParseText("frz 1\nfunc @main() {\nreturn\n}\n");
  EXPECT_EQ(LoadOn(moon, nothing, {}).error().message,
            "the target moon refuses: the moon computes with two things");
  const auto loaded = LoadOn(moon, Add(), {});
  ASSERT_TRUE(loaded) << loaded.error().ToString();
  EXPECT_EQ(loaded->target, "isa");
  EXPECT_EQ(loaded->note, "there is no moon; the CPU answers");
  EXPECT_EQ(loaded->callable->Run(TwoAndThree(), {})->results[0],
            exec::Value::Int(ir::types::I32, 5));
}

// Who judges a target's forms is known as soon as the target is, and no sooner.
TEST(Targets, BringTheirJudges) {
  RegisterJudges();
  for (const char* name : {"interp", "isa", "wasm", "c", "cuda"})
    EXPECT_TRUE(verify::HasJudge(name)) << name;
  EXPECT_FALSE(verify::HasJudge("mars"));
  ASSERT_TRUE(RegisterTarget({"mars", [] { return std::make_unique<Moon>(); }, verify::RunsJudge}));
  EXPECT_TRUE(verify::HasJudge("mars"));
  exec::CompiledForm form;
  form.target = "mars";
  form.candidate = ir::PrintText(Add());
  const auto verdict = verify::VerifyForm(Add(), form, {});
  ASSERT_TRUE(verdict) << verdict.error().ToString();
  EXPECT_EQ(verify::WhyNot(*verdict), "it cannot be run here: there is no moon");
  // The interpreter's bytes are the program, or they are nothing.
  form.target = "interp";
  form.payload = form.candidate;
  EXPECT_TRUE(verify::CallsEqual(*verify::VerifyForm(Add(), form, {})));
  form.payload =
      "frz 1\nfunc @main(%x: i32, %y: i32) -> (i32) {\n%r = sub %x, %y : i32\nreturn %r\n}\n";
  EXPECT_FALSE(verify::CallsEqual(*verify::VerifyForm(Add(), form, {})));
}

TEST(Targets, ATargetThatOnlyLoadsGivesWay) {
  const exec::Target* const loader = *FindTarget("cuda");
  EXPECT_EQ(loader->Emit(Add()).error().diag, Diag::MissingTool);
  ASSERT_TRUE(RegisterTarget({"cuda", [] { return std::make_unique<Moon>(); }, {}, "tasm"}));
  EXPECT_EQ((*FindTarget("cuda"))->name(), "moon");
  EXPECT_EQ(loader->name(), "cuda") << "who has the other one keeps it";
  EXPECT_FALSE(RegisterTarget({"cuda", [] { return std::make_unique<Moon>(); }}));
}

}  // namespace
}  // namespace frazil::registry
