// Each part from the one before it: program, canonical form, its bytes, their digest.
#include "ir/signed_program.h"

#include "ir/digest.h"
#include "ir/text/text.h"

namespace frazil::ir {

std::shared_ptr<const SignedProgram> SignedProgram::Of(Program program) {
  return std::make_shared<const SignedProgram>(std::make_shared<const Program>(std::move(program)));
}

const Program& SignedProgram::canonical() const {
  return canonical_.Get([&] { return Canonicalize(*program_); });
}

const std::string& SignedProgram::bytes() const {
  return bytes_.Get([&] { return CanonicalBytes(canonical()); });
}

const std::string& SignedProgram::text() const {
  return text_.Get([&] { return PrintText(canonical()); });
}

const std::string& SignedProgram::exact() const {
  return exact_.Get([&] { return ExactDigestOfBytes(bytes()); });
}

const std::string& SignedProgram::shape() const {
  return shape_.Get([&] { return ShapeDigestOfBytes(CanonicalBytes(canonical(), true)); });
}

}  // namespace frazil::ir
