// The one maker of proved modules.
#include "ir/digest.h"
#include "targets/isa/isa.h"
#include "targets/isa/lift.h"

namespace frazil::targets::isa {
namespace {

using machines::simt::Module;

// Equal canonical bytes, which is more than equal digests, make the last check of a lifted program needless.
Result<std::shared_ptr<const ir::Program>> LiftedTo(const ir::SignedProgram& prepared,
                                                    const Module& module) {
  auto lifted = std::make_shared<const ir::Program>(TRY(LiftUnchecked(module)));
  if (ir::CanonicalBytes(ir::Canonicalize(*lifted)) == prepared.bytes()) return lifted;
  return Fail(Diag::NotProved, "the module, lifted, is not the program that it was made from");
}

}  // namespace

Result<ProvedModule> ProvedModule::OfProgram(std::shared_ptr<const ir::SignedProgram> program) {
  const auto prepared = TRY(PrepareProgram(std::move(program)));
  Module module = TRY(LowerPrepared(prepared->program()));
  auto lifted = TRY(LiftedTo(*prepared, module));
  return ProvedModule(std::move(module), std::move(lifted));
}

Result<ProvedModule> ProvedModule::OfProgram(const ir::Program& program) {
  return OfProgram(ir::SignedProgram::Of(program));
}

Result<ProvedModule> ProvedModule::Prove(const ir::Program& program, Module module) {
  auto lifted = TRY(LiftedTo(*TRY(PrepareProgram(ir::SignedProgram::Of(program))), module));
  return ProvedModule(std::move(module), std::move(lifted));
}

Result<ProvedModule> ProvedModule::Itself(Module module) {
  Result<ir::Program> lifted = Lift(module);
  ProvedModule proved(std::move(module), nullptr);
  if (lifted) {
    proved.program_ = std::make_shared<const ir::Program>(std::move(*lifted));
  } else if (lifted.error().diag == Diag::BadIsaProgram) {
    proved.why_no_program_ = std::move(lifted.error().message);
  } else {
    return std::unexpected(std::move(lifted.error()));
  }
  return proved;
}

}  // namespace frazil::targets::isa
