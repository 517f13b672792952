// A program on its way to the machine: what was read, and what became of it. Nothing of this is judged (release.cpp).
#pragma once

#include "frazil/tri.h"
#include "targets/tasm/tasm.h"

namespace frazil::tri {

struct Program {
  std::string file;
  std::string text;                               // the file's, where it is a field program
  std::optional<ir::Program> ir;                  // absent for .tasm and .tir
  std::vector<std::string> files;                 // where each function of `ir` is written
  std::optional<targets::tasm::Lowered> lowered;  // absent for .tasm
  mt::Program assembly;
};

// Only as far as the IR; not for .tasm.
Result<Program> LoadIr(const Source& source, const Options& options);
Result<Program> Load(const Source& source, const Options& options);
// The one place where a lowering is judged, and what was refuted stops. Nothing: assembly that somebody wrote.
Result<std::optional<verify::Verdict>> Release(const Source& source, const Program& program,
                                               const Options& options);

CrashReport Report(const Program& program, const mt::Crash& crash);
std::optional<CrashReport> Report(const Program& program, const std::optional<mt::Crash>& crash);

// The text of a file, or of standard input where that is allowed.
Result<std::string> ReadText(const std::string& file, const Options& options);
// Errors of a text go to the notes, and the last one on.
Error TakeErrors(const Options& options, std::vector<Error> errors);

// Tells that a step begins, and at the end of the block that it is over.
class Step {
 public:
  Step(const Options& options, std::string_view what) : options_(options) { Tell(what); }
  ~Step() { Tell(""); }
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

 private:
  void Tell(std::string_view what) const {
    if (options_.on_step) options_.on_step(what);
  }
  const Options& options_;
};

}  // namespace frazil::tri
