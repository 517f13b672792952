// What the emitter must know of a lowered program before it writes a line: which functions are called and which
// can fail, which values are read, and which must be made the one NaN (decision 0003).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "ir/facts/calls.h"
#include "ir/facts/nans.h"
#include "targets/llvm/ranges.h"

namespace frazil::targets {

struct FunctionFacts : ir::Homes, ir::Liveness, ir::NanFacts {
  std::shared_ptr<ValueRanges> ranges;
  // By value: may be a NaN of any bits where a machine makes it.
  std::vector<bool> arithmetic;
  // Of buffers that were tensors, by value: whoever calls gives them as many elements as their dimensions say.
  std::map<uint32_t, ir::Shape> shapes;
  // By region: it allocates scratch itself and must release it.
  std::vector<bool> allocates;
};

struct ProgramFacts : ir::CallGraph {
  std::vector<bool> fallible;  // by function: may trap
  std::vector<FunctionFacts> functions;
};

ProgramFacts FindFacts(const ir::Program& program, bool metered);
// FunctionFacts::shapes of a lowered entry. Parameters keep their numbers; results that are tensors are parameters behind
// them.
std::map<uint32_t, ir::Shape> ShapesOf(const ir::Function& source, const ir::Function& lowered);

// May the instruction itself trap, whatever its regions or its callee do?
bool MayTrap(const ir::Program& program, const ir::Function& function, const FunctionFacts& facts,
             const ir::Inst& inst);

// Is an access of this buffer at this index inside of it, whatever the arguments are? True inside of an `alloc` whose
// least length is above the index's range, and for the counter of a loop from at least 0 to the buffer's length.
bool IsInside(const ir::Function& function, const FunctionFacts& facts, ir::ValueId buffer,
              ir::ValueId index);

// Does the loop make a turn whenever it is come to, as the loops and branches around it say?
// `lanes` is the loop around it that runs in lanes, if one does: branches inside of that say nothing, because both arms run.
bool SurelyRuns(const ir::Function& function, const FunctionFacts& facts, const ir::Inst& loop,
                ir::InstId lanes = {});
// Is an access inside of its buffer, by what they say, and what was tested before?
bool IsInsideAt(const ir::Function& function, const FunctionFacts& facts, ir::InstId access,
                ir::InstId lanes);
// Has a loop that was gone through touched the element?
bool WasInside(const ir::Function& function, const FunctionFacts& facts, ir::InstId access,
               ir::InstId lanes);
// Numbers below which every element of the access's buffer, from 0 on, was touched by a loop that was gone through.
std::vector<ir::ValueId> TouchedBelow(const ir::Function& function, const FunctionFacts& facts,
                                      ir::InstId access, ir::InstId lanes);
// Is a bound of the loop from 0 to below 2^62?
bool IsShortBound(const ir::Function& function, const FunctionFacts& facts, const ir::Inst& loop,
                  uint32_t bound);
// May a division find a zero to divide by? Branches count: an arm in lanes is masked.
bool DivisorMayBeZero(const ir::Function& function, const FunctionFacts& facts,
                      const ir::Inst& division);
// The condition of an `if`, where they decide it.
std::optional<bool> Decided(const ir::Function& function, const FunctionFacts& facts,
                            const ir::Inst& branch);
}  // namespace frazil::targets
