// What lowering starts from, and what it refuses. Tensors become loops, calls their bodies; a program that then is not of
// the machine's types, or reads streams, is refused by name: the machine never approximates.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "ir/lower/inline.h"
#include "ir/lower/lower.h"
#include "targets/isa/isa.h"

namespace frazil::targets::isa {
namespace {

using ir::Op;

bool IsMachineType(ir::Type type) {
  return !type.is_tensor() && static_cast<int>(type.scalar) < machines::simt::TypeCount;
}

// One sentence about the first thing that the machine does not have.
std::string Missing(const ir::Function& function, Location& where) {
  auto type_sentence = [](ir::Type type) {
    return fmt::format(
        "the machine has no {}: its types are i8 to u64, f16, bf16, f32, f64, bool and index",
        ir::ScalarOrBufferName(type));
  };
  for (uint32_t i = 0; i < function.param_count(); ++i)
    if (!IsMachineType(function.param_type(i))) return type_sentence(function.param_type(i));
  uint32_t buffers = 0;
  for (uint32_t i = 0; i < function.param_count(); ++i)
    buffers += function.param_type(i).is_buffer();
  if (buffers > machines::simt::MaxBuffers)
    return fmt::format("{} buffers are more than the machine's 256", buffers);
  for (const ir::Inst& inst : function.insts) {
    where = inst.location;
    if (ir::Info(inst.op).effect == ir::Effect::Io)
      return fmt::format("'{}': the machine has no streams", ir::Info(inst.op).mnemonic);
    if (inst.op == Op::Call)
      return "a call that cannot be inlined: the machine's programs are one function";
    if (!IsMachineType(inst.type)) return type_sentence(inst.type);
    for (uint32_t r = 0; r < inst.results.count; ++r) {
      ir::Type type = function.type(ir::Function::result_of(inst, r));
      if (!IsMachineType(type)) return type_sentence(type);
    }
  }
  where = {};
  return {};
}

}  // namespace

Result<std::shared_ptr<const ir::SignedProgram>> PrepareProgram(
    std::shared_ptr<const ir::SignedProgram> program) {
  if (ir::HasTensors(program->program()))
    program = ir::SignedProgram::Of(TRY(ir::LowerTensors(program->program())));
  if (program->program().functions.size() > 1)
    program = ir::SignedProgram::Of(TRY(ir::InlineCalls(program->program())));
  Location where;
  if (std::string missing = Missing(program->program().entry_function(), where); !missing.empty())
    return Fail(Diag::Unsupported, missing, where);
  return program;
}

Result<ir::Program> PrepareProgram(const ir::Program& program) {
  return TRY(PrepareProgram(ir::SignedProgram::Of(program)))->program();
}

uint64_t CallDepth(const ir::Program& program) {
  std::vector<int64_t> known(program.functions.size(), -1);
  std::function<int64_t(uint32_t)> depth_of = [&](uint32_t f) -> int64_t {
    if (known[f] >= 0) return known[f];
    int64_t depth = 0;
    const ir::Function& function = program.functions[f];
    for (const ir::Inst& inst : function.insts)
      if (inst.op == ir::Op::Call)
        depth = std::max(depth, 1 + depth_of(static_cast<uint32_t>(function.word(inst, 0))));
    return known[f] = depth;
  };
  return static_cast<uint64_t>(depth_of(program.entry.index));
}

std::string WhyNot(const ir::Program& program) {
  Result<machines::simt::Module> module = Lower(program);
  return module ? std::string{} : module.error().message;
}

}  // namespace frazil::targets::isa
