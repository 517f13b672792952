#include "targets/native/kernels/match_quantized.h"

#include <algorithm>

#include "targets/native/kernels/nest_reader.h"
#include "targets/native/vectors/loop_plan.h"

namespace frazil::targets::native {
namespace {

using namespace ir::names;

constexpr int64_t GroupSize = 32;

class Matcher : NestReader {
 public:
  Matcher(const Function& function, const FunctionFacts& facts, const Inst& loop)
      : NestReader(function, facts, loop) {}

  std::optional<QuantizedNest> Match() {
    std::optional<Level> outputs = LevelOf(loop_);
    if (!outputs || outputs->rest.size() != 2) return std::nullopt;
    const Inst& chain = function_.inst(outputs->rest[0]);
    const Inst& store = function_.inst(outputs->rest[1]);
    if (!IsOfOne(chain) || store.op != Op::Store || store.type != ir::types::F32 ||
        function_.operand(store, 2) != Function::result_of(chain))
      return std::nullopt;
    std::optional<FmaStep> step = StepOf(chain, ir::types::F32);
    if (!step) return std::nullopt;
    nest_.count = outputs->count;
    nest_.groups = step->count;
    std::optional<std::vector<InstId>> body = Statements(Function::region_of(chain, 0));
    if (!body || body->size() != 3) return std::nullopt;
    auto is_loop = [&](InstId id) { return function_.inst(id).op == Op::For; };
    const auto inner = std::ranges::find_if(*body, is_loop);
    if (inner == body->end()) return std::nullopt;
    const Inst& dot = function_.inst(*inner);
    body->erase(inner);
    if (!IsOfOne(dot)) return std::nullopt;
    counters_ = {outputs->counter, CounterOf(function_, chain), CounterOf(function_, dot)};
    std::optional<Split> c = SplitIndex(function_.operand(store, 1));
    if (!c || !Moves(*c, 1, 0, 0)) return std::nullopt;
    nest_.c = function_.operand(store, 0);
    nest_.c_offset = c->offset;
    const bool fits = MatchDot(dot) && MatchScales(*step, dot, *body);
    return fits && IsKnown() ? std::optional(nest_) : std::nullopt;
  }

 private:
  bool IsOfOne(const Inst& loop) const {
    return loop.op == Op::For && !IsTree(loop) && loop.results.count == 1;
  }

  // These coefficients; -1: any.
  static bool Moves(const Split& split, int64_t output, int64_t group, int64_t step) {
    const int64_t wanted[] = {output, group, step};
    for (size_t i = 0; i < 3; ++i)
      if (wanted[i] >= 0 && split.coefficients[i].constant() != wanted[i]) return false;
    return true;
  }

  bool IsKnown() const {
    for (ValueId buffer : {nest_.a, nest_.a_scales, nest_.w, nest_.w_scales, nest_.c})
      if (IsInside(buffer)) return false;
    for (const IndexForm* form :
         {&nest_.count, &nest_.groups, &nest_.a_offset, &nest_.a_scales_offset, &nest_.w_offset,
          &nest_.w_row, &nest_.w_scales_offset, &nest_.w_scales_row, &nest_.c_offset})
      if (!IsKnownBefore(*form)) return false;
    return true;
  }

  // --- values ---

  const Inst* MadeBy(ValueId value, Op op) const {
    const InstId id = function_.values[value.index].def;
    return id.valid() && function_.inst(id).op == op ? &function_.inst(id) : nullptr;
  }
  // The other operand of an op that commutes, if one of them is `known`.
  ValueId Beside(const Inst& inst, ValueId known) const {
    for (uint32_t i = 0; i < 2; ++i)
      if (function_.operand(inst, i) == known) return function_.operand(inst, 1 - i);
    return ValueId();
  }
  bool IsNumber(ValueId value, uint64_t number) const {
    const std::optional<std::span<const uint64_t>> words = ConstantOf(function_, facts_, value);
    return words && (*words)[0] == number;
  }
  // The operand beside a constant, on either side where the op commutes.
  ValueId BesideNumber(ValueId value, Op op, uint64_t number) const {
    const Inst* inst = MadeBy(value, op);
    if (inst == nullptr || inst->type != ir::types::I32) return ValueId();
    if (IsNumber(function_.operand(*inst, 1), number)) return function_.operand(*inst, 0);
    const bool commutes = op == Op::And || op == Op::Xor;
    return commutes && IsNumber(function_.operand(*inst, 0), number) ? function_.operand(*inst, 1)
                                                                     : ValueId();
  }
  // The load behind a cast to i32.
  const Inst* LoadOf(ValueId value, ir::Type type) const {
    const Inst* cast = MadeBy(value, Op::Cast);
    if (cast == nullptr || cast->type != ir::types::I32) return nullptr;
    const Inst* load = MadeBy(function_.operand(*cast, 0), Op::Load);
    return load != nullptr && load->type == type ? load : nullptr;
  }

  // --- the dot ---

