// The accuracy figures of `make bench`: every f32 function of one argument over all 2^32 inputs,
// f64 and pow on 2^21 samples. FRAZIL_ACCURACY_STRIDE shortens it; the figure's name then says so.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

#include "evaluator.h"
#include "harness.h"
#include "sweep.h"

namespace frazil::bench {

FRAZIL_FIGURE(accuracy) {
  const char* setting = std::getenv("FRAZIL_ACCURACY_STRIDE");
  const uint64_t stride = setting == nullptr ? 1 : std::strtoull(setting, nullptr, 10);
  const std::vector<std::string> names = AllFunctions();
  for (size_t i = 0; i < names.size(); ++i) {
    const Job job = MakeJob(names[i], DefaultEvaluator());
    fmt::print(stderr, "accuracy {}/{}: {}\n", i + 1, names.size(), job.name);
    const Result<Score> score =
        Measure(job, stride == 0 ? 1 : stride, std::thread::hardware_concurrency());
    Record record{.area = "accuracy",
                  .figure = job.name,
                  .ours = 0,
                  .unit = "ulp",
                  .goal = fmt::format("<= {} ulp", job.bound),
                  .met = std::nullopt};
    if (score) {
      record.figure = fmt::format("{}, {} inputs, {} not correctly rounded", job.name,
                                  score->inputs, score->not_correctly_rounded);
      record.ours = score->max_ulp;
      record.met = Meets(job, *score);
    } else {
      record.reason = score.error().message;
    }
    Report(record);
  }
}

}  // namespace frazil::bench
