// Products by rows against products one output after the other: all small shapes, then larger ones, of edge values.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

#include "exec/batch/batch_rows.h"
#include "exec/meaning/scalar_ops.h"
#include "exec/meaning/tensors/tensor_ops.h"
#include "exec/random_arguments.h"

namespace frazil::exec {
namespace {

using ir::Scalar;

constexpr Scalar Types[] = {Scalar::F32,   Scalar::F64,   Scalar::F16,   Scalar::BF16,
                            Scalar::I8,    Scalar::U16,   Scalar::I32,   Scalar::U64,
                            Scalar::Index, Scalar::Field, Scalar::XField};

Object Make(Scalar scalar, std::vector<int64_t> dims, Random* random) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  Object object{std::make_shared<Memory>(ir::Type::Of(scalar), count), std::move(dims)};
  for (int64_t i = 0; i < count && random != nullptr; ++i)
    object.memory->Set(i, RandomWords(ir::Type::Of(scalar), *random));
  return object;
}

bool Never() { return false; }

void CheckShape(Scalar scalar, int64_t batch, int64_t m, int64_t k, int64_t n, bool fast,
                uint64_t seed) {
  Random random(seed);
  const Object a = Make(scalar, {batch, m, k}, &random), b = Make(scalar, {batch, k, n}, &random);
  Object rows = Make(scalar, {batch, m, n}, nullptr), chains = Make(scalar, {batch, m, n}, nullptr);
  ASSERT_TRUE(Matmul(a, b, fast, Never, rows));
  ASSERT_TRUE(MatmulByChains(a, b, fast, Never, chains));
  ASSERT_EQ(std::vector(rows.memory->data(), rows.memory->data() + rows.memory->size_bytes()),
            std::vector(chains.memory->data(), chains.memory->data() + chains.memory->size_bytes()))
      << ir::ScalarName(scalar) << " " << batch << "x" << m << "x" << k << "x" << n << " seed "
      << seed;
}

TEST(MatmulRows, AllSmallShapes) {
  for (const Scalar scalar : Types)
    for (int64_t batch = 0; batch < 3; ++batch)
      for (int64_t m = 0; m < 4; ++m)
        for (int64_t k = 0; k < 5; ++k)
          for (int64_t n = 0; n < 6; ++n)
            for (uint64_t seed = 0; seed < 3; ++seed)
              CheckShape(scalar, batch, m, k, n, seed == 2 && ir::Contains(ir::sets::Wide, scalar),
                         seed);
}

TEST(MatmulRows, LargerShapes) {
  Random random(1);
  for (uint64_t seed = 0; seed < 120; ++seed) {
    const Scalar scalar = random.Chance(60) ? Types[random.Below(4)] : random.Pick(Types);
    CheckShape(scalar, random.Between(1, 2), random.Between(1, 20), random.Between(1, 40),
               random.Between(1, 70), ir::Contains(ir::sets::Wide, scalar) && random.Chance(30),
               seed);
  }
}

// On every instruction set that this machine has.
TEST(MatmulRows, EveryInstructionSet) {
  constexpr size_t Depth = 9, Columns = 37;
  for (const BatchIsa isa : {BatchIsa::Baseline, BatchIsa::Avx2}) {
    if (!MachineHas(isa)) continue;
    for (const Scalar scalar : {Scalar::F32, Scalar::F64}) {
      const ir::Type type = ir::Type::Of(scalar);
      for (uint64_t seed = 0; seed < 20; ++seed) {
        Random random(seed);
        const Object a = Make(scalar, {Depth}, &random),
                     b = Make(scalar, {Depth, Columns}, &random);
        Memory sums(type, Columns);
        RowKernelFor(scalar, true,
                     isa)({a.memory->data(), b.memory->data(), sums.data(), Depth, Columns});
        for (int64_t j = 0; j < static_cast<int64_t>(Columns); ++j) {
          uint64_t sum = 0, x = 0, y = 0, found = 0;
          for (int64_t k = 0; k < static_cast<int64_t>(Depth); ++k) {
            a.memory->Get(k, {&x, 1});
            b.memory->Get(k * static_cast<int64_t>(Columns) + j, {&y, 1});
            sum = *EvalWord(ir::Op::Fma, scalar, scalar, x, y, sum);
          }
          sums.Get(j, {&found, 1});
          ASSERT_EQ(found, sum) << ir::ScalarName(scalar) << " seed " << seed << " column " << j;
        }
      }
    }
  }
  EXPECT_EQ(RowKernelFor(Scalar::XField, false), nullptr);
  EXPECT_EQ(RowKernelFor(Scalar::F16, true), nullptr);
}

TEST(MatmulRows, EndsWhenAsked) {
  const Object a = Make(Scalar::F32, {8, 8}, nullptr), b = Make(Scalar::F32, {8, 8}, nullptr);
  Object to = Make(Scalar::F32, {8, 8}, nullptr);
  int asked = 0;
  EXPECT_FALSE(Matmul(a, b, false, [&] { return ++asked == 3; }, to));
  EXPECT_EQ(asked, 3);
}

}  // namespace
}  // namespace frazil::exec
