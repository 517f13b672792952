// The judge of forms of target "tasm": assembly against its program, by symbolic execution (tasm.h), and where that finds
// neither a proof nor a difference, by runs that must have executed every instruction (runs/runs.h).
#pragma once

#include <memory>
#include <string_view>

#include "verify/target_judges.h"

namespace frazil::verify::tasm {

// How a form is called that is no whole program but a function for other assembly (exec::CompiledForm::calling).
struct Calling {
  static constexpr std::string_view Program = "";
  static constexpr std::string_view Function = "function";
  static constexpr std::string_view FirstOnTop = "function, first on top";
};

// The payload is assembly text, the profile that of the instruction set. VerifyOptions: limits.verify_ms for both ways together, search_ms, typical.
std::shared_ptr<const TargetJudge> AssemblyJudge();

}  // namespace frazil::verify::tasm
