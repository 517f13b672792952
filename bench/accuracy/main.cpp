// accuracy_sweep FUNCTION|all [STRIDE [THREADS [TARGET]]]: measures one prelude function, or all of
// them. Prints one JSON line per function; exit code 1 if one misses its bound.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "evaluator.h"
#include "sweep.h"

namespace frazil::bench {
namespace {

void Print(const Job& job, const Score& score) {
  std::string misrounded;
  for (const uint64_t bits : score.misrounded) {
    misrounded += fmt::format("{}\"{:#x}\"", misrounded.empty() ? "" : ", ", bits);
  }
  fmt::print(
      "{{\"function\": \"{}\", \"target\": \"{}\", \"inputs\": {}, \"max_ulp\": {:.6f}, "
      "\"not_correctly_rounded\": {}, \"wrong_special\": {}, \"worst\": [\"{:#x}\", \"{:#x}\"], "
      "\"first_special\": [\"{:#x}\", \"{:#x}\"], \"misrounded\": [{}], \"bound\": {}, \"met\": "
      "{}}}\n",
      job.name, job.target, score.inputs, score.max_ulp, score.not_correctly_rounded,
      score.wrong_special, score.worst[0], score.worst[1], score.first_special[0],
      score.first_special[1], misrounded, job.bound, Meets(job, score));
  std::fflush(stdout);
}

int Main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr,
               "usage: accuracy_sweep FUNCTION|all [STRIDE [THREADS [TARGET]]]   e.g. "
               "accuracy_sweep exp.f32 65\n");
    return 1;
  }
  const std::string name = argv[1];
  const uint64_t stride = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const uint64_t threads =
      argc > 3 ? std::strtoull(argv[3], nullptr, 10) : std::thread::hardware_concurrency();
  const std::string target = argc > 4 ? argv[4] : DefaultEvaluator();
  if (stride == 0 || threads == 0) {
    fmt::print(stderr, "stride and threads are at least 1\n");
    return 1;
  }
  bool met = true;
  for (const std::string& each : name == "all" ? AllFunctions() : std::vector<std::string>{name}) {
    const Job job = MakeJob(each, target);
    const Result<Score> score = Measure(job, stride, threads);
    if (!score) {
      fmt::print(stderr, "{}: {}\n", each, score.error().ToString());
      return 1;
    }
    Print(job, *score);
    met = met && Meets(job, *score);
  }
  return met ? 0 : 1;
}

}  // namespace
}  // namespace frazil::bench

int main(int argc, char** argv) { return frazil::bench::Main(argc, argv); }
