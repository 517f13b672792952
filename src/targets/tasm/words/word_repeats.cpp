// recurse_or_return compares the words at depths 5 and 6: for a loop that carries five other words or more the counter and
// its end can lie there, and test, skip and return are gone. The end is carried too, and never touched.
#include "targets/tasm/words/word_repeats.h"

#include <algorithm>
#include <optional>

#include "base/number/goldilocks.h"

namespace frazil::targets::tasm {
namespace {

constexpr size_t Above = 5;

class Repeats {
 public:
  explicit Repeats(WordFunction& f) : f_(f) {}

  bool Run(bool apply) {
    bool found = false;
    for (uint32_t r = 0; r < f_.regions.size(); ++r)
      for (size_t i = 0; i < f_.regions[r].nodes.size(); ++i) {
        const uint32_t id = f_.regions[r].nodes[i];
        const auto k = CounterOf(id);
        if (!k) continue;
        found = true;
        if (!apply) continue;
        Change(r, id, *k);
        ++i;  // the end came before it
      }
    return found;
  }

 private:
  // The carried word that the test compares with a constant.
  std::optional<size_t> CounterOf(uint32_t id) const {
    const WordNode& loop = f_.nodes[id];
    if (loop.op != WordOp::While || loop.number != 1) return std::nullopt;
    const WordRegion& test = f_.regions[loop.regions[0]];
    if (test.params.size() <= Above || !f_.regions[loop.regions[1]].keep.empty())
      return std::nullopt;
    Word counter = test.yields[0];
    for (uint32_t n : test.nodes)
      if (f_.nodes[n].op != WordOp::Const && n != f_.words[counter].node) return std::nullopt;
    if (const WordNode& left = f_.def(counter); left.op == WordOp::AddI) counter = left.inputs[0];
    const auto at = std::find(test.params.begin(), test.params.end(), counter);
    if (at == test.params.end()) return std::nullopt;
    return static_cast<size_t>(at - test.params.begin());
  }

  void Change(uint32_t around, uint32_t id, size_t k) {
    const uint32_t head = f_.nodes[id].regions[0], body = f_.nodes[id].regions[1];
    const Word counter = f_.regions[head].params[k];
    const WordNode& left = f_.def(f_.regions[head].yields[0]);
    const uint64_t end = left.op == WordOp::AddI ? goldilocks::Neg(left.number) : 0;
    const Word limit = f_.MakeConst(end, around);
    const Word bound = f_.Make(WordOp::Param, 0, {}, head);
    const Word result = static_cast<Word>(f_.words.size());
    f_.words.push_back({id, around, goldilocks::P - 1});
    // Everything else, the end, the counter, the five.
    auto arrange = [&](std::vector<Word>& words, Word more) {
      const Word own = words[k];
      words.erase(words.begin() + static_cast<ptrdiff_t>(k));
      const auto place = words.end() - static_cast<ptrdiff_t>(Above);
      words.insert(words.insert(place, own), more);
    };
    arrange(f_.nodes[id].inputs, limit);
    arrange(f_.nodes[id].results, result);
    arrange(f_.regions[head].params, bound);
    arrange(f_.regions[body].yields, bound);
    const Word zero = f_.Make(WordOp::Const, 0, {}, head);
    const Word same = f_.Make(WordOp::Eq, 0, {counter, bound}, head);
    const Word go_on = f_.Make(WordOp::Eq, 0, {same, zero}, head);
    f_.regions[head].nodes = {f_.words[zero].node, f_.words[same].node, f_.words[go_on].node};
    f_.regions[head].yields = {go_on};
    f_.nodes[id].number |= EndsByRepeat;
  }

  WordFunction& f_;
};

}  // namespace

bool RepeatLoops(WordFunction& function, bool apply) { return Repeats(function).Run(apply); }

}  // namespace frazil::targets::tasm
