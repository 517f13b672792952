// A shared store behind the Bazel HTTP cache protocol: GET and PUT of /ac/<key digest> and /cas/<content digest>.
// No call takes longer than timeout_ms, whatever the other side does; every failure is a miss with its reason;
// a remote that fails several times in a row is left alone for a while.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include "store/format.h"

namespace frazil::store {

struct RemoteOptions {
  std::string address;  // "http://host:port" or "http://host:port/prefix"
  uint64_t timeout_ms = 500;
  uint64_t max_entry_bytes = 64ull << 20;
  int max_failures = 3;  // in a row; then it is off for pause_ms
  uint64_t pause_ms = 30'000;
};

class Remote {
 public:
  // The error is a sentence about the address. Nothing is connected yet.
  static std::expected<std::unique_ptr<Remote>, std::string> Create(const RemoteOptions& options);
  ~Remote();

  struct Fetched {
    Record record;
    std::string content;  // with the digest and the length that the record names
  };
  std::expected<Fetched, Reason> Get(const std::string& key_digest);
  // Content first, then the record. None: kept.
  Reason Put(const std::string& key_digest, const Record& record, std::string_view content);

 private:
  struct State;
  explicit Remote(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace frazil::store
