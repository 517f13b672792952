// Arranging a stack exactly: drop what is too much, add what is missing, then permute. Few elements out of place: the
// shortest sequence of moves is searched for; many: the better of exchanging along cycles and building anew.
#include "targets/tasm/stack/stack_steps.h"

#include <algorithm>
#include <map>

#include "base/check.h"

namespace frazil::targets::tasm {
namespace {

using K = Step::Kind;

constexpr int InstructionCost = 30;  // two words and a row

}  // namespace

int CostOf(const Step& step) {
  switch (step.kind) {
    case K::Push:
    case K::Dup:
    case K::Pop: return InstructionCost + 1;
    case K::Pick:
    case K::Place:
    case K::Swap: return InstructionCost;
    case K::Load:
    case K::Store: return 3 * InstructionCost + 5;
    case K::Node: return 0;
  }
  return 0;
}

int CostOf(const Steps& steps) {
  int sum = 0;
  for (const Step& step : steps) sum += CostOf(step);
  return sum;
}

void Apply(Stack& stack, const Step& step) {
  const size_t n = stack.size();
  switch (step.kind) {
    case K::Push:
    case K::Load: stack.push_back(step.word); break;
    case K::Dup: stack.push_back(stack[n - 1 - step.number]); break;
    case K::Pick:
      std::rotate(stack.end() - 1 - step.number, stack.end() - step.number, stack.end());
      break;
    case K::Place: std::rotate(stack.end() - 1 - step.number, stack.end() - 1, stack.end()); break;
    case K::Swap: std::swap(stack[n - 1], stack[n - 1 - step.number]); break;
    case K::Pop: stack.resize(n - step.number); break;
    case K::Store: stack.pop_back(); break;
    case K::Node: CHECK(false && "a node is no move");
  }
}

namespace {

class Arranger {
 public:
  // `gather`: what is too much is fetched and dropped together, else one by one as it comes.
  Arranger(const Stack& stack, const Stack& target, const Elsewhere& elsewhere, bool gather)
      : stack_(stack), target_(target), elsewhere_(elsewhere), gather_(gather) {}

  bool Run(Steps& steps, Word& deep) {
    std::map<Word, int> wanted;
    for (Word w : target_) ++wanted[w];
    std::map<Word, int> have;
    for (Word w : stack_) ++have[w];
    // What is missing at the very top comes last, already in order.
    size_t body = target_.size();
    std::map<Word, int> missing;
    for (auto [w, n] : wanted) missing[w] = std::max(0, n - have[w]);
    std::vector<Word> late;
    while (body > 0 && missing[target_[body - 1]] > 0 &&
           (elsewhere_.IsConst(target_[body - 1]) || elsewhere_.InRam(target_[body - 1]) ||
            wanted[target_[body - 1]] > 1)) {
      const Word w = target_[body - 1];
      --missing[w];
      --wanted[w];
      late.push_back(w);
      --body;
    }
    if (!Drop(wanted, have)) return deep = deep_, false;
    for (size_t i = 0; i < body; ++i)
      if (missing[target_[i]] > 0) {
        --missing[target_[i]];
        if (!Bring(target_[i])) return deep = deep_, false;
      }
    const Stack goal(target_.begin(), target_.begin() + body);
    if (!Permute(goal)) return deep = deep_, false;
    for (size_t i = late.size(); i-- > 0;)
      if (!Bring(late[i])) return deep = deep_, false;
    CHECK(stack_ == target_);
    steps.insert(steps.end(), steps_.begin(), steps_.end());
    return true;
  }

 private:
  void Do(Step step) {
    Apply(stack_, step);
    steps_.push_back(step);
  }

  bool Drop(const std::map<Word, int>& wanted, std::map<Word, int>& have) {
    auto surplus = [&](Word w) {
      auto place = wanted.find(w);
      return have[w] > (place == wanted.end() ? 0 : place->second);
    };
    while (true) {
      uint32_t depth = 0;
      while (depth < stack_.size() && !surplus(stack_[stack_.size() - 1 - depth])) ++depth;
      if (depth == stack_.size()) return true;
      uint32_t run = 0;
      while (depth == 0 && run < 5 && run < stack_.size() &&
             surplus(stack_[stack_.size() - 1 - run])) {
        --have[stack_[stack_.size() - 1 - run]];
        ++run;
      }
      if (run > 0) {
        Do({K::Pop, run});
        continue;
      }
      if (depth >= Reach) return deep_ = stack_[stack_.size() - 1 - depth], false;
      if (gather_) {
        Gather(depth, surplus, have);
        continue;
      }
      const size_t place = stack_.size() - 1 - depth;
      const bool fits = place < target_.size() && target_[place] == stack_.back();
      Do({fits || depth == 1 ? K::Swap : K::Pick, depth});
    }
  }

