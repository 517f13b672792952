// Opening, finding and keeping. A Find is four opens and two reads: the record under the key's digest, then the
// content it names. A Put writes the content first and the record last, so that a record never names what was not
// written; whoever dies in between leaves content that nobody names, which garbage collection takes away.
#include "store/store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "base/sha256.h"
#include "store/store_impl.h"

namespace frazil::store {
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The rest of the world may fix these by itself; everything else is damage that will not heal.
bool MayHeal(Reason reason) {
  return reason == Reason::Missing || reason == Reason::Unreadable || reason == Reason::Size;
}

// Lists of guards are entries of the store like others, for a target that no form has.
constexpr std::string_view ListOf = "guards of ";
constexpr size_t MostGuards = 16;

StoreKey ListKey(StoreKey key) {
  key.guard = "true";
  key.target.insert(0, ListOf);
  return key;
}

}  // namespace

bool StoreKey::is_list() const { return target.starts_with(ListOf); }

std::string UserDirectory() {
  const std::string cache = Environment("XDG_CACHE_HOME");
  if (cache.starts_with('/')) return cache + "/frazil";
  const std::string home = Environment("HOME");
  return home.starts_with('/') ? home + "/.cache/frazil" : "";
}

int64_t NowSeconds() { return static_cast<int64_t>(::time(nullptr)); }

const Folder* Store::Impl::Home() const {
  if (folder.trust == Trust::Own) return &folder;
  return home.trust == Trust::Own ? &home : nullptr;
}

void Store::Impl::Count(Reason why) {
  if (why == Reason::Missing) return;
  std::lock_guard lock(mutex);
  ++stats.refused[std::string(ReasonName(why))];
}

std::unique_ptr<Store> Store::Open(const StoreOptions& options) {
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  std::string& directory = impl->options.directory;
  if (directory.empty()) directory = Environment("FRAZIL_STORE");
  if (directory.empty()) directory = UserDirectory();
  impl->folder = OpenDirectory(directory, !options.read_only);
  impl->reason = impl->folder.reason;
  if (options.read_only && impl->folder.trust == Trust::Own) impl->reason.clear();
  const Folder& folder = impl->folder;
  const bool create = folder.writable && !options.read_only;
  for (auto [name, fd] : {std::pair{"cas", &impl->contents}, std::pair{"ac", &impl->records}}) {
    if (folder.trust == Trust::None) break;
    auto opened = OpenSubFolder(folder.fd.get(), name, folder.owner, create, options.sync);
    if (opened)
      *fd = std::move(*opened);
    else if (opened.error() != Reason::Missing && impl->reason.empty())
      impl->reason =
          fmt::format("'{}/{}' cannot be used: {}", directory, name, ReasonName(opened.error()));
  }
  if (folder.trust != Trust::Own && UserDirectory() != directory)
    impl->home = OpenDirectory(UserDirectory(), !options.read_only);
  if (!options.remote.empty()) {
    auto remote = Remote::Create({.address = options.remote,
                                  .timeout_ms = options.remote_timeout_ms,
                                  .max_entry_bytes = options.max_entry_bytes});
    if (remote)
      impl->remote = std::move(*remote);
    else
      impl->remote_reason = remote.error();
  }
  return std::unique_ptr<Store>(new Store(std::move(impl)));
}

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::~Store() = default;

const std::string& Store::directory() const { return impl_->options.directory; }
const std::string& Store::reason() const { return impl_->reason; }
const std::string& Store::remote_reason() const { return impl_->remote_reason; }
bool Store::usable() const { return impl_->folder.trust != Trust::None; }
bool Store::writable() const { return impl_->writable(); }

const verify::InstallKey& Store::key() const {
  impl_->key_once.Call([this] {
    impl_->key = LoadInstallKey(impl_->Home(), impl_->HomeWritable(), impl_->options.sync);
  });
  return impl_->key.key;
}

StoreStats Store::stats() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->stats;
}

std::expected<Store::Impl::Payload, Reason> Store::Impl::ReadFramed(const Fd& root, Kind kind,
                                                                    const std::string& digest,
                                                                    uint64_t max_bytes) const {
  if (!root) return std::unexpected(Reason::Missing);
  auto shard = OpenSubFolder(root.get(), ShardOf(digest).c_str(), folder.owner, false, false);
  if (!shard) return std::unexpected(shard.error());
  auto read = ReadFile(shard->get(), digest.c_str(), folder.owner, FrameBytes + max_bytes);
  if (!read) return std::unexpected(read.error());
  if (auto payload = Unframe(kind, read->bytes); !payload) return std::unexpected(payload.error());
  return Payload{std::move(read->bytes), static_cast<int64_t>(read->status.st_mtime)};
}

