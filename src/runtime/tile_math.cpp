#include "runtime/tile_math.h"

#include <cstdint>

#include "base/check.h"
#include "embed/launch.h"
#include "ir/op.h"
#include "runtime/standard.h"
#include "targets/tiles/tile.h"

namespace frazil::runtime::internal {
namespace {

struct MathKernel {
  ir::Op op;
  const char* name;
  bool is_binary = false;
};
constexpr MathKernel Kernels[] = {
    {ir::Op::Exp, "vector_exp"}, {ir::Op::Log, "vector_log"},     {ir::Op::Sin, "vector_sin"},
    {ir::Op::Cos, "vector_cos"}, {ir::Op::Rsqrt, "vector_rsqrt"}, {ir::Op::Tanh, "tanh_activation"},
    {ir::Op::Gelu, "gelu"},      {ir::Op::Sigmoid, "sigmoid"},    {ir::Op::Pow, "vector_pow", true},
};

struct Code {
  embed::NativeEntry entry = nullptr;
  bool uses_run = true;
};

Code CodeOf(const MathKernel& math) {
  const embed::KernelData* kernel = StandardKernels().Find(math.name);
  if (kernel == nullptr) return {};
  return {kernel->plain_entry(embed::UsedLevel()), (kernel->flags & embed::PlainUsesRun) != 0};
}

// One function for each row, because a function of the table has no room for anything but elements.
template <size_t Row>
void Apply(const void* a, const void* b, void* out, int64_t lanes) {
  static const Code code = CodeOf(Kernels[Row]);
  const auto n = static_cast<uint64_t>(lanes);
  uint64_t words[9];
  uint32_t count = 0;
  const auto add = [&](const void* data) {
    words[count++] = reinterpret_cast<uint64_t>(data);
    words[count++] = n;
  };
  add(a);
  if (Kernels[Row].is_binary) add(b);
  add(out);
  words[count++] = n;
  // For those that have their code only as a ranged form (embed::PlainIsRanged); the others do not look.
  words[count++] = embed::AllBegin;
  words[count] = embed::AllEnd;
  const int32_t status = code.entry(words, nullptr, code.uses_run ? embed::ThreadRun() : nullptr);
  CHECK(status == 0);
}

template <size_t... Rows>
void InstallAll(std::index_sequence<Rows...>) {
  const auto install = [](const MathKernel& math, targets::tiles::MathFunction function) {
    if (CodeOf(math).entry != nullptr)
      targets::tiles::InstallMath(math.op, ir::Scalar::F32, function);
  };
  (install(Kernels[Rows], Apply<Rows>), ...);
}

}  // namespace

void InstallTileMath() {
  static const bool installed = (InstallAll(std::make_index_sequence<std::size(Kernels)>()), true);
  (void)installed;
}

}  // namespace frazil::runtime::internal
