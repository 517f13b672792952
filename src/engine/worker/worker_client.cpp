// The client. Whatever happens to the worker is an Error of class Environment for the one request it happened to; the
// next request gets a new worker, after a pause that grows with each failure in a row, until there have been too many.
//
// Forks: a child of the user's process inherits this object with a socket that is its parent's to use, and perhaps with
// a mutex that some thread of the parent holds for as long as a request takes. All state therefore lies in one block,
// and a child starts with a block of its own: it never touches the other's worker.
#include <fmt/format.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>

#include "base/deadline.h"
#include "base/system/fork.h"
#include "engine/worker/find_worker.h"
#include "engine/worker/wire.h"
#include "engine/worker/worker.h"
#include "engine/worker/worker_process.h"
#include "exec/native/native_toolchain.h"

namespace frazil::engine {
namespace {

constexpr uint64_t MaxFailuresInARow = 5;

// None before the second attempt (most crashes have their cause in the request), then 10, 40, 160 ms.
std::chrono::milliseconds PauseAfter(uint64_t failures_in_a_row) {
  if (failures_in_a_row < 2) return std::chrono::milliseconds(0);
  return std::chrono::milliseconds(10ll << (2 * (failures_in_a_row - 2)));
}

std::unexpected<Error> WorkerFailure(std::string message) {
  return Fail(Diag::WorkerFailed, std::move(message));
}

// Puts a reply where it belongs, if it is one.
template <typename T>
auto KeepIn(T& place, Result<T> (*decode)(std::string_view)) {
  return [&place, decode](std::string_view payload) -> Result<void> {
    place = TRY(decode(payload));
    return {};
  };
}

}  // namespace

// Everything that belongs to one process (a parent, or its child after a fork).
class Conversation {
 public:
  explicit Conversation(WorkerOptions options) : options_(std::move(options)) {}
  ~Conversation() { Stop(); }

  bool busy() const { return waiting_ > 0; }
  int64_t pid() const { return pid_; }
  uint64_t spawned() const { return spawned_; }

  // Gives the reply's payload to `accept`; what that refuses is nonsense.
  using Accept = std::function<Result<void>(std::string_view payload)>;
  struct Speaker {
    uint64_t number;
    std::string toolchain;
  };
  // Who answered.
  Result<Speaker> Ask(wire::Kind question, wire::Kind answer, std::string payload,
                      uint64_t timeout_ms, const Accept& accept);
  std::string TakeComplaint();
  std::string toolchain();
  void Dismiss(uint64_t number, const std::string& why);
  std::vector<uint64_t> TakeCaught();
  void Stop();
  // In a child: its copies of the parent's descriptors. The parent may have been anywhere, so no lock is taken.
  void LetGoOfInherited() const {
    for (const std::atomic<int>* descriptor : {&socket_, &pidfd_})
      if (const int fd = *descriptor; fd >= 0) ::close(fd);
  }

 private:
  Result<void> MakeReady();
  Result<void> Start();
  std::expected<wire::Frame, IoFailure> Exchange(const wire::Frame& request,
                                                 Clock::time_point deadline);
  std::unexpected<Error> GiveUpOn(const IoFailure& failure, uint64_t timeout_ms);
  void Drop();
  void NoteFailure(const std::string& what);
  bool stopping() {
    const std::lock_guard lock(process_mutex_);
    return stopping_;
  }

  const WorkerOptions options_;

  std::mutex
      request_mutex_;  // one request at a time; guards what is not said to be guarded otherwise
  std::vector<std::unique_ptr<WorkerProcess>> unreaped_;
  uint64_t failures_in_a_row_ = 0;
  Clock::time_point not_before_ = Clock::time_point::min();
  uint64_t next_id_ = 1;

  // Guards process_ against a Stop from another thread (only the holder of request_mutex_ changes it), stopping_ and
  // the complaint. Held for moments only.
  std::mutex process_mutex_;
  std::condition_variable stop_requested_;
  std::unique_ptr<WorkerProcess> process_;
  bool stopping_ = false;
  bool complained_ = false;
  std::string complaint_;
  std::string toolchain_;  // as the last worker said
  std::vector<uint64_t> caught_;

