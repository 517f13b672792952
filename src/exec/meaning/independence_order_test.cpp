// What ir::IndependenceOf and ir::MakeRanged promise, seen in execution: the pieces of a kernel whose iterations are
// called independent are run in a shuffled order, and everything must be as if it had run in one piece. Kernels are
// random: most of their indices are of the kinds that real kernels have, some collide.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "base/test_counts.h"
#include "exec/meaning/after_trap.h"
#include "exec/meaning/interpreter.h"
#include "exec/test_parallel_kernels.h"
#include "ir/check/check.h"
#include "ir/lanes/independence.h"
#include "ir/text/text.h"

namespace frazil::exec {
namespace {

constexpr int64_t Elements = 400;

// `far`: numbers that wrap when they are multiplied or added.
std::vector<Value> Arguments(uint64_t seed, int aliases, bool far = false) {
  std::mt19937_64 random(seed);
  std::vector<std::shared_ptr<Memory>> memories;
  for (int i = 0; i < 3; ++i) {
    auto memory = std::make_shared<Memory>(ir::types::I32, Elements);
    for (int64_t e = 0; e < Elements; ++e) {
      uint64_t word = static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(random())));
      memory->Set(e, std::span(&word, 1));
    }
    memories.push_back(memory);
  }
  if (aliases & 1) memories[1] = memories[0];
  if (aliases & 2) memories[2] = memories[1];
  std::vector<Value> arguments;
  for (auto& memory : memories) arguments.push_back(Value::Buffer(memory));
  auto number = [&](uint64_t near, std::initializer_list<int64_t> list) {
    const uint64_t pick = random();
    return far && pick % 3 != 0 ? list.begin()[pick / 3 % list.size()]
                                : static_cast<int64_t>(pick / 3 % near);
  };
  constexpr int64_t One = 1, Most = INT64_MAX;
  for (int i = 0; i < 2; ++i)
    arguments.push_back(Value::Int(
        ir::types::U32, 1 + number(9, {One << 16, One << 31, (One << 32) - 2, 640, 6700416})));
  arguments.push_back(
      Value::Int(ir::types::Index, number(12, {One << 33, One << 40, One << 60, One << 61,
                                               One << 62, Most, Most - 1, -Most - 1, -1, -2})));
  return arguments;
}

bool Hold(const ir::Independence& conditions, const std::vector<Value>& arguments) {
  for (auto [a, b] : conditions.disjoint)
    if (arguments[a].memory == arguments[b].memory) return false;
  for (auto [a, b] : conditions.at_most)
    if (static_cast<int64_t>(arguments[a].word) > static_cast<int64_t>(arguments[b].word))
      return false;
  return true;
}

int64_t TripsOf(const ir::RangedKernel& kernel, const std::vector<Value>& arguments) {
  std::vector<Value> scalars = arguments;
  for (int i = 0; i < 3; ++i)
    scalars[static_cast<size_t>(i)] = Value::Int(ir::types::Index, Elements);
  Result<Outcome> outcome = Interpret(kernel.trips, scalars);
  EXPECT_TRUE(outcome && !outcome->trap);
  return outcome && !outcome->trap ? static_cast<int64_t>(outcome->results[0].word) : 0;
}

// The pieces in any order; the trap is the lowest iteration's.
Outcome RunPieces(const ir::RangedKernel& kernel, const std::vector<Value>& arguments,
                  std::mt19937_64& random) {
  const int64_t trips = TripsOf(kernel, arguments);
  std::vector<int64_t> cuts = {0, trips};
  for (int i = 0; i < 6 && trips > 0; ++i)
    cuts.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(trips)));
  std::ranges::sort(cuts);
  std::vector<std::pair<int64_t, int64_t>> pieces;
  for (size_t i = 0; i + 1 < cuts.size(); ++i) pieces.emplace_back(cuts[i], cuts[i + 1]);
  std::ranges::shuffle(pieces, random);
  Outcome all;
  for (auto [from, to] : pieces) {
    std::vector<Value> piece = arguments;
    piece.push_back(Value::Int(ir::types::Index, from));
    piece.push_back(Value::Int(ir::types::Index, to));
    Result<Outcome> outcome = Interpret(kernel.program, piece);
    EXPECT_TRUE(outcome) << outcome.error().ToString();
    if (outcome && outcome->trap && (!all.trap || outcome->trap->index < all.trap->index))
      all.trap = outcome->trap;
  }
  return all;
}

