// Where buffers lie, and that the run has afterwards what it had.
#include "exec/native/fenced_scratch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "base/test_fault.h"

namespace frazil::exec {
namespace {

using Fence = FencedScratch::Fence;

bool IsZero(const void* buffer, size_t bytes) {
  const char* const from = static_cast<const char*>(buffer);
  return std::all_of(from, from + bytes, [](char byte) { return byte == 0; });
}

TEST(FencedScratch, BuffersAreZeroedAndAligned) {
  NativeRun run;
  const uint64_t memory = run.memory_left;
  for (int round = 0; round < 3; ++round) {
    for (const Fence fence : {Fence::Behind, Fence::Before}) {
      FencedScratch scratch(run, fence);
      for (const int64_t bytes : {0, 1, 64, 1000, 65'000, 70'000, 20 << 20}) {
        void* const buffer = scratch.Alloc(&run, bytes, 1);
        ASSERT_NE(buffer, nullptr);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer) % 64, 0u);
        EXPECT_TRUE(IsZero(buffer, static_cast<size_t>(bytes)));
        std::memset(buffer, 1, static_cast<size_t>(bytes));
      }
      EXPECT_TRUE(scratch.IsWhole());
      EXPECT_FALSE(scratch.is_given_back());
      scratch.Release(&run, nullptr);
      EXPECT_TRUE(scratch.IsWhole());
      EXPECT_TRUE(scratch.is_given_back());
      EXPECT_TRUE(scratch.is_used_rightly());
      EXPECT_EQ(run.memory_left, memory);
    }
  }
}

TEST(FencedScratch, MarksNest) {
  NativeRun run;
  FencedScratch scratch(run, Fence::Behind);
  auto* const outer = static_cast<char*>(scratch.Alloc(&run, 10, 8));
  outer[79] = 7;
  void* const mark = run.scratch;
  const uint64_t memory = run.memory_left;
  void* const inner = scratch.Alloc(&run, 10, 8);
  scratch.Alloc(&run, 10, 8);
  EXPECT_EQ(run.memory_left, memory - 160);
  scratch.Release(&run, mark);
  EXPECT_EQ(run.memory_left, memory);
  EXPECT_EQ(run.scratch, mark);
  EXPECT_EQ(outer[79], 7);
  // The mapping of before, and nothing new: one for each turn of a loop would cost more than the turn.
  std::set<void*> seen{inner};
  for (int turn = 0; turn < 100; ++turn) {
    seen.insert(scratch.Alloc(&run, 10, 8));
    scratch.Release(&run, mark);
  }
  EXPECT_LE(seen.size(), 2u);
}

TEST(FencedScratch, NoMoreThanTheRunHas) {
  NativeRun run;
  run.memory_left = 1000;
  FencedScratch scratch(run, Fence::Behind);
  EXPECT_EQ(scratch.Alloc(&run, -1, 1), nullptr);
  EXPECT_EQ(scratch.Alloc(&run, 126, 8), nullptr);
  EXPECT_NE(scratch.Alloc(&run, 125, 8), nullptr);
  EXPECT_EQ(scratch.Alloc(&run, 1, 1), nullptr);
  EXPECT_NE(scratch.Alloc(&run, 0, 1), nullptr);
  EXPECT_TRUE(scratch.is_used_rightly());
}

TEST(FencedScratch, ManyAtOnce) {
  NativeRun run;
  const uint64_t memory = run.memory_left;
  {
    FencedScratch scratch(run, Fence::Before);
    std::vector<char*> buffers;
    for (int i = 0; i < 30'000; ++i) {
      buffers.push_back(static_cast<char*>(scratch.Alloc(&run, 24, 1)));
      ASSERT_NE(buffers.back(), nullptr);
      std::memset(buffers.back(), i, 24);
    }
    for (int i = 0; i < 30'000; ++i) ASSERT_EQ(buffers[static_cast<size_t>(i)][23], char(i));
    EXPECT_TRUE(scratch.IsWhole());
    // Those have no fence, but something beside them.
    buffers.back()[24] = 1;
    EXPECT_FALSE(scratch.IsWhole());
  }
  // As after a trap, which gives nothing back.
  EXPECT_EQ(run.memory_left, memory);
  EXPECT_EQ(run.scratch, nullptr);
}

TEST(FencedScratch, AFenceOnEachSide) {
  NativeRun run;
  const auto touch = [&](Fence fence, int64_t at) {
    FencedScratch scratch(run, fence);
    auto* const buffer = static_cast<volatile char*>(scratch.Alloc(&run, 192, 1));
    buffer[at] = 1;
    return scratch.IsWhole();
  };
  EXPECT_TRUE(touch(Fence::Behind, 191));
  EXPECT_TRUE(touch(Fence::Before, 0));
  EXPECT_FALSE(touch(Fence::Behind, -1));
  EXPECT_FALSE(touch(Fence::Before, 192));
  FRAZIL_EXPECT_FAULT(touch(Fence::Behind, 192));
  FRAZIL_EXPECT_FAULT(touch(Fence::Before, -1));
}

}  // namespace
}  // namespace frazil::exec
