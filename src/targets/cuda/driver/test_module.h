// Modules for the driver of tests (test_driver.h).
#pragma once

#include <string>

#include "ir/lower/lower.h"
#include "ir/text/text.h"
#include "targets/cuda/driver/module.h"

namespace frazil::targets::cuda::test_driver {

// A module of `program` for this driver whose code is that of `code`.
inline PtxModule ModuleOf(const ir::Program& program, const ir::Program& code) {
  PtxModule module;
  module.arch = "sm_90";
  module.source = program;
  const ir::Program lowered = *ir::LowerForTarget(program);
  module.text = ir::PrintText(*ir::LowerForTarget(code));
  // Scalars, and a length for each buffer; no sizes, because no step is a grid.
  std::string sizes = "frz 1\nfunc @main(";
  const ir::Function& entry = lowered.entry_function();
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    const ir::Type type = entry.param_type(i);
    sizes += (i == 0 ? "%p" : ", %p") + std::to_string(i) + ": " +
             (type.is_buffer() ? "index" : std::string(ir::ScalarName(type.scalar)));
  }
  module.sizes = *ir::ParseText(sizes + ") {\n  return\n}\n");
  for (const ir::Type type : entry.results) module.result_words += ir::WordsOf(type);
  PtxStep step;
  step.kind = StepKind::Serial;
  step.entry = "k";
  module.steps.push_back(step);
  return module;
}

}  // namespace frazil::targets::cuda::test_driver
