// Each call is one connection, two requests and one deadline. What arrives is checked against the digest that named
// it before anybody sees it; whether it may be believed is decided by its MAC, later and elsewhere. Reading and writing
// have a breaker each: a remote that refuses writes (many are read-only for most) can still be read.
#include "store/remote/remote.h"

#include "base/deadline.h"
#include "base/sha256.h"
#include "base/system/fork.h"
#include "store/remote/action_result.h"
#include "store/remote/http.h"

namespace frazil::store {
namespace {

constexpr uint64_t MaxActionResultBytes = 2u << 20;

// Off for a while after too many failures in a row.
class Breaker {
 public:
  bool Off() {
    std::lock_guard lock(mutex_);
    return std::chrono::steady_clock::now() < off_until_;
  }
  void Note(bool failed, const RemoteOptions& options) {
    std::lock_guard lock(mutex_);
    failures_ = failed ? failures_ + 1 : 0;
    if (failures_ < options.max_failures) return;
    off_until_ = frazil::Deadline::After(options.pause_ms).at();
    failures_ = 0;
  }

 private:
  ForkMutex mutex_;
  int failures_ = 0;
  Deadline off_until_;
};

}  // namespace

struct Remote::State {
  RemoteOptions options;
  HttpAddress address;
  Breaker reading, writing;

  Deadline Until() const { return frazil::Deadline::After(options.timeout_ms).at(); }

  std::expected<std::string, Reason> GetBody(HttpConnection& connection, const std::string& path,
                                             uint64_t max_body) {
    auto answer = connection.Get(path, max_body);
    if (!answer) return std::unexpected(answer.error());
    if (answer->status == 404) return std::unexpected(Reason::Missing);
    if (answer->status != 200) return std::unexpected(Reason::RemoteFailed);
    return std::move(answer->body);
  }

  std::expected<Fetched, Reason> Fetch(const std::string& key_digest) {
    HttpConnection connection(address, Until());
    const auto body = GetBody(connection, "/ac/" + key_digest, MaxActionResultBytes);
    if (!body) return std::unexpected(body.error());
    auto record = ParseActionResult(*body);
    if (!record) return std::unexpected(record.error());
    // Before asking for the content: the record decides how much is asked for.
    if (Sha256Hex(record->key) != key_digest) return std::unexpected(Reason::Key);
    if (record->bytes > options.max_entry_bytes) return std::unexpected(Reason::Size);
    auto content = GetBody(connection, "/cas/" + record->content, record->bytes);
    if (!content)
      return std::unexpected(content.error() == Reason::Missing ? Reason::Content
                                                                : content.error());
    if (content->size() != record->bytes) return std::unexpected(Reason::Truncated);
    if (Sha256Hex(*content) != record->content) return std::unexpected(Reason::Digest);
    return Fetched{std::move(*record), std::move(*content)};
  }

  Reason Send(const std::string& key_digest, const Record& record, std::string_view content) {
    HttpConnection connection(address, Until());
    for (const bool is_record : {false, true}) {
      auto answer = is_record ? connection.Put("/ac/" + key_digest, PrintActionResult(record))
                              : connection.Put("/cas/" + record.content, content);
      if (!answer) return answer.error();
      if (answer->status / 100 != 2) return Reason::RemoteFailed;
    }
    return Reason::None;
  }
};

std::expected<std::unique_ptr<Remote>, std::string> Remote::Create(const RemoteOptions& options) {
  auto address = ParseHttpAddress(options.address);
  if (!address) return std::unexpected(address.error());
  auto state = std::make_unique<State>();
  state->options = options;
  state->address = std::move(*address);
  return std::unique_ptr<Remote>(new Remote(std::move(state)));
}

Remote::Remote(std::unique_ptr<State> state) : state_(std::move(state)) {}
Remote::~Remote() = default;

std::expected<Remote::Fetched, Reason> Remote::Get(const std::string& key_digest) {
  if (state_->reading.Off()) return std::unexpected(Reason::RemoteOff);
  auto fetched = state_->Fetch(key_digest);
  state_->reading.Note(!fetched && fetched.error() != Reason::Missing, state_->options);
  return fetched;
}

Reason Remote::Put(const std::string& key_digest, const Record& record, std::string_view content) {
  if (state_->writing.Off()) return Reason::RemoteOff;
  const Reason reason = state_->Send(key_digest, record, content);
  state_->writing.Note(reason != Reason::None, state_->options);
  return reason;
}

}  // namespace frazil::store
