// A range check is `xor` with a constant. Where all that follows is another xor, or the next instruction that can trap
// crashes on the same words, the check costs nothing. Done on the whole function, because only then all uses are known.
#include "targets/tasm/words/word_checks.h"

#include <algorithm>
#include <optional>

#include "base/number/goldilocks.h"

namespace frazil::targets::tasm {
namespace {

bool AsksFor32Bits(WordOp op) {
  return op == WordOp::Lt || op == WordOp::And || op == WordOp::Xor || op == WordOp::DivMod ||
         op == WordOp::PopCount;
}

class Checks {
 public:
  explicit Checks(WordFunction& f) : f_(f) {}

  void Run() {
    for (uint32_t r = 0; r < f_.regions.size(); ++r) {
      for (size_t i = 0; i < f_.regions[r].nodes.size(); ++i) {
        const uint32_t id = f_.regions[r].nodes[i];
        if (const auto check = CheckIn(id);
            check && (IntoXor(id, *check) || IntoNext(r, i, *check) || IntoSum(r, i, *check)))
          --i;
      }
      JoinReads(f_.regions[r]);
    }
  }

 private:
  struct Check {
    Word from, constant;
  };

  std::optional<Check> CheckIn(uint32_t id) const {
    const WordNode& node = f_.nodes[id];
    if (node.op != WordOp::Xor || node.site < 0) return std::nullopt;
    for (int side = 0; side < 2; ++side)
      if (f_.is_const(node.inputs[side]) && !f_.is_const(node.inputs[1 - side]))
        return Check{node.inputs[1 - side], node.inputs[side]};
    return std::nullopt;
  }

  struct Uses {
    std::vector<std::pair<uint32_t, uint32_t>> nodes;  // region, node
    bool others = false;                               // yielded or kept
  };

  Uses UsesOf(Word w) const {
    Uses uses;
    auto has = [&](const std::vector<Word>& words) {
      return std::find(words.begin(), words.end(), w) != words.end();
    };
    for (uint32_t r = 0; r < f_.regions.size(); ++r) {
      uses.others |= has(f_.regions[r].yields) || has(f_.regions[r].keep);
      for (uint32_t n : f_.regions[r].nodes)
        if (has(f_.nodes[n].inputs) || has(f_.nodes[n].before)) uses.nodes.emplace_back(r, n);
    }
    return uses;
  }

  // (x ^ 0) ^ c, and nothing else takes x ^ 0: the check turns the bits itself. It stays where it is.
  bool IntoXor(uint32_t id, const Check& check) {
    const Word checked = f_.nodes[id].results[0];
    if (f_.const_of(check.constant) != 0) return false;
    const Uses uses = UsesOf(checked);
    if (uses.others || uses.nodes.size() != 1) return false;
    const WordNode user = f_.nodes[uses.nodes[0].second];
    if (user.op != WordOp::Xor || user.site >= 0) return false;
    const Word other = user.inputs[0] == checked ? user.inputs[1] : user.inputs[0];
    if (!f_.is_const(other)) return false;
    std::erase(f_.regions[uses.nodes[0].first].nodes, uses.nodes[0].second);
    f_.nodes[id].inputs = {check.from, other};
    f_.Replace(user.results[0], checked);
    return true;
  }

