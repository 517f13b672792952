// The operations of TIR as a document.
#pragma once

#include <string>

namespace frazil {

// Markdown: a section with one table of all operations.
std::string TirManual();

}  // namespace frazil
