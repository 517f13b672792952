// The door of the WASM target: programs to WebAssembly bytes without LLVM, run in process by
// wasmtime; and the bytes as people read them.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "exec/target.h"

namespace frazil::targets::wasm {

// The target, under the name "wasm". Emitting needs nothing but this library; Load opens wasmtime.
std::unique_ptr<exec::Target> MakeWasmTarget();

// The module as text that wat2wasm reads back to the same bytes (but for the name section).
Result<std::string> PrintWat(std::string_view module_bytes);

// The instruction bytes of an exported (or named) function, without its locals and its final end.
Result<std::string> FunctionBody(std::string_view module_bytes, std::string_view name);

}  // namespace frazil::targets::wasm
