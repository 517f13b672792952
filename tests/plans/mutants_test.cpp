// Wrong plans, made from sound ones by changing one thing: whatever is not the program's answer must not be proved.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "exec/meaning/interpreter.h"
#include "exec/random_arguments.h"
#include "graphs.h"
#include "ir/check/check.h"
#include "ir/digest.h"
#include "optimize/calls/cut.h"
#include "plan_meaning.h"
#include "programs.h"
#include "verify/plans/plans.h"

namespace frazil::plans_test {
namespace {

using exec::Plan;
using exec::PlanPlace;
using exec::PlanScalar;
using exec::PlanStep;

struct Mutant {
  std::string kind, what;
  Plan plan;
};

class Mutants {
 public:
  explicit Mutants(const optimize::Cut& cut) : cut_(cut), plan_(cut.plan) {}

  std::vector<Mutant> All() {
    Add("arena", "one byte less", [](Plan& plan) { plan.arena_bytes -= plan.arena_bytes > 0; });
    for (size_t s = 0; s < plan_.steps.size(); ++s) {
      Order(s);
      Forms(s);
      Arguments(s);
      Results(s);
    }
    for (size_t i = 0; i < plan_.scalar_results.size(); ++i)
      Scalar("scalar result", fmt::format("result {}", i),
             [i](Plan& plan) -> PlanScalar& { return plan.scalar_results[i]; });
    Programs();
    return std::move(mutants_);
  }

 private:
  void Add(std::string kind, std::string what, const std::function<void(Plan&)>& change) {
    Plan copy = plan_;
    change(copy);
    if (copy.steps == plan_.steps && copy.arena_bytes == plan_.arena_bytes &&
        copy.scalar_results == plan_.scalar_results && kind != "program")
      return;
    mutants_.push_back({std::move(kind), std::move(what), std::move(copy)});
  }

  void Order(size_t s) {
    Add("missing step", fmt::format("step {}", s), [s](Plan& plan) {
      plan.steps.erase(plan.steps.begin() + static_cast<std::ptrdiff_t>(s));
      for (PlanStep& step : plan.steps)
        for (exec::PlanArgument& argument : step.arguments)
          if (auto* scalar = std::get_if<PlanScalar>(&argument); scalar && scalar->step > s)
            --scalar->step;
    });
    for (size_t t = s + 1; t < plan_.steps.size(); ++t)
      Add("order", fmt::format("steps {} and {}", s, t),
          [s, t](Plan& plan) { std::swap(plan.steps[s], plan.steps[t]); });
  }

  void Forms(size_t s) {
    for (uint32_t f = 0; f < plan_.forms.size(); ++f)
      Add("wrong form", fmt::format("step {} calls {}", s, f),
          [s, f](Plan& plan) { plan.steps[s].form = f; });
  }

  void Place(const std::string& kind, const std::string& what,
             const std::function<PlanPlace&(Plan&)>& place) {
    for (const int64_t by : {-64, -4, 4, 64}) {
      Add(kind + " offset", fmt::format("{} by {}", what, by),
          [&](Plan& plan) { place(plan).offset += static_cast<uint64_t>(by); });
      Add(kind + " size", fmt::format("{} by {}", what, by),
          [&](Plan& plan) { place(plan).bytes += static_cast<uint64_t>(by); });
    }
    // Where something else is, or was.
    for (const PlanPlace& other : places_())
      Add(kind + " elsewhere",
          fmt::format("{} in room {} {} at {}", what, static_cast<int>(other.room), other.ordinal,
                      other.offset),
          [&](Plan& plan) {
            const uint64_t bytes = place(plan).bytes;
            place(plan) = other;
            place(plan).bytes = bytes;
          });
  }

  std::vector<PlanPlace> places_() const {
    std::vector<PlanPlace> places;
    const auto add = [&](const PlanPlace& place) {
      if (std::ranges::find(places, place) == places.end()) places.push_back(place);
    };
    for (const PlanStep& step : plan_.steps) {
      for (const exec::PlanArgument& argument : step.arguments)
        if (const auto* place = std::get_if<PlanPlace>(&argument)) add(*place);
      for (const exec::PlanResult& result : step.results)
        if (result.place.bytes > 0) add(result.place);
    }
    return places;
  }

  void Scalar(const std::string& kind, const std::string& what,
              const std::function<PlanScalar&(Plan&)>& scalar) {
    for (const int by : {-1, 1, 7})
      Add(kind, fmt::format("{} by {}", what, by), [&](Plan& plan) {
        PlanScalar& it = scalar(plan);
        if (!it.words.empty()) it.words[0] += static_cast<uint64_t>(by);
        if (it.kind == PlanScalar::Kind::Param) it.param += static_cast<uint32_t>(by);
        if (it.kind == PlanScalar::Kind::Result) it.step += static_cast<uint32_t>(by);
      });
  }

