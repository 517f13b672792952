// Making, replacing, printing, and dead words. A word is live if something that stays needs it; what a loop carries is live only if a live
// word depends on it, which takes rounds until nothing changes.
#include "targets/tasm/words/word_program.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/number/goldilocks.h"

namespace frazil::targets::tasm {
namespace {

class Liveness {
 public:
  explicit Liveness(WordFunction& f) : f_(f), live_(f.words.size()), needed_(f.nodes.size()) {}

  void Run() {
    do {
      changed_ = false;
      const WordRegion& body = f_.regions[0];
      for (Word w : body.yields) Mark(w);
      Visit(0);
    } while (changed_);
    Prune();
  }

 private:
  void Mark(Word w) {
    if (live_[w]) return;
    live_[w] = true;
    changed_ = true;
  }

  bool HasOwnEffect(const WordNode& node) const {
    if (node.op == WordOp::If || node.op == WordOp::Loop) return false;
    return HasEffect(node);
  }

  // Whether the region has an effect.
  bool Visit(uint32_t region) {
    bool effect = false;
    for (Word w : f_.regions[region].keep) Mark(w);
    const std::vector<uint32_t> nodes = f_.regions[region].nodes;
    for (size_t i = nodes.size(); i-- > 0;) effect |= VisitNode(nodes[i]);
    return effect;
  }

  bool VisitNode(uint32_t id) {
    const WordNode& node = f_.nodes[id];
    bool effect = HasOwnEffect(node);
    bool live = effect || needed_[id];
    for (Word w : node.results) live |= live_[w];
    if (IsStructure(node.op)) {
      for (size_t k = 0; k < node.results.size(); ++k) {
        if (node.op == WordOp::If) {
          if (!live_[node.results[k]]) continue;
          for (uint32_t r : node.regions) Mark(f_.regions[r].yields[k]);
          continue;
        }
        const uint32_t first = node.op == WordOp::Loop ? 1 : 0;
        const Word param = f_.regions[node.regions[0]].params[k];
        if (!live_[node.results[k]] && !live_[param]) continue;
        Mark(param);
        Mark(node.results[k]);
        Mark(node.inputs[first + k]);
        Mark(f_.regions[node.regions.back()].yields[k]);
      }
      if (node.op == WordOp::While) Mark(f_.regions[node.regions[0]].yields[0]);
      for (uint32_t r : node.regions) effect |= Visit(r);
      live |= effect;
      if (live && node.op != WordOp::While) Mark(node.inputs[0]);
    } else if (live) {
      for (Word w : node.inputs) Mark(w);
    }
    if (live && !needed_[id]) {
      needed_[id] = true;
      changed_ = true;
    }
    return effect;
  }

  template <typename Keep>
  static void Filter(std::vector<Word>& words, size_t first, const Keep& keep) {
    size_t out = first;
    for (size_t i = first; i < words.size(); ++i)
      if (keep(i - first)) words[out++] = words[i];
    words.resize(out);
  }

  void Prune() {
    for (uint32_t id = 0; id < f_.nodes.size(); ++id) {
      WordNode& node = f_.nodes[id];
      if (!needed_[id] || !IsStructure(node.op)) continue;
      std::vector<bool> keep;
      for (size_t k = 0; k < node.results.size(); ++k)
        keep.push_back(live_[node.results[k]] ||
                       (node.op != WordOp::If && live_[f_.regions[node.regions[0]].params[k]]));
      auto kept = [&](size_t k) { return static_cast<bool>(keep[k]); };
      Filter(node.results, 0, kept);
      if (node.op == WordOp::If) {
        for (uint32_t r : node.regions) Filter(f_.regions[r].yields, 0, kept);
        continue;
      }
      Filter(node.inputs, node.op == WordOp::Loop ? 1 : 0, kept);
      Filter(f_.regions[node.regions[0]].params, 0, kept);
      Filter(f_.regions[node.regions.back()].yields, 0, kept);
    }
    for (WordRegion& region : f_.regions)
      std::erase_if(region.nodes, [&](uint32_t id) { return !needed_[id]; });
  }

  WordFunction& f_;
  std::vector<bool> live_, needed_;
  bool changed_ = false;
};

constexpr std::string_view Names[] = {"const",
                                      "param",
                                      "add",
                                      "addi",
                                      "mul",
                                      "invert",
                                      "eq",
                                      "split",
                                      "lt",
                                      "and",
                                      "xor",
                                      "log_2_floor",
                                      "pow",
                                      "div_mod",
                                      "pop_count",
                                      "xx_add",
                                      "xx_mul",
                                      "x_invert",
                                      "xb_mul",
                                      "hash",
                                      "read_io",
                                      "write_io",
                                      "divine",
                                      "read_mem",
                                      "write_mem",
                                      "assert",
                                      "assert_vector",
                                      "sponge_init",
                                      "sponge_absorb",
                                      "sponge_squeeze",
                                      "sponge_absorb_mem",
                                      "merkle_step",
                                      "xx_dot_step",
                                      "xb_dot_step",
                                      "asm",
                                      "if",
                                      "loop",
                                      "while",
                                      "call"};

void PrintRegion(const WordFunction& f, uint32_t id, int indent, std::string& out) {
  const std::string pad(indent, ' ');
  auto list = [](const std::vector<Word>& words) {
    std::string text;
    for (Word w : words) text += fmt::format(" %{}", w);
    return text;
  };
  out += fmt::format("{}({}):\n", pad, list(f.regions[id].params));
  for (uint32_t n : f.regions[id].nodes) {
    const WordNode& node = f.nodes[n];
    out += fmt::format(
        "{} {} = {} {}{}{}\n", pad, list(node.results), Names[static_cast<size_t>(node.op)],
        node.op == WordOp::Const || node.op == WordOp::AddI ? std::to_string(node.number) : "",
        list(node.inputs), node.site >= 0 ? fmt::format(" !{}", node.site) : "");
    for (uint32_t r : node.regions) PrintRegion(f, r, indent + 3, out);
  }
  out += fmt::format("{} yield{}\n", pad, list(f.regions[id].yields));
}

}  // namespace

Word WordFunction::Make(WordOp op, uint64_t number, std::vector<Word> inputs, uint32_t region) {
  const uint32_t id = static_cast<uint32_t>(nodes.size());
  const Word word = static_cast<Word>(words.size());
  WordNode made;
  made.op = op;
  made.number = number;
  made.inputs = std::move(inputs);
  made.results = {word};
  nodes.push_back(std::move(made));
  words.push_back({id, region, op == WordOp::Const ? number : goldilocks::P - 1});
  return word;
}

Word WordFunction::MakeConst(uint64_t number, uint32_t region) {
  const Word word = Make(WordOp::Const, number, {}, region);
  regions[region].nodes.insert(regions[region].nodes.begin(), words[word].node);
  return word;
}

void WordFunction::Replace(Word from, Word to) {
  for (WordRegion& region : regions) {
    std::ranges::replace(region.yields, from, to);
    std::ranges::replace(region.keep, from, to);
    for (uint32_t n : region.nodes) {
      std::ranges::replace(nodes[n].inputs, from, to);
      std::ranges::replace(nodes[n].before, from, to);
    }
  }
}

void RemoveDead(WordFunction& function) { Liveness(function).Run(); }

std::string Print(const WordFunction& function) {
  std::string out = function.name + "\n";
  PrintRegion(function, 0, 0, out);
  return out;
}

}  // namespace frazil::targets::tasm
