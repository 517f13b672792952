#include "ir/facts/calls.h"

#include <algorithm>
#include <utility>

namespace frazil::ir {
namespace {

uint32_t CalleeOf(const Function& function, const Inst& call) {
  return static_cast<uint32_t>(function.word(call, 0));
}

// Tarjan's components with a stack of its own; they come out callees first.
class CallOrder {
 public:
  explicit CallOrder(CallGraph& calls)
      : calls_(calls),
        number_(calls.callees.size(), 0),
        low_(calls.callees.size(), 0),
        on_stack_(calls.callees.size(), false) {}

  void From(uint32_t entry) {
    Open(entry);
    while (!frames_.empty()) {
      auto& [f, next] = frames_.back();
      if (next < calls_.callees[f].size()) {
        const uint32_t callee = calls_.callees[f][next++];
        calls_.called[callee] = true;
        if (number_[callee] == 0)
          Open(callee);
        else if (on_stack_[callee])
          low_[f] = std::min(low_[f], number_[callee]);
        continue;
      }
      const uint32_t done = f;
      Close(done);
      frames_.pop_back();
      if (!frames_.empty())
        low_[frames_.back().first] = std::min(low_[frames_.back().first], low_[done]);
    }
  }

 private:
  void Open(uint32_t f) {
    number_[f] = low_[f] = ++count_;
    on_stack_[f] = true;
    stack_.push_back(f);
    frames_.push_back({f, 0});
    calls_.reached[f] = true;
  }

  void Close(uint32_t f) {
    if (low_[f] != number_[f]) return;
    const std::vector<uint32_t>& callees = calls_.callees[f];
    const bool cycle = stack_.back() != f || std::ranges::find(callees, f) != callees.end();
    uint32_t member;
    do {
      member = stack_.back();
      stack_.pop_back();
      on_stack_[member] = false;
      calls_.recursive[member] = cycle;
      calls_.order.push_back(FuncId(member));
    } while (member != f);
  }

  CallGraph& calls_;
  std::vector<uint32_t> number_, low_;
  std::vector<bool> on_stack_;
  std::vector<uint32_t> stack_;
  std::vector<std::pair<uint32_t, size_t>> frames_;
  uint32_t count_ = 0;
};

}  // namespace

CallGraph FindCalls(const Program& program) {
  const size_t count = program.functions.size();
  CallGraph calls;
  calls.callees.resize(count);
  calls.reached.assign(count, false);
  calls.called.assign(count, false);
  calls.recursive.assign(count, false);
  for (size_t f = 0; f < count; ++f) {
    const Function& function = program.functions[f];
    for (const Inst& inst : function.insts)
      if (inst.op == Op::Call) calls.callees[f].push_back(CalleeOf(function, inst));
  }
  CallOrder(calls).From(program.entry.index);
  return calls;
}

void SpreadToCallers(const CallGraph& calls, std::vector<bool>& holds) {
  for (bool changed = true; changed;) {
    changed = false;
    for (FuncId id : calls.order) {
      for (uint32_t callee : calls.callees[id.index]) {
        if (!holds[callee] || holds[id.index]) continue;
        holds[id.index] = true;
        changed = true;
      }
    }
  }
}

bool MayBeStopped(const Program& program, const Function& function, bool metered) {
  if (function.is_prelude) return false;
  return std::ranges::any_of(function.insts, [&](const Inst& inst) {
    if (inst.op == Op::While) return true;
    if (inst.op == Op::For || inst.op == Op::Parallel) return metered;
    return inst.op == Op::Call && !program.functions[CalleeOf(function, inst)].is_prelude;
  });
}

}  // namespace frazil::ir
