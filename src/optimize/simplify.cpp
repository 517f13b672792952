// One walk in order of dominance. Values that were made before, in this region or one around it, are found again by
// op, type, attributes and operands; a trapping op is shared too, since the first of two equal ones decides for both.
// Loads carry the state of the memory they read in their key: a write that may reach it changes the state. Parameters
// may all be one buffer; scratch is itself only.
#include "optimize/simplify.h"

#include <algorithm>
#include <unordered_map>

#include "optimize/fold.h"

namespace frazil::optimize {
namespace {

using namespace ir::names;

using Key = std::vector<uint64_t>;
struct KeyHash {
  size_t operator()(const Key& key) const {
    uint64_t h = key.size();
    for (uint64_t word : key) h = (h ^ word) * 0x9e3779b97f4a7c15ull, h ^= h >> 29;
    return h;
  }
};

uint64_t TypeWord(ir::Type type) {
  return static_cast<uint64_t>(type.scalar) | static_cast<uint64_t>(type.form) << 8 |
         static_cast<uint64_t>(type.limbs) << 16 | static_cast<uint64_t>(type.shape) << 24;
}

class Simplifier : public PassCloner {
 public:
  Simplifier(const PassInput& input, const SimplifyOptions& options)
      : PassCloner(input), options_(options) {}
  Result<void> Run() { return CopyBody(); }

 private:
  Result<void> Visit(const Inst& inst) override {
    switch (inst.op) {
      case Op::If: return VisitIf(inst);
      case Op::Switch: return VisitSwitch(inst);
      case Op::For: return VisitFor(inst);
      case Op::Parallel:
      case Op::While:
      case Op::Map:
      case Op::Generate:
      case Op::Fold: return VisitLoop(inst);
      case Op::Load: return VisitLoad(inst);
      case Op::Store: return VisitStore(inst);
      case Op::Assert:
        if (options_.branches && IsConstant(Get(source_.operand(inst, 0))) &&
            ConstantWords(Get(source_.operand(inst, 0)))[0] != 0)
          return Drop();
        return CopyInst(inst);
      case Op::Barrier:
        // A value that lives across phases costs a place in memory for every lane: it is made again instead.
        for (size_t& start : open_) start = std::min(start, parallel_scope_);
        Forget(parallel_scope_);
        [[fallthrough]];
      case Op::Call:
      case Op::Tasm: NewMemory(); return CopyInst(inst);
      case Op::AtomicRmw:
      case Op::AtomicCas:
      case Op::TensorStore: Write(Get(source_.operand(inst, 0))); return CopyInst(inst);
      default: break;
    }
    if (ir::Info(inst.op).effect == ir::Effect::Pure && inst.results.count == 1)
      return VisitPure(inst);
    return CopyInst(inst);
  }

  Result<void> Drop() {
    changed_ = true;
    return {};
  }
  Result<void> Replace(const Inst& inst, ValueId by) {
    Bind(Function::result_of(inst), by);
    return Drop();
  }

  // --- pure values ------------------------------------------------------------------------------------------
  Result<void> VisitPure(const Inst& inst) {
    if (std::optional<std::vector<uint64_t>> words = Folded(inst)) {
      ir::Type type = source_.type(Function::result_of(inst));
      changed_ = true;
      return Share(ConstantKey(type, *words), inst, [&]() -> Result<void> {
        Bind(Function::result_of(inst), builder_.Const(type, *words));
        return {};
      });
    }
    return Share(KeyOf(inst), inst, [&] { return CopyInst(inst); });
  }

  template <typename Make>
  Result<void> Share(Key key, const Inst& inst, const Make& make) {
    if (auto found = known_.find(key); found != known_.end()) return Replace(inst, found->second);
    TRY_VOID(make());
    Remember(std::move(key), Get(Function::result_of(inst)));
    return {};
  }

  std::optional<std::vector<uint64_t>> Folded(const Inst& inst) const {
    if (inst.op == Op::Const) return std::nullopt;
    std::vector<FoldOperand> operands;
    for (ValueId operand : source_.operands_of(inst)) {
      ValueId value = Get(operand);
      if (!IsConstant(value)) return std::nullopt;
      operands.push_back({source_.type(operand), ConstantWords(value)});
    }
    if (inst.op == Op::Lookup && options_.tables) {
      const ir::Data& table = program_.data[static_cast<size_t>(source_.word(inst, 0))];
      const uint64_t index = operands[0].words[0], width = ir::WordsOf(table.element);
      if (index >= table.length()) return std::nullopt;
      auto first = table.words.begin() + static_cast<ptrdiff_t>(index * width);
      return std::vector<uint64_t>(first, first + static_cast<ptrdiff_t>(width));
    }
    if (operands.empty()) return std::nullopt;
    return Fold(inst.op, inst.type, source_.type(Function::result_of(inst)), source_.words_of(inst),
                operands);
  }

