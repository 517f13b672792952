// A program of tensors as a sequence of calls: each step calls a form, a program of its own with symbolic sizes that was compiled and
// judged once and serves many regions. A plan says with which arguments, and where every tensor lies: in a parameter, in a
// result, or in one arena for all that is in between.
//
// It is data and claims nothing: verify/plans judges it, exec/plan/plan_code.h runs it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "ir/program.h"

namespace frazil::exec {

constexpr uint64_t PlanAlignment = 64;  // of tensors in the arena

// What a step calls: any code that was judged for this program.
struct PlanForm {
  std::string exact;
  std::shared_ptr<const ir::Program> program;
};

// A scalar of a call: a constant, a parameter of the planned program, or what an earlier step gave.
struct PlanScalar {
  enum class Kind : uint8_t { Constant, Param, Result };
  Kind kind = Kind::Constant;
  uint32_t param = 0;                // Param
  uint32_t step = 0, result = 0;     // Result: of all of that step's
  std::vector<uint64_t> words = {};  // Constant: of its type in the form
  friend bool operator==(const PlanScalar&, const PlanScalar&) = default;
};

// Bytes in a parameter, in a result, or in the arena.
struct PlanPlace {
  enum class Room : uint8_t { Param, Result, Arena };
  Room room = Room::Arena;
  uint32_t ordinal = 0;  // of the program's parameters, or of all its results
  uint64_t offset = 0, bytes = 0;
  friend bool operator==(const PlanPlace&, const PlanPlace&) = default;
};

using PlanArgument = std::variant<PlanScalar, PlanPlace>;

// A value of the planned program, in its canonical form: an instruction of the entry's body, and which of its results; of the
// return, which of its operands.
struct PlanValue {
  uint32_t inst = 0, result = 0;
  friend auto operator<=>(const PlanValue&, const PlanValue&) = default;
};

struct PlanResult {
  PlanValue makes;       // what it is said to be
  PlanPlace place = {};  // of a tensor; a scalar is named by its step
  friend bool operator==(const PlanResult&, const PlanResult&) = default;
};

struct PlanStep {
  uint32_t form = 0;
  std::vector<PlanArgument> arguments;  // one for each parameter of the form
  std::vector<PlanResult> results;      // one for each of its results
  friend bool operator==(const PlanStep&, const PlanStep&) = default;
};

struct Plan {
  std::vector<PlanForm> forms;
  std::vector<PlanStep> steps;
  std::vector<PlanScalar>
      scalar_results;  // of the program's results those that are no tensors, in order
  uint64_t arena_bytes = 0;
};

// With the programs of the forms as text. Parse refuses what does not fit (BadArtifact), and takes digests from the programs.
std::string SerializePlan(const Plan& plan);
Result<Plan> ParsePlan(std::string_view bytes);

// For people: the steps, a line each, the memory, and the forms behind them.
std::string PrintPlan(const Plan& plan);

}  // namespace frazil::exec
