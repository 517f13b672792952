// Programs of passes over memory and their normal forms, with the form, the guard or both changed, before the judge that reads
// passes as terms.
#include "ir/builder.h"
#include "ir/check/check.h"
#include "judges/attacks.h"
#include "optimize/normalize/normalize.h"
#include "verify/internal/passes.h"

namespace frazil::tests {
namespace {

using namespace ir::names;

constexpr uint32_t Buffers = 4;

// A few passes over four buffers, the first of them only read; now and then a sum to element 0, or a branch.
ir::Program DrawPasses(Choices& choices) {
  constexpr Type Elements[] = {ir::types::I32, ir::types::U8, ir::types::F32};
  const Type element = choices.OneOf(Elements);
  ir::Program program;
  std::vector<Type> params = {Type::Buffer(element, ir::Access::In)};
  params.resize(Buffers, Type::Buffer(element));
  params.push_back(ir::types::Index);
  ir::FunctionBuilder b(program, "main", params, {});
  const ir::ValueId zero = b.ConstInt(ir::types::Index, 0), n = b.Param(Buffers);
  const auto any = [&] { return b.Param(static_cast<uint32_t>(choices.Below(Buffers))); };
  const auto written = [&] {
    return b.Param(1 + static_cast<uint32_t>(choices.Below(Buffers - 1)));
  };
  const auto value = [&](ir::ValueId i) {
    const ir::ValueId x = b.Load(any(), i);
    constexpr Op Ops[] = {Op::Add, Op::Sub, Op::Max, Op::Min, Op::Mul};
    switch (choices.Below(4)) {
      case 0: return x;
      case 1: return b.Binary(choices.OneOf(Ops), x, x);
      default: return b.Binary(choices.OneOf(Ops), x, b.Load(any(), i));
    }
  };
  for (uint64_t pass = choices.Below(4) + 1; pass > 0; --pass) {
    if (choices.Chance(20)) {
      const Type row = Type::Tensor(element, b.AddShape({ir::Dim::Symbol(Buffers)})),
                 one = Type::Tensor(element, b.AddShape({}));
      const ir::ValueId all = b.Emit1(Op::TensorLoad, row, {any()}, row);
      const ir::ValueId sum = b.Emit1(Op::Reduce, one, {all}, one, {0, 0, 64, 4096});
      b.Store(written(), zero, b.Emit1(Op::Extract, element, {sum}, element));
      continue;
    }
    b.Parallel(zero, n, [&](ir::ValueId i) {
      const ir::ValueId x = value(i);
      if (choices.Chance(25)) {
        const ir::ValueId test = b.Binary(Op::Lt, x, b.Load(any(), i));
        const ir::ValueId to = written();
        b.If(
            test, {}, [&] { return b.Store(to, i, x), ir::Values(); }, [] { return ir::Values(); });
      } else {
        b.Store(written(), i, x);
        if (choices.Chance(30)) b.Store(written(), i, value(i));
      }
    });
  }
  b.Return({});
  b.Finish();
  return program;
}

// An atom less, a buffer less or in the other list, a lower bound that is lower.
void MutateLists(ir::Guard& guard, Choices& choices) {
  if (guard.atoms.empty()) return;
  const size_t at = choices.Below(guard.atoms.size());
  ir::GuardAtom& atom = guard.atoms[at];
  const bool has_list = atom.kind == ir::GuardKind::Apart || atom.kind == ir::GuardKind::Cover;
  if (!has_list || choices.Chance(20)) {
    if (atom.kind == ir::GuardKind::Between && choices.Chance(50))
      atom.low[0] -= 1;
    else
      guard.atoms.erase(guard.atoms.begin() + static_cast<ptrdiff_t>(at));
    return;
  }
  std::vector<uint64_t>& list = atom.high.empty() || choices.Chance(50) ? atom.low : atom.high;
  const auto which = static_cast<ptrdiff_t>(choices.Below(list.size()));
  const uint64_t buffer = list[static_cast<size_t>(which)];
  list.erase(list.begin() + which);
  if (atom.kind == ir::GuardKind::Apart && &list == &atom.low && choices.Chance(50))
    atom.high.push_back(buffer);
}

}  // namespace

void AttackPasses(Choices& choices, uint64_t mutants, Tally& tally) {
  const ir::Program source = DrawPasses(choices);
  if (!ir::Check(source)) return;
  const Result<ir::Candidate> normal = optimize::NormalCandidate(source);
  if (!normal) return;
  for (uint64_t i = 0; i < mutants; ++i) {
    ir::Candidate candidate = *normal;
    // Sometimes the source itself stands for a form that forgot something.
    if (choices.Chance(20)) candidate.program = source;
    const uint64_t which = choices.Below(3);
    if (which != 0) MutateLists(candidate.guard, choices);
    if (which != 1 && !MutateProgram(candidate.program, choices)) continue;
    if (!ir::CheckGuard(candidate.guard, source)) continue;
    const bool back = choices.Chance(20);
    const ir::Program& from = back ? candidate.program : source;
    const ir::Candidate to{back ? source : candidate.program, candidate.guard, {}, "attack"};
    CountVerdict(from, to, verify::PassesJudge(from, to.program, to.guard), choices, tally);
  }
}

}  // namespace frazil::tests
