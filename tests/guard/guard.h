// The parts of the guard. Each adds one sentence per failure; nothing else is printed.
#pragma once

#include <time.h>

#include <map>
#include <string>
#include <vector>

namespace frazil::guard {

// The recorded table: what a row is called, and its numbers.
using Table = std::map<std::string, std::vector<double>>;

// Rows as they are now: instructions for LLVM and bytes of code of each program, level and form.
Table Emitted(const std::string& folder);
// How long the form that comes first takes to compile, as a multiple of the yardstick's time: one row for each size.
Table CompileTimes(const std::string& folder);
// What a call through a slot takes more than a plain call, as a multiple of the plain call.
double DispatchOverhead();

// Seconds of this thread's processor: a busy machine disturbs them less than the clock on the wall.
inline double ThreadSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace frazil::guard
