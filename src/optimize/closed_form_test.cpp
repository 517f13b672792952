// Closed forms against the loops themselves.
#include "optimize/closed_form.h"

#include <gtest/gtest.h>

#include <chrono>

#include "optimize/optimize.h"
#include "optimize/test_same.h"

namespace frazil::optimize {
namespace {

ir::Program Parse(std::string_view text) {
  Result<ir::Program> program = ir::ParseText(text);
  EXPECT_TRUE(program) << program.error().ToString();
  return std::move(*program);
}

size_t Loops(const ir::Program& program) {
  size_t count = 0;
  for (const ir::Inst& inst : program.entry_function().insts) count += inst.op == ir::Op::For ? 1 : 0;
  return count;
}

std::string Answer(const ir::Program& program) {
  Result<exec::Outcome> outcome = exec::Interpret(program, {});
  if (!outcome) return outcome.error().ToString();
  if (outcome->trap) return outcome->trap->ToString();
  return exec::PrintValue(outcome->results[0]);
}

TEST(ClosedForm, TenToTheEighteenAtOnce) {
  ir::Program source = Parse(R"(frz 1
func @main() -> (int<2>) {
  %0 = const 1 : i64
  %1 = const 1000000000000000001 : i64
  %2 = const 0 : int<2>
  %3 = for %4 = %0 to %1 step 1 carry (%5 = %2) {
    %6 = cast.checked %4 : int<2>
    %7 = add.checked %5, %6 : int<2>
    yield %7
  }
  return %3
}
)");
  auto start = std::chrono::steady_clock::now();
  Result<ir::Candidate> candidate = Optimize(source);
  double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  ASSERT_TRUE(candidate);
  EXPECT_EQ(Loops(candidate->program), 0u);
  EXPECT_EQ(Answer(candidate->program), "500000000000000000500000000000000000");
  EXPECT_LT(ms, 500);
  ASSERT_EQ(candidate->certificate.closed_forms.size(), 1u);
  EXPECT_EQ(candidate->certificate.closed_forms[0].inst, 3u);
}

TEST(ClosedForm, WhatMightTrapStays) {
  // The sum does not fit.
  ir::Program source = Parse(R"(frz 1
func @main() -> (i64) {
  %0 = const 1 : i64
  %1 = const 10000000001 : i64
  %2 = const 0 : i64
  %3 = for %4 = %0 to %1 step 1 carry (%5 = %2) {
    %7 = add.checked %5, %4 : i64
    yield %7
  }
  return %3
}
)");
  Result<ir::Candidate> candidate = Optimize(source);
  ASSERT_TRUE(candidate);
  EXPECT_EQ(Loops(candidate->program), 1u);
}

// A random loop of the kind that closes, and of kinds that look alike.
ir::Program RandomLoop(uint64_t seed) {
  Random random(seed);
  using ir::Op;
  const ir::Type kinds[] = {ir::types::I32, ir::types::U8, ir::types::I64, ir::types::U64, ir::types::Field,
                            ir::Type::Int(2), ir::types::I16, ir::types::U32};
  const ir::Type type = kinds[random.Below(8)];
  const ir::Type indices[] = {ir::types::I64, ir::types::Index, ir::types::I32, ir::types::U16, ir::types::I8};
  const ir::Type index = indices[random.Below(5)];
  const bool checked = type.scalar == ir::Scalar::Int ||
                       (type.scalar != ir::Scalar::Field && random.Chance(25));
  const Op add = checked ? Op::AddChecked : Op::Add, sub = checked ? Op::SubChecked : Op::Sub,
           mul = checked ? Op::MulChecked : Op::Mul;
  ir::Program program;
  ir::FunctionBuilder b(program, "main", {}, {});
  auto constant = [&](int64_t limit) { return b.ConstInt(type, random.Between(type.scalar == ir::Scalar::Field || !ir::IsSigned(type.scalar) ? 0 : -limit, limit)); };
  const bool is_signed = ir::IsSigned(index.scalar);
  const int64_t lo = random.Between(is_signed ? -20 : 0, 20);
  ir::ValueId low = b.ConstInt(index, lo), high = b.ConstInt(index, lo + random.Between(is_signed && lo > -15 ? -3 : 0, 90));
  const auto carried_count = static_cast<size_t>(random.Between(1, 3));
  ir::Values inits;
  for (size_t k = 0; k < carried_count; ++k) inits.push_back(constant(5));
  ir::Values results = b.For(low, high, random.Between(1, 4), inits, [&](ir::ValueId i, std::span<const ir::ValueId> carried) {
    ir::ValueId x = b.Cast(type.scalar == ir::Scalar::Int || (checked && random.Chance(50)) ? Op::CastChecked : Op::Cast, i, type);
    ir::Values yields;
    for (size_t k = 0; k < carried_count; ++k) {
      ir::ValueId term = constant(7);
      const int64_t degree = random.Between(0, checked ? 2 : 8);
      for (int64_t d = 0; d < degree; ++d) term = b.Binary(random.Chance(50) ? add : sub, b.Binary(mul, term, x), constant(7));
      ir::ValueId base = carried[random.Chance(80) ? k : random.Below(carried_count)];
      if (!checked && random.Chance(40)) base = b.Binary(mul, base, constant(3));
      if (!checked && random.Chance(30)) base = b.Binary(sub, base, carried[random.Below(carried_count)]);
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

TEST(ClosedForm, RandomLoopsGiveTheirOwnResults) {
  int closed = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    ir::Program source = RandomLoop(seed);
    ASSERT_TRUE(ir::Check(source)) << ir::PrintText(source) << ir::Check(source).error().ToString();
    Unit unit = MakeUnit(source);
    Proof proof;
    Result<bool> changed = CloseLoops(unit, &proof);
    ASSERT_TRUE(changed) << changed.error().ToString();
    closed += *changed ? 1 : 0;
    ASSERT_EQ(Compare(source, unit.program, seed, 1), "");
  }
  EXPECT_GT(closed, 1500);
}

}  // namespace
}  // namespace frazil::optimize
