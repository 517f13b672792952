// frazil-worker: compiles, verifies and prices for one client (engine/worker/worker.h), which starts it and gives it a socket
// as descriptor 3. With --emit=TARGET it makes one artifact instead, a proposal: the program is read from the standard input.
// Nobody else starts it; --version is for people.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "base/check.h"
#include "engine/worker/worker.h"
#include "engine/worker/worker_process.h"
#include "ir/text/text.h"
#include "startup.h"
#include "targets/cuda/cuda.h"
#include "targets/native/native.h"
#include "verify/smt/smt.h"
#include "verify/x86/x86.h"

namespace {

using namespace frazil;

constexpr std::string_view EmitOption = "--emit=";
constexpr int Socket = engine::WorkerProcess::SocketAtWorker;
constexpr int UsageStatus = 64, RefusedStatus = 1;
constexpr int InternalStatus = engine::WorkerProcess::BrokenInvariantStatus;

// Executors ask for code of targets that this machine's compiler is not for (runtime/home.h); they judge it where it runs.
Result<std::string> EmitFor(std::string_view target) {
  if (target != "cuda")
    return Fail(Diag::UnknownTarget, fmt::format("nothing is emitted for '{}' here", target));
  std::string text;
  char bytes[1 << 16];
  while (const size_t count = std::fread(bytes, 1, sizeof(bytes), stdin)) text.append(bytes, count);
  const auto cuda = targets::cuda::MakeCudaTarget();
  return TRY(cuda->Emit(TRY(ir::ParseText(text)))).bytes;
}

int EmitOne(std::string_view target) {
  const Result<std::string> bytes = EmitFor(target);
  if (!bytes) {
    fmt::print(stderr, "{}\n", bytes.error().message);
    return RefusedStatus;
  }
  const bool is_written = std::fwrite(bytes->data(), 1, bytes->size(), stdout) == bytes->size();
  return is_written && std::fflush(stdout) == 0 ? 0 : RefusedStatus;
}

// State that broke an invariant serves no further request; the client knows the status.
void OnBrokenInvariant(const char* file, int line, const char* condition) {
  fmt::print(stderr, "frazil-worker: broken invariant at {}:{}: {}\n", file, line, condition);
  ::_exit(InternalStatus);
}

}  // namespace

int main(int argc, char** argv) {
  worker::StartOptions options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--version") {
      fmt::print("frazil-worker {}, {}, {}\n", FRAZIL_VERSION, targets::native::CompilerName(),
                 targets::native::Toolchain());
      return 0;
    }
    if (argument.starts_with(EmitOption)) {
      worker::TakeLimits(options);
      SetCheckHandler(OnBrokenInvariant);
      return EmitOne(std::string_view(argument).substr(EmitOption.size()));
    }
    if (worker::ReadOption(argument, options)) continue;
    fmt::print(stderr, "frazil-worker: unknown option {}\n", argument);
    return UsageStatus;
  }
  if (!worker::IsWorkerSocket(Socket)) {
    fmt::print(stderr,
               "frazil-worker is started by Frazil itself, with a socket as descriptor {}\n",
               Socket);
    return UsageStatus;
  }
  worker::TakeLimits(options);
  worker::DieWithParent(Socket);
  SetCheckHandler(OnBrokenInvariant);
  verify::smt::RegisterZ3();
  verify::x86::RegisterReader();
  const std::unique_ptr<exec::Target> native = targets::native::MakeNativeTarget();
  // Straight out: nothing here is worth a destructor.
  ::_exit(engine::ServeWorker(Socket, *native, options.cpu_seconds));
}
