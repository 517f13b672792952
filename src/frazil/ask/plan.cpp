#include "frazil/ask/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "optimize/optimize.h"
#include "verify/verify.h"

namespace frazil::ask {
namespace {

// The most turns of a loop with constant bounds.
uint64_t MostTurns(const ir::Program& program) {
  const ir::Function& entry = program.entry_function();
  auto constant = [&](ir::ValueId value) -> std::optional<int64_t> {
    const ir::InstId def = entry.values[value.index].def;
    if (!def.valid() || entry.inst(def).op != ir::Op::Const) return std::nullopt;
    return static_cast<int64_t>(entry.words_of(entry.inst(def))[0]);
  };
  uint64_t most = 0;
  for (const ir::Inst& inst : entry.insts) {
    if (inst.op != ir::Op::For) continue;
    const std::optional<int64_t> lo = constant(entry.operand(inst, 0)),
                                 hi = constant(entry.operand(inst, 1));
    if (!lo || !hi || *lo >= *hi) continue;
    most = std::max(most, (static_cast<uint64_t>(*hi) - static_cast<uint64_t>(*lo)) /
                              static_cast<uint64_t>(entry.word(inst, 0)));
  }
  return most;
}

// Without its long loops, and the formulas that stand there instead; short ones that went with them are not worth a word. A
// certificate that does not hold would only be refused later.
struct ClosedForm {
  ir::Candidate candidate;
  std::string formula;
};
std::optional<ClosedForm> FindClosedForm(const ir::Program& program, const Limits& limits) {
  std::vector<optimize::ClosedLoop> closed;
  optimize::OptimizeOptions options;
  options.closed = &closed;
  Result<ir::Candidate> candidate = optimize::Optimize(program, limits, options);
  if (!candidate) return std::nullopt;
  std::vector<std::string> formulas;
  for (optimize::ClosedLoop& loop : closed)
    if (loop.turns > LongLoop && std::ranges::find(formulas, loop.formula) == formulas.end())
      formulas.push_back(std::move(loop.formula));
  if (formulas.empty()) return std::nullopt;
  if (!std::holds_alternative<verify::Proved>(verify::CheckCertificate(program, *candidate)))
    return std::nullopt;
  return ClosedForm{std::move(*candidate), fmt::format("{}", fmt::join(formulas, " and "))};
}

}  // namespace

Plan MakePlan(const ir::Program& program, const Limits& limits) {
  Plan plan{{program, {}, {}, "source"}, {}, {}};
  if (MostTurns(program) <= LongLoop) return plan;
  std::optional<ClosedForm> closed = FindClosedForm(program, limits);
  if (!closed) return plan;
  if (limits.fuel != Limits().fuel) {
    plan.shorter = std::move(closed->candidate);
    return plan;
  }
  return {std::move(closed->candidate), std::move(closed->formula), "proved by induction"};
}

}  // namespace frazil::ask
