// A program as the batch interpreter runs it: every region is code of its own over numbered arrays,
// one array for each value. What a region reads from outside comes in as its first arrays
// (live-ins), so that a branch can run on a compacted copy of the lanes that take it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "exec/batch_kernels.h"
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
  enum class Kind : uint8_t { Kernel, Lookup, Assert, Unreachable, If, Switch, For, While, Call };
  Kind kind;
  ir::Op op = ir::Op::Unreachable;  // what a trap here is the trap of
  bool may_trap = true;
  Kernel kernel = nullptr;
  ArrayId a = 0, b = 0, c = 0;
  ArrayId result = 0;
  std::unique_ptr<BatchStructure> structure;  // all kinds but Kernel, Assert and Unreachable
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
  std::vector<uint8_t> table;  // lookup: packed elements
  uint64_t table_length = 0;
};

struct BatchCode {
  std::vector<BatchFunction>
      functions;  // as in the program; those that the entry does not reach are empty
  uint32_t entry = 0;
  std::vector<std::vector<uint64_t>> constants;  // BlockLanes elements each
};

// Fails with Diag::Unsupported and the reason if the program must run lane by lane. It is expanded.
Result<BatchCode> CompileBatch(const ir::Program& program);

}  // namespace frazil::exec
