// The text form of programs, `.frz`. Parse(Print(p)) is p, value names included; docs/ir.md has the
// grammar. Both run at over a million instructions a second (bench: text).
#pragma once

#include <string>
#include <string_view>

#include "base/limits.h"
#include "base/result.h"
#include "ir/program.h"

namespace frazil::ir {

// Reads a program. The result is well formed: ir::Check has passed. Errors carry line and column.
Result<Program> ParseText(std::string_view text, const Limits& limits = {});

std::string PrintText(const Program& program);
std::string PrintFunction(const Program& program, const Function& function);
std::string PrintType(const Function& function, Type type);  // tensors with their dimensions

// One constant in the notation of the text form, both ways; used for literals, arguments and answers.
std::string PrintLiteral(Type scalar, std::span<const uint64_t> words);
Result<std::vector<uint64_t>> ParseLiteral(Type scalar, std::string_view text,
                                           const Limits& limits = {});

// "f32", "int<4>", "buffer<u8>": the types that need no function around them.
Result<Type> ParseType(std::string_view text);

}  // namespace frazil::ir
