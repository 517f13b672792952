// Cost as a table of cycles, with loops weighed by their trip counts. The figures are round ones for current x86-64
// cores: they only have to order programs, and to be the same on every machine.
#include "optimize/cost.h"

#include <algorithm>
#include <cmath>

#include "optimize/optimize.h"

namespace frazil::optimize {
namespace {

using namespace ir::names;

constexpr double UnknownTrips = 64;
constexpr double UnknownDimension = 64;
constexpr double PreludeCost = 40;
constexpr double AccessCost = 4;  // an element read or written
constexpr int CallDepth = 4;      // calls followed down to here; recursion ends there

double ScalarCost(Op op, ir::Type type) {
  switch (op) {
    case Op::Const: return 0;
    case Op::Mul:
    case Op::MulHi:
    case Op::MulChecked: return 3;
    case Op::DivTrunc:
    case Op::DivFloor:
    case Op::RemTrunc:
    case Op::RemFloor:
    case Op::DivChecked:
    case Op::RemChecked: return 24;
    case Op::Div: return 12;
    case Op::Sqrt: return 16;
    case Op::Fma: return 4;
    case Op::FieldDiv:
    case Op::Invert: return 300;
    case Op::AddChecked:
    case Op::SubChecked:
    case Op::NegChecked:
    case Op::AbsChecked:
    case Op::CastChecked: return 2;
    case Op::AtomicRmw:
    case Op::AtomicCas: return 20;
    case Op::Load:
    case Op::Store:
    case Op::Extract:
    case Op::Lookup: return AccessCost;
    case Op::Alloc: return 50;
    case Op::Input:
    case Op::Output:
    case Op::Hint:
    case Op::SpongeInit: return 20;
    case Op::Hash:
    case Op::SpongeAbsorb:
    case Op::SpongeSqueeze:
    case Op::MerkleStep:
    case Op::Tasm: return 1500;
    case Op::FieldPow: return 200;
    case Op::Yield:
    case Op::Condition:
    case Op::Return: return 0;
    case Op::Length: return 0.5;
    case Op::Clz:
    case Op::Ctz:
    case Op::Popcnt: return 2;
    default: break;
  }
  if (ir::Info(op).law == ir::Law::Prelude) return PreludeCost;
  return ir::IsFloat(type.scalar) && op != Op::Select ? 3 : 1;
}

double TypeFactor(Op op, ir::Type type) {
  const bool product =
      op == Op::Mul || op == Op::MulChecked || op == Op::DivChecked || op == Op::RemChecked;
  switch (type.scalar) {
    case ir::Scalar::Int:
      return product ? static_cast<double>(type.limbs) * type.limbs : type.limbs;
    case ir::Scalar::Field: return 3;
    case ir::Scalar::XField: return product ? 27 : 9;
    case ir::Scalar::Digest: return 5;
    case ir::Scalar::F16:
    case ir::Scalar::BF16: return 3;
    default: return 1;
  }
}

class Pricing {
 public:
  explicit Pricing(const ir::Program& program) : program_(program) {}

  double Of(const Function& function, int depth) const {
    return OfRegion(function, function.body, depth);
  }

 private:
  double OfRegion(const Function& f, ir::RegionId region, int depth) const {
    double sum = 0;
    for (ir::InstId id : f.region(region).insts) sum += OfInst(f, f.inst(id), depth);
    return sum;
  }

  static double Size(ir::Dim dim) {
    return dim.is_symbol() ? UnknownDimension : static_cast<double>(dim.value);
  }
  static double Elements(const Function& f, ir::Type tensor) {
    double n = 1;
    for (ir::Dim dim : f.shape(tensor)) n *= Size(dim);
    return n;
  }
  static double FoldTrips(const Function& f, const Inst& fold) {
    const ir::InstId def = f.values[f.operand(fold, 0).index].def;
    if (!def.valid() || f.inst(def).op != Op::Const) return UnknownTrips;
    return std::max(0.0, static_cast<double>(f.word(f.inst(def), 0)));
  }

  static double CombineCost(const Function& f, const Inst& inst) {
    return OpCost(ir::CombinerOf(static_cast<ir::ReduceKind>(f.word(inst, 0))),
                  inst.type.element());
  }

