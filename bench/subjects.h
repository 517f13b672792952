// What the benchmarks and the guard of `make test` (tests/guard) measure alike.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <memory>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "dispatch/slot.h"
#include "ir/builder.h"
#include "ir/digest.h"
#include "ir/signed_program.h"
#include "ir/text/text.h"
#include "verify/verify.h"

namespace frazil::bench {

// Code that was written by hand, verified as all code is.
inline verify::Verified<exec::CompiledForm> FormByHand(const ir::Program& program,
                                                       const ir::Guard& guard,
                                                       std::string_view code) {
  const ir::Candidate candidate{program, guard, {}, "by hand"};
  exec::CompiledForm form;
  form.source_exact = form.candidate_exact = ir::ExactDigest(program);
  form.guard = ir::PrintGuard(guard);
  form.candidate = ir::PrintText(ir::Canonicalize(program));
  form.toolchain = "by hand";
  exec::NativeImage image;
  image.uses_run = false;
  image.code = code;
  exec::PutImage(form, image);
  Result<verify::Examined> examined =
      verify::Examine(program, candidate, form, verify::Policy::Default(program));
  if (examined && !examined->form) fmt::print(stderr, "by hand: {}\n", examined->refusal);
  CHECK(examined && examined->form);
  return *examined->form;
}

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

  static verify::Verified<exec::CompiledForm> MakeForm(const ir::Program& program) {
    return FormByHand(program, *ir::ParseGuard(Guard, program), Code);
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

// A call of so many buffers, every third of which is written, and a scalar that its code gives back.
struct ManyBuffersCall {
  // mov rax, [rdi]; mov [rsi], rax; xor eax, eax; ret
  static constexpr std::string_view Code = {"\x48\x8b\x07\x48\x89\x06\x31\xc0\xc3", 9};

  explicit ManyBuffersCall(uint32_t buffers) {
    using namespace ir;
    Program program;
    std::vector<Type> params = {types::I64};
    for (uint32_t i = 0; i < buffers; ++i)
      params.push_back(Type::Buffer(types::F32, i % 3 == 0 ? Access::Out : Access::In));
    FunctionBuilder b(program, "main", params, {types::I64});
    b.Return({b.Param(0)});
    b.Finish();
    source = SignedProgram::Of(std::move(program));
    memory.resize(size_t{64} * buffers);
    arguments.push_back(7);
    for (uint32_t i = 0; i < buffers; ++i)
      arguments.insert(arguments.end(), {reinterpret_cast<uint64_t>(&memory[size_t{64} * i]), 64});
  }

  verify::Verified<exec::CompiledForm> MakeForm() const {
    return FormByHand(source->program(), {}, Code);
  }

  std::shared_ptr<const ir::SignedProgram> source;
  std::vector<float> memory;
  std::vector<uint64_t> arguments;
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
