// sponge_absorb_mem takes ten words from a pointer on and writes over the four words below the pointer. Those four are
// pushed once, so it pays in loops and where ten words follow ten words; a single absorb reads them by two instructions.
#include "targets/tasm/words/word_absorbs.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/number/goldilocks.h"

namespace frazil::targets::tasm {
namespace {

namespace g = goldilocks;
constexpr size_t Overwritten = 4;

class Absorbs {
 public:
  explicit Absorbs(WordFunction& f) : f_(f) {}

  void Run() {
    const size_t regions = f_.regions.size();
    for (uint32_t r = 0; r < regions; ++r) {
      const std::optional<uint32_t> loop = LoopOf(r);
      std::vector<Found> found;
      for (size_t i = 0; i < f_.regions[r].nodes.size(); ++i)
        if (const auto one = Read(r, i)) found.push_back(*one);
      if (found.empty()) continue;
      if (loop) {
        InLoop(*loop, r, found);
      } else {
        InARow(r, found);
      }
    }
  }

 private:
  struct Found {
    uint32_t node;
    Word base;  // NoWord: a constant address
    uint64_t offset;
  };

  std::pair<Word, uint64_t> AddressOf(Word w) const {
    uint64_t offset = 0;
    while (true) {
      const WordNode& def = f_.def(w);
      if (def.op == WordOp::Const) return {NoWord, g::Add(offset, def.number)};
      if (def.op == WordOp::AddI) {
        offset = g::Add(offset, def.number);
      } else if (def.op == WordOp::ReadMem && def.results.back() == w) {
        offset = g::Sub(offset, def.results.size() - 1);
      } else {
        return {w, offset};
      }
      w = def.inputs[0];
    }
  }

  static bool MayWrite(const WordNode& node) {
    return node.op == WordOp::WriteMem || node.op == WordOp::Call || node.op == WordOp::Asm ||
           IsStructure(node.op);
  }

  // The absorb at a place, if it takes ten words of memory in a row that nothing writes in between.
  std::optional<Found> Read(uint32_t region, size_t at) const {
    const std::vector<uint32_t>& nodes = f_.regions[region].nodes;
    const WordNode& absorb = f_.nodes[nodes[at]];
    if (absorb.op != WordOp::SpongeAbsorb) return std::nullopt;
    Found found{nodes[at], NoWord, 0};
    size_t first = at;
    for (uint64_t j = 0; j < 10; ++j) {
      const Word w = absorb.inputs[9 - j];
      const WordNode& load = f_.def(w);
      if (load.op != WordOp::ReadMem || load.results.back() == w) return std::nullopt;
      const auto place = std::find(nodes.begin(), nodes.end(), f_.words[w].node);
      if (place == nodes.end()) return std::nullopt;
      first = std::min(first, static_cast<size_t>(place - nodes.begin()));
      const auto [base, top] = AddressOf(load.inputs[0]);
      const uint64_t below = static_cast<uint64_t>(
          std::find(load.results.begin(), load.results.end(), w) - load.results.begin());
      const uint64_t offset = g::Sub(top, below);
      if (j == 0) {
        found.base = base;
        found.offset = offset;
      } else if (base != found.base || offset != g::Add(found.offset, j)) {
        return std::nullopt;
      }
    }
    for (size_t i = first; i < at; ++i)
      if (MayWrite(f_.nodes[nodes[i]])) return std::nullopt;
    return found;
  }

  // The loop whose body the region is.
  std::optional<uint32_t> LoopOf(uint32_t region) const {
    for (const WordRegion& any : f_.regions)
      for (uint32_t n : any.nodes)
        if ((f_.nodes[n].op == WordOp::While || f_.nodes[n].op == WordOp::Loop) &&
            f_.nodes[n].regions.back() == region)
          return n;
    return std::nullopt;
  }

  Word MakeBefore(uint32_t node, WordOp op, uint64_t number, std::vector<Word> inputs,
                  uint32_t region) {
    const Word word = f_.Make(op, number, std::move(inputs), region);
    std::vector<uint32_t>& nodes = f_.regions[region].nodes;
    nodes.insert(std::find(nodes.begin(), nodes.end(), node), f_.words[word].node);
    return word;
  }

  Word Pointer(const Found& found, uint32_t region) {
    if (found.base == NoWord)
      return MakeBefore(found.node, WordOp::Const, found.offset, {}, region);
    if (found.offset == 0) return found.base;
    return MakeBefore(found.node, WordOp::AddI, found.offset, {found.base}, region);
  }

  // The words that are written over, then the pointer after the ten.
  std::vector<Word> Rewrite(const Found& found, std::vector<Word> inputs, uint32_t region) {
    WordNode& node = f_.nodes[found.node];
    node.op = WordOp::SpongeAbsorbMem;
    node.inputs = std::move(inputs);
    for (size_t i = 0; i <= Overwritten; ++i) {
      node.results.push_back(static_cast<Word>(f_.words.size()));
      f_.words.push_back({found.node, region, g::P - 1});
    }
    return node.results;
  }

  void InLoop(uint32_t loop, uint32_t body, const std::vector<Found>& all) {
    const size_t first = f_.nodes[loop].op == WordOp::Loop ? 1 : 0;
    const uint32_t head = f_.nodes[loop].regions[0];
    uint32_t around = 0;
    while (std::find(f_.regions[around].nodes.begin(), f_.regions[around].nodes.end(), loop) ==
           f_.regions[around].nodes.end())
      ++around;
    const Word zero = MakeBefore(loop, WordOp::Const, 0, {}, around);
    std::vector<Word> words;
    for (size_t i = 0; i < Overwritten; ++i) {
      words.push_back(f_.Make(WordOp::Param, 0, {}, head));
      const Word result = static_cast<Word>(f_.words.size());
      f_.words.push_back({loop, around, g::P - 1});
      WordNode& node = f_.nodes[loop];
      node.inputs.insert(node.inputs.begin() + static_cast<ptrdiff_t>(first), zero);
      node.results.insert(node.results.begin() + static_cast<ptrdiff_t>(i), result);
    }
    f_.regions[head].params.insert(f_.regions[head].params.begin(), words.begin(), words.end());
    for (const Found& found : all) {
      std::vector<Word> inputs = words;
      inputs.push_back(Pointer(found, body));
      words = Rewrite(found, inputs, body);
      words.pop_back();
    }
    f_.regions[body].yields.insert(f_.regions[body].yields.begin(), words.begin(), words.end());
  }

  void InARow(uint32_t region, const std::vector<Found>& all) {
    for (size_t i = 0; i < all.size();) {
      size_t end = i + 1;
      while (end < all.size() && all[end].base == all[i].base &&
             all[end].offset == g::Add(all[i].offset, 10 * (end - i)))
        ++end;
      if (end - i >= 2) {
        const Word zero = MakeBefore(all[i].node, WordOp::Const, 0, {}, region);
        std::vector<Word> words(Overwritten, zero);
        words.push_back(Pointer(all[i], region));
        for (; i < end; ++i) words = Rewrite(all[i], words, region);
      }
      i = end;
    }
  }

  WordFunction& f_;
};

}  // namespace

void AbsorbFromMemory(WordFunction& function) { Absorbs(function).Run(); }

}  // namespace frazil::targets::tasm
