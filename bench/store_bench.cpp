// The store: the first solid call of a fresh process from 10^5 entries, beyond an empty C++ program; and what one
// Find and one Put cost in a process that runs.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/check.h"
#include "harness.h"
#include "store/sample_form.h"
#include "verify/judge.h"

namespace frazil::bench {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t Entries = 100'000;
constexpr int Rounds = 400;

std::string Sealed(uint64_t number, const verify::InstallKey& key) {
  const verify::EvidencePair evidence = {
      {verify::Grade::Proved, "replay", "12 rule instances", 0},
      {verify::Grade::Sampled, "interpreter", "4,352 inputs", 4352}};
  return verify::Seal(verify::Judge::Vouch(SampleForm(number), evidence), key);
}

// Writing 10^5 entries takes a minute on some disks, so they stay in the build folder for the next time.
std::string FilledStore() {
  const std::string directory = "build/bench/store_100000";
  const std::string done = directory + ".done";
  store::StoreOptions options;
  options.directory = directory;
  options.sync = false;
  options.max_bytes = uint64_t{1} << 40;
  // What an older version wrote is of no use: other names, another seal.
  if (fs::exists(done) && store::Store::Open(options)->FindVerified(SampleKey(0), {}))
    return directory;
  fs::remove_all(directory);
  const auto store = store::Store::Open(options);
  CHECK(store->writable());
  for (uint64_t i = 0; i < Entries; ++i) CHECK(store->Put(SampleKey(i), Sealed(i, store->key())));
  std::ofstream(done) << Entries << "\n";
  return directory;
}

struct Ran {
  double wall_us = 0;
  double cpu_us = 0;
  double inside_us = 0;  // as the program itself says
};

Ran RunOnce(const std::string& program, const std::string& directory, const std::string& number) {
  int ends[2];
  CHECK(pipe2(ends, O_CLOEXEC) == 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  const char* arguments[] = {program.c_str(), directory.c_str(), number.c_str(), nullptr};
  Ran ran;
  int status = 0;
  rusage usage = {};
  ran.wall_us = 1e6 * Seconds([&] {
                  pid_t child;
                  CHECK(posix_spawn(&child, program.c_str(), &actions, nullptr,
                                    const_cast<char**>(arguments), environ) == 0);
                  CHECK(wait4(child, &status, 0, &usage) == child);
                });
  for (const timeval& time : {usage.ru_utime, usage.ru_stime})
    ran.cpu_us += 1e6 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  char text[64] = {};
  const ssize_t count = read(ends[0], text, sizeof text - 1);
  close(ends[0]);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  if (count > 0) ran.inside_us = std::atof(text);
  return ran;
}

double Percentile(std::vector<double>& values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))];
}

}  // namespace

FRAZIL_FIGURE(store_first_call) {
  const std::string directory = FilledStore();
  const fs::path programs = fs::canonical("/proc/self/exe").parent_path();
  const std::string empty = programs / "store_empty", first = programs / "store_first_call";
  std::vector<double> empty_us, first_us, empty_cpu_us, first_cpu_us, inside_us;
  for (int round = 0; round < Rounds; ++round) {
    // Another entry each time: no process finds what the one before it found.
    const std::string number = fmt::format("{}", (round * 7919ull) % Entries);
    const Ran none = RunOnce(empty, directory, number);
    const Ran ran = RunOnce(first, directory, number);
    empty_us.push_back(none.wall_us);
    empty_cpu_us.push_back(none.cpu_us);
    first_us.push_back(ran.wall_us);
    first_cpu_us.push_back(ran.cpu_us);
    inside_us.push_back(ran.inside_us);
  }
  const double p50 = Percentile(first_us, 0.5) - Percentile(empty_us, 0.5);
  const double p95 = Percentile(first_us, 0.95) - Percentile(empty_us, 0.95);
  Report({"store", "second process, first solid call of 10^5, p50 beyond empty", p50 / 1000, "ms",
          "empty C++ program", Percentile(empty_us, 0.5) / 1000, "-", std::nullopt, "no goal"});
  Report({"store", "second process, first solid call of 10^5, p95 beyond empty", p95 / 1000, "ms",
          "empty C++ program", Percentile(empty_us, 0.95) / 1000, "<= 1 ms", p95 <= 1000});
  const double cpu = Percentile(first_cpu_us, 0.95) - Percentile(empty_cpu_us, 0.95);
  Report({"store", "the same in CPU time, p95 beyond empty", cpu / 1000, "ms", "empty C++ program",
          Percentile(empty_cpu_us, 0.95) / 1000, "-", std::nullopt, "no goal"});
  Report({"store", "the same from the first line of main, p95", Percentile(inside_us, 0.95) / 1000,
          "ms", "", 0, "-", std::nullopt, "no goal"});
}

FRAZIL_FIGURE(store_calls) {
  const std::string directory = FilledStore();
  store::StoreOptions options;
  options.directory = directory;
  const auto store = store::Store::Open(options);
  constexpr uint64_t Calls = 200;
  uint64_t number = 0;
  const std::vector<Times> times =
      Interleave({[&] {
                    for (uint64_t i = 0; i < Calls; ++i)
                      Keep(store->FindVerified(SampleKey(number++ % Entries), {}).has_value());
                  },
                  [&] {
                    for (uint64_t i = 0; i < Calls; ++i)
                      Keep(store->Find(SampleKey(Entries + number++)).has_value());
                  }},
                 9);
  Report({"store", "FindVerified, 2 KB of code, warm", times[0].median_s / Calls * 1e6, "us", "", 0,
          "-", std::nullopt, "no goal"});
  Report({"store", "Find, a miss", times[1].median_s / Calls * 1e6, "us", "", 0, "-", std::nullopt,
          "no goal"});
  const std::string sealed = Sealed(0, store->key());
  const double put = Seconds([&] {
    for (int i = 0; i < 20; ++i) CHECK(store->Put(SampleKey(0), sealed));
  });
  Report({"store", "Put, 2 KB of code, synced to disk", put / 20 * 1e3, "ms", "", 0, "-",
          std::nullopt, "no goal"});
}

}  // namespace frazil::bench
