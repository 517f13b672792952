// Work in processes of its own: as many at a time as there are cores, each with limits, and a crash of one is an answer
// and not an end.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace frazil {

struct JobOptions {
  uint64_t limit_ms = 0;                      // of each
  int at_a_time = 0;                          // 0: as many as there are cores
  uint64_t memory_bytes = 0;                  // that each may map; 0: no limit
  std::string_view what = "its compilation";  // in sentences
};

struct JobResult {
  bool done = false;
  std::string bytes;   // what the job returned
  std::string reason;  // one sentence, if it did not
  int signal = 0;      // that ended it; 0: none, or our own at its time limit
  bool timed_out = false;
};

// `job` runs in a child process, which sees everything as it is now and can change nothing here.
std::vector<JobResult> RunJobs(size_t count, const JobOptions& options,
                               const std::function<std::string(size_t)>& job);

}  // namespace frazil
