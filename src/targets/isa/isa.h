// The door between the IR and the SIMT machine: a kernel becomes a module, and a module becomes the program again. The
// way back proves the way there: both programs have one exact digest.
//
//   Lower      tensors become loops, calls are inlined (PrepareProgram), then one instruction for each op that is left
//   Lift       reads a program-mode module as a program; moves of registers vanish
//   ProvedModule    the module, and what it was lifted to, whose canonical bytes are those of the prepared program
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"
#include "exec/target.h"
#include "ir/program.h"
#include "ir/signed_program.h"
#include "machines/simt/module.h"

namespace frazil::targets::isa {

// What lowering starts from: no tensor, no call, nothing but types of the machine; math ops stay. Fails with Unsupported.
Result<ir::Program> PrepareProgram(const ir::Program& program);
// The same program where there is nothing to prepare.
Result<std::shared_ptr<const ir::SignedProgram>> PrepareProgram(
    std::shared_ptr<const ir::SignedProgram> program);
// How deep calls of the entry nest, of a program without recursion. Prepared ones have none left.
uint64_t CallDepth(const ir::Program& program);
// Empty, or one sentence why the program has no module.
std::string WhyNot(const ir::Program& program);

Result<machines::simt::Module> Lower(const ir::Program& program);
// Of a program that PrepareProgram gave.
Result<machines::simt::Module> LowerPrepared(const ir::Program& prepared);

// Fails with BadIsaProgram where the module has no program form: launch mode, guards, lanes together.
Result<ir::Program> Lift(const machines::simt::Module& module);

// A module and the program that its words were lifted to. Plans are made from these and from nothing else (tile.h), so that
// what was compared with the source is the very object that runs.
class ProvedModule {
 public:
  // Lowers, then proves. Fails with Unsupported where the program has no module.
  static Result<ProvedModule> OfProgram(const ir::Program& program);
  static Result<ProvedModule> OfProgram(std::shared_ptr<const ir::SignedProgram> program);
  // Fails with NotProved if the module, lifted, is not the program, prepared.
  static Result<ProvedModule> Prove(const ir::Program& program, machines::simt::Module module);
  // A module that came without a program is its own source: it means what it lifts to. One that has no program form means
  // what the lanes do, one by one.
  static Result<ProvedModule> Itself(machines::simt::Module module);

  const machines::simt::Module& module() const { return module_; }
  // Lifted; null: it has no program form, for this reason.
  const std::shared_ptr<const ir::Program>& program() const { return program_; }
  const std::string& why_no_program() const { return why_no_program_; }

 private:
  ProvedModule(machines::simt::Module module, std::shared_ptr<const ir::Program> program)
      : module_(std::move(module)), program_(std::move(program)) {}
  machines::simt::Module module_;
  std::shared_ptr<const ir::Program> program_;
  std::string why_no_program_;
};

}  // namespace frazil::targets::isa
