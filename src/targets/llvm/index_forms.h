// The forms of a function's index values (ir/lanes/index_form.h): additions, products and constants are looked through.
#pragma once

#include <cstdint>

#include "ir/lanes/index_form.h"
#include "ir/program.h"

namespace frazil::targets {

using ir::IndexForm;

// Made when asked for.
class IndexForms {
 public:
  explicit IndexForms(const ir::Function& function) : function_(function) {}
  const IndexForm& Of(ir::ValueId value);

 private:
  IndexForm Make(ir::ValueId value);
  const ir::Function& function_;
  static constexpr uint32_t MaxDepth = 200;
  ir::FormTable forms_{MaxDepth};
};

}  // namespace frazil::targets
