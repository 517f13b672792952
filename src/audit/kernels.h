// Kernels embedded in a program: found by their records, held against their descriptors, judged again.
#pragma once

#include <span>

#include "aot/record.h"
#include "audit/entry.h"
#include "audit/memory_image.h"
#include "base/limits.h"
#include "ir/program.h"

namespace frazil::audit {

// Of what a descriptor has beside machine code.
constexpr std::string_view IsaName = "isa", WasmName = "wasm", PtxName = "ptx";

struct EmbeddedKernel {
  aot::KernelRecord record;
  uint64_t address = 0;         // of the record
  uint64_t bytes = 0;           // of the record; 0: damaged
  uint64_t descriptor = 0;      // address
  std::vector<uint64_t> codes;  // address of each form's code
  // What its descriptor has besides: what an audit judges (isa, wasm), and what it does not.
  std::vector<std::string> modules;
  bool has_ptx = false;
  std::string damage;  // one sentence, where the record cannot be read
};

// In the order of their addresses. What should be a record and is none is one with `damage`: what begins like one, what
// stands in the section of records, what a descriptor refers to.
std::vector<EmbeddedKernel> FindKernels(const MemoryImage& image);

// An entry for each form and each module; where there is neither, one. Runs their code; `only`: of this entry.
std::vector<Entry> AuditKernel(const MemoryImage& image, const EmbeddedKernel& kernel,
                               std::span<const ir::Program> sources, const Limits& limits,
                               std::optional<size_t> only = {});
// The same entries with what is claimed, and this instead of a judgment.
std::vector<Entry> ClaimsOf(const EmbeddedKernel& kernel, Finding finding,
                            const std::string& reason);

}  // namespace frazil::audit
