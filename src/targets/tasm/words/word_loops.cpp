// A counter that only the loop's end needs counts up to 0, which skiz tests by itself. One that is only ever taken from
// the end counts down from there. Both are seen in the finished function: the source does not show what is left of a use.
#include "targets/tasm/words/word_loops.h"

#include <algorithm>

#include "base/number/goldilocks.h"

namespace frazil::targets::tasm {
namespace {

namespace g = goldilocks;

class Counters {
 public:
  explicit Counters(WordFunction& f) : f_(f) {}

  void Run() {
    for (uint32_t r = 0; r < f_.regions.size(); ++r)
      for (size_t i = 0; i < f_.regions[r].nodes.size(); ++i) {
        const uint32_t id = f_.regions[r].nodes[i];
        if (f_.nodes[id].op != WordOp::While) continue;
        for (size_t k = 0; k < f_.nodes[id].inputs.size(); ++k)
          if (ToZero(r, id, k)) {
            ++i;  // its constant came before it
            break;
          } else if (Down(id, k)) {
            break;
          }
      }
  }

 private:
  struct Uses {
    std::vector<uint32_t> nodes;
    size_t yields = 0;
  };

  Uses UsesOf(Word w) const {
    Uses uses;
    for (const WordRegion& region : f_.regions) {
      uses.yields += std::count(region.yields.begin(), region.yields.end(), w);
      uses.yields += 2 * std::count(region.keep.begin(), region.keep.end(), w);
      for (uint32_t n : region.nodes) {
        const std::vector<Word>& inputs = f_.nodes[n].inputs;
        if (std::find(inputs.begin(), inputs.end(), w) != inputs.end()) uses.nodes.push_back(n);
      }
    }
    return uses;
  }

  bool Unused(Word w) const {
    const Uses uses = UsesOf(w);
    return uses.nodes.empty() && uses.yields == 0;
  }

  bool OnlyYielded(Word w) const {
    const Uses uses = UsesOf(w);
    return uses.nodes.empty() && uses.yields == 1;
  }

  // The node that steps the carried word k, if the loop's end alone sees what it makes.
  bool Steps(const WordNode& loop, size_t k, uint32_t& step) const {
    const Word next = f_.regions[loop.regions[1]].yields[k];
    step = f_.words[next].node;
    return f_.nodes[step].op == WordOp::AddI &&
           f_.nodes[step].inputs[0] == f_.regions[loop.regions[0]].params[k] && OnlyYielded(next) &&
           Unused(loop.results[k]);
  }

  bool ToZero(uint32_t region, uint32_t id, size_t k) {
    const WordNode loop = f_.nodes[id];
    const Word counter = f_.regions[loop.regions[0]].params[k],
               test = f_.regions[loop.regions[0]].yields[0];
    const WordNode& left = f_.def(test);
    uint32_t step = 0;
    if (!f_.is_const(loop.inputs[k]) || left.op != WordOp::AddI || left.inputs[0] != counter ||
        !OnlyYielded(test) || !Steps(loop, k, step))
      return false;
    const Uses uses = UsesOf(counter);
    if (uses.yields != 0 || uses.nodes.size() != 2) return false;
    const uint64_t from = g::Add(f_.const_of(loop.inputs[k]), left.number);
    const Word start = f_.MakeConst(from, region);
    f_.nodes[id].inputs[k] = start;
    f_.regions[loop.regions[0]].yields[0] = counter;
    return true;
  }

  // i from 0 to n, and every use is n - i.
  bool Down(uint32_t id, size_t k) {
    const WordNode loop = f_.nodes[id];
    const Word counter = f_.regions[loop.regions[0]].params[k],
               test = f_.regions[loop.regions[0]].yields[0];
    uint32_t step = 0;
    if (!f_.is_const(loop.inputs[k]) || f_.const_of(loop.inputs[k]) != 0 ||
        f_.def(test).op != WordOp::Eq || !OnlyYielded(test) || !Steps(loop, k, step) ||
        f_.nodes[step].number != 1)
      return false;
    const WordNode negation = f_.def(test);
    const int zero = f_.is_const(negation.inputs[0]) ? 0 : 1;
    if (!f_.is_const(negation.inputs[zero]) || f_.const_of(negation.inputs[zero]) != 0)
      return false;
    const Word at_end = negation.inputs[1 - zero];
    const uint32_t compare = f_.words[at_end].node;
    const std::vector<Word> both = f_.nodes[compare].inputs;
    if (f_.nodes[compare].op != WordOp::Eq || (both[0] != counter && both[1] != counter))
      return false;
    const Word end = both[0] == counter ? both[1] : both[0];
    if (const Uses uses = UsesOf(at_end);
        f_.is_const(end) || uses.yields != 0 || uses.nodes.size() != 1)
      return false;
    std::vector<Word> distances;
    const Uses uses = UsesOf(counter);
    if (uses.yields != 0) return false;
    for (uint32_t n : uses.nodes)
      if (n != step && n != compare && !Distances(n, counter, end, distances)) return false;
    if (distances.empty()) return false;
    for (Word w : distances) f_.Replace(w, counter);
    f_.nodes[id].inputs[k] = end;
    f_.nodes[step].number = g::Neg(1);
    f_.nodes[compare].inputs = {counter, negation.inputs[zero]};
    // The next one may be there already.
    for (uint32_t n : f_.regions[loop.regions[1]].nodes)
      if (n != step && f_.nodes[n].op == WordOp::AddI && f_.nodes[n].inputs[0] == counter &&
          f_.nodes[n].number == g::Neg(1)) {
        f_.regions[loop.regions[1]].yields[k] = f_.nodes[n].results[0];
        break;
      }
    return true;
  }

  // The node is -i and all that takes it is n - i.
  bool Distances(uint32_t node, Word counter, Word end, std::vector<Word>& distances) const {
    const WordNode& minus = f_.nodes[node];
    if (minus.op != WordOp::Mul) return false;
    const Word factor = minus.inputs[0] == counter ? minus.inputs[1] : minus.inputs[0];
    if (!f_.is_const(factor) || f_.const_of(factor) != g::Neg(1)) return false;
    const Uses uses = UsesOf(minus.results[0]);
    if (uses.yields != 0) return false;
    for (uint32_t n : uses.nodes) {
      const WordNode& sum = f_.nodes[n];
      if (sum.op != WordOp::Add || (sum.inputs[0] != end && sum.inputs[1] != end)) return false;
      distances.push_back(sum.results[0]);
    }
    return true;
  }

  WordFunction& f_;
};

}  // namespace

void SimplifyCounters(WordFunction& function) { Counters(function).Run(); }

}  // namespace frazil::targets::tasm
