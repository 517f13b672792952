// What the two ways to ask share.
#pragma once

#include <cstdio>

#include "cli.h"
#include "frazil/ask.h"

namespace frazil::cli {

// The published machine, started when the first proof is asked for (ask_prover.cpp).
AnswerProver MakeAnswerProver();
nlohmann::ordered_json AnswerJson(const Answer& answer);
// A question on each line; a line of JSON for each, at once: {"line": 3, ...} with the answer, or with "error". Gives the
// greatest of the lines' exit codes.
Result<int> AskLines(std::FILE* input, const AskOptions& options);

}  // namespace frazil::cli
