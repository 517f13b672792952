// What matchers of loop nests ask the IR. Internal to this folder.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "ir/program.h"
#include "targets/llvm/facts.h"
#include "targets/llvm/index_forms.h"

namespace frazil::targets::native {

class NestReader {
 protected:
  NestReader(const ir::Function& function, const FunctionFacts& facts, const ir::Inst& loop)
      : function_(function), facts_(facts), loop_(loop), forms_(function) {}

  // A loop from 0 in steps of 1, without carried values.
  struct Level {
    ir::ValueId counter;
    IndexForm count;
    std::vector<ir::InstId> rest;  // what its body does beyond index arithmetic
  };
  std::optional<Level> LevelOf(const ir::Inst& loop);

  // Loads, stores and loops. Pure instructions that cannot trap are only there for what is in the list; nothing where there is
  // anything else.
  std::optional<std::vector<ir::InstId>> Statements(ir::RegionId region) const;

  bool IsInside(ir::ValueId value) const;  // made in the nest
  bool IsKnownBefore(const IndexForm& form) const;

  // The index as sum of coefficient times counter (`counters_`), plus an offset.
  struct Split {
    std::vector<IndexForm> coefficients;
    IndexForm offset;
  };
  std::optional<Split> SplitIndex(ir::ValueId index);

  // `for` from 0 to count in steps of 1 whose only carried number, of this type, starts at +0 and becomes fma(factors, itself).
  struct FmaStep {
    IndexForm count;
    std::array<ir::ValueId, 2> factors;
  };
  std::optional<FmaStep> StepOf(const ir::Inst& chain, ir::Type type);

  // The `cast` that made it, or null.
  const ir::Inst* CastOf(ir::ValueId value) const;

  const ir::Function& function_;
  const FunctionFacts& facts_;
  const ir::Inst& loop_;
  IndexForms forms_;
  std::vector<ir::ValueId> counters_;
};

}  // namespace frazil::targets::native
