// Where everything of a function stands: who makes a value, what region a value or an instruction belongs to.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/program.h"

namespace frazil::ir {

struct Homes {
  // By value.
  std::vector<InstId> definition;  // invalid for parameters of functions and regions
  std::vector<RegionId> home;      // the region that defines it
  // By instruction.
  std::vector<RegionId> region;  // where it stands
  // By region.
  std::vector<InstId> owner;  // invalid for the function's body

  const Inst* DefinitionOf(const Function& function, ValueId value) const {
    const InstId id = definition[value.index];
    return id.valid() ? &function.inst(id) : nullptr;
  }
};

Homes FindHomes(const Function& function);
// Definitions alone, of all instructions: for questions that are asked before there is more.
Homes FindDefinitions(const Function& function);

// The words of a constant, or nothing if the value is not one.
std::optional<std::span<const uint64_t>> ConstantOf(const Function& function, const Homes& homes,
                                                    ValueId value);

// The carried value k of a `for` or `while`, where its operands begin, and the region that yields the next one.
ValueId CarriedParam(const Function& function, const Inst& loop, uint32_t k);
uint32_t FirstInit(const Inst& loop);
RegionId LoopBody(const Inst& loop);

// Calls `visit` for the ranges of all values that a region and the regions inside of it define.
template <typename Visit>
void VisitValuesInside(const Function& function, RegionId root, Visit visit) {
  std::vector<RegionId> open = {root};
  while (!open.empty()) {
    const Region& region = function.region(open.back());
    open.pop_back();
    visit(region.params);
    for (InstId id : region.insts) {
      const Inst& inst = function.inst(id);
      visit(inst.results);
      for (uint32_t i = 0; i < inst.regions.count; ++i)
        open.push_back(Function::region_of(inst, i));
    }
  }
}

// The instruction that ends a region.
const Inst& TerminatorOf(const Function& function, RegionId region);

}  // namespace frazil::ir
