// The verdicts that embedding needs.
#pragma once

#include <string>

#include "verify/verify.h"

namespace frazil::aot {

struct Judged {
  bool accepted = false;
  verify::Evidence evidence;
  std::string reason;      // one sentence, if not accepted
  bool has_unrun = false;  // because some code ran under no sample
  verify::Verdict verdict = verify::Unknown{"not judged"};
};

// What is asked of the judges of meaning.
verify::VerifyOptions MeaningOptions(const Limits& limits);

// Does the candidate mean what the source means, by the policy of the source?
Judged JudgeMeaning(const ir::Program& source, const ir::Candidate& candidate,
                    const Limits& limits);
// Does machine code do what the program says? The image is judged as it will be embedded; code that is not called as a
// whole program is has its own callable. The notes are those of the program: all its code is judged on the same inputs.
Judged JudgeImage(const ir::Program& program, const exec::NativeImage& image, const Limits& limits,
                  verify::SampleNotes& notes, const verify::CallableMaker& make_callable = {});
// The same of a WASM module, which the target loads.
Judged JudgeModule(const ir::Program& program, const exec::Target& target,
                   const exec::Artifact& artifact, const Limits& limits,
                   verify::SampleNotes& notes);
// The same of what is no code of ours: C by a compiler, PTX on a GPU.
Judged JudgeCode(const ir::Program& program, exec::Callable& code, const Limits& limits,
                 verify::SampleNotes& notes);

}  // namespace frazil::aot
