// A target turns programs into artifacts and artifacts into callables. Adding one = one folder under
// targets/, one registration (registry/targets.h), `tests/programs` passes unchanged (docs/adding/a_target.md).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "embed/cpu_level.h"
#include "exec/compiled_form.h"
#include "exec/launch.h"  // IWYU pragma: export
#include "exec/outcome.h"
#include "ir/program.h"

namespace frazil::exec {

struct Artifact {
  std::string target;  // who made it
  std::string bytes;   // WASM module, C header, ...
  // The program that the bytes were made from, expanded and lowered: no prelude op, no tensor.
  std::shared_ptr<const ir::Program> program;
  // The program as it was given to Emit: its entry function has the types the caller sees (tensors).
  std::shared_ptr<const ir::Program> source;
  std::string entry_symbol;
  bool metered = false;  // it counts fuel
  std::string profile;   // what of its target it needs (CompiledForm::profile)
};

// How much is made of native code. Quick is what a call site gets first; tuned takes longer to make and runs faster; scalar
// has no loops in lanes, is slower and shorter to judge.
enum class CodeStyle : uint8_t { Quick, Tuned, Scalar };

struct EmitOptions {
  // Count fuel in the emitted code (`for`, `parallel`: trip count on entry; `while`, `call`: one each).
  bool metered = false;
  std::string symbol = "main";  // name of the exported function
  // Of native code; nothing: as the target was made.
  std::optional<embed::CpuLevel> level = {};
  std::optional<CodeStyle> style = {};
};

class Callable {
 public:
  virtual ~Callable() = default;
  // An Error is about the launch or the machine; a trap of the program is in the Outcome.
  virtual Result<Outcome> Run(std::span<const Value> arguments, const RunContext& context) = 0;
  // Whether several threads may run it at once.
  virtual bool is_concurrent() const { return false; }

  // The same with arguments and results as words (embed/native_run.h), which nobody has checked, under default limits.
  // Only where takes_words() says so.
  virtual bool takes_words() const { return false; }
  virtual std::optional<TrapInfo> RunWords(const uint64_t* arguments, uint64_t* results);
};

class Target {
 public:
  virtual ~Target() = default;
  virtual std::string_view name() const = 0;
  // Empty if the target can do this program, else one sentence why not. It never approximates.
  virtual std::string Refuses(const ir::Program& program) const = 0;
  // Both take any checked program; expansion and lowering happen inside (ir/lower/lower.h).
  virtual Result<Artifact> Emit(const ir::Program& program,
                                const EmitOptions& options = {}) const = 0;
  virtual Result<std::unique_ptr<Callable>> Load(const Artifact& artifact) const = 0;
  // What turns its bytes into machine code here and runs it, by name and version, where that is no part of this program: a
  // GPU and its driver. What was seen in runs holds for that alone. Fails with NoDevice where it is missing.
  virtual Result<std::string> Machine() const { return std::string(); }

  // For targets whose bytes can be read back as a program: what they say, and what they should say (the program as it is
  // just before the last step). Whoever judges compares the two; nothing here does.
  struct Lifted {
    ir::Program found;
    ir::Program wanted;
  };
  virtual Result<Lifted> Lift(const Artifact& artifact) const;
};

// The bytes of a form as its target loads them, with the candidate that they were made from.
Result<Artifact> ArtifactOf(const CompiledForm& form);

}  // namespace frazil::exec
