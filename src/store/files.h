// Files and folders of a store, opened so that nobody can lead us elsewhere: always relative to a folder that is
// already open, never through a symlink, never blocking on a FIFO, and only if they belong to whom they should.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/system/fd.h"
#include "store/reasons.h"

namespace frazil::store {

// How far a folder may be used. Own: ours, and nobody else can write to it. Foreign: may be read; whatever is in it
// proves itself by its MAC or is a proposal.
enum class Trust : uint8_t { None, Foreign, Own };

struct Folder {
  Fd fd;
  Trust trust = Trust::None;
  bool writable = false;
  uid_t owner = 0;
  std::string reason;  // a sentence, where trust is not Own or it cannot be written
};

// The store's own directory. `create`: make it (0700), with its parents, where it is missing.
Folder OpenDirectory(const std::string& path, bool create);
// A folder inside another: must be a real one, with the same owner, not writable by others. Made where it is missing
// if the parent may be written. Without an fd: Missing or why not.
std::expected<Fd, Reason> OpenSubFolder(int parent, const char* name, uid_t owner, bool create,
                                        bool sync);

struct ReadBytes {
  std::string bytes;
  struct stat status;
};
// A whole regular file of at most max_bytes, owned by `owner` or by us.
std::expected<ReadBytes, Reason> ReadFile(int folder, const char* name, uid_t owner,
                                          uint64_t max_bytes);

// Temporary file in the same folder, fsync, rename, fsync of the folder. None: written.
Reason WriteFile(int folder, const char* name, std::string_view bytes, bool sync);
// The same, but fails with Unwritable where the name is taken.
Reason WriteNewFile(int folder, const char* name, std::string_view bytes, bool sync);
constexpr std::string_view TemporaryPrefix = ".tmp-";

// Calls `visit` with every name in a folder but "." and ".."; in no order.
void ForEachName(int folder, const std::function<void(const char* name)>& visit);

Reason ReasonOfErrno(int error);
bool FillRandom(void* bytes, size_t count);

}  // namespace frazil::store
