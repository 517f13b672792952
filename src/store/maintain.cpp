// Looking through a whole store: list, audit, garbage collection. Nothing is locked. Readers keep the files they have
// open; a writer that collides with the collector loses an entry at worst, which is a miss. What is not named by any
// record goes only after an hour, because its writer may be about to name it.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <unordered_map>

#include "base/sha256.h"
#include "store/store_impl.h"

namespace frazil::store {
namespace {

constexpr const char* CollectedName = "collected";
constexpr uint64_t PutsBetweenLooks = 256;

bool IsShard(std::string_view name) {
  return name.size() == 2 && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

using VisitFile =
    std::function<void(int shard, const std::string& shard_name, const std::string& name)>;

// Every name in every shard of cas/ or ac/, in no order.
void ForEachFile(const Fd& root, uid_t owner, const VisitFile& visit) {
  if (!root) return;
  ForEachName(root.get(), [&](const char* shard_name) {
    if (!IsShard(shard_name)) return;
    auto shard = OpenSubFolder(root.get(), shard_name, owner, false, false);
    if (!shard) return;
    ForEachName(shard->get(), [&](const char* name) { visit(shard->get(), shard_name, name); });
  });
}

struct stat StatusOf(int folder, const char* name) {
  struct stat status = {};
  fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW);
  return status;
}

uint64_t BytesOf(const struct stat& status) { return static_cast<uint64_t>(status.st_size); }

bool IsTemporary(std::string_view name) { return name.starts_with(TemporaryPrefix); }

// What one file should be: empty if it is.
std::string ProblemOf(const Store::Impl& impl, Kind kind, const std::string& shard,
                      const std::string& name) {
  if (!IsDigest(name) || ShardOf(name) != shard) return "name";
  const bool record_file = kind == Kind::Record;
  auto read = impl.ReadFramed(record_file ? impl.records : impl.contents, kind, name,
                              record_file ? MaxRecordBytes : impl.options.max_entry_bytes);
  if (!read) return std::string(ReasonName(read.error()));
  if (!record_file)
    return FrameDigest(read->file) == name ? "" : std::string(ReasonName(Reason::Digest));
  auto record = ParseRecord(read->payload());
  if (!record) return std::string(ReasonName(record.error()));
  if (Sha256Hex(record->key) != name) return std::string(ReasonName(Reason::Key));
  auto content =
      impl.ReadFramed(impl.contents, Kind::Content, record->content, impl.options.max_entry_bytes);
  return content && content->payload().size() == record->bytes
             ? ""
             : std::string(ReasonName(Reason::Content));
}

}  // namespace

std::vector<Store::Entry> Store::List() const {
  std::vector<Entry> entries;
  ForEachFile(
      impl_->records, impl_->folder.owner,
      [&](int, const std::string& shard, const std::string& name) {
        if (!IsDigest(name) || ShardOf(name) != shard) return;
        auto read = impl_->ReadFramed(impl_->records, Kind::Record, name, MaxRecordBytes);
        if (!read) return;
        auto record = ParseRecord(read->payload());
        if (!record || Sha256Hex(record->key) != name) return;
        auto key = ParseKey(record->key);
        if (!key || key->is_list()) return;
        entries.push_back({name, record->content, record->bytes, read->modified, std::move(*key)});
      });
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.modified, a.key_digest) < std::tie(b.modified, b.key_digest);
  });
  return entries;
}

