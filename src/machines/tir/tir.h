// TIR: structured stack code (ops.def), its text form and its meaning.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace frazil::machines::tir {

enum class Kind : uint8_t {
#define FRAZIL_TIR(name, ...) name,
#include "machines/tir/ops.def"
#undef FRAZIL_TIR
};

// What most handlers of ops treat alike. Words takes two words, Word one.
enum class Group : uint8_t {
  Structure,
  Stack,
  Field,
  Words,
  Shift,
  Word,
  Streams,
  Memory,
  Hash,
  Merkle,
  Extension,
  Horner
};

enum class Operand : uint8_t { None, Element, Count, Depth, Text, Body, Bodies, Event, Lines };

struct KindInfo {
  Group group;
  std::string_view mnemonic;
  uint8_t id;
  uint8_t tier;
  Operand operand;
  int8_t pops, pushes;  // -1: the count
  std::string_view meaning;
};
const KindInfo& Info(Kind kind);
std::optional<Kind> FindMnemonic(std::string_view mnemonic);

struct Op {
  Kind kind = Kind::Comment;
  // Element: the element. Count, Depth: the number. Event: the number of fields.
  uint64_t number = 0;
  uint64_t tag = 0;       // of an event
  int32_t effect = 0;     // of asm: the declared net effect
  int64_t error_id = -1;  // of assert
  std::string text = {};  // callee, function, comment, event, assembly lines, program hash
  std::vector<Op> body =
      {};  // if: then; while: the condition; loop, repeat, if_only, proof_block: the body
  std::vector<Op> other = {};  // if: else; while: the body
  Location location = {};

  friend bool operator==(const Op& a, const Op& b);  // without locations
};

struct Program {
  std::vector<Op> ops;  // entry, then functions between fn and end
};

// The largest count that an op may have, and the range of depths.
inline constexpr uint64_t MaxCount = 1024;
inline constexpr uint64_t MaxDepth = 15;

// Words from the top that one op reads, moves or drops, without its bodies and callee.
uint32_t Touches(const Op& op);
// The stack's change by one op outside of calls; calls need their function's (see Check).
int32_t NetEffect(const Op& op);

// One op per line, bodies in braces; printing and reading back gives the same program:
//   entry main        fn main        push 5         assert 1 error_id 7     reveal Paid 12 3     // a comment
//   if {              while {        loop {         proof_block 1f00 {      asm -1 {             end
//   } else {          } do {         }              }                       add
//   }                 }                                                     }
Result<Program> Parse(std::string_view text, std::string_view file = "");
std::string Print(const Program& program);

// Well-formed: one entry, bodies' effects agree, callees exist, no recursion, counts and depths in range; `return` and
// `halt` end their body, and `return` stands in no loop; the entry never takes more off the stack than it put there.
// Gives each function's net effect and how deep below its entry it reaches, callees before callers.
struct FunctionShape {
  std::string name;
  int32_t net = 0;
  uint32_t reach = 0;   // words below the top at entry that it reads, moves or drops
  uint32_t drops = 0;   // words below the top at entry that are off the stack at some time
  uint32_t peak = 0;    // most words above the entry's top at any time
  bool returns = true;  // false: every way through it ends in halt
};
// `callable`: the entry is called with words on the stack, which are its own to take.
Result<std::vector<FunctionShape>> Check(const Program& program, bool callable = false);

// The highest tier that the program uses.
int Tier(const Program& program);

// Functions so that each stands behind all that it calls. `callers` lists each function's callers, `open` how many calls it
// makes, both with repetitions; those that call themselves, or one that does, are left out and stay open.
std::vector<size_t> CalleesFirst(const std::vector<std::vector<size_t>>& callers,
                                 std::vector<size_t>& open);

}  // namespace frazil::machines::tir
