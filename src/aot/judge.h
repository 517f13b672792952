// The verdicts that embedding needs.
#pragma once

#include <string>

#include "verify/verify.h"

namespace frazil::aot {

struct Judged {
  bool accepted = false;
  verify::Evidence evidence;
  std::string reason;  // one sentence, if not accepted
};

// Does the candidate mean what the source means, by the policy of the source?
Judged JudgeMeaning(const ir::Program& source, const ir::Candidate& candidate,
                    const Limits& limits);
// Does the code do what the program says? The notes are those of the program: all its code is judged on the same inputs.
Judged JudgeCode(const ir::Program& program, exec::Callable& code, const Limits& limits,
                 verify::SampleNotes& notes);

}  // namespace frazil::aot
