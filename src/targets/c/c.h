// The C target: one self-contained C11/C++ header per program, nothing of ours at run time.
//
// The header of the symbol `f` has
//   int f_run(parameters..., results..., frz_run* run)   always: 0, or a trap's status (FRZ_...)
//   R f(parameters...)                                   where no trap can happen under default limits
// Scalars go by value (f16 and bf16 as uint16_t bits, int<k>, xfield and digest as structs of 64-bit words),
// a buffer is a pointer and a length, results come through pointers; run may be NULL. The text of frz_run in
// the header says what a run can be given and what it reports.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "exec/target.h"

namespace frazil::targets::c {

// The target "c". Load compiles the header with `compiler` (empty: the first of cc, clang, gcc on the PATH)
// into a shared object in a private temporary folder; without a compiler it fails with Diag::MissingTool.
std::unique_ptr<exec::Target> MakeCTarget(std::string compiler = "");

Result<std::string> EmitHeader(const ir::Program& program, const exec::EmitOptions& options = {});

// Many programs as one translation unit: the symbols are p0, p1, ..., and `frz_entries` is the table of
// their entry points in the uniform form that CBatch calls.
Result<std::string> EmitUnit(std::span<const ir::Program> programs, bool metered = false);

// Many programs compiled by one call of the compiler.
class CBatch {
 public:
  static Result<CBatch> Compile(std::span<const ir::Program> programs,
                                const std::string& compiler = "",
                                std::span<const std::string> flags = {}, bool metered = false);
  // Callables keep the compiled code alive; the batch may go first.
  Result<std::unique_ptr<exec::Callable>> Get(size_t i) const;
  size_t size() const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace frazil::targets::c
