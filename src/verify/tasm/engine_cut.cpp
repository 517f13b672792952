// Cuts: what is known at a pair of loop heads, and how it is made more general until every arrival fits.
//
// A description stands for all pairs of states that some values of its symbols give, under its facts. Making it more
// general must keep everything that it stood for and take in the arrival: a word stays as it is if both agree; else it becomes a
// new symbol plus an offset that is the same term in both; facts stay if they hold in both.
#include <algorithm>

#include "verify/tasm/engine.h"

namespace frazil::verify::tasm {

namespace gl = goldilocks;

namespace {

constexpr uint64_t MaxRounds = 40;

}  // namespace

// All words of both sides, in a fixed order. Fragments' stacks are brought to one depth first.
std::vector<Term*> Engine::Words(Pair& pair) {
  std::vector<Term*> words;
  for (Side* side : {pair.leader.get(), pair.follower.get()}) {
    for (Term& word : side->state.stack) words.push_back(&word);
    for (Term& word : side->state.sponge) words.push_back(&word);
    side->CollectWords(words);
  }
  return words;
}

void Engine::Arrive(Pair pair) {
  if (!ComparePassed(pair)) return;
  Literal literal = Zero(0);
  switch (CompareMemory(pair, literal)) {
    case Verdict::Equal: break;
    case Verdict::Undecided: return Fork(pair, literal, true);
    case Verdict::Different:
      return Fail("memory could not be shown to be equal at a loop", &pair, literal);
  }
  if (pair.leader->state.sponge_ready != pair.follower->state.sponge_ready) {
    return Fail("the sponges could not be shown to be equal at a loop", &pair);
  }
  // Segment by segment this holds the least heights against each other.
  if (fragment_ && source_leads_ && !deep_stack &&
      pair.follower->state.lowest < pair.leader->state.lowest) {
    return Fail("the candidate reaches deeper into the stack than the source", &pair);
  }
  const auto key = std::pair(pair.leader->Key(), pair.follower->Key());
  std::unique_ptr<Cut>& cut = cuts_[key];
  if (cut == nullptr) {
    if (fragment_) {
      Exec exec(pair.facts, true);
      for (Side* side : {pair.leader.get(), pair.follower.get()})
        exec.Need(side->state, side->state.stack.size() + 16);
    }
    cut = std::make_unique<Cut>(std::move(pair));
    cut->words.resize(Words(cut->state).size());
    return StartCut(*cut);
  }
  // A fragment's stack may have come up further since.
  for (int side = 0; side < 2; ++side) {
    State& known = (side == 0 ? cut->state.leader : cut->state.follower)->state;
    State& now = (side == 0 ? pair.leader : pair.follower)->state;
    if (known.Height() != now.Height())
      return Fail("a loop changes the height of the stack", &pair);
    if (known.below != now.below || known.sponge_ready != now.sponge_ready) {
      return Fail("a loop reaches into the stack further than before it", &pair);
    }
    now.lowest = known.lowest;
  }
  if (Fits(*cut, pair)) return;
  if (++cut->rounds > MaxRounds)
    return Fail("no relation between the loops was found", &pair, {}, true);
  Generalize(*cut, pair);
  StartCut(*cut);
}

// The way from a cut is gone with new names for what comes: inputs, secrets, and memory if it changes.
void Engine::StartCut(Cut& cut) {
  const uint32_t token = next_token_++;
  for (Side* side : {cut.state.leader.get(), cut.state.follower.get()}) {
    State& state = side->state;
    state.input = state.secret = state.digests = {token, 0};
    state.output.clear();
    if (cut.memory_changes) state.memory = {token, {}};
  }
  if (!cut.memory_changes) cut.state.follower->state.memory = cut.state.leader->state.memory;
  Pair copy = Copy(cut.state);
  copy.leader->Pass();
  copy.follower->Pass();
  copy.leader_stopped = false;
  copy.forks = copy.passes = 0;
  work_.push_back(std::move(copy));
}

bool Engine::Fits(Cut& cut, Pair& arrival) {
  const std::vector<Term*> known = Words(cut.state), now = Words(arrival);
  if (known.size() != now.size()) return Fail("loops have different shapes", &arrival), true;
  if (!cut.memory_changes) {
    const Memory &before = cut.state.leader->state.memory, &after = arrival.leader->state.memory;
    const auto same = [&](const auto& x, const auto& y) {
      return arrival.facts.Equal(x.first, y.first) && arrival.facts.Equal(x.second, y.second);
    };
    if (before.token != after.token ||
        !std::equal(before.writes.begin(), before.writes.end(), after.writes.begin(),
                    after.writes.end(), same)) {
      return false;
    }
  }
  // The values of the symbols that make the description this arrival.
  std::vector<Term> values(cut.symbols.size(), NoTerm);
  for (size_t i = 0; i < now.size(); ++i) {
    const Word& word = cut.words[i];
    if (word.group < 0) {
      if (!arrival.facts.Equal(*known[i], *now[i])) return false;
      continue;
    }
    const Term rest = terms_.Sub(*now[i], word.offset);
    const Term value = word.negative ? terms_.Neg(rest) : rest;
    Term& symbol = values[static_cast<size_t>(word.group)];
    if (symbol == NoTerm) {
      symbol = value;
    } else if (!arrival.facts.Equal(symbol, value)) {
      return false;
    }
  }
  Facts replace(terms_);
  std::map<Term, Term> tested;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == NoTerm) continue;
    replace.Replace(cut.symbols[i], values[i]);
    if (terms_.KindOf(cut.symbols[i]) != Base::IsZero) continue;
    if (arrival.facts.RangeOf(values[i]).high > 1) return false;
    tested[terms_.Arguments(cut.symbols[i])[0]] = values[i];
  }
  for (const Literal& literal : cut.state.facts.literals()) {
    Literal now_is{literal.kind, replace.Simplify(literal.term)};
    // What a 0/1 symbol tests is 0 where the symbol is 1.
    if (auto found = tested.find(literal.term); found != tested.end()) {
      if (literal.kind == Literal::Kind::Zero) now_is = NonZero(found->second);
      if (literal.kind == Literal::Kind::NonZero) now_is = Zero(found->second);
    }
    if (!arrival.facts.Decide(now_is).value_or(false)) return false;
  }
  return true;
}

