// Makes a failing program smaller while it keeps failing: instructions go or become constants, branches
// become one of their arms, loops one turn of their body, results and arguments go.
#pragma once

#include <functional>
#include <vector>

#include "exec/value.h"
#include "ir/program.h"

namespace frazil::tests {

struct FailingRun {
  ir::Program program;
  std::vector<exec::Value> arguments;
};

// `fails` must be true of the run it is given; it is asked at most `most_tries` times. What comes back
// fails too.
FailingRun Shrink(FailingRun run, const std::function<bool(const FailingRun&)>& fails,
                  int most_tries);

}  // namespace frazil::tests
