// The socket never blocks: every wait is a poll until the deadline, so a peer that hangs, drips or floods costs at
// most the time that was given. Names are looked up on a thread of their own, because the resolver knows no deadline.
#include "store/remote/http.h"

#include <errno.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <future>
#include <optional>
#include <thread>
#include <vector>

namespace frazil::store {
namespace {

constexpr size_t MaxHeadBytes = 16 << 10;
constexpr size_t MaxLineChars = 4096;
constexpr size_t ReceiveBytes = 64 << 10;
constexpr int MaxInterimAnswers = 4;  // 1xx

int MillisecondsLeft(Deadline deadline) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 1 << 30));
}

struct Endpoint {
  sockaddr_storage address;
  socklen_t length;
  int family;
};

std::vector<Endpoint> Look(const std::string& host, const std::string& port, int flags) {
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  std::vector<Endpoint> endpoints;
  if (getaddrinfo(host.c_str(), port.c_str(), &hints, &list) != 0) return endpoints;
  for (const addrinfo* info = list; info != nullptr; info = info->ai_next) {
    Endpoint endpoint = {{}, info->ai_addrlen, info->ai_family};
    std::copy_n(reinterpret_cast<const char*>(info->ai_addr), info->ai_addrlen,
                reinterpret_cast<char*>(&endpoint.address));
    endpoints.push_back(endpoint);
  }
  freeaddrinfo(list);
  return endpoints;
}

std::expected<std::vector<Endpoint>, Reason> Resolve(const HttpAddress& address,
                                                     Deadline deadline) {
  std::vector<Endpoint> endpoints = Look(address.host, address.port, AI_NUMERICHOST);
  if (!endpoints.empty()) return endpoints;
  auto promise = std::make_shared<std::promise<std::vector<Endpoint>>>();
  std::future<std::vector<Endpoint>> future = promise->get_future();
  // Detached: it owns all it touches, and nobody waits for it longer than the deadline.
  std::thread([promise, host = address.host, port = address.port] {
    promise->set_value(Look(host, port, 0));
  }).detach();
  if (future.wait_until(deadline) != std::future_status::ready)
    return std::unexpected(Reason::RemoteTimeout);
  endpoints = future.get();
  if (endpoints.empty()) return std::unexpected(Reason::RemoteFailed);
  return endpoints;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return lower;
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

std::optional<uint64_t> Number(std::string_view text, int base) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The fields that decide where the body ends, and whether another answer may follow it. Anything contradictory or encoded is
// refused, never guessed at.
struct Head {
  int status = 0;
  bool keeps = true;  // what the version does where no field says otherwise
  std::optional<uint64_t> length;
  bool chunked = false, close = false, keep_alive = false, bad = false;

  bool Closes() const { return close || (!keeps && !keep_alive); }
  void AddField(std::string_view line) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return void(bad = true);
    const std::string name = Lower(line.substr(0, colon));
    const std::string value = Lower(Trim(line.substr(colon + 1)));
    if (name == "content-length") {
      const std::optional<uint64_t> number = Number(value, 10);
      bad = bad || !number || (length && *length != *number);
      length = number;
    } else if (name == "transfer-encoding") {
      chunked = value == "chunked";
      bad = bad || !chunked;
    } else if (name == "content-encoding") {
      bad = bad || value != "identity";
    } else if (name == "connection") {
      AddConnection(value);
    }
  }

  // A list of words.
  void AddConnection(std::string_view value) {
    while (!value.empty()) {
      const size_t comma = std::min(value.find(','), value.size());
      const std::string_view word = Trim(value.substr(0, comma));
      close = close || word == "close";
      keep_alive = keep_alive || word == "keep-alive";
      value.remove_prefix(std::min(comma + 1, value.size()));
    }
  }
};

// A status line.
std::optional<Head> HeadOf(std::string_view line) {
  if (!line.starts_with("HTTP/1.") || line.size() < 12 || line[8] != ' ') return std::nullopt;
  const std::optional<uint64_t> status = Number(line.substr(9, 3), 10);
  if (!status || *status < 100 || (line.size() > 12 && line[12] != ' ')) return std::nullopt;
  Head head;
  head.status = static_cast<int>(*status);
  head.keeps = line[7] != '0';
  return head;
}

}  // namespace

std::string HttpAddress::Authority() const {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port)
                                             : fmt::format("[{}]:{}", host, port);
}

