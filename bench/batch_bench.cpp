// The batch interpreter: a straight-line f32 program and a math function; beside it the interpreter
// that runs one lane at a time.
#include <fmt/format.h>

#include <random>

#include "base/check.h"
#include "exec/batch/batch.h"
#include "exec/meaning/interpreter.h"
#include "harness.h"
#include "ir/builder.h"

namespace frazil::bench {
namespace {

// 60 f32 ops of the usual kinds; many values live at a time, as in real expressions.
ir::Program StraightLine() {
  using namespace ir;
  Program program;
  FunctionBuilder b(program, "main", {types::F32, types::F32, types::F32}, {types::F32});
  std::vector<ValueId> live = {b.Param(0), b.Param(1), b.Param(2), b.ConstFloat(types::F32, 0.75),
                               b.ConstFloat(types::F32, 1.0 / 3)};
  constexpr Op Ops[] = {Op::Add, Op::Mul, Op::Sub, Op::Add, Op::Mul,
                        Op::Min, Op::Add, Op::Mul, Op::Max, Op::Sub};
  constexpr size_t OpCount = 60;
  for (size_t i = 0; i < OpCount; ++i) {
    const ValueId x = live[(i * 7 + 1) % live.size()];
    const ValueId y = live[(i * 3 + 2) % live.size()];
    const ValueId r = b.Binary(Ops[i % std::size(Ops)], x, y);
    if (live.size() < 12) {
      live.push_back(r);
    } else {
      live[i % 12] = r;
    }
  }
  ValueId sum = live[0];
  for (size_t i = 1; i < live.size(); ++i) sum = b.Binary(Op::Add, sum, live[i]);
  b.Return({sum});
  b.Finish();
  return program;
}

ir::Program Math(ir::Op op) {
  ir::Program program;
  ir::FunctionBuilder b(program, "main", {ir::types::F32}, {ir::types::F32});
  b.Return({b.Emit1(op, ir::types::F32, {b.Param(0)}, ir::types::F32)});
  b.Finish();
  return program;
}

size_t OpsOf(const ir::Program& program) {
  size_t ops = 0;
  for (const ir::Inst& inst : program.entry_function().insts)
    ops += inst.op != ir::Op::Const && inst.op != ir::Op::Return;
  return ops;
}

struct Batch {
  exec::BatchProgram program;
  std::vector<std::vector<float>> inputs;
  std::vector<float> output;
  std::vector<uint8_t> traps;

  Batch(const ir::Program& source, size_t lanes)
      : program(*exec::BatchProgram::Create(source)), output(lanes), traps(lanes) {
    CHECK(program.lane_by_lane().empty());
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    for (uint32_t i = 0; i < source.entry_function().param_count(); ++i) {
      std::vector<float>& input = inputs.emplace_back(lanes);
      for (float& x : input) x = normal(random);
    }
  }
  void Run() {
    std::vector<const void*> in;
    for (const std::vector<float>& input : inputs) in.push_back(input.data());
    void* out[] = {output.data()};
    CHECK(program.Run(output.size(), in, out, traps).has_value());
    Keep(output[0]);
  }
};

}  // namespace

FRAZIL_FIGURE(batch) {
  constexpr size_t Lanes = size_t{1} << 18;
  const ir::Program line = StraightLine();
  Batch straight(line, Lanes);
  Batch exp(Math(ir::Op::Exp), Lanes);
  Batch sin(Math(ir::Op::Sin), Lanes);
  const auto callable =
      *exec::MakeInterpreterTarget()->Load(*exec::MakeInterpreterTarget()->Emit(line));
  const std::vector<exec::Value> arguments(3, exec::Value::Float(ir::types::F32, 0.5));
  constexpr size_t Single = 2000;
  const std::vector<Times> times =
      Interleave({[&] { straight.Run(); }, [&] { exp.Run(); }, [&] { sin.Run(); },
                  [&] {
                    for (size_t i = 0; i < Single; ++i)
                      Keep(callable->Run(arguments, {})->results[0].word);
                  }},
                 9);
  const double ops = static_cast<double>(OpsOf(line));
  const double rate = ops * Lanes / times[0].median_s;
  const double single = ops * Single / times[3].median_s;
  Report({"exec", "batch interpreter, straight-line f32 program", rate, "op-lanes/s/core",
          "interpreter, one lane at a time", single, ">= 5e8", rate >= 5e8});
  Report({"exec", "batch interpreter, exp on f32", Lanes / times[1].median_s / 1e6, "M lanes/s", "",
          0, "-", std::nullopt, "no goal"});
  Report({"exec", "batch interpreter, sin on f32", Lanes / times[2].median_s / 1e6, "M lanes/s", "",
          0, "-", std::nullopt, "no goal"});
  Report({"exec", "interpreter, one op", 1e9 / single, "ns", "", 0, "-", std::nullopt, "no goal"});
}

}  // namespace frazil::bench
