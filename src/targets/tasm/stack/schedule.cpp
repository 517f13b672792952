// The search inside a region. Nodes with effects are the roots, in order; before each, the pure nodes that it needs are
// run in an order that a beam search chooses. A value that is used for the last time is moved, not copied;
// constants are pushed anew wherever they are needed.
#include "targets/tasm/stack/schedule.h"

#include <algorithm>

#include "base/check.h"
#include "targets/tasm/stack/scheduler.h"

namespace frazil::targets::tasm {

using K = Step::Kind;

namespace {
constexpr size_t MostChoices = 4;
constexpr size_t MostOpenSteps = 2000;
constexpr uint64_t MostWalked = 5'000'000;  // nodes looked at by a search of more than one state
}  // namespace

const std::vector<Word>& FunctionScheduler::Captured(uint32_t id) {
  if (auto found = captured_.find(id); found != captured_.end()) return found->second;
  std::set<Word> used, made;
  std::vector<uint32_t> open(f_.nodes[id].regions.begin(), f_.nodes[id].regions.end());
  while (!open.empty()) {
    const WordRegion& region = f_.regions[open.back()];
    open.pop_back();
    made.insert(region.params.begin(), region.params.end());
    used.insert(region.yields.begin(), region.yields.end());
    used.insert(region.keep.begin(), region.keep.end());
    for (uint32_t n : region.nodes) {
      used.insert(f_.nodes[n].inputs.begin(), f_.nodes[n].inputs.end());
      made.insert(f_.nodes[n].results.begin(), f_.nodes[n].results.end());
      open.insert(open.end(), f_.nodes[n].regions.begin(), f_.nodes[n].regions.end());
    }
  }
  std::vector<Word> captured;
  for (Word w : used)
    if (!made.contains(w) && !f_.is_const(w)) captured.push_back(w);
  return captured_[id] = captured;
}

FunctionScheduler::Block FunctionScheduler::MakeBlock(uint32_t region, const Exit& exit) {
  Block block{region, &f_.regions[region].nodes, {}, {}, &exit};
  const uint32_t count = static_cast<uint32_t>(block.nodes->size());
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t id = (*block.nodes)[i];
    block.local[id] = i;
    for (Word w : f_.nodes[id].inputs) block.users[w].push_back(i);
    if (!f_.nodes[id].regions.empty())
      for (Word w : Captured(id)) block.users[w].push_back(i);
  }
  for (Word w : exit.layout) block.users[w].push_back(count);
  for (auto [from, to] : exit.stores) block.users[from].push_back(count);
  for (Word w : f_.regions[region].keep) block.users[w].push_back(count);
  for (auto& [w, users] : block.users)
    users.erase(std::unique(users.begin(), users.end()), users.end());
  return block;
}

bool FunctionScheduler::IsLive(const Block& block, const State& state, Word w) const {
  if (f_.is_const(w)) return false;
  auto users = block.users.find(w);
  if (users == block.users.end()) return false;
  for (uint32_t user : users->second)
    if (user >= state.done.size() || !state.done[user]) return true;
  return false;
}

bool FunctionScheduler::DiesAt(const Block& block, const State& state, Word w,
                               uint32_t user) const {
  auto users = block.users.find(w);
  if (users == block.users.end()) return true;
  for (uint32_t other : users->second)
    if (other != user && (other >= state.done.size() || !state.done[other])) return false;
  return true;
}

// Made already, or from outside, or a constant.
bool FunctionScheduler::Available(const Block& block, const State& state, Word w) const {
  if (f_.is_const(w)) return true;
  auto local = block.local.find(f_.words[w].node);
  return local == block.local.end() || state.done[local->second];
}

int FunctionScheduler::Score(const Block& block, const State& state) const {
  int score = state.cost;
  const size_t n = state.stack.size();
  for (size_t i = 0; i < n; ++i) {
    const bool live = IsLive(block, state, state.stack[i]);
    if (!live && !(is_entry_ && block.region == 0)) score += 12;
    if (live && n - 1 - i >= Reach) score += 60;
  }
  return score;
}

