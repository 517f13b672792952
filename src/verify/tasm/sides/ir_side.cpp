// An IR program as a side: structure. Loops with constant bounds are gone through with a number as their index; `while` can
// be cut before its test.
#include "verify/tasm/sides/ir_side.h"

#include <fmt/core.h>

namespace frazil::verify::tasm {

using ir::Op;

uint32_t MachineWords(ir::Type type) {
  if (!type.is_scalar()) return 1;
  switch (type.scalar) {
    case ir::Scalar::I64:
    case ir::Scalar::U64:
    case ir::Scalar::Index: return 2;
    case ir::Scalar::XField: return 3;
    case ir::Scalar::Digest: return 5;
    case ir::Scalar::F16:
    case ir::Scalar::BF16:
    case ir::Scalar::F32:
    case ir::Scalar::F64:
    case ir::Scalar::Int: return 0;
    default: return 1;
  }
}

namespace {

bool IsRam(const ir::Function& function, ir::ValueId param) {
  return param.index < function.value_names.size() && function.value_names[param.index] == "ram";
}

}  // namespace

std::string Refuses(const ir::Program& program) {
  const ir::Function& entry = program.entry_function();
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    const ir::Type type = entry.param_type(i);
    if (type.is_tensor()) return "tensors are not followed";
    if (type.is_buffer() && !IsRam(entry, entry.param(i)))
      return "buffer parameters other than `ram` are not followed";
    if (type.is_scalar() && MachineWords(type) == 0)
      return "a parameter has no words on the machine";
  }
  return {};
}

IrSide::IrSide(const ir::Program& program, Heads* heads) : program_(program), heads_(heads) {
  const ir::Function& entry = program.entry_function();
  activations_.push_back({&entry, std::vector<Words>(entry.values.size()), {}, {}});
  Enter(entry.body, {});
}

bool IrSide::InRange(Exec& exec, ir::Type type, Term word) const {
  Terms& t = exec.terms();
  const bool is_bool = type.scalar == ir::Scalar::Bool;
  if (!is_bool && !ir::IsFixedInt(type.scalar) && type.scalar != ir::Scalar::Index) return true;
  if (!exec.Require(Below32(word))) return false;
  const int bits = is_bool ? 1 : ir::BitsOf(type);
  if (bits >= 32) return true;
  if (!exec.Require(NonZero(t.Less(word, t.Constant(uint64_t{1} << bits))))) return false;
  // Which follows, and is how 0 and 1 are known.
  return !is_bool || exec.facts().Assume(Zero(t.Mul(word, t.Sub(word, t.Constant(1)))));
}

bool IrSide::Begin(Exec& exec) {
  begun_ = true;
  const tasm::Stream before = state.input;
  const ir::Function& entry = *Now().function;
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    Words& words = Now().values[entry.param(i).index];
    if (entry.param_type(i).is_buffer()) {
      words = {exec.terms().Constant(buffers_.size())};
      buffers_.push_back({true, 1, {}});
      continue;
    }
    for (uint32_t k = 0; k < MachineWords(entry.param_type(i)); ++k)
      words.push_back(exec.Next(state.input, Base::Input));
  }
  for (uint32_t i = 0; i < entry.param_count() && begun_; ++i)
    for (const Term word : Now().values[entry.param(i).index])
      begun_ =
          begun_ && (entry.param_type(i).is_buffer() || InRange(exec, entry.param_type(i), word));
  if (begun_) return true;
  // As if nothing had been read: the step may be taken again, knowing more.
  for (uint32_t i = 0; i < entry.param_count(); ++i) Now().values[entry.param(i).index].clear();
  buffers_.clear();
  state.input = before;
  return false;
}

const IrSide::Words& IrSide::Operand(const ir::Inst& inst, uint32_t i) {
  return Now().values[Now().function->operand(inst, i).index];
}

std::vector<IrSide::Words> IrSide::Operands(const ir::Inst& inst, uint32_t from) {
  std::vector<Words> all;
  for (uint32_t i = from; i < inst.operands.count; ++i) all.push_back(Operand(inst, i));
  return all;
}

void IrSide::Give(const ir::Inst& inst, Words words, uint32_t result) {
  Now().values[ir::Function::result_of(inst, result).index] = std::move(words);
}

void IrSide::GiveAll(Activation& to, const ir::Inst& inst, const std::vector<Words>& results) {
  for (uint32_t i = 0; i < results.size(); ++i)
    to.values[ir::Function::result_of(inst, i).index] = results[i];
}

void IrSide::Enter(ir::RegionId region, ir::InstId owner) {
  Now().regions.push_back({region, owner});
}

