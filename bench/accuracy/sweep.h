// Measures a prelude function against its reference.
//
// f32 functions of one argument: every STRIDE-th block of 4096 consecutive bit patterns (1: all
// 2^32). f64 and pow: 2^21 / STRIDE samples, some of them random bit patterns, most in the
// function's range.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "judge.h"

namespace frazil::bench {

struct Job {
  std::string name;    // "exp.f32"
  std::string op;      // the reference's name, "exp"
  std::string target;  // what runs it, "c"
  bool narrow;         // f32
  double bound;        // ulps that docs/prelude.md promises
};

Job MakeJob(const std::string& name, const std::string& target);
std::vector<std::string> AllFunctions();  // "exp.f32" ... "sigmoid.fast.f32"
Result<Score> Measure(const Job& job, uint64_t stride, uint64_t threads);

inline bool Meets(const Job& job, const Score& score) {
  return score.max_ulp <= job.bound && score.wrong_special == 0;
}

}  // namespace frazil::bench
