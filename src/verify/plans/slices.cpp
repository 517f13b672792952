#include "verify/plans/slices.h"

#include <algorithm>

#include "ir/clone.h"

namespace frazil::verify::plans {

using namespace ir::names;

namespace {

constexpr uint32_t Nowhere = UINT32_MAX;
constexpr uint32_t OfEntry = UINT32_MAX - 1;

class Copier : public ir::Cloner {
 public:
  using Cloner::Cloner;
  void Declare(std::span<const ValueId> given) {
    builder_.function().shapes = source_.shapes;
    for (const ValueId value : given) Bind(value, builder_.AddParam(source_.type(value)));
  }
  Result<void> Copy(InstId id) { return CopyInsts(std::span(&id, 1)); }
};

}  // namespace

Slicer::Slicer(const ir::Program& program)
    : program_(program),
      function_(program.entry_function()),
      place_of_(function_.values.size(), Nowhere) {
  for (uint32_t i = 0; i < function_.param_count(); ++i)
    place_of_[function_.param(i).index] = OfEntry;
  const std::vector<InstId>& body = function_.region(function_.body).insts;
  for (uint32_t at = 0; at < body.size(); ++at) {
    const Inst& inst = function_.inst(body[at]);
    for (uint32_t i = 0; i < inst.results.count; ++i)
      place_of_[Function::result_of(inst, i).index] = at;
    if (MayTrap(inst)) may_trap_.insert(at);
  }
}

// By its row, and by those of all inside of it. Limits of a run are no part of a program's meaning.
bool Slicer::MayTrap(const Inst& inst) const {
  constexpr auto Limits = static_cast<ir::TrapSet>(1u << static_cast<int>(ir::Trap::Fuel) |
                                                   1u << static_cast<int>(ir::Trap::Depth) |
                                                   1u << static_cast<int>(ir::Trap::Memory));
  if (inst.op == Op::Call || (ir::Info(inst.op).traps & ~Limits) != 0) return true;
  for (uint32_t i = 0; i < inst.regions.count; ++i)
    for (const InstId id : function_.region(Function::region_of(inst, i)).insts)
      if (MayTrap(function_.inst(id))) return true;
  return false;
}

void Slicer::Need(const Inst& inst, std::vector<ValueId>& values) const {
  for (const ValueId operand : function_.operands_of(inst))
    if (place_of_[operand.index] != Nowhere) values.push_back(operand);
  for (uint32_t i = 0; i < inst.regions.count; ++i)
    for (const InstId id : function_.region(Function::region_of(inst, i)).insts)
      Need(function_.inst(id), values);
}

Result<Slice> Slicer::Of(std::span<const ValueId> given, std::span<const ValueId> wanted) const {
  std::set<uint32_t> places;
  std::vector<ValueId> open(wanted.begin(), wanted.end());
  while (!open.empty()) {
    const ValueId value = open.back();
    open.pop_back();
    if (std::ranges::find(given, value) != given.end()) continue;
    const uint32_t place = place_of_[value.index];
    if (place == OfEntry || place == Nowhere)
      return Fail(Diag::NotAdmitted, "it does not read all that it would need");
    if (!places.insert(place).second) continue;
    Need(function_.inst(function_.region(function_.body).insts[place]), open);
  }
  Slice slice;
  slice.program.data = program_.data;
  // Callees keep their places; the entry is replaced by a part of it.
  if (program_.functions.size() > 1) {
    slice.program.functions = program_.functions;
    Function nothing;
    nothing.regions.emplace_back();
    slice.program.functions[program_.entry.index] = std::move(nothing);
  }
  ir::FunctionBuilder builder(slice.program, "slice", std::span<const Type>{}, {});
  Copier copier(function_, builder);
  copier.Declare(given);
  for (const uint32_t place : places) {
    TRY_VOID(copier.Copy(function_.region(function_.body).insts[place]));
    if (may_trap_.contains(place)) slice.may_trap.insert(place);
  }
  std::vector<Type> types;
  for (const ValueId value : wanted) types.push_back(function_.type(value));
  builder.SetResults(types);
  builder.Return(copier.GetAll(wanted));
  slice.program.entry = builder.Finish();
  return slice;
}

Result<ir::Program> Slicer::Alone(uint32_t place) const {
  const Inst& inst = function_.inst(function_.region(function_.body).insts[place]);
  std::vector<ValueId> needed, given, made;
  Need(inst, needed);
  for (const ValueId value : needed)
    if (std::ranges::find(given, value) == given.end()) given.push_back(value);
  for (uint32_t i = 0; i < inst.results.count; ++i) made.push_back(Function::result_of(inst, i));
  if (made.empty()) return Fail(Diag::NotAdmitted, "something that has an effect is left out");
  return TRY(Of(given, made)).program;
}

}  // namespace frazil::verify::plans
