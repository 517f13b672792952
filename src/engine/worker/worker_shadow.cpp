// A real call's arguments, answered once more by the interpreter and by the compiled form, side by side and far from
// the caller. The form comes sealed: what the installation did not vouch for is not run.
#include "engine/worker/wire.h"
#include "engine/worker/worker_compare.h"
#include "engine/worker/worker_serve.h"
#include "exec/guard_eval.h"
#include "exec/meaning/interpreter_program.h"
#include "exec/native/native_callable.h"
#include "ir/digest.h"
#include "ir/text/text.h"

namespace frazil::engine {
namespace {

// The rest of the time is for the compiled form and the copies.
constexpr uint64_t InterpreterShare = 2;

}  // namespace

// Whichever guard it has: its seal makes that true, and it is tested here.
Result<verify::Verified<exec::CompiledForm>> OpenSealed(std::string_view sealed,
                                                        const verify::InstallKey& key,
                                                        const std::string& source_exact) {
  verify::Expected expected;
  expected.source_exact = source_exact;
  expected.target = "native";
  expected.profile = exec::CpuLevelName(exec::HostLevel());
  expected.policy = {verify::Grade::None, verify::Grade::None};
  return verify::Readmit(sealed, key, expected);
}

Result<ShadowReply> ShadowHere(const ShadowRequest& request) {
  auto source = std::make_shared<const ir::Program>(TRY(ir::ParseText(request.program)));
  const auto form = TRY(OpenSealed(request.sealed, request.key, ir::ExactDigest(*source)));
  const std::vector<exec::Value> arguments = TRY(wire::DecodeValues(request.arguments));
  TRY_VOID(exec::CheckLaunch(*source, arguments));
  // The slot would not have used the form for such a call, so there is nothing to agree about.
  const ir::Guard guard = TRY(ir::ParseGuard(form->guard, *source));

  const std::vector<exec::Value> expected_arguments = CopyArguments(arguments);
  const std::vector<exec::Value> found_arguments = CopyArguments(arguments);
  if (!exec::Holds(guard, found_arguments)) return ShadowReply{true, {}};

  exec::RunContext context;
  context.limits.run_ms = request.timeout_ms / InterpreterShare;
  const auto interpreter = TRY(exec::InterpreterProgram::Create(*source));
  const exec::Outcome expected = TRY(interpreter.Run(expected_arguments, context));
  // A run that a limit ended says nothing about the other.
  if (expected.trap && ir::IsLimit(expected.trap->kind)) return ShadowReply{true, {}};

  const auto code = TRY(exec::NativeCode::Map(TRY(exec::ParseImage(form->payload))));
  const auto callable = TRY(exec::MakeNativeCallable(code, source));
  const exec::Outcome found = TRY(callable->Run(found_arguments, context));
  if (!MarginsAreWhole(found_arguments)) return ShadowReply{false, "it writes beside its buffers"};
  if (found.trap && found.trap->kind == ir::Trap::Fuel) return ShadowReply{true, {}};
  std::string difference = Difference({interpreter, arguments, context}, expected,
                                      expected_arguments, found, found_arguments);
  return ShadowReply{difference.empty(), std::move(difference)};
}

}  // namespace frazil::engine