  std::atomic<int> waiting_ = 0;
  std::atomic<int64_t> pid_ = -1;
  std::atomic<uint64_t> spawned_ = 0;
  std::atomic<int> socket_ = -1, pidfd_ = -1;
};

void Conversation::NoteFailure(const std::string& what) {
  ++failures_in_a_row_;
  not_before_ = Clock::now() + PauseAfter(failures_in_a_row_);
  const std::lock_guard lock(process_mutex_);
  if (complained_) return;
  complained_ = true;
  complaint_ = fmt::format("{}; programs go on without compiled code until a worker answers", what);
}

std::string Conversation::TakeComplaint() {
  const std::lock_guard lock(process_mutex_);
  return std::exchange(complaint_, {});
}

void Conversation::Drop() {
  std::unique_ptr<WorkerProcess> process;
  {
    const std::lock_guard lock(process_mutex_);
    process = std::move(process_);
  }
  pid_ = socket_ = pidfd_ = -1;
  if (!process) return;
  process->Kill();
  process->Reap();
  if (!process->reaped()) unreaped_.push_back(std::move(process));
}

Result<void> Conversation::Start() {
  std::erase_if(unreaped_, [](const auto& process) { return process->TryReap(); });
  auto spawned = WorkerProcess::Spawn(options_);
  if (!spawned) return std::unexpected(std::move(spawned.error()));
  ++spawned_;
  pid_ = (*spawned)->pid();
  socket_ = (*spawned)->channel().socket;
  pidfd_ = (*spawned)->channel().process;
  const Channel channel = (*spawned)->channel();
  {
    const std::lock_guard lock(process_mutex_);
    process_ = std::move(*spawned);
    if (stopping_) process_->Kill();
  }
  auto hello = ReceiveFrame(channel, Deadline::After(options_.start_ms).at());
  if (!hello) {
    if (hello.error().reason == IoFailure::Reason::Malformed)
      return WorkerFailure(hello.error().detail);
    process_->Kill();
    return WorkerFailure(fmt::format("the worker did not start: {}", process_->Reap()));
  }
  if (hello->kind != wire::Kind::Hello) return WorkerFailure("the worker did not say hello first");
  std::string toolchain = TRY(wire::DecodeHello(hello->payload));
  const std::lock_guard lock(process_mutex_);
  toolchain_ = std::move(toolchain);
  return {};
}

// A worker that runs and is silent, an old one or a new one.
Result<void> Conversation::MakeReady() {
  if (process_) {
    if (IsQuiet(process_->channel())) return {};
    // Killed by somebody while it had nothing to do, by the kernel in need of memory perhaps.
    process_->Kill();
    NoteFailure(fmt::format("the idle worker ended: {}", process_->Reap()));
    Drop();
  }
  if (failures_in_a_row_ >= MaxFailuresInARow) {
    return WorkerFailure(fmt::format("the worker failed {} times in a row and is not started again",
                                     failures_in_a_row_));
  }
  {
    std::unique_lock lock(process_mutex_);
    if (stop_requested_.wait_until(lock, not_before_, [this] { return stopping_; }))
      return WorkerFailure("the worker was stopped");
  }
  Result<void> started = Start();
  if (!started) {
    Drop();
    if (stopping()) return WorkerFailure("the worker was stopped");
    NoteFailure(started.error().message);
  }
  return started;
}

std::expected<wire::Frame, IoFailure> Conversation::Exchange(const wire::Frame& request,
                                                             Clock::time_point deadline) {
  const Channel channel = process_->channel();
  if (auto sent = SendFrame(channel, request, deadline); !sent) {
    // It may have said why before it left.
    if (sent.error().reason != IoFailure::Reason::Closed) return std::unexpected(sent.error());
  }
  auto reply = ReceiveFrame(channel, deadline);
  if (reply && reply->id != request.id)
    return std::unexpected(
        IoFailure{IoFailure::Reason::Malformed, "a reply to another request came"});
  return reply;
}

std::unexpected<Error> Conversation::GiveUpOn(const IoFailure& failure, uint64_t timeout_ms) {
  std::string what;
  process_->Kill();
  switch (failure.reason) {
    case IoFailure::Reason::Closed:
      what = fmt::format("the worker ended in the middle of a request: {}", process_->Reap());
      break;
    case IoFailure::Reason::TimedOut:
      what = fmt::format("the worker was killed after {} ms without an answer", timeout_ms);
      break;
    case IoFailure::Reason::Malformed: {
      what = fmt::format("the worker answered with nonsense ({})", failure.detail);
      const std::lock_guard lock(process_mutex_);
      caught_.push_back(spawned_);
      break;
    }
    case IoFailure::Reason::System:
      what = fmt::format("the worker cannot be reached: {}", failure.detail);
      break;
  }
  Drop();
  if (stopping()) return WorkerFailure("the worker was stopped");
  NoteFailure(what);
  return WorkerFailure(std::move(what));
}

Result<Conversation::Speaker> Conversation::Ask(wire::Kind question, wire::Kind answer,
                                                std::string payload, uint64_t timeout_ms,
                                                const Accept& accept) {
  if (payload.size() > wire::MaxPayloadBytes)
    return Fail(Diag::LimitReached,
                fmt::format("a request to the worker has {} bytes, {} is the limit", payload.size(),
                            wire::MaxPayloadBytes));
  struct Counted {
    std::atomic<int>& count;
    explicit Counted(std::atomic<int>& c) : count(c) { ++count; }
    ~Counted() { --count; }
  } counted(waiting_);
  const std::lock_guard lock(request_mutex_);
  TRY_VOID(MakeReady());
  const wire::Frame request{question, false, next_id_++, std::move(payload)};
  auto reply = Exchange(request, Deadline::After(timeout_ms).at());
  if (reply && reply->kind != answer && reply->kind != wire::Kind::Failed)
    reply = std::unexpected(
        IoFailure{IoFailure::Reason::Malformed, "an answer to another question came"});
  if (!reply) return GiveUpOn(reply.error(), timeout_ms);

  const bool failed = reply->kind == wire::Kind::Failed;
  Error error{Diag::Internal, {}};
  const Result<void> accepted =
      failed ? KeepIn(error, wire::DecodeError)(reply->payload) : accept(reply->payload);
  if (!accepted)
    return GiveUpOn({IoFailure::Reason::Malformed, accepted.error().message}, timeout_ms);
  if (reply->last) Drop();
  if (!failed) {
    failures_in_a_row_ = 0;
    const std::lock_guard process_lock(process_mutex_);
    return Speaker{spawned_, toolchain_};
  }
  if (ClassOf(error.diag) == ErrorClass::Internal) {
    NoteFailure(fmt::format("the worker found a mistake of its own: {}", error.message));
  } else {
    failures_in_a_row_ = 0;
  }
  return std::unexpected(std::move(error));
}

std::string Conversation::toolchain() {
  const std::lock_guard lock(process_mutex_);
  return toolchain_;
}

void Conversation::Dismiss(uint64_t number, const std::string& why) {
  const std::lock_guard lock(request_mutex_);
  if (spawned_ != number || process_ == nullptr) return;
  Drop();
  NoteFailure(fmt::format("the worker was ended: {}", why));
}

std::vector<uint64_t> Conversation::TakeCaught() {
  const std::lock_guard lock(process_mutex_);
  return std::exchange(caught_, {});
}

void Conversation::Stop() {
  {
    const std::lock_guard lock(process_mutex_);
    stopping_ = true;
    if (process_) process_->Kill();
  }
  stop_requested_.notify_all();
  const std::lock_guard request_lock(request_mutex_);
  Drop();
  failures_in_a_row_ = 0;
  not_before_ = Clock::time_point::min();
  const std::lock_guard lock(process_mutex_);
  stopping_ = false;
}

struct Worker::Impl {
  WorkerOptions options;
  std::atomic<Conversation*> conversation;
  // What a child inherited, if anything: not freed, for its locks may be held by threads that did not come along.
  Conversation* inherited = nullptr;
  ForkOnce file_once;
  std::string toolchain_of_file;

