#include "plan_meaning.h"

#include <algorithm>
#include <cstring>

#include "exec/launch.h"
#include "exec/meaning/interpreter.h"

namespace frazil::plans_test {
namespace {

using exec::PlanPlace;
using exec::PlanScalar;
using exec::Value;

class Machine {
 public:
  Machine(const ir::Program& program, const exec::Plan& plan, std::span<const Value> arguments)
      : entry_(program.entry_function()), plan_(plan), arguments_(arguments) {
    // What nobody has written is not zero.
    arena_.assign(plan.arena_bytes, std::byte{0xa5});
    for (const ir::Type type : entry_.results) {
      results_.emplace_back();
      if (!type.is_tensor()) continue;
      const auto dims = exec::ResultDims(entry_, type, arguments);
      const int64_t length = exec::ElementCount(dims).value_or(0);
      results_.back() = Value::Tensor(std::make_shared<exec::Memory>(type.element(), length), dims);
      std::memset(results_.back().memory->data(), 0x5a, results_.back().memory->size_bytes());
    }
  }

  std::optional<exec::Outcome> Run() {
    for (const exec::PlanStep& step : plan_.steps) {
      if (!Step(step)) return std::nullopt;
      if (trap_) return exec::Outcome{trap_, {}, {}, {}};
    }
    exec::Outcome outcome;
    size_t scalar = 0;
    for (size_t i = 0; i < results_.size(); ++i) {
      if (!entry_.results[i].is_tensor()) {
        if (scalar >= plan_.scalar_results.size()) return std::nullopt;
        const auto value = ScalarOf(plan_.scalar_results[scalar++], entry_.results[i]);
        if (!value) return std::nullopt;
        results_[i] = *value;
      }
      outcome.results.push_back(results_[i]);
    }
    return outcome;
  }

 private:
  std::byte* BytesAt(const PlanPlace& place) {
    std::byte* base = nullptr;
    uint64_t size = 0;
    if (place.room == PlanPlace::Room::Arena) {
      base = arena_.data();
      size = arena_.size();
    } else {
      const bool is_param = place.room == PlanPlace::Room::Param;
      const std::span<const Value> values =
          is_param ? arguments_ : std::span<const Value>(results_);
      if (place.ordinal >= values.size() || !values[place.ordinal].memory) return nullptr;
      base = values[place.ordinal].memory->data();
      size = values[place.ordinal].memory->size_bytes();
    }
    if (place.offset > size || place.bytes > size - place.offset) return nullptr;
    return base == nullptr ? nowhere_ : base + place.offset;
  }

  std::optional<Value> ScalarOf(const PlanScalar& scalar, ir::Type type) const {
    switch (scalar.kind) {
      case PlanScalar::Kind::Constant:
        if (scalar.words.size() != ir::WordsOf(type)) return std::nullopt;
        return Value::Scalar(type, scalar.words);
      case PlanScalar::Kind::Param:
        if (scalar.param >= arguments_.size() || arguments_[scalar.param].type != type)
          return std::nullopt;
        return arguments_[scalar.param];
      case PlanScalar::Kind::Result:
        if (scalar.step >= made_.size() || scalar.result >= made_[scalar.step].size() ||
            made_[scalar.step][scalar.result].type != type)
          return std::nullopt;
        return made_[scalar.step][scalar.result];
    }
    return std::nullopt;
  }

  bool Step(const exec::PlanStep& step) {
    const ir::Program& form = *plan_.forms[step.form].program;
    const ir::Function& f = form.entry_function();
    if (step.arguments.size() != f.param_count() || step.results.size() != f.results.size())
      return false;
    std::vector<Value> arguments(f.param_count());
    for (uint32_t i = 0; i < f.param_count(); ++i) {
      const auto* scalar = std::get_if<PlanScalar>(&step.arguments[i]);
      if (f.param_type(i).is_scalar() != (scalar != nullptr)) return false;
      if (scalar == nullptr) continue;
      const auto value = ScalarOf(*scalar, f.param_type(i));
      if (!value) return false;
      arguments[i] = *value;
    }
    for (uint32_t i = 0; i < f.param_count(); ++i) {
      const auto* place = std::get_if<PlanPlace>(&step.arguments[i]);
      if (place == nullptr) continue;
      const auto dims = exec::DimsOf(f, f.param_type(i), arguments);
      const auto length = exec::ElementCount(dims);
      const ir::Type element = f.param_type(i).element();
      std::byte* from = BytesAt(*place);
      if (from == nullptr || !length ||
          place->bytes != static_cast<uint64_t>(*length) * ir::BytesOf(element))
        return false;
      auto memory = std::make_shared<exec::Memory>(element, *length);
      if (place->bytes > 0) std::memcpy(memory->data(), from, place->bytes);
      if (!exec::ContentsAreCanonical(element, memory->data(), place->bytes)) return false;
      arguments[i] = Value::Tensor(std::move(memory), dims);
    }
    const auto outcome = exec::Interpret(form, arguments);
    if (!outcome) return false;
    trap_ = outcome->trap;
    if (trap_) return true;
    for (size_t i = 0; i < f.results.size(); ++i) {
      if (!f.results[i].is_tensor()) continue;
      const Value& made = outcome->results[i];
      std::byte* to = BytesAt(step.results[i].place);
      if (to == nullptr || made.memory->size_bytes() != step.results[i].place.bytes) return false;
      if (step.results[i].place.room == PlanPlace::Room::Param) return false;
      if (made.memory->size_bytes() > 0)
        std::memcpy(to, made.memory->data(), made.memory->size_bytes());
    }
    made_.push_back(outcome->results);
    return true;
  }

  const ir::Function& entry_;
  const exec::Plan& plan_;
  std::span<const Value> arguments_;
  std::vector<std::byte> arena_;
  std::byte nowhere_[1] = {};
  std::vector<Value> results_;
  std::vector<std::vector<Value>> made_;  // by step
  std::optional<exec::TrapInfo> trap_;
};

}  // namespace

std::optional<exec::Outcome> RunPlan(const ir::Program& program, const exec::Plan& plan,
                                     std::span<const Value> arguments) {
  return Machine(program, plan, arguments).Run();
}

}  // namespace frazil::plans_test
