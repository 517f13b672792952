// Sealed bytes, read but not believed.
#pragma once

#include "verify/verified.h"

namespace frazil::verify {

struct Sealed {
  exec::CompiledForm form;
  EvidencePair evidence;
};

// Everything but the MAC. Fails with Diag::NotAdmitted and one sentence.
Result<Sealed> ReadSealed(std::string_view sealed);

}  // namespace frazil::verify
