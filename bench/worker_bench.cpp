// The worker: how long until it answers, until code is there, until the code is verified.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "engine/worker/worker.h"
#include "harness.h"
#include "ir/digest.h"
#include "ir/text/text.h"
#include "subjects.h"

namespace frazil::bench {
namespace {

struct Sample {
  double total_ms, compile_ms, verify_ms, price_ms;
};

double MedianOf(std::vector<Sample> samples, double Sample::* part) {
  std::ranges::sort(samples, {}, part);
  return samples[samples.size() / 2].*part;
}

std::vector<Sample> Improve(engine::Worker& worker, size_t ops, int rounds) {
  engine::WorkRequest request;
  request.program = ir::PrintText(ir::Canonicalize(ElementwiseTree(ops)));
  std::vector<Sample> samples;
  for (int round = 0; round <= rounds; ++round) {
    Sample sample{};
    sample.total_ms = 1e3 * Seconds([&] {
                        const Result<engine::WorkReply> reply = worker.Improve(request);
                        CHECK(reply.has_value() && !reply->sealed.empty());
                        sample.compile_ms = reply->compile_ms;
                        sample.verify_ms = reply->verify_ms;
                        sample.price_ms = reply->price_ms;
                      });
    if (round > 0) samples.push_back(sample);  // the first one warms the compiler
  }
  return samples;
}

// A request that fails at once: what remains is the way there and back.
void Knock(engine::Worker& worker) {
  engine::WorkRequest request;
  request.program = "no program";
  const Result<engine::WorkReply> reply = worker.Improve(request);
  CHECK(!reply.has_value() && reply.error().diag == Diag::BadHeader);
}

}  // namespace

FRAZIL_FIGURE(worker_start) {
  engine::Worker worker;
  const std::vector<Times> times = Interleave({[&] { Knock(worker); },
                                               [&] {
                                                 worker.Stop();
                                                 Knock(worker);
                                               }},
                                              40);
  const double start_ms = 1e3 * (times[1].median_s - times[0].median_s);
  Report({"worker", "stop, start and first answer, beyond a warm answer", start_ms, "ms", "", 0,
          "about 2 ms", std::nullopt, "no goal"});
  Report({"worker", "request and answer, warm", 1e6 * times[0].median_s, "us", "", 0, "-",
          std::nullopt, "no goal"});
}

FRAZIL_FIGURE(worker_compile) {
  engine::Worker worker;
  const struct {
    size_t ops;
    double goal_ms, verified_goal_ms;
  } sizes[] = {{10, 5, 20}, {60, 8, 25}, {200, 20, 50}};
  for (const auto& [ops, goal_ms, verified_goal_ms] : sizes) {
    const std::vector<Sample> samples = Improve(worker, ops, 21);
    const double compile_ms = MedianOf(samples, &Sample::compile_ms);
    Report({"worker", fmt::format("compile {} ops, warm", ops), compile_ms, "ms", "", 0,
            fmt::format("<= {} ms", goal_ms), compile_ms <= goal_ms});
    const double total_ms = MedianOf(samples, &Sample::total_ms);
    Report(
        {"worker", fmt::format("{} ops: request to verified code", ops), total_ms, "ms", "", 0,
         fmt::format("<= {} ms", verified_goal_ms), total_ms <= verified_goal_ms,
         fmt::format("of it verify {:.1f} ms, price {:.1f} ms",
                     MedianOf(samples, &Sample::verify_ms), MedianOf(samples, &Sample::price_ms))});
  }
}

}  // namespace frazil::bench
