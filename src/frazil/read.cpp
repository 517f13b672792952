// Programs from files. On its own, so that programs that read none do not link every door's reader.
#include "frazil/frazil.h"
#include "ir/signed_program.h"
#include "sources/sources.h"

namespace frazil {

Result<Program> Program::Read(const std::string& path) {
  Program program;
  program.program_ = ir::SignedProgram::Of(TRY(sources::ReadProgram(path)));
  return program;
}

}  // namespace frazil
