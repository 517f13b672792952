// Triton VM: execution, and the exact heights of its nine tables. Behavior and crash conditions are those of
// the published machine; tools/oracle holds that against it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "machines/tasm/inputs.h"
#include "machines/tasm/program.h"

namespace frazil::machines::tasm {

enum class CrashKind : uint8_t {
  InstructionPointer,  // ran off the end of the program
  OpStackTooShallow,
  JumpStackEmpty,
#define FRAZIL_CRASH(name, words) name,
#include "machines/crashes.def"
#undef FRAZIL_CRASH
  RamPointer,
  Cycles,  // the limit of this run, not a crash of the program
  Memory,  // likewise
};
std::string_view CrashName(CrashKind kind);

struct Crash {
  CrashKind kind;
  uint32_t instruction = 0;  // index into Program::code
  uint64_t cycle = 0;
  int64_t error_id = -1;
  std::string sentence = {};  // "division by zero at instruction 12 (div_mod) in `main`, cycle 40"
};

struct RunLimits {
  uint64_t cycles = 1ull << 32;
  uint64_t memory_words = 1ull << 27;
  const std::atomic<bool>* stop = nullptr;
  Deadline deadline = Deadline::Never();  // where it passes, the run ends as if stopped
};

struct RunResult {
  std::optional<Crash> crash;
  std::vector<uint64_t> output;  // up to the crash
  uint64_t cycles = 0;
  std::vector<uint64_t> stack;  // at the end, top last
  uint64_t inputs_read = 0;     // of the public input; a claim with more cannot be proved
};

enum class Table : uint8_t {
  Program,
  Processor,
  OpStack,
  Ram,
  JumpStack,
  Hash,
  Cascade,
  Lookup,
  U32
};
constexpr int TableCount = 9;
std::string_view TableName(Table table);  // "program", "processor", "op stack", ...

// Heights of all nine tables, and what they cost.
struct TableProfile {
  std::array<uint64_t, TableCount> heights{};

  uint64_t operator[](Table table) const { return heights[static_cast<size_t>(table)]; }
  // The six that the instruction stream shows: processor, hash, u32, op stack, ram, jump stack.
  std::array<uint64_t, 6> Visible() const;
  uint64_t MaxHeight() const;
  Table Binding() const;          // the highest table
  uint64_t PaddedHeight() const;  // the next power of two, at least 256
  uint64_t Cost() const { return PaddedHeight(); }
  friend bool operator==(const TableProfile&, const TableProfile&) = default;
};

// Rows that one label's own instructions caused (callees not included), in order of first appearance.
struct FunctionRows {
  std::string label;  // empty: code before the first label
  uint64_t calls = 0;
  uint64_t words = 0;
  TableProfile
      rows;  // program, lookup: 0; cascade: limbs first seen here; u32: entries first seen here
};

struct TraceResult {
  RunResult run;
  TableProfile profile;  // up to the crash, if there was one
  std::vector<FunctionRows> functions;
  // One line per distinct chain of labels (outermost first) with its own rows: what a flame graph needs.
  struct Frame {
    std::vector<uint32_t> chain;  // indices into `functions`
    TableProfile rows;
  };
  std::vector<Frame> frames;
  // Which sixteen-bit limbs execution looked up (hashing the program not included), one bit each: what a cliff report
  // needs to know how the cascade table would grow with the program. Empty without attribution.
  std::vector<uint64_t> execution_limbs;
};

// Without heights: as fast as it goes.
RunResult Run(const Program& program, const Inputs& inputs, const RunLimits& limits = {});
// With heights and attribution. `attribute` false: heights only.
TraceResult Trace(const Program& program, const Inputs& inputs, const RunLimits& limits = {},
                  bool attribute = true);

}  // namespace frazil::machines::tasm
