// The verifier. Structured code is walked once: a scope keeps what every place held when it was opened, and the set of
// places that its parts write, known from a walk before. Code with labels gets the usual fixed point, where a place can
// only lose its type, so it ends soon.
#include "machines/simt/verify.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "machines/simt/verify_fields.h"
#include "machines/simt/verify_state.h"

namespace frazil::machines::simt {
namespace {

struct Scope {
  uint32_t opener;
  Opcode last_part;   // the opener, or the ELSE, CASE .. seen last
  uint8_t par_depth;  // inside
  bool uniform;       // every lane comes here alike (IF, FOR)
  State before;
  PlaceSet is_carried;
  std::vector<Carried> carried;
  std::vector<uint64_t> cases;
};

class StructuredVerifier {
 public:
  explicit StructuredVerifier(const Module& module)
      : module_(module), par_depth_(BaseDepth(module)) {}

  Result<void> Run() {
    TRY_VOID(CollectWrites());
    state_ = InitialState(module_);
    results_.assign(module_.results.size(), false);
    for (at_ = 0; at_ < module_.code.size(); ++at_) TRY_VOID(Visit(module_.code[at_]));
    if (!scopes_.empty()) return WrongAt(module_, scopes_.back().opener, "has no END");
    if (module_.code.back().op != Opcode::Exit)
      return WrongAt(module_, at_ - 1, "is the last one, which must be EXIT");
    return {};
  }

 private:
  Result<void> Wrong(const std::string& what) const { return WrongAt(module_, at_, what); }

  Result<void> CollectWrites() {
    std::vector<uint32_t> open;
    writes_.resize(module_.code.size() + 1, 0);
    for (uint32_t i = 0; i < module_.code.size(); ++i) {
      const Instruction& inst = module_.code[i];
      if (inst.op == Opcode::End) {
        if (open.empty()) return WrongAt(module_, i, "ends no structure");
        PlaceSet inner = sets_[writes_[open.back()]];
        open.pop_back();
        if (!open.empty()) sets_[writes_[open.back()]] |= inner;
        continue;
      }
      if (IsOpener(inst.op)) {
        if (open.size() >= MaxStructureDepth) return WrongAt(module_, i, "is nested too deeply");
        open.push_back(i);
        writes_[i] = static_cast<uint32_t>(sets_.size());
        sets_.emplace_back();
      }
      Operands operands = OperandsOf(inst);
      if (operands.writes && !open.empty()) sets_[writes_[open.back()]].set(operands.written);
    }
    return {};
  }

  Result<void> Visit(const Instruction& inst) {
    if (inst.guarded() && !GuardMakesSense(inst.op)) return Wrong("cannot have a guard");
    switch (inst.op) {
      case Opcode::If:
      case Opcode::For:
      case Opcode::While:
      case Opcode::Switch:
      case Opcode::Par: return Open(inst);
      case Opcode::Else:
      case Opcode::BreakUnless:
      case Opcode::Case:
      case Opcode::Default: return NextPart(inst);
      case Opcode::End: return Close();
      case Opcode::Carry: return Wrong("must stand right behind IF, FOR, WHILE or SWITCH");
      case Opcode::Exit: return CheckExit();
      case Opcode::Result: return CheckResult(inst);
      default: break;
    }
    if (!scopes_.empty() && scopes_.back().last_part == Opcode::Switch)
      return Wrong("stands before the first CASE");
    if (IsCollective(inst.op)) TRY_VOID(CheckTogether());
    return Apply(module_, state_, at_, par_depth_);
  }

  static bool GuardMakesSense(Opcode op) {
    return !IsOpener(op) && op != Opcode::Else && op != Opcode::BreakUnless && op != Opcode::Case &&
           op != Opcode::Default && op != Opcode::End && op != Opcode::Carry && !IsCollective(op) &&
           op != Opcode::Alloc && op != Opcode::Result;
  }

  Result<void> CheckTogether() {
    bool inside = module_.mode == Mode::Launch;
    for (size_t i = scopes_.size(); i-- > 0;) {
      if (module_.code[scopes_[i].opener].op == Opcode::Par) {
        inside = true;
        break;
      }
      if (!scopes_[i].uniform) return Wrong("is not reached by every lane alike");
    }
    return inside ? Result<void>{} : Wrong("stands in no PAR");
  }

