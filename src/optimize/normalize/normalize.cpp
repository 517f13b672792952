// The door of the normal form, its conditions, and what a program costs for each element.
#include "optimize/normalize/normalize.h"

#include <set>

#include <fmt/format.h>

#include "ir/check/check.h"
#include "ir/digest.h"
#include "ir/lanes/plain_fold.h"
#include "optimize/normalize/normalize_state.h"

namespace frazil::optimize {
namespace {

using namespace ir::names;

// Does this value have one element for each of the extent?
bool IsRow(const Function& function, ir::ValueId value) {
  const ir::Type type = function.type(value);
  return type.is_tensor() && !function.shape(type).empty();
}

void CountRegion(const Function& function, ir::RegionId region, Work& work);

void CountInst(const Function& function, const Inst& inst, Work& work) {
  if (inst.op == Op::Yield || inst.op == Op::Const) return;
  ++work.instructions;
  if (inst.op == Op::Load || inst.op == Op::Store) work.bytes += ir::BytesOf(inst.type);
  for (uint32_t r = 0; r < inst.regions.count; ++r)
    CountRegion(function, Function::region_of(inst, r), work);
}

void CountRegion(const Function& function, ir::RegionId region, Work& work) {
  for (ir::InstId id : function.region(region).insts) CountInst(function, function.inst(id), work);
}

// Programs of tensors and passes only; a reduction is one combining step for each element.
void CountTop(const Function& function, const Inst& inst, Work& work) {
  switch (inst.op) {
    case Op::Parallel:
      ++work.passes;
      return CountRegion(function, Function::region_of(inst, 0), work);
    case Op::Map: {
      ++work.passes;
      const ir::ValueId result = Function::result_of(inst);
      work.bytes += ir::BytesOf(function.type(result).element());  // its scratch
      ++work.instructions;
      for (ir::ValueId operand : function.operands_of(inst)) {
        work.bytes += ir::BytesOf(function.type(operand).element());
        ++work.instructions;
      }
      return CountRegion(function, Function::region_of(inst, 0), work);
    }
    case Op::Reduce: {
      ++work.passes;
      work.instructions += 2;
      work.bytes += ir::BytesOf(function.type(function.operand(inst, 0)).element());
      return;
    }
    case Op::TensorStore:
      if (!IsRow(function, function.operand(inst, 1))) return;
      ++work.passes;
      work.instructions += 2;
      work.bytes += 2 * ir::BytesOf(function.type(function.operand(inst, 1)).element());
      return;
    default: return;
  }
}

// Folds too, also those inside of a test whether there are elements.
void CountTops(const ir::Program& program, ir::RegionId region, Work& work) {
  const Function& function = program.entry_function();
  for (ir::InstId id : function.region(region).insts) {
    const Inst& inst = function.inst(id);
    if (const auto fold = ir::ReadPlainFold(program, id)) {
      ++work.passes;
      ++work.instructions;
      for (ir::InstId element : fold->element) CountInst(function, function.inst(element), work);
    } else if (inst.op != Op::If) {
      CountTop(function, inst, work);
    } else {
      for (uint32_t r = 0; r < inst.regions.count; ++r)
        CountTops(program, Function::region_of(inst, r), work);
    }
  }
}

}  // namespace

Work WorkPerElement(const ir::Program& program) {
  Work work;
  CountTops(program, program.entry_function().body, work);
  return work;
}

Result<NormalForm> Normalize(const ir::Program& program, const Limits& limits) {
  NormalState state = TRY(ReadState(program));
  NormalForm form;
  form.program = WriteState(program, state);
  if (Result<void> checked = ir::Check(form.program, limits); !checked) {
    // A store that only some iterations make leaves the old element in the others, which an `out` buffer does not give.
    if (checked.error().diag != Diag::BadAccess) return std::unexpected(checked.error());
    return Fail(Diag::NotACircuit,
                "store: a buffer that may not be read is written in some iterations only");
  }
  form.rewrites = state.terms.rewrites();
  form.before = WorkPerElement(program);
  form.after = WorkPerElement(form.program);
  if (state.extent != NoTerm) {
    const NormalTerm& extent = state.terms[state.extent];
    if (extent.kind == NormalTerm::Kind::Param)
      form.extent = static_cast<uint32_t>(extent.words[0]);
  }
  // A program that is its own normal form needs no conditions. Its work is then the same, which is cheaper to see.
  if (form.before == form.after && ir::ExactDigest(form.program) == ir::ExactDigest(program))
    return form;
  form.covering.assign(state.covered.begin(), state.covered.end());
  for (const uint32_t buffer : state.used)
    if (!state.covered.contains(buffer)) form.with_element.push_back(buffer);
  if (state.nonempty || state.touches_zero)
    form.least_extent = 1;
  else if (state.has_rows)
    form.least_extent = 0;
  form.written.assign(state.written.begin(), state.written.end());
  for (uint32_t written : state.written)
    for (uint32_t other : state.used)
      if (written < other || (other < written && !state.written.contains(other)))
        form.disjoint.emplace_back(std::min(written, other), std::max(written, other));
  return form;
}

Result<ir::Candidate> NormalCandidate(const ir::Program& program, const Limits& limits) {
  NormalForm form = TRY(Normalize(program, limits));
  ir::Candidate candidate;
  std::vector<ir::GuardAtom>& atoms = candidate.guard.atoms;
  if (form.least_extent || !form.covering.empty()) {
    if (form.extent == UINT32_MAX ||
        program.entry_function().param_type(form.extent) != ir::types::Index)
      return Fail(
          Diag::LimitReached,
          "the normal form needs conditions on an extent that is no parameter of type index");
  }
  if (form.least_extent) {
    ir::GuardAtom& atom = atoms.emplace_back();
    atom.kind = ir::GuardKind::Between;
    atom.arg = form.extent;
    atom.type = ir::types::Index;
    atom.low = {static_cast<uint64_t>(*form.least_extent)};
    atom.high = {static_cast<uint64_t>(INT64_MAX)};
  }
  for (const uint32_t buffer : form.with_element) {
    ir::GuardAtom& atom = atoms.emplace_back();
    atom.kind = ir::GuardKind::LengthAtLeast;
    atom.arg = buffer;
    atom.number = 1;
  }
  if (!form.disjoint.empty()) {
    std::set<uint64_t> all, written(form.written.begin(), form.written.end());
    for (const auto& [a, b] : form.disjoint) all.insert({a, b});
    ir::GuardAtom& atom = atoms.emplace_back();
    atom.kind = ir::GuardKind::Apart;
    for (const uint64_t buffer : all)
      (written.contains(buffer) ? atom.low : atom.high).push_back(buffer);
  }
  if (!form.covering.empty()) {
    ir::GuardAtom& atom = atoms.emplace_back();
    atom.kind = ir::GuardKind::Cover;
    atom.arg = form.extent;
    atom.low.assign(form.covering.begin(), form.covering.end());
  }
  if (atoms.size() > ir::MaxGuardAtoms)
    return Fail(Diag::LimitReached,
                fmt::format("the normal form needs {} conditions, a guard holds {}", atoms.size(),
                            ir::MaxGuardAtoms));
  candidate.program = std::move(form.program);
  candidate.origin = "normalize";
  TRY_VOID(ir::CheckGuard(candidate.guard, candidate.program));
  return candidate;
}

}  // namespace frazil::optimize
