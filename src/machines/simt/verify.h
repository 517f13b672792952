// The verifier: what must hold before anything executes a module. Linear in the code.
//
// Of each instruction: its type is one of its row's, operands and immediates are in range, unused fields are 0; r252 to
//   r255 are never written, and read in launch mode only; `in` buffers are not written, `out` buffers not read.
// Of structures: they match; SWITCH has distinct cases and a default; WHILE has one BREAKUNLESS; CARRY stands right behind
//   its opener; labels (BRA, CALL, LOOP) point into the code and do not mix with structures.
// Of registers, predicates and scratch buffers: each read finds a value of the right type on every path (isa.h: scope).
// Of lanes together (BAR.SYNC, SHFL ..): in structured code only uniform IF and FOR stand around them, as in the IR.
// A program-mode module ends in its only EXIT and has set each of its results by then.
#pragma once

#include "base/result.h"
#include "machines/simt/module.h"

namespace frazil::machines::simt {

Result<void> Verify(const Module& module);

// The feature bits that the code needs.
uint32_t FeaturesOf(Mode mode, std::span<const Instruction> code);
std::string FeatureNames(uint32_t features);  // "labels, guards"

}  // namespace frazil::machines::simt
