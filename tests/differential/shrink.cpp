// Greedy: every edit of every instruction, last instruction first, until a whole round changes nothing.
// An edit need not keep the meaning, only the failure; what ir::Check refuses is not tried.

#include "differential/shrink.h"

#include <algorithm>

#include "ir/check/check.h"
#include "ir/clone.h"

namespace frazil::tests {
namespace {

using ir::FunctionBuilder;
using ir::Inst;
using ir::InstId;
using ir::Op;
using ir::Type;
using ir::ValueId;
using ir::Values;

enum class EditKind { Drop, FirstArm, SecondArm, ZeroConstant, OneConstant, UseOperand };

struct Edit {
  uint32_t function;
  uint32_t inst;
  EditKind kind;
};

class Editor : public ir::Cloner {
 public:
  Editor(const ir::Function& source, FunctionBuilder& builder, const Edit* edit)
      : Cloner(source, builder), edit_(edit), used_(source.values.size(), false) {
    for (ValueId operand : source.operands) used_[operand.index] = true;
  }

 protected:
  Result<void> Visit(const Inst& inst) override {
    bool here = edit_ != nullptr && &inst == &source_.insts[edit_->inst];
    if (here) return Apply(inst);
    // Stand-ins of earlier edits that nothing needs any more.
    bool dead = inst.op == Op::Const && !used_[ir::Function::result_of(inst).index];
    return dead ? Result<void>() : CopyInst(inst);
  }

 private:
  std::unexpected<Error> NotHere() { return Fail(Diag::Unsupported, "the edit does not fit"); }

  ValueId StandIn(Type type) {
    std::vector<uint64_t> zero(ir::WordsOf(type.element()), 0);
    if (type.is_scalar()) return builder_.Const(type, zero);
    if (type.is_buffer())
      return builder_.Alloc(type.element(), builder_.ConstInt(ir::types::Index, 1));
    return builder_.Emit1(Op::Broadcast, type, {builder_.Const(type.element(), zero)}, type);
  }

  Result<void> Apply(const Inst& inst) {
    if (inst.op == Op::Yield || inst.op == Op::Return || inst.op == Op::Condition) return NotHere();
    switch (edit_->kind) {
      case EditKind::Drop:
        if (inst.op == Op::Const && used_[ir::Function::result_of(inst).index]) return NotHere();
        if (inst.op == Op::Const) return {};
        for (uint32_t i = 0; i < inst.results.count; ++i) {
          ValueId result = ir::Function::result_of(inst, i);
          Bind(result, StandIn(source_.type(result)));
        }
        return {};
      case EditKind::FirstArm: return Inline(inst, 0);
      case EditKind::SecondArm: return Inline(inst, 1);
      case EditKind::ZeroConstant: return Constant(inst, 0);
      case EditKind::OneConstant: return Constant(inst, 1);
      case EditKind::UseOperand:
        if (inst.results.count != 1) return NotHere();
        for (ValueId operand : source_.operands_of(inst))
          if (source_.type(operand) == source_.type(ir::Function::result_of(inst))) {
            Bind(ir::Function::result_of(inst), Get(operand));
            return {};
          }
        return NotHere();
    }
    return NotHere();
  }

  Result<void> Constant(const Inst& inst, uint64_t word) {
    std::vector<uint64_t> words(inst.attributes.count, 0);
    if (inst.op != Op::Const) return NotHere();
    words[0] = word;
    std::span<const uint64_t> old = source_.words_of(inst);
    bool is_zero = std::ranges::all_of(old, [](uint64_t w) { return w == 0; });
    if (is_zero || std::ranges::equal(words, old)) return NotHere();
    Bind(ir::Function::result_of(inst), builder_.Const(inst.type, words));
    return {};
  }

  // The arm's instructions in place of the instruction; of a loop one turn.
  Result<void> Inline(const Inst& inst, uint32_t arm) {
    bool fits =
        inst.op == Op::If || inst.op == Op::Switch || inst.op == Op::For || inst.op == Op::Parallel;
    if (!fits || arm >= inst.regions.count) return NotHere();
    const ir::Region& region = source_.region(ir::Function::region_of(inst, arm));
    if (inst.op == Op::For || inst.op == Op::Parallel) {
      Bind(ir::Function::param_of(region, 0), Get(source_.operand(inst, 0)));
      for (uint32_t i = 1; i < region.params.count; ++i)
        Bind(ir::Function::param_of(region, i), Get(source_.operand(inst, i + 1)));
    }
    std::span<const InstId> insts = region.insts;
    TRY_VOID(CopyInsts(insts.first(insts.size() - 1)));
    const Inst& last = source_.inst(insts.back());
    for (uint32_t i = 0; i < inst.results.count; ++i)
      Bind(ir::Function::result_of(inst, i), Get(source_.operand(last, i)));
    return {};
  }

