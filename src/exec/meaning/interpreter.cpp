// The interpreter: its loop, its values, and the dispatch over all ops without a default, so that a
// new op does not compile before it has a meaning here.
#include "exec/meaning/interpreter.h"

#include <algorithm>

#include "base/check.h"
#include "exec/meaning/interpreter_machine.h"
#include "exec/meaning/scalar_ops.h"

namespace frazil::exec {

using ir::Op;

Machine::Machine(const InterpreterProgram& prepared, const RunContext& context, LaterStores* later)
    : prepared_(prepared),
      program_(prepared.program()),
      context_(context),
      later_(later),
      fuel_(context.limits.fuel),
      deadline_(Deadline::After(context.limits.run_ms)) {}

void Machine::StartClock() {
  fuel_ = context_.limits.fuel;
  deadline_ = Deadline::After(context_.limits.run_ms);
}

Result<Outcome> Machine::Run(std::span<const Value> arguments) {
  PushFrame(program_.entry);
  PushRegion(nullptr, function().body);
  for (uint32_t i = 0; i < arguments.size(); ++i) {
    const ir::ValueId param = function().param(i);
    if (TypeOf(param).is_scalar()) {
      std::ranges::copy(arguments[i].scalar_words(), WordsOf(param).begin());
    } else {
      SetObject(param, {arguments[i].memory, arguments[i].dims});
    }
  }
  while (!stopped_) RunTop();
  if (error_) return std::unexpected(std::move(*error_));
  // A tensor that is an argument's own memory would end with it.
  for (Value& result : outcome_.results) {
    for (const Value& argument : arguments) {
      if (result.memory == nullptr || result.memory != argument.memory) continue;
      auto copy = std::make_shared<Memory>(result.memory->element(), result.memory->length());
      std::copy_n(result.memory->data(), result.memory->size_bytes(), copy->data());
      result.memory = std::move(copy);
    }
  }
  return std::move(outcome_);
}

void Machine::RunTop() {
  const ir::Function& f = function();
  Activation& top = activations_.back();
  const std::vector<ir::InstId>& insts = f.region(top.region).insts;
  Flow flow = Flow::Next;
  while (flow == Flow::Next) flow = Step(f.inst(insts[top.next++]));
}

Machine::Flow Machine::Trap(ir::Trap kind, const ir::Inst& inst) {
  const bool is_first = !outcome_.trap;
  if (is_first) {
    outcome_.trap = TrapInfo{kind, inst.trap_op(), parallel_iteration_};
    outcome_.trap_at = inst.location;
  }
  if (later_ != nullptr && is_first) StartClock();
  if (later_ != nullptr && !is_first) later_->all = ir::IsLimit(kind);
  if (later_ != nullptr && !later_->all) return LeaveIteration();
  stopped_ = true;
  return Flow::Turn;
}

Machine::Flow Machine::TrapEnded(const ir::Inst& inst) {
  outcome_.trap = context_.Ended(inst.op, parallel_iteration_);
  outcome_.trap_at = inst.location;
  stopped_ = true;
  return Flow::Turn;
}

uint64_t& Machine::Word(ir::ValueId id) {
  const Frame& frame = frames_.back();
  return words_[frame.word_base + frame.layout->slot[id.index]];
}

std::span<uint64_t> Machine::WordsOf(ir::ValueId id) {
  return {&Word(id), ir::WordsOf(TypeOf(id))};
}

Object& Machine::ObjectOf(ir::ValueId id) {
  const Frame& frame = frames_.back();
  return objects_[frame.object_base + frame.layout->slot[id.index]];
}

void Machine::SetObject(ir::ValueId id, Object object) {
  Object& place = ObjectOf(id);
  place = std::move(object);
  made_.push_back(static_cast<size_t>(&place - objects_.data()));
}

void Machine::Take(std::span<const ir::ValueId> values) {
  taken_words_.clear();
  taken_objects_.clear();
  for (ir::ValueId id : values) {
    if (TypeOf(id).is_scalar()) {
      const std::span<uint64_t> words = WordsOf(id);
      taken_words_.insert(taken_words_.end(), words.begin(), words.end());
    } else {
      taken_objects_.push_back(ObjectOf(id));
    }
  }
}

void Machine::Take(ir::Range values) {
  std::vector<ir::ValueId> ids;
  for (uint32_t i = 0; i < values.count; ++i) ids.emplace_back(values.begin + i);
  Take(ids);
}

void Machine::Put(ir::Range values) {
  size_t word = 0;
  size_t object = 0;
  for (uint32_t i = 0; i < values.count; ++i) {
    const ir::ValueId id(values.begin + i);
    if (TypeOf(id).is_scalar()) {
      for (uint64_t& place : WordsOf(id)) place = taken_words_[word++];
    } else {
      SetObject(id, std::move(taken_objects_[object++]));
    }
  }
}

Machine::Flow Machine::Const(const ir::Inst& inst) {
  std::ranges::copy(function().words_of(inst), WordsOf(ir::Function::result_of(inst)).begin());
  return Flow::Next;
}

Machine::Flow Machine::Scalar(const ir::Inst& inst) {
  const std::span<const ir::ValueId> operands = function().operands_of(inst);
  const ir::Type source = TypeOf(operands[0]);
  if (!IsWide(inst.type.scalar) && !IsWide(source.scalar)) {
    const uint64_t a = Word(operands[0]);
    const uint64_t b = operands.size() > 1 ? Word(operands[1]) : 0;
    const uint64_t c = operands.size() > 2 ? Word(operands[2]) : 0;
    const auto word = EvalWord(inst.op, inst.type.scalar, source.scalar, a, b, c);
    if (!word) return Trap(word.error(), inst);
    Result0(inst) = *word;
    return Flow::Next;
  }
  // digest.make has the most operands.
  std::array<Words, 5> words;
  for (size_t i = 0; i < operands.size(); ++i) words[i] = WordsOf(operands[i]);
  const ScalarCall call = {inst.op, inst.type, source, function().words_of(inst)};
  const std::optional<ir::Trap> trap = EvalScalar(call, std::span(words).first(operands.size()),
                                                  WordsOf(ir::Function::result_of(inst)));
  return trap ? Trap(*trap, inst) : Flow::Next;
}

Machine::Flow Machine::Step(const ir::Inst& inst) {
  switch (inst.op) {
    case Op::Const: return Const(inst);
    case Op::Lookup: return Lookup(inst);

    FRAZIL_CASES(Arithmetic) return Scalar(inst);
    case Op::Select: NoteChoice(inst, Operand(inst, 0) != 0 ? 0 : 1); return Scalar(inst);

    case Op::Load: return Load(inst);
    case Op::Store: return Store(inst);
    case Op::Length:
      Result0(inst) = static_cast<uint64_t>(OperandObject(inst, 0).memory->length());
      return Flow::Next;
    case Op::Alloc: return Alloc(inst);
    case Op::AtomicRmw: return AtomicRmw(inst);
    case Op::AtomicCas: return AtomicCas(inst);

    case Op::Input: return ReadStream(inst, context_.input, input_position_);
    case Op::Hint: return ReadStream(inst, context_.hints, hint_position_);
    case Op::Output: return Output(inst);
    case Op::Assert: return Operand(inst, 0) != 0 ? Flow::Next : Trap(ir::Trap::Assert, inst);
    case Op::Unreachable: return Trap(ir::Trap::Unreachable, inst);

    case Op::If: return EnterIf(inst);
    case Op::For: return EnterFor(inst);
    case Op::While: return EnterWhile(inst);
    case Op::Switch: return EnterSwitch(inst);
    case Op::Parallel: return EnterParallel(inst);
    case Op::Barrier: return Barrier(inst);
    case Op::Call: return EnterCall(inst);
    case Op::Return: return Return(inst);
    case Op::Yield: return Yield(inst);
    case Op::Condition: return Condition(inst);

    FRAZIL_CASES(Tensor) return TensorOp(inst);

    FRAZIL_CASES(Prelude)
    FRAZIL_CASES(Prover) break;
  }
  CHECK(!"math ops are calls by now");
  return Flow::Turn;
}

Result<Outcome> InterpreterProgram::Run(std::span<const Value> arguments,
                                        const RunContext& context) const {
  TRY_VOID(CheckLaunch(program_, arguments));
  return Machine(*this, context).Run(arguments);
}

Result<Outcome> Interpret(const ir::Program& program, std::span<const Value> arguments,
                          const RunContext& context) {
  const InterpreterProgram prepared = TRY(InterpreterProgram::Create(program));
  return prepared.Run(arguments, context);
}

}  // namespace frazil::exec
