// The worker's side of the conversation. It trusts its client no more than the client trusts it, and it keeps nothing
// between requests: what one request did wrong must not reach the next.
#include "engine/worker/worker_serve.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <new>

#include "engine/worker/worker_socket.h"

namespace frazil::engine {
namespace {

// Counted from now. The hard limit stays where it is, or the soft one could not be moved again.
void LimitCpu(uint64_t seconds) {
  rusage used{};
  rlimit limit{};
  if (seconds == 0 || ::getrusage(RUSAGE_SELF, &used) != 0 || ::getrlimit(RLIMIT_CPU, &limit) != 0)
    return;
  const auto spent = static_cast<uint64_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec);
  limit.rlim_cur = std::min<rlim_t>(spent + seconds + 1, limit.rlim_max);
  ::setrlimit(RLIMIT_CPU, &limit);
}

wire::Frame Failed(const Error& error) {
  return {wire::Kind::Failed, false, 0, wire::EncodeError(error)};
}

// What does not fit in the memory limit is an answer, where the C++ library notices it; LLVM ends the process instead.
wire::Frame Answer(const RequestHandler& handler, const wire::Frame& request) {
  try {
    return handler(request);
  } catch (const std::bad_alloc&) {
    return Failed({Diag::LimitReached, "the request needs more memory than the worker may use"});
  }
}

}  // namespace

int ServeRequests(int socket, std::string_view toolchain, uint64_t cpu_seconds,
                  const RequestHandler& handler) {
  const Channel channel{socket, -1};
  if (!SendFrame(channel, {wire::Kind::Hello, false, 0, wire::EncodeHello(toolchain)})) return 1;
  while (true) {
    const auto request = ReceiveFrame(channel);
    if (!request) return request.error().reason == IoFailure::Reason::Closed ? 0 : 1;
    LimitCpu(cpu_seconds);
    wire::Frame reply = Answer(handler, *request);
    reply.id = request->id;
    if (!SendFrame(channel, reply)) return 1;
    if (reply.last) return 0;
  }
}

}  // namespace frazil::engine
