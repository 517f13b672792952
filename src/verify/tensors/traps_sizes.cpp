// Ops that test sizes when they run: what is the same whatever the sizes are is no trap.
#include <algorithm>

#include "verify/tensors/traps.h"

namespace frazil::verify::tensors {

using namespace ir::names;

// The same symbols and the same product of the rest: as many elements, if the operand is there at all.
void Traps::Reshape(ScopeId scope, const ir::Inst& inst) {
  const ir::Function& f = evaluator_.function(scope);
  std::vector<FormId> sizes[2] = {evaluator_.SizesOf(scope, f.type(f.operand(inst, 0))),
                                  evaluator_.SizesOf(scope, inst.type)};
  std::vector<FormId> symbols[2];
  int64_t products[2] = {1, 1};
  bool fits = true;
  for (size_t side = 0; side < 2; ++side) {
    for (const FormId size : sizes[side]) {
      if (const auto number = world_.forms.NumberOf(size))
        fits = fits && *number >= 0 &&
               !__builtin_mul_overflow(products[side], *number, &products[side]);
      else
        symbols[side].push_back(size);
    }
    std::ranges::sort(symbols[side]);
  }
  if (fits && products[0] == products[1] && symbols[0] == symbols[1]) return;
  const uint64_t rank = sizes[0].size();
  sizes[0].insert(sizes[0].end(), sizes[1].begin(), sizes[1].end());
  AddTrap(scope, inst, {rank}, std::move(sizes[0]));
}

void Traps::Broadcast(ScopeId scope, const ir::Inst& inst) {
  const ir::Function& f = evaluator_.function(scope);
  const Type operand = f.type(f.operand(inst, 0));
  if (operand.is_scalar()) return;
  const std::vector<FormId> from = evaluator_.SizesOf(scope, operand);
  const std::vector<FormId> to = evaluator_.SizesOf(scope, inst.type);
  std::vector<FormId> open;
  for (size_t i = 0; i < from.size(); ++i) {
    const FormId wide = to[f.words_of(inst)[i]];
    if (world_.forms.NumberOf(from[i]) == 1 || from[i] == wide) continue;
    open.insert(open.end(), {from[i], wide});
  }
  if (!open.empty()) AddTrap(scope, inst, {}, std::move(open));
}

void Traps::Slice(ScopeId scope, const ir::Inst& inst) {
  const ir::Function& f = evaluator_.function(scope);
  std::vector<FormId> from = evaluator_.SizesOf(scope, f.type(f.operand(inst, 0)));
  const std::vector<FormId> to = evaluator_.SizesOf(scope, inst.type);
  const auto words = f.words_of(inst);
  bool is_within = true;
  for (uint32_t i = 0; i < to.size(); ++i) {
    const FormId index = world_.forms.Open(to[i]);
    const int64_t start = f.word(inst, i),
                  step = f.word(inst, static_cast<uint32_t>(to.size()) + i);
    const auto at = Polynomial::Number(start).Plus(world_.forms.PolynomialOf(index), step);
    is_within =
        is_within && at && world_.bounds.IsWithinHere(world_.forms.OfPolynomial(*at), from[i]);
    world_.forms.Close(index);
  }
  if (is_within) return;
  from.insert(from.end(), to.begin(), to.end());
  AddTrap(scope, inst, {words.begin(), words.end()}, std::move(from));
}

void Traps::Concat(ScopeId scope, const ir::Inst& inst) {
  const ir::Function& f = evaluator_.function(scope);
  const size_t axis = f.words_of(inst)[0];
  const FormId whole = evaluator_.SizesOf(scope, inst.type)[axis];
  std::vector<FormId> sizes = {whole};
  std::optional<Polynomial> sum = Polynomial();
  for (const ValueId part : f.operands_of(inst)) {
    sizes.push_back(evaluator_.SizesOf(scope, f.type(part))[axis]);
    if (sum) sum = sum->Plus(world_.forms.PolynomialOf(sizes.back()));
  }
  if (sum && *sum == world_.forms.PolynomialOf(whole)) return;
  AddTrap(scope, inst, {}, std::move(sizes));
}

// What the check knows to fit is no trap; sizes and attributes say whether the rest is one.
void Traps::Sizes(ScopeId scope, const ir::Inst& inst) {
  const ir::Function& f = evaluator_.function(scope);
  const auto words = f.words_of(inst);
  std::vector<FormId> sizes = evaluator_.SizesOf(scope, inst.type);
  for (const ValueId operand : f.operands_of(inst)) {
    const std::vector<FormId> more = evaluator_.SizesOf(scope, f.type(operand));
    sizes.insert(sizes.end(), more.begin(), more.end());
  }
  // Of symbols only those that stand twice by the op's rule are known to fit.
  const auto is_known = [&](FormId size) { return world_.forms.NumberOf(size).has_value(); };
  const bool fits =
      inst.op == Op::MatmulQ
          ? is_known(sizes[3]) && is_known(sizes[5]) && is_known(sizes[7])
          : std::ranges::all_of(std::span(sizes).subspan(2, 2), is_known) &&
                std::ranges::all_of(std::span(sizes).subspan(6, 2), is_known) &&
                std::ranges::all_of(std::span(sizes).subspan(10, 2), is_known) &&
                (words[0] == 1 || (is_known(sizes[1]) && is_known(sizes[5]) && is_known(sizes[9])));
  if (!fits) AddTrap(scope, inst, {words.begin(), words.end()}, std::move(sizes));
}

// A pick outside traps, if there is anything to pick or to put there.
void Traps::Picks(ScopeId scope, const ir::Inst& inst) {
  const ir::Function& f = evaluator_.function(scope);
  const ValueId from = f.operand(inst, 0), picks = f.operand(inst, 1);
  std::vector<FormId> rest = evaluator_.SizesOf(scope, f.type(from));
  const auto axis = static_cast<std::ptrdiff_t>(f.words_of(inst)[inst.op == Op::Scatter ? 1 : 0]);
  const FormId size = rest[static_cast<size_t>(axis)];
  rest.erase(rest.begin() + axis);
  const std::vector<FormId> sizes = evaluator_.SizesOf(scope, f.type(picks));
  const std::vector<FormId> indices = OpenAll(sizes);
  const FormId pick = evaluator_.Element(scope, picks, indices);
  if (evaluator_.failure().empty() && !world_.bounds.IsWithinHere(pick, size)) {
    rest.insert(rest.begin(), {size, pick});
    AddTrap(scope, inst, {}, std::move(rest));
  }
  CloseAll(indices, sizes);
}

}  // namespace frazil::verify::tensors
