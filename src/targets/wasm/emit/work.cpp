// Sums over regions, products over loops, saturating. Costs of single ops are several times what
// was measured on a 3 GHz machine; they only have to be no less than the truth.
#include "targets/wasm/emit/work.h"

#include <algorithm>

#include "targets/wasm/emit/representation.h"

namespace frazil::targets::wasm {
namespace {

using Ir = ir::Op;

uint64_t Plus(uint64_t a, uint64_t b) {
  return a > WorkBound::Unbounded - b ? WorkBound::Unbounded : a + b;
}
uint64_t Times(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? WorkBound::Unbounded : product;
}

// Nanoseconds of one scalar op.
uint64_t CostOf(const ir::Inst& inst) {
  uint64_t limbs = inst.type.limbs;
  switch (inst.op) {
    case Ir::Const:
    case Ir::Length: return 0;
    case Ir::Invert:
    case Ir::FieldDiv: return 10'000;
    case Ir::Fma: return 200;
    // Most accesses take a nanosecond; some wait for memory.
    case Ir::Load:
    case Ir::Store:
    case Ir::AtomicRmw:
    case Ir::AtomicCas:
    case Ir::Lookup: return 20;
    case Ir::Output:
    case Ir::Input:
    case Ir::Hint: return 100 + 10 * limbs;
    default: break;
  }
  if (IsBig(inst.type)) {
    bool divides = inst.op == Ir::DivChecked || inst.op == Ir::RemChecked;
    return divides                     ? 2000 * limbs * limbs
           : inst.op == Ir::MulChecked ? 100 + 40 * limbs * limbs
                                       : 50 + 20 * limbs;
  }
  if (inst.type.scalar == ir::Scalar::XField) return 400;
  if (inst.type.scalar == ir::Scalar::Field || IsHalf(inst.type)) return 40;
  bool divides = inst.op == Ir::DivTrunc || inst.op == Ir::DivFloor || inst.op == Ir::DivChecked ||
                 inst.op == Ir::Div || inst.op == Ir::RemTrunc || inst.op == Ir::RemFloor ||
                 inst.op == Ir::RemChecked || inst.op == Ir::Sqrt;
  return divides ? 20 : 2;
}

}  // namespace

WorkBound::WorkBound(const ir::Program& lowered)
    : program_(lowered), functions_(lowered.functions.size(), Unbounded) {
  for (const ir::Function& function : lowered.functions)
    for (const ir::Inst& inst : function.insts) hopeless_ |= inst.op == Ir::While;
  // A function's bound is known when those of its callees are; what never becomes known recurses.
  std::vector<bool> known(functions_.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t f = 0; f < functions_.size(); ++f) {
      if (known[f]) continue;
      const ir::Function& function = lowered.functions[f];
      bool ready =
          std::all_of(function.insts.begin(), function.insts.end(), [&](const ir::Inst& inst) {
            return inst.op != Ir::Call || known[static_cast<size_t>(function.word(inst, 0))];
          });
      if (!ready) continue;
      functions_[f] = OfFunction(f, {});
      known[f] = changed = true;
    }
  }
  always_ = functions_[lowered.entry.index];
  hopeless_ |= !known[lowered.entry.index];
}

uint64_t WorkBound::Of(std::span<const Interval> params) const {
  return hopeless_ ? always_ : OfFunction(program_.entry.index, params);
}

uint64_t WorkBound::OfFunction(uint32_t function, std::span<const Interval> params) const {
  const ir::Function& f = program_.functions[function];
  return OfRegion(f, f.body, Ranges(program_, f, params));
}

uint64_t WorkBound::OfRegion(const ir::Function& function, ir::RegionId region,
                             const Ranges& ranges) const {
  uint64_t sum = 1;
  for (ir::InstId id : function.region(region).insts)
    sum = Plus(sum, OfInst(function, function.inst(id), ranges));
  return sum;
}

uint64_t WorkBound::OfInst(const ir::Function& function, const ir::Inst& inst,
                           const Ranges& ranges) const {
  switch (inst.op) {
    case Ir::While: return Unbounded;
    case Ir::Call: return Plus(10, functions_[static_cast<size_t>(function.word(inst, 0))]);
    case Ir::Alloc: {
      Int128 bytes = std::min(ranges.of(function.operand(inst, 0)).hi, Int128{1} << 33) *
                     ir::BytesOf(inst.type);
      return 1000 + static_cast<uint64_t>(std::max<Int128>(bytes, 0));
    }
    case Ir::For:
    case Ir::Parallel: {
      Int128 span =
          ranges.of(function.operand(inst, 1)).hi - ranges.of(function.operand(inst, 0)).lo;
      if (span <= 0) return 2;
      Int128 step = inst.op == Ir::For ? function.word(inst, 0) : 1;
      Int128 trips = (span - 1) / step + 1;
      if (trips >> 62 != 0) return Unbounded;
      uint64_t body = OfRegion(function, ir::Function::region_of(inst, 0), ranges);
      return Plus(4, Times(static_cast<uint64_t>(trips), body));
    }
    default: break;
  }
  uint64_t sum = CostOf(inst);
  for (uint32_t i = 0; i < inst.regions.count; ++i)
    sum = Plus(sum, OfRegion(function, ir::Function::region_of(inst, i), ranges));
  return sum;
}

}  // namespace frazil::targets::wasm
