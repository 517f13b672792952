#include "optimize/calls/cut.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "ir/digest.h"
#include "optimize/calls/places.h"
#include "optimize/calls/step_function.h"
#include "optimize/fusion/fusion.h"

namespace frazil::optimize {
namespace {

using namespace ir::names;
using exec::PlanPlace;
using exec::PlanScalar;

// Values of the body by their places: fusion keeps the names of what it makes, and that is how they are found again behind it. A
// name is a claim like everything else here.
std::string NameAt(uint32_t inst, uint32_t result) { return fmt::format("v{}_{}", inst, result); }

ir::Program WithNames(ir::Program canonical) {
  Function& f = canonical.functions[canonical.entry.index];
  f.value_names.assign(f.values.size(), {});
  const std::vector<InstId>& body = f.region(f.body).insts;
  for (uint32_t at = 0; at < body.size(); ++at) {
    const Inst& inst = f.inst(body[at]);
    for (uint32_t i = 0; i < inst.results.count; ++i)
      f.value_names[Function::result_of(inst, i).index] = NameAt(at, i);
  }
  return canonical;
}

// By name.
std::map<std::string, exec::PlanValue> PlacesIn(const Function& f) {
  std::map<std::string, exec::PlanValue> places;
  const std::vector<InstId>& body = f.region(f.body).insts;
  for (uint32_t at = 0; at < body.size(); ++at)
    for (uint32_t i = 0; i < f.inst(body[at]).results.count; ++i) places[NameAt(at, i)] = {at, i};
  return places;
}

class Cutter {
 public:
  // `planned`: whose values the steps make: the program itself, or what it was made of, whose values it has the names of.
  Cutter(const ir::Program& program, const ir::Program& planned)
      : program_(program),
        function_(program.entry_function()),
        is_renamed_(&program != &planned),
        places_(is_renamed_ ? PlacesIn(planned.entry_function())
                            : std::map<std::string, exec::PlanValue>()),
        return_at_(static_cast<uint32_t>(
            planned.entry_function().region(planned.entry_function().body).insts.size() - 1)) {}

  Result<exec::Plan> Run() {
    TRY_VOID(CheckSizes());
    Locate();
    const std::vector<InstId>& body = function_.region(function_.body).insts;
    for (const InstId id : body) {
      const Inst& inst = function_.inst(id);
      if (IsStep(inst)) TRY_VOID(AddStep(inst));
    }
    TRY_VOID(AddReturn(function_.inst(body.back())));
    TRY_VOID(PlaceAll());
    return std::move(plan_);
  }

 private:
  // What a step reads and makes, before it has a place.
  struct Use {
    std::vector<ValueId> reads;  // by parameter of the form; invalid: a scalar
    std::vector<ValueId> makes;
    int32_t copies_to = -1;  // the result of the program that it is a copy for
  };
  struct Lifetime {
    size_t last = 0;
    int32_t result = -1;  // of the program: it is made there
  };

  Result<void> CheckSizes() const {
    for (const ir::Shape& shape : function_.shapes)
      if (std::ranges::any_of(shape, [](ir::Dim dim) { return dim.is_symbol(); }))
        return Fail(Diag::Unsupported, "a size is not known before the call");
    for (uint32_t i = 0; i < function_.param_count(); ++i)
      if (function_.param_type(i).is_buffer())
        return Fail(Diag::Unsupported, "a parameter is a buffer");
    return {};
  }

  void Locate() {
    is_outer_.assign(function_.values.size(), false);
    ordinals_.assign(function_.insts.size(), 0);
    for (uint32_t i = 0; i < function_.param_count(); ++i)
      is_outer_[function_.param(i).index] = true;
    const std::vector<InstId>& body = function_.region(function_.body).insts;
    for (uint32_t at = 0; at < body.size(); ++at) {
      ordinals_[body[at].index] = at;
      const Inst& inst = function_.inst(body[at]);
      for (uint32_t i = 0; i < inst.results.count; ++i)
        is_outer_[Function::result_of(inst, i).index] = true;
    }
  }

  bool ReadsTensors(const Inst& inst) const {
    const auto is_tensor = [&](ValueId value) { return !function_.type(value).is_scalar(); };
    if (std::ranges::any_of(function_.operands_of(inst), is_tensor)) return true;
    for (uint32_t i = 0; i < inst.regions.count; ++i)
      for (const InstId id : function_.region(Function::region_of(inst, i)).insts)
        if (ReadsTensors(function_.inst(id))) return true;
    return false;
  }

  // Scalars without tensors are parts of the steps that need them.
  bool IsStep(const Inst& inst) const {
    if (inst.op == Op::Reshape || inst.op == Op::Return) return false;
    for (uint32_t i = 0; i < inst.results.count; ++i)
      if (function_.type(Function::result_of(inst, i)).is_tensor()) return true;
    return ReadsTensors(inst);
  }

