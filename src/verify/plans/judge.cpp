// Why this is a proof:
//   values   by induction over the steps: the bytes that memory is said to hold a value in hold it; a step reads only such bytes,
//            and its form, at these sizes, makes of these values what the program makes of them (equal normal forms)
//   memory   a step writes what nobody reads afterwards as something else: what it overwrites is forgotten, and parameters are
//            never written. What it reads and writes is apart, as its code was judged
//   traps    the steps that may trap do so in the order of the program, each for instructions of its own, and nothing that may
//            trap is left out
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ir/check/check.h"
#include "ir/digest.h"
#include "verify/internal/examine.h"
#include "verify/plans/instance.h"
#include "verify/plans/memory.h"
#include "verify/plans/plans.h"
#include "verify/plans/slices.h"
#include "verify/tensors/evaluator.h"
#include "verify/tensors/judge.h"
#include "verify/tensors/traps.h"

namespace frazil::verify {
namespace {

using namespace ir::names;
using exec::PlanPlace;
using exec::PlanScalar;
using plans::StepReads;

std::unexpected<Error> Wrong(std::string why) { return Fail(Diag::NotAdmitted, std::move(why)); }

// No instruction of the program traps, whatever its parameters are.
bool NeverTraps(const ir::Program& program) {
  tensors::World world;
  tensors::Evaluator evaluator(program, world);
  tensors::Traps traps(evaluator, world);
  traps.Read();
  return evaluator.failure().empty() && !world.forms.is_exhausted() && traps.list().empty();
}

class PlanJudge {
 public:
  PlanJudge(const ir::Program& program, const exec::Plan& plan)
      : plan_(plan),

        function_(program.entry_function()),
        slicer_(program),
        memory_(function_, plan.arena_bytes) {}

  Result<void> Run() {
    for (const ir::Shape& shape : function_.shapes)
      if (std::ranges::any_of(shape, [](ir::Dim dim) { return dim.is_symbol(); }))
        return Wrong("a size of the program is not known");
    for (step_ = 0; step_ < plan_.steps.size(); ++step_) {
      const Result<void> judged = Step(plan_.steps[step_]);
      if (!judged) return Wrong(fmt::format("step {}: {}", step_, judged.error().message));
    }
    TRY_VOID(Results());
    for (const uint32_t place : slicer_.may_trap())
      if (!covered_.contains(place) && !NeverTraps(TRY(slicer_.Alone(place))))
        return Wrong("something that may trap is left out");
    return {};
  }

 private:
  Result<ValueId> Named(const exec::PlanValue& name) const {
    const std::vector<InstId>& body = function_.region(function_.body).insts;
    if (name.inst >= body.size()) return Wrong("it makes a value that the program does not have");
    const Inst& inst = function_.inst(body[name.inst]);
    const bool is_return = inst.op == Op::Return;
    if (name.result >= (is_return ? inst.operands.count : inst.results.count))
      return Wrong("it makes a value that the program does not have");
    return is_return ? function_.operand(inst, name.result)
                     : Function::result_of(inst, name.result);
  }

  // The value that a scalar is; nothing for a constant.
  Result<std::optional<ValueId>> ValueOf(const PlanScalar& scalar) const {
    switch (scalar.kind) {
      case PlanScalar::Kind::Constant: return std::nullopt;
      case PlanScalar::Kind::Param:
        if (scalar.param >= function_.param_count() ||
            !function_.param_type(scalar.param).is_scalar())
          return Wrong("a scalar is no parameter of the program");
        return function_.param(scalar.param);
      case PlanScalar::Kind::Result:
        const auto made = scalars_.find({scalar.step, scalar.result});
        if (made == scalars_.end()) return Wrong("a scalar was made by no step before");
        return made->second;
    }
    return Wrong("a scalar comes from nowhere");
  }

