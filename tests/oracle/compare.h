// Our machine against the published one: what must be equal.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "oracle/oracle.h"

namespace frazil::tests {

// What a batch covered, and what differed.
struct Comparison {
  uint64_t programs = 0;
  uint64_t finished = 0;  // ended with halt: all nine heights compared
  uint64_t cycles = 0;
  std::map<machines::tasm::CrashKind, uint64_t> crashes;
  std::map<machines::tasm::Opcode, uint64_t> instructions;  // in programs that finished
  std::vector<std::string> differences;                     // a report each
};

// The first difference of two runs, or nothing.
std::string Difference(const oracle::Job& job, const oracle::Answer& theirs,
                       const machines::tasm::TraceResult& ours);

// Both machines on every job; `names` (or numbers, where it is empty) for the report.
Result<void> CompareAll(oracle::Session& session, std::span<const oracle::Job> jobs,
                        std::span<const std::string> names, Comparison& comparison);

// A job as text, for reports and to be run again: assembly with `// input: ...` lines at its head.
std::string DescribeJob(const oracle::Job& job);
// The same text read back: also the form of the files in a folder of programs.
Result<oracle::Job> ReadJob(std::string_view text, std::string_view file);

}  // namespace frazil::tests
