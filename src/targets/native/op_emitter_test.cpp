// Every scalar op on every type it has, at every level, as scalar and as vector code, against the interpreter's own
// functions: edge values in all pairs, then bits that lie near the edges of roundings.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "base/test_counts.h"
#include "exec/meaning/scalar_ops.h"
#include "exec/native/native_callable.h"
#include "ir/builder.h"
#include "targets/native/native.h"

namespace frazil::targets::native {
namespace {

using namespace ir::names;
using exec::CpuLevel;

constexpr size_t Count = 3000;

bool IsFullRun() { return TestScale() > 1; }

// Signed integers are extended by their sign, as words of values are.
uint64_t AsWord(Type type, uint64_t bits) {
  const int width = type.scalar == Scalar::Bool ? 1 : ir::BitsOf(type);
  if (width == 64) return bits;
  const uint64_t low = bits & ((uint64_t{1} << width) - 1);
  const bool negative = ir::IsSigned(type.scalar) && (low >> (width - 1)) != 0;
  return negative ? low | ~uint64_t{0} << width : low;
}

std::vector<uint64_t> Edges(Type type) {
  std::vector<uint64_t> edges;
  switch (type.scalar) {
    case Scalar::F32:
      edges = {0,          1,          0x3f800000, 0x3f000000, 0x7f800000, 0x7fc00000, 0x7f800001,
               0x7f7fffff, 0x00800000, 0x007fffff, 0x4b000000, 0x4affffff, 0x3fc00000, 0x40200000,
               0x4f000000, 0x5f000000, 0x5f800000, 0x477fefff, 0x477ff000, 0x38800000, 0x387fe000,
               0x33000000, 0x33000001, 0x7f7f8000, 0x7f7f7fff, 0x3f800001};
      break;
    case Scalar::F64:
      edges = {0,
               1,
               0x3ff0000000000000,
               0x3fe0000000000000,
               0x7ff0000000000000,
               0x7ff8000000000000,
               0x7ff0000000000001,
               0x7fefffffffffffff,
               0x0010000000000000,
               0x000fffffffffffff,
               0x4330000000000000,
               0x432fffffffffffff,
               0x3ff8000000000000,
               0x4004000000000000,
               0x43e0000000000000,
               0x43f0000000000000,
               0x40effdffffffffff,
               0x40effe0000000000,
               0x3f0fffffffffffff,
               0x3e60000000000000,
               0x3e60000000000001,
               0x47efffffffffffff,
               0x36a0000000000000,
               0x3690000000000001,
               0x3ff0000000000001};
      break;
    case Scalar::F16:
      edges = {0,      1,      0x3ff,  0x400,  0x3800, 0x3c00, 0x7bff,
               0x7c00, 0x7c01, 0x7e00, 0x4248, 0x3e00, 0x4100};
      break;
    case Scalar::BF16:
      edges = {0,      1,      0x7f,   0x80,   0x3f00, 0x3f80, 0x7f7f,
               0x7f80, 0x7f81, 0x7fc0, 0x4049, 0x3fc0, 0x4020};
      break;
    case Scalar::Field:
      return {0,
              1,
              2,
              0xffffffff,
              0x100000000,
              0xffffffff00000000,
              0x7fffffff80000000,
              0xfffffffeffffffff};
    default:
      for (uint64_t v : {uint64_t{0}, uint64_t{1}, uint64_t{2}, uint64_t{7}, uint64_t{0x7f},
                         uint64_t{0x80}, uint64_t{0x7fff}, uint64_t{0x8000}, uint64_t{0x7fffffff},
                         uint64_t{0x80000000}, uint64_t{1} << 53, (uint64_t{1} << 53) + 1,
                         (uint64_t{1} << 62) + 0x400, uint64_t{1} << 63, ~uint64_t{0} >> 1,
                         ~uint64_t{0}, ~uint64_t{0} - 1, uint64_t{0xffffffff00000001}})
        edges.push_back(v);
  }
  const int width = type.scalar == Scalar::Bool ? 1 : ir::BitsOf(type);
  if (ir::IsFloat(type.scalar))
    for (size_t i = 0, n = edges.size(); i < n; ++i)
      edges.push_back(edges[i] | uint64_t{1} << (width - 1));
  for (uint64_t& edge : edges) edge = AsWord(type, edge);
  return edges;
}

class Inputs {
 public:
  explicit Inputs(uint64_t seed) : random_(seed) {}