  // The form's tensor and the place are as large, and the place is one.
  Result<void> Fits(const Function& form, Type tensor, const PlanPlace& place) const {
    if (std::string why = memory_.Misplaced(place); !why.empty()) return Wrong(std::move(why));
    const std::optional<uint64_t> elements = plans::ElementsOf(form, tensor, plan_.steps[step_]);
    if (!elements || *elements * ir::BytesOf(tensor.element()) != place.bytes)
      return Wrong("a tensor is not as large as its place");
    return {};
  }

  Result<StepReads> Reads(const exec::PlanStep& step, const Function& form) const {
    StepReads reads;
    const auto add = [&](ValueId value) {
      const auto known = std::ranges::find(reads.given, value);
      reads.of_parameter.push_back(static_cast<uint32_t>(known - reads.given.begin()));
      if (known == reads.given.end()) reads.given.push_back(value);
    };
    for (uint32_t i = 0; i < form.param_count(); ++i) {
      const Type type = form.param_type(i);
      const auto* place = std::get_if<PlanPlace>(&step.arguments[i]);
      if (type.is_buffer() || type.is_tensor() != (place != nullptr))
        return Wrong("an argument is of another kind than its form's");
      if (place == nullptr) {
        const auto value = TRY(ValueOf(std::get<PlanScalar>(step.arguments[i])));
        if (value)
          add(*value);
        else
          reads.of_parameter.push_back(StepReads::Constant);
        continue;
      }
      TRY_VOID(Fits(form, type, *place));
      const std::optional<ValueId> held = memory_.Read(*place);
      if (!held) return Wrong("it reads bytes that hold no value, or not all of one");
      add(*held);
    }
    return reads;
  }

  // Results are apart from each other and from all that is read.
  Result<void> IsApart(const exec::PlanStep& step, const Function& form) const {
    std::vector<const PlanPlace*> places;
    for (const exec::PlanArgument& argument : step.arguments)
      if (const auto* place = std::get_if<PlanPlace>(&argument)) places.push_back(place);
    for (size_t i = 0; i < step.results.size(); ++i) {
      if (!form.results[i].is_tensor()) continue;
      const PlanPlace& own = step.results[i].place;
      for (const PlanPlace* other : places)
        if (plans::AbstractMemory::Overlap(own, *other))
          return Wrong("it writes where it reads or writes something else");
      places.push_back(&own);
    }
    return {};
  }

  Result<void> Step(const exec::PlanStep& step) {
    if (step.form >= plan_.forms.size()) return Wrong("there is no such form");
    const exec::PlanForm& planned = plan_.forms[step.form];
    const Function& form = planned.program->entry_function();
    if (step.arguments.size() != form.param_count() || step.results.size() != form.results.size())
      return Wrong("it has other arguments or results than its form");
    const StepReads reads = TRY(Reads(step, form));
    TRY_VOID(IsApart(step, form));
    std::vector<ValueId> makes;
    std::vector<Type> types;
    for (size_t i = 0; i < step.results.size(); ++i) {
      makes.push_back(TRY(Named(step.results[i].makes)));
      types.push_back(function_.type(makes.back()));
      if (types.back().is_tensor() != form.results[i].is_tensor())
        return Wrong("a result is of another kind than its form's");
      if (types.back().is_tensor()) TRY_VOID(Fits(form, form.results[i], step.results[i].place));
    }
    const plans::Slice slice = TRY(slicer_.Of(reads.given, makes));
    const ir::Program instance = TRY(plans::InstanceOf(planned, step, function_, reads, types));
    TRY_VOID(Compare(slice, instance));
    for (size_t i = 0; i < makes.size(); ++i) {
      if (types[i].is_scalar()) {
        scalars_[{static_cast<uint32_t>(step_), static_cast<uint32_t>(i)}] = makes[i];
        continue;
      }
      std::string why = memory_.Write(step.results[i].place, makes[i]);
      if (!why.empty()) return Wrong(std::move(why));
    }
    return {};
  }

