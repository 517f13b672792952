// Verified<T>: a T with evidence, of whatever target. It can be made only by verify/ (Examine, Readmit): whoever holds one may call it,
// and code that was not verified cannot be dispatched because the program would not compile.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "exec/compiled_form.h"
#include "verify/evidence.h"

namespace frazil::verify {

template <typename T>
class Verified {
 public:
  const T& operator*() const { return value_; }
  const T* operator->() const { return &value_; }
  const EvidencePair& evidence() const { return evidence_; }

 private:
  friend class Judge;
  Verified(T value, EvidencePair evidence)
      : value_(std::move(value)), evidence_(std::move(evidence)) {}
  T value_;
  EvidencePair evidence_;
};

// The one maker; only verify/ and tests include its header (verify/judge.h).
class Judge;

// The key of an installation: 32 bytes in a file that only its owner can read. Whoever has it can vouch.
using InstallKey = std::array<uint8_t, 32>;
// HMAC-SHA256 (RFC 2104).
std::array<uint8_t, 32> Hmac(const InstallKey& key, std::string_view bytes);
// The time does not tell where the first difference is.
bool SameMac(std::string_view a, const std::array<uint8_t, 32>& b);

// A verified form as bytes that only this installation can have written: magic, schema version, IR version,
// prelude digest, native ABI version, length, form, evidence, HMAC over all of it. The same bytes come from
// the worker and from the store.
std::string Seal(const Verified<exec::CompiledForm>& form, const InstallKey& key);

// What the caller is about to use it for; anything else in the bytes is a refusal.
struct Expected {
  std::string source_exact;
  std::optional<std::string> guard;  // nothing: whichever it has; the caller tests it
  std::string target;
  std::string toolchain;  // empty: any
  std::string profile;    // of native code: the CPU level that the form's must not be above
  Policy policy;
  std::string calling = {};
};
// Checks the MAC before it reads anything else. Fails with Diag::NotAdmitted and one sentence.
Result<Verified<exec::CompiledForm>> Readmit(std::string_view sealed, const InstallKey& key,
                                             const Expected& expected);

// What can be learned from bytes whose MAC is wrong or foreign: a proposal, nothing more. Its machine code is
// dropped (the payload is empty), because it would never be called.
Result<exec::CompiledForm> ReadForeign(std::string_view sealed);

}  // namespace frazil::verify
