// Makes word functions. Every maker folds constants, knows how large a word can be, and gives an earlier word back where
// it holds the same value.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "base/number/goldilocks.h"
#include "targets/tasm/words/word_program.h"

namespace frazil::targets::tasm {

constexpr uint64_t MaxField = goldilocks::P - 1;  // what any word is at most

class WordBuilder {
 public:
  explicit WordBuilder(WordFunction& function);

  Word Const(uint64_t value);
  Word Param(uint64_t max);  // of the open region
  uint64_t Max(Word w) const { return f_.words[w].max; }
  bool IsConst(Word w) const { return f_.is_const(w); }
  bool IsConst(Word w, uint64_t value) const { return IsConst(w) && f_.const_of(w) == value; }
  uint64_t ValueOf(Word w) const { return f_.const_of(w); }
  // What the caller knows better.
  Word Bounded(Word w, uint64_t max);

  // Field.
  Word Add(Word a, Word b);
  Word AddI(Word a, uint64_t c);
  Word Sub(Word a, Word b);
  Word Neg(Word a);
  Word Mul(Word a, Word b);
  Word MulI(Word a, uint64_t c) { return Mul(a, Const(c)); }
  Word Eq(Word a, Word b);
  Word Invert(Word a, int32_t site);
  Word Pow(Word base, Word exponent);
  // 32 bits.
  struct Pair {
    Word high, low;
  };
  Pair Split(Word a);
  Word Low(Word a) { return Split(a).low; }
  Word High(Word a) { return Split(a).high; }
  Word Join(Word high, Word low);  // high 2^32 + low
  Word Lt(Word a, Word b);         // [a < b]
  Word And(Word a, Word b);
  Word Or(Word a, Word b);
  Word Xor(Word a, Word b);
  struct Quotient {
    Word quotient, remainder;
  };
  Quotient DivMod(Word n, Word d, int32_t site);
  Word Log2Floor(Word a, int32_t site = -1);
  Word PopCount(Word a);
  Word Not(Word boolean) { return Eq(boolean, Const(0)); }
  Word Select(Word condition, Word a, Word b);  // condition is 0 or 1
  // The word itself, known to have 32 bits afterwards.
  Word CheckU32(Word a, int32_t site) { return XorChecked(a, 0, site); }
  Word XorChecked(Word a, uint64_t c, int32_t site);  // traps unless a has 32 bits
  void Assert(Word condition, int32_t site);
  void AssertZero(Word a, int32_t site) { Assert(Eq(a, Const(0)), site); }

  // Anything else; result_max has one entry per result.
  std::vector<Word> Emit(WordOp op, std::span<const Word> inputs,
                         std::span<const uint64_t> result_max, int32_t site = -1,
                         uint64_t number = 0);
  std::vector<Word> Emit(WordOp op, std::initializer_list<Word> inputs,
                         std::initializer_list<uint64_t> result_max, int32_t site = -1,
                         uint64_t number = 0) {
    return Emit(op, std::span(inputs.begin(), inputs.size()),
                std::span(result_max.begin(), result_max.size()), site, number);
  }
  std::vector<Word> Read(WordOp op, uint32_t count,
                         int32_t site);     // read_io, divine: first read first
  void Write(std::span<const Word> words);  // first written first
  // The words from the pointer downwards, then the pointer below them.
  std::vector<Word> ReadMem(Word pointer, uint32_t count, uint64_t max);
  Word WriteMem(Word pointer,
                std::span<const Word> words);  // from the pointer upwards; the pointer after them
  std::vector<Word> Hash(const std::vector<Word>& inputs);
  Word LtChecked(Word a, uint64_t c, int32_t site);  // [a < c]; traps unless a has 32 bits
  WordNode& last_node() { return f_.nodes.back(); }

  // Regions: words made outside stay visible.
  uint32_t OpenRegion();
  void CloseRegion(std::vector<Word> yields);
  void SetYields(std::vector<Word> yields) { f_.regions[open_.back()].yields = std::move(yields); }
  void Keep(const std::vector<Word>& words) { f_.regions[open_.back()].keep = words; }
  // What the open region made so far is not on the stack in the regions to come.
  void ForgetKnown() { known_.back().clear(); }
  void SetSilent(bool silent) { silent_ = silent; }
  uint32_t region() const { return open_.back(); }
  WordFunction& function() { return f_; }
  void SetLocation(Location location) { location_ = location; }

 private:
  struct Key {
    WordOp op;
    uint64_t number;
    std::vector<Word> inputs;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  Word Pure1(WordOp op, std::vector<Word> inputs, uint64_t max, uint64_t number = 0,
             int32_t site = -1);
  std::vector<Word> Pure(WordOp op, std::vector<Word> inputs, std::span<const uint64_t> max,
                         uint64_t number, int32_t site);
  Word NewWord(uint32_t node, uint64_t max);
  Word TestedForZero(Word w) const;
  WordNode* LastEffect();
  WordNode* LastLoad();
  void Clobber(WordNode& node);
  std::pair<Word, uint64_t> AddressOf(Word w) const;  // a word and what is added to it

  WordFunction& f_;
  std::vector<uint32_t> open_;
  std::vector<std::map<Key, uint32_t>> known_;  // by open region
  Location location_;
  bool silent_ = false;
  // Loads of the open regions since their last write; whether they, or a region closed just now, write.
  struct Loaded {
    Word word;         // one that it makes
    uint64_t version;  // of memory
  };
  bool MayTouch(const WordNode& load, const WordNode& write) const;
  std::vector<std::vector<Loaded>> loads_;
  std::vector<bool> writes_;
  bool closed_writes_ = false;
  uint64_t version_ = 0;  // of memory
};

}  // namespace frazil::targets::tasm
