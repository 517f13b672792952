// The rows of the table of ops that make scalars of scalars, constants and lookups aside.
#pragma once

#include <vector>

#include "ir/op.h"

namespace frazil::exec {

inline std::vector<ir::OpInfo> ScalarRows() {
  std::vector<ir::OpInfo> rows;
  for (const ir::OpInfo& info : ir::AllOps()) {
    if (info.effect != ir::Effect::Pure || info.law == ir::Law::Prelude ||
        info.signature == "custom")
      continue;
    if (info.op != ir::Op::Const && info.op != ir::Op::Lookup) rows.push_back(info);
  }
  return rows;
}

}  // namespace frazil::exec
