// The .frz reader on anything: an error with a place, or a program that prints, re-reads, canonicalizes,
// lowers and runs (on little fuel) without a crash.
#include <string_view>

#include "base/check.h"
#include "exec/meaning/interpreter.h"
#include "ir/digest.h"
#include "ir/lower/lower.h"
#include "ir/text/text.h"

namespace {

frazil::Limits SmallLimits() {
  frazil::Limits limits;
  limits.fuel = 1000;
  limits.depth = 20;
  limits.memory_bytes = 1 << 20;
  limits.run_ms = 500;
  limits.program_insts = 100'000;
  return limits;
}

// Scalars of zeros; programs with other parameters are only read.
void RunOnZeros(const frazil::ir::Program& program, const frazil::Limits& limits) {
  using namespace frazil;
  const ir::Function& entry = program.entry_function();
  std::vector<exec::Value> arguments;
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    if (!entry.param_type(i).is_scalar()) return;
    std::vector<uint64_t> words(ir::WordsOf(entry.param_type(i)), 0);
    arguments.push_back(exec::Value::Scalar(entry.param_type(i), words));
  }
  exec::RunContext context;
  context.limits = limits;
  (void)exec::Interpret(program, arguments, context);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace frazil;
  Limits limits = SmallLimits();
  Result<ir::Program> program = ir::ParseText({reinterpret_cast<const char*>(data), size}, limits);
  if (!program) {
    CHECK(ClassOf(program.error().diag) != ErrorClass::Internal);
    return 0;
  }
  std::string printed = ir::PrintText(*program);
  Result<ir::Program> again = ir::ParseText(printed, limits);
  CHECK(again.has_value());
  CHECK(ir::PrintText(*again) == printed);
  CHECK(ir::ExactDigest(*program) == ir::ExactDigest(*again));
  ir::Program canonical = ir::Canonicalize(*program);
  CHECK(ir::PrintText(ir::Canonicalize(canonical)) == ir::PrintText(canonical));
  (void)ir::LowerForTarget(*program, limits);
  RunOnZeros(*program, limits);
  return 0;
}
