// The native target: LLVM's code generator behind vector IR that we emit ourselves, no IR passes. One program
// becomes one image without relocations (exec/native/native_code.h) with the interpreter's bits.
#pragma once

#include <memory>
#include <string>

#include "exec/native/native_code.h"
#include "exec/target.h"

namespace frazil::targets::native {

struct NativeOptions {
  exec::CpuLevel level = exec::HostLevel();
  bool metered = false;
  bool vectorize = true;  // off: scalar code only
  bool optimize = true;   // off: the fastest code generation
  // Off: the form that a call site gets first, two vectors at a time at most and no second loop with stores past the
  // caches. It compiles in a third of the time (60 ops, AVX-512: 6 ms, not 22); a site that stays hot gets the other.
  bool tuned = true;
  // A loop that moves more bytes than this writes past the caches: about what the last level of them holds.
  uint64_t stream_bytes = uint64_t{32} << 20;
};

Result<exec::NativeImage> EmitImage(const ir::Program& program, const NativeOptions& options = {});
// What the image is made from, and what it became: for people.
Result<std::string> EmitLlvm(const ir::Program& program, const NativeOptions& options = {});
Result<std::string> EmitAssembly(const ir::Program& program, const NativeOptions& options = {});

// This program as the maker of code (exec/native/native_toolchain.h): part of every store key.
std::string Toolchain();
std::string_view CompilerName();  // for people: "LLVM 22.1.8"

// The target "native" at a level: Artifact::bytes is the serialized image.
std::unique_ptr<exec::Target> MakeNativeTarget(const NativeOptions& options = {});

}  // namespace frazil::targets::native
