// One walk over each function with a stack of what is open, as a validator does it.
#include "verify/wasm/flow.h"

#include <algorithm>
#include <set>

#include "ir/op.h"

namespace frazil::verify::wasm {
namespace {

// A trap's number as the global `trap` holds it, with this in place of its kind: a stream has a value of another type.
constexpr int64_t WrongStreamType = 0xff;

// Conditions as x86 numbers them, which the distances are computed by: of eq, ne, lt_s, lt_u, gt_s, gt_u, le_s, le_u,
// ge_s, ge_u.
constexpr uint8_t Conditions[] = {4, 5, 12, 2, 15, 7, 14, 6, 13, 3};
constexpr bool IsSignedCompare[] = {true, true, true, false, true, false, true, false, true, false};

struct Comparison {
  Compare compare;
  uint8_t condition;
};

// The comparison that the instruction before `index` leaves, if it is one.
std::optional<Comparison> ComparisonBefore(const std::vector<Instruction>& code, size_t index) {
  bool is_opposite = false;
  if (index > 1 && code[index - 1].code == I32Eqz) {
    is_opposite = true;
    --index;
  }
  if (index == 0) return std::nullopt;
  const Instruction& before = code[index - 1];
  const bool is_narrow = before.code >= I32Eq && before.code <= I32GeU;
  if (!is_narrow && (before.code < I64Eq || before.code > I64GeU)) return std::nullopt;
  const size_t row = before.code - static_cast<size_t>(is_narrow ? I32Eq : I64Eq);
  return Comparison{{before.place, static_cast<uint8_t>(is_narrow ? 32 : 64), IsSignedCompare[row]},
                    static_cast<uint8_t>(Conditions[row] ^ (is_opposite ? 1 : 0))};
}

// Only says what the caller gives it, and never returns: the globals `trap` and `trap_index` and nothing else.
bool IsTrapFunction(const Module& module, const Function& function) {
  struct Wanted {
    uint16_t code;
    int64_t number;
    std::string_view global;
  };
  // (trap := first parameter), (trap_index := second parameter, or -1 where that says "no parallel")
  static const std::vector<Wanted> Kind = {
      {LocalGet, 0, {}}, {I64ExtendI32U, 0, {}}, {GlobalSet, 0, "trap"}};
  static const std::vector<Wanted> Index = {
      {I64Const, -1, {}}, {LocalGet, 1, {}}, {LocalGet, 1, {}},           {I64Const, INT64_MIN, {}},
      {I64Eq, 0, {}},     {Select, 0, {}},   {GlobalSet, 0, "trap_index"}};
  size_t at = 0;
  const auto is_next = [&](const std::vector<Wanted>& list) {
    if (function.code.size() - at < list.size()) return false;
    for (size_t i = 0; i < list.size(); ++i) {
      const Instruction& found = function.code[at + i];
      if (found.code != list[i].code) return false;
      if (list[i].global.empty() ? found.number != list[i].number
                                 : module.GlobalName(found.number) != list[i].global)
        return false;
    }
    at += list.size();
    return true;
  };
  if (!is_next(Kind)) return false;
  is_next(Index);
  return function.code.size() == at + 2 && function.code[at].code == Unreachable;
}

class FunctionWalk {
 public:
  FunctionWalk(const Module& module, const std::vector<bool>& traps, StreamReads reads,
               uint32_t number, Flow& flow)
      : module_(module),
        traps_(traps),
        reads_(reads),
        number_(number),
        code_(module.functions[number].code),
        flow_(flow) {}

  void Run() {
    Match();
    std::vector<Open> open = {{SIZE_MAX, true}};
    bool is_live = true, begins = true;
    for (size_t i = 0; i < code_.size(); ++i) {
      const Instruction& at = code_[i];
      // A loop is left at its end only.
      const auto reach = [&](int64_t label) {
        Open& to = open[open.size() - 1 - static_cast<size_t>(label)];
        to.is_reached =
            to.is_reached || (is_live && (to.begin == SIZE_MAX || code_[to.begin].code != Loop));
      };
      if (is_live && begins && IsWork(at.code)) {
        AddBlock(i);
        begins = false;
      }
      switch (at.code) {
        case Block: open.push_back({i, false}); break;
        case Loop:
          open.push_back({i, false});
          begins = true;
          break;
        case If:
          if (is_live) AddBranch(i, Resolve(IfNot(i)), Resolve(i + 1), false);
          // Without an else, the condition leads behind the end.
          open.push_back({i, is_live && else_of_[i] == 0, is_live});
          begins = true;
          break;
        case Else:
          if (is_live) open.back().is_reached = true;
          is_live = open.back().was_live;
          begins = true;
          break;
        case End:
          is_live = is_live || open.back().is_reached;
          open.pop_back();
          begins = true;
          break;
        case BrIf:
          if (is_live) {
            const size_t to = open[open.size() - 1 - static_cast<size_t>(at.number)].begin;
            AddBranch(i, Resolve(i + 1), Resolve(Target(to)),
                      to != SIZE_MAX && code_[to].code == Loop);
          }
          reach(at.number);
          begins = true;
          break;
        case Br:
          reach(at.number);
          is_live = false;
          break;
        case BrTable:
          for (const uint32_t label : at.labels) reach(label);
          is_live = false;
          break;
        case Return:
        case Unreachable: is_live = false; break;
        case Call:
          is_live = is_live && !traps_[static_cast<size_t>(at.number)];
          begins = true;
          break;
        default: break;
      }
    }
  }

