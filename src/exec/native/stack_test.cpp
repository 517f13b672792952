#include "exec/native/stack.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <cstring>
#include <functional>
#include <thread>

namespace frazil::exec {
namespace {

constexpr StackNeed Large{.frame_bytes = 4096, .recursive = true};

// Frames of 2 KiB that touch all of themselves; how many fit above the limit. ASan would put them elsewhere.
[[gnu::noinline, gnu::no_sanitize_address]] uint64_t Fill(uint64_t limit, uint64_t most) {
  volatile char frame[2048];
  for (size_t i = 0; i < sizeof frame; i += 64) frame[i] = static_cast<char>(most);
  if (reinterpret_cast<uint64_t>(frame) < limit || most == 0) return 0;
  return 1 + Fill(limit, most - 1) + static_cast<uint64_t>(frame[0] - frame[64]);
}

void OnThreadOf(size_t stack_bytes, const std::function<void()>& run) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, stack_bytes), 0);
  pthread_t thread;
  ASSERT_EQ(pthread_create(
                &thread, &attributes,
                [](void* self) -> void* {
                  (*static_cast<const std::function<void()>*>(self))();
                  return nullptr;
                },
                const_cast<std::function<void()>*>(&run)),
            0);
  pthread_attr_destroy(&attributes);
  pthread_join(thread, nullptr);
}

// The room is the same wherever the caller is.
TEST(Stack, HasRoomForTheDepth) {
  auto check = [] {
    for (const uint64_t depth : {0, 1, 100, 1000, 5000}) {
      uint64_t frames = 0;
      ASSERT_TRUE(RunOnStack(Large, depth, [&](uint64_t limit) { frames = Fill(limit, 100'000); }));
      EXPECT_GE(frames, depth);
      EXPECT_LE(frames, 2 * (depth + 3));
    }
  };
  check();
  OnThreadOf(256 << 10, check);
  OnThreadOf(64 << 20, check);
}

TEST(Stack, ACallWithinACallHasItsOwn) {
  OnThreadOf(256 << 10, [] {
    uint64_t inner = 0, outer = 0;
    ASSERT_TRUE(RunOnStack(Large, 1000, [&](uint64_t limit) {
      ASSERT_TRUE(RunOnStack(Large, 2000, [&](uint64_t other) { inner = Fill(other, 2000); }));
      outer = Fill(limit, 1000);
    }));
    EXPECT_EQ(inner, 2000u);
    EXPECT_EQ(outer, 1000u);
  });
}

TEST(Stack, WhatCannotBeHadDoesNotRun) {
  auto never = [](uint64_t) { FAIL(); };
  EXPECT_FALSE(RunOnStack(Large, UINT64_MAX, never));
  EXPECT_FALSE(RunOnStack(Large, LargestStackBytes / 4096, never));
  EXPECT_FALSE(RunOnStack({UINT64_MAX, false}, 0, never));
  EXPECT_FALSE(RunOnStack({UINT64_MAX, true}, UINT64_MAX, never));
  EXPECT_EQ(DepthWithin(Large, 4096 * 10), 7u);
  EXPECT_EQ(DepthWithin(Large, 0), 0u);
}

TEST(Stack, FramesThatDoNotRecurCountOnce) {
  OnThreadOf(256 << 10, [] {
    uint64_t frames = 0;
    ASSERT_TRUE(RunOnStack({4 << 20, false}, 1000, [&](uint64_t) { frames = Fill(0, 1500); }));
    EXPECT_EQ(frames, 1500u);
  });
}

}  // namespace
}  // namespace frazil::exec
