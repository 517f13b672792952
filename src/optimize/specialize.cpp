// Programs for the arguments that were seen. A guard costs a test on every call, so an atom stays only if the program
// is dearer without it, and the whole only if it is clearly cheaper than the program for all arguments.
#include "optimize/optimize.h"
#include "optimize/pipeline.h"

namespace frazil::optimize {
namespace {

// Below this part of the general program's cost a guard is worth its tests.
constexpr double ClearlyLower = 0.8;

using Known = std::vector<std::vector<uint64_t>>;  // by parameter; empty: not known

class Substitution : public PassCloner {
 public:
  struct Context {
    const Known* known;
    ir::FuncId entry;
    uint32_t* function;  // counts up
  };
  Substitution(const PassInput& input, const Context& context)
      : PassCloner(input),
        context_(context),
        is_entry_((*context.function)++ == context.entry.index) {}

  Result<void> Run() {
    for (uint32_t i = 0; is_entry_ && i < source_.param_count(); ++i) {
      const std::vector<uint64_t>& words = (*context_.known)[i];
      if (!words.empty()) Bind(source_.param(i), builder_.Const(source_.param_type(i), words));
    }
    return CopyBody();
  }

 private:
  const Context context_;
  const bool is_entry_;
};

struct Specialized {
  Unit unit;
  Proof proof;
  double cost = 0;
};

Result<Specialized> With(const ir::Program& source, const Known& known) {
  Specialized made{MakeUnit(source), {}, 0};
  uint32_t function = 0;
  TRY(RunPass<Substitution>(made.unit, Substitution::Context{&known, source.entry, &function}));
  TRY_VOID(CleanAndClose(made.unit, made.proof, {}));
  made.cost = StaticCost(made.unit.program);
  return made;
}

size_t CountOf(const Known& known) {
  size_t count = 0;
  for (const std::vector<uint64_t>& words : known) count += words.empty() ? 0 : 1;
  return count;
}

// Scalars of the entry whose observed words are values of their type.
Known Usable(const ir::Function& entry, const Observed& observed) {
  Known known(entry.param_count());
  for (uint32_t i = 0; i < entry.param_count() && i < observed.constant_arguments.size(); ++i) {
    const ir::Type type = entry.param_type(i);
    if (type.is_scalar() && observed.constant_arguments[i].size() == ir::WordsOf(type))
      known[i] = observed.constant_arguments[i];
  }
  return known;
}

ir::Guard GuardOf(const ir::Function& entry, const Known& known) {
  ir::Guard guard;
  for (uint32_t i = 0; i < known.size(); ++i) {
    if (known[i].empty()) continue;
    ir::GuardAtom atom;
    atom.kind = ir::GuardKind::Equals;
    atom.arg = i;
    atom.type = entry.param_type(i);
    atom.low = known[i];
    guard.atoms.push_back(std::move(atom));
  }
  return guard;
}

// Drops, one by one, what the program can do without; of too many, those that matter least.
Result<Known> Needed(const ir::Program& source, Known known) {
  double cost = TRY(With(source, known)).cost;
  for (std::vector<uint64_t>& words : known) {
    if (words.empty()) continue;
    std::vector<uint64_t> kept = std::move(words);
    words.clear();
    const double without = TRY(With(source, known)).cost;
    if (without <= cost || (without <= 1.02 * cost && CountOf(known) >= ir::MaxGuardAtoms))
      cost = without;
    else
      words = std::move(kept);
  }
  return known;
}

}  // namespace

Result<ir::Candidate> Specialize(const ir::Program& source, const Observed& observed,
                                 const Limits& limits) {
  ir::Candidate general = TRY(Optimize(source, limits));
  const ir::Function& entry = source.entry_function();
  Known known = Usable(entry, observed);
  if (CountOf(known) == 0) return general;
  known = TRY(Needed(source, std::move(known)));
  ir::Guard guard = GuardOf(entry, known);
  if (guard.atoms.empty() || !ir::CheckGuard(guard, source)) return general;
  Specialized made = TRY(With(source, known));
  TRY(RunPipeline(made.unit, made.proof, limits, {}));
  if (StaticCost(made.unit.program) >= ClearlyLower * StaticCost(general.program)) return general;
  ir::Candidate candidate;
  candidate.program = std::move(made.unit.program);
  candidate.certificate = made.proof.Take();
  candidate.guard = std::move(guard);
  candidate.origin = "specialize";
  return candidate;
}

}  // namespace frazil::optimize
