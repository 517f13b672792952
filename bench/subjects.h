// What the benchmarks and the guard of `make test` (tests/guard) measure alike.
#pragma once

#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "dispatch/slot.h"
#include "ir/builder.h"
#include "ir/digest.h"
#include "ir/text.h"
#include "verify/verify.h"

namespace frazil::bench {

// A call of three buffers and two scalars whose code does next to nothing, behind four guard atoms.
struct SmallCall {
  static constexpr char Text[] = R"(frz 1
func @main(%x: in buffer<f32>, %y: in buffer<f32>, %z: out buffer<f32>, %a: f32, %n: i64) -> (i64) {
  return %n
}
)";
  static constexpr char Guard[] =
      "len(arg0) % 8 == 0 && align(arg0) >= 32 && disjoint(arg0, arg2) && 1 <= arg4 <= 1000000";
  // mov rax, [rdi + 56]; mov [rsi], rax; xor eax, eax; ret
  static constexpr std::string_view Code = {"\x48\x8b\x47\x38\x48\x89\x06\x31\xc0\xc3", 10};

  // Verified as all code is.
  static verify::Verified<exec::CompiledForm> MakeForm(const ir::Program& program) {
    const ir::Candidate candidate{program, *ir::ParseGuard(Guard, program), {}, "by hand"};
    exec::CompiledForm form;
    form.source_exact = form.candidate_exact = ir::ExactDigest(program);
    form.guard = ir::PrintGuard(candidate.guard);
    form.candidate = ir::PrintText(ir::Canonicalize(program));
    form.target = "native";
    form.toolchain = "by hand";
    form.image.uses_run = false;
    form.image.code = Code;
    Result<verify::Examined> examined =
        verify::Examine(program, candidate, form, verify::Policy::Default(program));
    CHECK(examined && examined->form);
    return *examined->form;
  }

  alignas(64) float memory[3][64] = {};
  uint64_t arguments[8] = {reinterpret_cast<uint64_t>(memory[0]),
                           64,
                           reinterpret_cast<uint64_t>(memory[1]),
                           64,
                           reinterpret_cast<uint64_t>(memory[2]),
                           64,
                           0x3f800000,
                           7};
};

// f32 trees over two inputs, no two ops alike, so that there is nothing to share or to fold.
inline ir::Program ElementwiseTree(size_t ops) {
  using namespace ir;
  Program program;
  const Type in = Type::Buffer(types::F32, Access::In);
  FunctionBuilder b(program, "main", {in, in, Type::Buffer(types::F32, Access::Out)}, {});
  const ValueId zero = b.ConstInt(types::Index, 0);
  b.Parallel(zero, b.Length(b.Param(2)), [&](ValueId i) {
    std::vector<ValueId> live = {b.Load(b.Param(0), i), b.Load(b.Param(1), i)};
    constexpr Op Ops[] = {Op::Add, Op::Mul, Op::Sub, Op::Max, Op::Mul, Op::Min, Op::Add, Op::Sub};
    for (size_t k = 0; k < ops; ++k) {
      const ValueId x = live[live.size() - 1];
      const ValueId y = live[(k * 5 + 1) % (live.size() > 1 ? live.size() - 1 : 1)];
      live.push_back(b.Binary(Ops[k % std::size(Ops)], x, y));
      if (live.size() > 12) live.erase(live.begin() + 2);
    }
    b.Store(b.Param(2), i, live.back());
  });
  b.Return({});
  b.Finish();
  return program;
}

}  // namespace frazil::bench
