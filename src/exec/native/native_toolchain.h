// Who makes native code, as it stands in the key of a store and in the form itself: the build id of the program that
// emits. Known without the emitter being started: a process that only runs stored code reads it from the worker's file.
#pragma once

#include <string>

namespace frazil::exec {

std::string
NativeToolchain();  // of this program, where it has the compiler linked in: "build 3f9c..."
// Of another program; empty: not known, and so nothing that it made may be looked for.
std::string NativeToolchainOf(const std::string& program);

}  // namespace frazil::exec
