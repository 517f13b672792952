// Who made something, as bytes that change by themselves: the linker's digest of a program (its ELF build id), which
// another source, flag or library changes. Version numbers are bumped by people, who forget.
#pragma once

#include <string>

namespace frazil {

// Of the program or shared library that this function is linked into; of one that was linked without an id, the SHA-256
// of the running program's file. Lower-case hex.
const std::string& OwnBuildId();

// What stands in an ELF file of this machine's kind, without starting it: a few small reads. Empty: the file cannot be
// read, is no such file, or was linked without an id.
std::string BuildIdOfFile(const std::string& path);

}  // namespace frazil
