// Branches that come together again: both ways are gone, and every word in which they differ becomes a choice
// by the 0/1 value of the condition. So a row of n branches is one path instead of 2^n.
//
// What was assumed on one way alone holds where it was taken: as x = 0 there it is c x = 0 for both. Words are simplified under
// what is known on their way before they are chosen between; where the way is not taken the choice has factor 0.
#include "verify/tasm/engine.h"

namespace frazil::verify::tasm {

namespace {

constexpr int MaxDepth = 24;
constexpr int MaxSteps = 20'000;  // of one way

class Joiner {
 public:
  Joiner(Terms& terms, Term taken, Facts& facts_a, Facts& facts_b)
      : terms_(terms), taken_(taken), facts_a_(facts_a), facts_b_(facts_b) {}

  Term Choose(Term a, Term b) {
    if (a == b) return a;
    const Term chosen = terms_.Choice(taken_, a, b);
    if (!terms_.Range(chosen).Below32() && facts_a_.Decide(Below32(a)).value_or(false) &&
        facts_b_.Decide(Below32(b)).value_or(false)) {
      below_.push_back(chosen);
    }
    return chosen;
  }

  // Into `a`. False: it cannot be said with words.
  bool Join(State& a, const State& b, const State& before) {
    auto same = [](const Stream& x, const Stream& y) {
      return x.token == y.token && x.count == y.count;
    };
    if (!same(a.input, b.input) || !same(a.secret, b.secret) || !same(a.digests, b.digests))
      return false;
    if (a.stack.size() != b.stack.size() || a.output.size() != b.output.size()) return false;
    if (a.sponge_ready != b.sponge_ready || !JoinMemory(a.memory, b.memory, before)) return false;
    for (size_t i = 0; i < a.stack.size(); ++i) a.stack[i] = Choose(a.stack[i], b.stack[i]);
    for (size_t i = 0; i < a.output.size(); ++i) a.output[i] = Choose(a.output[i], b.output[i]);
    for (size_t i = 0; i < a.sponge.size(); ++i) a.sponge[i] = Choose(a.sponge[i], b.sponge[i]);
    return true;
  }

  // Both that were chosen between are below 2^32.
  bool LearnBelow(Facts& facts) {
    for (const Term term : below_) {
      if (!facts.Assume(Below32(term))) return false;
    }
    return true;
  }

  // What holds on one way, as what holds on both. False: it cannot be.
  bool Learn(Facts& facts, const Facts& way, size_t from, Term taken) {
    const Term one = terms_.Constant(1);
    for (size_t i = from; i < way.literals().size(); ++i) {
      const Literal literal = way.literals()[i];
      const Term guarded = terms_.Mul(taken, literal.term);
      bool possible = true;
      switch (literal.kind) {
        case Literal::Kind::Zero: possible = facts.Assume(Zero(guarded)); break;
        case Literal::Kind::Below32: possible = facts.Assume(Below32(guarded)); break;
        case Literal::Kind::NonZero:
          possible = facts.Assume(NonZero(terms_.Add(guarded, terms_.Sub(one, taken))));
          break;
        case Literal::Kind::Above32: break;
      }
      if (!possible) return false;
    }
    return true;
  }

 private:
  using Writes = std::vector<std::pair<Term, Term>>;

  static Term* Find(Writes& writes, Term address) {
    for (auto& [written, value] : writes) {
      if (written == address) return &value;
    }
    return nullptr;
  }

  bool JoinMemory(Memory& a, const Memory& b, const State& before) {
    if (a.token != b.token || a.token != before.memory.token) return false;
    Writes other = b.writes;
    bool alike = a.writes.size() == other.size();
    for (size_t i = 0; alike && i < other.size(); ++i) alike = a.writes[i].first == other[i].first;
    if (alike) {
      for (size_t i = 0; i < other.size(); ++i)
        a.writes[i].second = Choose(a.writes[i].second, other[i].second);
      return true;
    }
    // Numbers as addresses: what only one way has written is on the other as it was at the start.
    if (!a.numbered || !b.numbered) return false;
    for (auto& [address, value] : a.writes) {
      const Term* in_b = Find(other, address);
      value = Choose(value, in_b == nullptr ? Initial(a, address) : *in_b);
    }
    for (auto& [address, value] : other) {
      if (Find(a.writes, address) == nullptr)
        a.writes.emplace_back(address, Choose(Initial(a, address), value));
    }
    return true;
  }

