// The passes over a kernel's tree, in the order kernel.cpp runs them. Each reports what it finds wrong and is not run
// after a pass that reported something.
#pragma once

#include <span>

#include "base/limits.h"
#include "frontends/python/ast.h"

namespace frazil::frontends::python {

// 1. Every variable is assigned on every way to where it is read; every function returns on every way.
void CheckAssigned(KernelTree& tree, Errors& errors);

// 2. break, continue and return become flags and conditions; what comes after an `if` that leaves goes into its else.
//    After this there are no Break, Continue, Return.
void FlattenJumps(KernelTree& tree, Errors& errors);

// 3. Constant expressions become literals.
void FoldConstants(KernelTree& tree);
// A comparison of two literals, exact.
bool CompareConstants(BinaryOp op, const Literal& a, const Literal& b);

// 4. Types of variables and expressions.
void InferTypes(KernelTree& tree, Errors& errors);

// 5. For every statement: what it reads, sets, and what is read behind it. `last`: locals that are read behind all.
void FindLiveness(KernelTree& tree, Block& body, std::span<const uint32_t> last);

// 6. The program.
Result<ir::Program> EmitKernel(KernelTree& tree, Errors& errors, const Limits& limits);

}  // namespace frazil::frontends::python