// Puts the wanted words on top, the first deepest. `returned` of them come back, so they are moved in any case.
bool FunctionScheduler::BringAll(const Block& block, State& state, const std::vector<Word>& wanted,
                                 uint32_t user, uint32_t returned, bool swap_first) {
  const size_t count = wanted.size();
  auto last_here = [&](size_t i) {  // no later operand is the same word
    for (size_t j = i + 1; j < count; ++j)
      if (wanted[j] == wanted[i]) return false;
    return true;
  };
  auto moves = [&](size_t i) {
    if (elsewhere().IsConst(wanted[i])) return false;
    if (std::find(held_.begin(), held_.end(), wanted[i]) != held_.end()) return false;
    if (elsewhere().InRam(wanted[i]))
      return DepthOf(state.stack, wanted[i]) != UINT32_MAX && last_here(i);
    return last_here(i) && (i < returned || DiesAt(block, state, wanted[i], user));
  };
  size_t ready = 0;
  for (size_t j = std::min(count, state.stack.size()); j > 0 && ready == 0; --j) {
    bool fits = true;
    for (size_t i = 0; i < j && fits; ++i)
      fits = state.stack[state.stack.size() - j + i] == wanted[i] && moves(i);
    if (fits) ready = j;
  }
  auto add = [&](Step step) {
    Apply(state.stack, step);
    state.cost += CostOf(step);
    state.steps.push_back(step);
  };
  for (size_t i = ready; i < count; ++i) {
    const Word w = wanted[i];
    if (elsewhere().IsConst(w)) {
      add({K::Push, 0, w});
      continue;
    }
    // What moves comes from below those that are in place.
    const bool move = moves(i);
    const uint32_t depth = DepthOf(state.stack, w, move ? static_cast<uint32_t>(i) : 0);
    if (depth >= Reach && elsewhere().InRam(w)) {
      add({K::Load, 0, w});
      continue;
    }
    if (depth == UINT32_MAX) {
      broken_ = true;
      return false;
    }
    if (depth >= Reach) return TooDeep(state.stack, w);
    if (move) {
      if (depth > 0) add({swap_first && i == 0 ? K::Swap : K::Pick, depth});
    } else {
      add({K::Dup, depth});
    }
  }
  return true;
}

// Dead words: those on top go at once; those below a live one may wait until they come up.
void FunctionScheduler::Settle(const Block& block, State& state, bool leave_dead) const {
  auto add = [&](Step step) {
    Apply(state.stack, step);
    state.cost += CostOf(step);
    state.steps.push_back(step);
  };
  const bool free_end = is_entry_ && block.region == 0;
  while (!state.stack.empty()) {
    uint32_t run = 0;
    while (run < 5 && run < state.stack.size() &&
           !IsLive(block, state, state.stack[state.stack.size() - 1 - run]))
      ++run;
    if (run > 0) {
      if (free_end) {
        // Nothing has to be tidy at the program's end; only what makes others too deep goes.
        uint32_t deepest = 0;
        for (uint32_t d = 0; d < state.stack.size(); ++d)
          if (IsLive(block, state, state.stack[state.stack.size() - 1 - d])) deepest = d;
        if (deepest < 9) return;
      }
      add({K::Pop, run});
      continue;
    }
    if (leave_dead || state.stack.size() < 2) return;
    if (IsLive(block, state, state.stack[state.stack.size() - 2])) return;
    if (free_end) return;
    add({K::Swap, 1});
  }
}

void FunctionScheduler::Finish(const Block& block, State& state, uint32_t id, bool leave_dead) {
  const WordNode& node = f_.nodes[id];
  const size_t left = state.stack.size() - (node.inputs.size() - node.returned);
  state.stack.resize(left);
  state.stack.insert(state.stack.end(), node.results.begin(), node.results.end());
  state.done[block.local.at(id)] = true;
  StoreResults(state, node.results);
  Settle(block, state, leave_dead);
}

bool FunctionScheduler::Execute(const Block& block, State& state, uint32_t id,
                                const std::vector<Word>& wanted, uint8_t variant, bool swap_first,
                                bool leave_dead) {
  if (!BringAll(block, state, wanted, block.local.at(id), f_.nodes[id].returned, swap_first))
    return false;
  state.steps.push_back({K::Node, id, NoWord, variant});
  Finish(block, state, id, leave_dead);
  return true;
}

