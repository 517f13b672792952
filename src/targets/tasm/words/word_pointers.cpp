// A loop's counter is rarely wanted as it is: as an address it has the buffer's place added, for elements of three words it is
// multiplied first, and the test takes the end away. It counts by threes from the buffer's place, or up to 0, where that
// leaves fewer instructions; and the pointer that a read or write of memory leaves behind is the next one.
#include "targets/tasm/words/word_pointers.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/number/goldilocks.h"

namespace frazil::targets::tasm {
namespace {

namespace g = goldilocks;

class Aim {
 public:
  explicit Aim(WordFunction& f) : f_(f) {}

  void Run() {
    for (uint32_t r = 0; r < f_.regions.size(); ++r)
      for (size_t i = 0; i < f_.regions[r].nodes.size(); ++i) {
        const uint32_t id = f_.regions[r].nodes[i];
        if (f_.nodes[id].op != WordOp::While) continue;
        for (size_t k = 0; k < f_.nodes[id].inputs.size(); ++k) {
          Counter c;
          if (!Find(id, k, c)) continue;
          const size_t before = f_.regions[r].nodes.size();
          Scale(r, c);
          if (!c.carried) Shift(r, c);
          Thread(c);
          i += f_.regions[r].nodes.size() - before;  // constants came before it
          break;
        }
      }
  }

 private:
  struct Use {
    uint32_t region, node;
  };
  struct Counter {
    uint32_t loop = 0, step = 0, test = 0;
    size_t k = 0;
    Word word = NoWord;
    std::vector<Use> uses;  // but step and test
    bool carried = false;   // out of a region: then its value must stay what it is
  };

  std::vector<Use> UsesOf(Word w, bool& other) const {
    std::vector<Use> uses;
    auto has = [&](const std::vector<Word>& words) {
      return std::find(words.begin(), words.end(), w) != words.end();
    };
    for (uint32_t r = 0; r < f_.regions.size(); ++r) {
      other |= has(f_.regions[r].yields) || has(f_.regions[r].keep);
      for (uint32_t n : f_.regions[r].nodes) {
        other |= has(f_.nodes[n].before);
        if (has(f_.nodes[n].inputs)) uses.push_back({r, n});
      }
    }
    return uses;
  }

  bool YieldedOnce(Word w) const {
    bool other = false;
    size_t yields = 0;
    for (const WordRegion& region : f_.regions) {
      yields += std::count(region.yields.begin(), region.yields.end(), w);
      yields += 2 * std::count(region.keep.begin(), region.keep.end(), w);
    }
    return UsesOf(w, other).empty() && yields == 1;
  }

  bool Unused(Word w) const {
    bool other = false;
    return UsesOf(w, other).empty() && !other;
  }

  // Counts from a constant by a constant to a constant, and nobody wants what is left at the end.
  bool Find(uint32_t id, size_t k, Counter& c) const {
    const WordNode& loop = f_.nodes[id];
    const WordRegion& test = f_.regions[loop.regions[0]];
    c.loop = id;
    c.k = k;
    c.word = test.params[k];
    const Word next = f_.regions[loop.regions[1]].yields[k];
    c.step = f_.words[next].node;
    c.test = f_.words[test.yields[0]].node;
    if (!f_.is_const(loop.inputs[k]) || f_.nodes[c.step].op != WordOp::AddI ||
        f_.nodes[c.step].inputs[0] != c.word || !YieldedOnce(next) || !Unused(loop.results[k]))
      return false;
    if (f_.nodes[c.test].op != WordOp::AddI || f_.nodes[c.test].inputs[0] != c.word ||
        !YieldedOnce(test.yields[0]))
      return false;
    bool other = false;
    for (const Use& use : UsesOf(c.word, other))
      if (use.node != c.step && use.node != c.test) c.uses.push_back(use);
    return !other;
  }

  uint64_t StartOf(const Counter& c) const { return f_.const_of(f_.nodes[c.loop].inputs[c.k]); }

  void SetStart(uint32_t region, const Counter& c, uint64_t value) {
    f_.nodes[c.loop].inputs[c.k] = f_.MakeConst(value, region);
  }

