// A remote that behaves is a second chance; one that does not is a miss within the time that was given.
#include "store/remote/remote.h"

#include <gtest/gtest.h>
#include <netinet/tcp.h>

#include <random>

#include "store/remote/action_result.h"
#include "store/remote/http.h"
#include "store/remote/test_server.h"
#include "store/test_store.h"

namespace frazil::store {
namespace {

constexpr verify::Policy Any = {verify::Grade::None, verify::Grade::None};

std::unique_ptr<Store> OpenRemote(const std::string& directory, const std::string& address,
                                  uint64_t timeout_ms = 2000) {
  StoreOptions options;
  options.directory = directory;
  options.sync = false;
  options.remote = address;
  options.remote_timeout_ms = timeout_ms;
  return Store::Open(options);
}

Record RecordOf(uint64_t number, std::string_view content) {
  return {Sha256Hex(content), content.size(), KeyOf(number).Text()};
}

TEST(Remote, AddressesAreRead) {
  auto address = ParseHttpAddress("http://cache.example:8080/a/b/");
  ASSERT_TRUE(address);
  EXPECT_EQ(address->host, "cache.example");
  EXPECT_EQ(address->port, "8080");
  EXPECT_EQ(address->prefix, "/a/b");
  EXPECT_EQ(ParseHttpAddress("http://x")->port, "80");
  EXPECT_EQ(ParseHttpAddress("http://[::1]:81")->host, "::1");
  EXPECT_EQ(ParseHttpAddress("http://[::1]:81")->Authority(), "[::1]:81");
  for (const char* bad :
       {"", "x", "https://x", "http://", "http://:80", "http://x:0", "http://x:65536",
        "http://x:1y", "http://x y", "http://[::1", "http://x\r\nA: b", "http://user@x", "ftp://x"})
    EXPECT_FALSE(ParseHttpAddress(bad)) << bad;
  TempFolder folder;
  auto store = OpenRemote(folder.path(), "https://x");
  EXPECT_EQ(store->reason(), "");
  EXPECT_NE(store->remote_reason().find("TLS"), std::string::npos);
  EXPECT_TRUE(store->Put(KeyOf(1), "one"));
}

TEST(Remote, ActionResultsRoundTrip) {
  const Record record = RecordOf(3, "content");
  const std::string bytes = PrintActionResult(record);
  auto again = ParseActionResult(bytes);
  ASSERT_TRUE(again);
  EXPECT_EQ(PrintRecord(*again), PrintRecord(record));
  // A server may add fields: here execution_metadata { worker: "x" } and exit_code 1.
  EXPECT_TRUE(ParseActionResult(bytes + std::string("\x4a\x03\x0a\x01x\x20\x01", 7)));
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(ParseActionResult(bytes.substr(0, size)));
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = bytes;
    for (int flips = 0; flips <= i % 3; ++flips)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    auto parsed = ParseActionResult(damaged);
    if (parsed) {
      EXPECT_EQ(PrintRecord(*parsed), PrintRecord(record));
    }
  }
}

TEST(Remote, OnePutsAndAnotherFinds) {
  TempFolder one, other;
  TestCache cache;
  TestServer server([&](int socket, const auto& request) { return cache(socket, request); });
  auto writer = OpenRemote(one.path(), server.address());
  const std::string sealed = SealedOf(FormOf(1), writer->key());
  EXPECT_TRUE(writer->Put(KeyOf(1), sealed));
  const auto files = cache.files();
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files.at("/cas/" + Sha256Hex(sealed)), sealed);
  EXPECT_TRUE(files.contains("/ac/" + KeyOf(1).Digest()));

  auto reader = OpenRemote(other.path(), server.address());
  EXPECT_FALSE(reader->FindVerified(KeyOf(1), Any));  // foreign: another installation's key
  EXPECT_EQ(reader->stats().refused.at("mac"), 1u);
  EXPECT_EQ(reader->stats().remote_hits, 1u);
  EXPECT_TRUE(reader->FindForeign(KeyOf(1)));
  EXPECT_EQ(reader->stats().remote_hits, 1u);  // it is here now
  EXPECT_FALSE(reader->Find(KeyOf(2)));
  EXPECT_EQ(reader->stats().refused.size(), 1u);  // a plain 404 is no refusal

  // The same installation on an empty disk: what it sealed itself, it believes.
  TempFolder third;
  std::filesystem::copy(one / "key", third / "key");
  auto same = OpenRemote(third.path(), server.address());
  EXPECT_TRUE(same->FindVerified(KeyOf(1), Any));
}