std::expected<HttpAddress, std::string> ParseHttpAddress(std::string_view text) {
  auto wrong = [&](std::string_view why) {
    return std::unexpected(fmt::format("'{}' is no address of a remote store: {}", text, why));
  };
  constexpr std::string_view Scheme = "http://";
  if (text.starts_with("https://"))
    return wrong("TLS is not spoken here; use a proxy on this machine");
  if (!text.starts_with(Scheme)) return wrong("it must start with http://");
  if (text.find_first_of(" \t\r\n?#@\"<>\\^`{|}") != std::string_view::npos)
    return wrong("a character in it is not allowed");
  const std::string_view rest = text.substr(Scheme.size());
  const size_t slash = std::min(rest.find('/'), rest.size());
  std::string_view authority = rest.substr(0, slash);
  HttpAddress address;
  address.prefix = rest.substr(slash);
  while (address.prefix.ends_with('/')) address.prefix.pop_back();
  size_t host_end = authority.rfind(':');
  if (authority.starts_with('[')) {
    const size_t bracket = authority.find(']');
    if (bracket == std::string_view::npos) return wrong("a bracket is missing");
    address.host = authority.substr(1, bracket - 1);
    host_end = bracket + 1 < authority.size() ? bracket + 1 : std::string_view::npos;
  } else {
    address.host = authority.substr(0, host_end);
  }
  address.port =
      host_end == std::string_view::npos ? "80" : std::string(authority.substr(host_end + 1));
  const std::optional<uint64_t> port = Number(address.port, 10);
  if (address.host.empty()) return wrong("the host is missing");
  if (!port || *port == 0 || *port > 65535)
    return wrong("the port is not a number from 1 to 65535");
  return address;
}

HttpConnection::HttpConnection(const HttpAddress& address, Deadline deadline)
    : address_(address), deadline_(deadline) {}
HttpConnection::~HttpConnection() = default;

Reason HttpConnection::Wait(short events) {
  pollfd poll_fd = {socket_.get(), events, 0};
  for (;;) {
    const int left = MillisecondsLeft(deadline_);
    if (left == 0) return Reason::RemoteTimeout;
    const int ready = poll(&poll_fd, 1, left);
    if (ready > 0) return Reason::None;
    if (ready < 0 && errno != EINTR) return Reason::RemoteFailed;
  }
}

Reason HttpConnection::Connect() {
  if (socket_) return Reason::None;
  const auto endpoints = Resolve(address_, deadline_);
  if (!endpoints) return endpoints.error();
  Reason reason = Reason::RemoteFailed;
  for (const Endpoint& endpoint : *endpoints) {
    socket_ = Fd(socket(endpoint.family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket_) continue;
    const int on = 1;
    setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    int error = 0;
    if (connect(socket_.get(), reinterpret_cast<const sockaddr*>(&endpoint.address),
                endpoint.length) != 0) {
      error = errno;
      if (error == EINPROGRESS) {
        reason = Wait(POLLOUT);
        socklen_t size = sizeof error;
        if (reason == Reason::None) getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
      }
    }
    if (error == 0) return Reason::None;
    socket_ = Fd();
    if (reason == Reason::RemoteTimeout) return reason;
    reason = Reason::RemoteFailed;
  }
  return reason;
}

void HttpConnection::Close() {
  socket_ = Fd();
  received_.clear();
  read_ = 0;
}

// What a server sends after an answer is its good-bye, or the answer to a question that was not put.
bool HttpConnection::IsFresh() {
  char byte;
  return Unread().empty() && recv(socket_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
         (errno == EAGAIN || errno == EWOULDBLOCK);
}

Reason HttpConnection::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    // Without MSG_NOSIGNAL a peer that hangs up would kill the process.
    const ssize_t count = send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count >= 0) {
      bytes.remove_prefix(static_cast<size_t>(count));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (const Reason reason = Wait(POLLOUT); reason != Reason::None) return reason;
    } else if (errno != EINTR) {
      return Reason::RemoteFailed;
    }
  }
  return Reason::None;
}

Reason HttpConnection::ReceiveMore() {
  received_.erase(0, read_);
  read_ = 0;
  std::array<char, ReceiveBytes> bytes;
  for (;;) {
    const ssize_t count = recv(socket_.get(), bytes.data(), bytes.size(), 0);
    if (count > 0) {
      answered_ = true;
      received_.append(bytes.data(), static_cast<size_t>(count));
      return MillisecondsLeft(deadline_) == 0 ? Reason::RemoteTimeout : Reason::None;
    }
    if (count == 0) return Reason::RemoteFailed;
    if (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK) return Reason::RemoteFailed;
    if (const Reason reason = Wait(POLLIN); reason != Reason::None) return reason;
  }
}

// Its end is a line feed; a carriage return before it, which may come alone, is no part of it.
std::expected<std::string, Reason> HttpConnection::ReadLine(size_t max_chars) {
  for (size_t searched = 0;;) {
    const size_t end = Unread().find('\n', searched);
    searched = std::min(end, Unread().size());
    if (searched > max_chars + 1) return std::unexpected(Reason::RemoteBytes);
    if (end != std::string::npos) {
      std::string line(Trim(Unread().substr(0, end)));
      read_ += end + 1;
      return line;
    }
    if (const Reason reason = ReceiveMore(); reason != Reason::None) return std::unexpected(reason);
  }
}

Reason HttpConnection::ReadCounted(std::string& body, uint64_t length) {
  for (;;) {
    const std::string_view part = Unread().substr(0, length);
    body += part;
    read_ += part.size();
    length -= part.size();
    if (length == 0) return Reason::None;
    if (const Reason reason = ReceiveMore(); reason != Reason::None) return reason;
  }
}

