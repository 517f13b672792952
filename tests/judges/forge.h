// Forging certificates.
#pragma once

#include "ir/certificate.h"
#include "ir/op.h"
#include "judges/attack.h"

namespace frazil::tests {

// An op that takes and gives the same; the op itself if there is none.
ir::Op AnotherLike(ir::Op op, Choices& choices);
void MutateCertificate(ir::Certificate& certificate, Choices& choices);

}  // namespace frazil::tests
