// The running machine: its state, its predecoded program, and what its handlers share. Private to this folder.
//
// Nothing is counted per instruction. Code between two transfers of control is a straight line, so cycles (and, when
// tracing, the rows of every table that does not depend on values) follow from where the line began and ended. A
// skipped instruction ends a line too. Room on the stack for the longest line is made at transfers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "machines/tasm/heights/u32_set.h"
#include "machines/tasm/program.h"
#include "machines/tasm/ram.h"
#include "machines/tasm/tip5/tip5.h"
#include "machines/tasm/vm.h"

namespace frazil::machines::tasm {

class Attribution;
struct Machine;
struct Op;

// sp points at the top of the stack: sp[-i] is st_i. Returns the next instruction to step to, or null at the end.
using Handler = const Op* (*)(const Op* pc, uint64_t* sp, Machine& machine);

struct Op {
  Handler handler = nullptr;
  union {
    uint64_t argument = 0;
    const Op* target;
  };
};

enum class Mode : uint8_t {
  Fast,      // handlers call each other
  Traced,    // likewise, with heights
  Stepping,  // one handler at a time: near the limit of cycles; with heights if there are rows to sum
};

enum class End : uint8_t { Running, Halted, OffTheEnd, Crashed };

// Rows of the tables that do not depend on values, summed over the program's instructions up to one.
struct StaticRows {
  uint64_t op_stack = 0, ram = 0, hash = 0;
};

struct JumpEntry {
  const Op* origin;
  const Op* destination;
};

struct Machine {
  // Stack of `capacity` words; sp may reach `roof` at a transfer, and never goes below `floor`.
  std::unique_ptr<uint64_t[]> stack;
  uint64_t capacity = 0;
  uint64_t* floor = nullptr;
  uint64_t* roof = nullptr;
  uint64_t* sp = nullptr;

  const Op* code = nullptr;
  const Op* code_end = nullptr;  // the op that stands for running off
  const Op* line = nullptr;      // where the straight line that is being run began
  uint64_t cycles = 0;           // before it
  uint64_t check_at = 0;         // cycles at which a transfer must look around

  std::unique_ptr<JumpEntry[]> jumps;
  JumpEntry* jump = nullptr;  // the next free entry
  JumpEntry* jump_end = nullptr;

  Ram ram;
  std::optional<Tip5State> sponge;
  std::vector<uint64_t> output;

  const Inputs* inputs = nullptr;
  size_t input_at = 0, secret_at = 0, digest_at = 0;

  // Tracing only.
  const StaticRows* rows = nullptr;  // per op, and one for the end
  StaticRows sums;
  LimbSet limbs;
  LimbSet execution_limbs;  // with attribution
  U32Set u32;
  Attribution* attribution = nullptr;
  uint8_t* ran = nullptr;  // by instruction (fragment.h)

  RunLimits limits;
  uint64_t growth = 0;  // of the stack on the longest line
  End end = End::Running;
  bool step = false;  // the limit of cycles is near: leave the fast handlers
  CrashKind crash = CrashKind::InstructionPointer;
  const Op* crash_at = nullptr;
  bool stopped = false;
};

// Handlers of a program's instructions; the vector ends with the op that stands for running off.
std::vector<Op> Predecode(const Program& program, Mode mode);
// Sums of StaticRows before each instruction, and over all.
std::vector<StaticRows> SumRows(const Program& program);
// Runs from pc until the end. Near the limit of cycles, the code's handlers are replaced by those that step.
void Execute(Machine& machine, const Op* pc, const Program& program, std::vector<Op>& code);

// False if that many would be more than memory allows.
bool GrowJumps(Machine& machine);
// Makes room on the stack and looks at limits and at the stop flag.
void LookAround(Machine& machine, uint64_t*& sp);
// Counts the line that ended before pc.
void CloseLine(Machine& machine, const Op* pc);

}  // namespace frazil::machines::tasm
