// The door of runtime/: kernels as C++ functions, on buffers or plain spans.
//
//   using namespace frazil::runtime;
//   const std::vector<float> values(1000, -1.5f);
//   auto executor = Executor::Create().value();
//   auto x = executor->Allocate<float>(1000).value();
//   auto y = executor->Allocate<float>(1000).value();
//   x.CopyFrom(values).value();
//   ops::math::relu(x, x).value();                         // a standard kernel, on the executor's backend
//   auto mine = executor->LoadFile("saxpy.frz").value();   // one that arrived at run time: a, n, x, y
//   executor->Launch(*mine, LaunchConfig::Linear(1000), {2.0f, {}, x, y}).value();
//
// (tests/docs compiles and runs these lines in examples/.)
//
// Every launch is checked before anything runs: types, lengths, overlap, null. Nothing here throws.
#pragma once

#include "engine/worker/package.h"  // IWYU pragma: export
#include "runtime/builders.h"       // IWYU pragma: export
#include "runtime/events.h"         // IWYU pragma: export
#include "runtime/executor.h"       // IWYU pragma: export
#include "runtime/loaded_kernel.h"  // IWYU pragma: export
#include "runtime/ops.h"            // IWYU pragma: export
#include "runtime/program_cache.h"  // IWYU pragma: export
#include "runtime/source.h"         // IWYU pragma: export
