// frazil-worker: a process that compiles, verifies and prices candidates, so that a miscompile, an abort, a hang or
// a lack of memory costs a candidate and not the user's process, which never maps LLVM or Z3.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "engine/attempt.h"
#include "engine/event.h"
#include "exec/native/native_code.h"
#include "exec/target.h"
#include "optimize/optimize.h"
#include "verify/verify.h"

namespace frazil::engine {

struct WorkRequest {
  std::string program;  // canonical text of the source
  exec::CpuLevel level = exec::HostLevel();
  optimize::Observed observed;  // specialize only if constants were observed
  bool specialize = false;
  std::string foreign_candidate;  // a proposal from a foreign store entry: its text; "" = none
  std::string foreign_guard = "true";
  std::vector<std::string> banned;  // exact digests of candidates not to be proposed
  std::string sample_arguments;  // of a real call (wire::EncodeValues), to price with; "" = made up
  bool tuned = false;            // code that takes longer to make; else the form that comes first
  std::string in_use;            // sealed, the form that is to be beaten; "" = the interpreter
  bool same_candidate =
      false;  // as the form in use: other code of it is wanted, not another program
  // With it: a recent call by its parameters, the words of scalars and the lengths of buffers; empty = not known.
  std::vector<std::vector<uint64_t>> recent_call;
  verify::Policy policy;
  verify::InstallKey key;  // to seal the answer with
  uint64_t timeout_ms = 10'000;
};

struct WorkReply {
  std::string sealed;         // verify::Seal of the best verified form; empty: none was verified
  std::vector<Event> events;  // what was tried: proposed, lowered, verified, priced, refused
  std::vector<Attempt> attempts;  // what became of each proposal
  std::string log() const;        // the events, a line each
  // Candidates whose code was run and was wrong. It may have written anywhere, so the worker stopped there and then and
  // sealed nothing; what else there is to try is for another one, which is not to be given these.
  std::vector<std::string> refuted;
  double compile_ms = 0, verify_ms = 0, price_ms = 0;
  // Filled in by the client: which of its workers said so (Worker::spawned), and what that one said it is.
  uint64_t worker = 0;
  std::string toolchain;
};

// A lowered form run against copies of real inputs, for shadowing: did it agree with the interpreter?
struct ShadowRequest {
  std::string program;    // source, canonical text
  std::string sealed;     // the solid form
  std::string arguments;  // serialized values (engine/worker/wire.h)
  verify::InstallKey key;
  uint64_t timeout_ms = 2'000;
};
struct ShadowReply {
  bool agreed = false;
  std::string difference;
};

struct WorkerOptions {
  std::string program;  // path of frazil-worker; empty: where engine/worker/find_worker.h finds it
  uint64_t memory_bytes = 1ull << 30;
  uint64_t cpu_seconds = 60;   // of one request
  uint64_t start_ms = 10'000;  // from the spawn to the first sign of life
};

// The client: spawns lazily, reuses, kills on time-out, respawns after a crash (a few times, then gives up and says
// so once). One request at a time; calls may come from any thread.
class Worker {
 public:
  explicit Worker(WorkerOptions options = {});
  ~Worker();
  Result<WorkReply> Improve(const WorkRequest& request);
  Result<ShadowReply> Shadow(const ShadowRequest& request);
  bool busy() const;
  int64_t pid() const;  // -1: not running
  uint64_t spawned() const;
  // Who would make code: as the worker said that runs, else as its program's file says (nothing is started); empty: there
  // is no worker, or its file does not say. Then nothing that it made can be known.
  std::string toolchain() const;
  // Ends a worker that was caught, if it is still the one with this number.
  void Dismiss(uint64_t number, const std::string& why);
  // Numbers of workers that answered with nonsense, each told once.
  std::vector<uint64_t> TakeCaught();
  // One sentence, once, after something went wrong for the first time; empty afterwards.
  std::string TakeComplaint();
  void Stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The other side: serves requests on a socket until its end. tools/worker calls it with the native target linked in.
int ServeWorker(int socket, const exec::Target& native, uint64_t cpu_seconds_per_request = 0);
// The same work in this process, for command-line tools and tests.
Result<WorkReply> ImproveHere(const WorkRequest& request, const exec::Target& native);

}  // namespace frazil::engine
