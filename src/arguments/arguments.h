// Arguments in the notation of the text form: scalars as literals, buffers and tensors as [1, 2, 3].
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "exec/outcome.h"
#include "exec/value.h"
#include "ir/program.h"

namespace frazil::arguments {

// A buffer may also be the name (or number) of an earlier one, which it then is.
Result<exec::Value> ParseArgument(const ir::Function& function, uint32_t param,
                                  const std::string& text, std::span<const exec::Value> earlier,
                                  const Limits& limits);
Result<std::vector<exec::Value>> ParseArguments(const ir::Program& program,
                                                const std::vector<std::string>& texts,
                                                const Limits& limits);
// Back: a buffer that is an earlier one is named after it.
std::vector<std::string> PrintArguments(const ir::Function& function,
                                        std::span<const exec::Value> values);
// The name of a parameter, or its number.
std::string ParamName(const ir::Function& function, uint32_t param);

// "i32:5": an element of a stream with its type.
Result<std::vector<exec::Value>> ParseStream(const std::vector<std::string>& texts,
                                             const Limits& limits);
std::string PrintStreamElement(const exec::Value& value);

// "[1, 2, 3, .. 1000000 elements]".
std::string PrintShortened(const exec::Memory& memory);

}  // namespace frazil::arguments
