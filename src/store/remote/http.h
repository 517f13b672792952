// As much of HTTP/1.1 as a cache needs: GET and PUT of byte strings over one connection, each exchange with a limit
// on its size and all of them with one deadline. Linux sockets and poll, nothing else; 0007-store-and-remote.md in
// docs/decisions says why this is not a library.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include "store/files.h"
#include "store/reasons.h"

namespace frazil::store {

using Deadline = std::chrono::steady_clock::time_point;

struct HttpAddress {
  std::string host;  // without brackets
  std::string port;
  std::string prefix;  // of every path; empty or "/..." without a slash at the end
  std::string Authority() const;
};
// "http://host[:port][/prefix]"; the error is a sentence.
std::expected<HttpAddress, std::string> ParseHttpAddress(std::string_view text);

struct HttpAnswer {
  int status = 0;
  std::string body;
};

class HttpConnection {
 public:
  HttpConnection(const HttpAddress& address, Deadline deadline);
  ~HttpConnection();

  // Connects where it has to, and once more where a connection that was kept turns out to be closed. The reason is
  // RemoteTimeout, RemoteFailed or RemoteBytes.
  std::expected<HttpAnswer, Reason> Get(const std::string& path, uint64_t max_body);
  std::expected<HttpAnswer, Reason> Put(const std::string& path, std::string_view body);

 private:
  std::expected<HttpAnswer, Reason> Exchange(std::string_view head, std::string_view body,
                                             uint64_t max_body);
  std::expected<HttpAnswer, Reason> ExchangeOnce(std::string_view head, std::string_view body,
                                                 uint64_t max_body);
  Reason Connect();
  void Close();
  bool IsFresh();  // open, and nothing came that nobody asked for
  Reason Send(std::string_view bytes);
  Reason ReceiveMore();  // adds to what is unread; RemoteFailed at the end of the stream
  Reason Wait(short events);
  std::expected<HttpAnswer, Reason> ReadAnswer(uint64_t max_body);
  Reason ReadChunked(std::string& body, uint64_t max_body);
  Reason ReadCounted(std::string& body, uint64_t length);
  Reason ReadRest(std::string& body, uint64_t max_body);
  std::expected<std::string, Reason> ReadLine(size_t max_chars);
  std::string_view Unread() const { return std::string_view(received_).substr(read_); }

  const HttpAddress& address_;
  const Deadline deadline_;
  Fd socket_;
  std::string received_;
  size_t read_ = 0;        // of received_
  bool answered_ = false;  // something came since the request
};

}  // namespace frazil::store
