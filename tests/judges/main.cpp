// The mass attack: every attack for its share of mutants, on several processes, from one seed. Prints a table and ends with
// code 1 where a judge was fooled. `make test` runs a small share of it, `make fuzz` all of it.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/test_counts.h"
#include "judges/attack.h"

namespace frazil::tests {
namespace {

constexpr uint64_t Batch = 16;     // mutants of one base
constexpr size_t MostStories = 3;  // of one process and attack

struct Options {
  uint64_t seed = 1;
  uint64_t percent = 100;
  uint64_t jobs = 2;
  std::string only;
  std::optional<uint64_t> base;  // this one alone
  // The judges are taken to believe everything, and the search must see it: with what is called equal by mistake in every row.
  bool blind = false;
};

// Where a process is, for who looks at a judge that breaks.
std::string_view at_attack;
uint64_t at_base = 0;

void SayCheck(const char* file, int line, const char* condition) {
  fmt::print(stderr, "judges: {} base {}: CHECK({}) in {}:{}\n", at_attack, at_base, condition,
             file, line);
}

// What one process says to the one that started it.
struct Line {
  uint64_t counts[5];
  double seconds;
};

// Bases are numbered; a process takes every jobs-th. The same seed gives the same mutants however many jobs there are.
Tally RunShare(const Attack& attack, const Options& options, uint64_t job) {
  SetCheckHandler(SayCheck);
  const uint64_t bases =
      std::max<uint64_t>(1, attack.share * options.percent * TestScale() / 100 / Batch);
  Tally tally;
  tally.blind = options.blind;
  // A blind run asks whether a whole run would have seen a judge that believes everything: a part of one that has seen none
  // goes on. (With 8 bases of independence one seed in some dozens had none that differs.)
  const auto goes_on = [&](uint64_t base) {
    return base < bases || (options.blind && tally.wrong == 0 && base < attack.share / Batch);
  };
  for (uint64_t base = job; goes_on(base); base += options.jobs) {
    if (options.base && *options.base != base) continue;
    at_attack = attack.name;
    at_base = base;
    Choices choices((options.seed * 1'000'003 + base) * 64 +
                    static_cast<uint64_t>(&attack - Attacks().data()));
    // A base without a mutant (the optimizer refuses it, nothing can be changed) is drawn again.
    const uint64_t before = tally.mutants;
    for (int tries = 0; tries < 8 && tally.mutants < before + Batch; ++tries)
      attack.run(choices, before + Batch - tally.mutants, tally);
  }
  return tally;
}

void Child(const Options& options, uint64_t job, int out) {
  for (const Attack& attack : Attacks()) {
    if (!options.only.empty() && options.only != attack.name) continue;
    const auto begin = std::chrono::steady_clock::now();
    const Tally tally = RunShare(attack, options, job);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    for (size_t i = 0; i < tally.stories.size() && i < MostStories && !options.blind; ++i)
      fmt::print(stderr, "judges: {}: {}\n", attack.name, tally.stories[i]);
    const Line line{{tally.mutants, tally.refuted, tally.unknown, tally.equal, tally.wrong},
                    seconds};
    if (write(out, &line, sizeof line) != static_cast<ssize_t>(sizeof line)) std::_Exit(2);
  }
  std::_Exit(0);
}

Options Parse(int argc, char** argv) {
  Options options;
  options.seed = TestSeed(1);
  for (int i = 1; i < argc; i += 2) {
    if (std::string_view(argv[i]) == "--blind") {
      options.blind = true;
      --i;
      continue;
    }
    if (i + 1 == argc) break;
    const std::string flag = argv[i];
    const uint64_t number = std::strtoull(argv[i + 1], nullptr, 10);
    if (flag == "--seed") options.seed = number;
    if (flag == "--percent") options.percent = number;
    if (flag == "--jobs") options.jobs = std::max<uint64_t>(1, number);
    if (flag == "--base") options.base = number;
    if (flag == "--only") options.only = argv[i + 1];
  }
  return options;
}

int Main(int argc, char** argv) {
  const Options options = Parse(argc, argv);
  std::vector<int> pipes;
  std::vector<pid_t> children;
  for (uint64_t job = 0; job < options.jobs; ++job) {
    int ends[2];
    if (pipe(ends) != 0) return 2;
    const pid_t child = fork();
    if (child < 0) return 2;
    if (child == 0) Child(options, job, ends[1]);
    close(ends[1]);
    pipes.push_back(ends[0]);
    children.push_back(child);
  }
  fmt::print("seed {}, {} processes\n{:<13} {:>8} {:>8} {:>8} {:>8} {:>6} {:>8}  {}\n",
             options.seed, options.jobs, "judge", "mutants", "refuted", "unknown", "equal", "false",
             "seconds", "what");
  Line all{};
  bool complete = true, seen_by_all = true;
  for (const Attack& attack : Attacks()) {
    if (!options.only.empty() && options.only != attack.name) continue;
    Line sum{};
    for (int end : pipes) {
      Line line{};
      const bool whole = read(end, &line, sizeof line) == static_cast<ssize_t>(sizeof line);
      complete = complete && whole;
      for (size_t i = 0; i < 5; ++i) sum.counts[i] += line.counts[i];
      sum.seconds = std::max(sum.seconds, line.seconds);
    }
    fmt::print("{:<13} {:>8} {:>8} {:>8} {:>8} {:>6} {:>8.1f}  {}\n", attack.name, sum.counts[0],
               sum.counts[1], sum.counts[2], sum.counts[3], sum.counts[4], sum.seconds,
               attack.what);
    std::fflush(stdout);
    seen_by_all = seen_by_all && sum.counts[4] > 0;
    for (size_t i = 0; i < 5; ++i) all.counts[i] += sum.counts[i];
    all.seconds += sum.seconds;
  }
  fmt::print("{:<13} {:>8} {:>8} {:>8} {:>8} {:>6} {:>8.1f}\n", "all", all.counts[0], all.counts[1],
             all.counts[2], all.counts[3], all.counts[4], all.seconds);
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) fmt::print(stderr, "judges: signal {}\n", WTERMSIG(status));
    complete = complete && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  if (!complete) fmt::print(stderr, "judges: a process did not end as it should\n");
  if (options.blind) return complete && seen_by_all ? 0 : 1;
  return complete && all.counts[4] == 0 && all.counts[3] > 0 && all.counts[0] > 0 ? 0 : 1;
}

}  // namespace
}  // namespace frazil::tests

int main(int argc, char** argv) { return frazil::tests::Main(argc, argv); }
