// A program back to generators. Passes are taken instruction by instruction: each value lives in a slot, the slot that
// it is stored to wherever nothing else needs that slot in the meantime, a scratch slot otherwise. Only what a
// generator does exactly is accepted; everything else is refused by the name of its op.
#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/float16.h"
#include "frontends/circuits/circuits.h"
#include "frontends/circuits/from_program.h"
#include "ir/fold_match.h"
#include "ir/text.h"

namespace frazil::frontends::circuits {
namespace {

using ir::Inst;
using ir::Op;
using ir::Type;
using ir::ValueId;

class Reverse {
 public:
  explicit Reverse(const ir::Program& program)
      : program_(program), function_(program.entry_function()) {}

  Result<CircuitText> Run() {
    if (!function_.results.empty())
      return Refuse("the program returns values; circuits write slots", {});
    TRY_VOID(Declare());
    const std::vector<ir::InstId>& insts = function_.region(function_.body).insts;
    TRY_VOID(FindFolds());
    for (top_ = 0; top_ < insts.size(); ++top_) TRY_VOID(Top(function_.inst(insts[top_])));
    if (operations_.empty()) {
      if (result_.slots.empty()) return Refuse("the program touches no buffer", {});
      Emit(Generator::Copy, 0, result_.slots[0], {},
           result_.slots[0]);  // a circuit has at least one generator
    }
    Sequence sequence;
    for (Operation& operation : operations_) sequence.items.push_back({operation, {}});
    result_.phrase.branches.push_back(std::move(sequence));
    result_.text = PrintPhrase(result_.phrase);
    return std::move(result_);
  }

 private:
  static std::unexpected<Error> Refuse(std::string why, Location where) {
    return Fail(Diag::NotACircuit, std::move(why), where);
  }
  std::unexpected<Error> Refuse(const Inst& inst, std::string_view why) const {
    return Refuse(fmt::format("{}: {}", ir::Info(inst.op).mnemonic, why), inst.location);
  }

  // --- slots ------------------------------------------------------------------------------------------------------
  Result<void> Declare() {
    std::set<SlotId> taken;
    std::vector<uint32_t> buffers;
    for (uint32_t i = 0; i < function_.param_count(); ++i) {
      const Type type = function_.param_type(i);
      if (!type.is_buffer()) continue;
      if (!buffers.empty() && type.element() != result_.element)
        return Refuse(fmt::format("slots of a circuit have one element type; here are {} and {}",
                                  ir::ScalarOrBufferName(result_.element),
                                  ir::ScalarOrBufferName(type.element())),
                      {});
      result_.element = type.element();
      buffers.push_back(i);
      const uint32_t value = function_.param(i).index;
      const std::optional<SlotId> named = value < function_.value_names.size()
                                              ? SlotNamed(function_.value_names[value])
                                              : std::nullopt;
      if (named && taken.insert(*named).second) slots_[value] = *named;
    }
    if (!buffers.empty() &&
        !ir::Contains(ir::sets::Fixed | ir::sets::Float, result_.element.scalar))
      return Refuse(
          fmt::format("slots of a circuit do not hold {}", ir::ScalarOrBufferName(result_.element)),
          {});
    taken_ = std::move(taken);
    for (uint32_t i : buffers) {
      const uint32_t value = function_.param(i).index;
      if (!slots_.contains(value)) slots_[value] = TRY(FreeSlot());
      result_.slots.push_back(slots_[value]);
    }
    return {};
  }

  Result<SlotId> FreeSlot() {
    for (int c = 0; c < ClassCount; ++c)
      if (taken_.insert(SlotOf(static_cast<uint8_t>(c))).second)
        return SlotOf(static_cast<uint8_t>(c));
    return Refuse("the program needs more slots than there are classes", {});
  }
  // Fresh: zero when the program starts.
  Result<SlotId> Scratch() {
    const SlotId slot = TRY(FreeSlot());
    result_.phrase.scratch.push_back(SigilOf(slot));  // free classes ascend
    return slot;
  }

  // For a value of the pass in hand: scratch that nobody needs any more may be used again.
  Result<SlotId> Temporary(size_t needed_from) {
    for (SlotId slot : temporaries_)
      if (!kept_.contains(slot) && Needed(slot, needed_from).empty()) return slot;
    temporaries_.push_back(TRY(Scratch()));
    return temporaries_.back();
  }

