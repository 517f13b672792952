// Ifs and loops. Both sides of an if end in one layout; a loop's body ends in the layout it started with. A result
// takes the place of the value it replaces, so that a side which changes nothing has nothing to do.
#include <algorithm>

#include "base/check.h"
#include "targets/tasm/stack/scheduler.h"
#include "targets/tasm/words/word_repeats.h"

namespace frazil::targets::tasm {

using K = Step::Kind;

namespace {

tir::Op MakeOp(tir::Kind kind, uint64_t number = 0) {
  tir::Op op;
  op.kind = kind;
  op.number = number;
  return op;
}

}  // namespace

// Words that live in RAM leave the stack as soon as they are made.
void FunctionScheduler::StoreResults(State& state, const std::vector<Word>& results) {
  for (size_t i = results.size(); i-- > 0;) {
    if (!elsewhere().InRam(results[i])) continue;
    const uint32_t depth = DepthOf(state.stack, results[i]);
    if (depth == UINT32_MAX) continue;
    if (depth >= Reach) {
      failed_ = true;
      TooDeep(state.stack, results[i]);
      continue;
    }
    Steps steps;
    if (depth > 0) steps.push_back({K::Pick, depth});
    steps.push_back({K::Store, 0, results[i]});
    for (const Step& step : steps) {
      Apply(state.stack, step);
      state.cost += CostOf(step);
      state.steps.push_back(step);
    }
  }
}

void FunctionScheduler::AddCarried(const std::vector<Word>& params, const std::vector<Word>& yields,
                                   Exit& exit) const {
  for (size_t i = 0; i < params.size(); ++i) {
    if (elsewhere().InRam(params[i])) {
      if (yields[i] != params[i]) exit.stores.push_back({yields[i], params[i]});
    } else {
      exit.layout.push_back(yields[i]);
    }
  }
}

// A slot is written only when no other carried word still needs what is in it.
bool FunctionScheduler::StoreCarried(const Block& block, State& state) {
  std::vector<std::pair<Word, Word>> pending = block.exit->stores;
  std::set<Word> overwritten;  // only the copies on the stack are still what they were
  auto add = [&](Step step) {
    Apply(state.stack, step);
    state.cost += CostOf(step);
    state.steps.push_back(step);
  };
  auto bring = [&](Word w, bool copy) {
    if (elsewhere().IsConst(w)) return add({K::Push, 0, w}), true;
    const uint32_t depth = DepthOf(state.stack, w);
    if (depth >= Reach && elsewhere().InRam(w) && !overwritten.contains(w))
      return add({K::Load, 0, w}), true;
    if (depth >= Reach) return TooDeep(state.stack, w);
    if (copy) {
      add({K::Dup, depth});
    } else if (depth > 0) {
      add({K::Pick, depth});
    }
    return true;
  };
  auto layout_needs = [&](Word w) {
    return std::find(block.exit->layout.begin(), block.exit->layout.end(), w) !=
           block.exit->layout.end();
  };
  // Carried words that the layout wants from RAM come first.
  for (Word w : block.exit->layout)
    for (auto [from, to] : pending)
      if (w == to && DepthOf(state.stack, w) == UINT32_MAX && !bring(w, true)) return false;
  if (!StoreTogether(pending, layout_needs, bring, add, overwritten)) return false;
  while (!pending.empty()) {
    size_t free = pending.size();
    for (size_t i = 0; i < pending.size() && free == pending.size(); ++i) {
      bool needed = false;
      for (size_t j = 0; j < pending.size(); ++j)
        needed |= j != i && pending[j].first == pending[i].second &&
                  DepthOf(state.stack, pending[i].second) == UINT32_MAX;
      if (!needed) free = i;
    }
    if (free == pending.size()) {
      if (!bring(pending[0].second, true)) return false;
      continue;
    }
    const auto [from, to] = pending[free];
    pending.erase(pending.begin() + free);
    bool again = layout_needs(from);
    for (auto [other, slot] : pending) again |= other == from;
    if (!bring(from, again)) return false;
    add({K::Store, 0, to});
    overwritten.insert(to);
  }
  return true;
}

bool FunctionScheduler::Structure(const Block& block, uint32_t id, State& state, Stack& committed,
                                  Ops& out) {
  const WordNode node = f_.nodes[id];
  const uint32_t user = block.local.at(id);
  // Inits of carried words in RAM are stored; the others and the counter go on top.
  std::vector<Word> wanted;
  if (node.op == WordOp::If) {
    wanted = node.inputs;
  } else {
    const uint32_t first = node.op == WordOp::Loop ? 1 : 0;
    const std::vector<Word>& params = f_.regions[node.regions[0]].params;
    std::vector<std::pair<Word, Word>> stored;
    for (size_t i = 0; i < params.size(); ++i) {
      const Word init = node.inputs[first + i];
      if (!elsewhere().InRam(params[i])) {
        wanted.push_back(init);
        continue;
      }
      stored.emplace_back(init, params[i]);
    }
    if (!StoreInits(state, stored)) return false;
    if (node.op == WordOp::Loop) wanted.push_back(node.inputs[0]);
  }
  // What the regions read from outside stays below.
  const std::vector<Word>& captured = Captured(id);
  std::vector<Word> held;
  for (Word w : captured)
    if (std::find(wanted.begin(), wanted.end(), w) != wanted.end()) held.push_back(w);
  held_ = held;
  const bool brought = BringAll(block, state, wanted, user, 0, false);
  held_.clear();
  if (!brought) return false;
  state.done[user] = true;
  if (!Commit(state.steps, committed, out)) return false;
  state.steps.clear();
  CHECK(committed == state.stack);
  bool done = false;
  if (node.op == WordOp::If) done = IfNode(block, id, state, out);
  if (node.op == WordOp::Loop) done = LoopNode(id, state, out);
  if (node.op == WordOp::While) done = WhileNode(id, state, out);
  if (!done) return false;
  committed = state.stack;
  StoreResults(state, f_.nodes[id].results);
  Settle(block, state, false);
  return true;
}

bool FunctionScheduler::IfNode(const Block& block, uint32_t id, State& state, Ops& out) {
  const WordNode node = f_.nodes[id];
  state.stack.pop_back();
  const WordRegion& yes = f_.regions[node.regions[0]];
  const WordRegion& no = f_.regions[node.regions[1]];
  // The layout afterwards: what lives on, in its place, each result where the value it replaces was. A side that does
  // nothing has nothing to do if its values stay, and dead words do too: they go after the if.
  std::vector<int> replaced(state.stack.size(), -1);
  std::vector<bool> placed(node.results.size(), false);
  const bool first_idle = yes.nodes.empty() && !no.nodes.empty();
  const WordRegion* sides[] = {first_idle ? &yes : &no, first_idle ? &no : &yes};
  for (const WordRegion* side : sides)
    for (size_t k = 0; k < node.results.size(); ++k) {
      if (placed[k] || elsewhere().InRam(node.results[k])) continue;
      for (size_t i = 0; i < state.stack.size(); ++i)
        if (state.stack[i] == side->yields[k] && replaced[i] < 0 &&
            !IsLive(block, state, state.stack[i]) && state.stack.size() - i < Reach - 4) {
          replaced[i] = static_cast<int>(k);
          placed[k] = true;
          break;
        }
    }
  bool idle = sides[0]->nodes.empty() && !sides[1]->nodes.empty();
  for (size_t i = 0; i < state.stack.size() && idle; ++i)
    idle = replaced[i] < 0 || state.stack[i] == sides[0]->yields[static_cast<size_t>(replaced[i])];
  for (size_t k = 0; k < node.results.size() && idle; ++k)
    idle = placed[k] || elsewhere().InRam(node.results[k]);
  const Word any = idle ? AnyWord() : NoWord;
  auto layout = [&](auto result) {
    Stack stack;
    for (size_t i = 0; i < state.stack.size(); ++i) {
      if (replaced[i] >= 0) {
        stack.push_back(result(static_cast<size_t>(replaced[i])));
      } else if (IsLive(block, state, state.stack[i])) {
        stack.push_back(state.stack[i]);
      } else if (idle) {
        stack.push_back(any);
      } else if (state.stack.size() - i > Reach - 3) {
        stack.push_back(state.stack[i]);  // too deep to be dropped here
      }
    }
    for (size_t k = 0; k < node.results.size(); ++k)
      if (!placed[k]) stack.push_back(result(k));
    return stack;
  };
  tir::Op op = MakeOp(tir::Kind::IfElse);
  for (int side = 0; side < 2; ++side) {
    const uint32_t region = node.regions[side];
    Exit exit;
    exit.exact = true;
    exit.layout = layout([&](size_t k) { return f_.regions[region].yields[k]; });
    Stack stack = state.stack;
    if (!Region(region, stack, exit, side == 0 ? op.body : op.other)) return false;
  }
  if (op.other.empty()) {
    op.kind = tir::Kind::IfOnly;
  } else if (op.body.empty()) {
    out.push_back(MakeOp(tir::Kind::Push, 0));
    out.push_back(MakeOp(tir::Kind::Eq));
    op.kind = tir::Kind::IfOnly;
    op.body = std::move(op.other);
    op.other.clear();
  }
  if (!op.body.empty()) {
    out.push_back(std::move(op));
  } else {
    out.push_back(MakeOp(tir::Kind::Pop, 1));
  }
  state.stack = layout([&](size_t k) { return node.results[k]; });
  return true;
}

// A place in a layout where it does not matter what lies there. Where nothing does, a constant will do.
Word FunctionScheduler::AnyWord() {
  if (any_ == NoWord) any_ = MakePinned(WordOp::Const);
  return any_;
}

Word FunctionScheduler::MakePinned(WordOp op) {
  const Word word = f_.Make(op, 0, {}, 0);
  in_ram_.push_back(false);
  pinned_.insert(word);
  return word;
}

// The layout with words of this stack in the places where any will do: what lies there, else what is too much.
Stack FunctionScheduler::Concrete(const Stack& stack, Stack layout) const {
  if (any_ == NoWord) return layout;
  std::map<Word, int> spare;
  for (Word w : stack) ++spare[w];
  for (Word w : layout) --spare[w];
  auto take = [&](size_t i, Word w) {
    if (layout[i] != any_ || w == any_ || spare[w] <= 0) return;
    --spare[w];
    layout[i] = w;
  };
  for (size_t i = 0; i < std::min(layout.size(), stack.size()); ++i) take(i, stack[i]);
  for (size_t i = 0; i < layout.size(); ++i)
    for (Word w : stack) take(i, w);
  return layout;
}

bool FunctionScheduler::LoopNode(uint32_t id, State& state, Ops& out) {
  const Word counter = MakePinned(WordOp::Param);  // no node makes it
  const WordNode node = f_.nodes[id];
  const uint32_t region = node.regions[0];
  const std::vector<Word> params = f_.regions[region].params;
  std::vector<Word> on_stack, results;
  for (size_t i = 0; i < params.size(); ++i)
    if (!elsewhere().InRam(params[i])) {
      on_stack.push_back(params[i]);
      results.push_back(node.results[i]);
    }
  state.stack.resize(state.stack.size() - on_stack.size() - 1);
  Stack inside = state.stack;
  Exit exit;
  exit.exact = true;
  exit.layout = state.stack;
  inside.insert(inside.end(), on_stack.begin(), on_stack.end());
  inside.push_back(counter);
  AddCarried(params, f_.regions[region].yields, exit);
  exit.layout.push_back(counter);
  tir::Op op = MakeOp(tir::Kind::Loop);
  if (!Region(region, inside, exit, op.body)) return false;
  out.push_back(std::move(op));
  out.push_back(MakeOp(tir::Kind::Pop, 1));
  state.stack.insert(state.stack.end(), results.begin(), results.end());
  return true;
}

bool FunctionScheduler::WhileNode(uint32_t id, State& state, Ops& out) {
  const WordNode node = f_.nodes[id];
  const std::vector<Word> params = f_.regions[node.regions[0]].params;
  std::vector<Word> on_stack, results;
  for (size_t i = 0; i < params.size(); ++i)
    if (!elsewhere().InRam(params[i])) {
      on_stack.push_back(params[i]);
      results.push_back(node.results[i]);
    }
  state.stack.resize(state.stack.size() - on_stack.size());
  Exit body_exit, test_exit;
  body_exit.exact = test_exit.exact = true;
  body_exit.layout = state.stack;
  AddCarried(params, f_.regions[node.regions[1]].yields, body_exit);
  Stack start = state.stack;
  start.insert(start.end(), on_stack.begin(), on_stack.end());
  test_exit.layout = start;
  test_exit.layout.push_back(f_.regions[node.regions[0]].yields[0]);
  Stack inside = start;
  if ((node.number & EndsByRepeat) != 0 && on_stack.size() == params.size()) {
    tir::Op repeat = MakeOp(tir::Kind::Repeat);
    if (!Region(node.regions[1], inside, body_exit, repeat.body)) return false;
    out.push_back(std::move(repeat));
    state.stack.insert(state.stack.end(), results.begin(), results.end());
    return true;
  }
  tir::Op op = MakeOp(tir::Kind::While, node.number & 1);
  if (!Region(node.regions[0], inside, test_exit, op.body)) return false;
  inside = start;
  if (!Region(node.regions[1], inside, body_exit, op.other)) return false;
  out.push_back(std::move(op));
  state.stack.insert(state.stack.end(), results.begin(), results.end());
  return true;
}

}  // namespace frazil::targets::tasm
