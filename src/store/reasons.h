// Why something in a store is not used: what StoreStats::refused counts, by these names.
#pragma once

#include <cstdint>
#include <string_view>

#define FRAZIL_STORE_REASONS(ROW)                                                         \
  ROW(None, "")                                                                           \
  ROW(Missing, "missing")       /* the one that is no refusal: a plain miss */            \
  ROW(Truncated, "truncated")   /* fewer bytes than it says, or more */                   \
  ROW(Magic, "magic")           /* no file of ours */                                     \
  ROW(Version, "version")       /* of another schema */                                   \
  ROW(Kind, "kind")             /* a record where content should be, or the reverse */    \
  ROW(Digest, "digest")         /* bytes are not those that were written */               \
  ROW(Key, "key")               /* a record of another key under this one's name */       \
  ROW(Record, "record")         /* digest right, but no record */                         \
  ROW(Content, "content")       /* the content that a record names is not there */        \
  ROW(Size, "size")             /* above max_entry_bytes */                               \
  ROW(Owner, "owner")           /* someone else's, or open to others */                   \
  ROW(Symlink, "symlink")                                                                 \
  ROW(NotAFile, "not a file")   /* directory, FIFO, device, socket */                     \
  ROW(Unreadable, "unreadable") /* permissions, I/O errors */                             \
  ROW(Mac, "mac")               /* not sealed by this installation */                     \
  ROW(Replayed, "replayed")     /* sealed by us, for something else */                    \
  ROW(Policy, "policy")         /* sealed by us, with less evidence than is asked for */  \
  ROW(Banned, "banned")                                                                   \
  ROW(ReadOnly, "read-only")    /* not written: no permission, or not ours to write to */ \
  ROW(Full, "full")             /* not written: no space, quota or file size limit */     \
  ROW(Unwritable, "unwritable") /* not written: anything else */                          \
  ROW(RemoteFailed, "remote failed")   /* no connection, or a status that is no answer */ \
  ROW(RemoteTimeout, "remote timeout") /* given up after remote_timeout_ms */             \
  ROW(RemoteBytes, "remote bytes")     /* an answer that is none of ours, or too large */ \
  ROW(RemoteOff, "remote off")         /* not asked: it failed too often a moment ago */

namespace frazil::store {

enum class Reason : uint8_t {
#define FRAZIL_STORE_REASON(name, text) name,
  FRAZIL_STORE_REASONS(FRAZIL_STORE_REASON)
#undef FRAZIL_STORE_REASON
};

constexpr std::string_view ReasonName(Reason reason) {
  constexpr std::string_view Names[] = {
#define FRAZIL_STORE_REASON(name, text) text,
      FRAZIL_STORE_REASONS(FRAZIL_STORE_REASON)
#undef FRAZIL_STORE_REASON
  };
  return Names[static_cast<uint8_t>(reason)];
}

}  // namespace frazil::store
