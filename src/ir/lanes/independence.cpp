// An iteration may run at any time if it touches no element that another one writes. That is shown by giving every
// iteration a window of its own in each written buffer: all accesses of iteration i lie in base + stride * i + [0,
// stride). Buffers that are only collected into by one commuting atomic need no window. Where two parameters might be
// one buffer and a common window does not cover both, the launch has to see that they differ.
//
// Windows are compared as whole numbers although indices wrap. That is right while stride times trips fits 64 bits:
// by the types of what they are made of, because loops that turn so often are really executed, or because an access
// that every iteration makes would have left its buffer, and trapped, before it wrapped. What conditions and bounds of
// loops say is taken only where it holds of whole numbers too.
#include "ir/lanes/independence.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "base/check.h"
#include "ir/lanes/lane_forms.h"
#include "ir/lower/barrier_plan.h"

namespace frazil::ir {
namespace {

struct Touch {
  InstId inst;
  ValueId buffer;
  bool writes = false;
  // A commuting update whose old value nobody reads.
  std::optional<AtomicKind> collects;
  std::optional<IndexForm> index;  // nothing: anywhere
  uint32_t phase = 0;
  bool always = true;  // every iteration makes it
  size_t place = 0;    // what is known there
};

class Collector {
 public:
  Collector(const Program& program, const Function& function, const Inst& parallel)
      : program_(program), function_(function), parallel_(parallel), forms_(function, parallel) {}

  // False with a reason where something is in the way whatever the indices are.
  bool Run() {
    Knowledge start;
    const int64_t low = forms_.Of(function_.operand(parallel_, 0)).constant().value_or(-1);
    if (low == 0 || low == 1) start.executed.push_back(forms_.counter().index);
    Loop(start, parallel_, false);
    for (const LaneForms::Digit& digit : forms_.digits()) {
      if (digit.atom == forms_.counter().index || !digit.extent) continue;
      start.bounds[digit.atom] = {IndexForm::Constant(0), *digit.extent - IndexForm::Constant(1)};
    }
    uses_.assign(function_.values.size(), 0);
    for (ValueId operand : function_.operands) ++uses_[operand.index];
    return Visit(Function::region_of(parallel_, 0), start, true, true);
  }

  LaneForms& forms() { return forms_; }
  const std::vector<Touch>& accesses() const { return accesses_; }
  const Knowledge& KnowledgeAt(const Touch& access) const { return places_[access.place]; }
  uint32_t phases() const { return phase_ + 1; }
  const std::string& why_not() const { return why_not_; }
  Location where() const { return where_; }

 private:
  bool Refuse(const Inst& inst, std::string reason) {
    why_not_ = std::move(reason);
    where_ = inst.location;
    return false;
  }

  // What a turn of a loop knows: its counter's range, and that there is a turn.
  void Loop(Knowledge& knowledge, const Inst& loop, bool runs_whole) {
    const uint32_t counter =
        Function::param_of(function_.region(Function::region_of(loop, 0)), 0).index;
    const bool is_for = loop.op == Op::For;
    if (is_for && (function_.word(loop, 0) <= 0 || function_.values[counter].type == types::U64))
      return;
    Knowledge::Bounds bounds = forms_.BoundsOfLoop(loop);
    const IndexForm high = forms_.Of(forms_.EndOf(loop));
    // From 1 to n there are n - 1 turns, but not from anywhere.
    const int64_t start = bounds.low.constant().value_or(-1);
    const bool by_one = !is_for || function_.word(loop, 0) == 1;
    if ((start == 0 || start == 1) && by_one && runs_whole)
      for (uint32_t atom : FactorsOfTurns(high)) knowledge.executed.push_back(atom);
    AddLess(knowledge, bounds.low, high);
    if (forms_.IsNoLess(bounds.low, knowledge.executed) &&
        forms_.IsNoMore(bounds.high + IndexForm::Constant(1)))
      knowledge.bounds[counter] = std::move(bounds);
  }