void Engine::Generalize(Cut& cut, Pair& arrival) {
  const std::vector<Term*> known = Words(cut.state), now = Words(arrival);
  if (!cut.memory_changes) {
    const Memory &before = cut.state.leader->state.memory, &after = arrival.leader->state.memory;
    cut.memory_changes = before.token != after.token || before.writes != after.writes;
  }
  Facts facts(terms_);
  for (const Literal& literal : cut.state.facts.literals()) {
    if (arrival.facts.Decide(literal).value_or(false)) facts.Assume(literal);
  }
  struct Group {
    Term before, after, symbol;
    int old;  // group before; words that went different ways once stay apart
  };
  std::vector<Group> groups;
  std::vector<Word> words(now.size());
  std::vector<Term> terms(now.size());
  // What is known of a word in both; every arrival is held against it.
  auto keep = [&](size_t i, Term before, Term after) {
    for (const auto literal : {Below32, NonZero}) {
      if (cut.state.facts.Decide(literal(before)).value_or(false) &&
          arrival.facts.Decide(literal(after)).value_or(false)) {
        facts.Assume(literal(terms[i]));
      }
    }
  };
  for (size_t i = 0; i < now.size(); ++i) {
    const Term before = *known[i], after = *now[i];
    terms[i] = before;
    // What was a symbol stays one, also if this arrival leaves it alone.
    if (cut.words[i].group < 0 && arrival.facts.Equal(before, after)) continue;
    for (size_t g = 0; g < groups.size() && words[i].group < 0; ++g) {
      if (groups[g].old != cut.words[i].group) continue;
      const Term difference = terms_.Sub(before, groups[g].before),
                 sum = terms_.Add(before, groups[g].before);
      if (arrival.facts.Equal(difference, terms_.Sub(after, groups[g].after))) {
        words[i] = {static_cast<int>(g), false, difference};
        terms[i] = terms_.Add(groups[g].symbol, difference);
      } else if (arrival.facts.Equal(sum, terms_.Add(after, groups[g].after))) {
        words[i] = {static_cast<int>(g), true, sum};
        terms[i] = terms_.Sub(sum, groups[g].symbol);
      }
    }
    if (words[i].group >= 0) {
      keep(i, before, after);
      continue;
    }
    Term symbol = terms_.Atom(Base::Loop, next_token_++, 0);
    // A 0/1 value in both: the zero test of something is such a value and nothing more.
    if (cut.state.facts.RangeOf(before).high <= 1 && arrival.facts.RangeOf(after).high <= 1)
      symbol = terms_.IsZero(symbol);
    words[i] = {static_cast<int>(groups.size()), false, terms_.Constant(0)};
    terms[i] = symbol;
    groups.push_back({before, after, symbol, cut.words[i].group});
    keep(i, before, after);
  }
  cut.symbols.clear();
  for (const Group& group : groups) cut.symbols.push_back(group.symbol);
  cut.words = std::move(words);
  for (size_t i = 0; i < now.size(); ++i) *known[i] = terms[i];
  cut.state.facts = std::move(facts);
}

}  // namespace frazil::verify::tasm