void FunctionScheduler::Expand(const Block& block, const State& state, uint32_t id,
                               std::vector<State>& next) {
  const WordNode& node = f_.nodes[id];
  std::vector<std::vector<Word>> orders = {node.inputs};
  const bool halves = node.op == WordOp::XxAdd || node.op == WordOp::XxMul;
  if (Commutes(node.op) || halves) {
    const std::vector<Word> other = InVariant(node.inputs, 1);
    if (other != node.inputs) orders.push_back(other);
  }
  // Equal vectors are equal in any order, and either way round.
  if (node.op == WordOp::AssertVector)
    for (uint8_t variant = 1; variant < 4; ++variant)
      orders.push_back(InVariant(node.inputs, variant));
  // Of two that cost the same the first is kept: a constant on top may become one with the instruction.
  const bool turn = Commutes(node.op) && orders.size() == 2 && f_.is_const(node.inputs[0]);
  for (uint8_t n = 0; n < orders.size(); ++n)
    for (bool swap_first : {false, true})
      for (bool leave : {false, true}) {
        const uint8_t variant = turn ? 1 - n : n;
        if (beam_ == 1 && (swap_first || leave)) continue;
        if (leave && node.results.size() < 2) continue;
        if (swap_first && (orders[variant].empty() || DepthOf(state.stack, orders[variant][0]) < 2))
          continue;
        State copy = state;
        if (!Execute(block, copy, id, orders[variant], variant, swap_first, leave)) continue;
        copy.score = Score(block, copy);
        next.push_back(std::move(copy));
      }
}

// Which pure nodes to try next on the way to the root; the root itself when nothing is missing.
std::vector<uint32_t> FunctionScheduler::Choices(const Block& block, const State& state,
                                                 uint32_t root) const {
  std::vector<uint32_t> choices;
  auto add = [&](uint32_t id) {
    if (std::find(choices.begin(), choices.end(), id) == choices.end()) choices.push_back(id);
  };
  auto needs = [&](uint32_t id) -> std::vector<Word> {
    if (id != UINT32_MAX) {
      std::vector<Word> words = f_.nodes[id].inputs;
      if (!f_.nodes[id].regions.empty()) {
        const std::vector<Word>& more = captured_.at(id);
        words.insert(words.end(), more.begin(), more.end());
      }
      words.insert(words.end(), f_.nodes[id].before.begin(), f_.nodes[id].before.end());
      return words;
    }
    std::vector<Word> words = block.exit->layout;
    for (auto [from, to] : block.exit->stores) words.push_back(from);
    return words;
  };
  // A single state goes down along first operands from where it was: long chains are not walked again at each step.
  if (beam_ == 1) {
    const auto from = std::pair(block.region, root);
    if (from != path_of_ || path_.empty()) path_ = {root};
    path_of_ = from;
    while (path_.size() > 1 && state.done[block.local.at(path_.back())]) path_.pop_back();
    while (true) {
      uint32_t open = UINT32_MAX;
      for (Word w : needs(path_.back()))
        if (open == UINT32_MAX && !Available(block, state, w)) open = f_.words[w].node;
      if (open == UINT32_MAX) return {path_.back()};
      path_.push_back(open);
    }
  }
  // Down along first, last or middle operands that are not made yet.
  for (int way = 0; way < 3; ++way) {
    uint32_t at = root;
    while (true) {
      std::vector<uint32_t> open;
      for (Word w : needs(at))
        if (!Available(block, state, w)) open.push_back(f_.words[w].node);
      if (open.empty()) break;
      ++walked_;
      at = way == 0 ? open.front() : way == 1 ? open.back() : open[open.size() / 2];
    }
    if (at == root) return {root};
    add(at);
  }
  // What can take the top of the stack.
  if (!state.stack.empty()) {
    auto users = block.users.find(state.stack.back());
    if (users != block.users.end())
      for (uint32_t user : users->second) {
        if (user >= state.done.size() || state.done[user] || choices.size() >= MostChoices)
          continue;
        const uint32_t id = (*block.nodes)[user];
        if (HasEffect(f_.nodes[id])) continue;
        bool ready = true;
        for (Word w : f_.nodes[id].inputs) ready &= Available(block, state, w);
        if (!ready) continue;
        // Only what the root needs.
        std::vector<uint32_t> open = {root};
        std::set<uint32_t> seen;
        bool wanted = false;
        while (!open.empty() && !wanted && seen.size() < 200) {
          const uint32_t at = open.back();
          open.pop_back();
          for (Word w : needs(at))
            if (!Available(block, state, w) && seen.insert(f_.words[w].node).second) {
              wanted |= f_.words[w].node == id;
              open.push_back(f_.words[w].node);
            }
        }
        if (wanted) add(id);
      }
  }
  return choices;
}

