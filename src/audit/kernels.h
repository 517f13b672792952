// Kernels embedded in a program: found by their records, held against their descriptors, judged again.
#pragma once

#include <span>

#include "aot/record.h"
#include "audit/entry.h"
#include "audit/memory_image.h"
#include "base/limits.h"
#include "ir/program.h"

namespace frazil::audit {

struct EmbeddedKernel {
  aot::KernelRecord record;
  uint64_t descriptor = 0;      // address
  std::vector<uint64_t> codes;  // address of each form's code
  std::string damage;           // one sentence, where the record cannot be read
};

// In the order of their addresses. What begins like a record and is none is one with `damage`.
std::vector<EmbeddedKernel> FindKernels(const MemoryImage& image);

// An entry for each form. Runs their code; `only`: of this form.
std::vector<Entry> AuditKernel(const MemoryImage& image, const EmbeddedKernel& kernel,
                               std::span<const ir::Program> sources, const Limits& limits,
                               std::optional<size_t> only = {});
// The same entries with what is claimed, and this instead of a judgment.
std::vector<Entry> ClaimsOf(const EmbeddedKernel& kernel, Finding finding,
                            const std::string& reason);

}  // namespace frazil::audit