  Term Initial(const Memory& memory, Term address) {
    return terms_.Apply(Base::Ram, {&address, 1}, 0, memory.token);
  }

  Terms& terms_;
  Term taken_;
  Facts &facts_a_, &facts_b_;
  std::vector<Term> below_;
};

}  // namespace

Engine::Went Engine::GoTo(std::unique_ptr<Side>& side, Facts& facts,
                          const std::vector<uint64_t>& key, bool follower, int depth) {
  Exec exec(facts, follower);
  for (int i = 0; i < MaxSteps; ++i) {
    if (Exhausted()) return Went::Astray;
    const Step step = side->Advance(exec);
    if (step.kind == Step::Kind::Undecided) {
      if (!Bridge(side, facts, step.literal, follower, depth + 1)) return Went::Astray;
    } else if (step.kind == Step::Kind::Crash && !follower) {
      return Went::Nowhere;
    } else if (step.kind != Step::Kind::Continue) {
      return Went::Astray;
    }
    if (side->Key() == key) return Went::There;
  }
  return Went::Astray;
}

bool Engine::Bridge(std::unique_ptr<Side>& side, Facts& facts, Literal literal, bool follower,
                    int depth) {
  const std::vector<uint64_t> key = side->Rejoin();
  if (key.empty() || depth > MaxDepth) return false;
  // A loop that does not end by itself would be gone through again from each of its iterations.
  const auto place = std::pair(follower, side->Key());
  if (astray_.contains(place)) return false;
  if (BridgeOnce(side, facts, literal, follower, key, depth)) return true;
  astray_.insert(place);
  return false;
}

bool Engine::BridgeOnce(std::unique_ptr<Side>& side, Facts& facts, Literal literal, bool follower,
                        const std::vector<uint64_t>& key, int depth) {
  Facts facts_a = facts, facts_b = facts;
  const bool can_a = facts_a.Assume(literal), can_b = facts_b.Assume(Not(literal));
  if (!can_a || !can_b) {
    if (!can_a && !can_b) return false;
    facts = can_a ? std::move(facts_a) : std::move(facts_b);
    return true;
  }
  const size_t from_a = facts_a.literals().size(), from_b = facts_b.literals().size();
  std::unique_ptr<Side> a = side->Clone(), b = side->Clone();
  const Went went_a = GoTo(a, facts_a, key, follower, depth);
  if (went_a == Went::Astray) return false;
  const Went went_b = GoTo(b, facts_b, key, follower, depth);
  if (went_b == Went::Astray || (went_a == Went::Nowhere && went_b == Went::Nowhere)) return false;
  if (went_a != went_b) {
    // Where the one that leads crashes there is nothing to be shown.
    facts = went_a == Went::There ? std::move(facts_a) : std::move(facts_b);
    side = went_a == Went::There ? std::move(a) : std::move(b);
    return true;
  }
  const bool ranges =
      literal.kind == Literal::Kind::Below32 || literal.kind == Literal::Kind::Above32;
  Term taken = terms_.IsZero(ranges ? terms_.High(literal.term) : literal.term);
  if (literal.kind == Literal::Kind::NonZero || literal.kind == Literal::Kind::Above32)
    taken = terms_.Sub(terms_.Constant(1), taken);
  taken = facts.Simplify(taken);
  Joiner joiner(terms_, taken, facts_a, facts_b);
  if (!a->Align(*b) || !joiner.Join(a->state, b->state, side->state)) return false;
  std::vector<Term*> words_a, words_b;
  a->CollectWords(words_a);
  b->CollectWords(words_b);
  if (words_a.size() != words_b.size()) return false;
  for (size_t i = 0; i < words_a.size(); ++i) *words_a[i] = joiner.Choose(*words_a[i], *words_b[i]);
  Facts joined = facts;
  const Term not_taken = terms_.Sub(terms_.Constant(1), taken);
  if (!joiner.Learn(joined, facts_a, from_a, taken) ||
      !joiner.Learn(joined, facts_b, from_b, not_taken))
    return false;
  if (!joiner.LearnBelow(joined)) return false;
  facts = std::move(joined);
  side = std::move(a);
  return true;
}

}  // namespace frazil::verify::tasm
