// Every door against every registered target. No cell is written down: each program is emitted, run and compared with the
// interpreter, bit for bit.
#pragma once

#include <functional>
#include <string>

#include "base/limits.h"
#include "base/result.h"

namespace frazil::audit {

struct MatrixRow {
  std::string door;  // "frz", "words", "python", "circuit", "trident" or "tir"
  std::string what;  // the types or operations that it stands for
};
struct MatrixCell {
  std::string target;
  std::string state;   // "same", "emits" (no such machine here), "refused", "differs", "failed"
  std::string reason;  // of one that is refused, failed or only emitted
};

// Rows as they begin, each followed by its cells in the order of registry::AllTargets.
Result<void> RunMatrix(const Limits& limits,
                       const std::function<void(const MatrixRow& row)>& on_row,
                       const std::function<void(const MatrixCell& cell)>& on_cell);

}  // namespace frazil::audit
