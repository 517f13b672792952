// What the emitter must know of a lowered program before it writes a line: which functions are called and which
// can fail, which values are read, and which must be made the one NaN (decision 0003).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/program.h"

namespace frazil::targets {

struct FunctionFacts {
  // By value.
  std::vector<ir::InstId> definition;  // invalid for parameters of functions and regions
  std::vector<ir::RegionId> home;      // the region that defines it
  std::vector<bool> live;              // some needed instruction reads it
  std::vector<bool> canonical;         // moved somewhere: must be the one NaN if it is a NaN
  std::vector<bool> lazy;              // result of a loop whose carried value may be any NaN inside
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

// Is an access of this buffer at this index inside of it, whatever the arguments are? True for constants inside of
// an `alloc` of constant length, and for the counter of a loop from a constant >= 0 to the buffer's length.
bool IsInside(const ir::Function& function, const FunctionFacts& facts, ir::ValueId buffer,
              ir::ValueId index);

// The carried value k of a `for` or `while`, and where its operands begin.
ir::ValueId CarriedParam(const ir::Function& function, const ir::Inst& loop, uint32_t k);
uint32_t FirstInit(const ir::Inst& loop);

}  // namespace frazil::targets