void FunctionScheduler::Keep(std::vector<State>& states, uint32_t most) const {
  std::vector<uint32_t> order(states.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return states[a].score != states[b].score ? states[a].score < states[b].score : a < b;
  });
  std::vector<State> kept;
  for (uint32_t i : order) {
    State& state = states[i];
    if (kept.size() >= most) break;
    bool known = false;
    for (const State& other : kept) known |= other.stack == state.stack && other.done == state.done;
    if (!known) kept.push_back(std::move(state));
  }
  states = std::move(kept);
}

// Everything that a root needs, then the root, unless it is a structure or the exit.
bool FunctionScheduler::RunRoot(Block& block, uint32_t root, std::vector<State>& beam) {
  const bool plain = root != UINT32_MAX && !IsStructure(f_.nodes[root].op);
  while (true) {
    std::vector<State> next;
    bool ready = false;
    for (const State& state : beam) {
      const std::vector<uint32_t> choices = Choices(block, state, root);
      if (choices.size() == 1 && choices[0] == root) {
        ready = true;
        if (plain) Expand(block, state, root, next);
        continue;
      }
      for (uint32_t id : choices) Expand(block, state, id, next);
    }
    if (ready && !plain) return true;
    if (next.empty() || walked_ > MostWalked) return false;
    if (!failed_) requests_.clear();
    beam = std::move(next);
    Keep(beam, beam_);
    if (ready) return true;
  }
}

bool FunctionScheduler::Region(uint32_t region, Stack& stack, const Exit& exit, Ops& out) {
  Block block = MakeBlock(region, exit);
  State start;
  start.stack = stack;
  start.done.assign(block.nodes->size(), false);
  StoreResults(start, f_.regions[region].params);
  std::vector<State> beam = {start};
  for (uint32_t id : *block.nodes) {
    if (!HasEffect(f_.nodes[id])) continue;
    if (!RunRoot(block, id, beam)) return false;
    const bool structure = IsStructure(f_.nodes[id].op);
    if (!structure && beam.front().steps.size() < MostOpenSteps) continue;
    // What stands before a structure is final; so is what is so long that copying it would take the time.
    State best = std::move(beam.front());
    if (structure) {
      if (!Structure(block, id, best, stack, out)) return false;
    } else {
      if (!Commit(best.steps, stack, out)) return false;
      best.steps.clear();
    }
    beam.clear();
    beam.push_back(std::move(best));
  }
  if (!RunRoot(block, UINT32_MAX, beam)) return false;
  return LeaveRegion(block, beam, out, stack);
}

bool FunctionScheduler::LeaveRegion(Block& block, std::vector<State>& beam, Ops& out,
                                    Stack& stack) {
  int best = INT32_MAX;
  State chosen;
  Word deep = NoWord;
  for (State& state : beam) {
    State copy = state;
    if (block.exit->exact) {
      if (!StoreCarried(block, copy)) continue;
      Steps steps;
      if (!Arrange(copy.stack, Concrete(copy.stack, block.exit->layout), elsewhere(), steps, deep))
        continue;
      copy.cost += CostOf(steps);
      copy.steps.insert(copy.steps.end(), steps.begin(), steps.end());
      copy.stack = block.exit->layout;
    }
    if (copy.cost < best) {
      best = copy.cost;
      chosen = std::move(copy);
    }
  }
  if (best == INT32_MAX) {
    if (deep != NoWord) TooDeep(beam.front().stack, deep);
    return false;
  }
  return Commit(chosen.steps, stack, out);
}

}  // namespace frazil::targets::tasm