TEST(Remote, ReadOnlyWritesNothing) {
  TempFolder folder;
  TestCache cache;
  TestServer server([&](int socket, const auto& request) { return cache(socket, request); });
  StoreOptions options;
  options.directory = folder.path();
  options.read_only = true;
  options.remote = server.address();
  EXPECT_FALSE(Store::Open(options)->Put(KeyOf(1), "one"));
  EXPECT_TRUE(cache.files().empty());
}

TEST(Remote, PrefixesAndKeptConnections) {
  TestCache cache;
  TestServer server([&](int socket, const auto& request) { return cache(socket, request); });
  auto remote = *Remote::Create({.address = server.address() + "/team/"});
  EXPECT_EQ(remote->Put(KeyOf(1).Digest(), RecordOf(1, "one"), "one"), Reason::None);
  EXPECT_TRUE(cache.files().contains("/team/cas/" + Sha256Hex("one")));
  EXPECT_EQ(remote->Get(KeyOf(1).Digest())->content, "one");
}

TEST(Remote, ChunksAndClosedConnectionsAreUnderstood) {
  TestCache cache;
  cache.Set("/ac/" + KeyOf(1).Digest(), PrintActionResult(RecordOf(1, "hello world")));
  cache.Set("/cas/" + Sha256Hex("hello world"), "hello world");
  for (const bool chunked : {true, false}) {
    TestServer server([&](int socket, const TestServer::Request& request) {
      const std::string body = cache.files().at(request.path);
      if (chunked)
        TestServer::Send(
            socket,
            fmt::format("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"
                        "Transfer-Encoding: chunked\r\n\r\n5;x=y\r\n{}\r\n{:x}\r\n{}\r\n0\r\n"
                        "Trailer: x\r\n\r\n",
                        body.substr(0, 5), body.size() - 5, body.substr(5)));
      else
        TestServer::Send(socket, "HTTP/1.0 200 OK\r\n\r\n" + body);
      return chunked;
    });
    auto remote = *Remote::Create({.address = server.address()});
    auto fetched = remote->Get(KeyOf(1).Digest());
    ASSERT_TRUE(fetched) << ReasonName(fetched.error());
    EXPECT_EQ(fetched->content, "hello world");
  }
}