  static Key ConstantKey(ir::Type type, std::span<const uint64_t> words) {
    Key key = {static_cast<uint64_t>(Op::Const), TypeWord(type), TypeWord(type)};
    key.insert(key.end(), words.begin(), words.end());
    return key;
  }

  Key KeyOf(const Inst& inst) const {
    Key key = {static_cast<uint64_t>(inst.op), TypeWord(inst.type),
               TypeWord(source_.type(Function::result_of(inst)))};
    std::span<const uint64_t> words = source_.words_of(inst);
    key.insert(key.end(), words.begin(), words.end());
    std::span<const ValueId> operands = source_.operands_of(inst);
    for (ValueId operand : operands) key.push_back(Get(operand).index);
    if (ir::Info(inst.op).law == ir::Law::Commutes && key[key.size() - 2] > key.back())
      std::swap(key[key.size() - 2], key.back());
    return key;
  }

  void Remember(Key key, ValueId value) {
    known_.insert_or_assign(key, value);
    scope_.push_back(std::move(key));
  }

  // --- memory -------------------------------------------------------------------------------------------------
  bool IsScratch(ValueId buffer) const {
    const Inst* def = NewDefinition(buffer);
    return def != nullptr && def->op == Op::Alloc;
  }

  uint64_t StateOf(ValueId buffer) const {
    if (!IsScratch(buffer)) return parameters_state_;
    auto found = scratch_state_.find(buffer.index);
    return std::max(found == scratch_state_.end() ? 0 : found->second, scratch_floor_);
  }

  void Write(ValueId buffer) {
    if (IsScratch(buffer))
      scratch_state_[buffer.index] = ++states_;
    else
      parameters_state_ = ++states_;
  }

  void NewMemory() { parameters_state_ = scratch_floor_ = ++states_; }

  Key LoadKey(ir::Type element, ValueId buffer, ValueId index) const {
    return {static_cast<uint64_t>(Op::Load), TypeWord(element), StateOf(buffer), buffer.index,
            index.index};
  }

  Result<void> VisitLoad(const Inst& inst) {
    if (!options_.loads) return CopyInst(inst);
    Key key = LoadKey(inst.type, Get(source_.operand(inst, 0)), Get(source_.operand(inst, 1)));
    return Share(std::move(key), inst, [&] { return CopyInst(inst); });
  }

  Result<void> VisitStore(const Inst& inst) {
    ValueId buffer = Get(source_.operand(inst, 0));
    TRY_VOID(CopyInst(inst));
    Write(buffer);
    if (options_.loads)
      Remember(LoadKey(inst.type, buffer, Get(source_.operand(inst, 1))),
               Get(source_.operand(inst, 2)));
    return {};
  }

  bool Writes(const Inst& inst) const {
    if (inst.op == Op::Call || inst.op == Op::Barrier || inst.op == Op::Tasm) return true;
    if (ir::Info(inst.op).effect == ir::Effect::Writes && inst.op != Op::Alloc) return true;
    for (uint32_t r = 0; r < inst.regions.count; ++r)
      for (ir::InstId id : source_.region(Function::region_of(inst, r)).insts)
        if (Writes(source_.inst(id))) return true;
    return false;
  }

  // --- regions --------------------------------------------------------------------------------------------------
  Result<void> CopyScoped(ir::InstId id, uint32_t index, RegionId region) {
    open_.push_back(scope_.size());
    TRY_VOID(CopyRegionInto(id, index, region));
    Close();
    return {};
  }
  void Close() {
    Forget(open_.back());
    open_.pop_back();
  }
  void Forget(size_t down_to) {
    for (; scope_.size() > down_to; scope_.pop_back()) known_.erase(scope_.back());
  }

  // Does the region own something whose life ends with it, or a barrier, whose phases follow the structure?
  bool MustStay(RegionId region) const {
    for (ir::InstId id : source_.region(region).insts) {
      const Inst& inst = source_.inst(id);
      if (inst.op == Op::Alloc || HasBarrier(inst)) return true;
    }
    return false;
  }
  bool HasBarrier(const Inst& inst) const {
    if (inst.op == Op::Barrier) return true;
    for (uint32_t r = 0; r < inst.regions.count; ++r)
      for (ir::InstId id : source_.region(Function::region_of(inst, r)).insts)
        if (HasBarrier(source_.inst(id))) return true;
    return false;
  }

