// TIR -> IR on random programs and by hand: the IR's interpreter gives what TIR's gives, traps included.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "exec/meaning/interpreter.h"
#include "frontends/tir/tir.h"
#include "ir/text/text.h"
#include "machines/tasm/tip5/tip5.h"
#include "machines/tir/interpreter.h"
#include "machines/tir/test_random.h"

namespace frazil {
namespace {

namespace tir = machines::tir;
using frontends::tir::FromTir;

void Permutation(std::array<uint64_t, 16>& state) {
  machines::tasm::Tip5State tip5{state};
  machines::tasm::Permute(tip5);
  state = tip5.elements;
}

ir::Trap TrapOf(tir::CrashKind kind) {
  switch (kind) {
    case tir::CrashKind::InverseOfZero: return ir::Trap::InvertOfZero;
    case tir::CrashKind::DivisionByZero: return ir::Trap::DivisionByZero;
    case tir::CrashKind::NotU32: return ir::Trap::Overflow;
    case tir::CrashKind::InputEmpty:
    case tir::CrashKind::SecretEmpty:
    case tir::CrashKind::DigestsEmpty: return ir::Trap::OutOfBounds;
    case tir::CrashKind::AssertionFailed:
    case tir::CrashKind::VectorAssertionFailed:
    case tir::CrashKind::LogarithmOfZero:
    case tir::CrashKind::SpongeNotInitialized:
    case tir::CrashKind::Steps: break;
  }
  return ir::Trap::Assert;
}

constexpr int64_t RamLength = 4096;

struct Counts {
  int compared = 0, crashed = 0, refused = 0;
};

exec::Value Field(uint64_t element) { return exec::Value::Word(ir::types::Field, element); }

// The IR has one stream of hints: tokens here, or `digests`.
void ExpectSame(const tir::Program& program, const tir::Inputs& inputs, Counts& counts,
                bool digests = false) {
  const Result<tir::RunResult> expected = tir::Interpret(program, inputs, Permutation, 20'000);
  ASSERT_TRUE(expected) << expected.error().ToString();
  if (expected->crash && expected->crash->kind == tir::CrashKind::Steps) return;
  const Result<ir::Program> made = FromTir(program);
  if (!made) {
    ASSERT_EQ(made.error().diag, Diag::Unsupported) << made.error().ToString() << "\n"
                                                    << tir::Print(program);
    ++counts.refused;
    return;
  }
  exec::RunContext context;
  for (uint64_t x : inputs.input) context.input.push_back(Field(x));
  for (uint64_t x : inputs.secret) context.hints.push_back(Field(x));
  if (digests) {
    context.hints.clear();
    for (const auto& digest : inputs.digests)
      context.hints.push_back(exec::Value::Scalar(ir::types::Digest, digest));
  }
  std::vector<exec::Value> arguments;
  std::shared_ptr<exec::Memory> ram;
  if (made->entry_function().param_count() > 0) {
    ram = std::make_shared<exec::Memory>(ir::types::Field, RamLength);
    for (const auto& [address, value] : inputs.ram)
      ram->Set(static_cast<int64_t>(address), std::span(&value, 1));
    arguments.push_back(exec::Value::Buffer(ram));
  }
  const Result<exec::Outcome> run = exec::Interpret(*made, arguments, context);
  auto text = [&] { return tir::Print(program) + "\n" + ir::PrintText(*made); };
  ASSERT_TRUE(run) << run.error().ToString() << "\n" << text();
  // Off the machine RAM has an end.
  if (run->trap && run->trap->kind == ir::Trap::OutOfBounds &&
      (run->trap->op == ir::Op::Load || run->trap->op == ir::Op::Store))
    return;
  ++counts.compared;
  counts.crashed += run->trap.has_value();
  ASSERT_EQ(run->trap.has_value(), expected->crash.has_value())
      << (run->trap ? run->trap->ToString() : std::string(tir::CrashName(expected->crash->kind)))
      << "\n"
      << text();
  if (run->trap)
    ASSERT_EQ(ir::TrapName(run->trap->kind), ir::TrapName(TrapOf(expected->crash->kind))) << text();
  std::vector<uint64_t> output;
  for (const exec::Value& value : run->output) output.push_back(value.word);
  ASSERT_EQ(output, expected->output) << text();
  if (ram && !run->trap) {
    for (int64_t i = 0; i < RamLength; ++i) {
      uint64_t word = 0;
      ram->Get(i, std::span(&word, 1));
      const auto found = expected->ram.find(static_cast<uint64_t>(i));
      ASSERT_EQ(word, found == expected->ram.end() ? 0 : found->second) << i << "\n" << text();
    }
  }
}

TEST(TirToIr, RandomPrograms) {
  std::mt19937_64 random(7);
  Counts counts;
  for (int i = 0; i < 1500; ++i) {
    tir::RandomOptions options;
    options.merkle = false;
    options.horner = i % 2 == 0;
    options.memory = i % 3 == 0;
    options.halts = i % 5 == 0;
    const tir::Program program = tir::RandomProgram(random, options);
    ASSERT_NO_FATAL_FAILURE(ExpectSame(program, tir::RandomInputs(random), counts)) << i;
  }
  EXPECT_GE(counts.compared, 1000);
  EXPECT_GE(counts.crashed, 50);
  EXPECT_LE(counts.refused, 300);
}

TEST(TirToIr, MerkleStepsReadDigests) {
  std::mt19937_64 random(8);
  const tir::Inputs inputs = tir::RandomInputs(random);
  for (int index : {6, 7, 1}) {
    Counts counts;
    const Result<tir::Program> program =
        tir::Parse(fmt::format("entry main\nfn main\npush {}\npush 1\npush 2\npush 3\npush 4\npush "
                               "5\nmerkle_step\nmerkle_step\nwrite_io 6\n"
                               "push 9\npush 0\npush {}\npush 1\npush 2\npush 3\npush 4\npush "
                               "5\nmerkle_load\nwrite_io 8\nend\n",
                               index, index));
    ASSERT_TRUE(program) << program.error().ToString();
    ExpectSame(*program, inputs, counts, true);
    EXPECT_EQ(counts.compared, 1);
    EXPECT_EQ(counts.crashed, 0);
  }
}

TEST(TirToIr, NamesAreTheIrs) {
  const Result<tir::Program> program = tir::Parse(
      "entry @a-b\nfn @a-b\ncall x::y\ncall x-:y\nend\nfn x::y\npush 1\nwrite_io 1\nend\nfn "
      "x-:y\npush 2\nwrite_io 1\nend\n");
  ASSERT_TRUE(program) << program.error().ToString();
  const Result<ir::Program> made = FromTir(*program);
  ASSERT_TRUE(made) << made.error().ToString();
  const Result<ir::Program> again = ir::ParseText(ir::PrintText(*made));
  ASSERT_TRUE(again) << again.error().ToString();
  EXPECT_EQ(ir::PrintText(*again), ir::PrintText(*made));
}

TEST(TirToIr, WhatHasNoForm) {
  auto error = [](const std::string& body) {
    const Result<tir::Program> program =
        tir::Parse("entry main\nfn main\n" + body + "\nend\nfn f\nhalt\nend\n");
    EXPECT_TRUE(program) << program.error().ToString();
    const Result<ir::Program> made = FromTir(*program);
    return made ? "" : made.error().ToString();
  };
  EXPECT_EQ(error("push 1\nif_only {\nhalt\n}"), "");
  EXPECT_NE(error("call f").find("`halt` inside of a loop or of a function"), std::string::npos);
  EXPECT_NE(error("repeat {\npush 1\nif_only {\nhalt\n}\n}").find("`halt` inside of a loop"),
            std::string::npos);
  EXPECT_NE(error("asm 0 {\nnop\n}").find("`asm`"), std::string::npos);
  EXPECT_NE(error("dup 11\npop 1").find("digest"), std::string::npos);
  EXPECT_EQ(error("dup 10\npop 1"), "");
}

}  // namespace
}  // namespace frazil
