// The walk. A function (the code that a call enters) is walked in turns, a turn being from its entry to a recurse or a
// return. As long as known values decide every branch of a turn, the next turn is walked from the state the last one
// left, so loops with constant counters are counted exactly. The first turn that ends either way makes the loop loose:
// one more turn is walked from a state of which nothing is known, and the tables that grow in it are unbounded.
#include "machines/tasm/heights/bounds.h"

#include <fmt/format.h>

#include <utility>

#include "machines/tasm/heights/bounds_state.h"
#include "machines/tasm/tip5/tip5.h"

namespace frazil::machines::tasm {
namespace {

using bounds::Range;
using bounds::Rows;
using bounds::State;

struct Path {
  uint32_t at;
  State state;
  int doubt;  // branches behind us whose other side has not come back to this path
};

class Walker {
 public:
  Walker(const Program& program, uint64_t steps) : program_(program), steps_(steps) {}

  HeightBounds Bounds() {
    WalkFunction(0, State{}, 0, 0);
    HeightBounds result;
    result.reason = reason_;
    if (!ends_) {
      result.halts = false;
      return result;
    }
    Fill(result);
    return result;
  }

 private:
  struct Turn {
    std::optional<State> returned, again;
    bool again_for_sure = false;
  };
  static constexpr int MaxCalls = 200;

  std::optional<State> WalkFunction(uint32_t entry, State state, int doubt, int calls) {
    std::optional<State> returned;
    bool loose = false;
    while (true) {
      const Rows before = state.rows;
      Turn turn = WalkTurn(entry, std::move(state), doubt, calls);
      JoinInto(returned, turn.returned);
      if (!turn.again) break;
      state = std::move(*turn.again);
      if (gave_up_) {
        End(state.rows);
        break;
      }
      if (turn.again_for_sure && !loose) continue;
      if (loose) {
        MarkGrowth(before, state.rows, entry);
        break;
      }
      loose = true;
      ++doubt;
      state.Forget();
    }
    return returned;
  }

  Turn WalkTurn(uint32_t entry, State state, int doubt, int calls) {
    Turn turn;
    std::vector<Path> paths;
    paths.push_back({entry, std::move(state), doubt});
    while (!paths.empty()) {
      Path path = std::move(paths.back());
      paths.pop_back();
      while (Step(path, paths, turn, doubt, calls)) {
      }
    }
    return turn;
  }

  // One instruction of a path; false when the path has ended.
  bool Step(Path& path, std::vector<Path>& paths, Turn& turn, int turn_doubt, int calls) {
    if (path.at >= program_.code.size()) return false;
    if (gave_up_) return GiveUp(path.state, "");
    if (steps_-- == 0) return GiveUp(path.state, "the program is too long to follow");
    const Instruction& instruction = program_.code[path.at];
    if (Crashes(instruction, path.state)) return false;
    Count(instruction, path.state);
    switch (instruction.op) {
      case Opcode::Halt: End(path.state.rows); return false;
      case Opcode::Skiz: return Branch(path, paths, calls);
      case Opcode::Call: {
        std::optional<State> after = WalkCall(path, calls);
        if (!after) return false;
        path.state = std::move(*after);
        ++path.at;
        return true;
      }
      case Opcode::Return:
        if (calls > 0) JoinInto(turn.returned, std::move(path.state));
        return false;
      case Opcode::Recurse: return Again(path, turn, turn_doubt, calls);
      case Opcode::RecurseOrReturn: {
        const bounds::Value a = path.state.Peek(5), b = path.state.Peek(6);
        const bool known = a && b;
        if (!known) ++path.doubt;
        if (calls > 0 && (!known || *a == *b)) JoinInto(turn.returned, path.state);
        return known && *a == *b ? false : Again(path, turn, turn_doubt, calls);
      }
      default:
        effects_.Apply(instruction, path.state, path.doubt == 0);
        ++path.at;
        return true;
    }
  }

  static bool Crashes(const Instruction& instruction, const State& state) {
    return instruction.op == Opcode::Assert && state.Peek(0) && *state.Peek(0) != 1;
  }

  static bool Again(Path& path, Turn& turn, int turn_doubt, int calls) {
    if (calls == 0) return false;
    turn.again_for_sure = path.doubt == turn_doubt;
    JoinInto(turn.again, std::move(path.state));
    return false;
  }

  std::optional<State> WalkCall(Path& path, int calls) {
    if (calls >= MaxCalls) {
      GiveUp(path.state, "calls are nested too deep to follow");
      return {};
    }
    const auto target = static_cast<uint32_t>(program_.code[path.at].argument);
    return WalkFunction(target, std::move(path.state), path.doubt, calls + 1);
  }

