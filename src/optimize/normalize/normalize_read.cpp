// Runs a program on terms. Every pass touches only its own elements, so that its iterations cannot see each other and
// one symbolic iteration is all of them; anything else is refused by name.
#include <array>

#include <fmt/format.h>

#include "ir/lanes/plain_fold.h"
#include "optimize/fold.h"
#include "optimize/normalize/normalize_state.h"
#include "optimize/traps.h"

namespace frazil::optimize {
namespace {

using namespace ir::names;
using Kind = NormalTerm::Kind;

class Reader {
 public:
  Reader(const ir::Program& program, NormalTerms terms)
      : program_(program),
        function_(program.entry_function()),
        state_{.terms = std::move(terms)},
        terms_(state_.terms),
        values_(function_.values.size(), NoTerm) {}

  Result<NormalState> Run() {
    if (!function_.results.empty()) return Refuse("the program returns values", {});
    index_ = terms_.Leaf(Kind::Index, ir::types::Index);
    zero_ = terms_.Constant(ir::types::Index, std::array<uint64_t, 1>{0});
    const std::array<TermId, 2> own = {index_, zero_};
    first_ = terms_.Apply(Op::Eq, ir::types::Index, ir::types::Bool, {}, own);
    for (uint32_t i = 0; i < function_.param_count(); ++i) TRY_VOID(Declare(i));
    for (ir::InstId id : function_.region(function_.body).insts)
      TRY_VOID(Uniform(function_.inst(id)));
    for (const auto& [param, buffer] : by_param_) state_.buffers[param] = memory_[buffer];
    return std::move(state_);
  }

 private:
  static std::unexpected<Error> Refuse(std::string why, Location where) {
    return Fail(Diag::NotACircuit, std::move(why), where);
  }
  std::unexpected<Error> Refuse(const Inst& inst, std::string_view why) const {
    return Refuse(fmt::format("{}: {}", ir::Info(inst.op).mnemonic, why), inst.location);
  }

  Result<void> Declare(uint32_t i) {
    const Type type = function_.param_type(i);
    const ValueId param = function_.param(i);
    if (type.is_tensor()) return Refuse("a parameter is a tensor", {});
    if (type.is_scalar()) {
      values_[param.index] = terms_.Leaf(Kind::Param, type, i);
      return {};
    }
    by_param_[i] = param.index;
    params_[param.index] = i;
    memory_[param.index] = terms_.Leaf(Kind::Slot, type.element(), i);
    return {};
  }

  Result<TermId> Term(const Inst& inst, uint32_t operand) const {
    const TermId term = values_[function_.operand(inst, operand).index];
    if (term == NoTerm) return Refuse(inst, "an operand is neither a scalar nor a whole buffer");
    return term;
  }
  void Define(const Inst& inst, TermId term) {
    values_[ir::Function::result_of(inst).index] = term;
  }

  // --- outside of passes ------------------------------------------------------------------------------------
  Result<void> Uniform(const Inst& inst) {
    switch (inst.op) {
      case Op::Return: return {};
      case Op::Parallel: return Pass(inst);
      case Op::TensorLoad: return LoadTensor(inst);
      case Op::TensorStore: return StoreTensor(inst);
      case Op::Map: return Map(inst);
      case Op::Reduce: return Reduce(inst);
      case Op::Fold: return Fold(inst);
      case Op::If: return WithElements(inst);
      case Op::Iota: {
        TRY_VOID(CheckShape(inst, inst.type));
        const Type element = inst.type.element();
        const bool is_index = element == ir::types::Index;
        Define(inst, is_index
                         ? index_
                         : terms_.Apply(Op::Cast, element, element, {}, std::span(&index_, 1)));
        return {};
      }
      case Op::Extract:
      case Op::Broadcast:
        if (inst.op == Op::Extract ? inst.operands.count != 1
                                   : !function_.type(function_.operand(inst, 0)).is_scalar())
          return Refuse(inst, "not of a whole slot");
        if (inst.op == Op::Broadcast)
          TRY_VOID(CheckShape(inst, function_.type(ir::Function::result_of(inst))));
        Define(inst, TRY(Term(inst, 0)));
        return {};
      case Op::Alloc: {
        TRY_VOID(SetExtent(inst, TRY(Term(inst, 0))));
        state_.has_rows = true;
        const std::vector<uint64_t> zero(ir::WordsOf(inst.type), 0);
        memory_[ir::Function::result_of(inst).index] = terms_.Constant(inst.type, zero);
        return {};
      }
      case Op::Load: {
        if (TRY(Term(inst, 1)) != zero_)
          return Refuse(inst, "outside of a pass only element 0 is read");
        state_.touches_zero = true;
        Define(inst, AtZero(TRY(Read(inst, 0))));
        return {};
      }
      case Op::Store: {
        if (TRY(Term(inst, 1)) != zero_)
          return Refuse(inst, "outside of a pass only element 0 is written");
        state_.touches_zero = true;
        const TermId value = TRY(Term(inst, 2)), rest = TRY(Read(inst, 0));
        if (!terms_[value].uniform) return Refuse(inst, "the value is not uniform");
        const std::array<TermId, 3> parts = {first_, value, rest};
        TRY_VOID(Write(inst, terms_.Apply(Op::Select, inst.type, inst.type, {}, parts)));
        headed_.insert(function_.operand(inst, 0).index);
        return {};
      }
      default: return Scalar(inst);
    }
  }

