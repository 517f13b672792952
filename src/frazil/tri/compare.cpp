// Two programs that somebody names, held against each other.
#include "frazil/tri/internal/program.h"
#include "verify/tasm/tasm.h"

namespace frazil::tri {

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
