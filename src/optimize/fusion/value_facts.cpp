#include "optimize/fusion/value_facts.h"

#include <algorithm>

#include "optimize/cost.h"
#include "optimize/fusion/index_maps.h"

namespace frazil::optimize {
namespace {

using namespace ir::names;

// About three plain operations: reading the value from memory is no cheaper.
constexpr double CheapWork = 10;
// Elements that are not neighbors in memory.
constexpr double ApartWork = 8;
constexpr size_t MostLeaves = 64;

class Facts {
 public:
  explicit Facts(const Function& f)
      : f_(f), facts_(f.values.size()), uses_(f.values.size(), 0), sound_(f.param_count()) {
    for (ValueId operand : f.operands) ++uses_[operand.index];
  }

  std::vector<ValueFacts> Run() {
    for (uint32_t i = 0; i < f_.param_count(); ++i)
      if (f_.param_type(i).is_tensor()) NoteSound(f_.param_type(i));
    Walk(f_.body);
    return std::move(facts_);
  }

 private:
  void NoteSound(Type tensor) {
    for (ir::Dim dim : f_.shape(tensor))
      if (dim.is_symbol()) sound_[dim.param()] = true;
  }
  // A size that nobody has looked at may be negative, and whoever makes the first tensor of it traps.
  bool IsSound(Type tensor) const {
    return std::ranges::all_of(
        f_.shape(tensor), [&](ir::Dim dim) { return !dim.is_symbol() || sound_[dim.param()]; });
  }

  void Walk(RegionId region) {
    for (InstId id : f_.region(region).insts) {
      const Inst& inst = f_.inst(id);
      const bool makes_tensor =
          inst.results.count == 1 && f_.type(Function::result_of(inst)).is_tensor();
      if (makes_tensor && HasIndexMap(f_, inst) && IsSound(inst.type) && IsWanted(inst)) {
        Note(inst);
        continue;
      }
      const std::vector<bool> outside = sound_;
      if (inst.op != Op::Map && inst.op != Op::Generate && inst.op != Op::Fold)
        for (uint32_t r = 0; r < inst.regions.count; ++r) {
          Walk(Function::region_of(inst, r));
          sound_ = outside;
        }
      for (uint32_t i = 0; i < inst.results.count; ++i)
        if (const Type type = f_.type(Function::result_of(inst, i)); type.is_tensor())
          NoteSound(type);
    }
  }

  bool IsWanted(const Inst& inst) const {
    // A reshape of what is in memory is another name for it.
    if (inst.op == Op::Reshape) return facts_[f_.operand(inst, 0).index].has_map;
    if (inst.op != Op::Reduce) return true;
    const ir::Shape& shape = f_.shape(f_.type(f_.operand(inst, 0)));
    const auto after = shape.begin() + f_.word(inst, 1) + 1;
    const bool is_inner =
        std::all_of(after, shape.end(), [](ir::Dim dim) { return dim == ir::Dim::Constant(1); });
    // Along other axes targets fold down columns, in one chain (ir/lower/column_folds.h); alone it is better off as it is.
    return is_inner || (facts_[f_.operand(inst, 0).index].has_map && f_.word(inst, 2) == 1);
  }

  double RegionWork(RegionId region) const {
    double work = 0;
    for (InstId id : f_.region(region).insts) {
      const Inst& inst = f_.inst(id);
      work += inst.regions.count == 0 ? OpCost(inst.op, inst.type) : 2;
      for (uint32_t r = 0; r < inst.regions.count; ++r)
        work += RegionWork(Function::region_of(inst, r));
    }
    return work;
  }

  // Does the operand's innermost axis stay the innermost one?
  bool KeepsNeighbors(const Inst& inst) const {
    const auto last = static_cast<int64_t>(inst.attributes.count) - 1;
    return last < 0 || f_.word(inst, static_cast<uint32_t>(last)) == last;
  }

  bool Spreads(const Inst& inst) const {
    if (inst.op != Op::Broadcast) return false;
    const auto long_axes = [&](Type type) {
      return std::ranges::count_if(f_.shape(type),
                                   [](ir::Dim dim) { return dim != ir::Dim::Constant(1); });
    };
    return long_axes(inst.type) > long_axes(f_.type(f_.operand(inst, 0)));
  }

  void Note(const Inst& inst) {
    ValueFacts& facts = facts_[Function::result_of(inst).index];
    facts.has_map = true;
    switch (inst.op) {
      case Op::Map: facts.own = RegionWork(Function::region_of(inst, 0)); break;
      case Op::Reduce: facts.has_fold = facts.is_folded = facts.is_dear = true; break;
      case Op::TensorUniform:
      case Op::TensorNormal: facts.own = OpCost(Op::RandomUniform, inst.type.element()); break;
      case Op::Transpose: facts.own = KeepsNeighbors(inst) ? 0 : ApartWork; break;
      default: break;
    }
    facts.total = facts.own;
    for (ValueId operand : f_.operands_of(inst)) {
      if (!f_.type(operand).is_tensor()) continue;
      const ValueFacts& part = facts_[operand.index];
      if (!part.has_map) {
        facts.leaves.insert(operand.index);
        continue;
      }
      // What is spread over more elements is made before, if it is dear: whoever reads it twice makes it once.
      if (!Spreads(inst)) {
        facts.total = std::min(1e9, facts.total + part.total);
        facts.is_dear |= part.is_dear;
        // What others want, too, will be in memory.
        facts.is_folded |= part.is_folded && inst.op != Op::Reduce && uses_[operand.index] == 1;
      }
      facts.has_fold |= part.has_fold;
      if (facts.leaves.size() < MostLeaves)
        facts.leaves.insert(part.leaves.begin(), part.leaves.end());
    }
    facts.is_dear |= facts.total > CheapWork;
  }

  const Function& f_;
  std::vector<ValueFacts> facts_;
  std::vector<uint32_t> uses_;  // by value
  std::vector<bool> sound_;
};

}  // namespace

std::vector<ValueFacts> CollectFacts(const Function& function) { return Facts(function).Run(); }

}  // namespace frazil::optimize
