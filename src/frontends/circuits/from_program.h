// What reading a program as a circuit knows of its values, and which ops are generators.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "frontends/circuits/circuits.h"
#include "ir/lanes/plain_fold.h"

namespace frazil::frontends::circuits {

struct Binary {
  ir::Op op;
  Generator generator;
  uint8_t variant;
};
constexpr uint8_t V(MergeVariant v) { return static_cast<uint8_t>(v); }
constexpr uint8_t V(SplitVariant v) { return static_cast<uint8_t>(v); }
constexpr Binary Binaries[] = {{ir::Op::Add, Generator::Merge, V(MergeVariant::Add)},
                               {ir::Op::Mul, Generator::Merge, V(MergeVariant::Mul)},
                               {ir::Op::Min, Generator::Merge, V(MergeVariant::Min)},
                               {ir::Op::Max, Generator::Merge, V(MergeVariant::Max)},
                               {ir::Op::Sub, Generator::Split, V(SplitVariant::Sub)},
                               {ir::Op::Div, Generator::Split, V(SplitVariant::Div)}};
struct Unary {
  ir::Op op;
  MergeVariant variant;
};
constexpr Unary Unaries[] = {
    {ir::Op::Abs, MergeVariant::Abs},         {ir::Op::Exp, MergeVariant::Exp},
    {ir::Op::Log, MergeVariant::Log},         {ir::Op::Sqrt, MergeVariant::Sqrt},
    {ir::Op::Sigmoid, MergeVariant::Sigmoid}, {ir::Op::Tanh, MergeVariant::Tanh},
    {ir::Op::Gelu, MergeVariant::Gelu}};

// What a value is. Whole: all elements of a slot, as a tensor. Folded: a reduction of a slot. Shifted, Power and
// PowerSum are the parts of a softmax; Bits and MarkedBits those of a mark.
enum class Kind : uint8_t {
  Constant,
  Number,
  IsFirst,
  Element,
  Whole,
  Folded,
  Shifted,
  Power,
  Powers,
  PowerSum,
  Bits,
  MarkedBits
};
struct Known {
  Kind kind;
  SlotId slot = 0;
  uint64_t version = 0;      // of the slot, when the value was made
  ir::ReduceKind fold = {};  // Folded
  uint64_t word = 0;         // Constant
  uint32_t value = 0;        // Bits, MarkedBits: the element below
  SlotId origin = 0;         // Folded: the slot that was reduced, if `slot` is a copy of it
  uint64_t origin_version = 0;
};

// A program back to generators. Passes are taken instruction by instruction: each value lives in a slot, the slot that
// it is stored to wherever nothing else needs that slot in the meantime, a scratch slot otherwise. Only what a
// generator does exactly is accepted; everything else is refused by the name of its op.
class Reverse {
 public:
  explicit Reverse(const ir::Program& program)
      : program_(program), function_(program.entry_function()) {}

  Result<CircuitText> Run();

 private:
  static std::unexpected<Error> Refuse(std::string why, Location where);
  std::unexpected<Error> Refuse(const ir::Inst& inst, std::string_view why) const;

  // --- slots ------------------------------------------------------------------------------------------------------
  Result<void> Declare();
  Result<SlotId> FreeSlot();
  // Fresh: zero when the program starts.
  Result<SlotId> Scratch();

  // For a value of the pass in hand: scratch that nobody needs any more may be used again.
  Result<SlotId> Temporary(size_t needed_from);
  static Sigil SigilOf(SlotId slot);
  void Emit(Generator generator, uint8_t variant, SlotId source, std::optional<SlotId> context,
            SlotId destination, std::optional<Number> number = {});
  const Known* Find(ir::ValueId value) const;
  const Known* Find(const ir::Inst& inst, uint32_t operand) const;
  void Define(const ir::Inst& inst, Known known);
  bool IsZeroIndex(ir::ValueId value) const;
  bool Unchanged(const Known& known) { return versions_[known.slot] == known.version; }

  // Reductions as loops; what they keep in scratch is no slot. Said first of all: what a reduction is joined with.

