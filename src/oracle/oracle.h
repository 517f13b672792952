// The published Triton VM (tools/oracle) as C++ functions. One Session is one process of frazil-oracle; it
// starts with the first request and ends with the session. A process that dies or exceeds the time limit
// gives an error sentence, and the next request starts a new one.
//
// Only profile dot: the pinned release has no other.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "machines/tasm/program.h"
#include "machines/tasm/vm.h"
#include "oracle/claim.h"

namespace frazil::oracle {

struct Options {
  // Empty: $FRAZIL_ORACLE, else beside the running program, else ../libexec/frazil from there.
  std::string program;
  std::chrono::milliseconds timeout{600'000};  // for one request
};

// The path of the oracle's program, or a sentence that says how to get it.
Result<std::string> FindOracle(const Options& options = {});

// What one request runs.
struct Job {
  machines::tasm::Program program;
  machines::tasm::Inputs inputs;
  uint64_t cycles = 1ull << 24;  // limit; reaching it is CrashKind::Cycles
};

struct Answer {
  machines::tasm::RunResult run;
  std::optional<machines::tasm::TableProfile> profile;  // only of runs that did not crash
};

// A span of the real machine's own profiler: one call, with what it and its callees added.
struct ProfileLine {
  std::string label;
  uint64_t depth = 0;
  machines::tasm::TableProfile rows;
};
struct ProfileAnswer {
  Answer answer;
  std::vector<ProfileLine> lines;
};

struct ProveAnswer {
  machines::tasm::RunResult run;  // with a crash: there is no proof, and nothing below is set
  Claim claim;
  machines::tasm::TableProfile profile;
  uint64_t padded_height = 0;
  uint64_t proof_bytes = 0;
  uint64_t peak_bytes = 0;  // of the oracle's process
  double trace_seconds = 0;
  double prove_seconds = 0;
  double verify_seconds = 0;  // the fresh proof is always verified
};

struct VerifyAnswer {
  bool holds = false;
  std::string reason;  // why not
  Claim claim;         // what the file claims, whether it holds or not
  uint64_t padded_height = 0;
  uint64_t proof_bytes = 0;
  double verify_seconds = 0;
};

struct Example {
  std::string name;
  std::string text;
};

struct Version {
  std::string triton_vm;       // "9.0.1"
  uint32_t proof_version = 0;  // part of each claim
  std::string
      build;  // "release", or "quick": proves eight times slower (`make oracle` makes the other)
};

class Session {
 public:
  explicit Session(Options options = {});
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  Result<Version> GetVersion();
  Result<machines::tasm::RunResult> Run(const Job& job);
  Result<Answer> Trace(const Job& job);
  // Many at once: one request, all cores. A job that the machine refuses (an empty program, ...) is an error
  // of its own place.
  Result<std::vector<Result<Answer>>> TraceAll(std::span<const Job> jobs);
  Result<std::vector<Result<Answer>>> RunAll(std::span<const Job> jobs);
  Result<ProfileAnswer> Profile(const Job& job);
  Result<machines::tasm::Digest> ProgramDigest(const machines::tasm::Program& program);
  // The machine's own assembler on a text: the words it makes.
  Result<std::vector<uint64_t>> Assemble(const std::string& text);
  // Real programs that come with the machine.
  Result<std::vector<Example>> Examples();
  // Writes claim and proof to `file` if it is not empty. Whoever asks compares the claim with what he asked for (CheckClaim).
  Result<ProveAnswer> Prove(const Job& job, const std::string& file,
                            uint64_t max_padded_height = 1ull << 20);
  // `expected`: the digest that the claim must name.
  Result<VerifyAnswer> Verify(const std::string& file,
                              const std::optional<machines::tasm::Digest>& expected = std::nullopt);

  // Sends one line of the protocol and returns the line that comes back: for tests of the protocol itself.
  Result<std::string> Raw(const std::string& line);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace frazil::oracle
