// Basic blocks of TIR, and their encoding as 128 + 16 field elements.
//
// A block is a run of ops between structure: Call, Return, IfElse, IfOnly, Loop, While, Repeat, ProofBlock and Asm end it (they
// are in no block), comments are dropped, and after 32 ops a new block begins. Names of events are not part of a block.
//
// Four words per node i (op i of the block), zero where there is none:
//   word 0   bits 0-5    the op's id
//            bits 6-8    ValueType of its results
//            bits 9-13   input 0: node or place          bits 19-20  what input 0 is: InputKind
//            bits 14-18  input 1: likewise               bits 21-22  what input 1 is
//            bits 23-33  assert: its count; reveal, seal: the number of fields
//   word 1   where its results begin to live: i
//   word 2   the last node that reads, moves or drops one of them; 32 if one is on the stack at the end; i if there are none
//   word 3   element, count or depth; of events the tag; of assert its error's number plus 1, 0 if none
// Input 0 is the value on top when the op runs (dup: the value at its depth), input 1 the one below it (swap, pick, place: the
// value at their depth), each only if the op touches it. Moves hand on what they move: inputs name the node that made a value.
//
// One word per place of the context, st0 to st15 at the block's start:
//   bits 0-2  ValueType      bits 3-8  1 + the last node that reads, moves or drops it; 33 if it is on the stack at the
//   end and was touched; 0 if no node touches it
#pragma once

#include <array>

#include "machines/tir/tir.h"

namespace frazil::machines::tir {

inline constexpr size_t BlockNodes = 32;
inline constexpr size_t ContextPlaces = 16;

enum class ValueType : uint8_t { Unknown, Element, U32, Bool, DigestElement, Coefficient };
enum class InputKind : uint8_t {
  None,
  Node,
  Context,
  Below
};  // Below: deeper than the sixteen places

struct Block {
  std::string function;
  std::vector<Op> ops;                                // without names and places
  std::array<ValueType, ContextPlaces> context = {};  // st0 first
  Location location = {};                             // of its first op

  friend bool operator==(const Block& a, const Block& b) {
    return a.ops == b.ops && a.context == b.context;
  }
};

struct EncodedBlock {
  std::array<uint64_t, BlockNodes * 4> nodes = {};
  std::array<uint64_t, ContextPlaces> context = {};
  friend bool operator==(const EncodedBlock&, const EncodedBlock&) = default;
};

// In the order of the text. The program must be well-formed.
Result<std::vector<Block>> ExtractBlocks(const Program& program);

EncodedBlock Encode(const Block& block);
// The block that was encoded, but for its function's name; an error if it is none.
Result<Block> Decode(const EncodedBlock& encoded);

// What the op's results are, given what it is applied to (top first).
ValueType ResultType(const Op& op, const std::vector<ValueType>& stack_top_first);

}  // namespace frazil::machines::tir
