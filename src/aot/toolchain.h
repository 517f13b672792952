// Who compiles: part of the key of finished work.
#pragma once

#include <string>

namespace frazil::aot {

// Changes whenever this program does: its build id, or the digest of its file.
std::string ToolchainDigest();

}  // namespace frazil::aot
