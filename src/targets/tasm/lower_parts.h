// What the steps of the lowering share.
#pragma once

#include "targets/tasm/stack/schedule.h"

namespace frazil::targets::tasm {

// A location's column with this bit is a trap site: the rest is its index in Scheduled::sites.
inline constexpr uint32_t SiteMark = 0x8000'0000u;

// The op of TIR that is the instruction; not for constants, parameters and structure.
tir::Kind KindOf(WordOp op);
// That op with its numbers and texts, without a location.
tir::Op InstructionOf(const WordProgram& program, const WordNode& node);

// The name of a word function in TIR.
std::string FunctionLabel(const WordProgram& program, uint32_t function);

// The program as the instruction selection takes it.
Result<ir::Program> Prepare(const ir::Program& program);

}  // namespace frazil::targets::tasm
