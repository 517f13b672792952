// A lowered program to an object, or to text of the stages on the way. Everything of LLVM's that is not instructions
// (target machines, passes) stands behind this header.
#pragma once

#include <string>

#include "base/result.h"
#include "ir/program.h"
#include "targets/native/native.h"

namespace frazil::targets::native {

enum class Output { Object, Assembly, Llvm };

struct Generated {
  std::string bytes;
  bool uses_run = false;
  bool tuned = true;  // there is no better form than this one
  bool recursive = false;
  bool lost_fold = false;  // this is no code: the folds have to be loops
};

// The entry function of the uniform form has this name.
constexpr const char* EntryName = "frazil_entry";

// `source` is what was lowered: its tensors are buffers of known lengths.
Result<Generated> Generate(const ir::Program& lowered, const ir::Program& source,
                           const NativeOptions& options, Output output);
// An object from LLVM's text: a module that never changes is what compile times are compared with.
Result<std::string> GenerateFromText(const std::string& text, const NativeOptions& options);

}  // namespace frazil::targets::native
