#include "engine/rounds.h"

#include <gtest/gtest.h>

#include "exec/value.h"
#include "ir/text/text.h"

namespace frazil::engine {
namespace {

constexpr const char* Divide = R"(frz 1
func @main(%n: index, %x: in buffer<i32>, %y: buffer<i32>) -> (i32) {
  %zero = const 0 : index
  %hundred = const 100 : i32
  parallel %i = %zero to %n {
    %a = load %x, %i : i32
    %b = div.trunc %hundred, %a : i32
    store %y, %i, %b : i32
    yield
  }
  return %hundred
}
)";

exec::Value Buffer(std::vector<int64_t> elements) {
  auto memory =
      std::make_shared<exec::Memory>(ir::types::I32, static_cast<int64_t>(elements.size()));
  for (size_t i = 0; i < elements.size(); ++i)
    memory->Set(static_cast<int64_t>(i),
                exec::Value::Int(ir::types::I32, elements[i]).scalar_words());
  return exec::Value::Buffer(std::move(memory));
}

struct Bed {
  Bed()
      : program(*ir::ParseText(Divide)),
        engine([] {
          EngineOptions options;
          options.use_store = false;
          options.compile = false;
          return options;
        }()),
        site(engine.Load(program).value()) {}
  std::vector<exec::Value> Arguments(std::vector<int64_t> x) const {
    const auto n = static_cast<int64_t>(x.size());
    return {exec::Value::Int(ir::types::Index, n), Buffer(std::move(x)),
            Buffer(std::vector<int64_t>(static_cast<size_t>(n)))};
  }
  Result<void> Call(const std::vector<exec::Value>& arguments, uint64_t calls) {
    const exec::LoweredCall call = exec::LoweredCall::Create(program, arguments, {}).value();
    return CallInRounds(*site, call, calls, counts, [&](uint64_t done, double ns) {
      rounds.push_back(done);
      EXPECT_GT(ns, 0);
    });
  }

  ir::Program program;
  Engine engine;
  std::shared_ptr<Site> site;
  TrapCounts counts;
  std::vector<uint64_t> rounds;
};

TEST(Rounds, DoubleUntilAllCallsAreMade) {
  Bed bed;
  const std::vector<exec::Value> arguments = bed.Arguments({1, 2, 3});
  ASSERT_TRUE(bed.Call(arguments, 20));
  EXPECT_EQ(bed.rounds, (std::vector<uint64_t>{1, 3, 7, 15, 20}));
  EXPECT_EQ(bed.counts.total(), 0u);
  EXPECT_EQ(arguments[2], Buffer({100, 50, 33})) << "the calls wrote where they were told to";
}

TEST(Rounds, CallsThatTrapAreCounted) {
  Bed bed;
  ASSERT_TRUE(bed.Call(bed.Arguments({1, 0, 3}), 5));
  EXPECT_EQ(bed.counts.total(), 5u);
  EXPECT_EQ(bed.counts.Print(5), "5 of 5 calls: division by zero");
}

TEST(Rounds, WhatTrapsIsNotCalledFaster) {
  EXPECT_EQ(WithoutSpeed("egraph: 12.5 times as fast"), "egraph: its calls trap");
  EXPECT_EQ(WithoutSpeed("hot after 12 calls"), "hot after 12 calls");
}

TEST(Rounds, OneCallIsComparedWithTheInterpreters) {
  Bed bed;
  const auto compare = [&](std::vector<exec::Value> ours, std::vector<exec::Value> theirs) {
    return CompareWithInterpreter(*bed.site, std::move(ours), std::move(theirs), {}).value();
  };
  const Comparison same = compare(bed.Arguments({1, 2, 3}), bed.Arguments({1, 2, 3}));
  EXPECT_TRUE(same.same);
  EXPECT_FALSE(same.trapped);
  EXPECT_EQ(same.sentence, "the interpreter's, bit for bit");
  const Comparison both = compare(bed.Arguments({0}), bed.Arguments({0}));
  EXPECT_TRUE(both.same && both.trapped);
  EXPECT_TRUE(both.sentence.starts_with("none: the interpreter traps too, division by zero"));
  // Other arguments than the interpreter has: as if the site were wrong.
  const Comparison memory = compare(bed.Arguments({1, 2, 3}), bed.Arguments({1, 2, 4}));
  EXPECT_FALSE(memory.same);
  EXPECT_EQ(memory.sentence, "NOT the interpreter's");
  const Comparison trap = compare(bed.Arguments({1}), bed.Arguments({0}));
  EXPECT_FALSE(trap.same);
  EXPECT_TRUE(trap.sentence.starts_with("NOT the interpreter's, which traps: ")) << trap.sentence;
}

}  // namespace
}  // namespace frazil::engine
