// What a Store is made of; for the files of this folder only.
#pragma once

#include <atomic>
#include <set>

#include "base/system/fork.h"
#include "store/files.h"
#include "store/format.h"
#include "store/install_key.h"
#include "store/remote/remote.h"
#include "store/store.h"

namespace frazil::store {

struct Store::Impl {
  StoreOptions options;
  Folder folder;         // the store itself
  Folder home;           // the user's own folder, where the store is not one of ours
  Fd contents, records;  // cas/, ac/; absent in a store that is new and read-only
  std::string reason, remote_reason;
  std::unique_ptr<Remote> remote;

  ForkOnce key_once;
  LoadedKey key;

  ForkMutex mutex;  // stats and bans
  StoreStats stats;
  std::set<std::string, std::less<>> bans;  // also those that could not be written
  std::atomic<uint64_t> puts{0}, bytes_since_collecting{0};
  // Lines that this process appends to a file of its own, in a folder where all have theirs.
  struct Log {
    const char* folder;
    ForkMutex mutex = {};
    Fd file = {};
    pid_t owner = 0;
  };
  Log profiles{"profile"};
  Log attempts{"attempts"};
  void Append(Log& log, std::string_view text);
  // Of the logs in a folder; null: there are none.
  void ForEachLine(const Log& log, const Folder* home,
                   const std::function<void(std::string_view)>& use) const;

  bool writable() const { return folder.writable && !options.read_only && contents && records; }
  // Where key, bans, profiles and reproducers live; null: nowhere.
  const Folder* Home() const;
  bool HomeWritable() const { return !options.read_only && Home() != nullptr && Home()->writable; }
  void Count(Reason reason);

  // A checked payload of one file of cas/ or ac/, and when it was last used.
  struct Payload {
    std::string file;  // frame and payload
    std::string_view payload() const { return std::string_view(file).substr(FrameBytes); }
    int64_t modified = 0;
  };
  std::expected<Payload, Reason> ReadFramed(const Fd& root, Kind kind, const std::string& digest,
                                            uint64_t max_bytes) const;
  Reason WriteFramed(const Fd& root, const std::string& digest, std::string_view file);
  void Drop(const Fd& root, const std::string& digest);
  void Touch(const Fd& root, const std::string& digest, int64_t modified);

  struct Found {
    std::string sealed;
    std::string digest;  // of these bytes, checked
  };
  std::expected<Found, Reason> ReadLocal(const std::string& text, const std::string& digest);
  Reason WriteLocal(const std::string& digest, const Record& record, std::string_view sealed);
  std::optional<Found> Get(const StoreKey& key);
  void NoteGuard(const StoreKey& list, const std::string& guard);
  std::vector<std::string> ReadGuards(const StoreKey& list);
  bool CollectingIsDue();
};

constexpr uint64_t MaxRecordBytes = 1u << 20;
constexpr int64_t DaySeconds = 24 * 3600;
constexpr int64_t AbandonedSeconds =
    3600;  // a temporary file or content without a record is nobody's after this
int64_t NowSeconds();

// "ab" of "ab..."; the folder that holds a digest.
inline std::string ShardOf(std::string_view digest) { return std::string(digest.substr(0, 2)); }
// $XDG_CACHE_HOME/frazil or ~/.cache/frazil; empty: neither is known.
std::string UserDirectory();

}  // namespace frazil::store
