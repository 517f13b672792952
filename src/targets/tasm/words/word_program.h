// Programs of single field words: what the stack schedule starts from. A node is one instruction of the machine, or a
// structure; its inputs and results are words, deepest first, exactly as the instruction finds and leaves them.
//
// Nodes of a region are in order. Those with an effect, or with a trap site, keep that order; the others, loads too, are
// made where they are needed.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "targets/tasm/tasm.h"

namespace frazil::targets::tasm {

using Word = uint32_t;  // index into WordFunction::words
inline constexpr Word NoWord = UINT32_MAX;
inline constexpr uint64_t MaxU32 = 0xffff'ffffu;

enum class WordOp : uint8_t {
  Const,
  Param,
  // pure
  Add,
  AddI,
  Mul,
  Invert,
  Eq,
  Split,
  Lt,
  And,
  Xor,
  Log2Floor,
  Pow,
  DivMod,
  PopCount,
  XxAdd,
  XxMul,
  XInvert,
  XbMul,
  Hash,
  // effects
  ReadIo,
  WriteIo,
  Divine,
  ReadMem,
  WriteMem,
  Assert,
  AssertVector,
  SpongeInit,
  SpongeAbsorb,
  SpongeSqueeze,
  SpongeAbsorbMem,
  MerkleStep,
  XxDotStep,
  XbDotStep,
  Asm,
  // structure
  If,    // condition -> results; regions: then, else
  Loop,  // count, inits -> finals; region: body, whose params are the carried words
  While,  // inits -> finals; regions: test (params carried, yields the condition), body (yields the next)
  Call,
};
// Instructions that take their last two operands either way.
constexpr bool Commutes(WordOp op) {
  return op == WordOp::Add || op == WordOp::Mul || op == WordOp::Eq || op == WordOp::And ||
         op == WordOp::Xor;
}
constexpr bool IsStructure(WordOp op) { return op >= WordOp::If && op != WordOp::Call; }

struct WordNode {
  WordOp op = WordOp::Const;
  uint64_t number = 0;  // constant, element of addi, callee
  std::vector<Word> inputs;
  std::vector<Word> results;
  int32_t site = -1;  // into WordProgram::sites
  // Loads that must have happened before this writes; they are made where they are needed.
  std::vector<Word> before;
  uint32_t returned =
      0;  // that many of the first inputs are still there afterwards (assert_vector)
  std::vector<uint32_t> regions;
  std::string text;  // of asm
  Location location;
};

struct WordRegion {
  std::vector<Word> params;
  std::vector<uint32_t> nodes;
  std::vector<Word> yields;
  std::vector<Word> keep;  // stay on the stack until the region ends
};

struct WordInfo {
  uint32_t node = 0;    // that makes it
  uint32_t region = 0;  // where
  uint64_t max = 0;     // its canonical value is at most this
};

struct WordFunction {
  std::string name;
  std::vector<WordNode> nodes;
  std::vector<WordRegion>
      regions;  // 0: the body; its params are the arguments, its yields the results
  std::vector<WordInfo> words;

  const WordNode& def(Word w) const { return nodes[words[w].node]; }
  bool is_const(Word w) const { return def(w).op == WordOp::Const; }
  uint64_t const_of(Word w) const { return def(w).number; }

  // A node of one result that stands in no region yet.
  Word Make(WordOp op, uint64_t number, std::vector<Word> inputs, uint32_t region);
  // A constant before everything in the region.
  Word MakeConst(uint64_t number, uint32_t region);
  // Wherever `from` is taken, `to` is.
  void Replace(Word from, Word to);
};

// A trap, and the outermost parallel around it.
struct WordSite {
  TrapSite trap;
  int32_t parallel = -1;  // into WordProgram::parallels
};

// What the instruction selection may do either way.
struct SelectChoices {
  // Functions of the IR that stand where they are called; those that do at some calls and not at others.
  std::map<uint32_t, bool> written_out = {};
  std::set<uint32_t> mixed = {};
  // Loops, by function and instruction of the IR, whose rounds stand one after the other.
  std::map<std::pair<uint32_t, uint32_t>, bool> unrolled = {};
  bool repeats = false;  // loops end by recurse_or_return where they can
};

struct WordProgram {
  std::vector<WordFunction> functions;  // 0: the entry
  std::vector<WordSite> sites;
  std::vector<std::vector<Word>>
      parallels;          // outermost ones: the limbs of the iteration, in the entry
  bool callable = false;  // the entry takes its parameters from the stack and returns
  bool raw = false;       // some raw address may lie where the compiler's own RAM is
  bool own_ram =
      false;  // the compiler has words in RAM, not counting those that the schedule puts there

  SelectChoices open = {};  // what was chosen where there was a choice

  int32_t AddParallel(const std::vector<Word>& limbs, size_t count) {
    parallels.push_back({limbs.begin(), limbs.begin() + count});
    return static_cast<int32_t>(parallels.size()) - 1;
  }
};

inline bool HasEffect(const WordNode& node) {
  return (node.op >= WordOp::ReadIo && node.op != WordOp::ReadMem) || node.site >= 0;
}

// For debugging and tests.
std::string Print(const WordFunction& function);

// Drops nodes, results and carried words that nothing needs.
void RemoveDead(WordFunction& function);

}  // namespace frazil::targets::tasm
