// Folding happens here, once, so that the integer lowering can be written plainly: a limb that is known to be 0, a
// carry that cannot happen or a split of something small costs nothing because it is never made.
#include "targets/tasm/words/word_builder.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.h"

namespace frazil::targets::tasm {

namespace g = goldilocks;
__extension__ using uint128 = unsigned __int128;

namespace {

uint64_t CappedSum(uint64_t a, uint64_t b) {
  const uint128 sum = uint128{a} + b;
  return sum > MaxField ? MaxField : static_cast<uint64_t>(sum);
}

uint64_t CappedProduct(uint64_t a, uint64_t b) {
  const uint128 product = uint128{a} * b;
  return product > MaxField ? MaxField : static_cast<uint64_t>(product);
}

// The largest number with as many bits.
uint64_t AllOnes(uint64_t max) { return max == 0 ? 0 : ~uint64_t{0} >> std::countl_zero(max); }

}  // namespace

WordBuilder::WordBuilder(WordFunction& function) : f_(function) { OpenRegion(); }

uint32_t WordBuilder::OpenRegion() {
  const uint32_t id = static_cast<uint32_t>(f_.regions.size());
  f_.regions.emplace_back();
  open_.push_back(id);
  known_.emplace_back();
  loads_.emplace_back();
  writes_.push_back(false);
  ++version_;
  return id;
}

void WordBuilder::CloseRegion(std::vector<Word> yields) {
  f_.regions[open_.back()].yields = std::move(yields);
  open_.pop_back();
  known_.pop_back();
  loads_.pop_back();
  closed_writes_ = closed_writes_ || writes_.back();
  writes_.pop_back();
  ++version_;
}

// Whatever was loaded is loaded before memory changes.
void WordBuilder::Clobber(WordNode& node) {
  std::erase_if(loads_.back(), [&](const Loaded& loaded) {
    if (!MayTouch(f_.def(loaded.word), node)) return false;
    node.before.push_back(loaded.word);
    return true;
  });
  writes_.back() = true;
  ++version_;
}

// Not where both addresses are constants and apart.
bool WordBuilder::MayTouch(const WordNode& load, const WordNode& write) const {
  if (write.op != WordOp::WriteMem || !IsConst(load.inputs[0]) || !IsConst(write.inputs.back()))
    return true;
  const uint64_t top = ValueOf(load.inputs[0]), low = ValueOf(write.inputs.back());
  const uint64_t words = load.results.size() - 1, written = write.inputs.size() - 1;
  return top >= low ? top - low < words + written - 1 : false;
}

Word WordBuilder::NewWord(uint32_t node, uint64_t max) {
  const Word word = static_cast<Word>(f_.words.size());
  f_.words.push_back({node, open_.back(), max});
  return word;
}

Word WordBuilder::Param(uint64_t max) {
  const uint32_t node = static_cast<uint32_t>(f_.nodes.size());
  WordNode& made = f_.nodes.emplace_back();
  made.op = WordOp::Param;
  const Word word = NewWord(node, max);
  f_.nodes[node].results = {word};
  f_.regions[open_.back()].params.push_back(word);
  return word;
}

std::vector<Word> WordBuilder::Emit(WordOp op, std::span<const Word> inputs,
                                    std::span<const uint64_t> result_max, int32_t site,
                                    uint64_t number) {
  const uint32_t id = static_cast<uint32_t>(f_.nodes.size());
  WordNode& node = f_.nodes.emplace_back();
  node.op = op;
  node.number = number;
  node.inputs.assign(inputs.begin(), inputs.end());
  node.site = site;
  node.location = location_;
  std::vector<Word> results;
  for (uint64_t max : result_max) results.push_back(NewWord(id, max));
  node.results = results;
  if (IsStructure(op) && std::exchange(closed_writes_, false)) Clobber(node);
  if (op == WordOp::WriteMem || op == WordOp::Call || op == WordOp::Asm) Clobber(node);
  f_.regions[open_.back()].nodes.push_back(id);
  return results;
}

std::vector<Word> WordBuilder::Pure(WordOp op, std::vector<Word> inputs,
                                    std::span<const uint64_t> max, uint64_t number, int32_t site) {
  if (Commutes(op) && inputs[0] < inputs[1]) std::swap(inputs[0], inputs[1]);
  Key key{op, number, inputs};
  for (size_t i = known_.size(); i-- > 0;)
    if (auto found = known_[i].find(key); found != known_[i].end())
      return f_.nodes[found->second].results;
  known_.back()[key] = static_cast<uint32_t>(f_.nodes.size());
  return Emit(op, inputs, max, site, number);
}

Word WordBuilder::Pure1(WordOp op, std::vector<Word> inputs, uint64_t max, uint64_t number,
                        int32_t site) {
  return Pure(op, std::move(inputs), std::span(&max, 1), number, site)[0];
}

Word WordBuilder::Const(uint64_t value) { return Pure1(WordOp::Const, {}, value, value); }

Word WordBuilder::Bounded(Word w, uint64_t max) {
  f_.words[w].max = std::min(f_.words[w].max, max);
  return w;
}

Word WordBuilder::Add(Word a, Word b) {
  if (IsConst(a)) std::swap(a, b);
  if (IsConst(b)) return AddI(a, ValueOf(b));
  return Pure1(WordOp::Add, {a, b}, CappedSum(Max(a), Max(b)));
}

Word WordBuilder::AddI(Word a, uint64_t c) {
  if (IsConst(a)) return Const(g::Add(ValueOf(a), c));
  if (c == 0) return a;
  const WordNode& def = f_.def(a);
  if (def.op == WordOp::AddI) return AddI(def.inputs[0], g::Add(def.number, c));
  return Pure1(WordOp::AddI, {a}, CappedSum(Max(a), c), c);
}

Word WordBuilder::Neg(Word a) {
  if (IsConst(a)) return Const(g::Neg(ValueOf(a)));
  return Mul(a, Const(MaxField));
}

Word WordBuilder::Sub(Word a, Word b) {
  if (a == b) return Const(0);
  if (IsConst(b)) return AddI(a, g::Neg(ValueOf(b)));
  return Add(a, Neg(b));
}

Word WordBuilder::Mul(Word a, Word b) {
  if (IsConst(a)) std::swap(a, b);
  if (IsConst(a)) return Const(g::Mul(ValueOf(a), ValueOf(b)));
  if (IsConst(b, 0)) return b;
  if (IsConst(b, 1)) return a;
  if (IsConst(b)) {
    const WordNode& def = f_.def(a);
    if (def.op == WordOp::Mul && IsConst(def.inputs[0]))
      return Mul(def.inputs[1], Const(g::Mul(ValueOf(def.inputs[0]), ValueOf(b))));
    if (def.op == WordOp::Mul && IsConst(def.inputs[1]))
      return Mul(def.inputs[0], Const(g::Mul(ValueOf(def.inputs[1]), ValueOf(b))));
  }
  // Both are 0 exactly if their sum is, as long as that does not wrap.
  const Word x = TestedForZero(a), y = TestedForZero(b);
  if (x != NoWord && y != NoWord && Max(x) < g::P - Max(y)) return Eq(Add(x, y), Const(0));
  return Pure1(WordOp::Mul, {a, b}, CappedProduct(Max(a), Max(b)));
}

// w is x = 0: the word x, or NoWord.
Word WordBuilder::TestedForZero(Word w) const {
  const WordNode& def = f_.def(w);
  if (def.op != WordOp::Eq) return NoWord;
  return IsConst(def.inputs[0], 0)   ? def.inputs[1]
         : IsConst(def.inputs[1], 0) ? def.inputs[0]
                                     : NoWord;
}

Word WordBuilder::Eq(Word a, Word b) {
  if (a == b) return Const(1);
  if (IsConst(a)) std::swap(a, b);
  if (IsConst(a)) return Const(ValueOf(a) == ValueOf(b));
  if (IsConst(b) && ValueOf(b) > Max(a)) return Const(0);
  const WordNode& def = f_.def(a);
  // Of a 0-or-1: equal to 1 is itself; not of not is itself.
  if (Max(a) == 1 && IsConst(b, 1)) return a;
  if (IsConst(b, 0) && def.op == WordOp::Eq) {
    for (int i = 0; i < 2; ++i)
      if (IsConst(def.inputs[i], 0) && Max(def.inputs[1 - i]) == 1) return def.inputs[1 - i];
  }
  if (IsConst(b) && def.op == WordOp::AddI)
    return Eq(def.inputs[0], Const(g::Sub(ValueOf(b), def.number)));
  return Pure1(WordOp::Eq, {a, b}, 1);
}

Word WordBuilder::Invert(Word a, int32_t site) {
  if (IsConst(a) && ValueOf(a) != 0) return Const(g::Invert(ValueOf(a)));
  return Pure1(WordOp::Invert, {a}, MaxField, 0, site);
}

Word WordBuilder::Pow(Word base, Word exponent) {
  if (IsConst(exponent) && (IsConst(base) || ValueOf(exponent) <= 1)) {
    if (ValueOf(exponent) == 0) return Const(1);
    if (ValueOf(exponent) == 1) return base;
    return Const(g::Pow(ValueOf(base), ValueOf(exponent)));
  }
  if (IsConst(exponent, 2)) return Mul(base, base);
  uint64_t max = MaxField;
  if (IsConst(base, 2) && Max(exponent) < 64)
    max = std::min(MaxField, uint64_t{1} << Max(exponent));
  return Pure1(WordOp::Pow, {exponent, base}, max);
}

WordBuilder::Pair WordBuilder::Split(Word a) {
  if (IsConst(a)) return {Const(ValueOf(a) >> 32), Const(ValueOf(a) & MaxU32)};
  if (Max(a) <= MaxU32) return {Const(0), a};
  // What was moved up by a limb: the largest, (2^32 - 1) 2^32, is still an element.
  if (const WordNode& def = f_.def(a); def.op == WordOp::Mul)
    for (int i = 0; i < 2; ++i)
      if (IsConst(def.inputs[i], uint64_t{1} << 32) && Max(def.inputs[1 - i]) <= MaxU32)
        return {def.inputs[1 - i], Const(0)};
  const uint64_t max[] = {Max(a) >> 32, MaxU32};
  const std::vector<Word> halves = Pure(WordOp::Split, {a}, max, 0, -1);
  return {halves[0], halves[1]};
}

Word WordBuilder::Join(Word high, Word low) {
  const WordNode& def = f_.def(high);
  if (def.op == WordOp::Split && def.results[0] == high && def.results[1] == low)
    return def.inputs[0];
  return Add(MulI(high, uint64_t{1} << 32), low);
}

Word WordBuilder::Lt(Word a, Word b) {
  if (IsConst(a) && IsConst(b)) return Const(ValueOf(a) < ValueOf(b));
  if (a == b || IsConst(b, 0)) return Const(0);
  if (IsConst(b) && Max(a) < ValueOf(b)) return Const(1);
  if (IsConst(a) && Max(b) <= ValueOf(a)) return Const(0);
  if (IsConst(b, 1)) return Eq(a, Const(0));
  if (IsConst(a, 0) && Max(b) == 1) return b;
  return Pure1(WordOp::Lt, {b, a}, 1);
}

Word WordBuilder::And(Word a, Word b) {
  if (IsConst(a)) std::swap(a, b);
  if (IsConst(a)) return Const(ValueOf(a) & ValueOf(b));
  if (a == b) return a;
  if (IsConst(b, 0)) return b;
  // A mask that keeps all bits.
  if (IsConst(b) && (AllOnes(Max(a)) & ~ValueOf(b)) == 0) return a;
  if (Max(a) <= 1 && Max(b) <= 1) return Mul(a, b);
  return Pure1(WordOp::And, {a, b}, std::min(Max(a), Max(b)));
}

Word WordBuilder::Xor(Word a, Word b) {
  if (IsConst(a)) std::swap(a, b);
  if (IsConst(a)) return Const(ValueOf(a) ^ ValueOf(b));
  if (a == b) return Const(0);
  if (IsConst(b, 0)) return a;
  if (Max(a) <= 1 && IsConst(b, 1)) return Eq(a, Const(0));
  const WordNode& def = f_.def(a);
  if (IsConst(b) && def.op == WordOp::Xor && def.site < 0)
    for (int i = 0; i < 2; ++i)
      if (IsConst(def.inputs[i]))
        return Xor(def.inputs[1 - i], Const(ValueOf(def.inputs[i]) ^ ValueOf(b)));
  return Pure1(WordOp::Xor, {a, b}, std::max(AllOnes(Max(a)), AllOnes(Max(b))));
}

Word WordBuilder::Or(Word a, Word b) {
  if (a == b || IsConst(b, 0)) return a;
  if (IsConst(a, 0)) return b;
  const uint64_t max = std::max(AllOnes(Max(a)), AllOnes(Max(b)));
  // Both from the same entry of the u32 table.
  return Bounded(Add(Xor(a, b), And(a, b)), max);
}

WordBuilder::Quotient WordBuilder::DivMod(Word n, Word d, int32_t site) {
  if (IsConst(d) && ValueOf(d) != 0) {
    site = -1;
    if (ValueOf(d) == 1) return {n, Const(0)};
    if (IsConst(n)) return {Const(ValueOf(n) / ValueOf(d)), Const(ValueOf(n) % ValueOf(d))};
    if (Max(n) < ValueOf(d)) return {Const(0), n};
  }
  const uint64_t max[] = {IsConst(d) && ValueOf(d) != 0 ? Max(n) / ValueOf(d) : Max(n),
                          std::min(Max(n), Max(d) == 0 ? 0 : Max(d) - 1)};
  const std::vector<Word> parts = Pure(WordOp::DivMod, {d, n}, max, 0, site);
  return {parts[0], parts[1]};
}

Word WordBuilder::Log2Floor(Word a, int32_t site) {
  if (IsConst(a) && ValueOf(a) != 0) return Const(63 - std::countl_zero(ValueOf(a)));
  return Pure1(WordOp::Log2Floor, {a}, 31, 0, site);
}

Word WordBuilder::PopCount(Word a) {
  if (IsConst(a)) return Const(std::popcount(ValueOf(a)));
  if (Max(a) <= 1) return a;
  return Pure1(WordOp::PopCount, {a}, 32);
}

Word WordBuilder::Select(Word condition, Word a, Word b) {
  if (IsConst(condition)) return ValueOf(condition) != 0 ? a : b;
  if (a == b) return a;
  const uint64_t max = std::max(Max(a), Max(b));
  if (IsConst(a, 1) && IsConst(b, 0)) return condition;
  if (IsConst(a, 0) && IsConst(b, 1)) return Not(condition);
  if (IsConst(b, 0)) return Mul(condition, a);
  if (IsConst(a, 0)) return Mul(Not(condition), b);
  return Bounded(Add(Mul(Sub(a, b), condition), b), max);
}

// xor gives the word back, turned, and crashes unless it has 32 bits: the cheapest range check there is.
Word WordBuilder::XorChecked(Word a, uint64_t c, int32_t site) {
  if (Max(a) <= MaxU32) return Xor(a, Const(c));
  return Pure1(WordOp::Xor, {a, Const(c)}, MaxU32, 0, site);
}

void WordBuilder::Assert(Word condition, int32_t site) {
  if (silent_ || IsConst(condition, 1)) return;
  const WordNode def = f_.def(condition);
  // x = k exactly if x + 1 - k is 1: one instruction fewer.
  if (def.op == WordOp::Eq)
    for (int i = 0; i < 2; ++i)
      if (IsConst(def.inputs[i])) {
        condition = AddI(def.inputs[1 - i], g::Sub(1, ValueOf(def.inputs[i])));
        break;
      }
  Emit(WordOp::Assert, {condition}, {}, site);
  // Whatever takes a word of this region from now on comes after the check.
  if (def.op != WordOp::Lt || !IsConst(def.inputs[0]) || ValueOf(def.inputs[0]) == 0) return;
  if (const Word small = def.inputs[1]; f_.words[small].region == open_.back())
    Bounded(small, ValueOf(def.inputs[0]) - 1);
}

WordNode* WordBuilder::LastEffect() {
  const WordRegion& region = f_.regions[open_.back()];
  for (size_t i = region.nodes.size(); i-- > 0;)
    if (WordNode& node = f_.nodes[region.nodes[i]]; HasEffect(node)) return &node;
  return nullptr;
}

// The last node that loads, if memory did not change since.
WordNode* WordBuilder::LastLoad() {
  if (loads_.back().empty() || loads_.back().back().version != version_) return nullptr;
  return &f_.nodes[f_.words[loads_.back().back().word].node];
}

// Reads that follow each other are one instruction of up to five.
std::vector<Word> WordBuilder::Read(WordOp op, uint32_t count, int32_t site) {
  std::vector<Word> words;
  while (words.size() < count) {
    WordNode* last = LastEffect();
    if (last != nullptr && last->op == op && last->results.size() < 5 && last->site == site) {
      const uint32_t id = static_cast<uint32_t>(last - f_.nodes.data());
      const Word word = NewWord(id, MaxField);
      f_.nodes[id].results.push_back(word);
      words.push_back(word);
      continue;
    }
    const uint64_t max = MaxField;
    words.push_back(Emit(op, {}, std::span(&max, 1), site)[0]);
  }
  return words;
}

void WordBuilder::Write(std::span<const Word> words) {
  for (size_t i = 0; i < words.size();) {
    const size_t group = std::min<size_t>(words.size() - i, 5);
    WordNode* last = LastEffect();
    std::vector<Word> inputs(words.rbegin() + (words.size() - i - group),
                             words.rbegin() + (words.size() - i));
    if (last != nullptr && last->op == WordOp::WriteIo && last->inputs.size() + group <= 5) {
      // The node moves behind what makes its new words.
      inputs.insert(inputs.end(), last->inputs.begin(), last->inputs.end());
      const uint32_t id = static_cast<uint32_t>(last - f_.nodes.data());
      std::erase(f_.regions[open_.back()].nodes, id);
    }
    Emit(WordOp::WriteIo, inputs, {});
    i += group;
  }
}

std::pair<Word, uint64_t> WordBuilder::AddressOf(Word w) const {
  const WordNode& def = f_.def(w);
  if (def.op == WordOp::Const) return {NoWord, def.number};
  if (def.op == WordOp::AddI) return {def.inputs[0], def.number};
  return {w, 0};
}

// A read next to the one just before joins it.
std::vector<Word> WordBuilder::ReadMem(Word pointer, uint32_t count, uint64_t max) {
  const auto [base, offset] = AddressOf(pointer);
  const Key key{WordOp::ReadMem, version_ * 8 + count, {pointer}};
  for (size_t i = known_.size(); i-- > 0;)
    if (auto found = known_[i].find(key); found != known_[i].end())
      return f_.nodes[found->second].results;
  WordNode* last = LastLoad();
  if (last != nullptr && last->results.size() - 1 + count <= 5) {
    const uint32_t id = static_cast<uint32_t>(last - f_.nodes.data());
    const auto [base_before, top] = AddressOf(last->inputs[0]);
    const uint64_t size = last->results.size() - 1;
    const bool above = offset == g::Add(top, count), below = offset == g::Sub(top, size);
    if (base == base_before && (above || below)) {
      std::vector<Word> words;
      for (uint32_t i = 0; i < count; ++i) words.push_back(NewWord(id, max));
      // The pointer's own node, made after the load it joins, moves before it.
      std::vector<uint32_t>& nodes = f_.regions[open_.back()].nodes;
      const uint32_t maker = f_.words[pointer].node;
      const auto place = std::find(nodes.begin(), nodes.end(), id);
      if (const auto at = std::find(place, nodes.end(), maker); above && at != nodes.end())
        std::rotate(place, at, at + 1);
      std::erase_if(known_.back(), [&](const auto& entry) { return entry.second == id; });
      WordNode& node = f_.nodes[id];
      node.results.insert(above ? node.results.begin() : node.results.end() - 1, words.begin(),
                          words.end());
      if (above) {
        node.inputs[0] = pointer;
        // What lies below all of them is where it was; only this read's own end is a word of its own.
        words.push_back(AddI(pointer, g::Neg(count)));
      } else {
        words.push_back(AddI(pointer, g::Neg(count)));
      }
      return words;
    }
  }
  std::vector<uint64_t> maxima(count, max);
  maxima.push_back(MaxField);
  known_.back()[key] = static_cast<uint32_t>(f_.nodes.size());
  std::vector<Word> words = Emit(WordOp::ReadMem, std::span(&pointer, 1), maxima);
  loads_.back().push_back({words[0], version_});
  return words;
}

Word WordBuilder::WriteMem(Word pointer, std::span<const Word> words) {
  std::vector<Word> inputs(words.rbegin(), words.rend());
  const auto [base, offset] = AddressOf(pointer);
  WordNode* last = LastEffect();
  if (last != nullptr && last->op == WordOp::WriteMem && LastLoad() == nullptr &&
      last->inputs.size() - 1 + words.size() <= 5) {
    const auto [base_before, low] = AddressOf(last->inputs.back());
    const uint64_t size = last->inputs.size() - 1;
    if (base == base_before && offset == g::Add(low, size)) {
      inputs.insert(inputs.end(), last->inputs.begin(), last->inputs.end());
      std::erase(f_.regions[open_.back()].nodes, static_cast<uint32_t>(last - f_.nodes.data()));
      const std::vector<Word> before = last->before;
      const Word after = Emit(WordOp::WriteMem, inputs, std::span(&MaxField, 1))[0];
      std::vector<Word>& all = f_.nodes.back().before;
      all.insert(all.end(), before.begin(), before.end());
      return after;
    }
  }
  inputs.push_back(pointer);
  return Emit(WordOp::WriteMem, inputs, std::span(&MaxField, 1))[0];
}

std::vector<Word> WordBuilder::Hash(const std::vector<Word>& inputs) {
  const std::vector<uint64_t> max(5, MaxField);
  return Pure(WordOp::Hash, inputs, max, 0, -1);
}

Word WordBuilder::LtChecked(Word a, uint64_t c, int32_t site) {
  if (Max(a) <= MaxU32) return Lt(a, Const(c));
  return Pure1(WordOp::Lt, {Const(c), a}, 1, 0, site);
}

}  // namespace frazil::targets::tasm
