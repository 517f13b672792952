// What targets have in common.
#include "exec/target.h"

#include <fmt/format.h>

#include "base/check.h"
#include "ir/lower/lower.h"
#include "ir/text/text.h"

namespace frazil::exec {

std::optional<TrapInfo> Callable::RunWords(const uint64_t*, uint64_t*) {
  CHECK(false);  // takes_words() says no
  return std::nullopt;
}

Result<Target::Lifted> Target::Lift(const Artifact&) const {
  return Fail(Diag::Unsupported, fmt::format("bytes of target {} are not read back", name()));
}

Result<Artifact> ArtifactOf(const CompiledForm& form) {
  Artifact artifact;
  artifact.target = form.target;
  artifact.bytes = form.payload;
  artifact.entry_symbol = form.symbol;
  artifact.profile = form.profile;
  auto source = std::make_shared<const ir::Program>(TRY(ir::ParseText(form.candidate)));
  artifact.program = std::make_shared<const ir::Program>(TRY(ir::LowerForTarget(*source)));
  artifact.source = std::move(source);
  return artifact;
}

}  // namespace frazil::exec
