// Matching works on index forms (index_forms.h), so that it does not matter how an index was written down.
#include "targets/llvm/matmul_match.h"

#include <algorithm>
#include <array>
#include <vector>

namespace frazil::targets {
namespace {

using namespace ir::names;

class ChainMatcher {
 public:
  ChainMatcher(const Function& function, const FunctionFacts& facts, const Inst& rows,
               const Inst& columns)
      : function_(function), facts_(facts), rows_(rows), columns_(columns), forms_(function) {}

  std::optional<MatmulChain> Match() {
    for (const Inst* loop : {&rows_, &columns_})
      if (forms_.Of(function_.operand(*loop, 0)).constant() != 0) return std::nullopt;
    const std::vector<InstId>& insts = function_.region(Function::region_of(columns_, 0)).insts;
    size_t behind = 0;  // what is needed behind the chain
    const Inst* last = nullptr;
    for (InstId id : insts) {
      const Inst& inst = function_.inst(id);
      if (!facts_.needed[id.index] || inst.op == Op::Yield) continue;
      if (inst.op == Op::For && !found_.chain.valid()) {
        found_.chain = id;
        continue;
      }
      if (inst.regions.count != 0) return std::nullopt;
      const ir::Effect effect = ir::Info(inst.op).effect;
      const bool is_store = inst.op == Op::Store && found_.chain.valid();
      if (effect != ir::Effect::Pure && effect != ir::Effect::Reads && !is_store)
        return std::nullopt;
      if (effect != ir::Effect::Pure) ++behind, last = &inst;
    }
    if (!found_.chain.valid()) return std::nullopt;
    const Inst& chain = function_.inst(found_.chain);
    counters_ = {CounterOf(rows_), CounterOf(columns_), CounterOf(chain)};
    if (!MatchChain(chain)) return std::nullopt;
    if (behind == 1 && last->op == Op::Store) MatchStore(*last, Function::result_of(chain));
    for (const IndexForm* form : {&found_.depth, &found_.a_offset, &found_.a_row, &found_.a_depth,
                                  &found_.b_offset, &found_.b_depth, &found_.b_column})
      if (!IsKnownBefore(*form)) return std::nullopt;
    return found_;
  }

 private:
  ValueId CounterOf(const Inst& loop) const {
    return Function::param_of(function_.region(Function::region_of(loop, 0)), 0);
  }

  bool IsInside(ValueId value) const {
    for (ir::RegionId home = facts_.home[value.index]; home.valid();) {
      const InstId owner = facts_.owner[home.index];
      if (!owner.valid()) return false;
      if (&function_.inst(owner) == &rows_) return true;
      home = facts_.region[owner.index];
    }
    return false;
  }
  bool IsKnownBefore(const IndexForm& form) const {
    return std::ranges::none_of(form.Atoms(), [&](ValueId atom) { return IsInside(atom); });
  }

  // The form as sum of coefficient times counter, plus an offset.
  struct Split {
    std::array<IndexForm, 3> coefficients;
    IndexForm offset;
  };
  std::optional<Split> SplitIndex(ValueId index) {
    Split split;
    split.offset = forms_.Of(index);
    for (size_t k = 0; k < counters_.size(); ++k) {
      const std::optional<IndexForm> coefficient = split.offset.Coefficient(counters_[k]);
      if (!coefficient) return std::nullopt;
      split.coefficients[k] = *coefficient;
      split.offset = split.offset.Without(counters_[k]);
    }
    return split;
  }

  bool MatchChain(const Inst& chain) {
    if (chain.results.count != 1 || function_.word(chain, 0) != 1 ||
        function_.type(counters_[2]) != ir::types::Index)
      return false;
    found_.type = function_.type(Function::result_of(chain));
    if (found_.type != ir::types::F32 && found_.type != ir::types::F64) return false;
    if (forms_.Of(function_.operand(chain, 0)).constant() != 0) return false;
    found_.depth = forms_.Of(function_.operand(chain, 1));
    const auto zero = ConstantOf(function_, facts_, function_.operand(chain, 2));
    if (!zero || (*zero)[0] != 0) return false;
    const std::vector<InstId>& body = function_.region(Function::region_of(chain, 0)).insts;
    std::vector<const Inst*> loads;
    for (InstId id : body) {
      const Inst& inst = function_.inst(id);
      if (!facts_.needed[id.index] || inst.op == Op::Yield) continue;
      if (inst.op == Op::Load)
        loads.push_back(&inst);
      else if (!IsRemovable(ir::Info(inst.op)) || inst.regions.count != 0)
        return false;
    }
    const InstId step_id =
        function_.values[function_.operand(function_.inst(body.back()), 0).index].def;
    if (loads.size() != 2 || !step_id.valid()) return false;
    const Inst& step = function_.inst(step_id);
    if (step.op != Op::Fma || step.type != found_.type ||
        function_.operand(step, 2) != CarriedParam(function_, chain, 0))
      return false;
    const ValueId factors[] = {function_.operand(step, 0), function_.operand(step, 1)};
    const ValueId loaded[] = {Function::result_of(*loads[0]), Function::result_of(*loads[1])};
    if (!std::ranges::is_permutation(factors, loaded) || factors[0] == factors[1]) return false;
    return MatchFactors(*loads[0], *loads[1]) || MatchFactors(*loads[1], *loads[0]);
  }

  bool MatchFactors(const Inst& left, const Inst& right) {
    const std::optional<Split> a = SplitIndex(function_.operand(left, 1));
    const std::optional<Split> b = SplitIndex(function_.operand(right, 1));
    if (!a || !b || a->coefficients[1].constant() != 0 || b->coefficients[0].constant() != 0)
      return false;
    found_.a = function_.operand(left, 0);
    found_.b = function_.operand(right, 0);
    found_.a_offset = a->offset;
    found_.a_row = a->coefficients[0];
    found_.a_depth = a->coefficients[2];
    found_.b_offset = b->offset;
    found_.b_depth = b->coefficients[2];
    found_.b_column = b->coefficients[1];
    return !IsInside(found_.a) && !IsInside(found_.b);
  }

  void MatchStore(const Inst& store, ValueId element) {
    const std::optional<Split> c = SplitIndex(function_.operand(store, 1));
    if (function_.operand(store, 2) != element || !c || c->coefficients[1].constant() != 1 ||
        c->coefficients[2].constant() != 0)
      return;
    const ValueId buffer = function_.operand(store, 0);
    if (IsInside(buffer) || !IsKnownBefore(c->offset) || !IsKnownBefore(c->coefficients[0])) return;
    found_.store = {buffer, c->offset, c->coefficients[0]};
  }

  const Function& function_;
  const FunctionFacts& facts_;
  const Inst& rows_;
  const Inst& columns_;
  IndexForms forms_;
  std::array<ValueId, 3> counters_;
  MatmulChain found_;
};

}  // namespace

std::optional<MatmulChain> MatchMatmulChain(const Function& function, const FunctionFacts& facts,
                                            const Inst& rows, const Inst& columns) {
  return ChainMatcher(function, facts, rows, columns).Match();
}

}  // namespace frazil::targets
