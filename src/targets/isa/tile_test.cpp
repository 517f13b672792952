// The tile interpreter against the reference interpreter: programs by hand, then random ones.
#include "targets/isa/tile.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>

#include "exec/generator.h"
#include "exec/interpreter.h"
#include "ir/builder.h"
#include "ir/lower.h"
#include "ir/text.h"

namespace frazil::targets::isa {
namespace {

using exec::Outcome;
using exec::Value;

std::vector<Value> Copies(const std::vector<Value>& arguments) {
  std::vector<Value> copies = arguments;
  for (size_t i = 0; i < copies.size(); ++i) {
    if (!copies[i].memory) continue;
    // What was one buffer stays one.
    bool found = false;
    for (size_t k = 0; k < i && !found; ++k)
      if (arguments[k].memory == arguments[i].memory) {
        copies[i].memory = copies[k].memory;
        found = true;
      }
    if (found) continue;
    const exec::Memory& from = *arguments[i].memory;
    copies[i].memory = std::make_shared<exec::Memory>(from.element(), from.length());
    std::memcpy(copies[i].memory->data(), from.data(), from.size_bytes());
  }
  return copies;
}

void ExpectSame(const ir::Program& program, const std::vector<Value>& arguments, const exec::RunContext& context = {},
                const TileOptions& options = {}, int threads = 1) {
  const auto plan = Prepare(program, options);
  ASSERT_TRUE(plan.has_value()) << plan.error().ToString();
  const std::vector<Value> expected_arguments = Copies(arguments), actual_arguments = Copies(arguments);
  const Result<Outcome> expected = exec::Interpret(program, expected_arguments, context);
  const Result<Outcome> actual = Run(**plan, actual_arguments, context, {threads});
  ASSERT_EQ(expected.has_value(), actual.has_value());
  if (!expected) return;
  ASSERT_EQ(expected->trap.has_value(), actual->trap.has_value())
      << (expected->trap ? expected->trap->ToString() : actual->trap->ToString()) << "\n" << Describe(**plan);
  if (expected->trap) {
    EXPECT_EQ(*expected->trap, *actual->trap) << expected->trap->ToString() << " / " << actual->trap->ToString();
    return;
  }
  EXPECT_TRUE(expected->results == actual->results);
  for (size_t i = 0; i < arguments.size(); ++i)
    ASSERT_TRUE(expected_arguments[i] == actual_arguments[i]) << "argument " << i << "\n" << Describe(**plan);
}

uint64_t Seeds() {
  const char* asked = std::getenv("FRAZIL_TILE_SEEDS");
  return asked != nullptr ? std::strtoull(asked, nullptr, 10) : 400;
}

TEST(TileRandom, ProgramsWithParallels) {
  int tiled = 0, lane_by_lane = 0;
  std::map<std::string, int> reasons;
  for (uint64_t seed = 1; seed <= Seeds(); ++seed) {
    exec::GeneratorOptions options;
    options.seed = seed;
    options.allow_tensors = false;
    options.allow_streams = seed % 4 == 0;
    options.allow_calls = seed % 3 == 0;
    options.types = ir::sets::Fixed | ir::sets::Float | ir::sets::Bool;
    options.allow_traps = seed % 2 == 0;
    const ir::Program program = exec::Generate(options);
    SCOPED_TRACE(seed);
    const auto plan = Prepare(program);
    ASSERT_TRUE(plan.has_value());
    if (LaneByLane(**plan).empty()) tiled += Describe(**plan).find(": tiles") != std::string::npos; else { lane_by_lane += 1; reasons[LaneByLane(**plan)]++; }
    for (uint64_t run = 0; run < 3; ++run)
      ExpectSame(program, exec::RandomArguments(program, seed * 100 + run), exec::RandomContext(program, seed), {.lanes = run == 0 ? 0u : 64u});
    if (HasFatalFailure() || HasNonfatalFailure()) { std::puts(ir::PrintText(program).c_str()); return; }
  }
  for (auto& [why, count] : reasons) std::printf("%5d %s\n", count, why.c_str());
  std::printf("%d tiled, %d lane by lane\n", tiled, lane_by_lane);
}

}  // namespace
}  // namespace frazil::targets::isa
