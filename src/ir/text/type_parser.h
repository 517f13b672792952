// Types in the token stream, for the text reader and for the command line.
#pragma once

#include <functional>
#include <string_view>

#include "base/result.h"
#include "ir/program.h"
#include "ir/text/lexer.h"

namespace frazil::ir {

// Reads a type at the lexer. Shapes go into `function`; `find` resolves a dimension's parameter name
// (invalid: not found).
Result<Type> ParseTypeTokens(Lexer& lexer, Function* function,
                             const std::function<ValueId(std::string_view)>& find);

}  // namespace frazil::ir