  Result<void> Scalar(const Inst& inst) {
    if (inst.op == Op::Const) {
      Define(inst, terms_.Constant(inst.type, function_.words_of(inst)));
      return {};
    }
    const ir::OpInfo& info = ir::Info(inst.op);
    if (info.effect != ir::Effect::Pure || MayTrap(function_, inst) || info.signature == "custom")
      return Refuse(inst, "has no place in a map or a reduction");
    std::vector<TermId> children;
    for (uint32_t i = 0; i < inst.operands.count; ++i) children.push_back(TRY(Term(inst, i)));
    const Type result = function_.type(ir::Function::result_of(inst));
    Define(inst, terms_.Apply(inst.op, inst.type, result, function_.words_of(inst), children));
    return {};
  }

  Result<void> SetExtent(const Inst& inst, TermId extent) {
    if (state_.extent == NoTerm) state_.extent = extent;
    if (state_.extent != extent) return Refuse(inst, "passes of different lengths");
    return {};
  }

  // --- memory -----------------------------------------------------------------------------------------------------
  Result<TermId> Read(const Inst& inst, uint32_t operand) {
    const ValueId buffer = function_.operand(inst, operand);
    const auto found = memory_.find(buffer.index);
    if (found == memory_.end()) return Refuse(inst, "no buffer of the kernel");
    if (const auto param = params_.find(buffer.index); param != params_.end())
      state_.used.insert(param->second);
    return found->second;
  }

  Result<void> Write(const Inst& inst, TermId value) {
    const ValueId buffer = function_.operand(inst, 0);
    if (!memory_.contains(buffer.index)) return Refuse(inst, "no buffer of the kernel");
    if (const auto param = params_.find(buffer.index); param != params_.end()) {
      state_.used.insert(param->second);
      state_.written.insert(param->second);
    }
    memory_[buffer.index] = value;
    return {};
  }

  // A pass over a slot. If its element 0 was written on its own: without elements the pass does not see it.
  void SeesHead(ValueId buffer) {
    state_.nonempty |= headed_.contains(buffer.index);
    if (const auto param = params_.find(buffer.index); param != params_.end())
      state_.covered.insert(param->second);
  }

  // --- passes -------------------------------------------------------------------------------------------------------
  Result<void> Pass(const Inst& inst) {
    if (TRY(Term(inst, 0)) != zero_) return Refuse(inst, "a pass starts at element 0");
    TRY_VOID(SetExtent(inst, TRY(Term(inst, 1))));
    const ir::Region& body = function_.region(ir::Function::region_of(inst, 0));
    values_[ir::Function::param_of(body, 0).index] = index_;
    for (ir::InstId id : body.insts) TRY_VOID(Element(function_.inst(id)));
    return {};
  }

