// What native code sees of a run lives in embed/, because embedded kernels need it without the rest of us; here are the
// names under which everybody above knows it.
#pragma once

#include "embed/native_run.h"
#include "exec/native/native_code.h"
#include "ir/op.h"

namespace frazil::exec {

using embed::NativeHelper;
using embed::NativeHelperCount;
using embed::NativeRun;
using embed::NativeRunLayout;
using embed::NativeStream;
using embed::ScratchArena;

static_assert(static_cast<int>(embed::TrapKind::Memory) == static_cast<int>(ir::Trap::Memory));
static_assert(static_cast<int>(embed::TrapKind::OutOfBounds) ==
              static_cast<int>(ir::Trap::OutOfBounds));

}  // namespace frazil::exec