std::vector<Store::AuditLine> Store::Audit() const {
  std::vector<AuditLine> lines;
  if (const Folder* home = impl_->Home(); home != nullptr) {
    const Reason reason = InspectKey(*home);
    if (reason != Reason::None && reason != Reason::Missing)
      lines.push_back({"key", std::string(ReasonName(reason))});
  }
  const int64_t now = NowSeconds();
  for (auto [folder, kind] : {std::pair{"ac", Kind::Record}, std::pair{"cas", Kind::Content}}) {
    const Fd& root = kind == Kind::Record ? impl_->records : impl_->contents;
    ForEachFile(root, impl_->folder.owner,
                [&](int shard, const std::string& shard_name, const std::string& name) {
                  const std::string path = fmt::format("{}/{}/{}", folder, shard_name, name);
                  if (IsTemporary(name)) {
                    if (now - StatusOf(shard, name.c_str()).st_mtime > AbandonedSeconds)
                      lines.push_back({path, "abandoned"});
                    return;
                  }
                  std::string problem = ProblemOf(*impl_, kind, shard_name, name);
                  if (!problem.empty()) lines.push_back({path, std::move(problem)});
                });
    if (!root) continue;
    ForEachName(root.get(), [&](const char* name) {
      if (!IsShard(name)) return lines.push_back({fmt::format("{}/{}", folder, name), "name"});
      auto shard = OpenSubFolder(root.get(), name, impl_->folder.owner, false, false);
      if (!shard)
        lines.push_back(
            {fmt::format("{}/{}", folder, name), std::string(ReasonName(shard.error()))});
    });
  }
  std::sort(lines.begin(), lines.end(),
            [](const AuditLine& a, const AuditLine& b) { return a.path < b.path; });
  return lines;
}

namespace {

// One pass over the store: what is there, then what goes.
class Collector {
 public:
  Collector(Store::Impl& impl, uint64_t max_bytes, uint64_t max_age_days)
      : impl_(impl), max_bytes_(max_bytes), max_age_days_(max_age_days), now_(NowSeconds()) {}

  Store::Collected Run() {
    ReadRecords();
    ReadContents();
    DropOldest();
    DropUnnamed();
    DropAbandoned(impl_.folder.fd.get());
    DropOldLogs();
    return collected_;
  }

 private:
  struct Named {
    std::string digest, content;
    uint64_t bytes;
    int64_t modified;
    int64_t nanoseconds;  // of that second: what was put a moment ago is not the oldest
  };
  struct Held {
    uint64_t bytes = 0;
    int64_t modified = 0;
    uint64_t names = 0;
  };

  void Drop(int folder, const std::string& name, uint64_t bytes) {
    if (unlinkat(folder, name.c_str(), 0) != 0) return;
    ++collected_.files;
    collected_.bytes += bytes;
  }
  void DropDigest(const Fd& root, const std::string& digest, uint64_t bytes) {
    auto shard =
        OpenSubFolder(root.get(), ShardOf(digest).c_str(), impl_.folder.owner, false, false);
    if (shard) Drop(shard->get(), digest, bytes);
  }
  bool Abandoned(int64_t modified) const { return now_ - modified > AbandonedSeconds; }