  // The factors of a number of turns, if the number is one product of atoms, or an atom and a small constant more: read
  // as signed it is then either what the factors say, or negative, and there is no turn.
  std::vector<uint32_t> FactorsOfTurns(const IndexForm& turns) const {
    std::vector<uint32_t> factors;
    for (const auto& [product, coefficient] : turns.terms()) {
      if (product.empty() && turns.size() == 2 && coefficient < (1u << 20)) continue;
      if (!factors.empty() || product.empty() || coefficient != 1) return {};
      factors = product;
    }
    int bits = 0;
    for (uint32_t atom : factors) bits += forms_.BitsOfAtom(atom);
    const bool fits = factors.size() == 1 || (turns.size() == 1 && bits <= 64);
    return fits ? factors : std::vector<uint32_t>();
  }

  bool Visit(RegionId region, const Knowledge& knowledge, bool always, bool own_phases) {
    size_t place = SIZE_MAX;
    for (InstId id : function_.region(region).insts) {
      const Inst& inst = function_.inst(id);
      const bool is_structure =
          own_phases && inst.op != Op::Parallel && HasBarrier(function_, inst);
      if (is_structure) ++phase_;
      const size_t before = accesses_.size();
      if (!VisitInst(id, knowledge, always, own_phases)) return false;
      if (accesses_.size() > before && inst.regions.count == 0) {
        if (place == SIZE_MAX) places_.push_back(knowledge), place = places_.size() - 1;
        for (size_t i = before; i < accesses_.size(); ++i) accesses_[i].place = place;
      }
      if (is_structure) ++phase_;
    }
    return true;
  }

  bool VisitInst(InstId id, const Knowledge& knowledge, bool always, bool own_phases) {
    const Inst& inst = function_.inst(id);
    switch (inst.op) {
      case Op::Load:
        return Add(id, function_.operand(inst, 0), false, function_.operand(inst, 1), always);
      case Op::Store:
      case Op::AtomicCas:
        return Add(id, function_.operand(inst, 0), true, function_.operand(inst, 1), always);
      case Op::AtomicRmw:
        Add(id, function_.operand(inst, 0), true, function_.operand(inst, 1), always);
        if (!accesses_.empty() && accesses_.back().inst == id)
          accesses_.back().collects = Collects(inst);
        return true;
      case Op::TensorLoad: return Add(id, function_.operand(inst, 0), false, {}, always);
      case Op::TensorStore: return Add(id, function_.operand(inst, 0), true, {}, always);
      case Op::Input:
      case Op::Output:
      case Op::Hint:
      case Op::SpongeInit:
      case Op::SpongeAbsorb:
      case Op::SpongeSqueeze:
      case Op::MerkleStep:
      case Op::Tasm:
        return Refuse(inst, fmt::format("{} takes turns in a stream", Info(inst.op).mnemonic));
      case Op::Barrier:
        if (own_phases) ++phase_;
        return true;
      case Op::Call: return VisitCall(id, always);
      case Op::If: return VisitIf(inst, knowledge, own_phases);
      case Op::For:
      case Op::Parallel:
      case Op::Fold: {
        Knowledge inner = knowledge;
        // Lanes that turn it differently often do not all make what is inside.
        const bool alike = always && IsUniformForm(function_.operand(inst, 0)) &&
                           IsUniformForm(forms_.EndOf(inst));
        Loop(inner, inst, alike);
        return Visit(Function::region_of(inst, 0), inner, alike, own_phases && inst.op == Op::For);
      }
      default:
        for (uint32_t r = 0; r < inst.regions.count; ++r)
          if (!Visit(Function::region_of(inst, r), knowledge, false, own_phases)) return false;
        return true;
    }
  }

  bool IsUniformForm(ValueId value) {
    const std::vector<ValueId> atoms = forms_.Of(value).Atoms();
    return std::ranges::all_of(atoms, [&](ValueId atom) { return forms_.IsUniform(atom.index); });
  }

  std::optional<AtomicKind> Collects(const Inst& inst) const {
    const AtomicKind kind = static_cast<AtomicKind>(function_.word(inst, 0));
    const bool is_float = IsFloat(inst.type.scalar);
    const bool may_reorder = !is_float || function_.word(inst, 1) != 0;
    const bool is_read = uses_[Function::result_of(inst).index] != 0;
    if (kind == AtomicKind::Exchange || !may_reorder || is_read) return std::nullopt;
    return kind;
  }

  // An access of scratch that the iteration itself makes is nobody else's business.
  bool Add(InstId id, ValueId buffer, bool writes, std::optional<ValueId> index, bool always) {
    if (forms_.IsInside(buffer)) return true;
    Touch access{id, buffer, writes, std::nullopt, std::nullopt, phase_, always};
    if (index) access.index = forms_.Of(*index);
    accesses_.push_back(std::move(access));
    return true;
  }

