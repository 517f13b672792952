// What the emitter must know of a function before it writes a line: which instructions are needed, which
// values are read and how often, which become part of an expression, and which must be made the one NaN.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/program.h"

namespace frazil::targets::c {

enum class TrapChance : uint8_t { Never, Perhaps, Always };

struct FunctionFacts {
  // By value.
  std::vector<ir::InstId> definition;  // invalid for parameters of regions
  std::vector<ir::RegionId> home;      // the region that defines it
  std::vector<uint32_t> uses;          // by needed instructions
  std::vector<bool> live;
  std::vector<bool> inlined;    // written where it is used, no local variable
  std::vector<bool> canonical;  // moved somewhere: must be the one NaN if it is a NaN
  std::vector<bool> lazy;       // result of a loop whose carried value may be any NaN inside
  // By instruction.
  std::vector<bool> needed;
  // By region: number of its instructions that can be reached.
  std::vector<uint32_t> reached;
  // By region: it allocates scratch and must release it.
  std::vector<bool> allocates;
};

struct ProgramFacts {
  std::vector<bool> reachable;  // by function: called from the entry, directly or not
  std::vector<bool> fallible;   // by function: may trap, or needs the run for another reason
  std::vector<bool> recursive;  // by function: part of a cycle of calls
  std::vector<uint32_t>
      call_depth;  // by function: nesting of calls below it; of no use if has_recursion
  std::vector<ir::FuncId> order;  // reachable functions, callees first where there is no cycle
  bool has_recursion = false;
  std::vector<FunctionFacts> functions;
};

ProgramFacts FindFacts(const ir::Program& program, bool metered);

// What an instruction itself can do, whatever its regions or its callee do.
TrapChance ChanceOfTrap(const ir::Program& program, const ir::Function& function,
                        const FunctionFacts& facts, const ir::Inst& inst);

// The words of a constant, or nothing if the value is not one.
std::optional<std::span<const uint64_t>> ConstantOf(const ir::Function& function,
                                                    const FunctionFacts& facts, ir::ValueId value);

// An op on f32 or f64 whose result may be a NaN that is not the one.
bool MakesAnyNan(const ir::Function& function, const ir::Inst& inst);

// Operands that the C text mentions more than once or takes the address of, hence must be names.
bool NeedsName(const ir::Function& function, const ir::Inst& inst, uint32_t operand);

// Operands that the check of an instruction mentions, its value aside: all that is left if nobody reads it.
bool IsInCheck(const ir::Inst& inst, TrapChance chance, uint32_t operand);

// The carried value k of a loop, from its result.
ir::ValueId CarriedParam(const ir::Function& function, const ir::Inst& loop, uint32_t k);
// Where operands of a `for` or `while` that are carried values begin.
uint32_t FirstInit(const ir::Inst& loop);

}  // namespace frazil::targets::c