  // Both sides run, on memories of their own; what they leave is chosen by the condition. Under the conditions of the
  // normal form no access traps, so running a side that is not taken shows nowhere.
  Result<void> Branch(const Inst& inst) {
    const TermId condition = TRY(Term(inst, 0));
    const std::map<uint32_t, TermId> before = memory_;
    std::map<uint32_t, TermId> after[2];
    std::vector<TermId> yields[2];
    for (uint32_t side : {0u, 1u}) {
      memory_ = before;
      for (ir::InstId id : function_.region(ir::Function::region_of(inst, side)).insts) {
        const Inst& step = function_.inst(id);
        if (step.op != Op::Yield) {
          TRY_VOID(Element(step));
          continue;
        }
        for (uint32_t k = 0; k < step.operands.count; ++k)
          yields[side].push_back(TRY(Term(step, k)));
      }
      after[side] = memory_;
    }
    const auto choose = [&](TermId a, TermId b) {
      const std::array<TermId, 3> parts = {condition, a, b};
      return a == b ? a : terms_.Apply(Op::Select, terms_[a].result, terms_[a].result, {}, parts);
    };
    for (auto& [buffer, term] : memory_) term = choose(after[0].at(buffer), after[1].at(buffer));
    for (uint32_t k = 0; k < inst.results.count; ++k)
      values_[ir::Function::result_of(inst, k).index] = choose(yields[0][k], yields[1][k]);
    return {};
  }

  Result<void> Element(const Inst& inst) {
    if (inst.op == Op::Yield) return {};
    if (inst.op == Op::If) return Branch(inst);
    if (inst.op != Op::Load && inst.op != Op::Store) return Scalar(inst);
    if (TRY(Term(inst, 1)) != index_)
      return Refuse(inst, "an iteration touches elements other than its own");
    SeesHead(function_.operand(inst, 0));
    if (inst.op == Op::Store) {
      headed_.erase(function_.operand(inst, 0).index);
      return Write(inst, TRY(Term(inst, 2)));
    }
    Define(inst, TRY(Read(inst, 0)));
    return {};
  }

  // --- whole slots as tensors ---------------------------------------------------------------------------------------
  // Rank 1 over the extent, or rank 0.
  Result<void> CheckShape(const Inst& inst, Type tensor) {
    const ir::Shape& shape = function_.shape(tensor);
    if (shape.empty()) return {};
    if (shape.size() != 1 || !shape[0].is_symbol())
      return Refuse(inst, "a shape other than the extent");
    const ValueId param = function_.param(shape[0].param());
    TRY_VOID(SetExtent(inst, values_[param.index]));
    state_.has_rows = true;
    state_.extent_param = shape[0].param();
    return {};
  }

  Result<void> LoadTensor(const Inst& inst) {
    TRY_VOID(CheckShape(inst, inst.type));
    const TermId all = TRY(Read(inst, 0));
    const bool one = function_.shape(inst.type).empty();
    state_.touches_zero |= one;
    if (!one) SeesHead(function_.operand(inst, 0));
    Define(inst, one ? AtZero(all) : all);
    return {};
  }

  Result<void> StoreTensor(const Inst& inst) {
    const Type tensor = function_.type(function_.operand(inst, 1));
    TRY_VOID(CheckShape(inst, tensor));
    if (function_.shape(tensor).empty()) return Refuse(inst, "of one element");
    SeesHead(function_.operand(inst, 0));
    headed_.erase(function_.operand(inst, 0).index);
    return Write(inst, TRY(Term(inst, 1)));
  }

  Result<void> Map(const Inst& inst) {
    TRY_VOID(CheckShape(inst, function_.type(ir::Function::result_of(inst))));
    const ir::Region& region = function_.region(ir::Function::region_of(inst, 0));
    for (uint32_t i = 0; i < inst.operands.count; ++i)
      values_[ir::Function::param_of(region, i).index] = TRY(Term(inst, i));
    for (ir::InstId id : region.insts) {
      const Inst& step = function_.inst(id);
      if (step.op != Op::Yield) {
        TRY_VOID(Scalar(step));
        continue;
      }
      Define(inst, TRY(Term(step, 0)));
    }
    return {};
  }

  Result<void> Reduce(const Inst& inst) {
    const Type operand = function_.type(function_.operand(inst, 0));
    TRY_VOID(CheckShape(inst, operand));
    if (function_.shape(operand).empty()) return Refuse(inst, "of one element");
    Define(inst, terms_.Reduce(operand.element(), function_.words_of(inst), TRY(Term(inst, 0))));
    return {};
  }

