// What kernels are built for, and who judges it.
#pragma once

#include <memory>
#include <string_view>

#include "aot/aot.h"
#include "exec/target.h"

namespace frazil::aot {

// How native code of a kernel is called (exec::CompiledForm::calling).
struct Calling {
  static constexpr std::string_view Plain = "";
  static constexpr std::string_view InPieces = "in pieces";
  static constexpr std::string_view Whole = "whole";
};

// The target that emits and loads it; null for native code, which is made form by form.
std::shared_ptr<const exec::Target> TargetOf(Target target);
// All of them, and the reader of machine code, in verify/. Once; further calls do nothing.
void RegisterJudges();

}  // namespace frazil::aot
