#include "aot/targets.h"

#include "registry/targets.h"
#include "targets/c/c.h"
#include "targets/cuda/cuda.h"
#include "targets/tiles/tile.h"
#include "targets/wasm/wasm.h"
#include "verify/x86/x86.h"

namespace frazil::aot {

std::shared_ptr<const exec::Target> TargetOf(Target target) {
  switch (target) {
    case Target::Native: break;
    case Target::Isa: return targets::tiles::MakeIsaTarget();
    case Target::Ptx: return targets::cuda::MakeCudaTarget();
    case Target::Wasm: return targets::wasm::MakeWasmTarget();
    case Target::C: return targets::c::MakeCTarget();
  }
  return nullptr;
}

void RegisterJudges() {
  static const bool is_done = [] {
    verify::x86::RegisterReader();
    registry::RegisterJudges();
    return true;
  }();
  static_cast<void>(is_done);
}

}  // namespace frazil::aot