// Where the bytes of an answer are cut on their way means nothing.
TEST(Remote, AnswersMayArriveInAnyPieces) {
  const std::string content = "hello world";
  const std::string record = PrintActionResult(RecordOf(1, content));
  auto answer = [](std::string_view body, bool chunked) {
    const std::string_view head = "HTTP/1.1 200 OK\r\nConnection: keep-alive, x\r\n";
    if (!chunked) return fmt::format("{}Content-Length: {}\r\n\r\n{}", head, body.size(), body);
    return fmt::format(
        "{}Transfer-Encoding: chunked\r\n\r\n4;x=y\r\n{}\r\n{:x}\r\n{}\r\n0\r\nT: x\r\n\r\n", head,
        body.substr(0, 4), body.size() - 4, body.substr(4));
  };
  for (const bool chunked : {true, false}) {
    const size_t last = answer(content, chunked).size();
    std::atomic<size_t> cut = 0;
    TestServer server([&](int socket, const TestServer::Request& request) {
      const bool is_record = request.path.starts_with("/ac/");
      const std::string bytes = answer(is_record ? record : content, chunked);
      const int on = 1;
      setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      auto wait = [] { std::this_thread::sleep_for(std::chrono::microseconds(500)); };
      if (is_record || cut < last) {
        TestServer::Send(socket, std::string_view(bytes).substr(0, cut));
        wait();
        TestServer::Send(socket, std::string_view(bytes).substr(cut));
        return true;
      }
      for (const char& byte : bytes) {
        TestServer::Send(socket, {&byte, 1});
        wait();
      }
      return true;
    });
    auto remote = *Remote::Create({.address = server.address(), .timeout_ms = 20'000});
    // At the end: byte by byte.
    for (cut = 1; cut <= last; ++cut) {
      auto fetched = remote->Get(KeyOf(1).Digest());
      ASSERT_TRUE(fetched) << chunked << " cut at " << cut << ": " << ReasonName(fetched.error());
      EXPECT_EQ(fetched->content, content);
    }
  }
}

// Whether it says so or not, and whatever it sends without being asked.
TEST(Remote, ConnectionsThatTheServerClosesAreMadeAnew) {
  const std::string content = "hello world";
  const std::string record = PrintActionResult(RecordOf(1, content));
  const std::string planted = "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nHELLO WORLD";
  struct Case {
    std::string name, version, field, behind;
    bool closes;
  };
  const std::vector<Case> cases = {
      {"an old version", "1.0", "", "", true},
      {"a list of words", "1.1", "Connection: close, x\r\n", "", true},
      {"the last of a list", "1.1", "Connection: x ,  Close\r\n", "", true},
      {"two fields", "1.1", "Connection: x\r\nConnection: close\r\n", "", true},
      {"not said", "1.1", "", "", true},
      {"an old version that keeps it, and closes it", "1.0", "Connection: Keep-Alive\r\n", "",
       true},
      {"said, and left open", "1.1", "Connection: close\r\n", "", false},
      {"an answer too many", "1.1", "", planted, false},
  };
  for (const Case& c : cases) {
    std::atomic<int> puts = 0;
    TestServer server([&](int socket, const TestServer::Request& request) {
      const bool is_put = request.method == "PUT";
      puts += is_put ? 1 : 0;
      const std::string& body = is_put ? "" : request.path.starts_with("/ac/") ? record : content;
      TestServer::Send(socket, fmt::format("HTTP/{} 200 OK\r\n{}Content-Length: {}\r\n\r\n{}{}",
                                           c.version, c.field, body.size(), body, c.behind));
      return !c.closes;
    });
    auto remote = *Remote::Create({.address = server.address()});
    auto fetched = remote->Get(KeyOf(1).Digest());
    ASSERT_TRUE(fetched) << c.name << ": " << ReasonName(fetched.error());
    EXPECT_EQ(fetched->content, content) << c.name;
    EXPECT_EQ(server.requests(), 2) << c.name;
    EXPECT_EQ(remote->Put(KeyOf(1).Digest(), *ParseActionResult(record), content), Reason::None)
        << c.name;
    EXPECT_EQ(puts, 2) << c.name;
  }
}

// Once more on a new connection, never a third time.
TEST(Remote, OneMoreTryWhereAKeptConnectionGivesNothing) {
  for (const bool once : {true, false}) {
    const std::string record = PrintActionResult(RecordOf(1, "x"));
    std::atomic<int> asked = 0;
    TestServer server([&](int socket, const TestServer::Request& request) {
      if (request.path.starts_with("/ac/")) return TestServer::Answer(socket, 200, record), true;
      if (asked++ != 0 && once) return TestServer::Answer(socket, 200, "x"), true;
      return false;  // after it has read the request
    });
    auto remote = *Remote::Create({.address = server.address()});
    auto fetched = remote->Get(KeyOf(1).Digest());
    EXPECT_EQ(fetched.has_value(), once);
    EXPECT_EQ(asked, 2);
    if (!once) {
      EXPECT_EQ(ReasonName(fetched.error()), ReasonName(Reason::RemoteFailed));
    }
  }
}

TEST(Remote, WrongAnswersAreMisses) {
  const std::string content(5000, 'c');
  const std::string record = PrintActionResult(RecordOf(1, content));
  const std::string huge =
      std::string("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\nx");
  const std::string long_line = "HTTP/1.1 200 OK\r\nX: " + std::string(100'000, 'x');
  // What is sent for the record and for the content; empty: what is right. Afterwards the server hangs up.
  struct Case {
    std::string name, for_record, for_content;
    Reason reason;
  };
  auto with_length = [](size_t length, std::string_view body) {
    return fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", length, body);
  };
  const std::vector<Case> cases = {
      {"500", with_length(1, "x").replace(9, 3, "500"), "", Reason::RemoteFailed},
      {"redirect",
       "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", "",
       Reason::RemoteFailed},
      {"hangs up", "HTTP/1.1 200", "", Reason::RemoteFailed},
      {"garbage", "\x01\x02\x03 garbage\r\n\r\n", "", Reason::RemoteBytes},
      {"no status", "HTTP/1.1 abc OK\r\n\r\n", "", Reason::RemoteBytes},
      {"endless line", long_line, "", Reason::RemoteBytes},
      {"empty record", with_length(0, ""), "", Reason::Truncated},
      {"garbage record", with_length(7, "garbage"), "", Reason::RemoteBytes},
      {"another key's record",
       with_length(PrintActionResult(RecordOf(2, content)).size(),
                   PrintActionResult(RecordOf(2, content))),
       "", Reason::Key},
      {"huge record", huge, "", Reason::RemoteBytes},
      {"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", "",
       Reason::RemoteBytes},
      {"negative length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "", Reason::RemoteBytes},
      {"compressed", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx", "",
       Reason::RemoteBytes},
      {"endless interim",
       [] {
         std::string many;
         for (int i = 0; i < 100; ++i) many += "HTTP/1.1 100 Continue\r\n\r\n";
         return many;
       }(),
       "", Reason::RemoteBytes},
      {"no content", "", "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", Reason::Content},
      {"wrong content", "", with_length(content.size(), std::string(content.size(), 'd')),
       Reason::Digest},
      {"short content", "", with_length(10, content.substr(0, 10)), Reason::Truncated},
      {"fewer bytes than said", "", with_length(content.size(), "c"), Reason::RemoteFailed},
      {"more bytes than asked for", "", with_length(content.size() + 1, content + "x"),
       Reason::RemoteBytes},
      {"huge content", "", huge, Reason::RemoteBytes},
      {"endless content", "", "HTTP/1.1 200 OK\r\n\r\n" + std::string(1 << 20, 'c'),
       Reason::RemoteBytes},
      {"huge chunk", "",
       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx",
       Reason::RemoteBytes},
      {"bad chunk", "", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nx",
       Reason::RemoteBytes},
  };
  for (const Case& c : cases) {
    TestServer server([&](int socket, const TestServer::Request& request) {
      const bool is_record = request.path.starts_with("/ac/");
      const std::string& bytes = is_record ? c.for_record : c.for_content;
      if (bytes.empty()) {
        TestServer::Answer(socket, 200, is_record ? record : content);
        return true;
      }
      TestServer::Send(socket, bytes);
      return false;
    });
    auto remote = *Remote::Create({.address = server.address(), .timeout_ms = 5000});
    auto fetched = remote->Get(KeyOf(1).Digest());
    ASSERT_FALSE(fetched) << c.name;
    EXPECT_EQ(ReasonName(fetched.error()), ReasonName(c.reason)) << c.name;
  }
}

TEST(Remote, NothingTakesLongerThanTheTimeout) {
  const std::string record = PrintActionResult(RecordOf(1, "x"));
  enum Kind { Silent, DripHead, DripBody, NeverReads };
  for (const Kind kind : {Silent, DripHead, DripBody, NeverReads}) {
    TestServer* self = nullptr;
    TestServer server([&](int socket, const TestServer::Request&) {
      if (kind == DripBody)
        TestServer::Send(socket, "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
      if (kind == Silent) self->Sleep(20'000);
      for (int i = 0; i < 10'000 && !self->stopping(); ++i) {
        TestServer::Send(socket, "x");
        self->Sleep(10);
      }
      return false;
    });
    self = &server;
    auto remote = *Remote::Create({.address = server.address(), .timeout_ms = 150});
    const auto start = std::chrono::steady_clock::now();
    if (kind == NeverReads) {
      const std::string content(32 << 20, 'x');
      EXPECT_EQ(remote->Put(KeyOf(1).Digest(), RecordOf(1, content), content),
                Reason::RemoteTimeout);
    } else {
      EXPECT_EQ(remote->Get(KeyOf(1).Digest()).error(), Reason::RemoteTimeout) << kind;
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    EXPECT_LT(took.count(), 1.5) << kind;  // 0.15 s on a machine that has nothing else to do
  }
}

TEST(Remote, NobodyThere) {
  TempFolder folder;
  for (const char* address : {"http://127.0.0.1:1", "http://no-such-host.invalid:80"}) {
    auto store = OpenRemote(folder.path(), address, 300);
    const auto start = std::chrono::steady_clock::now();
    EXPECT_FALSE(store->Find(KeyOf(1)));
    EXPECT_TRUE(store->Put(KeyOf(2), "two"));
    EXPECT_EQ(store->Find(KeyOf(2)), "two");
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    EXPECT_LT(took.count(), 3.0);
  }
}

TEST(Remote, IsLeftAloneAfterFailures) {
  std::atomic<bool> healthy{false};
  TestServer server([&](int socket, const TestServer::Request&) {
    TestServer::Answer(socket, healthy ? 404 : 500, "");
    return true;
  });
  auto remote = *Remote::Create({.address = server.address(), .timeout_ms = 2000, .pause_ms = 200});
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(remote->Get(KeyOf(1).Digest()).error(), Reason::RemoteFailed);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(remote->Get(KeyOf(1).Digest()).error(), Reason::RemoteOff);
  EXPECT_EQ(server.requests(), 3);
  // Writing has its own count.
  EXPECT_EQ(remote->Put(KeyOf(1).Digest(), RecordOf(1, "x"), "x"), Reason::RemoteFailed);
  healthy = true;
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  EXPECT_EQ(remote->Get(KeyOf(1).Digest()).error(), Reason::Missing);
}

TEST(Remote, ManyThreadsAtOnce) {
  TempFolder folder;
  TestCache cache;
  TestServer server([&](int socket, const auto& request) { return cache(socket, request); });
  auto store = OpenRemote(folder.path(), server.address(), 10'000);
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < 20; ++i) {
        EXPECT_TRUE(store->Put(KeyOf(100 * t + i), fmt::format("{}", 100 * t + i)));
        EXPECT_EQ(store->Find(KeyOf(100 * t + i)), fmt::format("{}", 100 * t + i));
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cache.files().size(), 160u);
}

}  // namespace
}  // namespace frazil::store
