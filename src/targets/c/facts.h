// What the emitter must know of a function before it writes a line: which instructions are needed, which
// values are read and how often, which become part of an expression, and which must be made the one NaN.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/facts/calls.h"
#include "ir/facts/nans.h"

namespace frazil::targets::c {

enum class TrapChance : uint8_t { Never, Perhaps, Always };

struct FunctionFacts : ir::Homes, ir::Liveness, ir::NanFacts {
  // By value.
  std::vector<uint32_t> uses;  // by needed instructions
  std::vector<bool> inlined;   // written where it is used, no local variable
  // By region: number of its instructions that can be reached.
  std::vector<uint32_t> reached;
  // By region: it allocates scratch and must release it.
  std::vector<bool> allocates;
};

struct ProgramFacts : ir::CallGraph {
  std::vector<bool> fallible;  // by function: may trap, or needs the run for another reason
  std::vector<uint32_t>
      call_depth;  // by function: nesting of calls below it; of no use if has_recursion
  bool has_recursion = false;
  std::vector<FunctionFacts> functions;
};

ProgramFacts FindFacts(const ir::Program& program, bool metered);

// What an instruction itself can do, whatever its regions or its callee do.
TrapChance ChanceOfTrap(const ir::Program& program, const ir::Function& function,
                        const FunctionFacts& facts, const ir::Inst& inst);

// An op on f32 or f64 whose result may be a NaN that is not the one.
bool MakesAnyNan(const ir::Function& function, const ir::Inst& inst);

// Operands that the C text mentions more than once or takes the address of, hence must be names.
bool NeedsName(const ir::Function& function, const ir::Inst& inst, uint32_t operand);

// Operands that the check of an instruction mentions, its value aside: all that is left if nobody reads it.
bool IsInCheck(const ir::Inst& inst, TrapChance chance, uint32_t operand);
}  // namespace frazil::targets::c