  void Drop(const Use& use) { std::erase(f_.regions[use.region].nodes, use.node); }

  std::optional<uint64_t> FactorOf(const WordNode& node, Word counter) const {
    if (node.op != WordOp::Mul) return std::nullopt;
    const Word factor = node.inputs[0] == counter ? node.inputs[1] : node.inputs[0];
    if (!f_.is_const(factor)) return std::nullopt;
    return f_.const_of(factor);
  }

  // Every use multiplies it by the same.
  void Scale(uint32_t region, Counter& c) {
    std::optional<uint64_t> factor;
    for (const Use& use : c.uses) {
      const auto by = FactorOf(f_.nodes[use.node], c.word);
      if (!by || *by == 0 || (factor && *by != *factor)) return;
      factor = by;
    }
    if (!factor) return;
    for (const Use& use : c.uses) {
      f_.Replace(f_.nodes[use.node].results[0], c.word);
      Drop(use);
    }
    SetStart(region, c, g::Mul(StartOf(c), *factor));
    f_.nodes[c.step].number = g::Mul(f_.nodes[c.step].number, *factor);
    f_.nodes[c.test].number = g::Mul(f_.nodes[c.test].number, *factor);
    Refresh(c);
  }

  void Refresh(Counter& c) {
    c.carried = false;
    c.uses.clear();
    for (const Use& use : UsesOf(c.word, c.carried))
      if (use.node != c.step && use.node != c.test) c.uses.push_back(use);
  }

  // The pointer that the node leaves, less the one it takes, if it is memory's pointer.
  std::optional<uint64_t> LeftBy(const WordNode& node, Word pointer) const {
    if (node.op == WordOp::ReadMem && node.inputs[0] == pointer)
      return g::Neg(node.results.size() - 1);
    if (node.op == WordOp::WriteMem && node.inputs.back() == pointer &&
        std::count(node.inputs.begin(), node.inputs.end(), pointer) == 1)
      return node.inputs.size() - 1;
    if (node.op == WordOp::SpongeAbsorbMem && node.inputs.back() == pointer) return 10;
    return std::nullopt;
  }

  // Instructions that a round has fewer if the word is the counter.
  int WorthAsPointer(const Counter& c, Word w) const {
    bool other = false;
    int worth = 0;
    for (const Use& use : UsesOf(w, other)) {
      if (use.region != f_.nodes[c.loop].regions[1]) continue;
      if (const auto left = LeftBy(f_.nodes[use.node], w); left && Unused(LeftWord(use.node)))
        worth = std::max(worth, *left == f_.nodes[c.step].number ? 3 : 2);
    }
    return worth;
  }

  Word LeftWord(uint32_t node) const { return f_.nodes[node].results.back(); }

  // A constant that is added to a sum or a product of the counter: what the counter is moved by can go there.
  struct Sink {
    Use use;
    uint64_t factor;
  };

  bool SinksOf(const Use& use, Word w, uint64_t factor, int depth, std::vector<Sink>& sinks) const {
    const WordNode& node = f_.nodes[use.node];
    if (node.op == WordOp::AddI) {
      sinks.push_back({use, factor});
      return true;
    }
    if (const auto by = FactorOf(node, w)) {
      if (*by == 0) return false;
      factor = g::Mul(factor, *by);
    } else if (node.op != WordOp::Add || node.inputs[0] == node.inputs[1]) {
      return false;
    }
    bool other = depth > 3;
    const std::vector<Use> uses = UsesOf(node.results[0], other);
    for (size_t i = 0; i < uses.size() && !other; ++i)
      other = !SinksOf(uses[i], node.results[0], factor, depth + 1, sinks);
    return !other;
  }

  // Uses inside of inner loops count more.
  int WeightOf(const Counter& c, uint32_t region) const {
    return region == f_.nodes[c.loop].regions[1] ? 1 : 4;
  }

