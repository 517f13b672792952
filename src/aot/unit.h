// Finished work on one file: everything that the generators need, and nothing that depends on other files. Kept as bytes
// under the digest of what it was made from, sealed with the key of this installation: nobody else can put code there.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aot/aot.h"
#include "aot/code.h"
#include "embed/kernel.h"
#include "engine/attempt.h"
#include "verify/verified.h"

namespace frazil::aot {

struct Param {
  std::string name;
  Kind scalar = {};
  embed::ParamRole role = {};
  embed::Access access = embed::Access::InOut;
  bool is_buffer() const { return role == embed::ParamRole::Buffer; }
  bool is_launch() const { return role >= embed::ParamRole::LanesX; }
};

struct BuiltKernel {
  KernelReport report;
  std::string doc;
  std::vector<Param> params;
  std::vector<Kind> results;
  Code plain[embed::CpuLevelCount];
  Code ranged[embed::CpuLevelCount];
  Code whole[embed::CpuLevelCount];  // the ranged form with all iterations, where that was admitted
  Code trips;
  std::string trips_digest;  // of the program that tells the number of iterations
  uint16_t trips_word = embed::NoWord;
  bool plain_is_ranged = false;  // `plain` is empty: the ranged form with all iterations stands in
  std::vector<embed::PairData> disjoint, at_most, covers, lengths;
  // Under which this may be called at all, as text and as a launch tests it (aot/guarded.h).
  std::string guard = "true";
  std::vector<embed::PairData> guard_apart, guard_cover, guard_least;
  std::vector<BuiltKernel> guarded;  // one or none: native code for launches under a guard
  std::vector<embed::WorkTerm> work;
  Code isa, ptx, wasm, c;  // ptx: with what a launch must know (targets/cuda/driver/module.h)
  // PTX that nobody could judge here, for want of a GPU: a proposal, which is judged where there is one before it is used.
  std::string proposed_ptx;
  std::string ptx_text;   // the PTX alone
  std::string source;     // .frz
  std::string digest;     // exact, 64 hex digits
  std::string candidate;  // what was compiled, as text
  std::string candidate_exact;
  std::string certificate;  // why it means what the source means; may be empty
  // Candidates whose code was run and was wrong: the work ended there, and is to be done again without them.
  std::vector<std::string> refuted;
  std::vector<engine::Attempt>
      attempts;  // what became of the proposals, for their makers' accounts
  // What a launch on one thread calls.
  const Code (&plain_forms() const)[embed::CpuLevelCount] {
    return plain_is_ranged ? ranged : plain;
  }
  // What launches that are plainly well call.
  const BuiltKernel& usual() const { return guarded.empty() ? *this : guarded[0]; }
  const std::string& ptx_bytes() const { return ptx.empty() ? proposed_ptx : ptx.bytes(); }
  bool has_native() const {
    for (const Code& code : plain_forms())
      if (!code.empty()) return true;
    return false;
  }
};

struct Unit {
  std::vector<BuiltKernel> kernels;
  std::optional<Error> error;  // of the file; then there are no kernels
};

// Forms are sealed one by one: what comes back was vouched for by this installation.
std::string PackUnit(const Unit& unit, const verify::InstallKey& key);
std::optional<Unit> UnpackUnit(std::string_view bytes,
                               const verify::InstallKey& key);  // nothing: damaged
// As it is kept under a key (the digest of what it was made from), and back: fails with one sentence.
std::string SealUnit(std::string_view packed, std::string_view unit_key,
                     const verify::InstallKey& key);
Result<Unit> OpenUnit(std::string_view sealed, std::string_view unit_key,
                      const verify::InstallKey& key);

// 1, or 2 for a buffer.
uint32_t WordsOf(const Param& param);
// Where a parameter's words begin; at params.size() the number of all.
uint32_t WordOfParam(const BuiltKernel& kernel, size_t param);

}  // namespace frazil::aot
