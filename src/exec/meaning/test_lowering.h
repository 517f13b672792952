// A program and what passes made of it, run beside each other.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "exec/marshal.h"
#include "exec/meaning/interpreter.h"
#include "exec/random_arguments.h"
#include "ir/check/check.h"
#include "ir/lower/lower.h"
#include "ir/text/text.h"

namespace frazil::exec {

// What the caller of a program sees.
struct Seen {
  Outcome outcome;
  std::vector<Value> arguments;  // with buffers as the run left them
};

// Where they differ, or nothing.
inline std::string Difference(const Seen& a, const Seen& b) {
  auto trap = [](const Outcome& outcome) {
    return outcome.trap ? outcome.trap->ToString() : "no trap";
  };
  bool same_trap = a.outcome.trap.has_value() == b.outcome.trap.has_value();
  if (same_trap && a.outcome.trap)
    same_trap = a.outcome.trap->kind == b.outcome.trap->kind &&
                a.outcome.trap->index == b.outcome.trap->index;
  if (!same_trap) return fmt::format("{} became {}", trap(a.outcome), trap(b.outcome));
  auto compare = [](std::string_view what, const std::vector<Value>& x,
                    const std::vector<Value>& y) {
    if (x.size() != y.size()) return fmt::format("{} {}s became {}", x.size(), what, y.size());
    for (size_t i = 0; i < x.size(); ++i)
      if (!(x[i] == y[i]))
        return fmt::format("{} {}: {} became {}", what, i, PrintValue(x[i]), PrintValue(y[i]));
    return std::string();
  };
  if (std::string found = compare("result", a.outcome.results, b.outcome.results); !found.empty())
    return found;
  if (std::string found = compare("output", a.outcome.output, b.outcome.output); !found.empty())
    return found;
  return compare("argument", a.arguments, b.arguments);
}

using Arguments = std::function<std::vector<Value>()>;

inline Seen RunSource(const ir::Program& program, const Arguments& make,
                      const RunContext& context) {
  Seen seen{{}, make()};
  Result<Outcome> outcome = Interpret(program, seen.arguments, context);
  EXPECT_TRUE(outcome) << outcome.error().ToString();
  if (outcome) seen.outcome = std::move(*outcome);
  return seen;
}

inline Seen RunLowered(const ir::Program& source, const ir::Program& lowered, const Arguments& make,
                       const RunContext& context) {
  Seen seen{{}, make()};
  Result<LoweredCall> call = LoweredCall::Create(source, seen.arguments, context.limits);
  EXPECT_TRUE(call) << call.error().ToString();
  if (!call) return seen;
  Result<Outcome> outcome = Interpret(lowered, call->arguments(), context);
  EXPECT_TRUE(outcome) << outcome.error().ToString();
  if (outcome) {
    std::optional<TrapInfo> trap = outcome->trap;
    seen.outcome =
        std::move(*call).Finish(trap, std::move(outcome->results), std::move(outcome->output));
  }
  return seen;
}

struct Compared {
  bool refused = false;  // by some pass
  bool trapped = false;
};

// Runs before and after each pass, and after all of them.
inline Compared ExpectSame(const ir::Program& program, const Arguments& make,
                           const RunContext& context, const std::string& name) {
  Seen source = RunSource(program, make, context);
  struct Pass {
    std::string_view name;
    Result<ir::Program> program;
    bool keeps_signature;
  };
  Pass passes[] = {{"LowerTensors", ir::LowerTensors(program), false},
                   {"ExpandPrelude", ir::ExpandPrelude(program), true},
                   {"SplitBarriers", ir::SplitBarriers(program), true},
                   {"LowerForTarget", ir::LowerForTarget(program), false}};
  Compared compared{false, source.outcome.trap.has_value()};
  for (const Pass& pass : passes) {
    if (!pass.program) {
      EXPECT_EQ(pass.program.error().diag, Diag::Unsupported)
          << name << ": " << pass.program.error().ToString();
      compared.refused = true;
      continue;
    }
    Result<void> checked = ir::Check(*pass.program);
    EXPECT_TRUE(checked) << name << " after " << pass.name << ": " << checked.error().ToString();
    if (!checked) return compared;
    Seen after = pass.keeps_signature ? RunSource(*pass.program, make, context)
                                      : RunLowered(program, *pass.program, make, context);
    std::string difference = Difference(source, after);
    EXPECT_EQ(difference, "") << name << " after " << pass.name << "\n" << ir::PrintText(program);
    if (!difference.empty()) return compared;
  }
  return compared;
}

// Most runs must end without a trap: a program that never gets to its results compares nothing.
inline void ExpectSameText(std::string_view text, uint64_t runs = 20) {
  Result<ir::Program> program = ir::ParseText(text);
  ASSERT_TRUE(program) << program.error().ToString() << "\n" << text;
  uint64_t trapped = 0;
  for (uint64_t seed = 0; seed < runs; ++seed) {
    auto make = [&] { return RandomArguments(*program, seed); };
    Compared compared =
        ExpectSame(*program, make, RandomContext(*program, seed), fmt::format("seed {}", seed));
    EXPECT_FALSE(compared.refused) << text;
    trapped += compared.trapped;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_LE(trapped, runs / 2) << text;
}

}  // namespace frazil::exec
