#include "optimize/fusion/reshapes.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "optimize/fusion/index_maps.h"

namespace frazil::optimize {
namespace {

using namespace ir::names;
using ir::Dim;
using ir::Shape;
using ir::Values;

constexpr size_t MostLifted = 200;

class ReshapeLift : public PassCloner {
 public:
  explicit ReshapeLift(const PassInput& input)
      : PassCloner(input), users_(source_.values.size()), lifted_(source_.values.size(), false) {
    for (uint32_t i = 0; i < source_.insts.size(); ++i)
      for (ValueId operand : source_.operands_of(source_.insts[i])) users_[operand.index].insert(i);
  }

  Result<void> Run() {
    for (const Inst& inst : source_.insts)
      if (IsFree(inst) && !HasIndexMap(source_, inst)) TryLift(inst);
    return CopyBody();
  }

 private:
  // A reshape whose sizes fit, whatever the symbols are.
  bool IsFree(const Inst& inst) const {
    if (inst.op != Op::Reshape) return false;
    const auto factors = [&](Type type) {
      int64_t constants = 1;
      std::vector<int64_t> symbols;
      for (Dim dim : source_.shape(type)) {
        if (dim.is_symbol())
          symbols.push_back(dim.value);
        else if (__builtin_mul_overflow(constants, dim.value, &constants))
          constants = -1;
      }
      std::ranges::sort(symbols);
      return std::pair(constants, symbols);
    };
    const auto from = factors(source_.type(source_.operand(inst, 0)));
    return from.first > 0 && from == factors(inst.type);
  }

  // All that is between it and memory, if that is maps, and nobody else wants any of them in another shape.
  void TryLift(const Inst& reshape) {
    std::set<uint32_t> found;
    if (!Collect(source_.operand(reshape, 0), found)) return;
    for (uint32_t value : found)
      for (uint32_t user : users_[value]) {
        const Inst& inst = source_.insts[user];
        const bool is_inside =
            inst.results.count == 1 && found.contains(Function::result_of(inst).index);
        if (!is_inside && !(IsFree(inst) && inst.type.shape == reshape.type.shape)) return;
      }
    for (uint32_t value : found) {
      lifted_[value] = true;
      shapes_[value] = reshape.type.shape;
    }
  }

  bool Collect(ValueId value, std::set<uint32_t>& found) const {
    const InstId def = source_.values[value.index].def;
    if (lifted_[value.index] || found.size() > MostLifted) return false;
    if (!def.valid()) return true;
    const Inst& inst = source_.inst(def);
    // In memory, or another name for what is there.
    if (inst.op == Op::Reshape || !HasIndexMap(source_, inst)) return true;
    const bool is_fill =
        inst.op == Op::Broadcast && !source_.type(source_.operand(inst, 0)).is_tensor();
    if (inst.op != Op::Map && !is_fill && inst.op != Op::TensorUniform &&
        inst.op != Op::TensorNormal)
      return false;
    if (!found.insert(value.index).second || inst.op != Op::Map) return true;
    for (ValueId operand : source_.operands_of(inst))
      if (!Collect(operand, found)) return false;
    return true;
  }

  Result<void> Visit(const Inst& inst) override {
    if (inst.op == Op::Reshape && lifted_[source_.operand(inst, 0).index]) {
      Bind(Function::result_of(inst), Get(source_.operand(inst, 0)));
      return {};
    }
    if (inst.results.count != 1 || !lifted_[Function::result_of(inst).index]) return CopyInst(inst);
    changed_ = true;
    const ValueId result = Function::result_of(inst);
    const Type type = Type::Tensor(inst.type.element(), shapes_[result.index]);
    if (inst.op != Op::Map) {
      Bind(result, builder_.Emit(inst.op, type, GetAll(source_.operands_of(inst)),
                                 std::span(&type, 1), source_.words_of(inst))[0]);
      return {};
    }
    Values operands;
    for (ValueId operand : source_.operands_of(inst)) {
      operands.push_back(Get(operand));
      if (lifted_[operand.index]) continue;
      const Type to = Type::Tensor(source_.type(operand).element(), type.shape);
      operands.back() = builder_.Emit1(Op::Reshape, to, {operands.back()}, to);
    }
    const InstId id = builder_.Begin(Op::Map, type, operands, std::span(&type, 1), {}, 1);
    Bind(result, Function::result_of(builder_.function().inst(id)));
    return CopyRegionInto(id, 0, Function::region_of(inst, 0));
  }

  std::vector<std::set<uint32_t>> users_;  // by value: instructions
  std::vector<bool> lifted_;
  std::map<uint32_t, uint32_t> shapes_;
};

}  // namespace

Result<bool> LiftReshapes(Unit& unit) { return RunPass<ReshapeLift>(unit); }

}  // namespace frazil::optimize
