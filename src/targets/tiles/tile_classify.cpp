// One pass forward; the values that a loop carries start as what comes in and only move towards "varying", so that going
// over a loop again ends.
#include "targets/tiles/tile_classify.h"

#include "exec/meaning/scalar_ops.h"

namespace frazil::targets::tiles {
namespace {

using namespace ir::names;
using Kind = LaneClass::Kind;

bool IsWord64(Scalar s) { return s == Scalar::Index || s == Scalar::I64 || s == Scalar::U64; }

LaneClass Affine(int64_t stride) {
  return stride == 0 ? LaneClass{} : LaneClass{Kind::Affine, stride};
}

LaneClass Join(LaneClass a, LaneClass b) { return a == b ? a : LaneClass{Kind::Varying}; }

int64_t Wrap(uint64_t bits) { return static_cast<int64_t>(bits); }

class Pass {
 public:
  Pass(const ir::Function& function, std::vector<LaneClass>& classes)
      : function_(function), classes_(classes) {}

  void Region(ir::RegionId id) {
    for (ir::InstId inst : function_.region(id).insts) Visit(function_.inst(inst));
  }

 private:
  LaneClass& Of(ir::ValueId value) { return classes_[value.index]; }

  bool AllUniform(const ir::Inst& inst) {
    for (ir::ValueId operand : function_.operands_of(inst))
      if (!Of(operand).uniform()) return false;
    return true;
  }

  void SetResults(const ir::Inst& inst, LaneClass lane_class) {
    for (uint32_t i = 0; i < inst.results.count; ++i) Of(Function::result_of(inst, i)) = lane_class;
  }

  // Strides of 64-bit integer arithmetic, which is exact modulo 2^64.
  LaneClass Arithmetic(const ir::Inst& inst) {
    if (AllUniform(inst)) return {};
    const Scalar type = inst.type.scalar;
    const auto operands = function_.operands_of(inst);
    for (ir::ValueId operand : operands)
      if (Of(operand).varying() || !IsWord64(function_.type(operand).scalar))
        return {Kind::Varying};
    if (!IsWord64(type)) return {Kind::Varying};
    const uint64_t first = static_cast<uint64_t>(Of(operands[0]).stride);
    if (inst.op == Op::Cast || inst.op == Op::Bitcast) return Affine(Wrap(first));
    if (inst.op == Op::Mul) {
      for (int i = 0; i < 2; ++i) {
        const ir::InstId def = function_.values[operands[i].index].def;
        if (!def.valid() || function_.inst(def).op != Op::Const) continue;
        const uint64_t factor = function_.words_of(function_.inst(def))[0];
        return Affine(Wrap(factor * static_cast<uint64_t>(Of(operands[1 - i]).stride)));
      }
      return {Kind::Varying};
    }
    switch (inst.op) {
      // A sum or difference: of the strides too.
      FRAZIL_CASES(Ring) {
        const uint64_t second =
            operands.size() > 1 ? static_cast<uint64_t>(Of(operands[1]).stride) : 0;
        return Affine(Wrap(*exec::EvalWord(inst.op, Scalar::U64, Scalar::U64, first, second)));
      }
      default: return {Kind::Varying};
    }
  }

  std::span<const ir::ValueId> YieldOf(ir::RegionId region) {
    return function_.operands_of(function_.inst(function_.region(region).insts.back()));
  }

  void Branches(const ir::Inst& inst) {
    const LaneClass selector = Of(function_.operand(inst, 0));
    for (uint32_t r = 0; r < inst.regions.count; ++r) Region(Function::region_of(inst, r));
    for (uint32_t i = 0; i < inst.results.count; ++i) {
      LaneClass joined = Of(YieldOf(Function::region_of(inst, 0))[i]);
      for (uint32_t r = 1; r < inst.regions.count; ++r)
        joined = Join(joined, Of(YieldOf(Function::region_of(inst, r))[i]));
      Of(Function::result_of(inst, i)) = selector.uniform() ? joined : LaneClass{Kind::Varying};
    }
  }

  // Until the carried values stay as they are.
  void Loop(const ir::Inst& inst, std::span<const ir::ValueId> inits, ir::Range params,
            ir::RegionId yields, bool divergent, bool is_while) {
    for (uint32_t i = 0; i < inits.size(); ++i)
      classes_[params.begin + i] = divergent ? LaneClass{Kind::Varying} : Of(inits[i]);
    for (;;) {
      for (uint32_t r = 0; r < inst.regions.count; ++r) Region(Function::region_of(inst, r));
      bool changed = false;
      if (is_while && !divergent) {
        const ir::Inst& end =
            function_.inst(function_.region(Function::region_of(inst, 0)).insts.back());
        if (!Of(function_.operand(end, 0)).uniform()) {
          divergent = true;
          for (uint32_t i = 0; i < inits.size(); ++i) classes_[params.begin + i] = {Kind::Varying};
          changed = true;
        }
      }
      for (uint32_t i = 0; i < inits.size(); ++i) {
        LaneClass& param = classes_[params.begin + i];
        const LaneClass joined = Join(param, Of(YieldOf(yields)[i]));
        if (joined == param || param.varying()) continue;
        param = {Kind::Varying};
        changed = true;
      }
      if (!changed) break;
    }
    for (uint32_t i = 0; i < inits.size(); ++i)
      Of(Function::result_of(inst, i)) = classes_[params.begin + i];
  }

  void Visit(const ir::Inst& inst) {
    switch (inst.op) {
      case Op::If:
      case Op::Switch: return Branches(inst);
      case Op::For: {
        const ir::RegionId body = Function::region_of(inst, 0);
        const ir::Range params = function_.region(body).params;
        const auto operands = function_.operands_of(inst);
        const bool divergent = !Of(operands[0]).uniform() || !Of(operands[1]).uniform();
        classes_[params.begin] = divergent ? LaneClass{Kind::Varying} : LaneClass{};
        return Loop(inst, operands.subspan(2), {params.begin + 1, params.count - 1}, body,
                    divergent, false);
      }
      case Op::While:
        return Loop(inst, function_.operands_of(inst),
                    function_.region(Function::region_of(inst, 0)).params,
                    Function::region_of(inst, 1), false, true);
      case Op::AtomicRmw:
      case Op::AtomicCas: return SetResults(inst, {Kind::Varying});
      case Op::Length:
      case Op::Const: return SetResults(inst, {});
      case Op::Load: {
        const bool uniform = Of(function_.operand(inst, 1)).uniform();
        return SetResults(inst, uniform ? LaneClass{} : LaneClass{Kind::Varying});
      }
      case Op::Call:
        return SetResults(inst, AllUniform(inst) ? LaneClass{} : LaneClass{Kind::Varying});
      default:
        if (inst.results.count == 1) Of(Function::result_of(inst)) = Arithmetic(inst);
    }
  }

  const ir::Function& function_;
  std::vector<LaneClass>& classes_;
};

}  // namespace

void Classify(const ir::Function& function, ir::RegionId region, std::vector<LaneClass>& classes) {
  Pass(function, classes).Region(region);
}

}  // namespace frazil::targets::tiles