  double OfInst(const Function& f, const Inst& inst, int depth) const {
    auto region = [&](uint32_t i) { return OfRegion(f, Function::region_of(inst, i), depth); };
    switch (inst.op) {
      // The dearest arm: a branch that becomes its only possible arm never costs more than before.
      case Op::If: return 2 + std::max(region(0), region(1));
      case Op::Switch: {
        double most = 0;
        for (uint32_t r = 0; r < inst.regions.count; ++r) most = std::max(most, region(r));
        return 4 + most;
      }
      case Op::For:
      case Op::Parallel: return 2 + TripsOf(f, inst) * (1 + region(0));
      case Op::While: return 2 + UnknownTrips * (2 + region(0) + region(1));
      // A tensor is written by who makes it and read by who takes it.
      case Op::Map:
        return 10 + Elements(f, inst.type) * (AccessCost * (1 + inst.operands.count) + region(0));
      case Op::Generate: {
        const uint32_t rank = f.region(Function::region_of(inst, 0)).params.count;
        double turns = 1;
        for (uint32_t i = 0; i < rank; ++i) turns *= Size(f.shape(inst.type)[i]);
        // Rows are counted by who makes them.
        uint32_t scalars = 0;
        for (uint32_t k = 0; k < inst.results.count; ++k)
          scalars += f.shape(f.type(Function::result_of(inst, k))).size() == rank ? 1 : 0;
        return 10 + turns * (AccessCost * scalars + region(0));
      }
      case Op::Fold: return 10 + FoldTrips(f, inst) * (CombineCost(f, inst) + region(0));
      case Op::Reduce: {
        const double read = AccessCost + CombineCost(f, inst);
        return 10 + Elements(f, f.type(f.operand(inst, 0))) * read +
               Elements(f, inst.type) * AccessCost;
      }
      case Op::Reshape: return 10;
      case Op::Iota: return 10 + Elements(f, inst.type) * AccessCost;
      case Op::TensorUniform:
      case Op::TensorNormal: return 10 + Elements(f, inst.type) * (AccessCost + PreludeCost);
      case Op::Call: {
        if (depth >= CallDepth) return 100;
        return 5 + Of(program_.functions[static_cast<size_t>(f.word(inst, 0))], depth + 1);
      }
      case Op::Matmul:
      case Op::MatmulFast: {
        ir::Type a = f.type(f.operand(inst, 0));
        ir::Dim inner = f.shape(a).back();
        return 10 + Elements(f, inst.type) * Size(inner);
      }
      case Op::MatmulQ:
        return 10 + Elements(f, inst.type) * Size(f.shape(f.type(f.operand(inst, 0))).back());
      case Op::Conv: {
        const ir::Shape& window = f.shape(f.type(f.operand(inst, 1)));
        return 10 + Elements(f, inst.type) * Size(window[1]) * Size(window[2]) * Size(window[3]);
      }
      case Op::Scan: return 10 + Elements(f, inst.type) * (2 * AccessCost + CombineCost(f, inst));
      // Of as many levels as there are in a line of some thousand elements.
      case Op::Sort: return 10 + 12 * Elements(f, inst.type) * 4 * AccessCost;
      case Op::Scatter:
        return 10 +
               2 * AccessCost * (Elements(f, inst.type) + Elements(f, f.type(f.operand(inst, 2))));
      default: break;
    }
    double cost = OpCost(inst.op, inst.type);
    if (!inst.type.is_tensor()) return cost;
    const bool is_filled = inst.op == Op::Broadcast && !f.type(f.operand(inst, 0)).is_tensor();
    return 10 + AccessCost * (is_filled ? 1 : 2) * Elements(f, inst.type);
  }

  const ir::Program& program_;
};

}  // namespace

double TripsOf(const Function& f, const Inst& loop) {
  auto constant = [&](ir::ValueId value) -> const Inst* {
    ir::InstId def = f.values[value.index].def;
    return def.valid() && f.inst(def).op == Op::Const ? &f.inst(def) : nullptr;
  };
  const Inst* lo = constant(f.operand(loop, 0));
  const Inst* hi = constant(f.operand(loop, 1));
  if (lo == nullptr || hi == nullptr) return UnknownTrips;
  const bool is_signed = ir::IsSigned(f.type(f.operand(loop, 0)).scalar);
  const uint64_t a = f.words_of(*lo)[0], b = f.words_of(*hi)[0];
  if (is_signed ? static_cast<int64_t>(a) >= static_cast<int64_t>(b) : a >= b) return 0;
  const double step = loop.op == Op::For ? static_cast<double>(f.word(loop, 0)) : 1;
  return std::ceil(static_cast<double>(b - a) / step);
}

double OpCost(Op op, ir::Type type) { return ScalarCost(op, type) * TypeFactor(op, type); }

double StaticCost(const ir::Program& program) {
  return Pricing(program).Of(program.entry_function(), 0);
}

}  // namespace frazil::optimize
