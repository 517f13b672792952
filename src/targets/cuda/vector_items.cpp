// Loads come before stores, so that all loads of a group can be made first: iterations are independent, and buffers are
// identical or disjoint.
#include "targets/cuda/vector_items.h"

#include <algorithm>

namespace frazil::targets::cuda {
namespace {

using namespace ir::names;

// Beyond this much code four copies of the body cost more than wide accesses give.
constexpr size_t MostInsts = 500;
constexpr uint32_t AccessBytes = 16;

bool IsMemory(const Inst& inst) {
  const ir::Effect effect = ir::Info(inst.op).effect;
  return effect == ir::Effect::Reads || effect == ir::Effect::Writes;
}

struct Body {
  ValueId counter;
  bool fits = true;
  bool stored = false;
  size_t insts = 0;
  uint32_t widest = 0;
};

bool IsOwnLoad(const Function& function, const Inst& inst, const Body& body) {
  return inst.op == Op::Load && function.operand(inst, 1) == body.counter && !body.stored &&
         inst.type.scalar != ir::Scalar::XField && inst.type.scalar != ir::Scalar::Digest;
}

// Nested regions may compute, and load what the iteration has for its own.
void Look(const ir::Program& program, const Function& function, const FunctionFacts& facts,
          ir::RegionId region, Body& body) {
  for (ir::InstId id : function.region(region).insts) {
    const Inst& inst = function.inst(id);
    if (!facts.needed[id.index]) continue;
    ++body.insts;
    if (IsOwnLoad(function, inst, body))
      body.widest = std::max(body.widest, ir::BytesOf(inst.type));
    else if (IsMemory(inst))
      body.fits = false;
    if (inst.op == Op::Call) {
      const Function& callee = program.functions[static_cast<size_t>(function.word(inst, 0))];
      body.insts += callee.insts.size();
      if (!callee.is_prelude) body.fits = false;
    }
    for (uint32_t r = 0; r < inst.regions.count; ++r)
      Look(program, function, facts, Function::region_of(inst, r), body);
  }
}

}  // namespace

uint32_t VectorItems(const ir::Program& program, const Function& function,
                     const FunctionFacts& facts, const Inst& parallel) {
  const ir::RegionId region = Function::region_of(parallel, 0);
  const ValueId counter = Function::param_of(function.region(region), 0);
  Body body;
  body.counter = counter;
  for (ir::InstId id : function.region(region).insts) {
    const Inst& inst = function.inst(id);
    if (!facts.needed[id.index]) continue;
    ++body.insts;
    const bool is_store = inst.op == Op::Store && function.operand(inst, 1) == counter &&
                          inst.type.scalar != ir::Scalar::XField &&
                          inst.type.scalar != ir::Scalar::Digest;
    if (is_store || IsOwnLoad(function, inst, body)) {
      body.stored |= is_store;
      body.widest = std::max(body.widest, ir::BytesOf(inst.type));
      continue;
    }
    if (IsMemory(inst)) return 1;
    if (inst.op == Op::Call) {
      const Function& callee = program.functions[static_cast<size_t>(function.word(inst, 0))];
      if (!callee.is_prelude) return 1;
      body.insts += callee.insts.size();
    }
    for (uint32_t r = 0; r < inst.regions.count; ++r)
      Look(program, function, facts, Function::region_of(inst, r), body);
  }
  if (!body.fits || body.widest == 0) return 1;
  const uint32_t items = std::max(4u, AccessBytes / body.widest);
  return body.insts * items <= 4 * MostInsts ? items : 1;
}

}  // namespace frazil::targets::cuda
