// The door: what a file or a folder holds, judged again. Nothing that it says of itself is believed, and its code runs in
// processes of its own, so that a crash is a finding.
#pragma once

#include <string>
#include <vector>

#include "audit/entry.h"
#include "base/limits.h"
#include "base/result.h"
#include "ir/program.h"

namespace frazil::audit {

struct AuditOptions {
  Limits limits;
  std::vector<ir::Program> sources;  // where a form or kernel carries none: found by their digests
  uint64_t entry_ms = 60'000;        // for all forms of a kernel, or one form
  int jobs = 0;                      // processes at a time; 0: one for each core
};

struct AuditReport {
  std::string kind;  // "sealed form", "store", "program"
  std::vector<Entry> entries;
  uint64_t Count(Finding finding) const;
  uint64_t judged() const { return entries.size() - Count(Finding::NotChecked); }
};

// A sealed form (as the worker sends it, or a store's file of it), the folder of a store, or an ELF file. Fails where it is
// none of these, cannot be read, or has nothing to judge.
Result<AuditReport> Audit(const std::string& path, const AuditOptions& options);

}  // namespace frazil::audit
