// A program as the batch interpreter runs it: every region is code of its own over numbered arrays,
// one array for each value. What a region reads from outside comes in as its first arrays
// (live-ins), so that a branch can run on a compacted copy of the lanes that take it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "exec/batch/batch_kernels.h"
#include "ir/program.h"

namespace frazil::exec {

// An array: one of the region's (>= 0), or one of the constants (~index). A constant is the same in
// all lanes, so it is filled once and never copied.
using ArrayId = int32_t;

struct Move {
  ArrayId array;
  uint32_t bytes;  // of one element
};

struct BatchStructure;

struct BatchInst {
  enum class Kind : uint8_t {
    Kernel,
    Lookup,
    Load,
    Store,
    Length,
    Assert,
    Unreachable,
    If,
    Switch,
    For,
    While,
    Call
  };
  Kind kind;
  ir::Op op = ir::Op::Unreachable;  // what a trap here is the trap of
  bool may_trap = true;
  Kernel kernel = nullptr;
  ArrayId a = 0, b = 0, c = 0;
  ArrayId result = 0;
  uint32_t memory = 0;                        // load, store, length: which of ParallelCode's
  uint32_t function = 0, inst = 0;            // where it stands in the program, for Choices
  std::unique_ptr<BatchStructure> structure;  // of a lookup, a call, and of what has regions
};

struct BatchRegion {
  std::vector<Move> live_ins;  // arrays of the region around it that become arrays 0, 1, ...
  std::vector<Move> params;    // arrays of this region
  std::vector<Move> yields;    // arrays of this region
  uint32_t array_count = 0;
  std::vector<BatchInst> insts;
};

struct BatchFunction {
  BatchRegion body;  // no live-ins
  bool is_prelude = false;
};

// The parts of a structured op, of a call and of a lookup that few of them have.
struct BatchStructure {
  std::vector<Move> operands;  // carried values, arguments; not the condition, selector or bounds
  std::vector<Move> results;
  std::vector<BatchRegion>
      regions;  // while: the test, then the body, whose live-ins are the test's arrays
  std::vector<int64_t> cases;
  ir::Scalar type = ir::Scalar::Index;  // of a loop's counter or a selector
  uint64_t step = 1;
  uint32_t callee = 0;
  std::span<const uint64_t> table;  // lookup: the program's own words
};

struct BatchCode {
  std::vector<BatchFunction> functions;  // those that are reached
  uint32_t entry = 0;
  std::vector<std::vector<uint64_t>> constants;  // BlockLanes packed elements each
};

// A buffer from outside that the body of a `parallel` uses.
struct BodyMemory {
  ir::ValueId value;
  bool is_loaded = false;
  bool is_stored = false;
};

// The body of a `parallel` on a block of its iterations. Its parameters are the scalars that it reads from outside, the
// same in all lanes, and the iteration.
struct ParallelCode {
  BatchCode code;  // constants, and what it calls
  BatchRegion body;
  std::vector<ir::ValueId> scalars;
  std::vector<BodyMemory> memories;
  uint64_t arrays = 0;       // that a block needs at a time, at most
  uint64_t frame_words = 0;  // of the calls in it, one in the other, at most
};

// What the arrays of blocks may take: 32 MB.
constexpr uint64_t MostBlockArrays = 4096;

// What the blocks of all `parallel` of a program may still take.
struct BlockRoom {
  // Instructions, and values that regions read from outside: time to compile, for nothing too, and memory.
  uint64_t parts = uint64_t{1} << 17;
  uint64_t constant_bytes = uint64_t{1} << 25;  // of constants in all lanes
};

// Both fail with Diag::Unsupported and the reason if it must run lane by lane. The program is expanded; it outlives the code.
Result<BatchCode> CompileBatch(const ir::Program& program);
Result<ParallelCode> CompileParallel(const ir::Program& program, const ir::Function& function,
                                     const ir::Inst& parallel, BlockRoom& room);

}  // namespace frazil::exec