  Result<void> CheckExit() {
    if (module_.mode == Mode::Launch) {
      TRY_VOID(CheckReads(module_, state_, at_));
      if (at_ + 1 != module_.code.size()) return {};
      if (!scopes_.empty()) return Wrong("is the last one inside of a structure");
      // Nothing is behind it for a lane whose guard does not hold.
      return module_.code[at_].guarded() ? Wrong("is the last one, and control would go on")
                                         : Result<void>{};
    }
    if (!scopes_.empty()) return Wrong("stands inside of a structure; is an END missing?");
    if (at_ + 1 != module_.code.size() || module_.code[at_].guarded())
      return Wrong("is not the last instruction of the program");
    auto missing = std::find(results_.begin(), results_.end(), false);
    if (missing == results_.end()) return {};
    return Wrong(fmt::format("comes before result {} is set", missing - results_.begin()));
  }

  Result<void> CheckResult(const Instruction& inst) {
    if (module_.mode == Mode::Launch) return Wrong("has no meaning in launch mode");
    if (!scopes_.empty()) return Wrong("must stand outside of structures");
    TRY_VOID(Apply(module_, state_, at_, par_depth_));
    if (results_[inst.imm]) return Wrong(fmt::format("sets result {} twice", inst.imm));
    results_[inst.imm] = true;
    return {};
  }

  bool IsUniformNow(Place place) const { return state_.depth[place] < par_depth_; }

  Result<void> Open(const Instruction& inst) {
    if (!scopes_.empty() && scopes_.back().last_part == Opcode::Switch)
      return Wrong("stands before the first CASE");
    if (inst.op == Opcode::Par && module_.mode == Mode::Launch)
      return Wrong("has no meaning in launch mode: the launch opens the lanes");
    TRY_VOID(CheckReads(module_, state_, at_));
    bool uniform = inst.op == Opcode::If    ? IsUniformNow(PredicatePlace(inst.a))
                   : inst.op == Opcode::For ? IsUniformNow(inst.a) && IsUniformNow(inst.b)
                                            : false;
    scopes_.push_back({at_, inst.op, par_depth_, uniform, state_, {}, {}, {}});
    Scope& scope = scopes_.back();
    const PlaceSet& written = sets_[writes_[at_]];
    bool loop = inst.op != Opcode::If && inst.op != Opcode::Switch;
    uint32_t opener = at_;
    while (at_ + 1 < module_.code.size() && module_.code[at_ + 1].op == Opcode::Carry) {
      ++at_;
      const Instruction& carry = module_.code[at_];
      if (carry.guarded()) return Wrong("cannot have a guard");
      Place place = PlaceOf(carry.type, carry.dst);
      if (inst.op == Opcode::Par) return Wrong("stands in a PAR, whose lanes carry nothing");
      if (loop && state_.type[place] != static_cast<uint8_t>(carry.type))
        return Wrong(fmt::format("carries {}, which holds no {} here", PlaceName(place),
                                 TypeName(carry.type)));
      if (scope.is_carried[place]) return Wrong(fmt::format("carries {} twice", PlaceName(place)));
      if (inst.op == Opcode::For && place == RegisterPlace(inst.dst))
        return Wrong("carries the counter of the loop");
      scope.is_carried.set(place);
      scope.carried.push_back({place, carry.type});
    }
    if (inst.op == Opcode::Par) {
      if (par_depth_ == 255) return WrongAt(module_, opener, "is nested too deeply");
      ++par_depth_;
    }
    if (loop) {
      ForgetWritten(written);
      for (const Carried& carried : scope.carried)
        state_.Set(carried.place, carried.type, par_depth_);
    }
    if (inst.op == Opcode::For || inst.op == Opcode::Par)
      state_.Set(inst.dst, inst.type, par_depth_);
    return {};
  }

  void ForgetWritten(const PlaceSet& written) {
    for (size_t place = written._Find_first(); place < written.size();
         place = written._Find_next(place))
      state_.type[place] = State::Unassigned;
  }

  // What a part leaves behind must be there in every carried place.
  Result<void> CheckCarried(const Scope& scope) {
    for (const Carried& carried : scope.carried)
      if (state_.type[carried.place] != static_cast<uint8_t>(carried.type))
        return Wrong(fmt::format("comes while the carried {} holds no {}", PlaceName(carried.place),
                                 TypeName(carried.type)));
    return {};
  }