  static Sigil SigilOf(SlotId slot) {
    return {static_cast<uint8_t>(slot / (PageCount + 1)), 0, false,
            static_cast<int8_t>(slot % (PageCount + 1) - 1)};
  }

  void Emit(Generator generator, uint8_t variant, SlotId source, std::optional<SlotId> context,
            SlotId destination, std::optional<Number> number = {}) {
    Operation operation;
    operation.generator = generator;
    operation.variant = variant;
    operation.first = SigilOf(source);
    const bool triple = generator == Generator::Merge || generator == Generator::Split;
    operation.target = generator == Generator::Mark ? TargetKind::Single
                       : triple                     ? TargetKind::Triple
                                                    : TargetKind::Pair;
    if (context && !number) operation.context = SigilOf(*context);
    operation.number = number;
    if (generator != Generator::Mark) operation.second = SigilOf(destination);
    operations_.push_back(operation);
    ++versions_[destination];
    if (generator == Generator::Swap) ++versions_[source];
  }

  const Known* Find(ValueId value) const {
    const auto found = known_.find(value.index);
    return found == known_.end() ? nullptr : &found->second;
  }
  const Known* Find(const Inst& inst, uint32_t operand) const {
    return Find(function_.operand(inst, operand));
  }
  void Define(const Inst& inst, Known known) {
    known_[ir::Function::result_of(inst).index] = known;
  }
  bool IsZeroIndex(ValueId value) const {
    const Known* known = Find(value);
    return known != nullptr && known->kind == Kind::Constant && known->word == 0;
  }
  bool Unchanged(const Known& known) { return versions_[known.slot] == known.version; }

  // Reductions as loops; what they keep in scratch is no slot. Said first of all: what a reduction is joined with.
  Result<void> FindFolds() {
    for (ir::InstId id : function_.region(function_.body).insts) {
      const Inst& inst = function_.inst(id);
      if (inst.op == Op::Load)
        return Refuse(inst,
                      "element 0 of a slot is read on its own, as where a reduction is joined with "
                      "what its place "
                      "held before; generators read whole slots, and a reduction overwrites");
      std::optional<ir::FoldMatch> fold = ir::MatchFold(program_, id);
      if (!fold) continue;
      fold_scratch_.insert({fold->chains.index, fold->blocks.index});
      folds_.emplace(fold->result.index, std::move(*fold));
    }
    return {};
  }

  // --- outside of passes ------------------------------------------------------------------------------------------
  Result<void> Top(const Inst& inst) {
    switch (inst.op) {
      case Op::Return: return {};
      case Op::Const:
        return Define(inst, {Kind::Constant, 0, 0, {}, function_.words_of(inst)[0]}),
               Result<void>{};
      case Op::Cast: return {};  // of an extent; other uses find nothing known of it
      case Op::Add:
      case Op::Sub:
      case Op::DivFloor:
      case Op::Eq:  // sizes of a reduction's scratch, likewise
        if (inst.type != ir::types::Index) return Refuse(inst, "no generator does this");
        return {};
      case Op::If: return Fold(inst);
      case Op::Parallel: return Pass(inst);
      case Op::TensorLoad: return Whole(inst);
      case Op::Map: return Map(inst);
      case Op::Reduce: return Reduce(inst);
      case Op::Iota: {
        const ir::Shape& shape = function_.shape(inst.type);
        if (shape.size() != 1 || !shape[0].is_symbol() || inst.type.element() != ir::types::Index)
          return Refuse(inst, "a shape other than the extent");
        TRY_VOID(SetExtent(inst, function_.param(shape[0].param())));
        Define(inst, {Kind::Number});
        return {};
      }
      case Op::Extract: {
        const Known* known = Find(inst, 0);
        if (known == nullptr || inst.operands.count != 1)
          return Refuse(inst, "of something that is no reduction");
        Define(inst, *known);
        return {};
      }
      case Op::Alloc: {
        if (fold_scratch_.contains(ir::Function::result_of(inst).index)) return {};
        TRY_VOID(SetExtent(inst, function_.operand(inst, 0)));
        if (inst.type != result_.element)
          return Refuse(inst, "scratch of another type than the slots'");
        slots_[ir::Function::result_of(inst).index] = TRY(Scratch());
        return {};
      }
      case Op::Store: return StoreFirst(inst);
      default: return Refuse(inst, "no generator does this");
    }
  }

