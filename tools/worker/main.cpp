// frazil-worker: compiles, verifies and prices for one client (engine/worker/worker.h), which starts it and gives it a socket
// as descriptor 3. Nobody else starts it; --version is for people.
#include <fmt/format.h>
#include <unistd.h>

#include <string>

#include "base/check.h"
#include "engine/worker/worker.h"
#include "engine/worker/worker_process.h"
#include "startup.h"
#include "targets/native/native.h"
#include "verify/smt/smt.h"
#include "verify/x86/x86.h"

namespace {

using namespace frazil;

constexpr int Socket = engine::WorkerProcess::SocketAtWorker;
constexpr int UsageStatus = 64;
constexpr int InternalStatus = engine::WorkerProcess::BrokenInvariantStatus;

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
