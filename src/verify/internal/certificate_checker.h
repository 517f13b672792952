// The state of checking one certificate: terms of both sides, the lines that still have to be shown, and the walk over
// the two programs. Whatever fails ends the whole check with one sentence.
#pragma once

#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/candidate.h"
#include "verify/internal/ranges.h"
#include "verify/internal/side.h"
#include "verify/internal/terms.h"
#include "verify/verdict.h"

namespace frazil::verify {

// A place in a program while two regions are walked side by side. Regions that are known to run exactly once (an arm
// that is chosen, a loop of one turn) are entered in line.
class Cursor {
 public:
  Cursor(const Side& side, ir::FuncId function, ir::RegionId region)
      : side_(&side), function_(function) {
    Enter(region, nullptr);
  }
  const Side& side() const { return *side_; }
  ir::FuncId function_id() const { return function_; }
  const ir::Function& function() const { return side_->function(function_); }
  const Side::FunctionTerms& terms() const { return side_->terms(function_); }
  TermId term(ir::ValueId value) const { return terms().values[value.index]; }
  TermId operand(const ir::Inst& inst, uint32_t i) const {
    return term(function().operand(inst, i));
  }
  TermId result(const ir::Inst& inst, uint32_t i = 0) const {
    return term(ir::Function::result_of(inst, i));
  }
  TermId param(ir::RegionId region, uint32_t i) const {
    return term(ir::Function::param_of(function().region(region), i));
  }

  struct Frame {
    ir::RegionId region;
    size_t position;
    const ir::Inst* owner;  // the structure that was entered in line; null for the region itself
  };
  void Enter(ir::RegionId region, const ir::Inst* owner) { frames_.push_back({region, 0, owner}); }
  void Leave() { frames_.pop_back(); }
  const Frame& frame() const { return frames_.back(); }
  ir::InstId id() const {
    return function().region(frames_.back().region).insts[frames_.back().position];
  }
  const ir::Inst& inst() const { return function().inst(id()); }
  bool AtEnd() const {
    return frames_.back().position + 1 == function().region(frames_.back().region).insts.size();
  }
  void Advance() { ++frames_.back().position; }
  const ir::Inst& terminator() const {
    return function().inst(function().region(frames_[0].region).insts.back());
  }

 private:
  const Side* side_;
  ir::FuncId function_;
  std::vector<Frame> frames_;
};

class CertificateChecker {
 public:
  CertificateChecker(const ir::Program& source, const ir::Candidate& candidate);
  Verdict Check();

 private:
  // Lines (certificate_lines.cpp)
  bool BuildCertTerms();
  bool BuildCertTerm(const ir::CertTerm& term);
  bool ApplyGuard();
  void Settle();  // tries every line that is still open again
  bool LineHolds(const ir::CertEquality& line) const;
  bool AssumedEqual(TermId a, TermId b);
  void LearnBounds(const Side& side);

  // Induction (induction.cpp)
  bool CheckClosedForms();
  bool CheckSymbolicForm(const ir::CertClosedForm& form, std::string& why);
  bool FoldLoop(ir::FuncId function, ir::InstId inst, std::string& why);

  // The walk (certificate_walk.cpp)
  bool MatchFunctions(ir::FuncId source, ir::FuncId candidate);
  bool MatchBlocks(Cursor& s, Cursor& c);
  bool MatchRegions(const Cursor& s, ir::RegionId sr, const Cursor& c, ir::RegionId cr,
                    Cursor* s_out = nullptr, Cursor* c_out = nullptr);
  bool MatchYields(const Cursor& s, const Cursor& c,
                   const std::vector<std::pair<uint32_t, uint32_t>>& pairs);
  // The next instruction that matters; enters what runs exactly once, leaves what is done.
  void Seek(Cursor& cursor);
  bool EnterInLine(Cursor& cursor, const ir::Inst& inst);
  void FinishInLine(Cursor& cursor);

  bool HeadsMatch(const Cursor& s, const ir::Inst& a, const Cursor& c, const ir::Inst& b);
  bool MatchInst(Cursor& s, const ir::Inst& a, Cursor& c, const ir::Inst& b);
  bool MatchChoice(const Cursor& s, const ir::Inst& a, const Cursor& c, const ir::Inst& b);
  bool MatchLoop(const Cursor& s, const ir::Inst& a, const Cursor& c, const ir::Inst& b);
  bool MatchWhile(const Cursor& s, const ir::Inst& a, const Cursor& c, const ir::Inst& b);
  bool MatchElements(const Cursor& s, const ir::Inst& a, const Cursor& c, const ir::Inst& b);
  bool MatchCall(const Cursor& s, const ir::Inst& a, const Cursor& c, const ir::Inst& b);
  std::vector<std::pair<uint32_t, uint32_t>> PairCarried(const Cursor& s, const ir::Inst& a,
                                                         const Cursor& c, const ir::Inst& b,
                                                         uint32_t first) const;
  void MergeInvariants(const Cursor& cursor, const ir::Inst& inst);

  bool Matters(const Cursor& cursor, const ir::Inst& inst) const;
  bool Skippable(const Cursor& cursor, ir::InstId id, bool may_skip_loops) const;
  bool RegionIsPure(const Cursor& cursor, ir::RegionId region, bool may_skip_loops) const;
  bool CannotTrap(const Cursor& cursor, const ir::Inst& inst) const;
  bool AlreadyRan(const Cursor& cursor, const ir::Inst& inst) const;
  bool HasRun(ir::Op op, ir::Type type, const std::vector<uint64_t>& words,
              std::span<const TermId> operands) const;
  void Remember(const Cursor& cursor, const ir::Inst& inst);
  bool Fail(std::string reason);
  bool Mismatch(const Cursor& s, const Cursor& c);

  // An access or a trapping op that has run without a trap on every path to here.
  struct Ran {
    ir::Op op;
    ir::Type type;
    std::vector<uint64_t> words;
    std::vector<TermId> operands;
  };

  const ir::Candidate& candidate_;
  Terms terms_;
  Interned interned_;
  Ranges ranges_;
  Side source_side_;
  Side candidate_side_;
  std::vector<TermId> cert_terms_;
  std::vector<size_t> open_lines_;
  uint64_t settled_at_ = UINT64_MAX;
  // (function, instruction) of the source: loops without effects of which no turn traps, results known.
  std::set<std::pair<uint32_t, uint32_t>> harmless_loops_;
  std::set<std::pair<uint32_t, uint32_t>> pairs_;
  std::vector<Ran> ran_;
  std::string reason_;
  int depth_ = 0;
};

}  // namespace frazil::verify
