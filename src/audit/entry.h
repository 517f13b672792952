// One line of an audit: what something claims, what was found, and what that comes to.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "verify/verdict.h"

namespace frazil::audit {

enum class Finding : uint8_t {
  Agrees,      // at least what is claimed was found again
  Refuted,     // caught being wrong
  Disagrees,   // the claim is more than was found, or what it says of itself is not so
  NotChecked,  // with the reason; neither good nor bad
};
constexpr int FindingCount = 4;
std::string_view FindingName(Finding finding);  // "agrees", "refuted", "disagrees", "not checked"

struct Entry {
  std::string name;  // of the kernel, or the first digits of a store's key
  std::string form;  // "avx2 plain", "avx2 if arg0 == 5"
  verify::EvidencePair claimed;
  verify::EvidencePair found;  // grade none: was not found
  Finding finding = Finding::NotChecked;
  std::string reason;  // one sentence; empty where it agrees
  std::string note;    // "sealed here"; may be empty
  uint64_t judged_us = 0;
};

class Stopwatch {
 public:
  uint64_t Microseconds() const {
    const auto time = std::chrono::steady_clock::now() - start_;
    return static_cast<uint64_t>(std::chrono::floor<std::chrono::microseconds>(time).count());
  }

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// From the two verdicts.
void Decide(Entry& entry, const verify::Verdict& meaning, const verify::Verdict& code);

// What comes from a file may hold anything: control characters could make one line look like others.
void MakePrintable(Entry& entry);

// Through the pipe of the process that judged.
std::string PackEntries(std::vector<Entry> entries);
bool UnpackEntries(std::string_view bytes, std::vector<Entry>& entries);  // appends; false: damaged

}  // namespace frazil::audit
