// A plan for people: what is called with what, and where it lies.
#include <fmt/format.h>

#include "base/grouped.h"
#include "exec/plan/plan.h"
#include "ir/digest.h"
#include "ir/text/text.h"

namespace frazil::exec {
namespace {

std::string Show(const PlanScalar& scalar, ir::Type type) {
  switch (scalar.kind) {
    case PlanScalar::Kind::Constant:
      if (type == ir::types::Index && scalar.words.size() == 1)
        return fmt::format("{}", static_cast<int64_t>(scalar.words[0]));
      return fmt::format("0x{:x}", fmt::join(scalar.words, "_"));
    case PlanScalar::Kind::Param: return fmt::format("arg{}", scalar.param);
    case PlanScalar::Kind::Result: return fmt::format("step{}.{}", scalar.step, scalar.result);
  }
  return {};
}

std::string Show(const PlanPlace& place) {
  switch (place.room) {
    case PlanPlace::Room::Param: return fmt::format("arg{}", place.ordinal);
    case PlanPlace::Room::Result: return fmt::format("result{}", place.ordinal);
    case PlanPlace::Room::Arena:
      return fmt::format("arena[{}, {})", place.offset, place.offset + place.bytes);
  }
  return {};
}

// The entry of a form's program takes as many arguments as its steps give; who prints does not rely on it.
std::string Show(const PlanArgument& argument, const ir::Function& form, size_t i) {
  if (const auto* place = std::get_if<PlanPlace>(&argument)) return Show(*place);
  const auto ordinal = static_cast<uint32_t>(i);
  return Show(std::get<PlanScalar>(argument),
              ordinal < form.param_count() ? form.param_type(ordinal) : ir::Type{});
}

}  // namespace

std::string PrintPlan(const Plan& plan) {
  std::string text =
      fmt::format("// {} {} of {} {}, {} bytes between them\n", plan.steps.size(),
                  plan.steps.size() == 1 ? "call" : "calls", plan.forms.size(),
                  plan.forms.size() == 1 ? "form" : "forms", PrintGrouped(plan.arena_bytes));
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const PlanStep& step = plan.steps[i];
    const PlanForm& form = plan.forms[step.form];
    const ir::Function& entry = form.program->entry_function();
    std::vector<std::string> arguments, results;
    for (size_t a = 0; a < step.arguments.size(); ++a)
      arguments.push_back(Show(step.arguments[a], entry, a));
    for (size_t r = 0; r < step.results.size(); ++r)
      results.push_back(r < entry.results.size() && entry.results[r].is_tensor()
                            ? Show(step.results[r].place)
                            : fmt::format("step{}.{}", i, r));
    text += fmt::format("step{}: {} = {}({})\n", i, fmt::join(results, ", "),
                        ir::ShortDigest(form.exact), fmt::join(arguments, ", "));
  }
  for (const PlanScalar& scalar : plan.scalar_results)
    text += fmt::format("gives {}\n", Show(scalar, ir::Type{}));
  for (const PlanForm& form : plan.forms)
    text += fmt::format("\n// {}\n{}", ir::ShortDigest(form.exact), ir::PrintText(*form.program));
  return text;
}

}  // namespace frazil::exec
