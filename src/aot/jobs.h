// Work in processes of its own: as many at a time as there are cores, each with a time limit, and a crash of one is an
// answer and not an end.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace frazil::aot {

struct JobResult {
  bool done = false;
  std::string bytes;   // what the job returned
  std::string reason;  // one sentence, if it did not
  int signal = 0;      // that ended it; 0: none, or our own at its time limit
};

// `job` runs in a child process, which sees everything as it is now and can change nothing here. `what` is its name in
// sentences.
std::vector<JobResult> RunJobs(size_t count, int at_a_time, uint64_t limit_ms,
                               const std::function<std::string(size_t)>& job,
                               std::string_view what = "its compilation");

}  // namespace frazil::aot
