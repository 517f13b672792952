// For tests: random loops of the kinds that have a closed form, and of kinds that look alike.
#pragma once

#include "ir/builder.h"
#include "optimize/test_same.h"

namespace frazil::optimize {

// A random loop of the kind that closes, and of kinds that look alike.
inline ir::Program RandomLoop(uint64_t seed) {
  Random random(seed);
  using ir::Op;
  const ir::Type kinds[] = {ir::types::I32,   ir::types::U8,    ir::types::I64, ir::types::U64,
                            ir::types::Field, ir::Type::Int(2), ir::types::I16, ir::types::U32};
  const ir::Type type = kinds[random.Below(8)];
  const ir::Type indices[] = {ir::types::I64, ir::types::Index, ir::types::I32, ir::types::U16,
                              ir::types::I8};
  const ir::Type index = indices[random.Below(5)];
  const bool checked =
      type.scalar == ir::Scalar::Int || (type.scalar != ir::Scalar::Field && random.Chance(25));
  const Op add = checked ? Op::AddChecked : Op::Add, sub = checked ? Op::SubChecked : Op::Sub,
           mul = checked ? Op::MulChecked : Op::Mul;
  ir::Program program;
  ir::FunctionBuilder b(program, "main", {}, {});
  auto constant = [&](int64_t limit) {
    return b.ConstInt(
        type,
        random.Between(type.scalar == ir::Scalar::Field || !ir::IsSigned(type.scalar) ? 0 : -limit,
                       limit));
  };
  const bool is_signed = ir::IsSigned(index.scalar);
  const int64_t lo = random.Between(is_signed ? -20 : 0, 20);
  ir::ValueId low = b.ConstInt(index, lo),
              high = b.ConstInt(index, lo + random.Between(is_signed && lo > -15 ? -3 : 0, 90));
  const auto carried_count = static_cast<size_t>(random.Between(1, 3));
  ir::Values inits;
  for (size_t k = 0; k < carried_count; ++k) inits.push_back(constant(5));
  ir::Values results = b.For(
      low, high, random.Between(1, 4), inits,
      [&](ir::ValueId i, std::span<const ir::ValueId> carried) {
        ir::ValueId x = b.Cast(type.scalar == ir::Scalar::Int || (checked && random.Chance(50))
                                   ? Op::CastChecked
                                   : Op::Cast,
                               i, type);
        ir::Values yields;
        for (size_t k = 0; k < carried_count; ++k) {
          ir::ValueId term = constant(7);
          const int64_t degree = random.Between(0, checked ? 2 : 8);
          for (int64_t d = 0; d < degree; ++d)
            term = b.Binary(random.Chance(50) ? add : sub, b.Binary(mul, term, x), constant(7));
          ir::ValueId base = carried[random.Chance(80) ? k : random.Below(carried_count)];
          if (!checked && random.Chance(40)) base = b.Binary(mul, base, constant(3));
          if (!checked && random.Chance(30))
            base = b.Binary(sub, base, carried[random.Below(carried_count)]);
          yields.push_back(b.Binary(random.Chance(50) ? add : sub, base, term));
        }
        return yields;
      });
  std::vector<ir::Type> types(results.size(), type);
  b.SetResults(types);
  b.Return(results);
  b.Finish();
  return program;
}

// Bounds, start and some coefficients are parameters.
inline ir::Program RandomSum(uint64_t seed) {
  Random random(seed);
  using ir::Op;
  const ir::Type kinds[] = {ir::types::I32,   ir::types::U8,    ir::types::I64, ir::types::U64,
                            ir::types::Field, ir::types::Index, ir::types::I16, ir::types::U32};
  const ir::Type type = kinds[random.Below(8)];
  const ir::Type indices[] = {ir::types::I64, ir::types::Index, ir::types::I32, ir::types::U16,
                              ir::types::I8};
  const ir::Type index = indices[random.Below(5)];
  ir::Program program;
  ir::FunctionBuilder b(program, "main", {index, index, type, type}, {});
  // Small ranges anywhere in the type: lo + (hi mod 64), empty ones among them.
  ir::ValueId lo = random.Chance(30) ? b.ConstInt(index, random.Between(0, 3)) : b.Param(0);
  ir::ValueId span = b.Binary(Op::And, b.Param(1), b.ConstInt(index, 63));
  ir::ValueId hi = random.Chance(20) ? b.Binary(Op::Min, b.Param(1), b.ConstInt(index, 50))
                                     : b.Binary(Op::Add, lo, span);
  if (random.Chance(20)) lo = b.Binary(Op::Max, lo, b.Binary(Op::Sub, hi, b.ConstInt(index, 40)));
  auto constant = [&] { return b.ConstInt(type, random.Between(0, 9)); };
  const auto carried_count = static_cast<size_t>(random.Between(1, 2));
  ir::Values inits(carried_count, b.Param(2));
  // Few enough turns for the interpreter, whatever the bounds are; empty ranges of both kinds.
  ir::ValueId width = b.Binary(Op::Sub, hi, lo);
  ir::ValueId near = b.Binary(Op::Lt, width, b.ConstInt(index, 100));
  if (ir::IsSigned(index.scalar))
    near = b.Binary(Op::And, near, b.Binary(Op::Gt, width, b.ConstInt(index, -100)));
  hi = b.Select(near, hi, lo);
  ir::Values results =
      b.For(lo, hi, 1, inits, [&](ir::ValueId i, std::span<const ir::ValueId> carried) {
        ir::ValueId x = b.Cast(Op::Cast, i, type);
        ir::Values yields;
        for (size_t k = 0; k < carried_count; ++k) {
          ir::ValueId term = random.Chance(50) ? b.Param(3) : constant();
          const int64_t degree = random.Between(0, 6);
          for (int64_t d = 0; d < degree; ++d)
            term = b.Binary(random.Chance(50) ? Op::Add : Op::Sub, b.Binary(Op::Mul, term, x),
                            random.Chance(30) ? b.Param(3) : constant());
          yields.push_back(b.Binary(random.Chance(50) ? Op::Add : Op::Sub, carried[k], term));
        }
        return yields;
      });
  b.SetResults(std::vector<ir::Type>(results.size(), type));
  b.Return(results);
  b.Finish();
  return program;
}

}  // namespace frazil::optimize
