// A test program that judges machine code can read it (verify/runs/code_reader.h), as the worker and the command line can.
#include "verify/x86/x86.h"

namespace {
[[maybe_unused]] const bool IsRegistered = (frazil::verify::x86::RegisterReader(), true);
}  // namespace