  Result<void> NextPart(const Instruction& inst) {
    if (scopes_.empty()) return Wrong("stands in no structure");
    Scope& scope = scopes_.back();
    Opcode opener = module_.code[scope.opener].op;
    bool fits = inst.op == Opcode::Else ? opener == Opcode::If && scope.last_part == Opcode::If
                : inst.op == Opcode::BreakUnless
                    ? opener == Opcode::While && scope.last_part == Opcode::While
                    : opener == Opcode::Switch && scope.last_part != Opcode::Default;
    if (!fits) return Wrong("does not fit the structure that it stands in");
    bool first = scope.last_part == Opcode::Switch;
    if (!first) TRY_VOID(CheckCarried(scope));
    scope.last_part = inst.op;
    if (inst.op == Opcode::BreakUnless) return CheckReads(module_, state_, at_);
    if (inst.op == Opcode::Case) {
      if (!IsCanonical(module_.code[scope.opener].type, inst.imm))
        return Wrong("is no value of the switch's type");
      scope.cases.push_back(inst.imm);
    }
    state_ = scope.before;
    return {};
  }

  Result<void> Close() {
    if (scopes_.empty()) return Wrong("ends no structure");
    Scope& scope = scopes_.back();
    Opcode opener = module_.code[scope.opener].op;
    bool complete = opener == Opcode::While    ? scope.last_part == Opcode::BreakUnless
                    : opener == Opcode::Switch ? scope.last_part == Opcode::Default
                    : opener == Opcode::If
                        ? scope.last_part == Opcode::Else || scope.carried.empty()
                        : true;
    if (!complete)
      return Wrong(opener == Opcode::While    ? "ends a WHILE without BREAKUNLESS"
                   : opener == Opcode::Switch ? "ends a SWITCH without DEFAULT"
                                              : "ends an IF that carries but has no ELSE");
    TRY_VOID(CheckCarried(scope));
    std::sort(scope.cases.begin(), scope.cases.end());
    if (std::adjacent_find(scope.cases.begin(), scope.cases.end()) != scope.cases.end())
      return Wrong("ends a SWITCH with a case that stands twice");
    if (opener == Opcode::Par) --par_depth_;
    state_ = scope.before;
    ForgetWritten(sets_[writes_[scope.opener]]);
    for (const Carried& carried : scope.carried)
      state_.Set(carried.place, carried.type, par_depth_);
    scopes_.pop_back();
    return {};
  }

  const Module& module_;
  uint32_t at_ = 0;
  uint8_t par_depth_;
  State state_;
  std::vector<Scope> scopes_;
  std::vector<bool> results_;
  std::vector<uint32_t> writes_;  // of an opener: its entry in sets_
  std::vector<PlaceSet> sets_;
};

// Instructions with labels: a state at each instruction that control can come to otherwise than from the one above.
class LabelVerifier {
 public:
  explicit LabelVerifier(const Module& module)
      : module_(module), entries_(module.code.size()), is_return_(module.code.size()) {}

  Result<void> Run() {
    TRY_VOID(CheckForm());
    Reach(0, InitialState(module_));
    while (!work_.empty()) {
      uint32_t at = work_.back();
      work_.pop_back();
      TRY_VOID(Follow(at));
    }
    return {};
  }

 private:
  Result<void> CheckForm() {
    const size_t size = module_.code.size();
    if (module_.mode != Mode::Launch)
      return WrongAt(module_, FirstLabel(), "needs launch mode: a program is structured");
    if (size > MaxLabeled)
      return WrongAt(module_, 0,
                     fmt::format("begins {} instructions with labels, above the limit of {}", size,
                                 MaxLabeled));
    for (uint32_t i = 0; i < size; ++i) {
      const Instruction& inst = module_.code[i];
      bool structure = IsOpener(inst.op) || inst.op == Opcode::End || inst.op == Opcode::Carry ||
                       inst.op == Opcode::Else || inst.op == Opcode::Case ||
                       inst.op == Opcode::Default || inst.op == Opcode::BreakUnless;
      if (structure)
        return WrongAt(module_, i, "is a structure in a module with labels (bra, call, loop)");
      if (inst.op == Opcode::Alloc)
        return WrongAt(module_, i, "needs structures that say when the buffer ends");
      if (inst.op == Opcode::Result) return WrongAt(module_, i, "has no meaning in launch mode");
      if (inst.guarded() && IsCollective(inst.op))
        return WrongAt(module_, i, "cannot have a guard");
      bool jumps = inst.op == Opcode::Bra || inst.op == Opcode::Call || inst.op == Opcode::Loop;
      if (jumps && inst.imm >= size)
        return WrongAt(module_, i, fmt::format("goes to instruction {} of {}", inst.imm, size));
      bool leaves = inst.op == Opcode::Exit || inst.op == Opcode::Bra || inst.op == Opcode::Ret ||
                    inst.op == Opcode::Trap;
      if (i + 1 == size && (!leaves || inst.guarded()))
        return WrongAt(module_, i, "is the last one, and control would go on");
    }
    return {};
  }