  // Nothing happens between the check and an instruction that crashes just so: that one is the check. Everything else
  // that takes the word must come later for certain: effects, and regions, which come in order.
  bool IntoNext(uint32_t region, size_t at, const Check& check) {
    const std::vector<uint32_t>& nodes = f_.regions[region].nodes;
    const WordNode& node = f_.nodes[nodes[at]];
    if (f_.const_of(check.constant) != 0) return false;
    const Word checked = node.results[0];
    auto takes = [&](const WordNode& user) {
      return std::find(user.inputs.begin(), user.inputs.end(), checked) != user.inputs.end();
    };
    size_t next = at + 1;
    for (; next < nodes.size(); ++next) {
      const WordNode& user = f_.nodes[nodes[next]];
      if (takes(user) && AsksFor32Bits(user.op) && (user.site < 0 || user.site == node.site)) break;
      if (takes(user) && !HasEffect(user)) return false;
      const bool same_trap =
          user.site == node.site && (user.op == WordOp::ReadIo || user.op == WordOp::Divine ||
                                     (AsksFor32Bits(user.op) && user.op != WordOp::DivMod));
      if (HasEffect(user) && !same_trap) return false;
    }
    if (next >= nodes.size()) return false;
    for (const auto& [r, n] : UsesOf(checked).nodes)
      if (r == region && n != nodes[next] && !HasEffect(f_.nodes[n])) return false;
    f_.nodes[nodes[next]].site = node.site;
    f_.regions[region].nodes.erase(f_.regions[region].nodes.begin() + static_cast<ptrdiff_t>(at));
    f_.Replace(checked, check.from);
    return true;
  }

  // A sum that is checked is at least each of its parts: where nothing wraps, only it is checked.
  bool IntoSum(uint32_t region, size_t at, const Check& check) {
    const std::vector<uint32_t>& nodes = f_.regions[region].nodes;
    const WordNode& node = f_.nodes[nodes[at]];
    const Word checked = node.results[0];
    if (f_.const_of(check.constant) != 0) return false;
    const Uses parts = UsesOf(checked);
    if (parts.others || parts.nodes.size() != 1 || parts.nodes[0].first != region) return false;
    const WordNode& sum = f_.nodes[parts.nodes[0].second];
    if (sum.op != WordOp::Add && sum.op != WordOp::AddI) return false;
    uint64_t more = sum.number;
    if (sum.op == WordOp::Add) {
      if (sum.inputs[0] == sum.inputs[1]) return false;
      more = f_.words[sum.inputs[sum.inputs[0] == checked ? 1 : 0]].max;
    }
    const uint64_t most = f_.words[check.from].max;
    if (more > goldilocks::P - 1 - most) return false;
    const Uses sums = UsesOf(sum.results[0]);
    if (sums.others || sums.nodes.size() != 1 || sums.nodes[0].first != region) return false;
    const auto whole = CheckIn(sums.nodes[0].second);
    if (!whole || whole->from != sum.results[0] || f_.nodes[sums.nodes[0].second].site != node.site)
      return false;
    for (size_t i = at + 1; i < nodes.size() && nodes[i] != sums.nodes[0].second; ++i) {
      const WordNode& between = f_.nodes[nodes[i]];
      const bool same_trap =
          between.site == node.site && AsksFor32Bits(between.op) && between.op != WordOp::DivMod;
      if (HasEffect(between) && !same_trap) return false;
    }
    f_.words[sum.results[0]].max = std::max(f_.words[sum.results[0]].max, most + more);
    f_.regions[region].nodes.erase(f_.regions[region].nodes.begin() + static_cast<ptrdiff_t>(at));
    f_.Replace(checked, check.from);
    return true;
  }

  // Checks stood between them.
  void JoinReads(WordRegion& region) {
    uint32_t before = UINT32_MAX;
    for (size_t i = 0; i < region.nodes.size(); ++i) {
      const uint32_t id = region.nodes[i];
      const WordNode& node = f_.nodes[id];
      if (!HasEffect(node)) continue;
      const bool reads = node.op == WordOp::ReadIo || node.op == WordOp::Divine;
      if (before == UINT32_MAX || !reads || f_.nodes[before].op != node.op ||
          f_.nodes[before].site != node.site ||
          f_.nodes[before].results.size() + node.results.size() > 5) {
        before = id;
        continue;
      }
      for (Word w : node.results) {
        f_.words[w].node = before;
        f_.nodes[before].results.push_back(w);
      }
      region.nodes.erase(region.nodes.begin() + static_cast<ptrdiff_t>(i--));
    }
  }

  WordFunction& f_;
};

}  // namespace

void MergeChecks(WordFunction& function) { Checks(function).Run(); }

}  // namespace frazil::targets::tasm
