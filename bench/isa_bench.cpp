// The ISA: how long a kernel takes to be lowered, loaded, lifted and proved. What is measured is saxpy; the proof is what
// lets tier 1 begin at once.
#include <fmt/format.h>

#include "base/check.h"
#include "harness.h"
#include "ir/builder.h"
#include "targets/isa/isa.h"

namespace frazil::bench {
namespace {

ir::Program Saxpy() {
  using namespace ir;
  Program program;
  FunctionBuilder b(
      program, "saxpy",
      {types::F32, Type::Buffer(types::F32, Access::In), Type::Buffer(types::F32), types::U32}, {});
  ValueId zero = b.ConstInt(types::Index, 0), bound = b.Cast(Op::Cast, b.Param(3), types::Index);
  b.Parallel(zero, bound, [&](ValueId i) {
    ValueId product = b.Binary(Op::Mul, b.Param(0), b.Load(b.Param(1), i));
    b.Store(b.Param(2), i, b.Binary(Op::Add, product, b.Load(b.Param(2), i)));
  });
  b.Return({});
  b.Finish();
  return program;
}

}  // namespace

FRAZIL_FIGURE(isa) {
  constexpr int Times1000 = 1000;
  ir::Program program = Saxpy();
  Result<machines::simt::Module> module = targets::isa::Lower(program);
  CHECK(module.has_value());
  auto repeat = [](auto function) {
    return [function] {
      for (int i = 0; i < Times1000; ++i) Keep(function().has_value());
    };
  };
  std::vector<Times> times =
      Interleave({repeat([&] { return targets::isa::Lower(program); }),
                  repeat([&] { return machines::simt::LoadModule(nullptr, module->bytes); }),
                  repeat([&] { return targets::isa::ProvedModule::Prove(program, *module); })},
                 15);
  const char* names[] = {"lower saxpy, verified", "load and verify saxpy's .frzb",
                         "prove saxpy's lowering: lift and both digests"};
  for (size_t i = 0; i < times.size(); ++i) {
    double us = times[i].min_s / Times1000 * 1e6;
    Report({"isa", names[i], us, "us", "", 0, "<= 20 us", us <= 20});
  }
}

}  // namespace frazil::bench