  // Whether two programs that are equal never trap. Layers are alike: what was compared once is not compared again.
  Result<bool> IsEqualAndSafe(const plans::Slice& slice, const ir::Program& instance) {
    std::pair key(ir::CanonicalBytes(slice.program), ir::CanonicalBytes(instance));
    if (const auto known = equal_.find(key); known != equal_.end()) return known->second;
    TRY_VOID(ir::Check(instance));
    const Verdict verdict = TensorFormJudge(slice.program, instance, {});
    if (!std::holds_alternative<Proved>(verdict)) return Wrong(WhyNot(verdict));
    const bool is_safe = slice.may_trap.empty() || NeverTraps(slice.program);
    return equal_.emplace(std::move(key), is_safe).first->second;
  }

  Result<void> Compare(const plans::Slice& slice, const ir::Program& instance) {
    const bool is_safe = TRY(IsEqualAndSafe(slice, instance));
    covered_.insert(slice.may_trap.begin(), slice.may_trap.end());
    if (is_safe) return {};
    // The list of what may trap is the slice's own: the lists one after the other are the program's.
    if (*slice.may_trap.begin() < next_trap_)
      return Wrong("it may trap, after what comes behind that in the program");
    next_trap_ = *slice.may_trap.rbegin() + 1;
    return {};
  }

  // Through names of the same elements.
  bool IsSame(ValueId held, ValueId wanted) const {
    for (;;) {
      if (held == wanted) return true;
      const InstId def = function_.values[wanted.index].def;
      if (!def.valid() || function_.inst(def).op != Op::Reshape) return false;
      wanted = function_.operand(function_.inst(def), 0);
    }
  }

  Result<void> Results() const {
    const Inst& last = function_.inst(function_.region(function_.body).insts.back());
    size_t scalar = 0;
    for (uint32_t i = 0; i < last.operands.count; ++i) {
      const ValueId value = function_.operand(last, i);
      if (function_.type(value).is_scalar()) {
        if (scalar >= plan_.scalar_results.size()) return Wrong("it gives too few results");
        TRY_VOID(ScalarResult(plan_.scalar_results[scalar++], value, i));
        continue;
      }
      const auto bytes = plans::BytesOfTensor(function_, function_.type(value));
      const auto held =
          bytes ? memory_.Read({PlanPlace::Room::Result, i, 0, *bytes}) : std::nullopt;
      if (!held || !IsSame(*held, value))
        return Wrong(fmt::format("result {} is not what it should be", i + 1));
    }
    if (scalar != plan_.scalar_results.size()) return Wrong("it gives too many results");
    return {};
  }

  Result<void> ScalarResult(const PlanScalar& scalar, ValueId value, uint32_t i) const {
    const std::optional<ValueId> is = TRY(ValueOf(scalar));
    if (is && *is == value) return {};
    const InstId def = function_.values[value.index].def;
    if (!is && def.valid() && function_.inst(def).op == Op::Const &&
        std::ranges::equal(scalar.words, function_.words_of(function_.inst(def))))
      return {};
    return Wrong(fmt::format("result {} is not what it should be", i + 1));
  }

  const exec::Plan& plan_;
  const Function& function_;
  plans::Slicer slicer_;
  plans::AbstractMemory memory_;
  size_t step_ = 0;
  std::map<std::pair<uint32_t, uint32_t>, ValueId> scalars_;   // by step and result
  std::map<std::pair<std::string, std::string>, bool> equal_;  // by their bytes
  std::set<uint32_t> covered_;                                 // of what may trap: some step has it
  uint32_t next_trap_ = 0;  // what may trap before this has been done
};

}  // namespace

Verdict VerifyPlan(const ir::Program& program, const exec::Plan& plan) {
  const ir::Program canonical = ir::Canonicalize(program);
  for (const exec::PlanForm& form : plan.forms)
    if (form.exact != ir::ExactDigest(*form.program))
      return Unknown{"a form has another program than it names"};
  const Result<void> judged = PlanJudge(canonical, plan).Run();
  if (!judged) return Unknown{"the plan: " + judged.error().message};
  return Proved{{Grade::Proved, "normal form",
                 fmt::format("calls: {} steps, {} forms", plan.steps.size(), plan.forms.size()),
                 0}};
}

}  // namespace frazil::verify
