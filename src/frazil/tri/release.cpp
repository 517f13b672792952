// The one way out for assembly that was lowered here: it is judged by the checker, which knows nothing of the lowering,
// and what the checker refutes is given to nobody.
#include <fmt/format.h>

#include "frazil/tri/internal/program.h"
#include "verify/tasm/tasm.h"

namespace frazil::tri {

Result<std::optional<verify::Verdict>> Release(const Source& source, const Program& program,
                                               const Options& options) {
  if (!program.lowered) return std::nullopt;
  const Step step(options, "checking the lowering");
  verify::tasm::Options checking;
  checking.milliseconds = options.limits.verify_ms;
  // A function is judged as the program that calls it and does nothing else.
  const mt::Program assembly =
      source.callable
          ? TRY(targets::tasm::WithDriver(*program.ir, program.assembly, source.first_on_top))
          : program.assembly;
  verify::Verdict verdict = program.ir
                                ? verify::tasm::Compare(*program.ir, assembly, checking)
                                : verify::tasm::Compare(program.lowered->tir, assembly, checking);
  if (std::holds_alternative<verify::Refuted>(verdict))
    return Fail(
        Diag::NotProved,
        fmt::format("the assembly does not do what the program says ({}); this is a bug in Frazil, "
                    "and nothing is given out",
                    verify::WhyNot(verdict)));
  return verdict;
}

Result<verify::Verdict> Compare(const Source& first, const std::string& second, bool fragments,
                                const Options& options) {
  verify::tasm::Options checking;
  checking.fragments = fragments;
  checking.milliseconds = options.limits.verify_ms;
  const auto assembly = [&](const std::string& file) -> Result<mt::Program> {
    return mt::Parse(TRY(ReadText(file, options)), first.profile, file);
  };
  const mt::Program candidate = TRY(assembly(second));
  const Step step(options, "comparing the two programs");
  if (first.file.ends_with(".tasm"))
    return verify::tasm::Compare(TRY(assembly(first.file)), candidate, checking);
  if (first.file.ends_with(".tir"))
    return verify::tasm::Compare(
        TRY(machines::tir::Parse(TRY(ReadText(first.file, options)), first.file)), candidate,
        checking);
  return verify::tasm::Compare(*TRY(LoadIr(first, options)).ir, candidate, checking);
}

}  // namespace frazil::tri
