// Canonical form. An instruction is *anchored* if it has an effect, can trap or owns regions: anchored ones
// keep their order. All others float: they are placed, within their region, just before the first
// anchored instruction that needs them, operands first; so two texts that differ only in the order of
// independent arithmetic meet. No folding, no common subexpressions: that is optimization, and has to
// be proved. Covered by digest_test.cpp.
#include <algorithm>
#include <unordered_map>

#include "base/check.h"
#include "ir/builder.h"
#include "ir/check/attributes.h"
#include "ir/digest.h"

namespace frazil::ir {
namespace {

uint64_t Mix(uint64_t seed, uint64_t value) {
  uint64_t h = (seed ^ value) * 0x9e3779b97f4a7c15;
  h ^= h >> 32;
  return h * 0xd6e8feb86659fd93 ^ (h >> 29);
}

class FunctionCanonicalizer {
 public:
  explicit FunctionCanonicalizer(const Function& function)
      : from_(function),
        live_(function.values.size(), false),
        kept_(function.insts.size(), false),
        emitted_(function.values.size()),
        hash_(function.values.size(), 0),
        home_(function.insts.size()),
        looked_through_(function.insts.size()) {}

  // The function without names; `calls` and `tables` receive what it uses, in order of first use.
  Function Run(std::vector<FuncId>& calls, std::vector<DataId>& tables) {
    MarkRegion(from_.body);
    uint64_t ordinal = 0;
    HashRegion(from_.body, ordinal);
    Program scratch;
    FunctionBuilder builder(scratch, "", {}, {});
    builder_ = &builder;
    calls_ = &calls;
    tables_ = &tables;
    const Region& body = from_.region(from_.body);
    for (uint32_t i = 0; i < body.params.count; ++i) {
      ValueId param = Function::param_of(body, i);
      emitted_[param.index] = builder.AddParam(NewType(from_.type(param)));
    }
    std::vector<Type> results;
    for (Type type : from_.results) results.push_back(NewType(type));
    builder.SetResults(results);
    EmitRegion(from_.body);
    builder.function().is_prelude = from_.is_prelude;
    return std::move(builder.function());
  }

 private:
  static bool IsAnchored(const Inst& inst) {
    return inst.regions.count != 0 || !IsRemovable(Info(inst.op));
  }

  // A branch whose arms only float is dead when its results are; loops are kept, since they take fuel.
  bool IsRemovableBranch(const Inst& inst) const {
    if (inst.op != Op::If && inst.op != Op::Switch && inst.op != Op::Map && inst.op != Op::Generate)
      return false;
    for (uint32_t i = 0; i < inst.regions.count; ++i)
      for (InstId id : from_.region(Function::region_of(inst, i)).insts) {
        const Inst& inner = from_.inst(id);
        if (inner.op != Op::Yield && IsAnchored(inner) && !IsRemovableBranch(inner)) return false;
      }
    return true;
  }

  // Backwards, so that every use is seen before its definition.
  void MarkRegion(RegionId id) {
    const Region& region = from_.region(id);
    for (size_t i = region.insts.size(); i-- > 0;) {
      InstId inst_id = region.insts[i];
      const Inst& inst = from_.inst(inst_id);
      home_[inst_id.index] = id;
      bool needed = false;
      for (uint32_t r = 0; r < inst.results.count; ++r) needed |= live_[inst.results.begin + r];
      if (!needed && (!IsAnchored(inst) || IsRemovableBranch(inst))) continue;
      kept_[inst_id.index] = true;
      for (uint32_t r = inst.regions.count; r-- > 0;) MarkRegion(Function::region_of(inst, r));
      for (ValueId operand : from_.operands_of(inst)) live_[operand.index] = true;
    }
  }

  uint64_t HashType(Type type) const {
    uint64_t h = static_cast<uint64_t>(type.scalar) | static_cast<uint64_t>(type.form) << 8 |
                 static_cast<uint64_t>(type.access) << 16 | static_cast<uint64_t>(type.limbs) << 24;
    if (type.is_tensor())
      for (Dim dim : from_.shape(type)) h = Mix(h, static_cast<uint64_t>(dim.value));
    return h;
  }

