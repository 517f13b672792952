// The sponge lives in memory because it is one for the whole program, across calls and loops; its elements go
// through the permutation as values, which is a pure function of the prelude.
#include "ir/lower/expand_prover_ops.h"

namespace frazil::ir {
namespace {

constexpr int64_t Rate = 10;
constexpr int64_t StateSize = 16;

ValueId At(FunctionBuilder& b, int64_t i) { return b.ConstInt(types::Index, i); }

void RequireInit(FunctionBuilder& b, ValueId state) {
  const ValueId mark = b.Load(state, At(b, StateSize));
  const ValueId made = b.Binary(Op::Ne, mark, b.ConstInt(types::Field, 0));
  b.Emit(Op::Assert, Type{}, std::span(&made, 1), {});
}

Values Permuted(FunctionBuilder& b, FuncId permutation, const Values& elements) {
  const std::vector<Type> results(StateSize, types::Field);
  const uint64_t callee = permutation.index;
  return b.Emit(Op::Call, Type{}, elements, results, std::span(&callee, 1));
}

void StoreAll(FunctionBuilder& b, ValueId state, const Values& elements) {
  for (int64_t i = 0; i < StateSize; ++i)
    b.Store(state, At(b, i), elements[static_cast<size_t>(i)]);
}

}  // namespace

std::vector<bool> FunctionsWithSponge(const Program& program) {
  std::vector<bool> with(program.functions.size(), false);
  // Callers of callers: at most as many rounds as functions.
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t f = 0; f < program.functions.size(); ++f) {
      if (with[f]) continue;
      const Function& function = program.functions[f];
      for (const Inst& inst : function.insts)
        if (IsSpongeOp(inst.op) ||
            (inst.op == Op::Call && with[static_cast<size_t>(function.word(inst, 0))])) {
          with[f] = changed = true;
          break;
        }
    }
  }
  return with;
}

bool IsCalled(const Program& program, FuncId id) {
  for (const Function& function : program.functions)
    for (const Inst& inst : function.insts)
      if (inst.op == Op::Call && function.word(inst, 0) == id.index) return true;
  return false;
}

ValueId MakeSponge(FunctionBuilder& b) { return b.Alloc(types::Field, At(b, StateSize + 1)); }

void InitSponge(FunctionBuilder& b, ValueId state) {
  const ValueId zero = b.ConstInt(types::Field, 0);
  for (int64_t i = 0; i < StateSize; ++i) b.Store(state, At(b, i), zero);
  b.Store(state, At(b, StateSize), b.ConstInt(types::Field, 1));
}

void AbsorbSponge(FunctionBuilder& b, ValueId state, std::span<const ValueId> elements,
                  FuncId permutation) {
  RequireInit(b, state);
  Values all(elements.begin(), elements.end());
  for (int64_t i = Rate; i < StateSize; ++i) all.push_back(b.Load(state, At(b, i)));
  StoreAll(b, state, Permuted(b, permutation, all));
}

Values SqueezeSponge(FunctionBuilder& b, ValueId state, FuncId permutation) {
  RequireInit(b, state);
  Values all;
  for (int64_t i = 0; i < StateSize; ++i) all.push_back(b.Load(state, At(b, i)));
  StoreAll(b, state, Permuted(b, permutation, all));
  all.resize(Rate);
  return all;
}

Values MerkleStep(FunctionBuilder& b, ValueId index, ValueId node, FuncId hash) {
  const ValueId sibling = b.Emit1(Op::Hint, types::Digest, {}, types::Digest);
  const ValueId one = b.ConstInt(types::U32, 1);
  const ValueId is_right = b.Binary(Op::Eq, b.Binary(Op::And, index, one), one);
  const ValueId sides[] = {b.Select(is_right, sibling, node), b.Select(is_right, node, sibling)};
  Values elements;
  for (ValueId side : sides)
    for (uint64_t part = 0; part < 5; ++part)
      elements.push_back(b.Emit1(Op::PartDigest, types::Digest, {side}, types::Field, {part}));
  const Type digest = types::Digest;
  const uint64_t callee = hash.index;
  const ValueId parent =
      b.Emit(Op::Call, Type{}, elements, std::span(&digest, 1), std::span(&callee, 1))[0];
  return {b.Binary(Op::Shr, index, one), parent};
}

}  // namespace frazil::ir