struct Counts {
  uint64_t independent = 0, bound = 0, compared = 0, trapped = 0, refused_aliases = 0;
};

void CompareInShuffledPieces(const std::string& text, uint64_t seed, bool far, Counts& counts) {
  Result<ir::Program> program = ir::ParseText(text);
  ASSERT_TRUE(program) << program.error().ToString() << "\n" << text;
  Result<ir::RangedKernel> kernel = ir::MakeRanged(*program);
  if (!kernel) {
    EXPECT_EQ(kernel.error().diag, Diag::NotIndependent) << kernel.error().ToString();
    EXPECT_NE(kernel.error().location.line, 0u);
    ++counts.bound;
    return;
  }
  ++counts.independent;
  ASSERT_TRUE(ir::Check(kernel->program)) << ir::PrintText(kernel->program);
  for (int run = 0; run < 6; ++run) {
    const uint64_t data = seed * 16 + static_cast<uint64_t>(run);
    std::vector<Value> whole = Arguments(data, run % 4, far),
                       pieces = Arguments(data, run % 4, far);
    if (!Hold(kernel->conditions, whole)) {
      ++counts.refused_aliases;
      continue;
    }
    std::mt19937_64 random(data);
    Result<Outcome> expected = Interpret(*program, whole);
    ASSERT_TRUE(expected) << expected.error().ToString();
    Outcome got = RunPieces(*kernel, pieces, random);
    ASSERT_EQ(expected->trap, got.trap) << text;
    if (expected->trap) {
      const auto wrong = WrongAfterTrap(*InterpreterProgram::Create(*program),
                                        Arguments(data, run % 4, far), whole, pieces, {});
      ASSERT_FALSE(wrong) << "argument " << wrong->argument << ", element " << wrong->element
                          << " after " << got.trap->ToString() << "\n"
                          << text;
      ++counts.trapped;
      continue;
    }
    ++counts.compared;
    for (size_t i = 0; i < whole.size(); ++i)
      ASSERT_TRUE(whole[i] == pieces[i]) << "argument " << i << "\n" << text;
  }
}

void ExpectManyOfBoth(const Counts& counts, uint64_t least) {
  EXPECT_GT(counts.independent, SanitizedCount(least)) << counts.bound << " are bound";
  EXPECT_GT(counts.bound, SanitizedCount(least));
  EXPECT_GT(counts.compared, SanitizedCount(1000));
}

TEST(IndependenceOrder, RandomKernelsInShuffledPieces) {
  Counts counts;
  for (uint64_t seed = 0; seed < SanitizedCount(4000) && !HasFatalFailure(); ++seed)
    CompareInShuffledPieces(KernelWriter(seed).Write(), seed, false, counts);
  ExpectManyOfBoth(counts, 400);
  EXPECT_GT(counts.trapped, SanitizedCount(100));
  EXPECT_GT(counts.refused_aliases, SanitizedCount(100));
}

TEST(IndependenceOrder, IndicesThatWrap) {
  Counts counts;
  for (uint64_t seed = 0; seed < SanitizedCount(1200) && !HasFatalFailure(); ++seed)
    CompareInShuffledPieces(WrappingKernelWriter(seed).Write(), seed, true, counts);
  ExpectManyOfBoth(counts, 60);
}

}  // namespace
}  // namespace frazil::exec
