// The door of circuits: text of the circuit language to ir::Program and back. docs/circuits.md has the grammar and the
// meaning of each generator.
//
// A circuit becomes a program with one buffer parameter for each slot that it uses (but for its scratch), named c00 ..
// c95 (page p of a class is another slot, c05_p17), in class order, then the extent `n: index`. Each generator is one
// pass over the n elements, or a reduction; nothing is fused here: that is what optimize/normalize/normalize.h is for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "frontends/circuits/syntax.h"
#include "ir/program.h"

namespace frazil::frontends::circuits {

// A class, or a page of a class; ordered by class, then page.
using SlotId = uint16_t;
constexpr SlotId SlotCount = ClassCount * (PageCount + 1);
constexpr SlotId SlotOf(uint8_t class_index, int page = -1) {
  return static_cast<SlotId>(class_index * (PageCount + 1) + page + 1);
}
std::string SlotName(SlotId slot);  // "c05", "c05_p17"
std::optional<SlotId> SlotNamed(std::string_view name);

// --- calls: the 15 kinds of generator call, transforms applied, before quotations are taken apart -------------------
enum class CallKind : uint8_t {
  Mark,
  Copy,
  Swap,
  Merge,
  Split,
  Quote,
  Evaluate,
  ReduceSum,
  ReduceMin,
  ReduceMax,
  Softmax,
  MarkRange,
  QuoteRange,
  EvaluateRange,
  MergeRange,
};
constexpr int CallKindCount = 15;
std::string_view CallKindName(CallKind kind);

struct Call {
  CallKind kind = CallKind::Mark;
  uint8_t variant = 0;  // MergeVariant or SplitVariant
  std::vector<SlotId>
      slots;  // one; source, destination; source, context, destination; every slot of a range
  std::optional<Number>
      number;  // Merge, Split: instead of the context, whose entry is then the source again
  Location location;
};
// In order of the text, transforms applied to every class.
std::vector<Call> CallsOf(const Phrase& phrase);

// --- steps: what runs, in order -------------------------------------------------------------------------------------
enum class StepKind : uint8_t { Mark, Copy, Swap, Merge, Split, Reduce, Softmax };
struct Step {
  StepKind kind = StepKind::Mark;
  uint8_t variant = 0;
  SlotId source = 0, context = 0,
         destination = 0;  // Mark: all the same; Swap: source and destination
  std::optional<Number> number;
  Location location;
};
// Quotations carried out, ranges taken apart. Fails where branches of '||' touch the same slot and one writes it.
Result<std::vector<Step>> StepsOf(const Phrase& phrase);

struct CircuitOptions {
  ir::Type element = ir::types::F32;  // of every slot: an integer of a machine width or a float
  std::string name = "main";          // of the entry function
  MergeVariant merge = MergeVariant::Add;  // what `merge` and `split` without a variant mean
  SplitVariant split = SplitVariant::Sub;
  Limits limits = {};
};
// Names from the original's JSON ("mul", "div", "sigmoid" ..) into the options; fails on others.
Result<void> SetVariant(CircuitOptions& options, std::string_view name);

Result<ir::Program> ParseCircuit(std::string_view text, const CircuitOptions& options = {});
Result<ir::Program> ToProgram(const Phrase& phrase, const CircuitOptions& options = {});

// A map/reduce program as a circuit. Buffers named like slots keep their class, others get the free classes in order.
// What an expression needs in between goes to free classes, declared as scratch in the text.
struct CircuitText {
  Phrase phrase;
  std::string text;
  std::vector<SlotId> slots;  // by buffer parameter of the program, in order
  ir::Type element;
};
// Fails with NotACircuit, naming the op (and its place) that has no generator.
Result<CircuitText> FromProgram(const ir::Program& program);

// --- statistics
// --------------------------------------------------------------------------------------------------------
struct CircuitStats {
  size_t original_ops = 0, canonical_ops = 0;
  double reduction() const {  // 0.75: three of four are gone
    return original_ops == 0
               ? 0
               : 1 - static_cast<double>(canonical_ops) / static_cast<double>(original_ops);
  }
};
size_t CountOps(const Phrase& phrase);  // generator calls; a group counts what is in it

}  // namespace frazil::frontends::circuits