  // Structure of each value, independent of where floating instructions stand. Anchored instructions and
  // parameters are known by their ordinal.
  void HashRegion(RegionId id, uint64_t& ordinal) {
    const Region& region = from_.region(id);
    for (uint32_t i = 0; i < region.params.count; ++i)
      hash_[region.params.begin + i] = Mix(1, ++ordinal);
    for (InstId inst_id : region.insts) {
      if (!kept_[inst_id.index]) continue;
      const Inst& inst = from_.inst(inst_id);
      if (!IsAnchored(inst)) {
        hash_[inst.results.begin] = HashFloating(inst);
        continue;
      }
      uint64_t self = Mix(2, ++ordinal);
      for (uint32_t r = 0; r < inst.results.count; ++r)
        hash_[inst.results.begin + r] = Mix(self, r);
      for (uint32_t r = 0; r < inst.regions.count; ++r)
        HashRegion(Function::region_of(inst, r), ordinal);
    }
  }

  uint64_t HashFloating(const Inst& inst) const {
    uint64_t h = Mix(Mix(3, static_cast<uint64_t>(inst.op)), HashType(inst.type));
    for (uint64_t word : from_.words_of(inst)) h = Mix(h, word);
    const Sorted operands = SortedOperands(inst);
    for (size_t i = 0; i < operands.size(); ++i) h = Mix(h, hash_[operands[i].index]);
    return h;
  }

  // Operands of a commuting op by structure; equals (copies of one expression) by who was emitted first.
  struct Sorted {
    std::span<const ValueId> operands;
    bool swapped = false;  // the two that there are
    size_t size() const { return operands.size(); }
    ValueId operator[](size_t i) const { return operands[swapped ? i ^ 1 : i]; }
  };
  Sorted SortedOperands(const Inst& inst) const {
    Sorted sorted{from_.operands_of(inst)};
    if (Info(inst.op).law != Law::Commutes) return sorted;
    auto key = [&](ValueId v) { return std::pair(hash_[v.index], emitted_[v.index].index); };
    sorted.swapped = key(sorted.operands[1]) < key(sorted.operands[0]);
    return sorted;
  }

  Type NewType(Type type) {
    if (type.is_tensor()) type.shape = builder_->AddShape(from_.shape(type));
    return type;
  }

  // `nested` may use this region's values although it does not stand in it: the body of a while, whose
  // test this region is.
  void EmitRegion(RegionId id, const Region* nested = nullptr) {
    for (InstId inst_id : from_.region(id).insts) {
      const Inst& inst = from_.inst(inst_id);
      if (!kept_[inst_id.index] || !IsAnchored(inst)) continue;
      EmitFloatingFor(inst, id);
      if (nested != nullptr && inst.op == Op::Condition) EmitFloatingForAll(*nested, id);
      EmitAnchored(inst);
    }
  }

  // Emits what `inst`, or anything nested in it, needs of the floating instructions of `region`. Nested
  // floating instructions are looked through from the anchored ones that need them, never in the order
  // they happen to stand in: that order is what canonical form takes away.
  void EmitFloatingFor(const Inst& inst, RegionId region) {
    const Sorted operands = SortedOperands(inst);
    for (size_t i = 0; i < operands.size(); ++i) EmitNeeded(operands[i], region);
    for (uint32_t r = 0; r < inst.regions.count; ++r)
      EmitFloatingForAll(from_.region(Function::region_of(inst, r)), region);
  }

  void EmitFloatingForAll(const Region& needs, RegionId region) {
    for (InstId id : needs.insts)
      if (kept_[id.index] && IsAnchored(from_.inst(id))) EmitFloatingFor(from_.inst(id), region);
  }

  void EmitNeeded(ValueId root, RegionId region) {
    Values& stack = needed_;
    stack.assign(1, root);
    while (!stack.empty()) {
      ValueId value = stack.back();
      stack.pop_back();
      InstId def = from_.values[value.index].def;
      if (emitted_[value.index].valid() || !def.valid() || IsAnchored(from_.inst(def))) continue;
      if (home_[def.index] == region) {
        EmitValue(value, region);
      } else if (looked_through_[def.index] != region) {
        looked_through_[def.index] = region;
        const Sorted operands = SortedOperands(from_.inst(def));
        for (size_t i = operands.size(); i-- > 0;) stack.push_back(operands[i]);
      }
    }
  }

