// Matching works on index forms (index_forms.h), so that it does not matter how an index was written down.
#include "targets/native/kernels/kernel_match.h"

#include <algorithm>
#include <vector>

#include "targets/native/vectors/loop_plan.h"

namespace frazil::targets::native {
namespace {

using namespace ir::names;

class Matcher {
 public:
  Matcher(const Function& function, const FunctionFacts& facts, const Inst& loop)
      : function_(function), facts_(facts), loop_(loop), forms_(function) {}

  std::optional<MatmulNest> Matmul(const PlanQuestion& question) {
    std::optional<Level> rows = LevelOf(loop_);
    if (!rows || rows->rest.size() != 1) return std::nullopt;
    const Inst& inner = function_.inst(rows->rest[0]);
    std::optional<Level> columns = LevelOf(inner, /*any_count=*/false, /*has_tail=*/true);
    if (!columns) return std::nullopt;
    const Inst* chain = ChainAmong(columns->rest);
    if (chain == nullptr) return std::nullopt;
    counters_ = {rows->counter, columns->counter, CounterOf(function_, *chain)};
    MatmulNest nest;
    nest.type = function_.type(Function::result_of(*chain));
    nest.rows = rows->count;
    nest.columns = columns->count;
    if (nest.type != ir::types::F32 && nest.type != ir::types::F64) return std::nullopt;
    if (!MatchChain(*chain, nest)) return std::nullopt;
    const Inst* store = &function_.inst(columns->rest.back());
    const bool is_plain = columns->rest.size() == 2 && store->op == Op::Store &&
                          function_.operand(*store, 2) == Function::result_of(*chain);
    if (!is_plain) {
      nest.tail = PlanTail(question, loop_, inner, *chain);
      if (!nest.tail) return std::nullopt;
      if (nest.tail->carrier)
        store = &function_.inst(nest.tail->plan.accesses[*nest.tail->carrier].inst);
    }
    if ((is_plain || nest.tail->carrier) && !MatchOutput(*store, nest)) return std::nullopt;
    for (const IndexForm* form :
         {&nest.rows, &nest.columns, &nest.depth, &nest.a_offset, &nest.a_row, &nest.a_depth,
          &nest.b_offset, &nest.b_depth, &nest.b_column, &nest.c_offset, &nest.c_row})
      if (!IsKnownBefore(*form)) return std::nullopt;
    return nest;
  }

  std::optional<RowsNest> Rows() {
    if (loop_.op != Op::For || loop_.results.count != 0) return std::nullopt;
    const ir::RegionId body = Function::region_of(loop_, 0);
    std::optional<std::vector<InstId>> rest = Statements(body);
    if (!rest || rest->size() != 1) return std::nullopt;
    const Inst& inner = function_.inst((*rest)[0]);
    std::optional<Level> columns = LevelOf(inner, /*any_count=*/true);
    if (!columns || columns->rest.size() != 3) return std::nullopt;
    RowsNest nest;
    nest.width = function_.word(loop_, 0);
    ValueId r = CounterOf(function_, loop_);
    counters_ = {r, columns->counter};
    if (function_.type(r) != ir::types::Index || !IsRowWidth(inner, r, nest)) return std::nullopt;
    return MatchRowStep(columns->rest, nest) ? std::optional(nest) : std::nullopt;
  }

 private:
  // A loop from 0 in steps of 1, without carried values.
  struct Level {
    ValueId counter;
    IndexForm count;
    std::vector<InstId> rest;  // what its body does beyond index arithmetic
  };

  // The one loop of a list.
  const Inst* ChainAmong(const std::vector<InstId>& list) const {
    const Inst* chain = nullptr;
    for (InstId id : list) {
      const Inst& inst = function_.inst(id);
      if (inst.op == Op::Parallel || (inst.op == Op::For && chain != nullptr)) return nullptr;
      if (inst.op == Op::For) chain = &inst;
    }
    return chain == nullptr || IsTree(*chain) || chain->results.count != 1 ? nullptr : chain;
  }

  std::optional<Level> LevelOf(const Inst& loop, bool any_count = false, bool has_tail = false) {
    if (loop.op != Op::Parallel &&
        (loop.op != Op::For || function_.word(loop, 0) != 1 || loop.results.count != 0))
      return std::nullopt;
    Level level;
    level.counter = CounterOf(function_, loop);
    if (function_.type(level.counter) != ir::types::Index) return std::nullopt;
    if (forms_.Of(function_.operand(loop, 0)).constant() != 0) return std::nullopt;
    if (!any_count) level.count = forms_.Of(function_.operand(loop, 1));
    std::optional<std::vector<InstId>> rest = Statements(Function::region_of(loop, 0), has_tail);
    if (!rest) return std::nullopt;
    level.rest = std::move(*rest);
    return level;
  }