  // Extents are compared behind casts: as parameters.
  Result<void> SetExtent(const Inst& inst, ValueId value) {
    for (ir::InstId def = function_.values[value.index].def;
         def.valid() && function_.inst(def).op == Op::Cast; def = function_.values[value.index].def)
      value = function_.operand(function_.inst(def), 0);
    if (function_.values[value.index].def.valid())
      return Refuse(inst, "the extent is no parameter");
    if (extent_.valid() && extent_ != value) return Refuse(inst, "passes of different lengths");
    extent_ = value;
    return {};
  }

  Result<SlotId> SlotOfBuffer(const Inst& inst) const {
    const auto found = slots_.find(function_.operand(inst, 0).index);
    if (found == slots_.end()) return Refuse(inst, "the buffer is no slot");
    return found->second;
  }

  Result<void> Whole(const Inst& inst) {
    const ir::Shape& shape = function_.shape(inst.type);
    if (shape.size() != 1 || !shape[0].is_symbol())
      return Refuse(inst, "a shape other than the extent");
    TRY_VOID(SetExtent(inst, function_.param(shape[0].param())));
    const SlotId slot = TRY(SlotOfBuffer(inst));
    Define(inst, {Kind::Whole, slot, versions_[slot]});
    return {};
  }

  Result<void> Map(const Inst& inst) {
    const ir::Region& region = function_.region(ir::Function::region_of(inst, 0));
    for (uint32_t i = 0; i < inst.operands.count; ++i) {
      const Known* whole = Find(inst, i);
      if (whole != nullptr && whole->kind == Kind::Number) {
        known_[ir::Function::param_of(region, i).index] = *whole;
        continue;
      }
      if (whole == nullptr || whole->kind != Kind::Whole || !Unchanged(*whole))
        return Refuse(inst, "an operand is no slot");
      known_[ir::Function::param_of(region, i).index] = {Kind::Element, whole->slot,
                                                         whole->version};
    }
    // The powers of a softmax are no slot: the generator makes them itself.
    in_map_ = true;
    body_ = region.insts;
    FindLastUses();
    for (at_ = 0; at_ + 1 < body_.size(); ++at_) TRY_VOID(Compute(function_.inst(body_[at_])));
    in_map_ = false;
    const Known* yielded = Find(function_.inst(body_.back()), 0);
    if (yielded == nullptr) return Refuse(inst, "yields no element");
    if (yielded->kind == Kind::Power) {
      Define(inst, {Kind::Powers, yielded->slot, yielded->version});
      return {};
    }
    if (yielded->kind != Kind::Element) return Refuse(inst, "yields no element");
    kept_.insert(yielded->slot);
    Define(inst, {Kind::Whole, yielded->slot, versions_[yielded->slot]});
    return {};
  }

  Result<void> Reduce(const Inst& inst) {
    const Known* whole = Find(inst, 0);
    const auto fold = static_cast<ir::ReduceKind>(function_.word(inst, 0));
    if (whole == nullptr || !Unchanged(*whole)) return Refuse(inst, "of something that is no slot");
    if (function_.word(inst, 2) != 64 || function_.word(inst, 3) != 4096)
      return Refuse(inst, "in another order than the one of circuits (64 chains, blocks of 4096)");
    const Known kept = *whole;
    return DefineFolded(inst, kept, fold);
  }

  // As a map of the element, and a reduction of that.
  Result<void> Fold(const Inst& inst) {
    const auto found =
        inst.results.count == 1 ? folds_.find(ir::Function::result_of(inst).index) : folds_.end();
    if (found == folds_.end()) return Refuse(inst, "no generator does this");
    const ir::FoldMatch& fold = found->second;
    TRY_VOID(SetExtent(inst, fold.count));
    known_[fold.index.index] = {Kind::Number};
    in_map_ = true;
    body_ = fold.element;
    FindLastUses();
    last_use_[fold.value.index] = body_.size();
    for (at_ = 0; at_ < body_.size(); ++at_) {
      const Inst& step = function_.inst(body_[at_]);
      TRY_VOID(step.op == Op::Load ? Load(step) : Compute(step));
    }
    in_map_ = false;
    const Known* element = Find(fold.value);
    if (element == nullptr || (element->kind != Kind::Power && element->kind != Kind::Element))
      return Refuse(inst, "of something that is no slot");
    const Known whole{element->kind == Kind::Power ? Kind::Powers : Kind::Whole, element->slot,
                      element->version};
    if (whole.kind == Kind::Whole) kept_.insert(whole.slot);
    return DefineFolded(inst, whole, fold.kind);
  }

