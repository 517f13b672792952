// Twenty thousand programs are well formed; together they hold every op and every type, and an op that is
// exchanged for another is noticed. Programs that are damaged are refused, or still run.

#include "generator/generator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "exec/meaning/interpreter.h"
#include "exec/random_arguments.h"
#include "generator/tensor_graph.h"
#include "ir/check/check.h"
#include "ir/text/text.h"

namespace frazil::generator {
namespace {

using exec::RandomArguments;
using exec::RandomContext;
using exec::RunContext;
using exec::Value;

TEST(Generator, MakesWellFormedProgramsOfEveryOpAndType) {
  std::set<std::pair<ir::Op, ir::Scalar>> reached;
  for (uint64_t seed = 0; seed < 20'000; ++seed) {
    ir::Program program = Generate({.seed = seed});
    auto checked = ir::Check(program);
    ASSERT_TRUE(checked) << "seed " << seed << ": " << checked.error().ToString() << "\n"
                         << ir::PrintText(program);
    for (const ir::Function& function : program.functions)
      for (const ir::Inst& inst : function.insts) reached.insert({inst.op, inst.type.scalar});
  }
  for (const ir::OpInfo& info : ir::AllOps()) {
    if (info.op == ir::Op::Tasm) continue;  // the interpreter does not run it
    if (info.types == ir::sets::None) {
      EXPECT_TRUE(std::any_of(reached.begin(), reached.end(),
                              [&](auto pair) { return pair.first == info.op; }))
          << info.mnemonic << " is never made";
      continue;
    }
    for (int i = 0; i < ir::ScalarCount; ++i) {
      auto scalar = static_cast<ir::Scalar>(i);
      // The row of `cast` says Any, its meaning says which: never to bool, int<k> or digest.
      bool no_cast =
          info.op == ir::Op::Cast &&
          (scalar == ir::Scalar::Bool || scalar == ir::Scalar::Int || scalar == ir::Scalar::Digest);
      if (ir::Contains(info.types, scalar) && !no_cast) {
        EXPECT_TRUE(reached.contains({info.op, scalar}))
            << info.mnemonic << " on " << ir::ScalarName(scalar);
      }
    }
  }
}

// Each of them ends, and together they have whatever fusion and its judge know.
TEST(TensorGraph, MakesWellFormedProgramsOfAllTensorOps) {
  std::set<ir::Op> missing = {
      ir::Op::Map,     ir::Op::Reduce,    ir::Op::Matmul, ir::Op::Reshape,       ir::Op::Transpose,
      ir::Op::Extract, ir::Op::Broadcast, ir::Op::Slice,  ir::Op::Concat,        ir::Op::Gather,
      ir::Op::Iota,    ir::Op::Generate,  ir::Op::Fold,   ir::Op::TensorUniform, ir::Op::If};
  uint64_t trapped = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const ir::Program program = GenerateTensorGraph({.seed = seed, .allow_traps = seed % 2 == 0});
    const auto checked = ir::Check(program);
    ASSERT_TRUE(checked) << seed << ": " << checked.error().ToString() << ir::PrintText(program);
    for (const ir::Inst& inst : program.entry_function().insts) missing.erase(inst.op);
    const auto outcome = exec::Interpret(program, RandomArguments(program, seed));
    ASSERT_TRUE(outcome) << seed << ": " << outcome.error().ToString();
    EXPECT_TRUE(!outcome->trap || seed % 2 == 0) << seed << ": " << outcome->trap->ToString();
    trapped += outcome->trap ? 1 : 0;
  }
  for (const ir::Op op : missing) ADD_FAILURE() << ir::Info(op).mnemonic << " is never made";
  EXPECT_GT(trapped, 0u);
  EXPECT_LT(trapped, 125u);
}

TEST(Generator, IsDeterministic) {
  for (uint64_t seed = 0; seed < 50; ++seed)
    EXPECT_EQ(ir::PrintText(Generate({.seed = seed})), ir::PrintText(Generate({.seed = seed})));
}

TEST(Generator, KeepsToItsOptions) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    GeneratorOptions options{.seed = seed, .allow_tensors = false, .allow_buffers = false};
    options.allow_streams = options.allow_math = options.allow_calls = options.allow_parallel =
        false;
    options.types = ir::sets::Fixed;
    ir::Program program = Generate(options);
    ASSERT_EQ(program.functions.size(), 1u);
    for (const ir::Inst& inst : program.entry_function().insts) {
      EXPECT_LT(inst.op, ir::Op::Map);
      EXPECT_NE(ir::Info(inst.op).effect, ir::Effect::Io);
      EXPECT_NE(ir::Info(inst.op).effect, ir::Effect::Writes);
      EXPECT_TRUE(ir::Contains(ir::sets::Fixed | ir::sets::Bool, inst.type.scalar));
    }
  }
}

