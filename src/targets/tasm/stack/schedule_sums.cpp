// Source programs add from left to right, but the last argument lies on top of the stack: an order that starts there
// needs no moves. Only words that nobody else uses are made differently.
#include "targets/tasm/stack/schedule_sums.h"

#include <algorithm>

namespace frazil::targets::tasm {
namespace {

bool AnyOrder(const WordNode& node) {
  return node.site < 0 && (node.op == WordOp::Add || node.op == WordOp::Mul ||
                           node.op == WordOp::Xor || node.op == WordOp::And);
}

class Chains {
 public:
  explicit Chains(WordFunction& f) : f_(f), uses_(f.words.size(), 0) {
    auto use = [&](const std::vector<Word>& words) {
      for (Word w : words) ++uses_[w];
    };
    for (const WordRegion& region : f_.regions) {
      use(region.yields);
      use(region.keep);
      for (uint32_t id : region.nodes) {
        use(f_.nodes[id].inputs);
        use(f_.nodes[id].before);
      }
    }
  }

  bool Run() {
    bool changed = false;
    for (WordRegion& region : f_.regions) {
      for (size_t at = region.nodes.size(); at-- > 0;) {
        const uint32_t root = region.nodes[at];
        if (!AnyOrder(f_.nodes[root]) || IsInner(root)) continue;
        leaves_.clear();
        links_.clear();
        Collect(root);
        if (leaves_.size() >= 3) changed |= Link(region, root);
      }
    }
    return changed;
  }

 private:
  // Whether its only user is of the same chain.
  bool IsInner(uint32_t id) {
    if (owner_.empty()) {
      owner_.assign(f_.nodes.size(), UINT32_MAX);
      for (const WordRegion& region : f_.regions)
        for (uint32_t user : region.nodes)
          for (Word w : f_.nodes[user].inputs) owner_[f_.words[w].node] = user;
    }
    const Word result = f_.nodes[id].results[0];
    const uint32_t user = owner_[id];
    return uses_[result] == 1 && user != UINT32_MAX && Joins(result, f_.nodes[user]);
  }

  // The word is a link of the chain that the user belongs to.
  bool Joins(Word w, const WordNode& user) const {
    const WordNode& node = f_.def(w);
    return uses_[w] == 1 && AnyOrder(node) && AnyOrder(user) && node.op == user.op &&
           f_.words[w].region == f_.words[user.results[0]].region;
  }

  void Collect(uint32_t root) {
    std::vector<uint32_t> open = {root};
    while (!open.empty()) {
      const uint32_t id = open.back();
      open.pop_back();
      links_.push_back(id);
      for (Word w : f_.nodes[id].inputs) {
        if (Joins(w, f_.nodes[id])) {
          open.push_back(f_.words[w].node);
        } else {
          leaves_.push_back(w);
        }
      }
    }
  }

  // Constants are pushed where they are needed, and best last.
  bool Link(WordRegion& region, uint32_t root) {
    std::sort(leaves_.begin(), leaves_.end(), [&](Word a, Word b) {
      if (f_.is_const(a) != f_.is_const(b)) return f_.is_const(b);
      return a > b;
    });
    std::reverse(links_.begin(), links_.end());
    std::erase(links_, root);
    links_.push_back(root);
    bool changed = false;
    Word sum = leaves_[0];
    for (size_t i = 0; i < links_.size(); ++i) {
      std::vector<Word> inputs = {leaves_[i + 1], sum};
      changed |= inputs != f_.nodes[links_[i]].inputs;
      f_.nodes[links_[i]].inputs = std::move(inputs);
      sum = f_.nodes[links_[i]].results[0];
    }
    if (!changed) return false;
    // All where the last one was: what they take is made by then.
    std::vector<uint32_t> nodes;
    for (uint32_t id : region.nodes) {
      if (id == root) nodes.insert(nodes.end(), links_.begin(), links_.end());
      if (std::find(links_.begin(), links_.end(), id) == links_.end()) nodes.push_back(id);
    }
    region.nodes = std::move(nodes);
    return true;
  }

  WordFunction& f_;
  std::vector<uint32_t> uses_;
  std::vector<uint32_t> owner_;  // a user of each node's results
  std::vector<Word> leaves_;
  std::vector<uint32_t> links_;
};

}  // namespace

bool OrderSums(WordFunction& function) { return Chains(function).Run(); }

}  // namespace frazil::targets::tasm