  // Pure instructions that cannot trap are only there for what is in the list. `has_tail`: what else may stand there is
  // listed too, for PlanTail.
  std::optional<std::vector<InstId>> Statements(ir::RegionId region, bool has_tail = false) {
    std::vector<InstId> list;
    const std::vector<InstId>& insts = function_.region(region).insts;
    for (size_t i = 0; i + 1 < insts.size(); ++i) {
      const Inst& inst = function_.inst(insts[i]);
      if (!facts_.needed[insts[i].index]) continue;
      const bool is_listed = inst.op == Op::For || inst.op == Op::Parallel || inst.op == Op::Load ||
                             inst.op == Op::Store ||
                             (has_tail && (inst.op == Op::Call || inst.op == Op::If));
      if (is_listed)
        list.push_back(insts[i]);
      else if (!IsRemovable(ir::Info(inst.op)) || inst.regions.count != 0)
        return std::nullopt;
    }
    return list;
  }

  bool IsInside(ValueId value) const {
    for (ir::RegionId home = facts_.home[value.index]; home.valid();) {
      InstId owner = facts_.owner[home.index];
      if (!owner.valid()) return false;
      if (&function_.inst(owner) == &loop_) return true;
      home = facts_.region[owner.index];
    }
    return false;
  }

  bool IsKnownBefore(const IndexForm& form) const {
    return std::ranges::none_of(form.Atoms(), [&](ValueId atom) { return IsInside(atom); });
  }

  // The form as sum of coefficient times counter, plus an offset.
  struct Split {
    std::vector<IndexForm> coefficients;
    IndexForm offset;
  };
  std::optional<Split> SplitIndex(ValueId index) {
    Split split;
    IndexForm rest = forms_.Of(index);
    for (ValueId counter : counters_) {
      std::optional<IndexForm> coefficient = rest.Coefficient(counter);
      if (!coefficient) return std::nullopt;
      split.coefficients.push_back(*coefficient);
      rest = rest.Without(counter);
    }
    split.offset = rest;
    return split;
  }

  bool MatchChain(const Inst& chain, MatmulNest& nest) {
    std::optional<std::vector<InstId>> loads = Statements(Function::region_of(chain, 0));
    if (!loads || loads->size() != 2 || function_.word(chain, 0) != 1) return false;
    if (function_.type(counters_[2]) != ir::types::Index) return false;
    if (forms_.Of(function_.operand(chain, 0)).constant() != 0) return false;
    nest.depth = forms_.Of(function_.operand(chain, 1));
    std::optional<std::span<const uint64_t>> zero =
        ConstantOf(function_, facts_, function_.operand(chain, 2));
    if (!zero || (*zero)[0] != 0) return false;
    const Inst& yield =
        function_.inst(function_.region(Function::region_of(chain, 0)).insts.back());
    InstId step_id = function_.values[function_.operand(yield, 0).index].def;
    if (!step_id.valid()) return false;
    const Inst& step = function_.inst(step_id);
    if (step.op != Op::Fma || step.type != nest.type) return false;
    if (function_.operand(step, 2) != CarriedParam(function_, chain, 0)) return false;
    const Inst* left = &function_.inst((*loads)[0]);
    const Inst* right = &function_.inst((*loads)[1]);
    if (left->op != Op::Load || right->op != Op::Load) return false;
    ValueId factors[] = {Widened(function_.operand(step, 0)), Widened(function_.operand(step, 1))};
    ValueId loaded[] = {Function::result_of(*left), Function::result_of(*right)};
    nest.from = left->type;
    if (right->type != nest.from) return false;
    if (!std::ranges::is_permutation(factors, loaded) || factors[0] == factors[1]) return false;
    return MatchFactors(*left, *right, nest) || MatchFactors(*right, *left, nest);
  }

  // What a factor is a wider form of: f16 and bf16 become f32 exactly.
  ValueId Widened(ValueId factor) const {
    const InstId def = function_.values[factor.index].def;
    if (!def.valid() || function_.inst(def).op != Op::Cast) return factor;
    const ValueId from = function_.operand(function_.inst(def), 0);
    const bool is_half = Contains(ir::sets::Half, function_.type(from).scalar) &&
                         function_.type(factor) == ir::types::F32;
    return is_half ? from : factor;
  }