  void EmitValue(ValueId root, RegionId region) {
    Values& stack = to_emit_;
    stack.assign(1, root);
    while (!stack.empty()) {
      ValueId value = stack.back();
      InstId def = from_.values[value.index].def;
      if (emitted_[value.index].valid() || !def.valid() || home_[def.index] != region ||
          IsAnchored(from_.inst(def))) {
        stack.pop_back();
        continue;
      }
      const Inst& inst = from_.inst(def);
      const Sorted operands = SortedOperands(inst);
      bool ready = true;
      for (size_t i = operands.size(); i-- > 0;) {
        if (emitted_[operands[i].index].valid()) continue;
        InstId operand_def = from_.values[operands[i].index].def;
        CHECK(operand_def.valid() && home_[operand_def.index] == region);
        stack.push_back(operands[i]);
        ready = false;
      }
      if (!ready) continue;
      stack.pop_back();
      Emit(inst);
    }
  }

  InstId Emit(const Inst& inst) {
    const Sorted sorted = SortedOperands(inst);
    Values& operands = new_operands_;
    operands.clear();
    for (size_t i = 0; i < sorted.size(); ++i) {
      CHECK(emitted_[sorted[i].index].valid());
      operands.push_back(emitted_[sorted[i].index]);
    }
    std::vector<Type>& results = new_results_;
    results.clear();
    for (uint32_t r = 0; r < inst.results.count; ++r)
      results.push_back(NewType(from_.type(Function::result_of(inst, r))));
    std::span<const uint64_t> old_words = from_.words_of(inst);
    std::vector<uint64_t>& words = new_words_;
    words.assign(old_words.begin(), old_words.end());
    if (inst.op == Op::Call) words[0] = Ordinal(*calls_, FuncId(static_cast<uint32_t>(words[0])));
    if (NamesTable(inst.op)) words[0] = Ordinal(*tables_, DataId(static_cast<uint32_t>(words[0])));
    builder_->SetLocation(inst.location);
    InstId id =
        builder_->Begin(inst.op, NewType(inst.type), operands, results, words, inst.regions.count);
    builder_->StandFor(inst.source_op);
    for (uint32_t r = 0; r < inst.results.count; ++r)
      emitted_[inst.results.begin + r] = Function::result_of(builder_->function().inst(id), r);
    return id;
  }

  template <typename IdType>
  static uint64_t Ordinal(std::vector<IdType>& used, IdType id) {
    auto found = std::find(used.begin(), used.end(), id);
    if (found == used.end()) found = used.insert(used.end(), id);
    return static_cast<uint64_t>(found - used.begin());
  }

  void EmitAnchored(const Inst& inst) {
    InstId id = Emit(inst);
    for (uint32_t r = 0; r < inst.regions.count; ++r) {
      const Region& region = from_.region(Function::region_of(inst, r));
      std::vector<Type> params;
      for (uint32_t i = 0; i < region.params.count; ++i)
        params.push_back(NewType(from_.type(Function::param_of(region, i))));
      Values values = builder_->BeginRegion(id, r, params);
      for (uint32_t i = 0; i < values.size(); ++i) emitted_[region.params.begin + i] = values[i];
      bool test = inst.op == Op::While && r == 0;
      EmitRegion(Function::region_of(inst, r),
                 test ? &from_.region(Function::region_of(inst, 1)) : nullptr);
      builder_->EndRegion();
    }
  }

  const Function& from_;
  std::vector<bool> live_;
  std::vector<bool> kept_;
  std::vector<ValueId> emitted_;
  std::vector<uint64_t> hash_;
  std::vector<RegionId> home_;
  std::vector<RegionId> looked_through_;  // the region that this was last looked through for
  // Room of single steps, kept from one to the next.
  Values needed_, to_emit_, new_operands_;
  std::vector<Type> new_results_;
  std::vector<uint64_t> new_words_;
  FunctionBuilder* builder_ = nullptr;
  std::vector<FuncId>* calls_ = nullptr;
  std::vector<DataId>* tables_ = nullptr;
};

}  // namespace

Program Canonicalize(const Program& program) {
  std::vector<FuncId> functions = {program.entry};
  std::vector<DataId> tables;
  Program canonical;
  for (size_t i = 0; i < functions.size(); ++i) {
    const Function& source = program.functions[functions[i].index];
    canonical.functions.push_back(FunctionCanonicalizer(source).Run(functions, tables));
    std::string& name = canonical.functions.back().name;
    name = i == 0 ? "main" : "f" + std::to_string(i);
    if (source.is_prelude) name = source.name;
  }
  for (size_t i = 0; i < tables.size(); ++i) {
    canonical.data.push_back(program.data[tables[i].index]);
    canonical.data.back().name = "d" + std::to_string(i);
  }
  return canonical;
}

}  // namespace frazil::ir
