// Partial sends and receives, poll, deadlines. The socket itself may be blocking: every transfer says MSG_DONTWAIT, so
// that no flag is set on a description that the other process shares.
#include "engine/worker/worker_socket.h"

#include <errno.h>
#include <fmt/format.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include <algorithm>

namespace frazil::engine {
namespace {

using Reason = IoFailure::Reason;
// Memory grows with what has arrived, not with what a header promises.
constexpr size_t ReceiveStep = 1 << 20;

std::unexpected<IoFailure> SystemFailure(const char* call) {
  return std::unexpected(IoFailure{Reason::System, fmt::format("{}: {}", call, ::strerror(errno))});
}

// The whole milliseconds left, rounded up; -1 for ever.
int PollTimeout(Clock::time_point deadline) {
  if (deadline == Never) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 1'000'000));
}

// Until the socket is ready. The end of the process counts as ready if bytes may still lie in the socket.
std::expected<void, IoFailure> Wait(const Channel& channel, short events,
                                    Clock::time_point deadline) {
  while (true) {
    pollfd polled[2] = {{channel.socket, events, 0}, {channel.process, POLLIN, 0}};
    const int timeout = PollTimeout(deadline);
    const int ready = ::poll(polled, 2, timeout);
    if (ready < 0 && errno != EINTR) return SystemFailure("poll");
    if (ready > 0 && polled[0].revents != 0) return {};
    if (ready > 0 && polled[1].revents != 0) return std::unexpected(IoFailure{Reason::Closed, {}});
    if (timeout == 0 || (deadline != Never && Clock::now() >= deadline))
      return std::unexpected(IoFailure{Reason::TimedOut, {}});
  }
}

bool IsGone(int error) { return error == EPIPE || error == ECONNRESET || error == ENOTCONN; }

std::expected<void, IoFailure> SendAll(const Channel& channel, std::string_view bytes,
                                       Clock::time_point deadline) {
  while (!bytes.empty()) {
    const ssize_t sent =
        ::send(channel.socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
      continue;
    }
    if (errno == EINTR) continue;
    if (IsGone(errno)) return std::unexpected(IoFailure{Reason::Closed, {}});
    if (errno != EAGAIN && errno != EWOULDBLOCK) return SystemFailure("send");
    if (auto waited = Wait(channel, POLLOUT, deadline); !waited) return waited;
  }
  return {};
}

std::expected<std::string, IoFailure> ReceiveAll(const Channel& channel, uint64_t size,
                                                 Clock::time_point deadline) {
  std::string bytes;
  while (bytes.size() < size) {
    const size_t at = bytes.size();
    bytes.resize(at + std::min<uint64_t>(size - at, ReceiveStep));
    const ssize_t received =
        ::recv(channel.socket, bytes.data() + at, bytes.size() - at, MSG_DONTWAIT);
    const int error = errno;
    bytes.resize(at + static_cast<size_t>(std::max<ssize_t>(received, 0)));
    if (received > 0) continue;
    if (received == 0) return std::unexpected(IoFailure{Reason::Closed, {}});
    errno = error;
    if (errno == EINTR) continue;
    if (IsGone(errno)) return std::unexpected(IoFailure{Reason::Closed, {}});
    if (errno != EAGAIN && errno != EWOULDBLOCK) return SystemFailure("recv");
    if (auto waited = Wait(channel, POLLIN, deadline); !waited)
      return std::unexpected(waited.error());
  }
  return bytes;
}

}  // namespace

std::expected<void, IoFailure> SendFrame(const Channel& channel, const wire::Frame& frame,
                                         Clock::time_point deadline) {
  if (auto sent = SendAll(channel, wire::EncodeHeader(frame), deadline); !sent) return sent;
  return SendAll(channel, frame.payload, deadline);
}

std::expected<wire::Frame, IoFailure> ReceiveFrame(const Channel& channel,
                                                   Clock::time_point deadline) {
  auto head = ReceiveAll(channel, wire::HeaderBytes, deadline);
  if (!head) return std::unexpected(head.error());
  const Result<wire::Header> header = wire::DecodeHeader(*head);
  if (!header) return std::unexpected(IoFailure{Reason::Malformed, header.error().message});
  auto payload = ReceiveAll(channel, header->payload_bytes, deadline);
  if (!payload) return std::unexpected(payload.error());
  return wire::Frame{header->kind, header->last, header->id, std::move(*payload)};
}

bool IsQuiet(const Channel& channel) {
  pollfd polled[2] = {{channel.socket, POLLIN, 0}, {channel.process, POLLIN, 0}};
  int ready = 0;
  do {
    ready = ::poll(polled, 2, 0);
  } while (ready < 0 && errno == EINTR);
  return ready == 0;
}

}  // namespace frazil::engine
