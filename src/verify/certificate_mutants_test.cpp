// Random programs and their mutants: a program is always its own proof, and a mutant that passes must behave as
// its source on every input that is tried.
#include <gtest/gtest.h>

#include "exec/generator.h"
#include "exec/interpreter.h"
#include "ir/check.h"
#include "ir/text.h"
#include "verify/verify.h"

namespace frazil::verify {
namespace {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  uint64_t Below(uint64_t n) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ % n;
  }

 private:
  uint64_t state_;
};

constexpr ir::Op Families[][6] = {
    {ir::Op::Add, ir::Op::Sub, ir::Op::Mul, ir::Op::Add, ir::Op::Sub, ir::Op::Mul},
    {ir::Op::And, ir::Op::Or, ir::Op::Xor, ir::Op::And, ir::Op::Or, ir::Op::Xor},
    {ir::Op::Lt, ir::Op::Le, ir::Op::Gt, ir::Op::Ge, ir::Op::Eq, ir::Op::Ne},
    {ir::Op::DivTrunc, ir::Op::DivFloor, ir::Op::RemTrunc, ir::Op::RemFloor, ir::Op::DivTrunc,
     ir::Op::RemTrunc},
    {ir::Op::AddChecked, ir::Op::SubChecked, ir::Op::MulChecked, ir::Op::AddChecked,
     ir::Op::SubChecked, ir::Op::MulChecked},
    {ir::Op::Shl, ir::Op::Shr, ir::Op::Rotl, ir::Op::Rotr, ir::Op::Shl, ir::Op::Shr},
    {ir::Op::Min, ir::Op::Max, ir::Op::Min, ir::Op::Max, ir::Op::Min, ir::Op::Max},
};

// One small change somewhere; false if it changes nothing or breaks the program.
bool Mutate(ir::Program& program, Random& random) {
  ir::Function& function = program.functions[random.Below(program.functions.size())];
  const size_t at = random.Below(function.insts.size());
  ir::Inst& inst = function.insts[at];
  switch (random.Below(5)) {
    case 0:  // another op
      for (const auto& family : Families) {
        for (ir::Op op : family) {
          if (op != inst.op) continue;
          inst.op = family[random.Below(6)];
          if (!ir::Contains(ir::Info(inst.op).types, inst.type.scalar)) return false;
          return inst.op != op && ir::Check(program).has_value();
        }
      }
      return false;
    case 1:  // another constant, case or step
      if (inst.attributes.count == 0 || inst.op == ir::Op::Call || inst.op == ir::Op::Lookup)
        return false;
      function.words[inst.attributes.begin + random.Below(inst.attributes.count)] ^=
          1 + random.Below(3);
      return ir::Check(program).has_value();
    case 2:  // operands swapped
      if (inst.operands.count < 2) return false;
      std::swap(function.operands[inst.operands.begin], function.operands[inst.operands.begin + 1]);
      return ir::Check(program).has_value();
    case 3: {  // another operand
      if (inst.operands.count == 0) return false;
      ir::ValueId& operand =
          function.operands[inst.operands.begin + random.Below(inst.operands.count)];
      const ir::ValueId old = operand;
      operand = ir::ValueId(static_cast<uint32_t>(random.Below(function.values.size())));
      return operand != old && function.type(operand) == function.type(old) &&
             ir::Check(program).has_value();
    }
    default: {  // an instruction is gone
      if (inst.results.count != 0) return false;
      for (ir::Region& region : function.regions) {
        for (size_t i = 0; i + 1 < region.insts.size(); ++i) {
          if (region.insts[i].index != at) continue;
          region.insts.erase(region.insts.begin() + static_cast<ptrdiff_t>(i));
          return ir::Check(program).has_value();
        }
      }
      return false;
    }
  }
}

bool IsLimit(const exec::Outcome& outcome) {
  return outcome.trap && ir::IsLimit(outcome.trap->kind);
}

// Empty if they agree.
std::string Disagreement(const ir::Program& source, const ir::Program& candidate, uint64_t seed) {
  for (uint64_t i = 0; i < 8; ++i) {
    const std::vector<exec::Value> a = exec::RandomArguments(source, seed * 8 + i),
                                   b = exec::RandomArguments(source, seed * 8 + i);
    exec::RunContext context = exec::RandomContext(source, seed * 8 + i);
    context.limits.fuel = 20'000;
    const Result<exec::Outcome> x = exec::Interpret(source, a, context),
                                y = exec::Interpret(candidate, b, context);
    if (!x || !y || IsLimit(*x) || IsLimit(*y)) continue;
    if (x->trap != y->trap) return "the traps differ";
    if (x->output != y->output) return "the output differs";
    if (x->results != y->results) return "the results differ";
    // Both run in order, so that memory after a trap is the same too.
    if (!(a == b)) return "the buffers differ";
  }
  return "";
}

TEST(CertificateMutants, WhatPassesBehavesTheSame) {
  int passed = 0, refused = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    exec::GeneratorOptions options;
    options.seed = seed;
    options.size = 10 + static_cast<uint32_t>(seed % 12);
    options.allow_tensors = seed % 4 == 0;
    const ir::Program source = exec::Generate(options);
    const Verdict itself =
        CheckCertificate(source, {.program = source, .guard = {}, .certificate = {}, .origin = ""});
    EXPECT_TRUE(std::holds_alternative<Proved>(itself))
        << "seed " << seed << ": "
        << (std::holds_alternative<Unknown>(itself) ? std::get<Unknown>(itself).reason : "");
    Random random(seed);
    for (int i = 0; i < 60; ++i) {
      ir::Program mutant = source;
      if (!Mutate(mutant, random)) continue;
      const Verdict verdict = CheckCertificate(
          source, {.program = mutant, .guard = {}, .certificate = {}, .origin = ""});
      if (!std::holds_alternative<Proved>(verdict)) {
        ++refused;
        continue;
      }
      ++passed;
      const std::string difference =
          Disagreement(source, mutant, seed * 1000 + static_cast<uint64_t>(i));
      ASSERT_EQ(difference, "") << "seed " << seed << "\n"
                                << ir::PrintText(source) << "\nagainst\n"
                                << ir::PrintText(mutant);
    }
  }
  // Mutations of what nobody looks at pass, and many do not.
  EXPECT_GE(passed, 20);
  EXPECT_GE(refused, 200);
}

}  // namespace
}  // namespace frazil::verify
