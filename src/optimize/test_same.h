// For the tests of this folder: run two programs on the same random calls and say where they differ.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "exec/meaning/interpreter.h"
#include "exec/random_arguments.h"
#include "ir/check/check.h"
#include "ir/program.h"
#include "ir/text/text.h"

namespace frazil::optimize {

inline ir::Program Parse(std::string_view text) {
  Result<ir::Program> program = ir::ParseText(text);
  EXPECT_TRUE(program) << program.error().ToString();
  return std::move(*program);
}

// The same numbers with every library, which <random>'s distributions are not.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  uint64_t Below(uint64_t n) { return Next() % n; }
  int64_t Between(int64_t lo, int64_t hi) {
    return lo + static_cast<int64_t>(Below(static_cast<uint64_t>(hi - lo) + 1));
  }
  bool Chance(uint32_t percent) { return Below(100) < percent; }

 private:
  uint64_t state_;
};

struct Seen {
  exec::Outcome outcome;
  std::vector<exec::Value> arguments;  // with buffers as the run left them
};

inline Seen RunOn(const ir::Program& program, const ir::Program& source, uint64_t seed) {
  Seen seen{{}, exec::RandomArguments(source, seed)};
  Result<exec::Outcome> outcome =
      exec::Interpret(program, seen.arguments, exec::RandomContext(source, seed));
  if (outcome)
    seen.outcome = std::move(*outcome);
  else
    seen.outcome.output.push_back(exec::Value{});  // never equal to a run that worked
  return seen;
}

// Empty if both do the same, traps included: kind, op and iteration.
inline std::string Difference(const Seen& a, const Seen& b) {
  auto trap = [](const exec::Outcome& o) { return o.trap ? o.trap->ToString() : "no trap"; };
  if (a.outcome.trap != b.outcome.trap)
    return fmt::format("{} became {}", trap(a.outcome), trap(b.outcome));
  if (!(a.outcome.results == b.outcome.results)) return "the results differ";
  if (!(a.outcome.output == b.outcome.output)) return "the output differs";
  // Both run in order, so that this holds after a trap, too.
  if (!(a.arguments == b.arguments)) return "the buffers differ";
  return "";
}

// `calls` random calls of both; the first difference with everything needed to look at it.
inline std::string Compare(const ir::Program& source, const ir::Program& other, uint64_t seed,
                           int calls = 3) {
  if (auto checked = ir::Check(other); !checked)
    return fmt::format("seed {}: {}\n{}\nbecame\n{}", seed, checked.error().ToString(),
                       ir::PrintText(source), ir::PrintText(other));
  for (int call = 0; call < calls; ++call) {
    const uint64_t arguments = seed * 16 + static_cast<uint64_t>(call);
    std::string found =
        Difference(RunOn(source, source, arguments), RunOn(other, source, arguments));
    if (!found.empty())
      return fmt::format("seed {} arguments {}: {}\n{}\nbecame\n{}", seed, arguments, found,
                         ir::PrintText(source), ir::PrintText(other));
  }
  return "";
}

}  // namespace frazil::optimize