  uint64_t Next(Type type) {
    const std::vector<uint64_t> edges = Edges(type);
    uint64_t bits = random_();
    switch (random_() % 4) {
      case 0: return edges[random_() % edges.size()];
      // Few ones, few zeros: halves of units in the last place, carries.
      case 1: bits &= random_() & random_(); break;
      case 2: bits = edges[random_() % edges.size()] + (random_() % 7) - 3; break;
      default: break;
    }
    if (type.scalar == Scalar::Field) return bits % 0xffffffff00000001u;
    return AsWord(type, bits);
  }

 private:
  std::mt19937_64 random_;
};

// out[i] = op(a[i], b[i], c[i]).
ir::Program LoopOf(Op op, Type type, const std::vector<Type>& from, Type result) {
  using namespace ir;
  Program program;
  std::vector<Type> params;
  for (Type t : from) params.push_back(Type::Buffer(t, Access::In));
  params.push_back(Type::Buffer(result));
  FunctionBuilder b(program, "main", params, {});
  const ValueId out = b.Param(static_cast<uint32_t>(from.size()));
  const ValueId zero = b.ConstInt(types::Index, 0);
  b.Parallel(zero, b.Length(out), [&](ValueId i) {
    std::vector<ValueId> operands;
    for (uint32_t k = 0; k < from.size(); ++k) operands.push_back(b.Load(b.Param(k), i));
    const Type results[] = {result};
    b.Store(out, i, b.Emit(op, type, operands, results)[0]);
  });
  b.Return({});
  b.Finish();
  return program;
}

void Judge(Op op, Type type, const std::vector<Type>& from, Type result) {
  const ir::Program program = LoopOf(op, type, from, result);
  Inputs inputs(static_cast<uint64_t>(op) * 1000 + static_cast<uint64_t>(type.scalar) * 20 +
                static_cast<uint64_t>(from[0].scalar));
  const std::vector<uint64_t> edges_a = Edges(from[0]);
  const std::vector<uint64_t> edges_b = Edges(from.back());
  std::vector<exec::Memory> memories;
  for (Type t : from) memories.emplace_back(t, Count);
  std::vector<uint64_t> expected;
  for (size_t i = 0; i < Count; ++i) {
    uint64_t in[3] = {};
    for (size_t k = 0; k < from.size(); ++k) in[k] = inputs.Next(from[k]);
    if (i < edges_a.size() * edges_b.size()) {
      in[0] = edges_a[i / edges_b.size()];
      in[from.size() - 1] = edges_b[i % edges_b.size()];
    }
    auto value = exec::EvalWord(op, type.scalar, from[0].scalar, in[0], in[1], in[2]);
    // What traps is tested elsewhere; this fits every op, but neg.checked of unsigned types, for which only 0 does.
    for (uint64_t harmless : {1, 0}) {
      if (value) break;
      in[0] = in[1] = in[2] = harmless;
      value = exec::EvalWord(op, type.scalar, from[0].scalar, harmless, harmless, harmless);
    }
    ASSERT_TRUE(value.has_value());
    expected.push_back(*value);
    for (size_t k = 0; k < from.size(); ++k)
      memories[k].Set(static_cast<int64_t>(i), std::span(&in[k], 1));
  }
  for (int level = 0; level <= static_cast<int>(exec::HostLevel()); ++level) {
    for (bool vectorize : {false, true}) {
      // Vector code has tests of its own; all of it here takes minutes under a sanitizer.
      if (vectorize && !IsFullRun()) continue;
      NativeOptions options;
      options.level = static_cast<CpuLevel>(level);
      options.vectorize = vectorize;
      const auto image = EmitImage(program, options);
      ASSERT_TRUE(image.has_value()) << image.error().ToString();
      const auto code = exec::NativeCode::Map(*image);
      ASSERT_TRUE(code.has_value());
      exec::Memory out(result, Count);
      std::vector<uint64_t> arguments;
      for (exec::Memory& memory : memories) {
        arguments.push_back(reinterpret_cast<uintptr_t>(memory.data()));
        arguments.push_back(Count);
      }
      arguments.push_back(reinterpret_cast<uintptr_t>(out.data()));
      arguments.push_back(Count);
      ASSERT_EQ(exec::CallNative(**code, arguments.data(), nullptr, nullptr), 0);
      for (size_t i = 0; i < Count; ++i) {
        uint64_t seen = 0;
        out.Get(static_cast<int64_t>(i), std::span(&seen, 1));
        uint64_t a = 0, b = 0;
        memories[0].Get(static_cast<int64_t>(i), std::span(&a, 1));
        memories.back().Get(static_cast<int64_t>(i), std::span(&b, 1));
        ASSERT_EQ(seen, expected[i])
            << ir::Info(op).mnemonic << " " << ir::ScalarName(type.scalar) << " from "
            << ir::ScalarName(from[0].scalar) << " at " << exec::CpuLevelName(options.level)
            << (vectorize ? " vector " : " scalar ") << std::hex << a << " " << b;
      }
    }
  }
}

bool IsOneWord(Scalar scalar) {
  return scalar != Scalar::Int && scalar != Scalar::XField && scalar != Scalar::Digest;
}

class OpEmitterTest : public testing::TestWithParam<int> {};

TEST_P(OpEmitterTest, AgreesWithTheMeaning) {
  const Type type = Type::Of(static_cast<Scalar>(GetParam()));
  for (const ir::OpInfo& info : ir::AllOps()) {
    if (!ir::Contains(info.types, type.scalar) || info.effect != ir::Effect::Pure ||
        info.law == ir::Law::Prelude)
      continue;
    if (info.signature == "T->T") Judge(info.op, type, {type}, type);
    if (info.signature == "T,T->T") Judge(info.op, type, {type, type}, type);
    if (info.signature == "T,T,T->T") Judge(info.op, type, {type, type, type}, type);
    if (info.signature == "T,T->B") Judge(info.op, type, {type, type}, ir::types::Bool);
  }
}

bool CastExists(Type from, Type to) {
  if (!IsOneWord(from.scalar) || to.scalar == Scalar::Bool || from.scalar == to.scalar)
    return false;
  if (to.scalar == Scalar::Field) return !ir::IsFloat(from.scalar);
  if (from.scalar == Scalar::Field) return to.scalar == Scalar::U64;
  return true;
}

TEST_P(OpEmitterTest, CastsAgreeWithTheMeaning) {
  const Type to = Type::Of(static_cast<Scalar>(GetParam()));
  for (int s = 0; s < ir::ScalarCount; ++s) {
    const Type from = Type::Of(static_cast<Scalar>(s));
    if (CastExists(from, to)) Judge(Op::Cast, to, {from}, to);
    const bool integers =
        ir::IsFixedInt(to.scalar) && (ir::IsFixedInt(from.scalar) || from.scalar == Scalar::Bool);
    if (integers) Judge(Op::CastChecked, to, {from}, to);
  }
}

std::vector<int> OneWordScalars() {
  std::vector<int> scalars;
  for (int s = 0; s < ir::ScalarCount; ++s)
    if (IsOneWord(static_cast<Scalar>(s))) scalars.push_back(s);
  return scalars;
}

INSTANTIATE_TEST_SUITE_P(Types, OpEmitterTest, testing::ValuesIn(OneWordScalars()),
                         [](const auto& info) {
                           return std::string(ir::ScalarName(static_cast<Scalar>(info.param)));
                         });

}  // namespace
}  // namespace frazil::targets::native