  // The tensor whose bytes it names.
  ValueId RootOf(ValueId tensor) const {
    for (;;) {
      const InstId def = function_.values[tensor.index].def;
      if (!def.valid() || function_.inst(def).op != Op::Reshape) return tensor;
      tensor = function_.operand(function_.inst(def), 0);
    }
  }

  uint64_t BytesOf(ValueId tensor) const {
    uint64_t bytes = ir::BytesOf(function_.type(tensor).element());
    for (const ir::Dim dim : function_.shape(function_.type(tensor)))
      bytes *= static_cast<uint64_t>(dim.value);
    return bytes;
  }

  std::optional<uint32_t> ParamOf(ValueId value) const {
    for (uint32_t i = 0; i < function_.param_count(); ++i)
      if (function_.param(i) == value) return i;
    return std::nullopt;
  }

  Result<exec::PlanValue> NameOf(ValueId value) const {
    const InstId def = function_.values[value.index].def;
    if (!is_renamed_)
      return exec::PlanValue{ordinals_[def.index], value.index - function_.inst(def).results.begin};
    const auto place = value.index < function_.value_names.size()
                           ? places_.find(function_.value_names[value.index])
                           : places_.end();
    if (place == places_.end())
      return Fail(Diag::Unsupported, "a step makes something that the program does not have");
    return place->second;
  }

  Result<PlanScalar> ScalarOf(ValueId value) const {
    PlanScalar scalar;
    if (const auto param = ParamOf(value)) {
      scalar.kind = PlanScalar::Kind::Param;
      scalar.param = *param;
      return scalar;
    }
    const Inst& inst = function_.inst(function_.values[value.index].def);
    if (inst.op == Op::Const) {
      const auto words = function_.words_of(inst);
      scalar.words.assign(words.begin(), words.end());
      return scalar;
    }
    const auto made = scalars_.find(value.index);
    if (made == scalars_.end())
      return Fail(Diag::Unsupported, "a result is a scalar that no step makes");
    scalar.kind = PlanScalar::Kind::Result;
    std::tie(scalar.step, scalar.result) = made->second;
    return scalar;
  }

  uint32_t FormOf(const KnownForm& form) {
    const auto [at, is_new] =
        forms_.try_emplace(form.exact, static_cast<uint32_t>(plan_.forms.size()));
    if (is_new) plan_.forms.push_back({form.exact, form.program});
    return at->second;
  }

  // Behind the arguments, places are still to be found.
  Result<void> Add(StepFunction step, Use use) {
    exec::PlanStep& made = plan_.steps.emplace_back();
    for (const int64_t size : step.sizes) {
      PlanScalar scalar;
      scalar.words = {static_cast<uint64_t>(size)};
      made.arguments.emplace_back(std::move(scalar));
    }
    for (const ValueId scalar : step.scalars) made.arguments.emplace_back(TRY(ScalarOf(scalar)));
    use.reads.assign(made.arguments.size(), ValueId());
    for (const ValueId tensor : step.tensors) {
      made.arguments.emplace_back(PlanPlace());
      use.reads.push_back(RootOf(tensor));
      lifetimes_[RootOf(tensor).index].last = plan_.steps.size() - 1;
    }
    for (const ValueId value : use.makes)
      lifetimes_[value.index].last = std::max(lifetimes_[value.index].last, plan_.steps.size() - 1);
    made.form = FormOf(step.form);
    uses_.push_back(std::move(use));
    return {};
  }

  Result<void> AddStep(const Inst& inst) {
    if (ir::Info(inst.op).effect != ir::Effect::Pure && inst.regions.count == 0)
      return Fail(Diag::Unsupported, "the program does more than compute tensors");
    const auto is_part = [&](ValueId value) {
      return !ParamOf(value) && !scalars_.contains(value.index);
    };
    StepFunction step = TRY(MakeStepFunction(program_, inst, is_part, is_outer_, known_));
    // A form without tensors has no normal form of elements: elements are read once more.
    if (step.tensors.empty() && inst.results.count == 1 && !inst.type.is_tensor()) {
      const auto is_any = [&](ValueId value) { return !ParamOf(value); };
      step = TRY(MakeStepFunction(program_, inst, is_any, is_outer_, known_));
    }
    Use use;
    const auto number = static_cast<uint32_t>(plan_.steps.size());
    for (uint32_t i = 0; i < inst.results.count; ++i) {
      use.makes.push_back(Function::result_of(inst, i));
      if (function_.type(use.makes.back()).is_scalar())
        scalars_[use.makes.back().index] = {number, i};
    }
    return Add(std::move(step), std::move(use));
  }