  void ReadRecords() {
    ForEachFile(impl_.records, impl_.folder.owner,
                [&](int shard, const std::string&, const std::string& name) {
                  const struct stat status = StatusOf(shard, name.c_str());
                  auto read = impl_.ReadFramed(impl_.records, Kind::Record, name, MaxRecordBytes);
                  auto record = read ? ParseRecord(read->payload()) : std::unexpected(read.error());
                  if (record && IsDigest(name) && Sha256Hex(record->key) == name) {
                    named_.push_back({name, record->content, BytesOf(status), status.st_mtime,
                                      status.st_mtim.tv_nsec});
                  } else if (!IsTemporary(name) || Abandoned(status.st_mtime)) {
                    Drop(shard, name, BytesOf(status));
                  }
                });
  }
  void ReadContents() {
    ForEachFile(impl_.contents, impl_.folder.owner,
                [&](int shard, const std::string&, const std::string& name) {
                  const struct stat status = StatusOf(shard, name.c_str());
                  // One that is too large to be read is worth nothing, and must not push out those that are not.
                  const bool readable =
                      S_ISREG(status.st_mode) &&
                      BytesOf(status) <= FrameBytes + impl_.options.max_entry_bytes;
                  if (IsDigest(name) && readable) {
                    held_[name] = {BytesOf(status), status.st_mtime, 0};
                    total_ += BytesOf(status);
                  } else if (!IsTemporary(name) || Abandoned(status.st_mtime)) {
                    Drop(shard, name, BytesOf(status));
                  }
                });
    for (const Named& named : named_) {
      total_ += named.bytes;
      if (auto held = held_.find(named.content); held != held_.end()) ++held->second.names;
    }
  }
  // By age, and by size until what is left fits; the content goes with the last record that names it.
  void DropOldest() {
    std::sort(named_.begin(), named_.end(), [](const Named& a, const Named& b) {
      return std::tie(a.modified, a.nanoseconds, a.digest) <
             std::tie(b.modified, b.nanoseconds, b.digest);
    });
    for (const Named& named : named_) {
      const bool old = (now_ - named.modified) / DaySeconds > static_cast<int64_t>(max_age_days_);
      auto held = held_.find(named.content);
      if (!old && total_ <= max_bytes_ && held != held_.end()) continue;
      DropDigest(impl_.records, named.digest, named.bytes);
      total_ -= named.bytes;
      if (held == held_.end() || --held->second.names > 0) continue;
      DropDigest(impl_.contents, named.content, held->second.bytes);
      total_ -= held->second.bytes;
      held_.erase(held);
    }
  }
  void DropUnnamed() {
    for (const auto& [digest, held] : held_)
      if (held.names == 0 && Abandoned(held.modified))
        DropDigest(impl_.contents, digest, held.bytes);
  }
  void DropAbandoned(int folder) {
    ForEachName(folder, [&](const char* name) {
      if (!IsTemporary(name)) return;
      const struct stat status = StatusOf(folder, name);
      if (S_ISREG(status.st_mode) && Abandoned(status.st_mtime))
        Drop(folder, name, BytesOf(status));
    });
  }
  void DropOldLogs() {
    for (const char* folder : {"profile", "attempts"}) {
      auto logs = OpenSubFolder(impl_.folder.fd.get(), folder, impl_.folder.owner, false, false);
      if (!logs) continue;
      ForEachName(logs->get(), [&](const char* name) {
        const struct stat status = StatusOf(logs->get(), name);
        if ((now_ - status.st_mtime) / DaySeconds > static_cast<int64_t>(max_age_days_))
          Drop(logs->get(), name, BytesOf(status));
      });
    }
  }

  Store::Impl& impl_;
  const uint64_t max_bytes_, max_age_days_;
  const int64_t now_;
  std::vector<Named> named_;
  std::unordered_map<std::string, Held> held_;
  uint64_t total_ = 0;
  Store::Collected collected_;
};

}  // namespace

Store::Collected Store::CollectGarbage(uint64_t max_bytes, uint64_t max_age_days) {
  if (!impl_->writable()) return {};
  impl_->bytes_since_collecting = 0;
  return Collector(*impl_, max_bytes, max_age_days).Run();
}

// The first Put of a process looks at the stamp, and then one in many; a process that alone wrote a good part of what
// is allowed does not wait for a day to pass.
bool Store::Impl::CollectingIsDue() {
  if (bytes_since_collecting > options.max_bytes / 4) return true;
  if (puts++ % PutsBetweenLooks != 0) return false;
  struct stat status;
  const bool stamped = fstatat(folder.fd.get(), CollectedName, &status, AT_SYMLINK_NOFOLLOW) == 0;
  if (stamped && NowSeconds() - status.st_mtime < DaySeconds) return false;
  // The stamp first: other processes then leave the work to us.
  WriteFile(folder.fd.get(), CollectedName, "", false);
  return stamped;
}

bool LooksLikeStore(const std::string& folder) {
  for (const char* part : {"cas", "ac", "key", "ban", "profile", "attempts"}) {
    std::error_code ignored;
    if (std::filesystem::symlink_status(std::filesystem::path(folder) / part, ignored).type() !=
        std::filesystem::file_type::not_found)
      return true;
  }
  std::error_code unreadable;
  return std::filesystem::is_empty(folder, unreadable);
}

}  // namespace frazil::store
