// What targets ask of a program: who calls whom, what is needed, which NaNs must be made the one.
#include <gtest/gtest.h>

#include <algorithm>

#include "ir/facts/calls.h"
#include "ir/facts/inst_facts.h"
#include "ir/facts/nans.h"
#include "ir/text/test_text.h"
#include "ir/text/text.h"

namespace frazil::ir {
namespace {

Program Parse(const std::string& text) { return ir::Parsed("frz 1\n" + text); }

TEST(Calls, CalleesComeFirstAndCyclesAreSeen) {
  const Program program =
      Parse(RecursionText("i64", "%one") + "func @unused(%n: i64) -> (i64) {\n  return %n\n}\n");
  const CallGraph calls = FindCalls(program);
  const uint32_t down = program.FindFunction("down").index, entry = program.entry.index;
  EXPECT_EQ(calls.order, (std::vector{FuncId(down), FuncId(entry)}));
  EXPECT_TRUE(calls.recursive[down] && calls.called[down] && calls.reached[entry]);
  EXPECT_FALSE(calls.recursive[entry] || calls.called[entry]);
  EXPECT_FALSE(calls.reached[program.FindFunction("unused").index]);
  std::vector<bool> holds(program.functions.size(), false);
  holds[down] = true;
  SpreadToCallers(calls, holds);
  EXPECT_TRUE(holds[entry]);
  EXPECT_TRUE(MayBeStopped(program, program.entry_function(), false));
}

struct Asked {
  Program program;
  Homes homes;
  std::vector<InstId> reached;
  Liveness liveness;
  NanFacts nans;

  explicit Asked(const std::string& text) : program(Parse(text)) {
    const Function& function = program.entry_function();
    homes = FindHomes(function);
    for (const Region& region : function.regions)
      reached.insert(reached.end(), region.insts.begin(), region.insts.end());
    const std::vector<bool> fallible(program.functions.size(), false);
    const LivenessQuestion question = {
        .program = program,
        .function = function,
        .homes = homes,
        .reached = reached,
        .fallible = fallible,
        .metered = false,
        .may_trap = [](const Inst& inst) { return Info(inst.op).traps != 0; },
        .always_reads = {},
        .is_complete = {}};
    liveness = FindLiveness(question);
    nans = FindNans(
        question, liveness,
        [&](ValueId value) {
          const Inst* inst = homes.DefinitionOf(function, value);
          return inst != nullptr && MakesAnyNan(function, *inst);
        },
        [&](ValueId value) {
          const auto words = ConstantOf(function, homes, value);
          return words && IsNumber(function.type(value), (*words)[0]);
        });
  }
  ValueId Named(std::string_view name) const {
    const std::vector<std::string>& names = program.entry_function().value_names;
    return ValueId(static_cast<uint32_t>(std::ranges::find(names, name) - names.begin()));
  }
  bool IsLive(std::string_view name) const { return liveness.live[Named(name).index]; }
  bool IsCanonical(std::string_view name) const { return nans.canonical[Named(name).index]; }
  bool IsLazy(std::string_view name) const { return nans.lazy[Named(name).index]; }
};

TEST(Liveness, WhatNobodyReadsIsNotNeeded) {
  const Asked asked(R"(func @main(%x: i32, %y: i32, %n: i32) -> (i32) {
  %dead = mul %x, %x : i32
  %half = div.trunc %x, %y : i32
  %zero = const 0 : i32
  %a, %b = for %i = %zero to %n step 1 carry (%p = %x, %q = %y) {
    %p1 = add %p, %i : i32
    %q1 = add %q, %i : i32
    yield %p1, %q1
  }
  return %a
}
)");
  EXPECT_FALSE(asked.IsLive("dead"));
  const auto needed = [&](std::string_view name) {
    return asked.liveness.needed[asked.homes.definition[asked.Named(name).index].index];
  };
  EXPECT_FALSE(needed("dead"));
  // It may trap, whoever reads it.
  EXPECT_TRUE(needed("half"));
  EXPECT_FALSE(asked.IsLive("half"));
  EXPECT_TRUE(asked.IsLive("a") && asked.IsLive("p") && asked.IsLive("p1"));
  EXPECT_FALSE(asked.IsLive("b") || asked.IsLive("q") || asked.IsLive("q1"));
}

TEST(Nans, OnlyWhatIsMovedIsMadeTheOne) {
  const Asked asked(R"(func @main(%x: f32, %n: i32, %out: buffer<f32>) -> (f32) {
  %lo = const 0 : i32
  %at = const 0 : index
  %start = const 0 : f32
  %inner = mul %x, %x : f32
  %stored = add %inner, %x : f32
  store %out, %at, %stored : f32
  %sum = for %i = %lo to %n step 1 carry (%acc = %start) {
    %next = add %acc, %x : f32
    yield %next
  }
  return %sum
}
)");
  EXPECT_FALSE(asked.IsCanonical("inner"));
  EXPECT_TRUE(asked.IsCanonical("stored"));
  // Once after the loop is enough.
  EXPECT_TRUE(asked.IsLazy("sum") && asked.IsCanonical("sum"));
  EXPECT_FALSE(asked.IsCanonical("next"));
}

TEST(Nans, NumbersAndInfinitiesAreNumbers) {
  EXPECT_TRUE(IsNumber(types::F32, 0x7f80'0000) && IsNumber(types::F32, 0xff80'0000));
  EXPECT_FALSE(IsNumber(types::F32, 0x7fc0'0000));
  EXPECT_TRUE(IsNumber(types::F64, 0xfff0'0000'0000'0000));
  EXPECT_FALSE(IsNumber(types::F64, 0x7ff0'0000'0000'0001));
}

}  // namespace
}  // namespace frazil::ir