  // Moved by the amount that most of its uses add, or so that its end is 0.
  void Shift(uint32_t region, Counter& c) {
    int lost = 0;
    std::map<uint64_t, int> worth;
    std::vector<Use> direct;
    std::vector<Sink> sinks;
    worth[f_.nodes[c.test].number] += 1;
    for (const Use& use : c.uses) {
      std::vector<Sink> here;
      if (!SinksOf(use, c.word, 1, 0, here)) {
        direct.push_back(use);
        lost += WeightOf(c, use.region);
        continue;
      }
      for (const Sink& sink : here) {
        const WordNode& sum = f_.nodes[sink.use.node];
        int gain = WeightOf(c, sink.use.region);
        if (sink.use.node == use.node) gain += WorthAsPointer(c, sum.results[0]);
        worth[g::Mul(sum.number, g::Invert(sink.factor))] += gain;
      }
      sinks.insert(sinks.end(), here.begin(), here.end());
    }
    int best = lost > 0 ? WorthAsPointer(c, c.word) : 0;
    std::optional<uint64_t> by;
    for (const auto& [amount, gain] : worth)
      if (const int total = gain - lost; total > best) {
        best = total;
        by = amount;
      }
    if (!by) return;
    const uint64_t back = g::Neg(*by);
    // These first: afterwards a node may take the counter both as it was and moved.
    for (const Use& use : direct) InPlaceOf(c, use, back);
    for (const Sink& sink : sinks) {
      WordNode& sum = f_.nodes[sink.use.node];
      sum.number = g::Add(sum.number, g::Mul(back, sink.factor));
    }
    for (const Sink& sink : sinks) {
      WordNode& sum = f_.nodes[sink.use.node];
      std::vector<uint32_t>& nodes = f_.regions[sink.use.region].nodes;
      if (sum.number != 0 || std::find(nodes.begin(), nodes.end(), sink.use.node) == nodes.end())
        continue;
      f_.Replace(sum.results[0], sum.inputs[0]);
      Drop(sink.use);
    }
    SetStart(region, c, g::Add(StartOf(c), *by));
    WordNode& test = f_.nodes[c.test];
    test.number = g::Add(test.number, back);
    if (test.number == 0) {
      std::erase(f_.regions[f_.nodes[c.loop].regions[0]].nodes, c.test);
      f_.regions[f_.nodes[c.loop].regions[0]].yields[0] = c.word;
    }
    Refresh(c);
  }

  // The node takes what the counter was: a word of its own just before it.
  void InPlaceOf(const Counter& c, const Use& use, uint64_t back) {
    const Word word = f_.Make(WordOp::AddI, back, {c.word}, use.region);
    const uint32_t id = f_.words[word].node;
    f_.words[word].max = f_.words[c.word].max;
    f_.nodes[id].location = f_.nodes[use.node].location;
    std::vector<uint32_t>& nodes = f_.regions[use.region].nodes;
    nodes.insert(std::ranges::find(nodes, use.node), id);
    std::ranges::replace(f_.nodes[use.node].inputs, c.word, word);
  }

  // Memory's own pointer goes on: nothing is copied before and dropped after.
  void Thread(Counter& c) {
    const uint32_t body = f_.nodes[c.loop].regions[1];
    const uint64_t step = f_.nodes[c.step].number;
    std::optional<Use> chosen;
    uint64_t rest = 0;
    for (const Use& use : c.uses) {
      const auto left = LeftBy(f_.nodes[use.node], c.word);
      if (!left || use.region != body || !Unused(LeftWord(use.node))) continue;
      if (chosen && *left != step) continue;
      chosen = use;
      rest = g::Sub(step, *left);
    }
    if (!chosen) return;
    std::vector<uint32_t>& nodes = f_.regions[body].nodes;
    const Word left = LeftWord(chosen->node);
    if (rest == 0) {
      f_.regions[body].yields[c.k] = left;
      std::erase(nodes, c.step);
      return;
    }
    f_.nodes[c.step].number = rest;
    f_.nodes[c.step].inputs[0] = left;
    std::erase(nodes, c.step);
    nodes.push_back(c.step);
  }

  WordFunction& f_;
};

}  // namespace

void AimCounters(WordFunction& function) { Aim(function).Run(); }

}  // namespace frazil::targets::tasm
