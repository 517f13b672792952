// A program on its way to the machine: what was read, and what became of it.
#pragma once

#include "frazil/tri.h"
#include "targets/tasm/tasm.h"

namespace frazil::tri {

struct Program {
  std::string file;
  std::string text;                // the file's, where it is a field program
  std::optional<ir::Program> ir;   // absent for .tasm and .tir
  std::vector<std::string> files;  // where each function of `ir` is written
  targets::tasm::TasmOptions how;
  std::optional<targets::tasm::Lowered> lowered;  // absent for .tasm, and where the store had it
  std::optional<Assembly> admitted;               // the same, judged; by the store
  mt::Program assembly;                           // of these, or as it was written
  Standing standing() const {
    const bool is_written = !lowered && !admitted;
    return admitted ? Standing::Admitted : is_written ? Standing::Written : Standing::Proposal;
  }
};

// Only as far as the IR; not for .tasm.
Result<Program> LoadIr(const Source& source, const Options& options);
// As far as it goes without the search for cheap assembly: `assembly` is there for .tasm and .tir alone.
Result<Program> Read(const Source& source, const Options& options);
// To run it: its lowering, which is a function of source, options and compiler. The store has no other under its key: what
// is there saves the time to lower, and says that it was judged.
Result<Program> Load(const Source& source, const Options& options);

// A program that came from the store is lowered again, to know which instruction is of which line.
CrashReport Report(Program& program, const mt::Crash& crash);
std::optional<CrashReport> Report(Program& program, const std::optional<mt::Crash>& crash);

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
