// The store: verified forms by content, on disk, shared by processes without locks. It never fails a caller:
// whatever is wrong with it (missing, read-only, full, a symlink, someone else's, truncated, forged) is a miss,
// counted with its reason. It hands out bytes; only verify::Readmit turns them into something callable.
//
//   <dir>/cas/ab/<sha256>        content, named by its digest
//   <dir>/ac/cd/<key digest>     small record that names content; the key is StoreKey::Digest
//   <dir>/key                    install key, 0600
//   <dir>/ban/<digest>           candidates that were caught being wrong
//   <dir>/profile/<pid>.log      per-process profiles, merged by whoever reads
//   <dir>/attempts/<pid>.log     what became of proposals, likewise
//   <dir>/reproducers/<name>     how a form was caught, for people
//
// A directory that others can write to, or that is someone else's, is only read; then all but cas/ and ac/ is
// kept in the user's own folder, $XDG_CACHE_HOME/frazil or ~/.cache/frazil.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "verify/verified.h"

namespace frazil::store {

struct StoreKey {
  std::string source_exact;
  std::string guard = "true";
  std::string target = "native";
  std::string toolchain;
  std::string profile = "baseline";  // a CPU level, an instruction profile, a PTX architecture
  std::string calling = {};          // as exec::CompiledForm has it
  // The key as one text that no other key has; versions of IR, prelude, ABI and schema are part of it.
  std::string Text() const;
  std::string Digest() const;  // SHA-256 of Text(), 64 hex digits
  // Of a list of guards (Store::Guards) and not of a form.
  bool is_list() const;
  friend bool operator==(const StoreKey&, const StoreKey&) = default;
};

struct StoreOptions {
  std::string directory;  // empty: $FRAZIL_STORE, else $XDG_CACHE_HOME/frazil, else ~/.cache/frazil
  bool read_only = false;
  uint64_t max_bytes = 1ull << 30;  // eviction: oldest use first
  uint64_t max_age_days = 90;
  std::string
      remote;  // "http://host:port": a shared store behind the Bazel HTTP cache protocol; empty: none
  uint64_t remote_timeout_ms = 500;  // of one Find or Put, whatever the other side does
  uint64_t max_entry_bytes = Limits{}.store_entry_bytes;
  bool sync = true;  // false: no fsync; for tests that do not pull the plug
};

struct StoreStats {
  uint64_t hits = 0, misses = 0, writes = 0, remote_hits = 0;
  std::map<std::string, uint64_t> refused;  // reason -> how often
};

class Store {
 public:
  // Always gives a store; an unusable directory gives one that misses, and says why in reason().
  static std::unique_ptr<Store> Open(const StoreOptions& options);
  ~Store();

  const std::string& directory() const;
  const std::string& reason() const;         // empty: usable
  const std::string& remote_reason() const;  // why there is no remote although one was asked for
  bool usable() const;                       // can be read at least
  bool writable() const;
  const verify::InstallKey& key()
      const;  // made on first use; in memory only where it cannot be kept

  // The sealed bytes under a key, length and digest checked; nothing else is promised about them.
  std::optional<std::string> Find(const StoreKey& key);
  // Find + Readmit; a refusal is a miss with its reason counted. An entry that nobody can use (replayed from
  // another key, banned) is dropped if it is ours to drop; one with a foreign MAC stays, see FindForeign.
  std::optional<verify::Verified<exec::CompiledForm>> FindVerified(const StoreKey& key,
                                                                   const verify::Policy& policy);
  // What someone else vouched for: a proposal, to be lowered and verified again. Its machine code is gone.
  std::optional<exec::CompiledForm> FindForeign(const StoreKey& key);
  bool SealedHere(std::string_view sealed) const;  // its MAC is ours
  // Temporary file, fsync, rename. False: not kept (counted with its reason).
  bool Put(const StoreKey& key, std::string_view sealed);
  void Remove(const StoreKey& key);
  // Under which guards this folder has been given forms, newest first, at most a few: whatever else the key says counts, its own
  // guard does not. It says where to look and nothing more, so that nobody has to seal it.
  std::vector<std::string> Guards(const StoreKey& key);

  // Bans: exact digests of candidates that were caught being wrong, and digests of sealed bytes whose maker was; never
  // dispatched again.
  void Ban(std::string_view digest, std::string_view why);
  bool IsBanned(std::string_view digest);

  // A text for people, beside the bans; the path that it got. None: it could not be written.
  std::optional<std::string> WriteReproducer(std::string_view name, std::string_view text);

  // Profiles: one more observation of a program, appended to this process's log; and all logs added up.
  struct Observed {
    uint64_t calls = 0, ns = 0;
    friend bool operator==(const Observed&, const Observed&) = default;
  };
  void AppendProfile(std::string_view exact, const Observed& observed);
  std::map<std::string, Observed> MergedProfiles() const;

  // What became of proposals, a line each (engine/attempt.h): likewise.
  void AppendAttempt(std::string_view line);
  std::vector<std::string> Attempts() const;

  struct Entry {
    std::string key_digest, content_digest;
    uint64_t bytes = 0;
    int64_t modified = 0;  // seconds since 1970
    StoreKey key;
  };
  // Oldest first. Lists of guards are left out, and records that do not hold: Audit names them.
  std::vector<Entry> List() const;
  // Every record and content read and checked; what does not hold, with the reason.
  struct AuditLine {
    std::string path, problem;
  };
  std::vector<AuditLine> Audit() const;
  struct Collected {
    uint64_t files = 0, bytes = 0;
  };
  // Safe beside readers and writers. Put calls it once a day, with the limits of the options.
  Collected CollectGarbage(uint64_t max_bytes, uint64_t max_age_days);
  StoreStats stats() const;

  struct Impl;  // store_impl.h

 private:
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// WriteReproducer in a folder of the caller's choice, made where it is missing. It must be his own and closed to others.
std::optional<std::string> WriteReproducerIn(const std::string& folder, std::string_view name,
                                             std::string_view text);

// An empty folder is a store without entries; one with other things in it and nothing of ours is somebody's.
bool LooksLikeStore(const std::string& folder);

}  // namespace frazil::store