Step IrSide::Stuck(const ir::Inst& inst) {
  return {Step::Kind::Stuck, Zero(0),
          fmt::format("`{}` is not followed here", ir::Info(inst.op).mnemonic)};
}

std::vector<uint64_t> IrSide::Key() const {
  std::vector<uint64_t> key;
  for (const Activation& activation : activations_) {
    key.push_back(reinterpret_cast<uintptr_t>(activation.function));
    for (const Region& region : activation.regions) {
      key.push_back((uint64_t{region.id.index} << 32) | region.at);
      key.push_back(region.symbolic ? region.tested : static_cast<uint64_t>(region.i));
    }
  }
  return key;
}

void IrSide::NoteBranch() {
  for (const Activation& activation : activations_) {
    for (const Region& region : activation.regions) {
      if (region.owner.index < activation.function->insts.size()) {
        heads_->branched.insert(
            reinterpret_cast<uintptr_t>(&activation.function->inst(region.owner)));
      }
    }
  }
}

void IrSide::CollectWords(std::vector<Term*>& words) {
  for (Activation& activation : activations_) {
    for (Words& value : activation.values) {
      for (Term& word : value) words.push_back(&word);
    }
  }
  for (Buffer& buffer : buffers_) {
    for (Term& word : buffer.contents) words.push_back(&word);
  }
}

// Behind the instruction; behind the loop if it is a loop's test.
std::vector<uint64_t> IrSide::Rejoin() const {
  const Activation& now = activations_.back();
  const Region& region = now.regions.back();
  const Op op = now.function->inst(now.function->region(region.id).insts[region.at]).op;
  std::vector<uint64_t> key = Key();
  const bool at_end = op == Op::Yield && region.symbolic && region.tests_at_end;
  if (op == Op::Condition || (region.symbolic && !region.tested) || at_end) {
    key.resize(key.size() - 2);
    return key;
  }
  ++key[key.size() - 2];
  return key;
}

// What only one of the two has is of a region that was left.
bool IrSide::Align(Side& other) {
  IrSide& that = static_cast<IrSide&>(other);
  if (buffers_.size() != that.buffers_.size() || begun_ != that.begun_) return false;
  for (size_t i = 0; i < buffers_.size(); ++i) {
    if (buffers_[i].contents.size() != that.buffers_[i].contents.size() ||
        buffers_[i].words != that.buffers_[i].words)
      return false;
  }
  for (size_t i = 0; i < activations_.size(); ++i) {
    for (size_t k = 0; k < activations_[i].regions.size(); ++k) {
      const Region &x = activations_[i].regions[k], &y = that.activations_[i].regions[k];
      if (x.i != y.i || x.end != y.end || x.symbolic != y.symbolic || x.tested != y.tested ||
          x.entering != y.entering)
        return false;
    }
    if (activations_[i].call != that.activations_[i].call) return false;
    std::vector<Words>&mine = activations_[i].values, &theirs = that.activations_[i].values;
    for (size_t k = 0; k < mine.size(); ++k) {
      if (mine[k].size() == theirs[k].size()) continue;
      mine[k].clear();
      theirs[k].clear();
    }
  }
  return true;
}

Step IrSide::Advance(Exec& exec) {
  if (!begun_ && !Begin(exec)) return exec.Take();
  Activation& now = Now();
  Region& region = now.regions.back();
  const ir::InstId id = now.function->region(region.id).insts[region.at];
  const ir::Inst& inst = now.function->inst(id);
  // The head of a `while`: its test region before the first instruction.
  if (region.at == 0 && region.owner.index < now.function->insts.size()) {
    const ir::Inst& owner = now.function->inst(region.owner);
    if (owner.op == Op::While && ir::Function::region_of(owner, 0) == region.id && !passed_ &&
        heads_->cut.contains(reinterpret_cast<uintptr_t>(&owner))) {
      return {Step::Kind::Cut, Zero(0), ""};
    }
    if (region.symbolic && (!region.tested || region.entering)) {
      if (!passed_ && heads_->cut.contains(reinterpret_cast<uintptr_t>(&owner)))
        return {Step::Kind::Cut, Zero(0), ""};
      region.entering = false;
      if (!region.tested) return ForHead(exec, owner);
      if (region.tests_at_end) {
        // True in every run of the loop, whatever a description of it still says of the index.
        const Term index =
            now.values[ir::Function::param_of(now.function->region(region.id), 0).index][0];
        if (!exec.facts().Assume(Below32(index))) return {Step::Kind::Crash, Zero(0), ""};
        exec.facts().Bound(
            index, {static_cast<uint64_t>(region.i), static_cast<uint64_t>(region.end) - 1});
      }
    }
  }
  bool handled = true;
  Step step = Control(exec, inst, id, handled);
  if (!handled) {
    bool known = true;
    if (!Simple(exec, inst, known)) return known ? exec.Take() : Stuck(inst);
    ++Now().regions.back().at;
    step = {};
  }
  if (step.kind == Step::Kind::Continue) passed_ = false;
  return step;
}

