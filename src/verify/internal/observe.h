// What every judge that is asked by itself says, told to who looks on (RegisterObserver).
#pragma once

#include "verify/verify.h"

namespace frazil::verify {

void Observe(const Question& question, const Verdict& verdict);

}  // namespace frazil::verify
