// The ops of provable machines as plain IR, inside of ExpandPrelude: the sponge is a buffer of 16 elements and
// a mark, made by the entry and handed to every function that reaches an op of the sponge; a Merkle step is a
// hint and a hash.
#pragma once

#include <span>
#include <vector>

#include "ir/builder.h"
#include "ir/program.h"

namespace frazil::ir {

inline bool IsSpongeOp(Op op) {
  return op == Op::SpongeInit || op == Op::SpongeAbsorb || op == Op::SpongeSqueeze;
}

// Name, without the prefix of the prelude, of the permutation: 16 elements to 16.
constexpr std::string_view PermutationName = "pre.tip5";

// Which functions reach an op of the sponge, by their calls too.
std::vector<bool> FunctionsWithSponge(const Program& program);
bool IsCalled(const Program& program, FuncId id);

// `state` is a buffer<field> from MakeSponge.
ValueId MakeSponge(FunctionBuilder& b);
void InitSponge(FunctionBuilder& b, ValueId state);
void AbsorbSponge(FunctionBuilder& b, ValueId state, std::span<const ValueId> elements,
                  FuncId permutation);
Values SqueezeSponge(FunctionBuilder& b, ValueId state, FuncId permutation);

// (index / 2, parent). `hash` is the function of the op `hash`.
Values MerkleStep(FunctionBuilder& b, ValueId index, ValueId node, FuncId hash);

}  // namespace frazil::ir
