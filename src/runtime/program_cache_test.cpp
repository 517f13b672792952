#include "runtime/program_cache.h"

#include <gtest/gtest.h>

#include <thread>

#include "runtime/builders.h"
#include "runtime/loaded_kernel.h"

namespace frazil::runtime {
namespace {

class NoKernel final : public LoadedKernel {
 public:
  NoKernel() : LoadedKernel(Source(*builders::ElementwiseUnary(ir::Op::Neg, ir::types::I32))) {}
  Result<void> Run(std::span<const exec::Value>) const override { return {}; }
};

ProgramCache::Maker Make(int* times = nullptr) {
  return [times]() -> Result<std::shared_ptr<const LoadedKernel>> {
    if (times != nullptr) ++*times;
    return std::make_shared<NoKernel>();
  };
}

TEST(ProgramCache, MakesOnce) {
  ProgramCache cache(8);
  int times = 0;
  const auto first = cache.FindOrMake("aa", Make(&times));
  ASSERT_TRUE(first);
  EXPECT_EQ(*cache.FindOrMake("aa", Make(&times)), *first);
  EXPECT_EQ(times, 1);
  EXPECT_EQ(cache.Find("aa"), *first);
  EXPECT_EQ(cache.Find("ab"), nullptr);
  EXPECT_EQ(cache.counts().hits, 2u);
}

TEST(ProgramCache, IsBounded) {
  ProgramCache cache(16);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(cache.FindOrMake(std::to_string(i), Make()));
  EXPECT_LE(cache.size(), cache.capacity());
  EXPECT_EQ(cache.capacity(), 16u);
  EXPECT_EQ(cache.counts().evictions + cache.size(), 1000u);
}

TEST(ProgramCache, KeepsWhatIsUsed) {
  ProgramCache cache(4);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(cache.FindOrMake(std::to_string(i), Make()));
  for (int i = 4; i < 20; ++i) {
    ASSERT_NE(cache.Find("0"), nullptr);
    ASSERT_TRUE(cache.FindOrMake(std::to_string(i), Make()));
  }
  EXPECT_NE(cache.Find("0"), nullptr);
  EXPECT_EQ(cache.Find("1"), nullptr);
}

TEST(ProgramCache, WhatSomebodyHoldsGoesLast) {
  ProgramCache cache(3);
  const auto held = *cache.FindOrMake("held", Make());
  const uint64_t before = cache.generation();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(cache.FindOrMake(std::to_string(i), Make()));
  EXPECT_EQ(cache.Find("held"), held);
  EXPECT_NE(cache.generation(), before) << "others were forgotten";
  std::vector<std::shared_ptr<const LoadedKernel>> all;
  for (int i = 0; i < 20; ++i) all.push_back(*cache.FindOrMake(std::to_string(i), Make()));
  EXPECT_EQ(cache.size(), 3u) << "holding them all does not make the cache larger";
}

TEST(ProgramCache, AFailureIsNotKept) {
  ProgramCache cache(4);
  EXPECT_FALSE(cache.FindOrMake("a", [] { return Fail(Diag::BadKernel, "no"); }));
  EXPECT_TRUE(cache.FindOrMake("a", Make()));
}

TEST(ProgramCache, KernelsOutliveTheirPlace) {
  ProgramCache cache(4);
  const auto held = *cache.FindOrMake("a", Make());
  cache.Clear();
  EXPECT_EQ(cache.size(), 0u);
  EXPECT_EQ(held->signature().params.size(), 3u);
}

TEST(ProgramCache, ReadersAndWritersAtOnce) {
  ProgramCache cache(8);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&cache, t] {
      for (int i = 0; i < 2000; ++i) {
        const std::string key = std::to_string((i * 7 + t) % 12);
        const auto kernel = cache.FindOrMake(key, Make());
        ASSERT_TRUE(kernel);
        ASSERT_EQ((*kernel)->signature().params.size(), 3u);
        if (i % 500 == 0) cache.Clear();
      }
    });
  threads.clear();
  EXPECT_LE(cache.size(), cache.capacity());
}

}  // namespace
}  // namespace frazil::runtime