Reason Store::Impl::WriteFramed(const Fd& root, const std::string& digest, std::string_view file) {
  auto shard = OpenSubFolder(root.get(), ShardOf(digest).c_str(), folder.owner, true, options.sync);
  if (!shard) return shard.error();
  return WriteFile(shard->get(), digest.c_str(), file, options.sync);
}

void Store::Impl::Drop(const Fd& root, const std::string& digest) {
  if (!writable()) return;
  auto shard = OpenSubFolder(root.get(), ShardOf(digest).c_str(), folder.owner, false, false);
  if (shard) unlinkat(shard->get(), digest.c_str(), 0);
}

// At most once a day: a Find must not write.
void Store::Impl::Touch(const Fd& root, const std::string& digest, int64_t modified) {
  if (!writable() || NowSeconds() - modified < DaySeconds) return;
  auto shard = OpenSubFolder(root.get(), ShardOf(digest).c_str(), folder.owner, false, false);
  if (shard) utimensat(shard->get(), digest.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

std::expected<Store::Impl::Found, Reason> Store::Impl::ReadLocal(const std::string& text,
                                                                 const std::string& digest) {
  auto record_file = ReadFramed(records, Kind::Record, digest, MaxRecordBytes);
  std::expected<Record, Reason> record = std::unexpected(Reason::Missing);
  if (record_file)
    record = ParseRecord(record_file->payload());
  else
    record = std::unexpected(record_file.error());
  if (record && record->key != text) record = std::unexpected(Reason::Key);
  if (!record) {
    if (!MayHeal(record.error())) Drop(records, digest);
    return std::unexpected(record.error());
  }
  auto content = ReadFramed(contents, Kind::Content, record->content, options.max_entry_bytes);
  Reason why = content ? Reason::None : content.error();
  if (content && FrameDigest(content->file) != record->content) why = Reason::Digest;
  if (why != Reason::None && !MayHeal(why)) Drop(contents, record->content);
  // Good content that a record is wrong about stays: other records may name it.
  if (why == Reason::None && content->payload().size() != record->bytes) why = Reason::Record;
  if (why != Reason::None) {
    if (why != Reason::Unreadable) Drop(records, digest);
    return std::unexpected(why == Reason::Missing ? Reason::Content : why);
  }
  Touch(records, digest, record_file->modified);
  Touch(contents, record->content, content->modified);
  content->file.erase(0, FrameBytes);
  return Found{std::move(content->file), std::move(record->content)};
}

Reason Store::Impl::WriteLocal(const std::string& digest, const Record& record,
                               std::string_view sealed) {
  if (!writable()) return Reason::ReadOnly;
  if (sealed.size() > options.max_entry_bytes || record.key.size() > MaxRecordBytes / 2)
    return Reason::Size;
  Reason why = WriteFramed(contents, record.content, Frame(Kind::Content, sealed));
  if (why == Reason::None)
    why = WriteFramed(records, digest, Frame(Kind::Record, PrintRecord(record)));
  if (why == Reason::None) bytes_since_collecting += sealed.size();
  return why;
}

std::optional<Store::Impl::Found> Store::Impl::Get(const StoreKey& key) {
  const std::string text = key.Text();
  const std::string digest = Sha256Hex(text);
  auto found = ReadLocal(text, digest);
  if (!found) Count(found.error());
  if (!found && remote != nullptr) {
    auto fetched = remote->Get(digest);
    if (fetched && fetched->record.key != text) fetched = std::unexpected(Reason::Key);
    if (!fetched) {
      Count(fetched.error());
    } else {
      found = Found{std::move(fetched->content), fetched->record.content};
      if (writable()) {
        if (Reason why = WriteLocal(digest, fetched->record, found->sealed); why != Reason::None)
          Count(why);
      }
      std::lock_guard lock(mutex);
      ++stats.remote_hits;
    }
  }
  std::lock_guard lock(mutex);
  ++(found ? stats.hits : stats.misses);
  if (!found) return std::nullopt;
  return std::move(*found);
}

std::optional<std::string> Store::Find(const StoreKey& key) {
  auto found = impl_->Get(key);
  return found ? std::optional(std::move(found->sealed)) : std::nullopt;
}

bool Store::SealedHere(std::string_view sealed) const {
  // verify/seal.cpp: the MAC is the last 32 bytes and covers all before it.
  if (sealed.size() < 32) return false;
  const std::string_view content = sealed.substr(0, sealed.size() - 32);
  return verify::SameMac(sealed.substr(content.size()), verify::Hmac(key(), content));
}

std::optional<verify::Verified<exec::CompiledForm>> Store::FindVerified(
    const StoreKey& key, const verify::Policy& policy) {
  const auto found = impl_->Get(key);
  if (!found) return std::nullopt;
  const std::string& sealed = found->sealed;
  verify::Expected expected{key.source_exact, key.guard, key.target, key.toolchain,
                            key.profile,      policy,    key.calling};
  auto form = verify::Readmit(sealed, this->key(), expected);
  Reason why = Reason::None;
  if (!form) {
    expected.policy = {verify::Grade::None, verify::Grade::None};
    why = !SealedHere(sealed)                                          ? Reason::Mac
          : verify::Readmit(sealed, this->key(), expected).has_value() ? Reason::Policy
                                                                       : Reason::Replayed;
  } else if (IsBanned((*form)->candidate_exact) || IsBanned(found->digest)) {
    why = Reason::Banned;
  }
  if (why == Reason::None) return std::move(*form);
  if (why == Reason::Banned || why == Reason::Replayed) impl_->Drop(impl_->records, key.Digest());
  std::lock_guard lock(impl_->mutex);
  ++impl_->stats.refused[std::string(ReasonName(why))];
  --impl_->stats.hits;
  ++impl_->stats.misses;
  return std::nullopt;
}

std::optional<exec::CompiledForm> Store::FindForeign(const StoreKey& key) {
  const auto found = impl_->Get(key);
  if (!found) return std::nullopt;
  auto form = verify::ReadForeign(found->sealed);
  if (!form || form->source_exact != key.source_exact || IsBanned(form->candidate_exact))
    return std::nullopt;
  return std::move(*form);
}

bool Store::Put(const StoreKey& key, std::string_view sealed) {
  Impl& impl = *impl_;
  const Record record{Sha256Hex(sealed), sealed.size(), key.Text()};
  const std::string digest = Sha256Hex(record.key);
  const Reason why = impl.WriteLocal(digest, record, sealed);
  if (why != Reason::None) impl.Count(why);
  bool kept = why == Reason::None;
  if (impl.remote != nullptr && !impl.options.read_only &&
      sealed.size() <= impl.options.max_entry_bytes) {
    const Reason remote_why = impl.remote->Put(digest, record, sealed);
    if (remote_why != Reason::None) impl.Count(remote_why);
    kept = kept || remote_why == Reason::None;
  }
  if (kept) {
    std::lock_guard lock(impl.mutex);
    ++impl.stats.writes;
  }
  if (why == Reason::None && key.guard != "true") impl.NoteGuard(ListKey(key), key.guard);
  if (why == Reason::None && impl.CollectingIsDue())
    CollectGarbage(impl.options.max_bytes, impl.options.max_age_days);
  return kept;
}

// Of two that do so at a time, one may be lost: its form is then made again, and noted again.
void Store::Impl::NoteGuard(const StoreKey& list, const std::string& guard) {
  std::vector<std::string> guards = ReadGuards(list);
  std::erase(guards, guard);
  guards.insert(guards.begin(), guard);
  guards.resize(std::min(guards.size(), MostGuards));
  const std::string text = fmt::format("{}\n", fmt::join(guards, "\n"));
  const Record record{Sha256Hex(text), text.size(), list.Text()};
  if (const Reason why = WriteLocal(list.Digest(), record, text); why != Reason::None) Count(why);
}

std::vector<std::string> Store::Impl::ReadGuards(const StoreKey& list) {
  std::vector<std::string> guards;
  const auto found = ReadLocal(list.Text(), list.Digest());
  if (!found) return guards;
  std::istringstream lines(found->sealed);
  for (std::string line; guards.size() < MostGuards && std::getline(lines, line);)
    guards.push_back(line);
  return guards;
}

std::vector<std::string> Store::Guards(const StoreKey& key) {
  return impl_->ReadGuards(ListKey(key));
}

void Store::Remove(const StoreKey& key) { impl_->Drop(impl_->records, key.Digest()); }

}  // namespace frazil::store