  // --- outside of passes ------------------------------------------------------------------------------------------
  Result<void> Top(const ir::Inst& inst);

  // Extents are compared behind casts: as parameters.
  Result<void> SetExtent(const ir::Inst& inst, ir::ValueId value);
  Result<SlotId> SlotOfBuffer(const ir::Inst& inst) const;
  Result<void> Whole(const ir::Inst& inst);
  Result<void> Map(const ir::Inst& inst);
  Result<void> Reduce(const ir::Inst& inst);

  // As a map of the element, and a reduction of that.
  Result<void> Fold(const ir::Inst& inst);
  Result<void> DefineFolded(const ir::Inst& inst, const Known& whole, ir::ReduceKind fold);

  // Is the result stored after a pass has overwritten the slot? Then the slot has to be kept.
  bool IsStoredLate(const ir::Inst& reduce, SlotId slot) const;
  bool IsSlot(const ir::Inst& store, SlotId slot) const;
  Result<void> StoreFirst(const ir::Inst& inst);
  Result<void> EmitReduce(const ir::Inst& inst, const Known& folded, SlotId destination);

  // --- passes -------------------------------------------------------------------------------------------------------
  Result<void> Pass(const ir::Inst& inst);

  // Two loads, two stores, crosswise.
  Result<bool> IsSwap();
  Result<void> OwnIndex(const ir::Inst& inst) const;

  // By value: the place of its last use. Parts of marks and softmaxes are no values of their own: who uses them uses
  // the element below them.
  void FindLastUses();
  size_t LastUse(uint32_t value) const;
  Result<void> Load(const ir::Inst& inst);

  // Values in the slot that somebody uses from this place on.
  std::vector<uint32_t> Needed(SlotId slot, size_t from);
  Result<void> Store(const ir::Inst& inst);

  // The slot that holds the operand; a constant gets one of its own: scratch starts at zero.
  Result<SlotId> InSlot(const ir::Inst& inst, uint32_t operand);
  Result<Number> NumberOf(const ir::Inst& inst, uint32_t operand, uint64_t word) const;

  // Where to put a result: the slot that it is stored to, if that is free from here to the store.
  Result<SlotId> PlaceFor(const ir::Inst& inst);
  void Placed(const ir::Inst& inst, SlotId slot);

  // An op by the contents of its operands. What a map has computed into scratch is not computed again by the pass
  // behind it: a softmax of an expression needs both to mean the same slot.
  using Naming = std::vector<uint64_t>;
  std::optional<Naming> NamingOf(const ir::Inst& inst);

  // --- ops -----------------------------------------------------------------------------------------------------------
  Result<void> Compute(const ir::Inst& inst);
  Result<void> ComputeBinary(const ir::Inst& inst, const Binary& binary);

  // bitcast, xor with the sign bit, bitcast; of integers just the xor.
  Result<bool> PartOfMark(const ir::Inst& inst);
  Result<bool> Mark(const ir::Inst& inst, uint32_t value);

  // (own number == 0 ? reduction : element): the element's slot, and the reduction to it.
  Result<bool> PartOfHead(const ir::Inst& inst);

  // sub of the greatest, exp, div by the sum of these.
  Result<bool> PartOfSoftmax(const ir::Inst& inst);

  const ir::Program& program_;
  const ir::Function& function_;
  CircuitText result_;
  std::vector<Operation> operations_;
  std::map<uint32_t, SlotId> slots_;  // by value of a buffer
  std::set<SlotId> taken_;
  std::vector<SlotId> temporaries_;  // scratch of passes
  std::set<SlotId> kept_;            // of these, what is needed beyond its pass
  std::map<SlotId, uint64_t> versions_;
  std::map<uint32_t, Known> known_;
  ir::ValueId extent_;
  size_t top_ = 0;                // place in the function's body
  std::vector<ir::InstId> body_;  // of the pass or map in hand
  size_t at_ = 0;                 // place in it
  std::map<uint32_t, size_t> last_use_;
  bool in_map_ = false;
  std::optional<Naming> naming_;  // of the op in hand
  std::map<Naming, Known> made_;  // by maps
};

}  // namespace frazil::frontends::circuits