  Result<void> DefineFolded(const Inst& inst, const Known& whole, ir::ReduceKind fold) {
    if (whole.kind == Kind::Powers && fold == ir::ReduceKind::Sum) {
      Define(inst, {Kind::PowerSum, whole.slot, whole.version});
      return {};
    }
    if (whole.kind != Kind::Whole) return Refuse(inst, "of something that is no slot");
    if (fold != ir::ReduceKind::Sum && fold != ir::ReduceKind::Min && fold != ir::ReduceKind::Max)
      return Refuse(inst, "reduce has the variants sum, min and max");
    Known folded{Kind::Folded, whole.slot, whole.version, fold, 0, 0, whole.slot, whole.version};
    if (IsStoredLate(inst, whole.slot)) {
      folded.slot = TRY(Scratch());
      Emit(Generator::Copy, 0, whole.slot, {}, folded.slot);
      folded.version = versions_[folded.slot];
    }
    Define(inst, folded);
    return {};
  }

  // Is the result stored after a pass has overwritten the slot? Then the slot has to be kept.
  bool IsStoredLate(const Inst& reduce, SlotId slot) const {
    const std::vector<ir::InstId>& insts = function_.region(function_.body).insts;
    ValueId result = ir::Function::result_of(reduce);
    bool overwritten = false;
    for (size_t k = top_ + 1; k < insts.size(); ++k) {
      const Inst& inst = function_.inst(insts[k]);
      if (inst.op == Op::Extract && function_.operand(inst, 0) == result)
        result = ir::Function::result_of(inst);
      if (inst.op == Op::Store && function_.operand(inst, 2) == result && overwritten) return true;
      if (inst.op == Op::Store) overwritten |= IsSlot(inst, slot);
      if (inst.op != Op::Parallel) continue;
      for (ir::InstId id : function_.region(ir::Function::region_of(inst, 0)).insts)
        overwritten |= function_.inst(id).op == Op::Store && IsSlot(function_.inst(id), slot);
    }
    return false;
  }
  bool IsSlot(const Inst& store, SlotId slot) const {
    const auto found = slots_.find(function_.operand(store, 0).index);
    return found != slots_.end() && found->second == slot;
  }

  Result<void> StoreFirst(const Inst& inst) {
    if (!IsZeroIndex(function_.operand(inst, 1)))
      return Refuse(inst, "outside of a pass only element 0 is written");
    const Known* folded = Find(inst, 2);
    if (folded == nullptr || folded->kind != Kind::Folded)
      return Refuse(inst, "the value is no reduction of a slot");
    const Known kept = *folded;
    return EmitReduce(inst, kept, TRY(SlotOfBuffer(inst)));
  }

  Result<void> EmitReduce(const Inst& inst, const Known& folded, SlotId destination) {
    if (!Unchanged(folded))
      return Refuse(inst, "the slot changes between its reduction and the store");
    const ReduceVariant variant = folded.fold == ir::ReduceKind::Sum   ? ReduceVariant::Sum
                                  : folded.fold == ir::ReduceKind::Min ? ReduceVariant::Min
                                                                       : ReduceVariant::Max;
    Emit(Generator::Reduce, static_cast<uint8_t>(variant), folded.slot, {}, destination);
    return {};
  }

  // --- passes -------------------------------------------------------------------------------------------------------
  Result<void> Pass(const Inst& inst) {
    if (!IsZeroIndex(function_.operand(inst, 0))) return Refuse(inst, "a pass starts at element 0");
    TRY_VOID(SetExtent(inst, function_.operand(inst, 1)));
    const ir::Region& region = function_.region(ir::Function::region_of(inst, 0));
    std::erase_if(known_, [](const auto& entry) {
      return entry.second.kind == Kind::Element;
    });  // of passes before
    known_[ir::Function::param_of(region, 0).index] = {Kind::Number};
    body_ = region.insts;
    FindLastUses();
    if (TRY(IsSwap())) return {};
    for (at_ = 0; at_ < body_.size(); ++at_) {
      const Inst& step = function_.inst(body_[at_]);
      switch (step.op) {
        case Op::Yield: break;
        case Op::Load: TRY_VOID(Load(step)); break;
        case Op::Store: TRY_VOID(Store(step)); break;
        default: TRY_VOID(Compute(step)); break;
      }
    }
    return {};
  }