  void Arguments(size_t s) {
    const PlanStep& step = plan_.steps[s];
    for (size_t a = 0; a < step.arguments.size(); ++a) {
      const std::string what = fmt::format("step {} argument {}", s, a);
      if (std::holds_alternative<PlanPlace>(step.arguments[a]))
        Place("argument", what, [s, a](Plan& plan) -> PlanPlace& {
          return std::get<PlanPlace>(plan.steps[s].arguments[a]);
        });
      else
        Scalar("size or scalar", what, [s, a](Plan& plan) -> PlanScalar& {
          return std::get<PlanScalar>(plan.steps[s].arguments[a]);
        });
      for (size_t b = a + 1; b < step.arguments.size(); ++b)
        if (step.arguments[a].index() == step.arguments[b].index())
          Add("swapped arguments", fmt::format("step {}: {} and {}", s, a, b), [=](Plan& plan) {
            std::swap(plan.steps[s].arguments[a], plan.steps[s].arguments[b]);
          });
    }
  }

  void Results(size_t s) {
    const PlanStep& step = plan_.steps[s];
    const auto& body = cut_.program.entry_function().region(cut_.program.entry_function().body);
    for (size_t r = 0; r < step.results.size(); ++r) {
      const std::string what = fmt::format("step {} result {}", s, r);
      if (step.results[r].place.bytes > 0)
        Place("result", what,
              [s, r](Plan& plan) -> PlanPlace& { return plan.steps[s].results[r].place; });
      for (uint32_t inst = 0; inst < body.insts.size(); ++inst)
        Add("wrong claim", fmt::format("{} is instruction {}", what, inst),
            [=](Plan& plan) { plan.steps[s].results[r].makes = {inst, 0}; });
    }
  }

  // The form's own program is another one.
  void Programs() {
    for (size_t f = 0; f < plan_.forms.size(); ++f) {
      const ir::Function& old = plan_.forms[f].program->entry_function();
      for (size_t i = 0; i < old.insts.size(); ++i) {
        const ir::Op op = old.insts[i].op;
        const ir::Op other = op == ir::Op::Add   ? ir::Op::Sub
                             : op == ir::Op::Sub ? ir::Op::Add
                             : op == ir::Op::Mul ? ir::Op::Add
                             : op == ir::Op::Max ? ir::Op::Min
                                                 : op;
        if (other == op) continue;
        ir::Program program = *plan_.forms[f].program;
        program.functions[program.entry.index].insts[i].op = other;
        if (!ir::Check(program)) continue;
        Add("program", fmt::format("form {} instruction {}", f, i), [&](Plan& plan) {
          plan.forms[f].exact = ir::ExactDigest(program);
          plan.forms[f].program = std::make_shared<const ir::Program>(program);
        });
      }
    }
  }

  const optimize::Cut& cut_;
  const Plan& plan_;
  std::vector<Mutant> mutants_;
};

// Answers as the program on a few inputs.
bool Answers(const optimize::Cut& cut, const Plan& plan) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    const auto expected = exec::Interpret(cut.program, exec::RandomArguments(cut.program, seed));
    const auto found = RunPlan(cut.program, plan, exec::RandomArguments(cut.program, seed));
    if (!found || !expected || found->trap != expected->trap || found->results != expected->results)
      return false;
  }
  return true;
}

TEST(PlanMutants, NoneThatIsWrongIsProved) {
  std::vector<ir::Program> programs = {Parse(Mlp(3, {4, 5, 4, 3})), Parse(Mlp(4, {4, 4, 4}))};
  for (uint64_t seed = 0; seed < 9; ++seed) programs.push_back(RandomGraph(seed));
  std::map<std::string, std::array<uint64_t, 2>> counts;  // refused, proved
  uint64_t refused = 0, proved = 0;
  for (size_t p = 0; p < programs.size(); ++p) {
    for (const optimize::CutWay way : optimize::CutWays) {
      const auto cut = optimize::CutIntoCalls(programs[p], way);
      if (!cut || verify::VerdictName(verify::VerifyPlan(cut->program, cut->plan)) != "proved")
        continue;
      for (const Mutant& mutant : Mutants(*cut).All()) {
        const bool is_proved =
            verify::VerdictName(verify::VerifyPlan(cut->program, mutant.plan)) == "proved";
        ++counts[mutant.kind][is_proved ? 1 : 0];
        ++(is_proved ? proved : refused);
        if (is_proved)
          EXPECT_TRUE(Answers(*cut, mutant.plan))
              << "program " << p << ", " << mutant.kind << ": " << mutant.what << "\n"
              << exec::PrintPlan(mutant.plan);
      }
    }
  }
  for (const auto& [kind, count] : counts)
    std::printf("%-22s %5lu refused, %4lu equal\n", kind.c_str(),
                static_cast<unsigned long>(count[0]), static_cast<unsigned long>(count[1]));
  EXPECT_GE(refused, 1000u);
  for (const auto& [kind, count] : counts) EXPECT_GT(count[0], 0u) << kind;
}

}  // namespace
}  // namespace frazil::plans_test
