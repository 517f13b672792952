// The door: short English arithmetic to a typed program. A reading keeps every stage, so that each
// can be looked at: canonical form, operation, program. What is not understood is refused, naming
// the part; what has two meanings is refused, naming both.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "exec/outcome.h"
#include "frontends/words/expr.h"
#include "frontends/words/lower.h"
#include "ir/program.h"

namespace frazil::frontends::words {

struct Reading {
  std::string canonical;  // "50 - 15 = "; reads back as the same program
  std::string operation;  // "subtract"; of a chain, in the order they happen: "subtract, multiply"
  AnswerKind answer_kind = AnswerKind::Integer;
  // `main` without parameters: one integer, a (numerator, denominator > 0) in lowest terms, or a
  // bool.
  ir::Program program;
  Tree tree;
};

Result<Reading> Parse(std::string_view text, const Limits& limits = {});

// "integer", "fraction", "truth".
std::string_view AnswerKindName(AnswerKind kind);

// The answer of a finished run: "35", "3.5", "1/3", "1" or "0" for yes or no. A trap is an error
// that says in a sentence why there is no answer.
Result<std::string> PrintAnswer(AnswerKind kind, const exec::Outcome& outcome);
Result<std::string> PrintAnswer(const Reading& reading, const exec::Outcome& outcome);

// One operation of a reading, in the order they happen; the last is the whole reading.
struct Step {
  ExprId node;
  AnswerKind answer_kind = AnswerKind::Integer;
  ir::Program program;  // computes everything up to this step
};
// At most `most` steps; a longer chain is a LimitReached error.
Result<std::vector<Step>> Trace(const Reading& reading, size_t most = 1000);
// "13 * 5" for step 2, given the answers of the steps before it.
std::string PrintStep(const Reading& reading, std::span<const Step> steps, size_t index,
                      std::span<const std::string> answers);

}  // namespace frazil::frontends::words
