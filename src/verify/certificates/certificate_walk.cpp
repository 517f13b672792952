// The walk over source and candidate side by side. Everything that has an effect or may trap must have its
// counterpart, in order, with equal operands; pure values are compared where somebody uses them. A trapping op may be
// missing on one side if it cannot trap there: the same op has run on equal operands on every path, or
// constants and intervals say so. Loops are paired by induction: what they carry is assumed equal at the head and must
// then be equal at the end of a turn.
#include <fmt/format.h>

#include <algorithm>

#include "verify/internal/certificate_checker.h"

namespace frazil::verify {

using namespace ir::names;

namespace {

constexpr int MaxDepth = 256;  // nested regions and calls

using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;

Pairs Identity(uint32_t count) {
  Pairs pairs;
  for (uint32_t i = 0; i < count; ++i) pairs.emplace_back(i, i);
  return pairs;
}

bool ContainsBarrier(const Function& function, const Inst& inst) {
  if (inst.op == Op::Barrier) return true;
  for (uint32_t i = 0; i < inst.regions.count; ++i) {
    for (ir::InstId inner : function.region(Function::region_of(inst, i)).insts) {
      if (ContainsBarrier(function, function.inst(inner))) return true;
    }
  }
  return false;
}

std::string Describe(const Inst& inst) {
  const std::string_view name = ir::Info(inst.op).mnemonic;
  return inst.location.line == 0 ? fmt::format("'{}'", name)
                                 : fmt::format("'{}' (line {})", name, inst.location.line);
}

}  // namespace

bool CertificateChecker::Mismatch(const Cursor& s, const Cursor& c) {
  if (s.AtEnd())
    return Fail(fmt::format("{} of the candidate has no counterpart", Describe(c.inst())));
  if (c.AtEnd())
    return Fail(fmt::format("{} of the source has no counterpart", Describe(s.inst())));
  const Inst& a = s.inst();
  const Inst& b = c.inst();
  if (a.op == b.op)
    return Fail(fmt::format("operands of {} are not shown to be equal", Describe(a)));
  return Fail(fmt::format("{} of the source meets {} of the candidate", Describe(a), Describe(b)));
}

bool CertificateChecker::MatchFunctions(ir::FuncId source, ir::FuncId candidate) {
  if (!pairs_.emplace(source.index, candidate.index).second) return true;
  const Function& a = source_side_.function(source);
  const Function& b = candidate_side_.function(candidate);
  if (a.param_count() != b.param_count() || a.results.size() != b.results.size()) {
    return Fail("functions differ in their parameters or results");
  }
  const Side::FunctionTerms& at = source_side_.terms(source);
  const Side::FunctionTerms& bt = candidate_side_.terms(candidate);
  for (uint32_t i = 0; i < a.param_count(); ++i) {
    if (source_side_.Canonical(a, a.param_type(i)) !=
        candidate_side_.Canonical(b, b.param_type(i))) {
      return Fail("functions differ in their parameters");
    }
    terms_.Merge(at.values[a.param(i).index], bt.values[b.param(i).index]);
  }
  terms_.Merge(at.entry_memory, bt.entry_memory);
  Cursor s(source_side_, source, a.body), c(candidate_side_, candidate, b.body);
  // What ran in the caller ran there; a function may be called from elsewhere.
  std::vector<Ran> caller = std::exchange(ran_, {});
  const bool matched = MatchBlocks(s, c);
  ran_ = std::move(caller);
  if (!matched) return false;
  const Inst& last = s.terminator();
  const Inst& other = c.terminator();
  if (last.op != other.op || last.operands.count != other.operands.count)
    return Fail("functions end differently");
  for (uint32_t i = 0; i < last.operands.count; ++i) {
    if (!AssumedEqual(s.operand(last, i), c.operand(other, i))) {
      return Fail(fmt::format("result {} is not shown to be equal", i + 1));
    }
  }
  return true;
}

// Whether the walk has to look at the instruction at all.
bool CertificateChecker::Matters(const Cursor& cursor, const Inst& inst) const {
  if (inst.regions.count != 0) return true;
  (void)cursor;
  return !ir::IsRemovable(ir::Info(inst.op));
}

void CertificateChecker::Seek(Cursor& cursor) {
  for (;;) {
    if (cursor.AtEnd()) {
      if (cursor.frame().owner == nullptr) return;
      FinishInLine(cursor);
      continue;
    }
    const Inst& inst = cursor.inst();
    if (!Matters(cursor, inst)) {
      cursor.Advance();
    } else if (!EnterInLine(cursor, inst)) {
      return;
    }
  }
}

// Arms that are chosen by a constant, loops of no turn or one.
bool CertificateChecker::EnterInLine(Cursor& cursor, const Inst& inst) {
  const Function& function = cursor.function();
  const auto first =
      inst.operands.count == 0 ? std::nullopt : terms_.ConstantOf(cursor.operand(inst, 0));
  // A structure around a barrier is a boundary of phases: it is part of what the program does.
  if (!first || ContainsBarrier(function, inst)) return false;
  if (inst.op == Op::If) {
    cursor.Advance();
    cursor.Enter(Function::region_of(inst, (*first)[0] != 0 ? 0 : 1), &inst);
    return true;
  }
  if (inst.op == Op::Switch) {
    const auto cases = function.words_of(inst);
    const auto found = std::ranges::find(cases, (*first)[0]);
    const RegionId arm = Function::region_of(inst, static_cast<uint32_t>(found - cases.begin()));
    const Inst& last = function.inst(function.region(arm).insts.back());
    for (uint32_t k = 0; k < inst.results.count && last.op == Op::Yield; ++k) {
      terms_.Merge(cursor.result(inst, k), cursor.operand(last, k));
    }
    cursor.Advance();
    cursor.Enter(arm, &inst);
    return true;
  }
  if (inst.op != Op::For) return false;
  const auto second = terms_.ConstantOf(cursor.operand(inst, 1));
  if (!second) return false;
  const bool is_signed = ir::IsSigned(function.type(function.operand(inst, 0)).scalar);
  const BigInt low = BigInt::FromWords(*first, is_signed),
               high = BigInt::FromWords(*second, is_signed);
  const RegionId body = Function::region_of(inst, 0);
  if (low >= high) {
    for (uint32_t k = 0; k < inst.results.count; ++k)
      terms_.Merge(cursor.result(inst, k), cursor.operand(inst, 2 + k));
    terms_.Merge(cursor.terms().memory_after[cursor.id().index],
                 cursor.terms().memory_before[cursor.id().index]);
    cursor.Advance();
    return true;
  }
  if (high - low > BigInt(function.word(inst, 0))) return false;
  terms_.Merge(cursor.param(body, 0), cursor.operand(inst, 0));
  for (uint32_t k = 0; k < inst.results.count; ++k)
    terms_.Merge(cursor.param(body, 1 + k), cursor.operand(inst, 2 + k));
  terms_.Merge(cursor.terms().region_memory[body.index],
               cursor.terms().memory_before[cursor.id().index]);
  cursor.Advance();
  cursor.Enter(body, &inst);
  return true;
}

void CertificateChecker::FinishInLine(Cursor& cursor) {
  const Inst& owner = *cursor.frame().owner;
  const RegionId region = cursor.frame().region;
  const Inst& last = cursor.inst();
  if (owner.op == Op::For) {
    for (uint32_t k = 0; k < owner.results.count; ++k) {
      terms_.Merge(cursor.result(owner, k), cursor.operand(last, k));
    }
  }
  const TermId end = cursor.terms().region_end_memory[region.index];
  const auto owner_index = static_cast<uint32_t>(&owner - cursor.function().insts.data());
  terms_.Merge(cursor.terms().memory_after[owner_index], end);
  cursor.Leave();
}

bool CertificateChecker::MatchBlocks(Cursor& s, Cursor& c) {
  for (;;) {
    Seek(s);
    Seek(c);
    if (s.AtEnd() && c.AtEnd()) return true;
    const bool resolved =
        !s.AtEnd() && harmless_loops_.contains({s.function_id().index, s.id().index});
    const bool dead = !s.AtEnd() && s.inst().op == Op::For && s.terms().dead[s.id().index];
    // A loop that is as dead in the candidate may have stayed there.
    const bool stayed = (resolved || dead) && !c.AtEnd() && c.inst().op == Op::For &&
                        c.terms().dead[c.id().index] && HeadsMatch(s, s.inst(), c, c.inst());
    if ((resolved || dead) && !stayed && Skippable(s, s.id(), true)) {
      s.Advance();
      continue;
    }
    if (!s.AtEnd() && !c.AtEnd() && HeadsMatch(s, s.inst(), c, c.inst())) {
      if (!MatchInst(s, s.inst(), c, c.inst())) return false;
      s.Advance();
      c.Advance();
    } else if (!c.AtEnd() && Skippable(c, c.id(), false)) {
      c.Advance();
    } else if (std::string why;
               !s.AtEnd() && s.inst().op == Op::For && FoldLoop(s.function_id(), s.id(), why)) {
      s.Advance();
    } else if (!s.AtEnd() && Skippable(s, s.id(), true)) {
      s.Advance();
    } else {
      return Mismatch(s, c);
    }
  }
}

// The parts of an instruction that must agree before its regions are looked at.
bool CertificateChecker::HeadsMatch(const Cursor& s, const Inst& a, const Cursor& c,
                                    const Inst& b) {
  if (a.op != b.op || a.source_op != b.source_op || a.results.count != b.results.count ||
      a.regions.count != b.regions.count) {
    // Loops may carry less or more; everything else has its results.
    if (a.op != b.op || (a.op != Op::For && a.op != Op::While)) return false;
  }
  // All writes so far were matched in order, so this holds; nothing is built on it unseen.
  const bool looks_at_memory = ir::Info(a.op).effect != ir::Effect::Pure;
  if (looks_at_memory &&
      !AssumedEqual(s.terms().memory_before[s.id().index], c.terms().memory_before[c.id().index])) {
    return false;
  }
  if (a.op == Op::While) return true;
  if (s.side().Canonical(s.function(), a.type) != c.side().Canonical(c.function(), b.type))
    return false;
  if (a.op != Op::Call && s.side().Words(s.function(), a) != c.side().Words(c.function(), b))
    return false;
  if (a.op == Op::For) {
    return AssumedEqual(s.operand(a, 0), c.operand(b, 0)) &&
           AssumedEqual(s.operand(a, 1), c.operand(b, 1));
  }
  if (a.operands.count != b.operands.count) return false;
  for (uint32_t k = 0; k < a.results.count; ++k) {
    const ir::Type left =
        s.side().Canonical(s.function(), s.function().type(Function::result_of(a, k)));
    const ir::Type right =
        c.side().Canonical(c.function(), c.function().type(Function::result_of(b, k)));
    if (left != right) return false;
  }
  bool equal = true;
  for (uint32_t i = 0; i < a.operands.count && equal; ++i)
    equal = AssumedEqual(s.operand(a, i), c.operand(b, i));
  if (equal) return true;
  return ir::Info(a.op).law == ir::Law::Commutes &&
         AssumedEqual(s.operand(a, 0), c.operand(b, 1)) &&
         AssumedEqual(s.operand(a, 1), c.operand(b, 0));
}

bool CertificateChecker::MatchInst(Cursor& s, const Inst& a, Cursor& c, const Inst& b) {
  if (++depth_ > MaxDepth) return Fail("the programs are nested too deeply");
  bool matched = true;
  switch (a.op) {
    case Op::If:
    case Op::Switch: matched = MatchChoice(s, a, c, b); break;
    case Op::For:
    case Op::Parallel: matched = MatchLoop(s, a, c, b); break;
    case Op::While: matched = MatchWhile(s, a, c, b); break;
    case Op::Map:
    case Op::Generate:
    case Op::Fold: matched = MatchElements(s, a, c, b); break;
    case Op::Call: matched = MatchCall(s, a, c, b); break;
    default:
      if (a.regions.count != 0) return Fail(fmt::format("{} is not understood", Describe(a)));
      for (uint32_t k = 0; k < a.results.count; ++k) terms_.Merge(s.result(a, k), c.result(b, k));
      Remember(s, a);
      break;
  }
  --depth_;
  if (!matched) return false;
  if (Side::Writes(s.function(), a) || Side::Writes(c.function(), b)) {
    terms_.Merge(s.terms().memory_after[s.id().index], c.terms().memory_after[c.id().index]);
  }
  return true;
}

bool CertificateChecker::MatchRegions(const Cursor& s, RegionId sr, const Cursor& c, RegionId cr,
                                      Cursor* s_out, Cursor* c_out) {
  Cursor si(s.side(), s.function_id(), sr), ci(c.side(), c.function_id(), cr);
  const size_t ran = ran_.size();
  const bool matched = MatchBlocks(si, ci);
  ran_.resize(ran);
  if (!matched) return false;
  if (si.terminator().op != ci.terminator().op) return Fail("regions end differently");
  if (s_out != nullptr) *s_out = si;
  if (c_out != nullptr) *c_out = ci;
  return true;
}

// Results of `if` and `switch` are terms of the condition and the arms, hence equal if those are.
bool CertificateChecker::MatchChoice(const Cursor& s, const Inst& a, const Cursor& c,
                                     const Inst& b) {
  for (uint32_t i = 0; i < a.regions.count; ++i) {
    if (!MatchRegions(s, Function::region_of(a, i), c, Function::region_of(b, i))) return false;
  }
  return true;
}

// What is carried unchanged is what it began with.
void CertificateChecker::MergeInvariants(const Cursor& cursor, const Inst& inst) {
  const Function& function = cursor.function();
  const bool counted = inst.op == Op::For;
  const RegionId head = Function::region_of(inst, 0);
  const RegionId body = Function::region_of(inst, inst.regions.count - 1);
  const Inst& yield = function.inst(function.region(body).insts.back());
  for (uint32_t k = 0; k < inst.results.count && yield.op == Op::Yield; ++k) {
    const ir::ValueId param = Function::param_of(function.region(head), k + (counted ? 1 : 0));
    if (function.operand(yield, k) != param) continue;
    const TermId init = cursor.operand(inst, k + (counted ? 2 : 0));
    terms_.Merge(cursor.term(param), init);
    terms_.Merge(cursor.result(inst, k), init);
  }
}

// Carried values in the same order, with equal initial values; where the counts differ, those of the shorter
// list each take the next one that fits.
Pairs CertificateChecker::PairCarried(const Cursor& s, const Inst& a, const Cursor& c,
                                      const Inst& b, uint32_t first) const {
  const uint32_t na = a.operands.count - first, nb = b.operands.count - first;
  if (na == nb) return Identity(na);
  Pairs pairs;
  uint32_t i = 0, j = 0;
  while (i < na && j < nb) {
    if (terms_.Equal(s.operand(a, first + i), c.operand(b, first + j))) {
      pairs.emplace_back(i++, j++);
    } else if (na > nb) {
      ++i;
    } else {
      ++j;
    }
  }
  return pairs;
}

bool CertificateChecker::MatchYields(const Cursor& s, const Cursor& c, const Pairs& pairs) {
  const Inst& a = s.terminator();
  const Inst& b = c.terminator();
  for (const auto& [i, j] : pairs) {
    if (!AssumedEqual(s.operand(a, i), c.operand(b, j))) {
      return Fail(fmt::format("carried value {} is not shown to be equal after a turn", i));
    }
  }
  return true;
}

bool CertificateChecker::MatchLoop(const Cursor& s, const Inst& a, const Cursor& c, const Inst& b) {
  const RegionId sr = Function::region_of(a, 0), cr = Function::region_of(b, 0);
  MergeInvariants(s, a);
  MergeInvariants(c, b);
  const Pairs pairs = PairCarried(s, a, c, b, 2);
  for (const auto& [i, j] : pairs) {
    if (!AssumedEqual(s.operand(a, 2 + i), c.operand(b, 2 + j))) {
      return Fail(fmt::format("carried value {} does not begin equal", i));
    }
  }
  terms_.Merge(s.param(sr, 0), c.param(cr, 0));
  for (const auto& [i, j] : pairs) terms_.Merge(s.param(sr, 1 + i), c.param(cr, 1 + j));
  terms_.Merge(s.terms().region_memory[sr.index], c.terms().region_memory[cr.index]);
  // The index stays between its bounds.
  const auto low = ranges_.Of(s.operand(a, 0)), high = ranges_.Of(s.operand(a, 1));
  if (low && high && low->low < high->high)
    ranges_.Know(s.param(sr, 0), {low->low, high->high - 1});

  Cursor s_end = s, c_end = c;
  if (!MatchRegions(s, sr, c, cr, &s_end, &c_end) || !MatchYields(s_end, c_end, pairs))
    return false;
  for (const auto& [i, j] : pairs) terms_.Merge(s.result(a, i), c.result(b, j));
  return true;
}

bool CertificateChecker::MatchWhile(const Cursor& s, const Inst& a, const Cursor& c,
                                    const Inst& b) {
  const RegionId st = Function::region_of(a, 0), ct = Function::region_of(b, 0);
  MergeInvariants(s, a);
  MergeInvariants(c, b);
  const Pairs pairs = PairCarried(s, a, c, b, 0);
  for (const auto& [i, j] : pairs) {
    if (!AssumedEqual(s.operand(a, i), c.operand(b, j))) {
      return Fail(fmt::format("carried value {} does not begin equal", i));
    }
  }
  for (const auto& [i, j] : pairs) terms_.Merge(s.param(st, i), c.param(ct, j));
  terms_.Merge(s.terms().region_memory[st.index], c.terms().region_memory[ct.index]);
  Cursor s_end = s, c_end = c;
  if (!MatchRegions(s, st, c, ct, &s_end, &c_end)) return false;
  if (!AssumedEqual(s_end.operand(s_end.terminator(), 0), c_end.operand(c_end.terminator(), 0))) {
    return Fail("the conditions of two loops are not shown to be equal");
  }
  if (!MatchRegions(s, Function::region_of(a, 1), c, Function::region_of(b, 1), &s_end, &c_end))
    return false;
  if (!MatchYields(s_end, c_end, pairs)) return false;
  for (const auto& [i, j] : pairs) terms_.Merge(s.result(a, i), c.result(b, j));
  return true;
}

// Equal elements for equal operands and indices, put together in the one way that the op says.
bool CertificateChecker::MatchElements(const Cursor& s, const Inst& a, const Cursor& c,
                                       const Inst& b) {
  const RegionId sr = Function::region_of(a, 0), cr = Function::region_of(b, 0);
  const uint32_t params = s.function().region(sr).params.count;
  if (params != c.function().region(cr).params.count || a.results.count != b.results.count)
    return Fail("regions of different parameters");
  for (uint32_t i = 0; i < params; ++i) terms_.Merge(s.param(sr, i), c.param(cr, i));
  Cursor s_end = s, c_end = c;
  if (!MatchRegions(s, sr, c, cr, &s_end, &c_end)) return false;
  if (!MatchYields(s_end, c_end, Identity(s_end.terminator().operands.count))) return false;
  for (uint32_t k = 0; k < a.results.count; ++k) terms_.Merge(s.result(a, k), c.result(b, k));
  return true;
}

bool CertificateChecker::MatchCall(const Cursor& s, const Inst& a, const Cursor& c, const Inst& b) {
  const ir::FuncId callee(static_cast<uint32_t>(s.function().word(a, 0)));
  const ir::FuncId other(static_cast<uint32_t>(c.function().word(b, 0)));
  if (!MatchFunctions(callee, other)) return false;
  for (uint32_t k = 0; k < a.results.count; ++k) terms_.Merge(s.result(a, k), c.result(b, k));
  return true;
}

}  // namespace frazil::verify