  explicit Impl(WorkerOptions o) : options(std::move(o)), conversation(new Conversation(options)) {}

  Conversation& Current() { return *conversation; }

  AfterFork after_fork{[this] {
    inherited = conversation;
    inherited->LetGoOfInherited();
    conversation = new Conversation(options);
  }};
};

Worker::Worker(WorkerOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Worker::~Worker() { delete &impl_->Current(); }

Result<WorkReply> Worker::Improve(const WorkRequest& request) {
  WorkReply reply;
  Conversation::Speaker speaker = TRY(impl_->Current().Ask(
      wire::Kind::Improve, wire::Kind::Improved, wire::EncodeWorkRequest(request),
      request.timeout_ms, KeepIn(reply, wire::DecodeWorkReply)));
  reply.worker = speaker.number;
  reply.toolchain = std::move(speaker.toolchain);
  return reply;
}

Result<ShadowReply> Worker::Shadow(const ShadowRequest& request) {
  ShadowReply reply;
  TRY(impl_->Current().Ask(wire::Kind::Shadow, wire::Kind::Shadowed,
                           wire::EncodeShadowRequest(request), request.timeout_ms,
                           KeepIn(reply, wire::DecodeShadowReply)));
  return reply;
}

bool Worker::busy() const { return impl_->Current().busy(); }
int64_t Worker::pid() const { return impl_->Current().pid(); }
uint64_t Worker::spawned() const { return impl_->Current().spawned(); }
std::string Worker::TakeComplaint() { return impl_->Current().TakeComplaint(); }
void Worker::Stop() { impl_->Current().Stop(); }
void Worker::Dismiss(uint64_t number, const std::string& why) {
  impl_->Current().Dismiss(number, why);
}
std::vector<uint64_t> Worker::TakeCaught() { return impl_->Current().TakeCaught(); }

std::string Worker::toolchain() const {
  if (std::string said = impl_->Current().toolchain(); !said.empty()) return said;
  impl_->file_once.Call([this] {
    const std::string program = FindWorker(impl_->options.program).program;
    if (!program.empty()) impl_->toolchain_of_file = exec::NativeToolchainOf(program);
  });
  return impl_->toolchain_of_file;
}

}  // namespace frazil::engine