  // Two loads, two stores, crosswise.
  Result<bool> IsSwap() {
    if (body_.size() != 5) return false;
    const Inst *a = &function_.inst(body_[0]), *b = &function_.inst(body_[1]);
    const Inst &x = function_.inst(body_[2]), &y = function_.inst(body_[3]);
    if (a->op != Op::Load || b->op != Op::Load || x.op != Op::Store || y.op != Op::Store)
      return false;
    const ValueId va = ir::Function::result_of(*a), vb = ir::Function::result_of(*b);
    const auto crosses = [&](const Inst& store, const Inst& load, ValueId value) {
      return function_.operand(store, 0) == function_.operand(load, 0) &&
             function_.operand(store, 2) == value;
    };
    if (!(crosses(x, *a, vb) && crosses(y, *b, va)) && !(crosses(x, *b, va) && crosses(y, *a, vb)))
      return false;
    for (const Inst* inst : {a, b, &x, &y}) TRY_VOID(OwnIndex(*inst));
    const SlotId first = TRY(SlotOfBuffer(*a)), second = TRY(SlotOfBuffer(*b));
    if (first == second) return false;
    Emit(Generator::Swap, 0, std::min(first, second), {}, std::max(first, second));
    return true;
  }

  Result<void> OwnIndex(const Inst& inst) const {
    const Known* index = Find(inst, 1);
    if (index == nullptr || index->kind != Kind::Number)
      return Refuse(inst, "an iteration touches elements other than its own");
    return {};
  }

  // By value: the place of its last use. Parts of marks and softmaxes are no values of their own: who uses them uses
  // the element below them.
  void FindLastUses() {
    std::set<uint32_t> parts;
    const auto is_part = [&](const Inst& inst) {
      switch (inst.op) {
        case Op::Bitcast: return inst.type != result_.element;
        case Op::Xor: return ir::IsFloat(result_.element.scalar);
        case Op::Exp: return parts.contains(function_.operand(inst, 0).index);
        case Op::Sub: {
          const Known* folded = Find(inst, 1);
          return folded != nullptr && folded->kind == Kind::Folded;
        }
        default: return false;
      }
    };
    for (ir::InstId id : body_)
      if (is_part(function_.inst(id)))
        parts.insert(ir::Function::result_of(function_.inst(id)).index);
    last_use_.clear();
    for (size_t k = body_.size(); k-- > 0;) {
      const Inst& inst = function_.inst(body_[k]);
      size_t use = k;
      if (inst.results.count == 1 && parts.contains(ir::Function::result_of(inst).index))
        use = std::max(use, LastUse(ir::Function::result_of(inst).index));
      for (ValueId operand : function_.operands_of(inst)) {
        size_t& last = last_use_[operand.index];
        last = std::max(last, use);
      }
    }
  }
  size_t LastUse(uint32_t value) const {
    const auto found = last_use_.find(value);
    return found == last_use_.end() ? 0 : found->second;
  }

  Result<void> Load(const Inst& inst) {
    TRY_VOID(OwnIndex(inst));
    const SlotId slot = TRY(SlotOfBuffer(inst));
    Define(inst, {Kind::Element, slot, versions_[slot]});
    return {};
  }

  // Values in the slot that somebody uses from this place on.
  std::vector<uint32_t> Needed(SlotId slot, size_t from) {
    std::vector<uint32_t> needed;
    for (const auto& [value, known] : known_)
      if (known.kind == Kind::Element && known.slot == slot && Unchanged(known) &&
          LastUse(value) >= from)
        needed.push_back(value);
    return needed;
  }

  Result<void> Store(const Inst& inst) {
    TRY_VOID(OwnIndex(inst));
    const SlotId slot = TRY(SlotOfBuffer(inst));
    const ValueId value = function_.operand(inst, 2);
    const Known* known = Find(value);
    if (known == nullptr) return Refuse(inst, "the value is uniform; circuits have no scalars");
    const SlotId home = TRY(InSlot(inst, 2));
    if (home == slot) return {};
    if (const std::vector<uint32_t> needed = Needed(slot, at_ + 1); !needed.empty()) {
      const SlotId kept = TRY(Temporary(at_));
      Emit(Generator::Copy, 0, slot, {}, kept);
      for (uint32_t moved : needed) known_[moved] = {Kind::Element, kept, versions_[kept]};
    }
    Emit(Generator::Copy, 0, home, {}, slot);
    return {};
  }