  const Edit* edit_;
  std::vector<bool> used_;
};

// Only the functions and tables that the entry function reaches.
ir::Program Reachable(const ir::Program& program) {
  std::vector<uint32_t> functions = {program.entry.index}, tables;
  auto place_of = [](std::vector<uint32_t>& used, uint64_t id) -> uint64_t {
    auto found = std::find(used.begin(), used.end(), id);
    if (found == used.end()) found = used.insert(found, static_cast<uint32_t>(id));
    return static_cast<uint64_t>(found - used.begin());
  };
  ir::Program result;
  for (size_t i = 0; i < functions.size(); ++i) {
    ir::Function function = program.functions[functions[i]];
    for (const Inst& inst : function.insts) {
      if (inst.op != Op::Call && inst.op != Op::Lookup) continue;
      uint64_t& word = function.words[inst.attributes.begin];
      word = place_of(inst.op == Op::Call ? functions : tables, word);
    }
    result.functions.push_back(std::move(function));
  }
  for (uint32_t table : tables) result.data.push_back(program.data[table]);
  return result;
}

Result<ir::Program> Edited(const ir::Program& program, const Edit& edit) {
  uint32_t number = 0;
  ir::Program edited =
      TRY(ir::CopyProgram(program, [&](const ir::Function& function, FunctionBuilder& builder) {
        Editor editor(function, builder, number++ == edit.function ? &edit : nullptr);
        editor.DeclareParams();
        return editor.CopyBody();
      }));
  TRY_VOID(ir::Check(edited));
  return edited;
}

// The program without the entry function's result i.
Result<ir::Program> WithoutResult(const ir::Program& program, uint32_t dropped) {
  ir::Program edited = program;
  ir::Function& entry = edited.functions[program.entry.index];
  Inst& last = entry.insts[entry.region(entry.body).insts.back().index];
  Values kept;
  for (uint32_t i = 0; i < last.operands.count; ++i)
    if (i != dropped) kept.push_back(entry.operand(last, i));
  last.operands = {static_cast<uint32_t>(entry.operands.size()),
                   static_cast<uint32_t>(kept.size())};
  entry.operands.insert(entry.operands.end(), kept.begin(), kept.end());
  entry.results.erase(entry.results.begin() + dropped);
  TRY_VOID(ir::Check(edited));
  return edited;
}

class Shrinker {
 public:
  Shrinker(FailingRun run, const std::function<bool(const FailingRun&)>& fails, int most_tries)
      : run_(std::move(run)), fails_(fails), tries_left_(most_tries) {}

  FailingRun Run() {
    bool changed = true;
    while (changed && tries_left_ > 0) {
      changed = DropResults();
      Try(Reachable(run_.program));
      changed |= EditInstructions();
      changed |= SimplifyArguments();
    }
    return std::move(run_);
  }

 private:
  bool Try(Result<ir::Program> program) {
    if (!program || tries_left_ <= 0) return false;
    --tries_left_;
    FailingRun candidate{std::move(*program), run_.arguments};
    if (!fails_(candidate)) return false;
    run_ = std::move(candidate);
    return true;
  }

  bool DropResults() {
    bool changed = false;
    for (size_t i = run_.program.entry_function().results.size(); i-- > 0;)
      changed |= Try(WithoutResult(run_.program, static_cast<uint32_t>(i)));
    return changed;
  }

  bool EditInstructions() {
    bool changed = false;
    for (uint32_t f = static_cast<uint32_t>(run_.program.functions.size()); f-- > 0;)
      for (uint32_t i = static_cast<uint32_t>(run_.program.functions[f].insts.size()); i-- > 0;) {
        for (EditKind kind :
             {EditKind::Drop, EditKind::FirstArm, EditKind::SecondArm, EditKind::UseOperand,
              EditKind::ZeroConstant, EditKind::OneConstant}) {
          if (i >= run_.program.functions[f].insts.size()) break;
          if (!Try(Edited(run_.program, {f, i, kind}))) continue;
          changed = true;
          break;
        }
      }
    return changed;
  }

  // The argument in place of argument i, if the run still fails.
  bool TryArgument(size_t i, exec::Value value) {
    if (tries_left_-- <= 0) return false;
    FailingRun candidate{run_.program, run_.arguments};
    for (exec::Value& other : candidate.arguments)
      if (other.memory && other.memory == run_.arguments[i].memory) other = value;
    candidate.arguments[i] = value;
    if (!fails_(candidate)) return false;
    run_ = std::move(candidate);
    return true;
  }

  bool SimplifyArguments() {
    bool changed = false;
    for (size_t i = 0; i < run_.arguments.size(); ++i) {
      const exec::Value old = run_.arguments[i];
      if (old.type.is_scalar()) {
        exec::Value zero =
            exec::Value::Scalar(old.type, std::vector<uint64_t>(ir::WordsOf(old.type), 0));
        if (!(old == zero)) changed |= TryArgument(i, zero);
      } else if (old.type.is_buffer()) {
        auto zeros = std::make_shared<exec::Memory>(old.memory->element(), old.memory->length());
        if (!(old == exec::Value::Buffer(zeros)))
          changed |= TryArgument(i, exec::Value::Buffer(zeros));
        const exec::Memory& whole = *run_.arguments[i].memory;
        auto half = std::make_shared<exec::Memory>(whole.element(), whole.length() / 2);
        std::copy_n(whole.data(), half->size_bytes(), half->data());
        if (whole.length() > 1) changed |= TryArgument(i, exec::Value::Buffer(half));
      }
    }
    return changed;
  }

  FailingRun run_;
  const std::function<bool(const FailingRun&)>& fails_;
  int tries_left_;
};

}  // namespace

FailingRun Shrink(FailingRun run, const std::function<bool(const FailingRun&)>& fails,
                  int most_tries) {
  return Shrinker(std::move(run), fails, most_tries).Run();
}

}  // namespace frazil::tests
