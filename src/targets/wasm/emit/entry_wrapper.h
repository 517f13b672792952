// The entry as the host calls it: plain words in, plain words out.
#pragma once

#include <string>

#include "ir/program.h"
#include "targets/wasm/emit/module_context.h"

namespace frazil::targets::wasm {

// The entry's type for the host: int<k> as k words of i64.
FuncType HostType(const ir::Function& entry);

// Whether a run counts in globals that every call has to begin anew.
bool CountsInGlobals(const ModuleContext& module);

// The body of a function of that type that calls the entry, function `inner` of the module.
// `is_called`: the program calls its entry itself, so the host's call must not count as one.
std::string WrapEntry(ModuleContext& module, const ir::Function& entry, uint32_t inner,
                      bool is_called, bool metered);

}  // namespace frazil::targets::wasm
