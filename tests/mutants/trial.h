// One program in one form: emitted with a mutation in force or without, called with a witness, and judged as the engine
// judges it.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "exec/native/native_code.h"
#include "exec/target.h"
#include "verify/verify.h"
#include "witness.h"

namespace frazil::mutants {

// The programs of a folder by name, read once.
class Programs {
 public:
  static Result<Programs> Read(const std::string& folder);
  struct Entry {
    std::shared_ptr<const ir::Program> program;
    std::string text;
  };
  const std::map<std::string, Entry>& all() const { return entries_; }
  Result<std::shared_ptr<const ir::Program>> Find(const std::string& name) const;

 private:
  std::map<std::string, Entry> entries_;
};

// What an emitter made: machine code, or a WASM module.
struct Code {
  exec::NativeImage image;
  std::optional<exec::Artifact> module;
  bool IsSame(const Code& other) const {
    return module ? module->bytes == other.module->bytes : image == other.image;
  }
};

Result<Code> Emit(const ir::Program& program, const Form& form, int mutation);

// What a call gave, and what memory held then.
struct Answer {
  exec::Outcome outcome;
  Arguments arguments;
};
// By the interpreter; where that would take too long, by `original`, the code of the emitters as they are.
Result<Answer> RightAnswer(const ir::Program& program, const Witness& witness,
                           const Code& original);
// One sentence about what is wrong; empty: nothing.
Result<std::string> WrongAnswer(const std::shared_ptr<const ir::Program>& program,
                                const Witness& witness, const Code& code, const Answer& right);

enum class Judgment : uint8_t { Refuted, Unknown, Admitted };
struct Judged {
  Judgment judgment = Judgment::Unknown;
  std::string detail;
};
// What earlier judgments of the same program learned: answers of the interpreter, for each of the engine's efforts.
using Notes = std::map<size_t, verify::SampleNotes>;
// As the engine judges machine code, and `frazil build` a module; with a salt, on other inputs.
Result<Judged> JudgeAsUsual(const ir::Program& program, const Code& code, Notes& notes,
                            const std::string& salt = {});

}  // namespace frazil::mutants