// What a run shows to the outside.
std::string Observe(const ir::Program& program, uint64_t seed) {
  std::vector<Value> arguments = RandomArguments(program, seed);
  RunContext context = RandomContext(program, seed);
  context.limits.fuel = 1'000'000;
  auto outcome = exec::Interpret(program, arguments, context);
  if (!outcome) return outcome.error().ToString();
  std::string shown = outcome->trap ? outcome->trap->ToString() : "";
  for (const auto* values : {&outcome->results, &outcome->output})
    for (const Value& value : *values) shown += PrintValue(value) + ";";
  if (!outcome->trap)
    for (const Value& value : arguments) shown += PrintValue(value) + ";";
  return shown;
}

// Mutation testing of the generator: each op of a plain row is exchanged for another op with the same
// signature; some program must show it.
TEST(Generator, ProgramsShowWhatEveryOpDoes) {
  std::map<ir::Op, ir::Op> other;
  for (const ir::OpInfo& a : ir::AllOps())
    for (const ir::OpInfo& b : ir::AllOps())
      if (a.op != b.op && a.signature == b.signature && (a.types & b.types) == a.types &&
          a.attributes == b.attributes && a.effect == ir::Effect::Pure &&
          b.effect == ir::Effect::Pure && a.signature != "custom")
        other.try_emplace(a.op, b.op);
  std::set<ir::Op> unnoticed;
  for (auto [op, replacement] : other) unnoticed.insert(op);
  for (uint64_t seed = 0; seed < 20'000 && !unnoticed.empty(); ++seed) {
    ir::Program program = Generate({.seed = seed});
    std::set<ir::Op> present;
    for (const ir::Function& function : program.functions)
      for (const ir::Inst& inst : function.insts)
        if (unnoticed.contains(inst.op)) present.insert(inst.op);
    for (ir::Op op : present) {
      ir::Program mutant = program;
      for (ir::Function& function : mutant.functions)
        for (ir::Inst& inst : function.insts)
          if (inst.op == op) inst.op = other.at(op);
      if (ir::Check(mutant) && Observe(mutant, seed) != Observe(program, seed)) unnoticed.erase(op);
    }
  }
  for (ir::Op op : unnoticed)
    ADD_FAILURE() << ir::Info(op).mnemonic << " may be " << ir::Info(other.at(op)).mnemonic
                  << " unnoticed";
}

uint64_t Mixed(uint64_t x) {
  x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15ull;
  return x ^ (x >> 29);
}

// One field of one instruction is overwritten.
void Damage(ir::Function& function, uint64_t random) {
  ir::Inst& inst = function.insts[random % function.insts.size()];
  uint64_t value = Mixed(random);
  switch (Mixed(random + 1) % 7) {
    case 0: inst.op = static_cast<ir::Op>(value % ir::OpCount); break;
    case 1: inst.type.scalar = static_cast<ir::Scalar>(value % ir::ScalarCount); break;
    case 2: inst.type.form = static_cast<ir::Form>(value % 3); break;
    case 3:
      if (!function.operands.empty())
        function.operands[value % function.operands.size()] =
            ir::ValueId(static_cast<uint32_t>(value >> 40));
      break;
    case 4:
      if (!function.words.empty()) function.words[value % function.words.size()] = value;
      break;
    case 5:
      if (inst.operands.count > 0) --inst.operands.count;
      break;
    default:
      function.values[value % function.values.size()].type.scalar =
          static_cast<ir::Scalar>(value % ir::ScalarCount);
      break;
  }
}

TEST(Generator, DamagedProgramsAreRefusedOrRun) {
  size_t refused = 0, accepted = 0;
  for (uint64_t seed = 0; seed < 5'000; ++seed) {
    ir::Program program = Generate({.seed = seed, .size = 10});
    Damage(program.functions[program.entry.index], Mixed(seed + 77));
    auto checked = ir::Check(program);
    if (!checked) {
      ++refused;
      EXPECT_NE(ClassOf(checked.error().diag), ErrorClass::Internal) << "seed " << seed;
      continue;
    }
    ++accepted;
    std::vector<Value> arguments = RandomArguments(program, seed);
    RunContext context = RandomContext(program, seed);
    context.limits.fuel = 10'000;
    context.limits.memory_bytes = 1 << 20;
    auto outcome = exec::Interpret(program, arguments, context);
    ErrorClass blame = outcome ? ErrorClass::User : ClassOf(outcome.error().diag);
    EXPECT_NE(blame, ErrorClass::Internal) << "seed " << seed;
  }
  EXPECT_GT(refused, 1'000u);
  EXPECT_GT(accepted, 500u);
}

}  // namespace
}  // namespace frazil::generator