  // The slot that holds the operand; a constant gets one of its own: scratch starts at zero.
  Result<SlotId> InSlot(const Inst& inst, uint32_t operand) {
    const Known* known = Find(inst, operand);
    if (known == nullptr || (known->kind != Kind::Element && known->kind != Kind::Constant))
      return Refuse(inst, "an operand is uniform or a number; circuits have neither");
    if (known->kind == Kind::Element) {
      if (!Unchanged(*known)) return Refuse(inst, "an operand was overwritten");
      return known->slot;
    }
    const Number number = TRY(NumberOf(inst, operand, known->word));
    const SlotId slot = TRY(Scratch());
    if (number == RealNumber(-0.0)) {
      Emit(Generator::Mark, 0, slot, {}, slot);
    } else if (number != IntegerNumber(0)) {
      Emit(Generator::Merge, V(MergeVariant::Add), slot, {}, slot, number);
    }
    return slot;
  }

  Result<Number> NumberOf(const Inst& inst, uint32_t operand, uint64_t word) const {
    const Type type = function_.type(function_.operand(inst, operand));
    if (type != result_.element) return Refuse(inst, "a constant of another type than the slots'");
    if (!ir::IsFloat(type.scalar)) {
      if (!ir::IsSigned(type.scalar) && word > static_cast<uint64_t>(INT64_MAX))
        return Refuse(inst, "a constant that the language cannot write");
      return IntegerNumber(static_cast<int64_t>(word));
    }
    const std::string text = ir::PrintLiteral(type, std::span(&word, 1));
    if (text.starts_with("bits")) return Refuse(inst, "a NaN with a payload");
    if (text == "nan") return RealNumber(std::bit_cast<double>(uint64_t{0x7ff8000000000000}));
    // The short decimal, if it still means this float when it is read as a double; else the float itself, as a double.
    const Result<std::vector<uint64_t>> wide = ir::ParseLiteral(ir::types::F64, text);
    const double near = wide ? std::bit_cast<double>((*wide)[0]) : 0;
    switch (type.scalar) {
      case ir::Scalar::F64: return RealNumber(std::bit_cast<double>(word));
      case ir::Scalar::F32: {
        const auto exact = std::bit_cast<float>(static_cast<uint32_t>(word));
        const bool same = std::bit_cast<uint32_t>(static_cast<float>(near)) == word;
        return RealNumber(same ? near : static_cast<double>(exact));
      }
      case ir::Scalar::F16:
        return RealNumber(float16::F16::FromDouble(near) == word
                              ? near
                              : float16::F16::ToFloat(static_cast<uint16_t>(word)));
      default:
        return RealNumber(float16::BF16::FromDouble(near) == word
                              ? near
                              : float16::BF16::ToFloat(static_cast<uint16_t>(word)));
    }
  }

  // Where to put a result: the slot that it is stored to, if that is free from here to the store.
  Result<SlotId> PlaceFor(const Inst& inst) {
    const ValueId value = ir::Function::result_of(inst);
    for (size_t k = at_ + 1; k < body_.size(); ++k) {
      const Inst& store = function_.inst(body_[k]);
      if (store.op != Op::Store || function_.operand(store, 2) != value) continue;
      const auto slot = slots_.find(function_.operand(store, 0).index);
      if (slot == slots_.end() || !Needed(slot->second, at_ + 1).empty()) continue;
      bool touched = false;
      for (size_t j = at_ + 1; j < k; ++j) {
        const Inst& between = function_.inst(body_[j]);
        touched |= (between.op == Op::Load || between.op == Op::Store) &&
                   function_.operand(between, 0) == function_.operand(store, 0);
      }
      if (!touched) return slot->second;
    }
    return Temporary(at_ + 1);
  }

  void Placed(const Inst& inst, SlotId slot) {
    Define(inst, {Kind::Element, slot, versions_[slot]});
    if (!in_map_ || !naming_) return;
    made_[*naming_] = {Kind::Element, slot, versions_[slot]};
    kept_.insert(slot);
  }

  // An op by the contents of its operands. What a map has computed into scratch is not computed again by the pass
  // behind it: a softmax of an expression needs both to mean the same slot.
  using Naming = std::vector<uint64_t>;
  std::optional<Naming> NamingOf(const Inst& inst) {
    Naming naming = {static_cast<uint64_t>(inst.op)};
    for (ValueId operand : function_.operands_of(inst)) {
      const Known* known = Find(operand);
      if (known == nullptr || (known->kind != Kind::Element && known->kind != Kind::Constant))
        return std::nullopt;
      naming.insert(naming.end(),
                    {static_cast<uint64_t>(known->kind), known->slot, known->version, known->word});
    }
    return naming;
  }

