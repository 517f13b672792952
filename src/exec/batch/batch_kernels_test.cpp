// Every loop, for every instruction set that this machine has, against the op on single words.
#include "exec/batch/batch_kernels.h"

#include <gtest/gtest.h>

#include "exec/meaning/scalar_ops.h"
#include "exec/meaning/scalar_types.h"
#include "exec/random_arguments.h"
#include "exec/test_rows.h"

namespace frazil::exec {
namespace {

using ir::Op;
using ir::Scalar;

constexpr size_t Lanes = 1000;

std::vector<Scalar> OneWordScalars() {
  std::vector<Scalar> scalars;
  for (int s = 0; s < ir::ScalarCount; ++s) {
    if (!IsWide(static_cast<Scalar>(s))) scalars.push_back(static_cast<Scalar>(s));
  }
  return scalars;
}

Memory RandomArray(Scalar scalar, uint64_t seed) {
  Memory memory(ir::Type::Of(scalar), Lanes);
  for (size_t i = 0; i < Lanes; ++i) {
    const Value value = RandomScalar(ir::Type::Of(scalar), seed * Lanes + i);
    memory.Set(static_cast<int64_t>(i), value.scalar_words());
  }
  return memory;
}

uint64_t WordAt(const Memory& memory, size_t i) {
  uint64_t word = 0;
  memory.Get(static_cast<int64_t>(i), std::span(&word, 1));
  return word;
}

void CheckLoop(BatchIsa isa, Op op, Scalar type, Scalar first, Scalar others, Scalar result_type) {
  const Kernel kernel = KernelFor(op, type, first, isa);
  ASSERT_NE(kernel, nullptr);
  const Memory a = RandomArray(first, 1);
  const Memory b = RandomArray(others, 2);
  const Memory c = RandomArray(others, 3);
  Memory result(ir::Type::Of(result_type), Lanes);
  std::vector<uint8_t> traps(Lanes, 0);
  // A trap that is there already stays.
  traps[5] = 77;
  kernel({a.data(), b.data(), c.data(), result.data(), traps.data(), Lanes});
  EXPECT_EQ(traps[5], 77);
  traps[5] = 0;
  for (size_t i = 0; i < Lanes; ++i) {
    if (i == 5) continue;
    const auto expected = EvalWord(op, type, first, WordAt(a, i), WordAt(b, i), WordAt(c, i));
    if (expected) {
      ASSERT_EQ(traps[i], 0);
      ASSERT_EQ(WordAt(result, i), *expected)
          << ir::Info(op).mnemonic << " " << ir::ScalarName(type);
    } else {
      ASSERT_EQ(traps[i], meaning::CodeOf(expected.error()));
    }
  }
}

bool ConversionExists(Op op, Scalar to, Scalar from) {
  using namespace ir::sets;
  const bool number = ir::Contains(Fixed | Float | Bool, from);
  if (op == Op::Bitcast)
    return ir::Contains(Fixed | Float, from) &&
           ir::BitsOf(ir::Type::Of(from)) == ir::BitsOf(ir::Type::Of(to));
  if (op == Op::CastChecked) return ir::Contains(Fixed | Bool, from);
  if (to == Scalar::Field) return ir::Contains(Fixed | Bool, from);
  if (from == Scalar::Field) return to == Scalar::U64;
  return number && to != Scalar::Bool;
}

TEST(BatchKernels, EveryLoop) {
  int checked = 0;
  for (BatchIsa isa : {BatchIsa::Baseline, BatchIsa::Avx2}) {
    if (!MachineHas(isa)) continue;
    for (const ir::OpInfo& info : ScalarRows()) {
      for (Scalar type : OneWordScalars()) {
        if (!ir::Contains(info.types, type)) continue;
        const Scalar result = info.signature.ends_with('B') ? Scalar::Bool : type;
        if (info.signature.starts_with('S')) {
          for (Scalar from : OneWordScalars()) {
            if (ConversionExists(info.op, type, from))
              CheckLoop(isa, info.op, type, from, from, result);
          }
        } else {
          const Scalar first = info.signature.starts_with('B') ? Scalar::Bool : type;
          CheckLoop(isa, info.op, type, first, type, result);
        }
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 300);
}

}  // namespace
}  // namespace frazil::exec
