// As kernel_match.cpp does it: by index forms, so that it does not matter how an index was written down.
#include "targets/native/kernels/match_matvec.h"

#include <algorithm>

#include "targets/native/kernels/nest_reader.h"
#include "targets/native/vectors/loop_plan.h"

namespace frazil::targets::native {
namespace {

using namespace ir::names;

class Matcher : NestReader {
 public:
  Matcher(const Function& function, const FunctionFacts& facts, const Inst& loop)
      : NestReader(function, facts, loop) {}

  std::optional<MatvecNest> Match() {
    std::optional<Level> outputs = LevelOf(loop_);
    if (!outputs || outputs->rest.size() != 2) return std::nullopt;
    const Inst& chain = function_.inst(outputs->rest[0]);
    const Inst& store = function_.inst(outputs->rest[1]);
    if (chain.op != Op::For || IsTree(chain) || chain.results.count != 1 || store.op != Op::Store)
      return std::nullopt;
    MatvecNest nest;
    nest.chain = function_.type(Function::result_of(chain));
    nest.c_type = store.type;
    if (nest.chain != ir::types::F32 && nest.chain != ir::types::F64) return std::nullopt;
    if (BehindHalf(function_.operand(store, 2), nest.c_type, nest.chain) !=
        Function::result_of(chain))
      return std::nullopt;
    counters_ = {outputs->counter, CounterOf(function_, chain)};
    nest.count = outputs->count;
    std::optional<Split> c = SplitIndex(function_.operand(store, 1));
    if (!c || c->coefficients[0].constant() != 1 || c->coefficients[1].constant() != 0)
      return std::nullopt;
    nest.c = function_.operand(store, 0);
    nest.c_offset = c->offset;
    if (!MatchChain(chain, nest) || IsInside(nest.c)) return std::nullopt;
    for (const IndexForm* form : {&nest.count, &nest.depth, &nest.x_offset, &nest.x_step,
                                  &nest.w_offset, &nest.w_row, &nest.w_step, &nest.c_offset})
      if (!IsKnownBefore(*form)) return std::nullopt;
    return nest;
  }

 private:
  // What is rounded to `half`; the value itself where it has the chain's type.
  ValueId BehindHalf(ValueId value, ir::Type type, ir::Type chain) const {
    if (type == chain) return value;
    const Inst* cast = CastOf(value);
    if (cast == nullptr || !ir::Contains(ir::sets::Half, type.scalar) || chain != ir::types::F32)
      return ValueId();
    return function_.operand(*cast, 0);
  }

  // A value that is widened to the chain's type without a rounding of its own.
  ValueId BeforeWidening(ValueId value) const {
    const Inst* cast = CastOf(value);
    if (cast == nullptr) return value;
    const ValueId from = function_.operand(*cast, 0);
    return ir::Contains(ir::sets::Half, function_.type(from).scalar) ? from : value;
  }

  bool MatchChain(const Inst& chain, MatvecNest& nest) {
    std::optional<std::vector<InstId>> loads = Statements(Function::region_of(chain, 0));
    if (!loads || loads->size() != 2) return false;
    std::optional<FmaStep> step = StepOf(chain, nest.chain);
    if (!step) return false;
    nest.depth = step->count;
    const Inst* left = &function_.inst((*loads)[0]);
    const Inst* right = &function_.inst((*loads)[1]);
    if (left->op != Op::Load || right->op != Op::Load) return false;
    ValueId factors[] = {BeforeWidening(step->factors[0]), BeforeWidening(step->factors[1])};
    ValueId loaded[] = {Function::result_of(*left), Function::result_of(*right)};
    if (!std::ranges::is_permutation(factors, loaded) || factors[0] == factors[1]) return false;
    return MatchFactors(*left, *right, nest) || MatchFactors(*right, *left, nest);
  }

  bool MatchFactors(const Inst& vector, const Inst& matrix, MatvecNest& nest) {
    std::optional<Split> x = SplitIndex(function_.operand(vector, 1));
    std::optional<Split> w = SplitIndex(function_.operand(matrix, 1));
    if (!x || !w || x->coefficients[0].constant() != 0) return false;
    nest.x = function_.operand(vector, 0);
    nest.w = function_.operand(matrix, 0);
    nest.x_type = vector.type;
    nest.w_type = matrix.type;
    nest.x_offset = x->offset;
    nest.x_step = x->coefficients[1];
    nest.w_offset = w->offset;
    nest.w_row = w->coefficients[0];
    nest.w_step = w->coefficients[1];
    return !IsInside(nest.x) && !IsInside(nest.w) && nest.w_row.constant() != 0;
  }
};

}  // namespace

std::optional<MatvecNest> MatchMatvec(const Function& function, const FunctionFacts& facts,
                                      const Inst& loop) {
  return Matcher(function, facts, loop).Match();
}

}  // namespace frazil::targets::native
