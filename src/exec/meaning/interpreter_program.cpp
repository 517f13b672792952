// Making a program ready, and the interpreter as a target.
#include "exec/meaning/interpreter_program.h"

#include <fmt/format.h>

#include "base/check.h"
#include "exec/meaning/interpreter.h"
#include "ir/builder.h"
#include "ir/lower/lower.h"
#include "ir/text/text.h"

namespace frazil::exec {
namespace {

using ir::Op;

bool IsRandomFill(Op op) { return op == Op::TensorUniform || op == Op::TensorNormal; }

std::string RandomFunctionName(Op op, ir::Type element) {
  return fmt::format("element of {}.{}", ir::Info(op).mnemonic, ir::ScalarName(element.scalar));
}

// A fill with random numbers means the scalar op on each element: a function of that one op stands
// for it. Its name has spaces, which no name from a text has.
void AddRandomFunction(ir::Program& program, Op op, ir::Type element) {
  const std::string name = RandomFunctionName(op, element);
  if (program.FindFunction(name).valid()) return;
  ir::FunctionBuilder b(program, name, {ir::types::U64, ir::types::U64, ir::types::U64}, {element});
  const Op scalar_op = op == Op::TensorUniform ? Op::RandomUniform : Op::RandomNormal;
  b.Return({b.Emit1(scalar_op, element, {b.Param(0), b.Param(1), b.Param(2)}, element)});
  const ir::FuncId id = b.Finish();
  // It is part of an op, like the prelude function it calls.
  program.functions[id.index].is_prelude = true;
}

}  // namespace

FrameLayout::FrameLayout(const ir::Function& function) {
  slot.reserve(function.values.size());
  for (const ir::ValueInfo& value : function.values) {
    slot.push_back(value.type.is_scalar() ? word_count : object_count);
    if (value.type.is_scalar()) {
      word_count += ir::WordsOf(value.type);
    } else {
      object_count += 1;
    }
  }
}

Result<InterpreterProgram> InterpreterProgram::Create(const ir::Program& source) {
  ir::Program with_random = source;
  for (const ir::Function& function : source.functions) {
    for (const ir::Inst& inst : function.insts) {
      if (IsRandomFill(inst.op)) AddRandomFunction(with_random, inst.op, inst.type.element());
    }
  }
  with_random.entry = source.entry;
  InterpreterProgram prepared;
  prepared.program_ = TRY(ir::ExplicitBarriers(TRY(ir::ExpandPrelude(with_random))));
  for (const ir::Function& function : prepared.program_.functions) {
    prepared.layouts_.emplace_back(function);
    for (const ir::Inst& inst : function.insts) {
      if (inst.op == Op::Parallel) prepared.blocks_[&inst] = std::make_unique<Blocks>();
    }
  }
  return prepared;
}

const ParallelCode* InterpreterProgram::BlocksOf(const ir::Function& function,
                                                 const ir::Inst& parallel) const {
  Blocks& blocks = *blocks_.at(&parallel);
  std::call_once(blocks.once, [&] {
    const std::scoped_lock lock(room_->mutex);
    Result<ParallelCode> code = CompileParallel(program_, function, parallel, room_->left);
    if (code) blocks.code = std::make_unique<const ParallelCode>(std::move(*code));
  });
  return blocks.code.get();
}

ir::FuncId InterpreterProgram::RandomFunction(Op tensor_op, ir::Type element) const {
  const ir::FuncId id = program_.FindFunction(RandomFunctionName(tensor_op, element));
  CHECK(id.valid());
  return id;
}

namespace {

class InterpreterCallable : public Callable {
 public:
  explicit InterpreterCallable(InterpreterProgram program) : program_(std::move(program)) {}
  Result<Outcome> Run(std::span<const Value> arguments, const RunContext& context) override {
    return program_.Run(arguments, context);
  }
  bool is_concurrent() const override { return true; }

 private:
  InterpreterProgram program_;
};

class InterpreterTarget : public Target {
 public:
  std::string_view name() const override { return "interp"; }
  std::string Refuses(const ir::Program& program) const override {
    for (const ir::Function& function : program.functions)
      for (const ir::Inst& inst : function.insts)
        if (inst.op == Op::Tasm) return "assembly of the Triton VM runs on the target tasm only";
    return {};
  }

  Result<Artifact> Emit(const ir::Program& program, const EmitOptions& options) const override {
    Artifact artifact;
    artifact.target = "interp";
    artifact.bytes = ir::PrintText(program);
    artifact.source = std::make_shared<const ir::Program>(program);
    artifact.program = std::make_shared<const ir::Program>(TRY(ir::LowerForTarget(program)));
    artifact.entry_symbol = options.symbol;
    return artifact;
  }

  // The source, not the lowered program: the interpreter knows tensors by itself.
  Result<std::unique_ptr<Callable>> Load(const Artifact& artifact) const override {
    if (artifact.source == nullptr) {
      const ir::Program program = TRY(ir::ParseText(artifact.bytes));
      return std::make_unique<InterpreterCallable>(TRY(InterpreterProgram::Create(program)));
    }
    return std::make_unique<InterpreterCallable>(TRY(InterpreterProgram::Create(*artifact.source)));
  }

  // Its bytes are a program's text.
  Result<Lifted> Lift(const Artifact& artifact) const override {
    return Lifted{TRY(ir::ParseText(artifact.bytes)), *artifact.source};
  }
};

}  // namespace

std::unique_ptr<Target> MakeInterpreterTarget() { return std::make_unique<InterpreterTarget>(); }

}  // namespace frazil::exec
