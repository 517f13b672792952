// What the engine's tests share: a private store folder, programs, calls in words.
#pragma once

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/engine.h"
#include "engine/fluid.h"
#include "ir/text/text.h"

namespace frazil::engine {

using namespace std::chrono_literals;

inline ir::Program Parse(std::string_view text) {
  auto program = ir::ParseText(text);
  EXPECT_TRUE(program) << (program ? "" : program.error().ToString());
  return *program;
}

// sum over i < n of (i * a) ^ b
inline constexpr const char* Mix = R"(frz 1
func @main(%a: i64, %b: i64, %n: index) -> (i64) {
  %zero = const 0 : index
  %start = const 0 : i64
  %sum = for %i = %zero to %n step 1 carry (%acc = %start) {
    %w = cast %i : i64
    %p = mul %w, %a : i64
    %x = xor %p, %b : i64
    %next = add %acc, %x : i64
    yield %next
  }
  return %sum
}
)";

// A switch whose arm is fixed while %mode is: worth a form of its own.
inline constexpr const char* Modes = R"(frz 1
func @main(%mode: i64, %x: i64, %n: index) -> (i64) {
  %zero = const 0 : index
  %sum = for %i = %zero to %n step 1 carry (%acc = %x) {
    %next = switch %mode -> (i64) {
    case 1 {
      %m = mul %acc, %acc : i64
      yield %m
    }
    case 2 {
      %d = const 7 : i64
      %q = div.trunc %acc, %d : i64
      yield %q
    }
    default {
      %p = xor %acc, %mode : i64
      %r = mul %p, %mode : i64
      yield %r
    }
    }
    yield %next
  }
  return %sum
}
)";

inline uint64_t MixMeans(uint64_t a, uint64_t b, uint64_t n) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < n; ++i) sum += (i * a) ^ b;
  return sum;
}

class EngineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(::testing::TempDir()) /
              (std::string("frazil_engine_") + std::to_string(getpid()) + "_" + info->name());
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  EngineOptions Options() {
    EngineOptions options;
    options.store.directory = folder_ / "store";
    options.on_event = [this](const Event& event) {
      std::lock_guard lock(mutex_);
      events_.push_back(event);
    };
    return options;
  }
  size_t Count(std::string_view verb) {
    std::lock_guard lock(mutex_);
    return static_cast<size_t>(std::ranges::count_if(
        events_, [&](const Event& event) { return VerbName(event.verb) == verb; }));
  }
  std::string Events() {
    std::lock_guard lock(mutex_);
    std::string text;
    for (const Event& event : events_)
      text += std::string(VerbName(event.verb)) + ": " + Sentence(event) + "\n";
    return text;
  }

  // Calls until the site is solid; every answer is checked on the way.
  static bool CallUntilSolid(Site& site, std::chrono::milliseconds longest = 20s) {
    const auto end = std::chrono::steady_clock::now() + longest;
    for (uint64_t i = 0; std::chrono::steady_clock::now() < end; ++i) {
      CheckMix(site, 3 + i, i * 77, i % 300);
      if (site.state() == dispatch::State::Solid) return true;
    }
    return false;
  }
  static void CheckMix(Site& site, uint64_t a, uint64_t b, uint64_t n) {
    const uint64_t arguments[] = {a, b, n};
    uint64_t result = 0;
    ASSERT_EQ(site.Call(arguments, &result), 0);
    ASSERT_EQ(result, MixMeans(a, b, n)) << a << " " << b << " " << n;
  }

  std::filesystem::path folder_;
  std::mutex mutex_;
  std::vector<Event> events_;
};

}  // namespace frazil::engine