  bool VisitCall(InstId id, bool always) {
    const Inst& inst = function_.inst(id);
    const FuncId callee(static_cast<uint32_t>(function_.word(inst, 0)));
    const Function& target = program_.functions[callee.index];
    if (target.is_prelude) return true;
    std::vector<bool> seen(program_.functions.size(), false);
    if (UsesStreams(callee, seen))
      return Refuse(inst, fmt::format("@{} takes turns in a stream", target.name));
    for (uint32_t i = 0; i < inst.operands.count; ++i) {
      ValueId argument = function_.operand(inst, i);
      if (!function_.type(argument).is_buffer()) continue;
      Add(id, argument, target.param_type(i).access != Access::In, {}, always);
    }
    return true;
  }

  bool UsesStreams(FuncId id, std::vector<bool>& seen) const {
    if (seen[id.index]) return false;
    seen[id.index] = true;
    const Function& function = program_.functions[id.index];
    return std::ranges::any_of(function.insts, [&](const Inst& inst) {
      if (Info(inst.op).effect == Effect::Io) return true;
      return inst.op == Op::Call &&
             UsesStreams(FuncId(static_cast<uint32_t>(function.word(inst, 0))), seen);
    });
  }

  bool VisitIf(const Inst& inst, const Knowledge& knowledge, bool own_phases) {
    for (uint32_t r = 0; r < 2; ++r) {
      Knowledge inner = knowledge;
      AddFacts(inner, function_.operand(inst, 0), r == 0);
      if (!Visit(Function::region_of(inst, r), inner, false, own_phases)) return false;
      if (own_phases && HasBarrier(function_, inst)) ++phase_;
    }
    return true;
  }

  // What a condition says of indices, if it holds or does not.
  void AddFacts(Knowledge& knowledge, ValueId condition, bool holds) {
    InstId def = function_.values[condition.index].def;
    if (!def.valid()) return;
    const Inst& inst = function_.inst(def);
    if (inst.op == (holds ? Op::And : Op::Or)) {
      AddFacts(knowledge, function_.operand(inst, 0), holds);
      AddFacts(knowledge, function_.operand(inst, 1), holds);
      return;
    }
    if (inst.op == Op::Not) return AddFacts(knowledge, function_.operand(inst, 0), !holds);
    if (inst.operands.count != 2 || inst.type != types::Index) return;
    const IndexForm a = forms_.Of(function_.operand(inst, 0)),
                    b = forms_.Of(function_.operand(inst, 1));
    switch (inst.op) {
      case Op::Lt: return holds ? AddLess(knowledge, a, b) : AddAtMost(knowledge, b, a);
      case Op::Le: return holds ? AddAtMost(knowledge, a, b) : AddLess(knowledge, b, a);
      case Op::Gt: return holds ? AddLess(knowledge, b, a) : AddAtMost(knowledge, a, b);
      case Op::Ge: return holds ? AddAtMost(knowledge, b, a) : AddLess(knowledge, a, b);
      default: return;
    }
  }

  // What was compared are values of 64 bits, what is known is of whole numbers.
  void AddAtMost(Knowledge& knowledge, const IndexForm& a, const IndexForm& b) {
    if (forms_.IsNoLess(a, knowledge.executed) && forms_.IsNoMore(b, knowledge.executed))
      knowledge.facts.push_back(b - a);
  }
  void AddLess(Knowledge& knowledge, const IndexForm& a, const IndexForm& b) {
    if (forms_.IsNoLess(a, knowledge.executed) && forms_.IsNoMore(b, knowledge.executed))
      knowledge.facts.push_back(b - a - IndexForm::Constant(1));
  }

  const Program& program_;
  const Function& function_;
  const Inst& parallel_;
  LaneForms forms_;
  std::vector<uint32_t> uses_;
  std::vector<Touch> accesses_;
  std::vector<Knowledge> places_;
  uint32_t phase_ = 0;
  std::string why_not_;
  Location where_;
};

// Do all these accesses stay in windows of their iterations?
class WindowFinder {
 public:
  WindowFinder(Collector& collector, const Inst& parallel)
      : collector_(collector), forms_(collector.forms()), parallel_(parallel) {}