// To the end of the stream.
Reason HttpConnection::ReadRest(std::string& body, uint64_t max_body) {
  for (;;) {
    if (Unread().size() > max_body - body.size()) return Reason::RemoteBytes;
    body += Unread();
    read_ = received_.size();
    const Reason reason = ReceiveMore();
    if (reason != Reason::None) return reason == Reason::RemoteFailed ? Reason::None : reason;
  }
}

Reason HttpConnection::ReadChunked(std::string& body, uint64_t max_body) {
  for (;;) {
    const auto line = ReadLine(MaxLineChars);
    if (!line) return line.error();
    const std::string_view size_text = std::string_view(*line).substr(0, line->find(';'));
    const std::optional<uint64_t> size = Number(Trim(size_text), 16);
    if (!size || *size > max_body - body.size()) return Reason::RemoteBytes;
    if (*size == 0) break;
    if (const Reason reason = ReadCounted(body, *size); reason != Reason::None) return reason;
    const auto end = ReadLine(0);
    if (!end) return end.error();
    if (!end->empty()) return Reason::RemoteBytes;
  }
  // Fields after the last chunk.
  for (size_t bytes = 0; bytes <= MaxHeadBytes;) {
    const auto line = ReadLine(MaxLineChars);
    if (!line) return line.error();
    if (line->empty()) return Reason::None;
    bytes += line->size();
  }
  return Reason::RemoteBytes;
}

std::expected<HttpAnswer, Reason> HttpConnection::ReadAnswer(uint64_t max_body) {
  Head head;
  for (int i = 0; i <= MaxInterimAnswers && (i == 0 || head.status / 100 == 1); ++i) {
    auto line = ReadLine(MaxLineChars);
    if (!line) return std::unexpected(line.error());
    const std::optional<Head> started = HeadOf(*line);
    if (!started) return std::unexpected(Reason::RemoteBytes);
    head = *started;
    for (size_t bytes = 0;; bytes += line->size()) {
      line = ReadLine(MaxLineChars);
      if (!line) return std::unexpected(line.error());
      if (line->empty()) break;
      if (bytes > MaxHeadBytes) return std::unexpected(Reason::RemoteBytes);
      head.AddField(*line);
    }
  }
  if (head.bad || head.status / 100 == 1) return std::unexpected(Reason::RemoteBytes);
  HttpAnswer answer{head.status, {}};
  Reason reason = Reason::None;
  if (head.status == 204 || head.status == 304) {
    // No body, whatever the fields say.
  } else if (head.chunked) {
    reason = ReadChunked(answer.body, max_body);
  } else if (head.length) {
    reason = *head.length > max_body ? Reason::RemoteBytes : ReadCounted(answer.body, *head.length);
  } else {
    reason = ReadRest(answer.body, max_body);
    head.close = true;
  }
  if (head.Closes() || reason != Reason::None) Close();
  if (reason != Reason::None) return std::unexpected(reason);
  return answer;
}

std::expected<HttpAnswer, Reason> HttpConnection::ExchangeOnce(std::string_view head,
                                                               std::string_view body,
                                                               uint64_t max_body) {
  answered_ = false;
  Reason reason = Connect();
  if (reason == Reason::None) reason = Send(head);
  if (reason == Reason::None) reason = Send(body);
  std::expected<HttpAnswer, Reason> answer = std::unexpected(reason);
  if (reason == Reason::None) answer = ReadAnswer(max_body);
  if (!answer) Close();
  return answer;
}

// A server may close a connection that nobody uses at any time, also while the next request is on its way; then the request
// was not looked at. To put the same bytes in the same place twice is to put them once.
std::expected<HttpAnswer, Reason> HttpConnection::Exchange(std::string_view head,
                                                           std::string_view body,
                                                           uint64_t max_body) {
  if (socket_ && !IsFresh()) Close();
  const bool kept = static_cast<bool>(socket_);
  std::expected<HttpAnswer, Reason> answer = ExchangeOnce(head, body, max_body);
  if (kept && !answer && !answered_ && answer.error() == Reason::RemoteFailed)
    answer = ExchangeOnce(head, body, max_body);
  return answer;
}

std::expected<HttpAnswer, Reason> HttpConnection::Get(const std::string& path, uint64_t max_body) {
  return Exchange(
      fmt::format("GET {}{} HTTP/1.1\r\nHost: {}\r\nUser-Agent: frazil\r\nAccept: */*\r\n\r\n",
                  address_.prefix, path, address_.Authority()),
      {}, max_body);
}

std::expected<HttpAnswer, Reason> HttpConnection::Put(const std::string& path,
                                                      std::string_view body) {
  constexpr uint64_t MaxAnswerBytes = 64 << 10;
  return Exchange(
      fmt::format("PUT {}{} HTTP/1.1\r\nHost: {}\r\nUser-Agent: frazil\r\n"
                  "Content-Type: application/octet-stream\r\nContent-Length: {}\r\n\r\n",
                  address_.prefix, path, address_.Authority(), body.size()),
      body, MaxAnswerBytes);
}

}  // namespace frazil::store
