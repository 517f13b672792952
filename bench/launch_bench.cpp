// What a launch of an embedded kernel costs beyond the work: checked, recorded, and shared by two threads; and whether
// two threads are ever slower than one. The kernels are the standard ones, as the build has compiled them.
#include <algorithm>
#include <frazil_stdlib.hpp>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/system/thread_pool.h"
#include "embed/launch.h"
#include "embed/sequence.h"
#include "harness.h"

namespace frazil::bench {
namespace {

constexpr int Rounds = 61;
constexpr int Repeats = 20'000;

template <typename Work>
std::function<void()> Repeat(const Work& work, int times) {
  return [&work, times] {
    for (int i = 0; i < times; ++i) {
      asm volatile("" : : : "memory");
      work();
    }
  };
}

embed::NativeEntry EntryOf(const embed::KernelData& kernel) {
  const embed::NativeEntry entry = kernel.plain_entry(embed::UsedLevel());
  CHECK(entry != nullptr);
  return entry;
}

struct Arrays {
  std::vector<float> a, b, c;
  explicit Arrays(size_t n) : a(n, 1.0f), b(n, 2.0f), c(n, 0.0f) {}
  std::vector<uint64_t> words(size_t n) {
    return {embed::AddressOf(std::span(a)),
            n,
            embed::AddressOf(std::span(b)),
            n,
            embed::AddressOf(std::span(c)),
            n,
            n,
            embed::AllBegin,
            embed::AllEnd};
  }
};

}  // namespace

FRAZIL_FIGURE(launch_checked) {
  const embed::KernelData& kernel = *frazil_stdlib::kernels().Find("vector_add");
  const embed::NativeEntry entry = EntryOf(kernel);
  Arrays arrays(64);
  for (const size_t n : {size_t{0}, size_t{1}, size_t{16}, size_t{64}}) {
    const std::span<const float> a(arrays.a.data(), n), b(arrays.b.data(), n);
    const std::span<float> c(arrays.c.data(), n);
    const std::vector<uint64_t> words = arrays.words(n);
    const auto checked = [&] { CHECK(frazil_stdlib::vector_add(a, b, c).ok()); };
    const auto direct = [&] { CHECK(entry(words.data(), nullptr, embed::ThreadRun()) == 0); };
    const auto loop = [&] {
      for (size_t i = 0; i < n; ++i) c[i] = a[i] + b[i];
    };
    const auto times = Interleave(
        {Repeat(checked, Repeats), Repeat(direct, Repeats), Repeat(loop, Repeats)}, Rounds);
    const double ours = times[0].min_s / Repeats * 1e9;
    const double code = times[1].min_s / Repeats * 1e9, plain = times[2].min_s / Repeats * 1e9;
    // The work itself is the faster of its two forms.
    const double over = ours - std::min(code, plain);
    Report({"launch",
            fmt::format("checked launch, n = {}, beyond the work (whole {:.1f}, code {:.1f})", n,
                        ours, code),
            over, "ns", "the same loop in line", plain, "<= 5", over <= 5});
  }
}

FRAZIL_FIGURE(launch_sequence) {
  constexpr int Steps = 16;
  const embed::NativeEntry entry = EntryOf(*frazil_stdlib::kernels().Find("vector_add"));
  for (const size_t n : {size_t{0}, size_t{16}, size_t{64}}) {
    Arrays arrays(64);
    const std::span<float> c(arrays.c.data(), n);
    embed::Sequence sequence;
    for (int i = 0; i < Steps; ++i)
      CHECK(sequence
                .Add(frazil_stdlib::vector_add_bind(std::span(arrays.a).first(n),
                                                    std::span(arrays.b).first(n), c))
                .ok());
    const std::vector<uint64_t> words = arrays.words(n);
    const auto recorded = [&] { CHECK(sequence.Run().ok()); };
    const auto direct = [&] {
      for (int i = 0; i < Steps; ++i) CHECK(entry(words.data(), nullptr, embed::ThreadRun()) == 0);
    };
    const auto times =
        Interleave({Repeat(recorded, Repeats / Steps), Repeat(direct, Repeats / Steps)}, Rounds);
    const double ours = times[0].min_s / Repeats * 1e9, code = times[1].min_s / Repeats * 1e9;
    Report({"launch",
            fmt::format("recorded sequence, one kernel of {}, n = {}, beyond its code", Steps, n),
            ours - code, "ns", "whole", ours, "<= 2", ours - code <= 2});
  }
}

FRAZIL_FIGURE(launch_fork_join) {
  ThreadPool pool(2);
  const embed::KernelData& kernel = *frazil_stdlib::kernels().Find("vector_add");
  Arrays arrays(64);
  const std::vector<uint64_t> words = arrays.words(2);
  const embed::NativeEntry ranged = kernel.ranged_entry(embed::UsedLevel());
  CHECK(ranged != nullptr);
  const embed::RangedCall call{ranged, true, words.data(), kernel.word_count, 2, 1};
  const auto forked = [&] { CHECK(embed::RunPieces(call, pool).status == 0); };
  const auto times = Interleave({Repeat(forked, 1000)}, 201);
  Report({"launch", "fork and join of a launch in two pieces, workers awake",
          times[0].min_s / 1000 * 1e9, "ns", "median", times[0].median_s / 1000 * 1e9, "<= 300",
          times[0].median_s / 1000 <= 300e-9});
}

FRAZIL_FIGURE(launch_two_threads) {
  if (ThreadPool::Shared().threads() < 2) {
    Report({"launch", "two threads against one, 10^2 .. 10^7", 0, "", "", 0, "<= 1.02",
            std::nullopt, "one core"});
    return;
  }
  for (const std::string name : {"vector_add", "vector_exp"}) {
    const bool is_add = name == "vector_add";
    const embed::KernelData& kernel = *frazil_stdlib::kernels().Find(name);
    const embed::NativeEntry entry = EntryOf(kernel);
    double worst = 0;
    std::string list;
    for (size_t n = 100; n <= 10'000'000; n *= 10) {
      Arrays arrays(n);
      std::vector<uint64_t> words = arrays.words(n);
      if (!is_add) words.erase(words.begin() + 2, words.begin() + 4);
      const auto two = [&] {
        CHECK((is_add ? frazil_stdlib::vector_add(arrays.a, arrays.b, arrays.c)
                      : frazil_stdlib::vector_exp(arrays.a, arrays.c))
                  .ok());
      };
      // Below the size at which threads share a launch, it is the same code by definition.
      const bool is_shared =
          embed::WorkOf(kernel, words.data()) >= static_cast<double>(embed::ForkPicoseconds);
      const auto one = [&] {
        if (!is_shared) return two();
        CHECK(entry(words.data(), nullptr, embed::ThreadRun()) == 0);
      };
      const int times_each = static_cast<int>(std::max<size_t>(1, 1'000'000 / n));
      const auto times = Interleave({Repeat(two, times_each), Repeat(one, times_each)}, 41);
      const double ratio = times[0].median_s / times[1].median_s;
      worst = std::max(worst, ratio);
      list += fmt::format("{}{:.2f}", list.empty() ? "" : " ", ratio);
    }
    Report({"launch",
            fmt::format("{}: two threads against one, worst of 10^2 .. 10^7 ({})", name, list),
            worst, "x", "", 0, "<= 1.02", worst <= 1.02});
  }
}

}  // namespace frazil::bench