  // Puts a region's instructions here in the place of the instruction that owns it.
  Result<void> Splice(const Inst& inst, RegionId region) {
    changed_ = true;
    std::span<const ir::InstId> insts = source_.region(region).insts;
    TRY_VOID(CopyInsts(insts.first(insts.size() - 1)));
    const Inst& yield = source_.inst(insts.back());
    for (uint32_t i = 0; i < inst.results.count; ++i)
      Bind(Function::result_of(inst, i), Get(source_.operand(yield, i)));
    return {};
  }

  Result<void> VisitIf(const Inst& inst) {
    ValueId condition = Get(source_.operand(inst, 0));
    if (options_.branches && IsConstant(condition) && !HasBarrier(inst)) {
      RegionId taken = Function::region_of(inst, ConstantWords(condition)[0] != 0 ? 0 : 1);
      if (!MustStay(taken)) return Splice(inst, taken);
    }
    return VisitBranches(inst);
  }

  Result<void> VisitSwitch(const Inst& inst) {
    ValueId selector = Get(source_.operand(inst, 0));
    if (options_.branches && IsConstant(selector) && !HasBarrier(inst)) {
      std::span<const uint64_t> cases = source_.words_of(inst);
      auto found = std::find(cases.begin(), cases.end(), ConstantWords(selector)[0]);
      RegionId taken = Function::region_of(inst, static_cast<uint32_t>(found - cases.begin()));
      if (!MustStay(taken)) return Splice(inst, taken);
    }
    return VisitBranches(inst);
  }

  // Each arm starts from the memory before the branch; what follows knows neither.
  Result<void> VisitBranches(const Inst& inst) {
    const uint64_t parameters = parameters_state_, floor = scratch_floor_;
    const std::unordered_map<uint32_t, uint64_t> scratch = scratch_state_;
    TRY_VOID(CopyWithRegions(inst, [&](ir::InstId id, uint32_t r) -> Result<void> {
      parameters_state_ = parameters, scratch_floor_ = floor, scratch_state_ = scratch;
      return CopyScoped(id, r, Function::region_of(inst, r));
    }));
    parameters_state_ = parameters, scratch_floor_ = floor, scratch_state_ = scratch;
    if (Writes(inst)) NewMemory();
    return {};
  }

  Result<void> VisitFor(const Inst& inst) {
    ValueId lo = Get(source_.operand(inst, 0)), hi = Get(source_.operand(inst, 1));
    bool known = IsConstant(lo) && IsConstant(hi);
    if (options_.branches && known && !HasBarrier(inst)) {
      const uint64_t a = ConstantWords(lo)[0], b = ConstantWords(hi)[0];
      const bool is_signed = ir::IsSigned(source_.type(source_.operand(inst, 0)).scalar);
      if (is_signed ? static_cast<int64_t>(a) >= static_cast<int64_t>(b) : a >= b) {
        for (uint32_t i = 0; i < inst.results.count; ++i)
          Bind(Function::result_of(inst, i), Get(source_.operand(inst, 2 + i)));
        return Drop();
      }
    }
    return VisitLoop(inst);
  }

  // A turn may follow any other turn: what a loop writes is unknown from its start on.
  Result<void> VisitLoop(const Inst& inst) {
    const bool writes = Writes(inst);
    if (writes) NewMemory();
    open_.push_back(scope_.size());
    const size_t around = parallel_scope_;
    if (inst.op == Op::Parallel) parallel_scope_ = scope_.size();
    TRY_VOID(CopyWithRegions(inst, [&](ir::InstId id, uint32_t r) -> Result<void> {
      return CopyRegionInto(id, r, Function::region_of(inst, r));
    }));
    parallel_scope_ = around;
    Close();
    if (writes) NewMemory();
    return {};
  }

  const SimplifyOptions options_;
  std::unordered_map<Key, ValueId, KeyHash> known_;
  std::vector<Key> scope_;  // keys in the order in which they became known
  std::unordered_map<uint32_t, uint64_t> scratch_state_;
  uint64_t parameters_state_ = 0, scratch_floor_ = 0, states_ = 0;
  std::vector<size_t> open_;   // where in it the open regions start
  size_t parallel_scope_ = 0;  // what the parallel around knew on entry
};

}  // namespace

Result<bool> Simplify(Unit& unit, const SimplifyOptions& options) {
  return RunPass<Simplifier>(unit, options);
}

}  // namespace frazil::optimize
