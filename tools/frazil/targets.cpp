// Targets that need a compiler, and runs that end in time.
#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "base/deadline.h"
#include "cli.h"
#include "targets/cuda/cuda.h"
#include "targets/native/native.h"

namespace frazil::cli {

void RegisterTargets() {
  // The judge of native code is verify's own.
  registry::RegisterTarget(
      {"native", [] { return targets::native::MakeNativeTarget(); }, {}, "cuda"});
  registry::RegisterTarget(
      {"cuda", [] { return targets::cuda::MakeCudaTarget(); }, verify::RunsJudge, "tasm"});
}

Result<exec::Outcome> RunWatched(const Session& session, exec::Callable& callable,
                                 std::span<const exec::Value> arguments,
                                 const exec::RunContext& context) {
  // What can be interrupted ends by itself before.
  constexpr std::chrono::milliseconds Grace(1000);
  std::mutex mutex;
  std::condition_variable wake;
  bool done = false;
  std::thread watch([&] {
    std::unique_lock lock(mutex);
    const auto end = Deadline::After(context.limits.run_ms).at() + Grace;
    if (wake.wait_until(lock, end, [&] { return done; })) return;
    const auto failed =
        Fail(Diag::LimitReached,
             fmt::format("time-out: the run took longer than {} ms and was ended (--timeout-ms)",
                         context.limits.run_ms));
    const int code = Report(session, failed.error());
    std::fflush(nullptr);
    std::_Exit(code);
  });
  Result<exec::Outcome> outcome = callable.Run(arguments, context);
  {
    std::lock_guard lock(mutex);
    done = true;
  }
  wake.notify_all();
  watch.join();
  return outcome;
}

}  // namespace frazil::cli
