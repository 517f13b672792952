// Sanity of stories: what was parsed is compared with what such a question can mean. Each rule looks at the reading
// (what was taken, who held what, what the answer is made of), not at particular sentences; a reading that breaks one is
// refused, because an answer that is wrong is worse than none.
#include <algorithm>
#include <cctype>

#include "frontends/words/lower.h"
#include "frontends/words/parser.h"
#include "frontends/words/story.h"

namespace frazil::frontends::words {

// Read to its end, and not believed: that outranks any place in the middle.
std::unexpected<Error> Story::Doubt(size_t at, std::string_view why) {
  furthest_ = tokens_.size();
  std::string message = "\"" + std::string(tokens_[at].source) + "\" " + std::string(why);
  return Fail(Diag::NotUnderstood, std::move(message), tokens_[at].location);
}

// A number that the answer does not use was not understood.
Result<void> Story::CheckAllUsed() {
  std::vector<bool> used(tree_.nodes.size());
  for (ExprId id : tree_.PostOrder(tree_.root)) used[id.index] = true;
  for (const auto& [number, at] : numbers_) {
    if (used[number.index]) continue;
    return Doubt(at, "plays no part in the answer");
  }
  return {};
}

// Nobody gives away more than there is.
Result<void> Story::CheckAmounts() {
  const ExprId root = tree_.root;
  for (ExprId id : tree_.PostOrder(root)) {
    if (tree_.at(id).kind != Kind::Subtract) continue;
    tree_.root = id;
    const Worth worth = TRY(Assess(tree_));
    tree_.root = root;
    if (!worth.number || worth.number->num.sign() >= 0) continue;
    furthest_ = tokens_.size();
    return Fail(Diag::NoAnswer, "the story takes away more than there is", tree_.at(id).location);
  }
  return {};
}

// What is left is less than there was: a reading that takes nothing away has missed who took it.
Result<void> Story::CheckRests(const Query& query) {
  if (!query.rests) return {};
  for (ExprId id : tree_.PostOrder(tree_.root))
    if (std::ranges::find(taken_, id) != taken_.end()) return {};
  return Doubt(*query.rests, "asks what remains, but nothing here is understood as taken away");
}

// Two and a half boxes are no answer to "how many boxes". Measures may have parts.
Result<void> Story::CheckWhole(const Query& query) {
  if (!query.counted || IsMeasure(query.noun.head)) return {};
  for (const auto& [number, at] : numbers_)
    if (!tree_.at(number).value.whole() && !tree_.at(number).percent) return {};
  const Worth worth = TRY(Assess(tree_));
  if (!worth.number || worth.number->whole()) return {};
  furthest_ = tokens_.size();
  return Fail(Diag::NoAnswer,
              "the answer would be " + PrintRational(*worth.number) +
                  ", but what is counted comes in whole numbers",
              tokens_[query.at].location);
}

// "How many did she get?" asks for what came, not for what there was before as well.
Result<void> Story::CheckEvent(const Query& query, const std::vector<size_t>& counted) {
  const bool owned =
      std::ranges::any_of(counted, [&](size_t index) { return world_.at(index).owned; });
  if (!query.event || !owned) return {};
  return Doubt(*query.event, "asks what happened, but the reading counts what there was before");
}

// What somebody gains may be what another one holds: always so with verbs of taking, never with verbs of making, and
// with others where the holder is a place or a thing (a jar, a shop), which things come out of.
Result<void> Story::CheckSource(const std::string& actor, const Quantity& what, bool is_new) {
  const bool takes = verb_ && IsTaking(verb_->base) && !what.more;
  const std::vector<size_t> held = world_.FindAll("", what.noun);
  const bool grows =
      !is_new && std::ranges::any_of(held, [&](size_t i) { return world_.at(i).actor == actor; });
  const bool made = what.more || (verb_ && IsMaking(verb_->base));
  for (size_t index : held) {
    const std::string& holder = world_.at(index).actor;
    const bool thing = holder.empty() || std::ranges::find(things_, holder) != things_.end();
    if (!takes && (grows || made || !thing)) continue;
    std::string name = thing ? "the " + holder : holder;
    if (!thing) name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
    const std::string whose = holder.empty() ? "what is there" : "what " + name + " has";
    return Doubt(what.at, "may come out of " + whose + " or be new: say \"from\" where");
  }
  return {};
}

}  // namespace frazil::frontends::words