 private:
  struct Open {
    size_t begin;           // SIZE_MAX: the function
    bool is_reached;        // something jumps to its end
    bool was_live = false;  // of an if
  };

  static bool IsWork(uint16_t code) {
    return code != Nop && code != Block && code != Loop && code != Else && code != End;
  }

  // Ends and elses of all that is opened, and what is the first to do something from each place on.
  void Match() {
    end_of_.assign(code_.size(), 0);
    else_of_.assign(code_.size(), 0);
    std::vector<size_t> open;
    std::vector<size_t> if_of(code_.size());  // of an else
    for (size_t i = 0; i < code_.size(); ++i) {
      const uint16_t code = code_[i].code;
      if (code == Block || code == Loop || code == If) open.push_back(i);
      if (code == Else) {
        else_of_[open.back()] = i;
        if_of[i] = open.back();
      }
      if (code == End && !open.empty()) {
        end_of_[open.back()] = i;
        open.pop_back();
      }
    }
    // Once for all: each branch would look over all that does nothing behind it.
    next_work_.assign(code_.size() + 1, code_.size());
    for (size_t i = code_.size(); i-- > 0;)
      next_work_[i] = IsWork(code_[i].code)   ? i
                      : code_[i].code == Else ? next_work_[end_of_[if_of[i]] + 1]
                                              : next_work_[i + 1];
  }

  size_t IfNot(size_t i) const { return (else_of_[i] != 0 ? else_of_[i] : end_of_[i]) + 1; }
  size_t Target(size_t begin) const {
    if (begin == SIZE_MAX) return code_.size();
    return code_[begin].code == Loop ? begin + 1 : end_of_[begin] + 1;
  }
  // The place of the first instruction from here on that does something.
  uint32_t Resolve(size_t i) const {
    i = next_work_[i];
    return i < code_.size() ? code_[i].place : module_.functions[number_].end;
  }

  void AddBlock(size_t i) {
    CodeBlock block{code_[i].place, code_[i].next, false, {}};
    size_t last = i;
    while (last + 1 < code_.size() && (IsWork(code_[last].code) && !EndsBlock(code_[last].code)))
      ++last;
    block.end = code_[last].next;
    block.is_jump = code_[i].code == Br;
    ReadTrap(i, block);
    flow_.parts.blocks.push_back(block);
    flow_.function_of_block.push_back(number_);
  }
  static bool EndsBlock(uint16_t code) {
    return code == If || code == Br || code == BrIf || code == BrTable || code == Return ||
           code == Unreachable || code == Call;
  }

  // A number, perhaps an iteration, and a function that only notes them. A stop without a number is what hosts read as
  // "no room".
  void ReadTrap(size_t i, CodeBlock& block) const {
    constexpr auto NoRoom = static_cast<uint32_t>(ir::Trap::Memory) + 1;
    if (code_[i].code == Unreachable)
      block.exit = TrapExit{NoRoom, static_cast<uint32_t>(ir::Op::Call)};
    // What a trap function does has been read; who calls it is counted.
    if (traps_[number_]) block.is_jump = true;
    if (code_[i].code != I32Const) return;
    const int64_t number = code_[i].number;
    size_t call = i + 1;
    if (code_[call].code == LocalGet || code_[call].code == GlobalGet) ++call;
    if (code_[call].code != Call || !traps_[static_cast<size_t>(code_[call].number)]) return;
    const int64_t op = number >> 8;
    if ((number & 0xff) == WrongStreamType) {
      block.is_jump = (reads_.input && op == static_cast<int64_t>(ir::Op::Input)) ||
                      (reads_.hints && op == static_cast<int64_t>(ir::Op::Hint));
      return;
    }
    block.exit = TrapExit{static_cast<uint32_t>(number & 0xff), static_cast<uint32_t>(op)};
  }

  void AddBranch(size_t i, uint32_t next, uint32_t target, bool is_turn) {
    const std::optional<Comparison> comparison = ComparisonBefore(code_, i);
    flow_.parts.branches.push_back({code_[i].place,
                                    next,
                                    target,
                                    comparison ? comparison->condition : uint8_t{0},
                                    is_turn,
                                    {}});
    flow_.compares.push_back(comparison ? std::optional(comparison->compare) : std::nullopt);
  }

  const Module& module_;
  const std::vector<bool>& traps_;
  const StreamReads reads_;
  const uint32_t number_;
  const std::vector<Instruction>& code_;
  Flow& flow_;
  std::vector<size_t> end_of_, else_of_, next_work_;
};

}  // namespace

Flow ReadFlow(const Module& module, StreamReads reads) {
  std::set<uint32_t> called;
  std::vector<uint32_t> open;
  const auto call = [&](uint32_t function) {
    if (called.insert(function).second) open.push_back(function);
  };
  for (const Export& entry : module.exports)
    if (entry.kind == 0) call(entry.index);
  while (!open.empty()) {
    const Function& function = module.functions[open.back()];
    open.pop_back();
    for (const Instruction& instruction : function.code)
      if (instruction.code == Call) call(static_cast<uint32_t>(instruction.number));
  }
  std::vector<bool> traps;
  for (const Function& function : module.functions)
    traps.push_back(IsTrapFunction(module, function));
  Flow flow;
  for (const uint32_t function : called) FunctionWalk(module, traps, reads, function, flow).Run();
  return flow;
}

}  // namespace frazil::verify::wasm
