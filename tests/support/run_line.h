// The run lines of test programs: what to call the entry function with, and what must come out.
//
//   // run: (3, 4) == 7
//   // run: (1, 0) traps "division by zero" in div.trunc
//   // run: (8) traps "overflow" in add.checked at 3          in iteration 3 of a parallel
//   // run: (2.0, [1, 2, 3], [0 x 3]) == 12.0; out = [2, 4, 6]
//   // run: ([1, 0, 1], [7 x 3]) traps "division by zero" in div.trunc at 1; out = [1, 7, _]
//   // run: () == (); input [1, 2, 3]; output [6]; hints [7]; fuel 10; depth 3; memory 4096
//   // run: ([1, 2, 3], x[0:2]) refused FRZ0303
//
// Arguments stand in the order of the parameters. Buffers and tensors are lists; nested brackets only
// help the eye. `v x n` is v n times, `a .. b` counts from a to b inclusive. A buffer argument that is the
// name of an earlier parameter (its number if it has none) is the same memory; `x[a:b]` is a part of it. `[..]:2x3` gives a tensor
// other dimensions than its type asks for (for launches that must be refused).
// Results: one value, or several in parentheses when the function has not exactly one. `_` fits anything.
// Clauses after `;` give streams, limits and what writable buffers hold afterwards. Values of a stream
// may carry their type, `7:i32`; without it they have the type of the program's first such op.
// A line that starts with `//   |` continues the line before it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exec/outcome.h"
#include "ir/program.h"

namespace frazil::tests {

struct RunLine {
  uint32_t line = 0;
  std::string text;  // without "// run:"

  std::vector<std::string> arguments;
  // Exactly one of the three.
  std::optional<std::string> results;
  std::optional<exec::TrapInfo> trap;
  std::string refused;  // a diagnostic id

  std::map<std::string, std::string> buffers;  // by parameter name
  std::optional<std::string> input, output, hints;
  Limits limits;
  bool has_limits = false;
  bool has_fuel = false;
};

Result<RunLine> ParseRunLine(std::string_view text, uint32_t line);

// Fresh arguments and context of a run.
Result<std::vector<exec::Value>> MakeArguments(const RunLine& run, const ir::Program& program);
Result<exec::RunContext> MakeContext(const RunLine& run, const ir::Program& program);

// How much of a trap an engine can tell.
enum class TrapDetail { All, KindAndOp };

// Empty if the outcome is what the line says, else what differs.
std::string CompareWithRunLine(const RunLine& run, const ir::Program& program,
                               const exec::Outcome& outcome,
                               const std::vector<exec::Value>& arguments, TrapDetail detail);

// A call: the arguments as they were before it.
struct Call {
  const ir::Program& program;
  const std::vector<exec::Value>& arguments;
  const exec::RunContext& context;
};
// Empty if two outcomes, and the arguments after them, are bit-identical; after a trap the part of memory that is
// specified (exec/meaning/after_trap.h).
std::string CompareOutcomes(const Call& call, const exec::Outcome& expected,
                            const std::vector<exec::Value>& expected_arguments,
                            const exec::Outcome& actual,
                            const std::vector<exec::Value>& actual_arguments, TrapDetail detail);

bool SameTrap(const exec::TrapInfo& a, const exec::TrapInfo& b, TrapDetail detail);

// The run line that repeats a run: for reproducers.
std::string PrintRunLine(const ir::Program& program, const std::vector<exec::Value>& arguments,
                         const exec::RunContext& context, const exec::Outcome& expected,
                         const std::vector<exec::Value>& arguments_after);

}  // namespace frazil::tests
