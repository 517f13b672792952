// A Triton VM program as a side: the instruction pointer and the jump stack are concrete, values are terms.
#include "verify/tasm/sides/side.h"

namespace frazil::verify::tasm {

using machines::tasm::Opcode;

namespace {

class TasmSide final : public Side {
 public:
  TasmSide(const machines::tasm::Program& program, bool fragment, Heads* heads,
           const std::vector<Term>* elements)
      : program_(program), fragment_(fragment), heads_(heads), elements_(elements) {}

  std::unique_ptr<Side> Clone() const override { return std::make_unique<TasmSide>(*this); }

  Step Advance(Exec& exec) override {
    if (heads_->cut.contains(at_) && !passed_ && !jumps_.empty() && jumps_.back().second == at_) {
      return {Step::Kind::Cut, Zero(0), ""};
    }
    if (at_ >= program_.code.size())
      return fragment_ && jumps_.empty() ? Leave(Exit::FellOff) : Crash();
    const auto& instruction = program_.code[at_];
    const Step step = Execute(exec, instruction);
    if (step.kind == Step::Kind::Continue) passed_ = false;
    return step;
  }

  std::vector<uint64_t> Key() const override {
    std::vector<uint64_t> key = {at_};
    for (auto [origin, destination] : jumps_) key.push_back((uint64_t{origin} << 32) | destination);
    return key;
  }

  std::vector<uint64_t> Rejoin() const override {
    if (at_ >= program_.code.size()) return {};
    const Opcode op = program_.code[at_].op;
    std::vector<uint64_t> key = Key();
    // A loop that goes around or ends, or a way out of a function: behind the call, on either way.
    auto leaves = [&](uint64_t at) {
      if (at >= program_.code.size()) return false;
      const Opcode next = program_.code[at].op;
      return next == Opcode::Recurse || next == Opcode::Return || next == Opcode::RecurseOrReturn;
    };
    const bool second = at_ + 2 < program_.code.size() && program_.code[at_ + 2].op == Opcode::Skiz;
    if (op == Opcode::RecurseOrReturn ||
        (op == Opcode::Skiz && (leaves(at_ + 1) || (second && leaves(at_ + 3))))) {
      if (jumps_.empty()) return {};
      key.pop_back();
      key[0] = jumps_.back().first;
      return key;
    }
    key[0] += op == Opcode::Skiz ? 2 : 1;
    // Two ways are two skiz with calls: only behind both is the stack of one height.
    if (op == Opcode::Skiz && second) key[0] += 2;
    return key;
  }

  void NoteBranch() override {
    for (auto [origin, destination] : jumps_) heads_->branched.insert(destination);
  }

 private:
  Step Crash() const { return {Step::Kind::Crash, Zero(0), ""}; }
  Step Leave(Exit how) {
    exit = how;
    return {Step::Kind::End, Zero(0), ""};
  }

  Step Execute(Exec& exec, const machines::tasm::Instruction& instruction) {
    switch (instruction.op) {
      case Opcode::Halt: return Leave(Exit::Halt);
      case Opcode::Skiz: return Skiz(exec);
      case Opcode::Call:
        if (jumps_.size() >= MaxJumps)
          return {Step::Kind::Stuck, Zero(0), "calls are nested too deeply"};
        jumps_.emplace_back(at_ + 1, static_cast<uint32_t>(instruction.argument));
        at_ = static_cast<uint32_t>(instruction.argument);
        if (GoesAround(at_)) heads_->entered.insert(at_);
        return {};
      case Opcode::Return: return Return(Exit::Return);
      case Opcode::Recurse:
        if (jumps_.empty()) return fragment_ ? Leave(Exit::Recurse) : Crash();
        Again();
        return {};
      case Opcode::RecurseOrReturn: {
        if (jumps_.empty()) return fragment_ ? Leave(Exit::RecurseOrReturn) : Crash();
        bool equal;
        const Term difference = exec.terms().Sub(exec.Top(state, 5), exec.Top(state, 6));
        if (!exec.Know(Zero(difference), equal)) return exec.Take();
        if (equal) return Return(Exit::Return);
        Again();
        return {};
      }
      default: {
        Step step = exec.Execute(state, instruction.op, instruction.argument);
        if (elements_ != nullptr && (*elements_)[at_] != NoTerm)
          Patch(exec, instruction, (*elements_)[at_]);
        if (step.kind == Step::Kind::Continue) ++at_;
        return step;
      }
    }
  }

  // The top is what it would be with the term in place of the number.
  void Patch(Exec& exec, const machines::tasm::Instruction& instruction, Term element) {
    Terms& t = exec.terms();
    exec.Set(state, 0, t.Add(exec.Top(state, 0), t.Sub(element, t.Constant(instruction.argument))));
  }

  // Whether the code from here on comes to a `recurse` before it is left.
  bool GoesAround(uint32_t from) const {
    for (uint32_t i = from; i < program_.code.size(); ++i) {
      const Opcode op = program_.code[i].op;
      if (op == Opcode::Recurse || op == Opcode::RecurseOrReturn) return true;
      const bool skipped = i > from && program_.code[i - 1].op == Opcode::Skiz;
      if ((op == Opcode::Return || op == Opcode::Halt) && !skipped) return false;
    }
    return false;
  }

  void Again() {
    at_ = jumps_.back().second;
    heads_->entered.insert(at_);
  }

  Step Return(Exit outermost) {
    if (jumps_.empty()) return fragment_ ? Leave(outermost) : Crash();
    at_ = jumps_.back().first;
    jumps_.pop_back();
    return {};
  }

  Step Skiz(Exec& exec) {
    if (!fragment_ && state.stack.size() <= 16) return Crash();
    bool zero;
    if (!exec.Know(Zero(exec.Top(state, 0)), zero)) return exec.Take();
    if (zero && at_ + 1 >= program_.code.size()) {
      if (fragment_) return {Step::Kind::Stuck, Zero(0), "skiz at the end of a fragment"};
      return Crash();
    }
    exec.Drop(state, 1);
    state.lowest = std::min(state.lowest, state.Height());
    at_ += zero ? 2 : 1;
    return {};
  }

  static constexpr size_t MaxJumps = 4096;

  const machines::tasm::Program& program_;
  bool fragment_;
  Heads* heads_;
  const std::vector<Term>* elements_;
  uint32_t at_ = 0;
  std::vector<std::pair<uint32_t, uint32_t>> jumps_;  // where to return to, where it was called
};

}  // namespace

std::unique_ptr<Side> MakeTasmSide(const machines::tasm::Program& program, bool fragment,
                                   Heads* heads, const std::vector<Term>* elements) {
  return std::make_unique<TasmSide>(program, fragment, heads, elements);
}

}  // namespace frazil::verify::tasm
