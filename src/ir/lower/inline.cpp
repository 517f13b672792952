// A function's body is one region that ends in its only `return`, so a call is the callee's instructions with its
// parameters bound to the arguments; no jump has to be invented.
#include "ir/lower/inline.h"

#include <vector>

#include "ir/builder.h"
#include "ir/clone.h"

namespace frazil::ir {
namespace {

std::vector<FuncId> CalleesOf(const Function& function) {
  std::vector<FuncId> callees;
  for (const Inst& inst : function.insts)
    if (inst.op == Op::Call)
      callees.push_back(FuncId(static_cast<uint32_t>(function.word(inst, 0))));
  return callees;
}

bool HasTensors(const Function& function) {
  for (const ValueInfo& value : function.values)
    if (value.type.is_tensor()) return true;
  return false;
}

class Plan {
 public:
  explicit Plan(const Program& program) : program_(program) {
    size_t count = program.functions.size();
    for (const Function& function : program.functions) callees_.push_back(CalleesOf(function));
    inlinable_.resize(count);
    for (size_t f = 0; f < count; ++f) {
      const Function& function = program.functions[f];
      inlinable_[f] =
          !function.is_prelude && !HasTensors(function) && !ReachesItself(static_cast<uint32_t>(f));
    }
    Keep();
  }

  bool inlines(FuncId callee) const { return inlinable_[callee.index]; }
  bool keeps(uint32_t function) const { return new_ids_[function].valid(); }
  FuncId new_id(FuncId old_id) const { return new_ids_[old_id.index]; }

 private:
  bool ReachesItself(uint32_t start) const {
    std::vector<bool> seen(program_.functions.size());
    std::vector<uint32_t> queue = {start};
    while (!queue.empty()) {
      uint32_t f = queue.back();
      queue.pop_back();
      for (FuncId callee : callees_[f]) {
        if (callee.index == start) return true;
        if (seen[callee.index]) continue;
        seen[callee.index] = true;
        queue.push_back(callee.index);
      }
    }
    return false;
  }

  // The entry, and whatever is still called by what is reached from it.
  void Keep() {
    size_t count = program_.functions.size();
    std::vector<bool> seen(count), kept(count);
    std::vector<uint32_t> queue = {program_.entry.index};
    kept[program_.entry.index] = true;
    seen[program_.entry.index] = true;
    while (!queue.empty()) {
      uint32_t f = queue.back();
      queue.pop_back();
      for (FuncId callee : callees_[f]) {
        // A prelude function keeps its calls as they are.
        if (!inlinable_[callee.index] || program_.functions[f].is_prelude)
          kept[callee.index] = true;
        if (seen[callee.index]) continue;
        seen[callee.index] = true;
        queue.push_back(callee.index);
      }
    }
    new_ids_.resize(count);
    uint32_t next = 0;
    for (size_t f = 0; f < count; ++f)
      if (kept[f]) new_ids_[f] = FuncId(next++);
  }

  const Program& program_;
  std::vector<std::vector<FuncId>> callees_;
  std::vector<bool> inlinable_;
  std::vector<FuncId> new_ids_;
};

class Inliner : public Cloner {
 public:
  Inliner(const Program& program, const Plan& plan, const Function& source,
          FunctionBuilder& builder, const Limits& limits)
      : Cloner(source, builder), program_(program), plan_(plan), limits_(limits) {}

  // The body in place of a call: everything but its `return`, whose operands are the results.
  Result<Values> CopyInPlace(std::span<const ValueId> arguments) {
    for (uint32_t i = 0; i < arguments.size(); ++i) Bind(source_.param(i), arguments[i]);
    std::span<const InstId> insts = source_.region(source_.body).insts;
    TRY_VOID(CopyInsts(insts.first(insts.size() - 1)));
    return GetAll(source_.operands_of(source_.inst(insts.back())));
  }

 protected:
  FuncId MapFunction(FuncId id) const override { return plan_.new_id(id); }

  Result<void> Visit(const Inst& inst) override {
    if (builder_.function().insts.size() > limits_.program_insts)
      return Fail(Diag::LimitReached,
                  "the program is too large after its calls were inlined (--max-insts)",
                  inst.location);
    if (inst.op != Op::Call) return CopyInst(inst);
    FuncId callee(static_cast<uint32_t>(source_.word(inst, 0)));
    if (source_.is_prelude || !plan_.inlines(callee)) return CopyInst(inst);
    Inliner body(program_, plan_, program_.functions[callee.index], builder_, limits_);
    Values results = TRY(body.CopyInPlace(GetAll(source_.operands_of(inst))));
    for (uint32_t i = 0; i < results.size(); ++i) Bind(Function::result_of(inst, i), results[i]);
    return {};
  }

 private:
  const Program& program_;
  const Plan& plan_;
  const Limits& limits_;
};

}  // namespace

Result<Program> InlineCalls(const Program& program, const Limits& limits) {
  Plan plan(program);
  Program out;
  out.data = program.data;
  for (uint32_t f = 0; f < program.functions.size(); ++f) {
    if (!plan.keeps(f)) continue;
    const Function& function = program.functions[f];
    FunctionBuilder builder(out, function.name, std::span<const Type>{}, function.results);
    builder.function().is_prelude = function.is_prelude;
    Inliner copy(program, plan, function, builder, limits);
    copy.DeclareParams();
    TRY_VOID(copy.CopyBody());
    builder.Finish();
  }
  out.entry = plan.new_id(program.entry);
  return out;
}

}  // namespace frazil::ir