  // --- folds -----------------------------------------------------------------------------------------------------
  Result<void> Fold(const Inst& inst) {
    const ir::InstId id = function_.values[ir::Function::result_of(inst).index].def;
    const std::optional<ir::PlainFold> found = ir::ReadPlainFold(program_, id);
    if (!found)
      return Refuse(inst, "its elements are more than loads at their index and computing");
    const ir::PlainFold& fold = *found;
    const TermId count = values_[fold.count.index];
    if (count == NoTerm) return Refuse(inst, "the number of elements is no uniform scalar");
    TRY_VOID(SetExtent(inst, count));
    if (terms_[count].kind == Kind::Param)
      state_.extent_param = static_cast<uint32_t>(terms_[count].words[0]);
    values_[fold.index.index] = index_;
    for (ir::InstId id : fold.element) TRY_VOID(Element(function_.inst(id)));
    const std::array<uint64_t, 4> order = {static_cast<uint64_t>(fold.kind), 0, ir::FoldChains,
                                           ir::FoldBlock};
    Define(inst, terms_.Reduce(fold.type, order, values_[fold.value.index]));
    return {};
  }

  // What happens only if there are elements: all of it, on the condition that there are.
  Result<void> WithElements(const Inst& inst) {
    const ir::InstId def = function_.values[function_.operand(inst, 0).index].def;
    const bool is_test = def.valid() && function_.inst(def).op == Op::Gt &&
                         function_.inst(def).type == ir::types::Index;
    const auto insts = [&](uint32_t side) -> const auto& {
      return function_.region(ir::Function::region_of(inst, side)).insts;
    };
    if (!is_test || TRY(Term(function_.inst(def), 1)) != zero_ || inst.results.count != 0 ||
        (inst.regions.count == 2 && insts(1).size() != 1))
      return Refuse(inst, "has no place in a map or a reduction");
    TRY_VOID(SetExtent(inst, TRY(Term(function_.inst(def), 0))));
    state_.nonempty = true;
    for (ir::InstId id : insts(0))
      if (function_.inst(id).op != Op::Yield) TRY_VOID(Uniform(function_.inst(id)));
    return {};
  }

  // The term for element 0: terms are made after their children, so one walk upwards does it.
  TermId AtZero(TermId root) {
    if (terms_[root].uniform) return root;
    std::vector<bool> needed(root + 1);
    needed[root] = true;
    for (TermId id = root + 1; id-- > 0;) {
      if (!needed[id] || terms_[id].uniform) continue;
      for (TermId child : terms_[id].children) needed[child] = true;
    }
    std::vector<TermId> at_zero(root + 1, NoTerm);
    for (TermId id = 0; id <= root; ++id) {
      if (!needed[id]) continue;
      const NormalTerm term = terms_[id];
      if (term.uniform) {
        at_zero[id] = id;
      } else if (term.kind == Kind::Index) {
        at_zero[id] = zero_;
      } else if (term.kind == Kind::Slot) {
        at_zero[id] = terms_.Leaf(Kind::First, term.result, term.words[0]);
      } else {
        std::vector<TermId> children;
        for (TermId child : term.children) children.push_back(at_zero[child]);
        at_zero[id] = terms_.Apply(term.op, term.type, term.result, term.words, children);
      }
    }
    return at_zero[root];
  }

  const ir::Program& program_;
  const ir::Function& function_;
  NormalState state_;
  NormalTerms& terms_;
  TermId index_ = NoTerm, zero_ = NoTerm, first_ = NoTerm;
  std::vector<TermId> values_;           // scalars and tensors, by value
  std::map<uint32_t, TermId> memory_;    // by value of a buffer
  std::map<uint32_t, uint32_t> params_;  // by value of a buffer parameter: its ordinal
  std::map<uint32_t, uint32_t> by_param_;
  std::set<uint32_t>
      headed_;  // buffers whose element 0 was written on its own since the last pass over them
};

}  // namespace

Result<NormalState> ReadState(const ir::Program& program, NormalTerms terms) {
  return Reader(program, std::move(terms)).Run();
}

std::optional<Headed> HeadOf(const NormalTerms& terms, TermId term) {
  const NormalTerm& select = terms[term];
  if (select.kind != Kind::Apply || select.op != Op::Select || !terms[select.children[1]].uniform)
    return std::nullopt;
  const NormalTerm& test = terms[select.children[0]];
  if (test.kind != Kind::Apply || test.op != Op::Eq || terms[test.children[0]].kind != Kind::Index)
    return std::nullopt;
  const NormalTerm& zero = terms[test.children[1]];
  if (zero.kind != Kind::Constant || zero.words[0] != 0) return std::nullopt;
  return Headed{select.children[1], select.children[2]};
}

}  // namespace frazil::optimize
