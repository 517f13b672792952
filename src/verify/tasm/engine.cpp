// The two programs' paths, and what must agree at their ends.
#include "verify/tasm/engine.h"

#include <algorithm>

namespace frazil::verify::tasm {

std::optional<Failure> Engine::Run(std::unique_ptr<Side> leader, std::unique_ptr<Side> follower,
                                   bool source_leads) {
  source_leads_ = source_leads;
  Facts facts(terms_);
  for (const Literal& literal : assumed) {
    if (!facts.Assume(literal)) return std::nullopt;
  }
  Pair pair{std::move(leader), std::move(follower), facts};
  Exec exec(pair.facts, false);
  exec.Begin(pair.leader->state, fragment_, source_leads ? 0 : 1);
  exec.Begin(pair.follower->state, fragment_, source_leads ? 1 : 0);
  work_.push_back(std::move(pair));
  while (!work_.empty() && !failure_) {
    Pair next = std::move(work_.back());
    work_.pop_back();
    Process(std::move(next));
  }
  return std::move(failure_);
}

Engine::Pair Engine::Copy(const Pair& pair) const {
  return {pair.leader->Clone(), pair.follower->Clone(), pair.facts, pair.leader_ended,
          pair.follower_ended,  pair.leader_stopped,    pair.forks, pair.passes};
}

void Engine::Fail(std::string reason, Pair* pair, std::optional<Literal> difference,
                  bool resources) {
  if (failure_) return;
  failure_ = Failure{std::move(reason), resources, {}, difference};
  if (pair != nullptr) failure_->facts = pair->facts;
}

bool Engine::Exhausted() {
  ++budget_.steps;
  if (budget_.steps > budget_.max_steps) {
    Fail("the limit of steps was reached", nullptr, {}, true);
  } else if (terms_.size() > budget_.max_terms) {
    Fail("the limit of terms was reached", nullptr, {}, true);
  } else if (budget_.deadline.Passed()) {
    Fail("the limit of time was reached", nullptr, {}, true);
  }
  return failure_.has_value();
}

void Engine::Fork(const Pair& pair, Literal literal, bool follower) {
  if (pair.forks >= budget_.max_forks || ++paths_ > budget_.max_paths) {
    Fail("there are too many paths", nullptr, {}, true);
    return;
  }
  (follower ? pair.follower : pair.leader)->NoteBranch();
  for (const Literal& side : {literal, Not(literal)}) {
    Pair copy = Copy(pair);
    ++copy.forks;
    if (copy.facts.Assume(side)) work_.push_back(std::move(copy));
  }
}

bool Engine::Drive(Pair& pair, bool follower) {
  std::unique_ptr<Side>& side = follower ? pair.follower : pair.leader;
  Exec exec(pair.facts, follower);
  while (true) {
    if (Exhausted()) return false;
    Step step = side->Advance(exec);
    switch (step.kind) {
      case Step::Kind::Continue: break;
      case Step::Kind::End:
        (follower ? pair.follower_ended : pair.leader_ended) = true;
        return true;
      case Step::Kind::Cut: return true;
      case Step::Kind::Crash:
        if (follower) Fail("one crashes where the other does not", &pair);
        return false;
      case Step::Kind::Unspecified: return false;
      case Step::Kind::Undecided:
        if (join && !fragment_ && Bridge(side, pair.facts, step.literal, follower, 0)) break;
        Fork(pair, step.literal, follower);
        return false;
      case Step::Kind::Stuck:
        Fail(std::move(step.reason), &pair, Not(step.literal), false);
        return false;
    }
  }
}

void Engine::Process(Pair pair) {
  if (!pair.leader_stopped) {
    if (!pair.leader_ended && !Drive(pair, false)) return;
    pair.leader_stopped = true;
    pair.facts.Refresh();
  }
  if (!pair.follower_ended && !Drive(pair, true)) return;
  Meet(std::move(pair));
}

// Loops of one program that the other does not have, or has not yet, are gone through.
void Engine::Meet(Pair pair) {
  if (pair.leader_ended && pair.follower_ended) return CompareEnds(pair);
  if (!pair.leader_ended && !pair.follower_ended) return Arrive(std::move(pair));
  if (++pair.passes > budget_.max_forks)
    return Fail("one program loops where the other has ended", &pair, {}, true);
  if (pair.leader_ended) {
    pair.follower->Pass();
  } else {
    pair.leader->Pass();
    pair.leader_stopped = false;
  }
  work_.push_back(std::move(pair));
}

bool Engine::ComparePassed(Pair& pair) {
  State &a = pair.leader->state, &b = pair.follower->state;
  auto same = [](const Stream& x, const Stream& y) {
    return x.token == y.token && x.count == y.count;
  };
  if (!same(a.input, b.input))
    return Fail("they read different numbers of public inputs", &pair), false;
  if (!same(a.secret, b.secret))
    return Fail("they read different numbers of secrets", &pair), false;
  if (!same(a.digests, b.digests))
    return Fail("they read different numbers of secret digests", &pair), false;
  if (a.output.size() != b.output.size())
    return Fail("they write different numbers of outputs", &pair), false;
  for (size_t i = 0; i < a.output.size(); ++i) {
    if (pair.facts.Equal(a.output[i], b.output[i])) continue;
    Fail("an output could not be shown to be equal", &pair,
         NonZero(terms_.Sub(a.output[i], b.output[i])));
    return false;
  }
  return true;
}

void Engine::CompareEnds(Pair& pair) {
  State &a = pair.leader->state, &b = pair.follower->state;
  if (pair.leader->exit != pair.follower->exit) return Fail("they end in different ways", &pair);
  if (!ComparePassed(pair) || !fragment_) return;
  if (a.Height() != b.Height()) return Fail("they leave stacks of different heights", &pair);
  if (source_leads_ && !deep_stack && b.lowest < a.lowest) {
    return Fail("the candidate reaches deeper into the stack than the source", &pair);
  }
  Exec exec(pair.facts, true);
  if (a.below < b.below) exec.Need(a, a.stack.size() + (b.below - a.below));
  if (b.stack.size() < a.stack.size()) exec.Need(b, a.stack.size());
  if (a.stack.size() < b.stack.size()) exec.Need(a, b.stack.size());
  const size_t depth = std::min(a.stack.size(), b.stack.size());
  for (size_t i = 0; i < depth; ++i) {
    const Term x = a.stack[a.stack.size() - 1 - i], y = b.stack[b.stack.size() - 1 - i];
    if (pair.facts.Equal(x, y)) continue;
    return Fail("a word of the stack could not be shown to be equal", &pair,
                NonZero(terms_.Sub(x, y)));
  }
  for (size_t i = 0; i < 16; ++i) {
    if (!pair.facts.Equal(a.sponge[i], b.sponge[i]))
      return Fail("the sponges could not be shown to be equal", &pair);
  }
  if (a.sponge_ready != b.sponge_ready)
    return Fail("the sponges could not be shown to be equal", &pair);
  Literal literal = Zero(0);
  switch (CompareMemory(pair, literal)) {
    case Verdict::Equal: return;
    case Verdict::Undecided: return Fork(pair, literal, true);
    case Verdict::Different: return Fail("memory could not be shown to be equal", &pair, literal);
  }
}

// The cells that a memory's writes leave, no two of them the same. False: it must be known whether two are.
bool Engine::Distinct(Facts& facts, const Memory& memory, std::vector<std::pair<Term, Term>>& cells,
                      Literal& literal) {
  for (size_t i = memory.writes.size(); i-- > 0;) {
    const auto [address, value] = memory.writes[i];
    bool shadowed = false;
    for (const auto& [later, unused] : cells) {
      if (later == address || facts.Equal(later, address)) {
        shadowed = true;
        break;
      }
      literal = Zero(terms_.Sub(later, address));
      if (!facts.Differ(later, address)) return false;
    }
    if (!shadowed) cells.emplace_back(address, value);
  }
  return true;
}

Engine::Verdict Engine::CompareMemory(Pair& pair, Literal& literal) {
  const Memory &a = pair.leader->state.memory, &b = pair.follower->state.memory;
  Facts& facts = pair.facts;
  if (a.token != b.token) return Verdict::Different;
  auto same_write = [&](const auto& x, const auto& y) {
    return facts.Equal(x.first, y.first) && facts.Equal(x.second, y.second);
  };
  if (std::equal(a.writes.begin(), a.writes.end(), b.writes.begin(), b.writes.end(), same_write))
    return Verdict::Equal;
  std::vector<std::pair<Term, Term>> cells_a, cells_b;
  if (!Distinct(facts, a, cells_a, literal) || !Distinct(facts, b, cells_b, literal))
    return Verdict::Undecided;
  for (int turn = 0; turn < 2; ++turn) {
    for (const auto& [address, value] : cells_a) {
      const Term simpler = facts.Simplify(address);
      Term other = terms_.Apply(Base::Ram, {&simpler, 1}, 0, a.token);
      for (const auto& [candidate, content] : cells_b) {
        if (facts.Equal(candidate, address)) {
          other = content;
          break;
        }
        literal = Zero(terms_.Sub(candidate, address));
        if (!facts.Differ(candidate, address)) return Verdict::Undecided;
      }
      if (facts.Equal(value, other)) continue;
      literal = NonZero(terms_.Sub(value, other));
      return Verdict::Different;
    }
    std::swap(cells_a, cells_b);
  }
  return Verdict::Equal;
}

}  // namespace frazil::verify::tasm
