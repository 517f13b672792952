// Values of a program under work as terms of a certificate. Pure scalar values are written out, down to what passes do
// not move: a value that left its loop is visible there in the candidate, but not in the source.
#pragma once

#include <optional>
#include <unordered_map>

#include "ir/program.h"
#include "optimize/proof.h"

namespace frazil::optimize {

class ValueTerms {
 public:
  ValueTerms(const ir::Function& function, std::span<const ir::ValueId> origins, uint32_t index,
             Proof& proof)
      : function_(function), origins_(origins), index_(index), proof_(proof) {}
  // Nothing where a leaf is no copy of a value of the source.
  std::optional<uint32_t> Of(ir::ValueId value);

 private:
  const ir::Function& function_;
  const std::span<const ir::ValueId> origins_;
  const uint32_t index_;
  Proof& proof_;
  std::unordered_map<uint32_t, std::optional<uint32_t>> known_;
};

}  // namespace frazil::optimize
