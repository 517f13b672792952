// Lowering and lifting: named programs, then random ones.
#include "targets/isa/isa.h"
#include "ir/text/test_text.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "exec/meaning/interpreter.h"
#include "exec/random_arguments.h"
#include "generator/generator.h"
#include "ir/digest.h"
#include "ir/text/text.h"
#include "machines/simt/text.h"
#include "targets/tiles/tile.h"
#include "targets/tiles/tile_plan.h"

namespace frazil::targets::tiles {
namespace {

ir::Program Parsed(std::string_view text) { return ir::Parsed(text); }

TEST(Isa, SaxpyComesBack) {
  ir::Program program = Parsed(ir::SaxpyText);
  Result<machines::simt::Module> module = isa::Lower(program);
  ASSERT_TRUE(module) << module.error().ToString();
  EXPECT_EQ(module->code.size(), 12u);
  Result<isa::ProvedModule> proved = isa::ProvedModule::Prove(program, *module);
  ASSERT_TRUE(proved) << proved.error().ToString();
  EXPECT_EQ(ir::ExactDigest(*proved->program()), ir::ExactDigest(program));
  Result<ir::Program> lifted = isa::Lift(*module);
  ASSERT_TRUE(lifted) << lifted.error().ToString();
  EXPECT_EQ(ir::ExactDigest(*lifted), ir::ExactDigest(program));
}

// Only what was proved has a plan: anything else does not compile.
template <typename T>
concept HasPlan = requires(const T& what) { Prepare(what); };
static_assert(HasPlan<isa::ProvedModule>);
static_assert(!HasPlan<machines::simt::Module> && !HasPlan<ir::Program>);
static_assert(!std::is_default_constructible_v<isa::ProvedModule> &&
              !std::is_constructible_v<isa::ProvedModule, machines::simt::Module>);

// A module that was changed after it was proved, and one of another program: neither is proved, loaded or run.
TEST(Isa, WhatIsProvedIsWhatRuns) {
  const ir::Program program = Parsed(ir::SaxpyText);
  std::string text(ir::SaxpyText);
  text.replace(text.find("add %p"), 3, "sub");
  const ir::Program other = Parsed(text.c_str());
  const Result<machines::simt::Module> module = isa::Lower(program);
  ASSERT_TRUE(module);
  std::string listing = machines::simt::Print(*module);
  const size_t at = listing.find("add");
  ASSERT_NE(at, std::string::npos) << listing;
  listing.replace(at, 3, "sub");
  const Result<machines::simt::Module> changed = machines::simt::Assemble(listing);
  ASSERT_TRUE(changed) << changed.error().ToString();
  const auto refused = [&](const machines::simt::Module& wrong) {
    const Result<isa::ProvedModule> proved = isa::ProvedModule::Prove(program, wrong);
    EXPECT_TRUE(!proved && proved.error().diag == Diag::NotProved);
    for (const auto& target : {MakeIsaTarget(), MakeLaneExactTarget()}) {
      Result<exec::Artifact> artifact = target->Emit(program, {});
      ASSERT_TRUE(artifact);
      ASSERT_TRUE(target->Load(*artifact));
      artifact->bytes = std::string(wrong.bytes);
      const auto loaded = target->Load(*artifact);
      ASSERT_FALSE(loaded) << target->name();
      EXPECT_EQ(loaded.error().message,
                "the module, lifted, is not the program that it was made from");
    }
  };
  refused(*changed);
  refused(*isa::Lower(other));
  // The plan is of the lifted program itself, and of no copy.
  const Result<isa::ProvedModule> proved = isa::ProvedModule::Prove(program, *module);
  ASSERT_TRUE(proved);
  const auto plan = Prepare(*proved);
  ASSERT_TRUE(plan);
  EXPECT_EQ((*plan)->source, proved->program());
}

generator::GeneratorOptions OptionsOf(uint64_t seed) {
  generator::GeneratorOptions options;
  options.seed = seed;
  options.size = 8 + seed % 40;
  options.allow_streams = false;
  options.allow_tensors = seed % 4 == 0;
  options.types = ir::sets::Fixed | ir::sets::Float | ir::sets::Bool;
  return options;
}

// The same outcome: results and buffers bit for bit, or the same trap (a tensor op that has become a loop may trap under
// another name).
void ExpectSame(const ir::Program& program, exec::Callable& callable, uint64_t seed, bool tensors) {
  std::vector<exec::Value> wanted = exec::RandomArguments(program, seed),
                           got = exec::RandomArguments(program, seed);
  exec::RunContext context;
  Result<exec::Outcome> reference = exec::Interpret(program, wanted, context);
  Result<exec::Outcome> outcome = callable.Run(got, context);
  ASSERT_EQ(reference.has_value(), outcome.has_value()) << seed;
  if (!reference) return;
  ASSERT_EQ(reference->trap.has_value(), outcome->trap.has_value())
      << seed << ": "
      << (reference->trap ? reference->trap->ToString() : outcome->trap->ToString());
  if (reference->trap) {
    EXPECT_EQ(reference->trap->kind, outcome->trap->kind) << seed;
    EXPECT_EQ(reference->trap->index, outcome->trap->index) << seed;
    if (!tensors) {
      EXPECT_EQ(reference->trap->op, outcome->trap->op) << seed;
    }
    return;
  }
  EXPECT_TRUE(reference->results == outcome->results) << seed;
  EXPECT_TRUE(wanted == got) << seed;
}

TEST(Isa, RandomProgramsComeBackAndRun) {
  const char* wanted = std::getenv("FRAZIL_PROGRAMS");
  const uint64_t Programs = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 1500;
  uint64_t emitted = 0;
  std::unique_ptr<exec::Target> target = MakeLaneExactTarget();
  for (uint64_t seed = 0; seed < Programs; ++seed) {
    generator::GeneratorOptions options = OptionsOf(seed);
    ir::Program program = generator::Generate(options);
    Result<exec::Artifact> artifact = target->Emit(program, {});  // proved
    if (!artifact && artifact.error().message.starts_with("a call that cannot be inlined"))
      continue;
    ++emitted;
    ASSERT_TRUE(artifact) << seed << ": " << artifact.error().ToString();
    Result<machines::simt::Module> module = machines::simt::LoadModule(artifact->bytes);
    ASSERT_TRUE(module) << seed << ": " << module.error().ToString();
    Result<machines::simt::Module> again = machines::simt::Assemble(machines::simt::Print(*module));
    ASSERT_TRUE(again) << seed << ": " << again.error().ToString();
    ASSERT_EQ(again->bytes, artifact->bytes) << seed;
    auto callable = target->Load(*artifact);
    ASSERT_TRUE(callable) << seed << ": " << callable.error().ToString();
    ExpectSame(program, **callable, seed, options.allow_tensors);
    if (HasFailure()) return;
  }
  EXPECT_GT(emitted, Programs * 3 / 4);  // the others are recursive
}

}  // namespace
}  // namespace frazil::targets::tiles
