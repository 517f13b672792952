// Any text as TIR: refused with a place, or a program that is printed and read again the same. What is well-formed is
// lowered, and both sides run alike; its blocks come back from their encoding; as IR it is accepted or refused.
#include <algorithm>
#include <string_view>

#include "base/check.h"
#include "base/utf8.h"
#include "frontends/tir/tir.h"
#include "machines/tasm/tip5/tip5.h"
#include "machines/tir/blocks.h"
#include "machines/tir/interpreter.h"
#include "targets/tasm/tasm.h"

namespace {

using namespace frazil;
namespace tir = machines::tir;
namespace mt = machines::tasm;

void Permutation(std::array<uint64_t, 16>& state) {
  mt::Tip5State tip5{state};
  mt::Permute(tip5);
  state = tip5.elements;
}

void RunBoth(const tir::Program& program, const mt::Program& assembly) {
  tir::Inputs inputs;
  inputs.input = {1, 2, 3, 0, 5, 6};
  inputs.secret = {7, 8, 0, 10};
  inputs.digests = {{1, 2, 3, 4, 5}};
  const mt::Digest digest = mt::ProgramDigest(assembly);
  std::copy(digest.rbegin(), digest.rend(), inputs.stack.begin());
  const Result<tir::RunResult> expected = tir::Interpret(program, inputs, Permutation, 2000);
  if (!expected || (expected->crash && expected->crash->kind == tir::CrashKind::Steps)) return;
  mt::RunLimits limits;
  limits.cycles = 1'000'000;
  const mt::RunResult run =
      mt::Run(assembly, {inputs.input, inputs.secret, inputs.digests, {}}, limits);
  CHECK(run.crash.has_value() == expected->crash.has_value());
  CHECK(run.output == expected->output);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Result<tir::Program> program = tir::Parse({reinterpret_cast<const char*>(data), size});
  if (!program) {
    CHECK(!program.error().message.empty());
    CHECK(Printable(program.error().message) == program.error().message);
    return 0;
  }
  const Result<tir::Program> again = tir::Parse(tir::Print(*program));
  CHECK(again.has_value() && again->ops == program->ops);
  if (!tir::Check(*program)) return 0;
  if (const auto blocks = tir::ExtractBlocks(*program)) {
    for (const tir::Block& block : *blocks) {
      const Result<tir::Block> decoded = tir::Decode(tir::Encode(block));
      CHECK(decoded.has_value() && *decoded == block);
    }
  }
  for (const mt::Profile profile : {mt::Profile::Dot, mt::Profile::Horner}) {
    targets::tasm::TasmOptions options;
    options.profile = profile;
    if (const auto assembly = targets::tasm::LowerTir(*program, options))
      RunBoth(*program, *assembly);
  }
  const Result<ir::Program> made = frontends::tir::FromTir(*program);
  CHECK(made.has_value() || made.error().diag != Diag::Internal);
  return 0;
}