Step IrSide::Finish(Exec& exec, const ir::Inst& inst) {
  (void)exec;
  for (const Words& result : Operands(inst))
    state.output.insert(state.output.end(), result.begin(), result.end());
  exit = Exit::Halt;
  return {Step::Kind::End, Zero(0), ""};
}

Step IrSide::Control(Exec& exec, const ir::Inst& inst, ir::InstId id, bool& handled) {
  Activation& now = Now();
  Region& region = now.regions.back();
  bool zero;
  switch (inst.op) {
    case Op::Return: {
      if (activations_.size() == 1) return Finish(exec, inst);
      const std::vector<Words> results = Operands(inst);
      const ir::InstId call = now.call;
      activations_.pop_back();
      GiveAll(Now(), Now().function->inst(call), results);
      return {};
    }
    case Op::Call: {
      const ir::Function& callee =
          program_.functions[static_cast<size_t>(now.function->word(inst, 0))];
      if (activations_.size() > 200) return Stuck(inst);
      const std::vector<Words> arguments = Operands(inst);
      ++region.at;
      activations_.push_back({&callee, std::vector<Words>(callee.values.size()), {}, id});
      for (uint32_t i = 0; i < arguments.size(); ++i)
        Now().values[callee.param(i).index] = arguments[i];
      Enter(callee.body, {});
      return {};
    }
    case Op::Unreachable: return {Step::Kind::Crash, Zero(0), ""};
    case Op::If:
      if (!exec.Know(Zero(One(inst, 0)), zero)) return exec.Take();
      ++region.at;
      Enter(ir::Function::region_of(inst, zero ? 1 : 0), id);
      return {};
    case Op::Switch: {
      const auto cases = now.function->words_of(inst);
      const ir::Type type = now.function->type(now.function->operand(inst, 0));
      if (MachineWords(type) == 2) return Stuck(inst);
      for (uint32_t i = 0; i < cases.size(); ++i) {
        const int64_t value = static_cast<int64_t>(cases[i]);
        if (value < 0) return Stuck(inst);
        const Term difference =
            exec.terms().Sub(One(inst, 0), exec.terms().Constant(static_cast<uint64_t>(value)));
        if (!exec.Know(Zero(difference), zero)) return exec.Take();
        if (!zero) continue;
        ++region.at;
        Enter(ir::Function::region_of(inst, i), id);
        return {};
      }
      ++region.at;
      Enter(ir::Function::region_of(inst, static_cast<uint32_t>(cases.size())), id);
      return {};
    }
    case Op::For: {
      heads_->entered.insert(reinterpret_cast<uintptr_t>(&inst));
      int64_t bounds[2];
      for (uint32_t k = 0; k < 2; ++k) {
        const Words& words = Operand(inst, k);
        uint64_t value = 0;
        for (size_t w = words.size(); w-- > 0;) {
          if (!exec.terms().IsConstant(words[w])) {
            bool known = true;
            if (BeginSymbolicFor(exec, inst, id, known)) return {};
            return known ? exec.Take() : Stuck(inst);
          }
          value = (value << 32) | exec.terms().ConstantOf(words[w]);
        }
        bounds[k] = static_cast<int64_t>(value);
        if (words.size() == 1 && bounds[k] > 0x7fff'ffff) return Stuck(inst);
      }
      const std::vector<Words> carried = Operands(inst, 2);
      if (BeginCutFor(exec, inst, id, bounds)) return {};
      ++region.at;
      if (bounds[0] >= bounds[1]) return GiveAll(now, inst, carried), Step{};
      Enter(ir::Function::region_of(inst, 0), id);
      now.regions.back().i = bounds[0];
      now.regions.back().end = bounds[1];
      for (uint32_t i = 0; i < carried.size(); ++i) {
        now.values[ir::Function::param_of(now.function->region(now.regions.back().id), i + 1)
                       .index] = carried[i];
      }
      now.values[ir::Function::param_of(now.function->region(now.regions.back().id), 0).index] =
          Operand(inst, 0);
      return {};
    }
    case Op::While: {
      heads_->entered.insert(reinterpret_cast<uintptr_t>(&inst));
      const std::vector<Words> carried = Operands(inst);
      ++region.at;
      Enter(ir::Function::region_of(inst, 0), id);
      const ir::Region& test = now.function->region(now.regions.back().id);
      for (uint32_t i = 0; i < carried.size(); ++i)
        now.values[ir::Function::param_of(test, i).index] = carried[i];
      return {};
    }
    case Op::Condition: {
      if (!exec.Know(Zero(One(inst, 0)), zero)) return exec.Take();
      const ir::Inst& loop = now.function->inst(region.owner);
      if (!zero) {
        region.id = ir::Function::region_of(loop, 1);
        region.at = 0;
        return {};
      }
      const ir::Region& test = now.function->region(region.id);
      for (uint32_t i = 0; i < loop.results.count; ++i) {
        now.values[ir::Function::result_of(loop, i).index] =
            now.values[ir::Function::param_of(test, i).index];
      }
      now.regions.pop_back();
      return {};
    }
    case Op::Yield: return Yield(exec, inst);
    default: handled = false; return {};
  }
}

Step IrSide::Yield(Exec& exec, const ir::Inst& inst) {
  Activation& now = Now();
  Region& region = now.regions.back();
  const ir::Inst& owner = now.function->inst(region.owner);
  if (region.symbolic && region.tests_at_end) return NextOfCutFor(exec, inst, owner);
  const std::vector<Words> values = Operands(inst);
  if (owner.op == Op::If || owner.op == Op::Switch) {
    Forget(now, region.id);
    now.regions.pop_back();
    GiveAll(now, owner, values);
    return {};
  }
  if (owner.op == Op::For) Forget(now, region.id);
  if (owner.op == Op::While) {
    for (uint32_t k = 0; k < 2; ++k) Forget(now, ir::Function::region_of(owner, k));
    region.id = ir::Function::region_of(owner, 0);
    region.at = 0;
    const ir::Region& test = now.function->region(region.id);
    for (uint32_t i = 0; i < values.size(); ++i)
      now.values[ir::Function::param_of(test, i).index] = values[i];
    return {};
  }
  if (owner.op != Op::For) return Stuck(owner);
  if (region.symbolic) {
    const ir::Region& body = now.function->region(region.id);
    Words& index = now.values[ir::Function::param_of(body, 0).index];
    index[0] = exec.terms().Add(index[0], exec.terms().Constant(1));
    for (uint32_t i = 0; i < values.size(); ++i)
      now.values[ir::Function::param_of(body, i + 1).index] = values[i];
    region.at = 0;
    region.tested = false;
    return {};
  }
  const int64_t step = now.function->word(owner, 0);
  if (step <= 0) return Stuck(owner);
  int64_t next;
  if (__builtin_add_overflow(region.i, step, &next) || next >= region.end) {
    now.regions.pop_back();
    GiveAll(now, owner, values);
    return {};
  }
  region.i = next;
  region.at = 0;
  const ir::Region& body = now.function->region(region.id);
  Words index = {exec.terms().Constant(static_cast<uint64_t>(region.i) & 0xffff'ffffu)};
  if (MachineWords(now.function->type(ir::Function::param_of(body, 0))) == 2) {
    index.push_back(exec.terms().Constant(static_cast<uint64_t>(region.i) >> 32));
  }
  now.values[ir::Function::param_of(body, 0).index] = std::move(index);
  for (uint32_t i = 0; i < values.size(); ++i)
    now.values[ir::Function::param_of(body, i + 1).index] = values[i];
  return {};
}

// Bounds below 2^32, step 1: from a lower bound that is not above the upper one the index comes to it exactly, so the
// test is that of equality, which needs no induction over an order.
bool IrSide::BeginSymbolicFor(Exec& exec, const ir::Inst& inst, ir::InstId id, bool& known) {
  Terms& t = exec.terms();
  Activation& now = Now();
  if (now.function->word(inst, 0) != 1) return known = false;
  Term bounds[2];
  for (uint32_t k = 0; k < 2; ++k) {
    const Words& words = Operand(inst, k);
    if (words.size() != 2 || !t.IsConstant(words[1]) || t.ConstantOf(words[1]) != 0)
      return known = false;
    bounds[k] = words[0];
  }
  const bool from_zero = t.IsConstant(bounds[0]) && t.ConstantOf(bounds[0]) == 0;
  bool none = false;
  if (!from_zero && !exec.Know(Zero(t.Less(bounds[0], bounds[1])), none)) return false;
  const std::vector<Words> carried = Operands(inst, 2);
  const Words first = Operand(inst, 0);
  ++now.regions.back().at;
  if (none) return GiveAll(now, inst, carried), true;
  Enter(ir::Function::region_of(inst, 0), id);
  Region& region = now.regions.back();
  region.symbolic = true;
  region.tested = region.entering = !from_zero;
  const ir::Region& body = now.function->region(region.id);
  now.values[ir::Function::param_of(body, 0).index] = first;
  for (uint32_t i = 0; i < carried.size(); ++i)
    now.values[ir::Function::param_of(body, i + 1).index] = carried[i];
  return true;
}

// A loop with numbers as its bounds that is to be cut: the index is a word, tested at the end of an iteration as the first is
// known to come. By steps of 1 it comes to the upper bound exactly.
bool IrSide::BeginCutFor(Exec& exec, const ir::Inst& inst, ir::InstId id,
                         const int64_t (&bounds)[2]) {
  Activation& now = Now();
  constexpr int64_t Max = 0xffff'ffff;
  if (!heads_->cut.contains(reinterpret_cast<uintptr_t>(&inst)) || now.function->word(inst, 0) != 1)
    return false;
  if (bounds[0] < 0 || bounds[0] >= bounds[1] || bounds[1] > Max) return false;
  const std::vector<Words> carried = Operands(inst, 2);
  const Words first = Operand(inst, 0);
  ++now.regions.back().at;
  Enter(ir::Function::region_of(inst, 0), id);
  Region& region = now.regions.back();
  region.symbolic = region.tested = region.entering = region.tests_at_end = true;
  region.i = bounds[0];
  region.end = bounds[1];
  const ir::Region& body = now.function->region(region.id);
  now.values[ir::Function::param_of(body, 0).index] = first;
  for (uint32_t i = 0; i < carried.size(); ++i)
    now.values[ir::Function::param_of(body, i + 1).index] = carried[i];
  (void)exec;
  return true;
}

Step IrSide::NextOfCutFor(Exec& exec, const ir::Inst& inst, const ir::Inst& owner) {
  Terms& t = exec.terms();
  Activation& now = Now();
  Region& region = now.regions.back();
  const ir::Region& body = now.function->region(region.id);
  const Term next = t.Add(now.values[ir::Function::param_of(body, 0).index][0], t.Constant(1));
  const Term end = t.Constant(static_cast<uint64_t>(region.end));
  bool done;
  if (!exec.Know(Zero(t.Sub(next, end)), done)) return exec.Take();
  const std::vector<Words> values = Operands(inst);
  Forget(now, region.id);
  if (done) {
    now.regions.pop_back();
    GiveAll(now, owner, values);
    return {};
  }
  now.values[ir::Function::param_of(body, 0).index][0] = next;
  for (uint32_t i = 0; i < values.size(); ++i)
    now.values[ir::Function::param_of(body, i + 1).index] = values[i];
  region.at = 0;
  region.entering = true;
  return {};
}

Step IrSide::ForHead(Exec& exec, const ir::Inst& loop) {
  Activation& now = Now();
  Region& region = now.regions.back();
  const ir::Region& body = now.function->region(region.id);
  const Term index = now.values[ir::Function::param_of(body, 0).index][0];
  bool done;
  if (!exec.Know(Zero(exec.terms().Sub(index, Operand(loop, 1)[0])), done)) return exec.Take();
  passed_ = false;
  if (!done) {
    // It is below the upper bound in every run, whatever a description of the loop still says of it.
    exec.facts().Assume(Below32(index));
    region.tested = true;
    return {};
  }
  std::vector<Words> results;
  for (uint32_t i = 0; i < loop.results.count; ++i) {
    results.push_back(now.values[ir::Function::param_of(body, i + 1).index]);
  }
  now.regions.pop_back();
  GiveAll(now, loop, results);
  return {};
}

void IrSide::Forget(Activation& now, ir::RegionId region) {
  const ir::Function& function = *now.function;
  for (const ir::InstId id : function.region(region).insts) {
    const ir::Inst& inst = function.inst(id);
    for (uint32_t i = 0; i < inst.results.count; ++i)
      now.values[ir::Function::result_of(inst, i).index].clear();
    for (uint32_t k = 0; k < inst.regions.count; ++k) {
      const ir::RegionId inner = ir::Function::region_of(inst, k);
      const ir::Region& of = function.region(inner);
      for (uint32_t i = 0; i < of.params.count; ++i)
        now.values[ir::Function::param_of(of, i).index].clear();
      Forget(now, inner);
    }
  }
}

std::unique_ptr<Side> MakeIrSide(const ir::Program& program, Heads* heads) {
  return std::make_unique<IrSide>(program, heads);
}

}  // namespace frazil::verify::tasm