  bool MatchFactors(const Inst& left, const Inst& right, MatmulNest& nest) {
    std::optional<Split> a = SplitIndex(function_.operand(left, 1));
    std::optional<Split> b = SplitIndex(function_.operand(right, 1));
    if (!a || !b) return false;
    if (a->coefficients[1].constant() != 0 || b->coefficients[0].constant() != 0 ||
        b->coefficients[1].constant() == 0)
      return false;
    nest.a = function_.operand(left, 0);
    nest.b = function_.operand(right, 0);
    nest.a_offset = a->offset;
    nest.a_row = a->coefficients[0];
    nest.a_depth = a->coefficients[2];
    nest.b_offset = b->offset;
    nest.b_depth = b->coefficients[2];
    nest.b_column = b->coefficients[1];
    return !IsInside(nest.a) && !IsInside(nest.b);
  }

  bool MatchOutput(const Inst& store, MatmulNest& nest) {
    std::optional<Split> c = SplitIndex(function_.operand(store, 1));
    if (!c || c->coefficients[1].constant() != 1 || c->coefficients[2].constant() != 0)
      return false;
    nest.c = function_.operand(store, 0);
    nest.c_offset = c->offset;
    nest.c_row = c->coefficients[0];
    return !IsInside(nest.c);
  }

  // The width, or min(hi - r, width) with hi the bound of the rows.
  bool IsRowWidth(const Inst& inner, ValueId r, RowsNest& nest) {
    nest.is_whole = forms_.Of(function_.operand(inner, 1)).constant() == nest.width;
    if (nest.is_whole) return true;
    InstId id = function_.values[function_.operand(inner, 1).index].def;
    if (!id.valid() || function_.inst(id).op != Op::Min) return false;
    const Inst& min = function_.inst(id);
    IndexForm left = forms_.Of(function_.operand(min, 0));
    IndexForm right = forms_.Of(function_.operand(min, 1));
    if (left.constant()) std::swap(left, right);
    const IndexForm expected = forms_.Of(function_.operand(loop_, 1)) - IndexForm::Of(r);
    return right.constant() == nest.width && left == expected;
  }

  bool MatchRowStep(const std::vector<InstId>& list, RowsNest& nest) {
    const Inst& store = function_.inst(list[2]);
    if (store.op != Op::Store || function_.inst(list[0]).op != Op::Load ||
        function_.inst(list[1]).op != Op::Load)
      return false;
    InstId step_id = function_.values[function_.operand(store, 2).index].def;
    if (!step_id.valid()) return false;
    const Inst& step = function_.inst(step_id);
    if (step.operands.count != 2 || step.type != store.type) return false;
    nest.type = store.type;
    nest.op = step.op;
    nest.row = function_.operand(store, 0);
    std::optional<Split> to = SplitIndex(function_.operand(store, 1));
    if (!to || to->coefficients[0].constant() != 0 || to->coefficients[1].constant() != 1)
      return false;
    nest.row_offset = to->offset;
    for (int i = 0; i < 2; ++i) {
      const Inst& old = function_.inst(list[static_cast<size_t>(i)]);
      const Inst& other = function_.inst(list[static_cast<size_t>(1 - i)]);
      ValueId factors[] = {function_.operand(step, 0), function_.operand(step, 1)};
      std::optional<Split> x = SplitIndex(function_.operand(other, 1));
      if (!x || function_.operand(old, 0) != nest.row || function_.operand(other, 0) == nest.row)
        continue;
      if (forms_.Of(function_.operand(old, 1)) != forms_.Of(function_.operand(store, 1))) continue;
      if (x->coefficients[0].constant() != 1 || x->coefficients[1].constant() != 1) continue;
      nest.row_is_first_operand = factors[0] == Function::result_of(old);
      ValueId expected[] = {Function::result_of(old), Function::result_of(other)};
      if (!std::ranges::is_permutation(factors, expected)) continue;
      nest.from = function_.operand(other, 0);
      nest.from_offset = x->offset;
      return !IsInside(nest.row) && !IsInside(nest.from) && IsKnownBefore(nest.row_offset) &&
             IsKnownBefore(nest.from_offset) && ir::BytesOf(nest.type) >= 4;
    }
    return false;
  }

  const Function& function_;
  const FunctionFacts& facts_;
  const Inst& loop_;
  IndexForms forms_;
  std::vector<ValueId> counters_;
};

}  // namespace

std::optional<MatmulNest> MatchMatmul(const PlanQuestion& question, const Inst& loop) {
  const size_t id = question.function.index;
  return Matcher(question.program.functions[id], question.facts.functions[id], loop)
      .Matmul(question);
}

std::optional<RowsNest> MatchRows(const Function& function, const FunctionFacts& facts,
                                  const Inst& loop) {
  return Matcher(function, facts, loop).Rows();
}

}  // namespace frazil::targets::native
