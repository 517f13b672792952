// A server for tests that answers each request with whatever bytes it is told to: right, wrong, slow or never.
#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

namespace frazil::store {

class TestServer {
 public:
  struct Request {
    std::string method, path, body;
  };
  // Writes its answer to the socket itself; false: the connection is closed afterwards.
  using Handler = std::function<bool(int socket, const Request& request)>;

  explicit TestServer(Handler handler) : handler_(std::move(handler)) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address);
    listen(listener_, 64);
    socklen_t length = sizeof address;
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Accept(); });
  }
  ~TestServer() {
    stopping_ = true;
    thread_.join();
    for (std::thread& thread : connections_) thread.join();
    close(listener_);
  }
  std::string address() const { return fmt::format("http://127.0.0.1:{}", port_); }
  int requests() const { return requests_; }
  bool stopping() const { return stopping_; }

  static void Send(int socket, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(count));
    }
  }
  static void Answer(int socket, int status, std::string_view body) {
    Send(socket,
         fmt::format("HTTP/1.1 {} Whatever\r\nContent-Length: {}\r\n\r\n", status, body.size()));
    Send(socket, body);
  }
  // In slices, so that the server stops when the test is over.
  void Sleep(int milliseconds) const {
    for (int i = 0; i < milliseconds / 10 && !stopping_; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }

 private:
  void Accept() {
    while (!stopping_) {
      pollfd poll_fd = {listener_, POLLIN, 0};
      if (poll(&poll_fd, 1, 10) <= 0) continue;
      const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (client >= 0) connections_.emplace_back([this, client] { Serve(client); });
    }
  }
  bool Fill(int socket, std::string& bytes) const {
    while (!stopping_) {
      pollfd poll_fd = {socket, POLLIN, 0};
      if (poll(&poll_fd, 1, 10) == 0) continue;
      char buffer[65536];
      const ssize_t count = recv(socket, buffer, sizeof buffer, 0);
      if (count <= 0) return false;
      bytes.append(buffer, static_cast<size_t>(count));
      return true;
    }
    return false;
  }
  void Serve(int client) {
    std::string bytes;
    for (bool more = true; more;) {
      size_t head_end;
      while ((head_end = bytes.find("\r\n\r\n")) == std::string::npos)
        if (!Fill(client, bytes)) return void(close(client));
      const std::string head = bytes.substr(0, head_end);
      bytes.erase(0, head_end + 4);
      size_t length = 0;
      if (const size_t at = head.find("Content-Length: "); at != std::string::npos)
        length = std::stoull(head.substr(at + 16));
      while (bytes.size() < length)
        if (!Fill(client, bytes)) return void(close(client));
      const size_t path_at = head.find(' ') + 1;
      ++requests_;
      more = handler_(client, {head.substr(0, path_at - 1),
                               head.substr(path_at, head.find(' ', path_at) - path_at),
                               bytes.substr(0, length)});
      bytes.erase(0, length);
    }
    close(client);
  }

  Handler handler_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stopping_{false};
  std::atomic<int> requests_{0};
  std::thread thread_;
  std::vector<std::thread> connections_;
};

// A cache that behaves.
class TestCache {
 public:
  bool operator()(int socket, const TestServer::Request& request) {
    std::lock_guard lock(mutex_);
    if (request.method == "PUT") {
      files_[request.path] = request.body;
      TestServer::Answer(socket, 200, "");
    } else if (auto found = files_.find(request.path); found != files_.end()) {
      TestServer::Answer(socket, 200, found->second);
    } else {
      TestServer::Answer(socket, 404, "Not found");
    }
    return true;
  }
  std::map<std::string, std::string> files() {
    std::lock_guard lock(mutex_);
    return files_;
  }
  void Set(const std::string& path, std::string bytes) {
    std::lock_guard lock(mutex_);
    files_[path] = std::move(bytes);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::string> files_;
};

}  // namespace frazil::store
