// Two runs of the same call: copies of its arguments to run on, and how the answers differ.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "exec/meaning/interpreter_program.h"
#include "exec/outcome.h"
#include "exec/value.h"

namespace frazil::engine {

// Memory at a multiple of 64, with a margin of known bytes on both sides.
std::shared_ptr<exec::Memory> MarginMemory(ir::Type element, int64_t length);
// Of values made by CopyArguments or with MarginMemory: did somebody write beside a buffer?
bool MarginsAreWhole(std::span<const exec::Value> values);

// The same contents, the same arguments being one buffer, all in MarginMemory.
std::vector<exec::Value> CopyArguments(std::span<const exec::Value> arguments);

// What two runs answered.
struct AnsweredCall {
  const exec::InterpreterProgram& program;
  std::span<const exec::Value> arguments;  // before
  const exec::RunContext& context;
};

// Empty, or one sentence, the first difference that a reader would look for: traps, output, results, memory; after a
// trap the part of memory that is specified (exec/meaning/after_trap.h).
std::string Difference(const AnsweredCall& call, const exec::Outcome& expected,
                       std::span<const exec::Value> expected_arguments, const exec::Outcome& found,
                       std::span<const exec::Value> found_arguments);

}  // namespace frazil::engine
