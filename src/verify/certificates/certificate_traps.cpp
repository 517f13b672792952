// What may be there on one side only: ops that cannot trap, and structures of such ops.
#include <algorithm>

#include "exec/meaning/scalar_ops.h"
#include "verify/internal/certificate_checker.h"

namespace frazil::verify {

using namespace ir::names;

// The index of a loop stays between its bounds.
void CertificateChecker::LearnBounds(const Side& side) {
  for (uint32_t f = 0; f < side.program().functions.size(); ++f) {
    const Function& function = side.program().functions[f];
    const std::vector<TermId>& values = side.terms(ir::FuncId(f)).values;
    for (const Inst& inst : function.insts) {
      if (inst.op != Op::For && inst.op != Op::Parallel) continue;
      const auto low = ranges_.Of(values[function.operand(inst, 0).index]);
      const auto high = ranges_.Of(values[function.operand(inst, 1).index]);
      const ir::ValueId index =
          Function::param_of(function.region(Function::region_of(inst, 0)), 0);
      if (low && high && low->low < high->high)
        ranges_.Know(values[index.index], {low->low, high->high - 1});
    }
  }
}

void CertificateChecker::Remember(const Cursor& cursor, const Inst& inst) {
  if (ir::Info(inst.op).traps == 0) return;
  Ran ran{inst.op,
          cursor.side().Canonical(cursor.function(), inst.type),
          cursor.side().Words(cursor.function(), inst),
          {}};
  for (uint32_t i = 0; i < inst.operands.count; ++i)
    ran.operands.push_back(cursor.operand(inst, i));
  ran_.push_back(std::move(ran));
}

bool CertificateChecker::HasRun(Op op, ir::Type type, const std::vector<uint64_t>& words,
                                std::span<const TermId> operands) const {
  for (const Ran& ran : ran_) {
    if (op == Op::Load && (ran.op == Op::Load || ran.op == Op::Store)) {
      // An element that could be reached once can be reached again: lengths do not change.
      if (terms_.Equal(ran.operands[0], operands[0]) && terms_.Equal(ran.operands[1], operands[1]))
        return true;
      continue;
    }
    if (ran.op != op || ran.type != type || ran.words != words ||
        ran.operands.size() != operands.size())
      continue;
    bool equal = true;
    for (size_t i = 0; i < operands.size(); ++i)
      equal = equal && terms_.Equal(ran.operands[i], operands[i]);
    if (equal) return true;
    if (ir::Info(op).law == ir::Law::Commutes && terms_.Equal(ran.operands[0], operands[1]) &&
        terms_.Equal(ran.operands[1], operands[0]))
      return true;
  }
  return false;
}

bool CertificateChecker::AlreadyRan(const Cursor& cursor, const Inst& inst) const {
  std::vector<TermId> operands;
  for (uint32_t i = 0; i < inst.operands.count; ++i) operands.push_back(cursor.operand(inst, i));
  return HasRun(inst.op, cursor.side().Canonical(cursor.function(), inst.type),
                cursor.side().Words(cursor.function(), inst), operands);
}

bool CertificateChecker::CannotTrap(const Cursor& cursor, const Inst& inst) const {
  const ir::OpInfo& info = ir::Info(inst.op);
  if (inst.op == Op::Assert) {
    const auto condition = terms_.ConstantOf(cursor.operand(inst, 0));
    return (condition && (*condition)[0] == 1) || AlreadyRan(cursor, inst);
  }
  if (info.effect != ir::Effect::Pure && info.effect != ir::Effect::Reads) return false;
  if (info.traps == 0 || AlreadyRan(cursor, inst)) return true;
  if (inst.op == Op::Lookup) {
    const auto range = ranges_.Of(cursor.operand(inst, 0));
    const ir::Data& data =
        cursor.side().program().data[static_cast<size_t>(cursor.function().word(inst, 0))];
    return range && !range->low.is_negative() && range->high < BigInt::FromUnsigned(data.length());
  }
  if (!IsScalarOp(inst.op)) return false;
  std::vector<TermId> operands;
  std::vector<exec::Words> words;
  for (uint32_t i = 0; i < inst.operands.count; ++i) {
    operands.push_back(cursor.operand(inst, i));
    if (const auto constant = terms_.ConstantOf(operands.back())) words.push_back(*constant);
  }
  if (words.size() == operands.size()) {
    std::vector<uint64_t> result(ir::WordsOf(cursor.function().type(Function::result_of(inst))));
    const exec::ScalarCall call{inst.op, inst.type, terms_.TypeOf(operands[0]),
                                cursor.function().words_of(inst)};
    return !exec::EvalScalar(call, words, result);
  }
  if (inst.op == Op::Invert || inst.op == Op::FieldDiv) {
    const auto divisor = terms_.ConstantOf(operands.back());
    return divisor && std::ranges::any_of(*divisor, [](uint64_t word) { return word != 0; });
  }
  return !ranges_.MayTrap(inst.op, inst.type, operands);
}

namespace {

// Does the `if` or `switch` with this selector run its region `arm`?
bool Chosen(const Function& function, const Inst& inst, uint64_t selector, uint32_t arm) {
  if (inst.op == Op::If) return arm == (selector != 0 ? 0 : 1);
  const auto cases = function.words_of(inst);
  return arm == static_cast<uint32_t>(std::ranges::find(cases, selector) - cases.begin());
}

}  // namespace

// Whether an instruction may be there on one side only. Loops take fuel and time: a candidate may have less of
// them, never more.
bool CertificateChecker::Skippable(const Cursor& cursor, ir::InstId id, bool may_skip_loops) const {
  const Inst& inst = cursor.function().inst(id);
  if (inst.regions.count == 0) return CannotTrap(cursor, inst);
  const bool of_source = &cursor.side() == &source_side_;
  if (of_source && may_skip_loops &&
      harmless_loops_.contains({cursor.function_id().index, id.index}))
    return true;
  const bool choice = inst.op == Op::If || inst.op == Op::Switch;
  const bool is_loop =
      inst.op == Op::For || inst.op == Op::Map || inst.op == Op::Generate || inst.op == Op::Fold;
  if (!choice && !(may_skip_loops && is_loop)) return false;
  const auto known = choice ? terms_.ConstantOf(cursor.operand(inst, 0)) : std::nullopt;
  for (uint32_t i = 0; i < inst.regions.count; ++i) {
    // Arms that are never chosen may hold anything.
    if (known && !Chosen(cursor.function(), inst, (*known)[0], i)) continue;
    const RegionId region = Function::region_of(inst, i);
    const Inst& last = cursor.function().inst(cursor.function().region(region).insts.back());
    if (last.op != Op::Yield || !RegionIsPure(cursor, region, may_skip_loops)) return false;
  }
  return true;
}

bool CertificateChecker::RegionIsPure(const Cursor& cursor, RegionId region,
                                      bool may_skip_loops) const {
  const auto& insts = cursor.function().region(region).insts;
  for (size_t i = 0; i + 1 < insts.size(); ++i) {
    const Inst& inst = cursor.function().inst(insts[i]);
    if (Matters(cursor, inst) && !Skippable(cursor, insts[i], may_skip_loops)) return false;
  }
  return true;
}

}  // namespace frazil::verify
