// What the emitter must know of a lowered program before it writes a line: which functions are called and which
// can fail, which values are read, and which must be made the one NaN (decision 0003).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ir/program.h"
#include "targets/llvm/ranges.h"

namespace frazil::targets {

struct FunctionFacts {
  std::shared_ptr<ValueRanges> ranges;
  // By value.
  std::vector<ir::InstId> definition;  // invalid for parameters of functions and regions
  std::vector<ir::RegionId> home;      // the region that defines it
  std::vector<bool> live;              // some needed instruction reads it
  std::vector<bool> arithmetic;        // may be a NaN of any bits where a machine makes it
  std::vector<bool> canonical;         // moved somewhere: must be the one NaN if it is a NaN
  std::vector<bool> lazy;              // result of a loop whose carried value may be any NaN inside
  // Of buffers that were tensors, by value: whoever calls gives them as many elements as their dimensions say.
  std::map<uint32_t, ir::Shape> shapes;
  // By instruction.
  std::vector<bool> needed;          // it has an effect, may trap, or its value is read
  std::vector<ir::RegionId> region;  // where it stands
  // By region.
  std::vector<ir::InstId> owner;  // invalid for the function's body
  std::vector<bool> allocates;    // it allocates scratch itself and must release it
};

struct ProgramFacts {
  std::vector<bool> called;       // by function: by something that the entry reaches
  std::vector<bool> fallible;     // by function: may trap
  std::vector<bool> recursive;    // by function: part of a cycle of calls
  std::vector<ir::FuncId> order;  // reachable functions, callees first where there is no cycle
  std::vector<FunctionFacts> functions;
};

ProgramFacts FindFacts(const ir::Program& program, bool metered);

// The words of a constant, or nothing if the value is not one.
std::optional<std::span<const uint64_t>> ConstantOf(const ir::Function& function,
                                                    const FunctionFacts& facts, ir::ValueId value);

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
// Is a bound of the loop from 0 to below 2^62?
bool IsShortBound(const ir::Function& function, const FunctionFacts& facts, const ir::Inst& loop,
                  uint32_t bound);
// May a division find a zero to divide by? Branches count: an arm in lanes is masked.
bool DivisorMayBeZero(const ir::Function& function, const FunctionFacts& facts,
                      const ir::Inst& division);
// The condition of an `if`, where they decide it.
std::optional<bool> Decided(const ir::Function& function, const FunctionFacts& facts,
                            const ir::Inst& branch);

// The carried value k of a `for` or `while`, and where its operands begin.
ir::ValueId CarriedParam(const ir::Function& function, const ir::Inst& loop, uint32_t k);
uint32_t FirstInit(const ir::Inst& loop);

}  // namespace frazil::targets