  // --- ops -----------------------------------------------------------------------------------------------------------
  Result<void> Compute(const Inst& inst) {
    if (inst.op == Op::Const) {
      Define(inst, {Kind::Constant, 0, 0, {}, function_.words_of(inst)[0]});
      return {};
    }
    if (inst.regions.count != 0 || inst.results.count != 1)
      return Refuse(inst, "no generator does this");
    naming_ = NamingOf(inst);
    if (const auto found = naming_ ? made_.find(*naming_) : made_.end();
        found != made_.end() && Unchanged(found->second)) {
      Define(inst, found->second);
      return {};
    }
    if (TRY(PartOfMark(inst)) || TRY(PartOfSoftmax(inst)) || TRY(PartOfHead(inst))) return {};
    for (const Unary& unary : Unaries) {
      if (unary.op != inst.op) continue;
      const SlotId source = TRY(InSlot(inst, 0)), place = TRY(PlaceFor(inst));
      Emit(Generator::Merge, V(unary.variant), source, place, place);
      Placed(inst, place);
      return {};
    }
    if (inst.op == Op::Neg) {  // a * -1, to the bit (rules mul_minus_one, float_mul_minus_one)
      const SlotId source = TRY(InSlot(inst, 0)), place = TRY(PlaceFor(inst));
      if (!ir::IsFloat(inst.type.scalar) && !ir::IsSigned(inst.type.scalar))
        return Refuse(inst, "no generator does this");
      Emit(Generator::Merge, V(MergeVariant::Mul), source, {}, place, IntegerNumber(-1));
      Placed(inst, place);
      return {};
    }
    for (const Binary& binary : Binaries)
      if (binary.op == inst.op) return ComputeBinary(inst, binary);
    return Refuse(inst, "no generator does this");
  }

  Result<void> ComputeBinary(const Inst& inst, const Binary& binary) {
    uint32_t left = 0, right = 1;
    const auto is_constant = [&](uint32_t operand) {
      const Known* known = Find(inst, operand);
      return known != nullptr && known->kind == Kind::Constant;
    };
    if (is_constant(0) && !is_constant(1) && ir::Info(inst.op).law == ir::Law::Commutes)
      std::swap(left, right);
    const SlotId source = TRY(InSlot(inst, left));
    if (is_constant(right)) {
      const Number number = TRY(NumberOf(inst, right, Find(inst, right)->word));
      const SlotId place = TRY(PlaceFor(inst));
      Emit(binary.generator, binary.variant, source, {}, place, number);
      Placed(inst, place);
      return {};
    }
    const SlotId context = TRY(InSlot(inst, right)), place = TRY(PlaceFor(inst));
    Emit(binary.generator, binary.variant, source, context, place);
    Placed(inst, place);
    return {};
  }

  // bitcast, xor with the sign bit, bitcast; of integers just the xor.
  Result<bool> PartOfMark(const Inst& inst) {
    const bool is_float = ir::IsFloat(result_.element.scalar);
    const uint64_t sign = uint64_t{1} << (ir::BitsOf(result_.element) - 1);
    const auto mask = static_cast<uint64_t>(-static_cast<int64_t>(sign)) |
                      sign;  // sign-extended in a signed type
    if (inst.op == Op::Bitcast) {
      const Known* known = Find(inst, 0);
      if (known == nullptr) return Refuse(inst, "no generator does this");
      if (is_float && known->kind == Kind::Element && !ir::IsFloat(inst.type.scalar)) {
        Define(inst,
               {Kind::Bits, known->slot, known->version, {}, 0, function_.operand(inst, 0).index});
        return true;
      }
      if (known->kind != Kind::MarkedBits || inst.type != result_.element)
        return Refuse(inst, "only as part of a mark");
      return Mark(inst, known->value);
    }
    if (inst.op != Op::Xor) return false;
    for (uint32_t k = 0; k < 2; ++k) {
      const Known *bits = Find(inst, k), *flipped = Find(inst, 1 - k);
      if (bits == nullptr || flipped == nullptr || flipped->kind != Kind::Constant) continue;
      if (flipped->word != sign && flipped->word != mask) continue;
      if (bits->kind == Kind::Bits) {
        Define(inst, {Kind::MarkedBits, bits->slot, bits->version, {}, 0, bits->value});
        return true;
      }
      if (!is_float && bits->kind == Kind::Element)
        return Mark(inst, function_.operand(inst, k).index);
    }
    return Refuse(inst, "only the sign bit of an element, as a mark");
  }

