// The text of a circuit and its tree. The tree is kept canonical: a group in it has two branches or more and is not the
// only item of its sequence, transforms are reduced modulo 4 and 8, every variant is spelled out. So printing is a
// function of the tree, ParsePhrase(PrintPhrase(tree)) == tree, and printed text is the canonical text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "frontends/circuits/class_system.h"

namespace frazil::frontends::circuits {

enum class Generator : uint8_t { Mark, Copy, Swap, Merge, Split, Quote, Evaluate, Reduce, Softmax };
// The unary merges stand behind the binary ones.
enum class MergeVariant : uint8_t { Add, Mul, Min, Max, Abs, Exp, Log, Sqrt, Sigmoid, Tanh, Gelu };
enum class SplitVariant : uint8_t { Sub, Div };
enum class ReduceVariant : uint8_t { Sum, Min, Max };
constexpr bool IsUnary(MergeVariant variant) { return variant >= MergeVariant::Abs; }

std::string_view GeneratorName(Generator generator);
// "add", "sub", "sum"; empty for generators without variants.
std::string_view VariantName(Generator generator, uint8_t variant);
std::optional<uint8_t> VariantNamed(Generator generator, std::string_view name);

struct Sigil {
  uint8_t class_index = 0;
  uint8_t twist = 0;
  bool mirror = false;
  int8_t page = -1;  // -1: none
  friend bool operator==(const Sigil&, const Sigil&) = default;
};

// A literal in the place of a context. Integers up to 64 bits keep their value where a double would not.
struct Number {
  double value = 0;
  int64_t integer = 0;
  bool is_integer = false;
  friend bool operator==(const Number& a, const Number& b);  // NaN equals NaN, -0 is not 0
};
Number IntegerNumber(int64_t value);
Number RealNumber(double value);  // an integer where it is one that a double holds exactly

enum class TargetKind : uint8_t { Single, Range, Pair, Triple };

struct Operation {
  Generator generator = Generator::Mark;
  uint8_t variant = 0;
  TargetKind target = TargetKind::Single;
  Sigil first;                   // Range: twist and mirror are the range's
  uint8_t last = 0;              // Range: its last class, before transforms
  Sigil context;                 // Triple
  std::optional<Number> number;  // Triple: instead of the context
  Sigil second;                  // Pair, Triple: the destination
  Location location;             // no part of the tree's value
  friend bool operator==(const Operation& a, const Operation& b);
};

struct Sequence;
struct Term {
  Operation operation;          // if group is empty
  std::vector<Sequence> group;  // branches
};
struct Sequence {
  std::vector<Term> items;
};
struct Phrase {
  // Slots that are not bound at a launch, zero at the start; as they are after transforms. Ascending.
  std::vector<Sigil> scratch = {};
  Transform transform = {};
  std::vector<Sequence> branches = {};
};
bool operator==(const Term& a, const Term& b);
bool operator==(const Sequence& a, const Sequence& b);
bool operator==(const Phrase& a, const Phrase& b);

// What text without variants means.
struct SyntaxOptions {
  MergeVariant merge = MergeVariant::Add;
  SplitVariant split = SplitVariant::Sub;
  Limits limits = {};
};
Result<Phrase> ParsePhrase(std::string_view text, const SyntaxOptions& options = {});
std::string PrintPhrase(const Phrase& phrase);
std::string PrintOperation(const Operation& operation);
std::string PrintNumber(const Number& number);

}  // namespace frazil::frontends::circuits
