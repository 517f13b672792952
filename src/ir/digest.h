// Canonical form and the two digests.
//
// Canonical: functions not reachable from the entry are gone; dead instructions that can neither trap
// nor have an effect are gone; operands of commuting ops are sorted by structure; pure instructions
// stand where they are first needed; functions and data are in order of first use; names are gone.
// Parameter order is kept.
//
// exact = SHA-256(IR version, prelude digest, canonical bytes): the only key for artifacts, evidence and
//   bans.   shape = the same with constants as typed holes: only counts heat and proposes generalizations.
#pragma once

#include <string>
#include <string_view>

#include "ir/program.h"

namespace frazil::ir {

Program Canonicalize(const Program& program);
std::string CanonicalBytes(const Program& canonical, bool constants_as_holes = false);

std::string ExactDigest(const Program& program);  // 64 hex digits
std::string ShapeDigest(const Program& program);
// Of CanonicalBytes: of the canonical form; of the same with constants as holes (ir/signed_program.h has all of them).
std::string ExactDigestOfBytes(std::string_view canonical_bytes);
std::string ShapeDigestOfBytes(std::string_view canonical_bytes);
std::string ShortDigest(const std::string& digest);  // its first 12 hex digits, for display only

}  // namespace frazil::ir