  bool MatchDot(const Inst& dot) {
    if (function_.type(counters_[2]) != ir::types::Index || function_.word(dot, 0) != 1 ||
        forms_.Of(function_.operand(dot, 0)).constant() != 0 ||
        function_.type(Function::result_of(dot)) != ir::types::I32 ||
        !IsNumber(function_.operand(dot, 2), 0))
      return false;
    const std::optional<int64_t> steps = forms_.Of(function_.operand(dot, 1)).constant();
    nest_.has_nibbles = steps == GroupSize / 2;
    if (steps != GroupSize && !nest_.has_nibbles) return false;
    const std::optional<std::vector<InstId>> loads = Statements(Function::region_of(dot, 0));
    if (!loads || loads->size() != (nest_.has_nibbles ? 3u : 2u)) return false;
    const Inst& yield = function_.inst(function_.region(Function::region_of(dot, 0)).insts.back());
    const ValueId carried = CarriedParam(function_, dot, 0);
    const ValueId sum = function_.operand(yield, 0);
    if (!nest_.has_nibbles) return MatchProduct(sum, carried, 0);
    const Inst* last = MadeBy(sum, Op::Add);
    if (last == nullptr || last->type != ir::types::I32) return false;
    for (uint32_t i = 0; i < 2; ++i)
      if (MatchProduct(function_.operand(*last, i), carried, 0) &&
          MatchProduct(sum, function_.operand(*last, i), 1))
        return true;
    return false;
  }

  // sum = before + a * w, where w is the number at this place of a byte.
  bool MatchProduct(ValueId sum, ValueId before, uint32_t place) {
    const Inst* add = MadeBy(sum, Op::Add);
    if (add == nullptr || add->type != ir::types::I32) return false;
    const ValueId rest = Beside(*add, before);
    const Inst* product = rest.valid() ? MadeBy(rest, Op::Mul) : nullptr;
    if (product == nullptr) return false;
    for (uint32_t i = 0; i < 2; ++i)
      if (MatchFactors(function_.operand(*product, i), function_.operand(*product, 1 - i), place))
        return true;
    return false;
  }

  bool MatchFactors(ValueId left, ValueId right, uint32_t place) {
    const int64_t steps = nest_.has_nibbles ? GroupSize / 2 : GroupSize;
    const Inst* number = LoadOf(left, ir::types::I8);
    const Inst* weight = nest_.has_nibbles ? NibbleOf(right, place) : LoadOf(right, ir::types::I8);
    if (number == nullptr || weight == nullptr) return false;
    const std::optional<Split> a = SplitIndex(function_.operand(*number, 1));
    const std::optional<Split> w = SplitIndex(function_.operand(*weight, 1));
    if (!a || !w || !Moves(*a, 0, GroupSize, nest_.has_nibbles ? 2 : 1) || !Moves(*w, -1, steps, 1))
      return false;
    const IndexForm a_offset = a->offset - IndexForm::Constant(place);
    const ValueId a_buffer = function_.operand(*number, 0);
    const ValueId w_buffer = function_.operand(*weight, 0);
    // Both halves are of one byte, and their factors are neighbors.
    if (place == 1)
      return a_buffer == nest_.a && w_buffer == nest_.w && a_offset == nest_.a_offset &&
             w->offset == nest_.w_offset && w->coefficients[0] == nest_.w_row;
    nest_.a = a_buffer;
    nest_.a_offset = a_offset;
    nest_.w = w_buffer;
    nest_.w_offset = w->offset;
    nest_.w_row = w->coefficients[0];
    return true;
  }

  // The load of a byte of which this is one half, in two's complement: (bits ^ 8) - 8.
  const Inst* NibbleOf(ValueId value, uint32_t place) const {
    const ValueId flipped = BesideNumber(value, Op::Sub, 8);
    const ValueId bits = flipped.valid() ? BesideNumber(flipped, Op::Xor, 8) : ValueId();
    if (!bits.valid()) return nullptr;
    const ValueId byte =
        place == 0 ? BesideNumber(bits, Op::And, 15) : BesideNumber(bits, Op::Shr, 4);
    return byte.valid() ? LoadOf(byte, ir::types::U8) : nullptr;
  }

  // --- the chain ---

  bool MatchScales(const FmaStep& step, const Inst& dot, const std::vector<InstId>& loads) {
    for (uint32_t i = 0; i < 2; ++i) {
      const Inst* number = MadeBy(step.factors[i], Op::Cast);
      const Inst* scale = MadeBy(step.factors[1 - i], Op::Mul);
      if (number == nullptr || scale == nullptr || scale->type != ir::types::F32 ||
          function_.operand(*number, 0) != Function::result_of(dot))
        continue;
      const Inst* left = MadeBy(function_.operand(*scale, 0), Op::Load);
      const Inst* right = MadeBy(function_.operand(*scale, 1), Op::Load);
      if (left == nullptr || right == nullptr || left == right) return false;
      for (const Inst* load : {left, right})
        if (load != &function_.inst(loads[0]) && load != &function_.inst(loads[1])) return false;
      return MatchScale(*left, *right) || MatchScale(*right, *left);
    }
    return false;
  }

  bool MatchScale(const Inst& of_a, const Inst& of_w) {
    const std::optional<Split> a = SplitIndex(function_.operand(of_a, 1));
    const std::optional<Split> w = SplitIndex(function_.operand(of_w, 1));
    if (!a || !w || !Moves(*a, 0, 1, 0) || !Moves(*w, -1, 1, 0)) return false;
    nest_.a_scales = function_.operand(of_a, 0);
    nest_.a_scales_offset = a->offset;
    nest_.w_scales = function_.operand(of_w, 0);
    nest_.w_scales_offset = w->offset;
    nest_.w_scales_row = w->coefficients[0];
    return true;
  }

  QuantizedNest nest_;
};

}  // namespace

std::optional<QuantizedNest> MatchQuantized(const Function& function, const FunctionFacts& facts,
                                            const Inst& loop) {
  return Matcher(function, facts, loop).Match();
}

}  // namespace frazil::targets::native