  struct Answer {
    bool found = false;
    SignProver::Conditions conditions;
    const Touch* culprit = nullptr;
    std::string reason;
  };

  Answer Find(const std::vector<const Touch*>& accesses) {
    Answer answer;
    if (!FindStrides(accesses, answer)) return answer;
    // The whole counter moves the index: its parts need not be told apart.
    if (std::optional<IndexForm> stride = WholeStride()) {
      for (SignProver::Conditions* conditions :
           {static_cast<SignProver::Conditions*>(nullptr), &answer.conditions})
        if (Covers(accesses, *stride, conditions, answer)) return Finish(accesses, *stride, answer);
      return answer;
    }
    std::vector<size_t> order(strides_.size());
    std::iota(order.begin(), order.end(), 0);
    if (order.size() > 5) return answer;
    do {
      answer.conditions.clear();
      if (Nests(accesses, order, answer.conditions) &&
          Covers(accesses, strides_[order[0]], &answer.conditions, answer))
        return Finish(accesses, strides_[order.back()], answer);
    } while (std::next_permutation(order.begin(), order.end()));
    return answer;
  }

 private:
  // The common factors of the counter's digits, and what is left of each index.
  bool FindStrides(const std::vector<const Touch*>& accesses, Answer& answer) {
    strides_.clear();
    rests_.clear();
    for (const Touch* access : accesses) {
      answer.culprit = access;
      answer.reason = "its index is not known to differ from iteration to iteration";
      if (!access->index) return false;
      IndexForm rest = *access->index;
      std::vector<IndexForm> strides;
      for (const LaneForms::Digit& digit : forms_.digits()) {
        std::optional<IndexForm> stride = access->index->Coefficient(ValueId(digit.atom));
        if (!stride || stride->size() == 0) return false;
        for (ValueId atom : stride->Atoms())
          if (!forms_.IsUniform(atom.index)) return false;
        strides.push_back(*stride);
        rest = rest.Without(ValueId(digit.atom));
      }
      if (!strides_.empty() && strides_ != strides) {
        answer.reason = "it moves with the iterations at another pace than an earlier access";
        return false;
      }
      strides_ = std::move(strides);
      rests_.push_back(std::move(rest));
    }
    return true;
  }

  std::optional<IndexForm> WholeStride() {
    const IndexForm stride = strides_[0];
    const IndexForm whole = forms_.Of(forms_.counter());
    for (size_t d = 0; d < strides_.size(); ++d) {
      std::optional<IndexForm> weight = whole.Coefficient(ValueId(forms_.digits()[d].atom));
      if (!weight || *weight * stride != strides_[d]) return std::nullopt;
    }
    return stride;
  }

  // Does every rest lie in [base, base + |stride|)?
  bool Covers(const std::vector<const Touch*>& accesses, const IndexForm& stride,
              SignProver::Conditions* conditions, Answer& answer) {
    const IndexForm size = SizeOf(stride);
    for (const IndexForm& candidate : rests_) {
      std::optional<IndexForm> base =
          LowEnd(candidate, collector_.KnowledgeAt(*accesses[&candidate - rests_.data()]));
      if (!base) continue;
      const size_t before = conditions == nullptr ? 0 : conditions->size();
      bool all = true;
      for (size_t i = 0; i < accesses.size() && all; ++i) {
        SignProver prover(forms_, collector_.KnowledgeAt(*accesses[i]), conditions);
        all = prover.IsNonNegative(rests_[i] - *base) &&
              prover.IsNonNegative(*base + size - IndexForm::Constant(1) - rests_[i]);
        if (!all)
          answer.culprit = accesses[i],
          answer.reason = "other iterations may reach the same element";
      }
      if (all) return true;
      if (conditions != nullptr) conditions->resize(before);
    }
    return false;
  }

