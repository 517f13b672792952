// A matrix product that goes on computing with each sum before it stores it becomes two nests: the product alone, which
// has a kernel of its own (kernel_matmul.h), and then what is done with its elements, in place. Only where the kernel does not
// do that itself, and where it is the same: the output is no operand, and no access of either can trap; the code tests
// both. Internal to this folder.
#pragma once

#include <map>
#include <vector>

#include "base/result.h"
#include "exec/native/native_code.h"
#include "ir/program.h"

namespace frazil::targets::native {

// A constant of type bool that the emitter replaces: does the buffer differ from all of the others?
struct BufferTest {
  ir::ValueId buffer;
  std::vector<ir::ValueId> others;
};
// By function, then by the value that stands for the answer.
using BufferTests = std::vector<std::map<uint32_t, BufferTest>>;

// Of a lowered program whose invariants are hoisted.
Result<BufferTests> SplitProducts(ir::Program& lowered, exec::CpuLevel level);

}  // namespace frazil::targets::native
