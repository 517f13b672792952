// The door between the IR and the SIMT machine: a kernel becomes a module, and a module becomes the program again. The
// way back proves the way there: both programs have one exact digest.
//
//   Lower      tensors become loops, calls are inlined (PrepareProgram), then one instruction for each op that is left
//   Lift       reads a program-mode module as a program; moves of registers vanish
//   ProveLowering   Lift of the module has the digest of the prepared program
#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "exec/target.h"
#include "ir/program.h"
#include "machines/simt/module.h"

namespace frazil::targets::isa {

// What lowering starts from: no tensor, no call, nothing but types of the machine; math ops stay. Fails with Unsupported.
Result<ir::Program> PrepareProgram(const ir::Program& program);
// Empty, or one sentence why the program has no module.
std::string WhyNot(const ir::Program& program);

Result<machines::simt::Module> Lower(const ir::Program& program);
// Of a program that PrepareProgram gave.
Result<machines::simt::Module> LowerPrepared(const ir::Program& prepared);

// Fails with BadIsaProgram where the module has no program form: launch mode, guards, lanes together.
Result<ir::Program> Lift(const machines::simt::Module& module);

// NotProved if the digests differ. The first form prepares the program itself.
Result<void> ProveLowering(const ir::Program& program, const machines::simt::Module& module);
Result<void> ProvePrepared(const ir::Program& prepared, const machines::simt::Module& module);

// Target "isa": Emit gives the bytes of the `.frzb` file, proved; Load runs it.
std::unique_ptr<exec::Target> MakeIsaTarget();
// The same on the lane-exact executor (lane_exact.h) instead of the tile interpreter: what the machine means.
std::unique_ptr<exec::Target> MakeLaneExactTarget();

}  // namespace frazil::targets::isa
