#include "ir/facts/homes.h"

namespace frazil::ir {

Homes FindHomes(const Function& function) {
  Homes homes;
  homes.definition.assign(function.values.size(), InstId());
  homes.home.assign(function.values.size(), RegionId());
  homes.region.assign(function.insts.size(), RegionId());
  homes.owner.assign(function.regions.size(), InstId());
  for (uint32_t r = 0; r < function.regions.size(); ++r) {
    const Region& region = function.regions[r];
    for (uint32_t i = 0; i < region.params.count; ++i)
      homes.home[region.params.begin + i] = RegionId(r);
    for (InstId id : region.insts) {
      const Inst& inst = function.inst(id);
      homes.region[id.index] = RegionId(r);
      for (uint32_t i = 0; i < inst.regions.count; ++i) homes.owner[inst.regions.begin + i] = id;
      for (uint32_t i = 0; i < inst.results.count; ++i) {
        homes.definition[inst.results.begin + i] = id;
        homes.home[inst.results.begin + i] = RegionId(r);
      }
    }
  }
  return homes;
}

Homes FindDefinitions(const Function& function) {
  Homes homes;
  homes.definition.assign(function.values.size(), InstId());
  for (uint32_t i = 0; i < function.insts.size(); ++i) {
    const Inst& inst = function.insts[i];
    for (uint32_t r = 0; r < inst.results.count; ++r)
      homes.definition[inst.results.begin + r] = InstId(i);
  }
  return homes;
}

std::optional<std::span<const uint64_t>> ConstantOf(const Function& function, const Homes& homes,
                                                    ValueId value) {
  const Inst* inst = homes.DefinitionOf(function, value);
  if (inst == nullptr || inst->op != Op::Const) return {};
  return function.words_of(*inst);
}

ValueId CarriedParam(const Function& function, const Inst& loop, uint32_t k) {
  const Region& region = function.region(Function::region_of(loop, 0));
  return Function::param_of(region, loop.op == Op::For ? k + 1 : k);
}

uint32_t FirstInit(const Inst& loop) { return loop.op == Op::For ? 2 : 0; }

RegionId LoopBody(const Inst& loop) {
  return Function::region_of(loop, loop.op == Op::While ? 1 : 0);
}

const Inst& TerminatorOf(const Function& function, RegionId region) {
  return function.inst(function.region(region).insts.back());
}

}  // namespace frazil::ir
