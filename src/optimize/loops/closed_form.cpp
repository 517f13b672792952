// Replaces a loop by the constants or formulas of its results, and says so to the proof.
#include "optimize/loops/closed_form.h"

#include <fmt/format.h>

#include "optimize/cost.h"
#include "optimize/loops/recurrence.h"
#include "optimize/loops/symbolic_sum.h"
#include "optimize/value_terms.h"

namespace frazil::optimize {
namespace {

using namespace ir::names;

bool IsZero(std::span<const uint64_t> words) {
  for (uint64_t word : words)
    if (word != 0) return false;
  return true;
}

// For people: the well-known sums by name, others by their kind.
std::string FormulaOf(const Recurrence& r) {
  const LinearForm& yield = r.yields[0];
  bool sums = r.types.size() == 1 && yield.carried[0] == Big(1);
  if (!sums) return "a linear recurrence, its turn raised to the number of turns";
  size_t degree = yield.polynomial.empty() ? 0 : yield.polynomial.size() - 1;
  while (degree > 0 && yield.polynomial[degree] == Big(0)) --degree;
  bool plain = r.step == 1 && (r.lo == Big(1) || r.lo == Big(0)) && IsZero(r.inits[0]) &&
               degree >= 1 && yield.polynomial[degree] == Big(1);
  for (size_t p = 0; p < degree; ++p) plain &= yield.polynomial[p] == Big(0);
  if (plain && degree == 1) return "n(n+1)/2";
  if (plain && degree == 2) return "n(n+1)(2n+1)/6";
  if (plain && degree == 3) return "(n(n+1)/2)^2";
  return fmt::format("a polynomial of degree {} in the number of turns", degree + 1);
}

class LoopCloser : public PassCloner {
 public:
  struct Context {
    const Unit* unit;
    Proof* proof;
    std::vector<ClosedLoop>* closed;
    uint32_t* function;  // counts up
  };
  LoopCloser(const PassInput& input, const Context& context)
      : PassCloner(input), context_(context), index_((*context.function)++) {}
  Result<void> Run() { return CopyBody(); }

 private:
  Result<void> Visit(const Inst& inst) override {
    if (inst.op != Op::For) return CopyInst(inst);
    if (std::optional<Recurrence> recurrence = ReadRecurrence(source_, inst))
      return Close(inst, *recurrence);
    if (std::optional<SymbolicSums> sums = ReadSums(source_, inst); sums && Pays(inst, *sums))
      return Close(inst, *sums);
    return CopyInst(inst);
  }

  bool Pays(const Inst& inst, const SymbolicSums& sums) const {
    double turn = 1;
    for (ir::InstId id : source_.region(Function::region_of(inst, 0)).insts)
      turn += OpCost(source_.inst(id).op, source_.inst(id).type);
    return sums.formula.Cost(sums.results) < TripsOf(source_, inst) * turn;
  }

  Result<void> Close(const Inst& inst, const SymbolicSums& sums) {
    std::optional<ValueTerms> values;
    if (context_.proof != nullptr)
      values.emplace(source_, context_.unit->origins[index_], index_, *context_.proof);
    for (uint32_t k = 0; k < inst.results.count; ++k) {
      const ValueId result = Function::result_of(inst, k);
      Bind(result,
           sums.formula.Emit(sums.results[k], builder_, [&](ValueId value) { return Get(value); }));
      if (!values) continue;
      if (std::optional<uint32_t> term =
              sums.formula.Term(sums.results[k], *values, *context_.proof))
        Claim(result, k, *term);
    }
    if (context_.closed != nullptr)
      context_.closed->push_back(
          {fmt::format("a polynomial of degree {} in the number of turns", sums.degree + 1), 0});
    changed_ = true;
    return {};
  }

  Result<void> Close(const Inst& inst, const Recurrence& recurrence) {
    const std::vector<std::vector<uint64_t>> finals = FinalValues(recurrence);
    for (uint32_t k = 0; k < inst.results.count; ++k) {
      const ValueId result = Function::result_of(inst, k);
      Bind(result, builder_.Const(recurrence.types[k], finals[k]));
      if (context_.proof != nullptr)
        Claim(result, k, context_.proof->Constant(recurrence.types[k], finals[k]));
    }
    if (context_.closed != nullptr)
      context_.closed->push_back({FormulaOf(recurrence), static_cast<double>(recurrence.turns)});
    changed_ = true;
    return {};
  }

  void Claim(ValueId result, uint32_t k, uint32_t term) {
    const ValueId origin = context_.unit->origins[index_][result.index];
    if (!origin.valid()) return;
    const ir::InstId loop = context_.unit->source->functions[index_].values[origin.index].def;
    context_.proof->ClosedForm(index_, loop.index, k, term);
  }

  const Context context_;
  const uint32_t index_;
};

}  // namespace

Result<bool> CloseLoops(Unit& unit, Proof* proof, std::vector<ClosedLoop>* closed) {
  uint32_t function = 0;
  const Unit before = unit;
  return RunPass<LoopCloser>(unit, LoopCloser::Context{&before, proof, closed, &function});
}

}  // namespace frazil::optimize