  // The rest with its own atoms at their lower bounds, as far as that is one expression for all iterations.
  std::optional<IndexForm> LowEnd(const IndexForm& rest, const Knowledge& knowledge) {
    IndexForm low = rest;
    for (int turns = 0; turns < 8; ++turns) {
      std::vector<ValueId> atoms = low.Atoms();
      auto own = std::find_if(atoms.rbegin(), atoms.rend(),
                              [&](ValueId atom) { return !forms_.IsUniform(atom.index); });
      if (own == atoms.rend()) return low;
      auto bounds = knowledge.bounds.find(own->index);
      std::optional<IndexForm> slope = low.Coefficient(*own);
      if (bounds == knowledge.bounds.end() || !slope) return std::nullopt;
      const bool falls = slope->constant().value_or(0) < 0;
      low = low.Without(*own) + *slope * (falls ? bounds->second.high : bounds->second.low);
    }
    return std::nullopt;
  }

  // Which way a stride goes does not matter, only how far: digits are told apart by size.
  static IndexForm SizeOf(const IndexForm& stride) {
    return stride.constant().value_or(0) < 0 ? IndexForm::Constant(0) - stride : stride;
  }

  // Each digit's stride spans all of the digits below it, at every place: a fact of one says nothing of another.
  bool Nests(const std::vector<const Touch*>& accesses, const std::vector<size_t>& order,
             SignProver::Conditions& conditions) {
    for (size_t i = 0; i + 1 < order.size(); ++i) {
      const std::optional<IndexForm>& extent = forms_.digits()[order[i]].extent;
      if (!extent) return false;
      const IndexForm room = SizeOf(strides_[order[i + 1]]) - SizeOf(strides_[order[i]]) * *extent;
      for (size_t a = 0; a < accesses.size(); ++a) {
        if (a > 0 && accesses[a]->place == accesses[a - 1]->place) continue;
        SignProver prover(forms_, collector_.KnowledgeAt(*accesses[a]), &conditions);
        if (!prover.IsNonNegative(room)) return false;
      }
    }
    return true;
  }

  Answer Finish(const std::vector<const Touch*>& accesses, const IndexForm& stride,
                Answer& answer) {
    answer.found = true;
    for (const Touch* access : accesses) {
      const Knowledge& knowledge = collector_.KnowledgeAt(*access);
      if (access->always ? StrideFits(stride, knowledge) : Fits(stride, knowledge)) continue;
      answer.found = false;
      answer.culprit = access;
      answer.reason = "the distance of its elements times the number of iterations may wrap";
    }
    return answer;
  }

  // A distance that itself wraps keeps nothing apart, even where every iteration makes the access.
  bool StrideFits(const IndexForm& stride, const Knowledge& knowledge) const {
    return BitsOfSum(stride, knowledge, 0) <= 63;
  }

  int BitsOfSum(const IndexForm& stride, const Knowledge& knowledge, int counted) const {
    int most = 0, carry = 0;
    for (const auto& [product, coefficient] : stride.terms())
      most = std::max(most, BitsOfTerm(product, coefficient, knowledge, counted));
    while ((size_t{1} << carry) < stride.size()) ++carry;
    return most + carry;
  }

  // Bits of a product, where loops as long as some of its factors are executed inside of the iterations: those factors
  // together with the iterations themselves are at most ExecutedBits. `counted`: bits of the iterations where none is.
  int BitsOfTerm(const std::vector<uint32_t>& product, uint64_t coefficient,
                 const Knowledge& knowledge, int counted) const {
    std::vector<uint32_t> executed = knowledge.executed, others;
    for (uint32_t atom : product) {
      auto found = std::ranges::find(executed, atom);
      if (found != executed.end())
        executed.erase(found);
      else
        others.push_back(atom);
    }
    return (others.size() == product.size() ? counted : ExecutedBits) + BitsOf(others, coefficient);
  }

  bool Fits(const IndexForm& stride, const Knowledge& knowledge) {
    int trip_bits = 0;
    while ((uint64_t{1} << trip_bits) < forms_.MostTurns(parallel_)) ++trip_bits;
    return BitsOfSum(stride, knowledge, trip_bits) <= 64;
  }

  int BitsOf(const std::vector<uint32_t>& product, uint64_t coefficient) const {
    const uint64_t factor = std::min(coefficient, 0 - coefficient);
    int bits = 0;
    while ((uint64_t{1} << bits) < factor) ++bits;
    for (uint32_t atom : product) bits += forms_.BitsOfAtom(atom);
    return bits;
  }

  Collector& collector_;
  LaneForms& forms_;
  const Inst& parallel_;
  std::vector<IndexForm> strides_;  // of the counter's digits
  std::vector<IndexForm> rests_;    // of each access
};

class Judge {
 public:
  Judge(const Program& program, const Function& function, const Inst& parallel)
      : program_(program),
        function_(function),
        collector_(program, function, parallel),
        finder_(collector_, parallel) {}