  uint32_t FirstLabel() const {
    uint32_t i = 0;
    while (!IsLabeled(module_.code[i].op)) ++i;
    return i;
  }

  // Control can come to `to` with this state.
  void Reach(uint32_t to, const State& state) {
    if (!entries_[to]) {
      entries_[to] = std::make_unique<State>(state);
      work_.push_back(to);
    } else if (entries_[to]->Meet(state)) {
      work_.push_back(to);
    }
  }

  void AddReturn(uint32_t to) {
    if (to >= module_.code.size()) return;
    if (!is_return_[to]) returns_.push_back(to);
    is_return_[to] = true;
    if (after_ret_) Reach(to, *after_ret_);
  }

  Result<void> Follow(uint32_t at) {
    State state = *entries_[at];
    for (;; ++at) {
      const Instruction& inst = module_.code[at];
      TRY_VOID(Apply(module_, state, at, 1));
      switch (inst.op) {
        case Opcode::Bra:
        case Opcode::Loop: Reach(static_cast<uint32_t>(inst.imm), state); break;
        case Opcode::Call:
          Reach(static_cast<uint32_t>(inst.imm), state);
          // What comes back is what every RET leaves; a call that never returns is followed by nothing.
          AddReturn(at + 1);
          break;
        case Opcode::Ret:
          if (!after_ret_) {
            after_ret_ = std::make_unique<State>(state);
          } else if (!after_ret_->Meet(state)) {
            break;
          }
          for (uint32_t to : returns_) Reach(to, *after_ret_);
          break;
        default: break;
      }
      bool stops = inst.op == Opcode::Exit || inst.op == Opcode::Bra || inst.op == Opcode::Ret ||
                   inst.op == Opcode::Trap || inst.op == Opcode::Call;
      if (stops && !inst.guarded()) return {};
      // A place that others come to is followed from there.
      if (entries_[at + 1]) {
        Reach(at + 1, state);
        return {};
      }
    }
  }

  const Module& module_;
  std::vector<std::unique_ptr<State>> entries_;
  std::vector<uint32_t> work_, returns_;
  std::vector<bool> is_return_;
  std::unique_ptr<State> after_ret_;
};

}  // namespace

Result<void> Verify(const Module& module) {
  if (module.code.empty()) return Fail(Diag::BadIsaProgram, "the module has no code");
  if (module.code.size() > MaxInstructions)
    return Fail(Diag::BadIsaProgram, fmt::format("{} instructions are above the limit of {}",
                                                 module.code.size(), MaxInstructions));
  std::set<std::string_view> names;
  for (uint32_t i = 0; i < module.params.size(); ++i) {
    const std::string_view name = module.param_name(i);
    if (!name.empty() && !names.insert(name).second)
      return Fail(Diag::BadIsaProgram, fmt::format("two parameters are called '{}'", name));
  }
  bool labels = false;
  for (uint32_t i = 0; i < module.code.size(); ++i) {
    const Instruction& inst = module.code[i];
    if (static_cast<size_t>(inst.op) >= OpcodeCount)
      return Fail(
          Diag::BadIsaProgram,
          fmt::format("instruction {}: there is no operation {}", i, static_cast<int>(inst.op)),
          module.location(i));
    if (std::string wrong = WrongFields(module, inst); !wrong.empty())
      return WrongAt(module, i, wrong);
    labels |= IsLabeled(inst.op);
  }
  return labels ? LabelVerifier(module).Run() : StructuredVerifier(module).Run();
}

}  // namespace frazil::machines::simt
