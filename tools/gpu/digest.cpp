// The table of functions comes from ops.def, so that a new one is swept without a line here.
#include "digest.h"

#include "ir/builder.h"

namespace frazil::gpu {

using ir::Op;
using ir::ValueId;
namespace types = ir::types;

std::vector<UnaryFunction> UnaryFunctions() {
  std::vector<UnaryFunction> functions;
  for (const ir::OpInfo& info : ir::AllOps())
    if (info.signature == "T->T" && ir::Contains(info.types, ir::Scalar::F32))
      functions.push_back({std::string(info.mnemonic), info.op, types::F32});
  for (ir::Type type : {types::F16, types::BF16, types::F64, types::I8, types::U16, types::I32,
                        types::U32, types::I64, types::U64})
    functions.push_back({"cast." + std::string(ir::ScalarName(type.scalar)), Op::Cast, type});
  return functions;
}

ir::Program DigestProgram(const UnaryFunction& function) {
  ir::Program program;
  ir::FunctionBuilder b(program, "main", {types::Index, types::Index, ir::Type::Buffer(types::U64)},
                        {});
  const ValueId zero = b.ConstInt(types::Index, 0);
  const ValueId chunk = b.ConstInt(types::Index, static_cast<int64_t>(InputsPerChunk));
  auto shift_mix = [&](ValueId w, int64_t shift) {
    return b.Binary(Op::Xor, w, b.Binary(Op::Shr, w, b.ConstInt(types::U64, shift)));
  };
  auto times = [&](ValueId w, uint64_t factor) {
    return b.Binary(Op::Mul, w, b.Const(types::U64, std::span(&factor, 1)));
  };
  auto word_of = [&](ValueId value, ir::Type type) {
    if (!ir::IsFloat(type.scalar)) return b.Cast(Op::Cast, value, types::U64);
    const int bits = ir::BitsOf(type);
    const ir::Type same = bits == 16 ? types::U16 : bits == 32 ? types::U32 : types::U64;
    const ValueId whole = b.Cast(Op::Bitcast, value, same);
    return bits == 64 ? whole : b.Cast(Op::Cast, whole, types::U64);
  };
  b.Parallel(zero, b.Param(1), [&](ValueId t) {
    const ValueId base = b.Binary(Op::Mul, b.Binary(Op::Add, b.Param(0), t), chunk);
    const ValueId start = b.ConstInt(types::U64, 0);
    const ir::Values sum = b.For(
        zero, chunk, 1, std::span(&start, 1), [&](ValueId k, std::span<const ValueId> carried) {
          const ValueId bits = b.Cast(Op::Cast, b.Binary(Op::Add, base, k), types::U32);
          const ValueId x = b.Cast(Op::Bitcast, bits, types::F32);
          const ValueId y = function.op == Op::Cast ? b.Cast(Op::Cast, x, function.result)
                                                    : b.Unary(function.op, x);
          const ValueId high =
              b.Binary(Op::Shl, b.Cast(Op::Cast, bits, types::U64), b.ConstInt(types::U64, 32));
          ValueId w = b.Binary(Op::Xor, high, word_of(y, function.result));
          w = times(shift_mix(w, 30), 0xbf58476d1ce4e5b9);
          w = times(shift_mix(w, 27), 0x94d049bb133111eb);
          return ir::Values{b.Binary(Op::Add, carried[0], shift_mix(w, 31))};
        });
    b.Store(b.Param(2), t, sum[0]);
  });
  b.Return({});
  b.Finish();
  return program;
}

std::vector<uint64_t> FoldChunks(std::span<const uint64_t> chunks) {
  std::vector<uint64_t> digests(chunks.size() / ChunksPerDigest, 0);
  for (size_t i = 0; i < digests.size() * ChunksPerDigest; ++i)
    digests[i / ChunksPerDigest] += chunks[i];
  return digests;
}

}  // namespace frazil::gpu