  // Tensors that are returned are made in their places; what has none yet is copied.
  Result<void> AddReturn(const Inst& inst) {
    std::vector<std::pair<uint32_t, ValueId>> copies;
    for (uint32_t i = 0; i < inst.operands.count; ++i) {
      const ValueId value = function_.operand(inst, i);
      if (!function_.type(value).is_tensor()) {
        const InstId def = function_.values[value.index].def;
        if (def.valid() && function_.inst(def).op != Op::Const && !scalars_.contains(value.index))
          TRY_VOID(AddStep(function_.inst(def)));
        plan_.scalar_results.push_back(TRY(ScalarOf(value)));
        continue;
      }
      const ValueId root = RootOf(value);
      if (!ParamOf(root) && lifetimes_[root.index].result < 0)
        lifetimes_[root.index].result = static_cast<int32_t>(i);
      else
        copies.emplace_back(i, value);
    }
    for (const auto& [result, value] : copies) {
      Use use;
      use.copies_to = static_cast<int32_t>(result);
      use.makes = {};
      copied_.push_back(value);
      TRY_VOID(Add(TRY(MakeCopyFunction(program_, value, known_)), std::move(use)));
    }
    return {};
  }

  PlanPlace PlaceOf(ValueId root) const {
    PlanPlace place;
    place.bytes = BytesOf(root);
    if (const auto param = ParamOf(root)) {
      place.room = PlanPlace::Room::Param;
      place.ordinal = *param;
    } else if (const Lifetime& life = lifetimes_.at(root.index); life.result >= 0) {
      place.room = PlanPlace::Room::Result;
      place.ordinal = static_cast<uint32_t>(life.result);
    } else {
      place.offset = offsets_.at(root.index);
    }
    return place;
  }

  // A step's results get their places while what it reads still has its own.
  Result<void> PlaceAll() {
    ArenaPlaces arena(exec::PlanAlignment);
    std::map<size_t, std::vector<ValueId>> ending;
    size_t copy = 0;
    for (size_t s = 0; s < plan_.steps.size(); ++s) {
      exec::PlanStep& step = plan_.steps[s];
      const Use& use = uses_[s];
      for (const ValueId value : use.makes) {
        exec::PlanResult& result = step.results.emplace_back();
        result.makes = TRY(NameOf(value));
        if (!function_.type(value).is_tensor()) continue;
        const Lifetime& life = lifetimes_.at(value.index);
        if (life.result < 0) {
          offsets_[value.index] = arena.Take(BytesOf(value));
          ending[life.last].push_back(value);
        }
        result.place = PlaceOf(value);
      }
      if (use.copies_to >= 0) {
        const ValueId value = copied_[copy++];
        exec::PlanResult& result = step.results.emplace_back();
        // A parameter is made by nobody: the return says what is copied.
        result.makes = {return_at_, static_cast<uint32_t>(use.copies_to)};
        result.place = {PlanPlace::Room::Result, static_cast<uint32_t>(use.copies_to), 0,
                        BytesOf(value)};
      }
      for (size_t i = 0; i < use.reads.size(); ++i)
        if (use.reads[i].valid()) step.arguments[i] = PlaceOf(use.reads[i]);
      for (const ValueId value : ending[s])
        arena.GiveBack(offsets_.at(value.index), BytesOf(value));
    }
    plan_.arena_bytes = arena.size();
    return {};
  }

  const ir::Program& program_;
  const Function& function_;
  const bool is_renamed_;
  const std::map<std::string, exec::PlanValue> places_;
  const uint32_t return_at_;
  exec::Plan plan_;
  std::vector<bool> is_outer_;
  std::vector<uint32_t> ordinals_;  // by instruction: where in the body
  std::vector<Use> uses_;
  std::vector<ValueId> copied_;
  std::map<uint32_t, Lifetime> lifetimes_;                     // by value
  std::map<uint32_t, uint64_t> offsets_;                       // by value
  std::map<uint32_t, std::pair<uint32_t, uint32_t>> scalars_;  // by value: step and result
  std::map<std::string, uint32_t> forms_;
  KnownForms known_;
};

}  // namespace

Result<Cut> CutIntoCalls(const ir::Program& source, CutWay way) {
  Cut cut{WithNames(ir::Canonicalize(source)), {}};
  std::optional<ir::Candidate> fused;
  if (way != CutWay::Unfused) fused = TRY(FusedCandidate(cut.program));
  if (fused && way == CutWay::OfSource) {
    cut.plan = TRY(Cutter(fused->program, cut.program).Run());
    return cut;
  }
  if (fused) cut.program = ir::Canonicalize(fused->program);
  cut.plan = TRY(Cutter(cut.program, cut.program).Run());
  return cut;
}

}  // namespace frazil::optimize