  // Picking from below leaves the depth of what lies deeper as it is.
  void Gather(uint32_t depth, auto surplus, std::map<Word, int>& have) {
    uint32_t count = 0;
    for (; depth < stack_.size() && depth < Reach && count < 5; ++depth) {
      const Word w = stack_[stack_.size() - 1 - depth];
      if (!surplus(w)) continue;
      --have[w];
      Do({K::Pick, depth});
      ++count;
    }
    Do({K::Pop, count});
  }

  bool Bring(Word w) {
    if (elsewhere_.IsConst(w)) {
      Do({K::Push, 0, w});
      return true;
    }
    const uint32_t depth = DepthOf(stack_, w);
    if (depth < Reach) {
      Do({K::Dup, depth});
      return true;
    }
    if (elsewhere_.InRam(w)) {
      Do({K::Load, 0, w});
      return true;
    }
    deep_ = w;
    return false;
  }

  static Stack After(Stack stack, const Step& step) {
    Apply(stack, step);
    return stack;
  }

  // Up to three moves, all tried.
  bool Search(const Stack& goal, uint32_t window, int moves) {
    if (stack_ == goal) return true;
    if (moves == 0) return false;
    size_t wrong = 0;
    for (size_t i = 0; i < goal.size(); ++i) wrong += stack_[i] != goal[i];
    if (moves == 1 && wrong > window) return false;
    for (uint32_t d = 1; d < window; ++d)
      for (K kind : {K::Swap, K::Pick, K::Place}) {
        if (d == 1 && kind != K::Swap) continue;
        const Stack before = stack_;
        Do({kind, d});
        if (Search(goal, window, moves - 1)) return true;
        stack_ = before;
        steps_.pop_back();
      }
    return false;
  }

  bool Permute(const Stack& goal) {
    if (stack_ == goal) return true;
    CHECK(stack_.size() == goal.size());
    size_t low = 0;
    while (stack_[low] == goal[low]) ++low;
    const uint32_t window = static_cast<uint32_t>(goal.size() - low);
    if (window > Reach) return deep_ = stack_[low], false;
    for (int moves = 1; moves <= (window <= 6 ? 4 : window <= 9 ? 3 : 2); ++moves)
      if (Search(goal, window, moves)) return true;
    // Along cycles: the top goes where it belongs; when it does, fetch the deepest that is wrong.
    const Stack start = stack_;
    const size_t mark = steps_.size();
    while (stack_ != goal) {
      size_t to = goal.size();
      const Word top = stack_.back();
      if (goal.back() != top)
        for (size_t i = low; i + 1 < goal.size() && to == goal.size(); ++i)
          if (goal[i] == top && stack_[i] != top) to = i;
      if (to == goal.size())
        for (size_t i = low; i < goal.size() && to == goal.size(); ++i)
          if (stack_[i] != goal[i]) to = i;
      Do({K::Swap, static_cast<uint32_t>(goal.size() - 1 - to)});
      if (steps_.size() - mark > 3 * goal.size()) break;
    }
    const bool cycles_done = stack_ == goal;
    const Steps cycles(steps_.begin() + mark, steps_.end());
    if (cycles_done && cycles.size() <= window) return true;
    // Anew, from the lowest that is wrong.
    stack_ = start;
    steps_.resize(mark);
    for (size_t i = low; i < goal.size(); ++i) {
      // Those already built lie on top; what is needed is among the window - (i - low) below them.
      uint32_t depth = static_cast<uint32_t>(i - low);
      while (stack_[stack_.size() - 1 - depth] != goal[i]) ++depth;
      if (depth > 0) Do({K::Pick, depth});
    }
    if (cycles_done && cycles.size() <= steps_.size() - mark) {
      stack_ = goal;
      steps_.resize(mark);
      steps_.insert(steps_.end(), cycles.begin(), cycles.end());
    }
    return true;
  }

  Stack stack_;
  const Stack& target_;
  const Elsewhere& elsewhere_;
  const bool gather_;
  Steps steps_;
  Word deep_ = NoWord;
};

}  // namespace

bool Arrange(const Stack& stack, const Stack& target, const Elsewhere& elsewhere, Steps& steps,
             Word& deep) {
  Steps one, other;
  Word ignored = NoWord;
  if (!Arranger(stack, target, elsewhere, false).Run(one, deep)) return false;
  if (Arranger(stack, target, elsewhere, true).Run(other, ignored) && CostOf(other) < CostOf(one))
    std::swap(one, other);
  steps.insert(steps.end(), one.begin(), one.end());
  return true;
}

}  // namespace frazil::targets::tasm
