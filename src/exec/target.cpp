// What targets have in common.
#include "exec/target.h"

#include <fmt/format.h>

#include "ir/lower/lower.h"
#include "ir/text/text.h"

namespace frazil::exec {

Result<Target::Lifted> Target::Lift(const Artifact&) const {
  return Fail(Diag::Unsupported, fmt::format("bytes of target {} are not read back", name()));
}

Result<Artifact> ArtifactOf(const CompiledForm& form) {
  Artifact artifact;
  artifact.target = form.target;
  artifact.bytes = form.payload;
  artifact.entry_symbol = form.symbol;
  auto source = std::make_shared<const ir::Program>(TRY(ir::ParseText(form.candidate)));
  artifact.program = std::make_shared<const ir::Program>(TRY(ir::LowerForTarget(*source)));
  artifact.source = std::move(source);
  return artifact;
}

}  // namespace frazil::exec