  Independence Run() {
    if (!collector_.Run()) {
      answer_.why_not = collector_.why_not();
      answer_.where = collector_.where();
      return std::move(answer_);
    }
    answer_.independent = true;
    for (uint32_t phase = 0; phase < collector_.phases() && answer_.independent; ++phase)
      JudgePhase(phase);
    if (!answer_.independent) {
      answer_.disjoint.clear();
      answer_.at_most.clear();
    }
    auto tidy = [](auto& pairs) {
      std::ranges::sort(pairs);
      pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    };
    tidy(answer_.disjoint);
    tidy(answer_.at_most);
    return std::move(answer_);
  }

 private:
  using Accesses = std::vector<const Touch*>;

  bool Refuse(const Touch& access, const std::string& reason) {
    if (!answer_.independent) return false;
    const Inst& inst = function_.inst(access.inst);
    const uint32_t index = access.buffer.index;
    const bool named =
        index < function_.value_names.size() && !function_.value_names[index].empty();
    answer_.independent = false;
    answer_.where = inst.location;
    answer_.why_not =
        fmt::format("{} of %{}: {}", Info(inst.op).mnemonic,
                    named ? function_.value_names[index] : fmt::to_string(index), reason);
    return false;
  }

  void JudgePhase(uint32_t phase) {
    std::map<uint32_t, Accesses> buffers;
    for (const Touch& access : collector_.accesses())
      if (access.phase == phase) buffers[access.buffer.index].push_back(&access);
    for (auto& [buffer, accesses] : buffers)
      if (Writes(accesses) && !JudgeBuffer(accesses)) return;
    for (auto& [a, first] : buffers)
      for (auto& [b, second] : buffers)
        if (a < b && (Writes(first) || Writes(second)) && !JudgePair(first, second)) return;
  }

  static bool Writes(const Accesses& accesses) {
    return std::ranges::any_of(accesses, [](const Touch* access) { return access->writes; });
  }

  // All are the same commuting update.
  static bool OnlyCollects(const Accesses& accesses) {
    return std::ranges::all_of(accesses, [&](const Touch* access) {
      return access->collects && access->collects == accesses[0]->collects;
    });
  }

  bool JudgeBuffer(const Accesses& accesses) {
    if (OnlyCollects(accesses)) return true;
    WindowFinder::Answer found = finder_.Find(accesses);
    if (!found.found)
      return Refuse(found.culprit != nullptr ? *found.culprit : *accesses[0], found.reason);
    answer_.at_most.insert(answer_.at_most.end(), found.conditions.begin(), found.conditions.end());
    return true;
  }

  std::optional<uint32_t> ParamOf(const Touch& access) {
    return collector_.forms().ParamOf(access.buffer.index);
  }

  bool JudgePair(const Accesses& first, const Accesses& second) {
    std::optional<uint32_t> a = ParamOf(*first[0]), b = ParamOf(*second[0]);
    if (!a || !b) return true;  // scratch is nothing but itself
    const bool same_type =
        function_.type(first[0]->buffer).element() == function_.type(second[0]->buffer).element();
    Accesses both = first;
    both.insert(both.end(), second.begin(), second.end());
    if (same_type && OnlyCollects(both)) return true;
    if (same_type) {
      WindowFinder::Answer found = finder_.Find(both);
      const bool holds = std::ranges::all_of(found.conditions, [&](const auto& condition) {
        return std::ranges::find(answer_.at_most, condition) != answer_.at_most.end();
      });
      if (found.found && holds) return true;
    }
    if (&function_ != &program_.entry_function())
      return Refuse(Writes(first) ? *first[0] : *second[0],
                    "the function may be given the same buffer twice");
    answer_.disjoint.emplace_back(*a, *b);
    return true;
  }

  const Program& program_;
  const Function& function_;
  Collector collector_;
  WindowFinder finder_;
  Independence answer_;
};

}  // namespace

Independence IndependenceOf(const Program& program, const Function& function, InstId parallel) {
  CHECK(function.inst(parallel).op == Op::Parallel);
  return Judge(program, function, function.inst(parallel)).Run();
}

}  // namespace frazil::ir
