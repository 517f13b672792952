// The door of kernel/: kernels as C++ functions, on buffers or plain spans.
//
//   auto executor = frazil::kernel::Executor::Create().value();
//   auto x = executor->Allocate<float>(1 << 20).value();
//   x.CopyFrom(values).value();
//   ops::math::relu(x, x).value();                          // a standard kernel, on the executor's backend
//   auto mine = executor->Load(program).value();            // one that arrived at run time
//   executor->Launch(mine, LaunchConfig::Linear(n), {2.0f, x, y}).value();
//
// Every launch is checked before anything runs: types, lengths, overlap, null. Nothing here throws.
#pragma once

#include "kernel/builders.h"       // IWYU pragma: export
#include "kernel/executor.h"       // IWYU pragma: export
#include "kernel/ops.h"            // IWYU pragma: export
#include "kernel/program_cache.h"  // IWYU pragma: export