  // The path stands at a skiz, which has been counted.
  bool Branch(Path& path, std::vector<Path>& paths, int calls) {
    const bounds::Value condition = path.state.Pop();
    const uint32_t next = path.at + 1;
    if (condition) {
      path.at = *condition == 0 ? next + 1 : next;
      return *condition != 0 || next < program_.code.size();
    }
    if (next >= program_.code.size()) return false;
    Path other = {next, path.state, path.doubt + 1};
    path.at = next + 1;
    const Instruction& instruction = program_.code[next];
    switch (instruction.op) {
      case Opcode::Halt:
      case Opcode::Skiz:
      case Opcode::Return:
      case Opcode::Recurse:
      case Opcode::RecurseOrReturn:
        ++path.doubt;
        paths.push_back(std::move(other));
        return true;
      case Opcode::Call: {
        Count(instruction, other.state);
        const std::optional<State> after = WalkCall(other, calls);
        if (after) path.state.Join(*after);
        return true;
      }
      default:
        if (Crashes(instruction, other.state)) return true;
        Count(instruction, other.state);
        effects_.Apply(instruction, other.state, false);
        path.state.Join(other.state);
        return true;
    }
  }

  static void Count(const Instruction& instruction, State& state) {
    const OpcodeInfo& info = Info(instruction.op);
    const uint64_t times = info.argument == Argument::Count ? instruction.argument : 1;
    state.rows.cycles.Add(1);
    state.rows.op_stack.Add(times * static_cast<uint64_t>(std::abs(info.delta)));
    state.rows.ram.Add(times * info.ram_rows);
    state.rows.hash.Add(instruction.op == Opcode::SpongeInit ? 1 : 6ull * info.permutations);
    state.rows.permutations.Add(info.permutations);
  }

  static void JoinInto(std::optional<State>& into, std::optional<State> state) {
    if (!state) return;
    if (into)
      into->Join(*state);
    else
      into = std::move(state);
  }

  void End(const Rows& rows) {
    if (ends_)
      ends_->Join(rows);
    else
      ends_ = rows;
  }

  // Rows so far are a lower bound; nothing is known above. Every path that is still open ends here too.
  bool GiveUp(const State& state, std::string_view reason) {
    if (!gave_up_ && reason_.empty()) reason_ = reason;
    gave_up_ = true;
    End(state.rows);
    unbounded_.fill(true);
    return false;
  }

  void MarkGrowth(const Rows& before, const Rows& after, uint32_t entry) {
    for (size_t i = 0; i < Rows::All.size(); ++i)
      if ((after.*Rows::All[i]).most > (before.*Rows::All[i]).most) unbounded_[i] = true;
    if (!reason_.empty()) return;
    const std::string_view label = program_.LabelAt(entry);
    reason_ =
        fmt::format("the loop at `{}` turns an unknown number of times",
                    label.empty() ? fmt::format("instruction {}", entry) : std::string(label));
  }

  void Fill(HeightBounds& result) const {
    Rows rows = *ends_;
    for (size_t i = 0; i < Rows::All.size(); ++i)
      if (unbounded_[i]) (rows.*Rows::All[i]).most = Unbounded;
    const std::vector<uint64_t> words = Encode(program_);
    LimbSet limbs;
    HashWordsRecording(words, limbs);
    const uint64_t chunks = words.size() / Tip5Rate + 1;
    rows.hash.Add(6 * chunks);
    // A permutation may look up nothing new, or 80 new limbs.
    constexpr uint64_t AllLimbs = 65'536;
    uint64_t most_limbs = 0;
    if (__builtin_mul_overflow(rows.permutations.most, uint64_t{80}, &most_limbs))
      most_limbs = AllLimbs;
    const Range cascade = {limbs.count(),
                           std::min(AllLimbs, limbs.count() + std::min(most_limbs, AllLimbs))};
    const auto set = [&](Table table, const Range& range) {
      result.lower.heights[static_cast<size_t>(table)] = range.least;
      result.upper.heights[static_cast<size_t>(table)] = range.most;
    };
    set(Table::Program, {chunks * Tip5Rate, chunks * Tip5Rate});
    set(Table::Processor, rows.cycles);
    set(Table::OpStack, rows.op_stack);
    set(Table::Ram, rows.ram);
    set(Table::JumpStack, rows.cycles);
    set(Table::Hash, rows.hash);
    set(Table::Cascade, cascade);
    set(Table::Lookup, {256, 256});
    set(Table::U32, rows.u32);
  }

  const Program& program_;
  uint64_t steps_;
  bounds::Effects effects_;
  std::optional<Rows> ends_;
  std::array<bool, 6> unbounded_{};
  bool gave_up_ = false;
  std::string reason_;
};

}  // namespace

HeightBounds StaticBounds(const Program& program, uint64_t steps) {
  return Walker(program, steps).Bounds();
}

}  // namespace frazil::machines::tasm
