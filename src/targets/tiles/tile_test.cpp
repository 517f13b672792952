// The tile interpreter against the reference interpreter: every op and type, kernels by hand, random programs.
#include "targets/tiles/tile.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "exec/meaning/scalar_functors.h"
#include "exec/random_arguments.h"
#include "generator/generator.h"
#include "ir/builder.h"
#include "ir/check/check.h"
#include "targets/isa/isa.h"
#include "targets/tiles/test_tile.h"

namespace frazil::targets::tiles {
namespace {

using namespace ir::names;

// z[i] = op(x[i], y[i], w[i]), the operands whose bit is set taken from parameters, the whole under a mask if asked for.
ir::Program MapOf(Op op, ir::Type type, ir::Type source, ir::Type result, int operands, int same,
                  bool masked) {
  ir::Program program;
  const ir::Type in = ir::Type::Buffer(source, ir::Access::In);
  ir::FunctionBuilder b(program, "main",
                        {ir::types::Index, ir::Type::Buffer(ir::types::Bool, ir::Access::In), in,
                         in, in, ir::Type::Buffer(result), source, source, source},
                        {});
  const ValueId zero = b.ConstInt(ir::types::Index, 0);
  b.Parallel(zero, b.Param(0), [&](ValueId i) {
    const auto body = [&] {
      std::vector<ValueId> values;
      for (int k = 0; k < operands; ++k)
        values.push_back((same >> k & 1) != 0 ? b.Param(6 + static_cast<uint32_t>(k))
                                              : b.Load(b.Param(2 + static_cast<uint32_t>(k)), i));
      const ir::Type results[] = {result};
      b.Store(b.Param(5), i, b.Emit(op, type, values, results)[0]);
      return ir::Values{};
    };
    if (masked)
      b.If(b.Load(b.Param(1), i), {}, body, [] { return ir::Values{}; });
    else
      body();
  });
  b.Return({});
  b.Finish();
  return program;
}

std::vector<exec::Value> ArgumentsOf(const ir::Program& program, int64_t lanes, int64_t length,
                                     uint64_t seed) {
  std::vector<exec::Value> arguments;
  const ir::Function& entry = program.entry_function();
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    const ir::Type type = entry.param_type(i);
    if (i == 0)
      arguments.push_back(exec::Value::Int(ir::types::Index, lanes));
    else if (type.is_buffer())
      arguments.push_back(RandomBuffer(type.element(), length, seed * 31 + i));
    else
      arguments.push_back(exec::RandomScalar(type, seed * 17 + i));
  }
  return arguments;
}

void CheckOp(Op op, ir::Type type, ir::Type source, ir::Type result, int operands) {
  const int modes = operands == 1 ? 1 : operands == 2 ? 3 : 1;
  for (int same = 0; same < modes; ++same)
    for (bool masked : {false, true}) {
      const ir::Program program = MapOf(op, type, source, result, operands, same, masked);
      ASSERT_TRUE(ir::Check(program).has_value());
      for (int level = 0; level <= static_cast<int>(embed::HostLevel()); ++level) {
        const Prepared prepared(program, {static_cast<embed::CpuLevel>(level), 64});
        for (int64_t lanes : {0, 1, 2, 7, 63, 64, 65, 259}) {
          if (level != static_cast<int>(embed::HostLevel()) && lanes != 259) continue;
          prepared.ExpectSame(ArgumentsOf(program, lanes, lanes, static_cast<uint64_t>(lanes) + 1));
          ASSERT_FALSE(testing::Test::HasFailure())
              << ir::Info(op).mnemonic << " " << ir::ScalarName(type.scalar) << " lanes " << lanes
              << " same " << same << " masked " << masked;
        }
      }
    }
}

constexpr Scalar Types[] = {Scalar::I8,  Scalar::I16, Scalar::I32,  Scalar::I64,  Scalar::U8,
                            Scalar::U16, Scalar::U32, Scalar::U64,  Scalar::F16,  Scalar::BF16,
                            Scalar::F32, Scalar::F64, Scalar::Bool, Scalar::Index};

bool IsCompare(Op op) {
  return op == Op::Eq || op == Op::Ne || op == Op::Lt || op == Op::Le || op == Op::Gt ||
         op == Op::Ge;
}

TEST(TileOps, EveryOpAndType) {
  struct Row {
    Op op;
    int operands;
  };
  const Row rows[] = {
#define FRAZIL_ROW(Name) {Op::Name, 1},
      FRAZIL_UNARY_OPS(FRAZIL_ROW)
#undef FRAZIL_ROW
#define FRAZIL_ROW(Name) {Op::Name, 2},
          FRAZIL_BINARY_OPS(FRAZIL_ROW)
#undef FRAZIL_ROW
#define FRAZIL_ROW(Name) {Op::Name, 3},
              FRAZIL_TERNARY_OPS(FRAZIL_ROW)
#undef FRAZIL_ROW
  };
  for (const Row& row : rows)
    for (Scalar scalar : Types) {
      if (!ir::Contains(ir::Info(row.op).types, scalar)) continue;
      const ir::Type type = ir::Type::Of(scalar);
      CheckOp(row.op, type, type, IsCompare(row.op) ? ir::types::Bool : type, row.operands);
      if (HasFatalFailure()) return;
    }
}

TEST(TileOps, EveryConversion) {
  for (Op op : {Op::Cast, Op::CastChecked, Op::Bitcast})
    for (Scalar to : Types)
      for (Scalar from : Types) {
        const ir::Program program =
            MapOf(op, ir::Type::Of(to), ir::Type::Of(from), ir::Type::Of(to), 1, 0, false);
        if (!ir::Check(program)) continue;
        const Prepared prepared(program, {.lanes = 64});
        for (int64_t lanes : {1, 65, 259})
          prepared.ExpectSame(ArgumentsOf(program, lanes, lanes, 5));
        ASSERT_FALSE(HasFailure())
            << ir::Info(op).mnemonic << " " << ir::ScalarName(from) << " to " << ir::ScalarName(to);
      }
}

TEST(TileOps, MathByThePrelude) {
  for (const ir::OpInfo& info : ir::AllOps()) {
    if (info.law != ir::Law::Prelude || info.signature == "S,S,S->T") continue;
    for (Scalar scalar : {Scalar::F16, Scalar::BF16, Scalar::F32, Scalar::F64}) {
      if (!ir::Contains(info.types, scalar)) continue;
      const ir::Type type = ir::Type::Of(scalar);
      const ir::Program program =
          MapOf(info.op, type, type, type, info.op == Op::Pow ? 2 : 1, 0, true);
      const Prepared prepared(program, {});
      prepared.ExpectSame(ArgumentsOf(program, 130, 130, 3));
      ASSERT_FALSE(HasFailure()) << info.mnemonic << " " << ir::ScalarName(scalar);
    }
  }
}

void Negate(const void* a, const void*, void* out, int64_t lanes) {
  for (int64_t i = 0; i < lanes; ++i)
    static_cast<float*>(out)[i] = -static_cast<const float*>(a)[i];
}

TEST(TileOps, InstalledMathIsUsed) {
  const ir::Program program =
      MapOf(Op::Tan, ir::types::F32, ir::types::F32, ir::types::F32, 1, 0, false);
  const auto plan = Prepare(program);
  ASSERT_TRUE(plan.has_value());
  const std::vector<exec::Value> arguments = ArgumentsOf(program, 100, 100, 1);
  float first;
  InstallMath(Op::Tan, Scalar::F32, &Negate);
  ASSERT_TRUE(tiles::Run(**plan, arguments).has_value());
  InstallMath(Op::Tan, Scalar::F32, nullptr);
  std::memcpy(&first, arguments[2].memory->data(), 4);
  float result;
  std::memcpy(&result, arguments[5].memory->data(), 4);
  const float expected = -first;
  EXPECT_EQ(0, std::memcmp(&result, &expected, 4));
  Prepared(program, {}).ExpectSame(arguments);
}

uint64_t Seeds() {
  const char* asked = std::getenv("FRAZIL_TILE_SEEDS");
  return asked != nullptr ? std::strtoull(asked, nullptr, 10) : 300;
}

TEST(TileRandom, Programs) {
  int tiled = 0;
  for (uint64_t seed = 1; seed <= Seeds(); ++seed) {
    generator::GeneratorOptions options;
    options.seed = seed;
    options.allow_tensors = false;
    options.allow_streams = seed % 16 == 0;
    options.allow_calls = seed % 8 == 0;
    options.types = ir::sets::Fixed | ir::sets::Float | ir::sets::Bool;
    options.allow_traps = seed % 2 == 0;
    const ir::Program program = generator::Generate(options);
    for (uint32_t lanes : {0u, 64u}) {
      const Prepared prepared(program, {.lanes = lanes});
      tiled += Describe(prepared.plan()).find(": tiles") != std::string::npos ? 1 : 0;
      for (uint64_t run = 0; run < 2; ++run)
        prepared.ExpectSame(exec::RandomArguments(program, seed * 100 + run),
                            exec::RandomContext(program, seed));
      ASSERT_FALSE(HasFailure()) << "seed " << seed << "\n" << ir::PrintText(program);
    }
  }
  EXPECT_GT(tiled, static_cast<int>(Seeds()) / 10);
}

}  // namespace
}  // namespace frazil::targets::tiles
