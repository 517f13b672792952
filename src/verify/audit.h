// Judging again, for a third party: what sealed bytes claim beside what the judges say of them today. Neither the MAC
// nor the claim counts here, and nothing of it makes the form callable: its code is not handed out.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "verify/verify.h"

namespace frazil::verify {

struct Audited {
  exec::CompiledForm form;  // what it is for; without code
  EvidencePair claimed;
  // Where something the form says of itself is not so: one sentence, and nothing was judged.
  std::string false_claim;
  Verdict meaning = Unknown{"not judged"};
  Verdict lowering = Unknown{"not judged"};
};

// Runs the form's code: call it where a crash costs nothing. `source` stands in where the form carries none. Fails where
// the bytes are no sealed form of this version.
Result<Audited> Audit(std::string_view sealed, const std::optional<ir::Program>& source,
                      const VerifyOptions& options = {});

// The meaning half, of texts as forms and embedded kernels carry them.
struct Carried {
  std::string source_exact;  // of the program that is answered for
  std::string source;        // its text; empty: it is the candidate
  std::string candidate;     // text
  std::string certificate;   // text; empty: none
  std::string guard = "true";
};
struct AuditedMeaning {
  std::string false_claim;
  Verdict meaning = Unknown{"not judged"};
  ir::Candidate candidate;  // where there is no false claim
};
AuditedMeaning AuditMeaning(const Carried& carried, const std::optional<ir::Program>& source,
                            const VerifyOptions& options = {});

}  // namespace frazil::verify
