// An instruction of a program as a program of its own, with sizes that are symbols where that leaves nothing open.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/program.h"

namespace frazil::optimize {

struct KnownForm {
  std::shared_ptr<const ir::Program> program;  // canonical, checked
  std::string exact;
};
// What was written before, by its bytes as written: layers are alike, and signing takes longer than writing.
using KnownForms = std::map<std::string, KnownForm>;

struct StepFunction {
  KnownForm form;
  // Its parameters, in this order: sizes, then scalars, then tensors of the program that it was cut from.
  std::vector<int64_t> sizes;
  std::vector<ir::ValueId> scalars, tensors;
};

// `is_part`: whether a scalar of the entry's body is computed again where it is needed, and is no parameter. `is_outer`, by
// value: it is a parameter of the entry or made in its body, and not inside of an instruction.
Result<StepFunction> MakeStepFunction(const ir::Program& program, const ir::Inst& inst,
                                      const std::function<bool(ir::ValueId)>& is_part,
                                      const std::vector<bool>& is_outer, KnownForms& known);

// The elements of a tensor, somewhere else: results that nobody makes in their place.
Result<StepFunction> MakeCopyFunction(const ir::Program& program, ir::ValueId tensor,
                                      KnownForms& known);

}  // namespace frazil::optimize