  Result<bool> Mark(const Inst& inst, uint32_t value) {
    const Known known = known_.at(value);
    if (!Unchanged(known)) return Refuse(inst, "an operand was overwritten");
    naming_ = Naming{static_cast<uint64_t>(Op::Bitcast), known.slot, known.version};
    if (const auto found = made_.find(*naming_); found != made_.end() && Unchanged(found->second)) {
      Define(inst, found->second);
      return true;
    }
    const SlotId place = TRY(PlaceFor(inst));
    if (place != known.slot) Emit(Generator::Copy, 0, known.slot, {}, place);
    Emit(Generator::Mark, 0, place, {}, place);
    Placed(inst, place);
    return true;
  }

  // (own number == 0 ? reduction : element): the element's slot, and the reduction to it.
  Result<bool> PartOfHead(const Inst& inst) {
    if (inst.op == Op::Eq) {
      const Known *index = Find(inst, 0), *zero = Find(inst, 1);
      if (index != nullptr && zero != nullptr && index->kind == Kind::Constant)
        std::swap(index, zero);
      if (index == nullptr || zero == nullptr || index->kind != Kind::Number ||
          zero->kind != Kind::Constant || zero->word != 0)
        return false;
      Define(inst, {Kind::IsFirst});
      return true;
    }
    if (inst.op != Op::Select) return false;
    const Known *first = Find(inst, 0), *folded = Find(inst, 1);
    if (first == nullptr || folded == nullptr || first->kind != Kind::IsFirst ||
        folded->kind != Kind::Folded)
      return false;
    const Known head = *folded;
    const SlotId rest = TRY(InSlot(inst, 2));
    SlotId place = TRY(PlaceFor(inst));
    if (place == head.slot && place != rest)
      place = TRY(Scratch());  // the copy would overwrite what is reduced
    if (place != rest) Emit(Generator::Copy, 0, rest, {}, place);
    TRY_VOID(EmitReduce(inst, head, place));
    Placed(inst, place);
    return true;
  }

  // sub of the greatest, exp, div by the sum of these.
  Result<bool> PartOfSoftmax(const Inst& inst) {
    const Known* left = inst.operands.count > 0 ? Find(inst, 0) : nullptr;
    const Known* right = inst.operands.count > 1 ? Find(inst, 1) : nullptr;
    if (left == nullptr) return false;
    if (inst.op == Op::Sub && right != nullptr && left->kind == Kind::Element &&
        right->kind == Kind::Folded && right->fold == ir::ReduceKind::Max &&
        right->origin == left->slot && right->origin_version == left->version) {
      Define(inst, {Kind::Shifted, left->slot, left->version});
      return true;
    }
    if (inst.op == Op::Exp && left->kind == Kind::Shifted) {
      Define(inst, {Kind::Power, left->slot, left->version});
      return true;
    }
    if (inst.op != Op::Div || right == nullptr || left->kind != Kind::Power ||
        right->kind != Kind::PowerSum)
      return false;
    if (right->slot != left->slot || right->version != left->version || !Unchanged(*left))
      return false;
    const SlotId source = left->slot, place = TRY(PlaceFor(inst));
    Emit(Generator::Softmax, 0, source, {}, place);
    Placed(inst, place);
    return true;
  }

  const ir::Program& program_;
  const ir::Function& function_;
  std::map<uint32_t, ir::FoldMatch> folds_;  // by value of the result
  std::set<uint32_t> fold_scratch_;          // by value of a buffer
  CircuitText result_;
  std::vector<Operation> operations_;
  std::map<uint32_t, SlotId> slots_;  // by value of a buffer
  std::set<SlotId> taken_;
  std::vector<SlotId> temporaries_;  // scratch of passes
  std::set<SlotId> kept_;            // of these, what is needed beyond its pass
  std::map<SlotId, uint64_t> versions_;
  std::map<uint32_t, Known> known_;
  ValueId extent_;
  size_t top_ = 0;                // place in the function's body
  std::vector<ir::InstId> body_;  // of the pass or map in hand
  size_t at_ = 0;                 // place in it
  std::map<uint32_t, size_t> last_use_;
  bool in_map_ = false;
  std::optional<Naming> naming_;  // of the op in hand
  std::map<Naming, Known> made_;  // by maps
};

}  // namespace

Result<CircuitText> FromProgram(const ir::Program& program) { return Reverse(program).Run(); }

}  // namespace frazil::frontends::circuits
