// POSIX calls instead of std::filesystem, because what matters here are flags that it does not have: O_NOFOLLOW,
// O_NONBLOCK, O_EXCL, openat. Files are read, never mapped: a file that someone cuts short while it is mapped kills
// the process, one that is read is a short read.
#include "store/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "store/format.h"

namespace frazil::store {
namespace {

constexpr mode_t OthersMayWrite = S_IWGRP | S_IWOTH;
constexpr int FolderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

int OpenAt(int folder, const char* name, int flags, mode_t mode = 0) {
  int fd;
  do {
    fd = openat(folder, name, flags, mode);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

// mkdir -p with 0700, as the XDG rules ask for.
bool MakeDirectories(const std::string& path) {
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) {
      // A parent may exist although we may not look: the last mkdir decides.
      if (end == std::string::npos || (errno != EACCES && errno != EROFS)) return false;
    }
    if (end == std::string::npos) return true;
  }
}

// O_DIRECTORY with O_NOFOLLOW says "not a directory" of a symlink.
bool IsSymlink(int folder, const char* name) {
  struct stat status;
  return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode);
}

std::string SentenceOfErrno(const std::string& path, int error) {
  switch (error) {
    case ENOENT: return fmt::format("'{}' is missing", path);
    case ELOOP:
    case ENOTDIR:
      if (IsSymlink(AT_FDCWD, path.c_str())) return fmt::format("'{}' is a symlink", path);
      return fmt::format("'{}' is not a directory", path);
    default: return fmt::format("'{}' cannot be opened: {}", path, std::strerror(error));
  }
}

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

// Unique among processes, threads and machines that share a directory.
std::string TemporaryName() {
  static std::atomic<uint64_t> counter{0};
  uint64_t random = 0;
  FillRandom(&random, sizeof random);
  return fmt::format("{}{}-{}-{:016x}", TemporaryPrefix, getpid(), counter.fetch_add(1), random);
}

Reason WriteThenMove(int folder, const char* name, std::string_view bytes, bool sync,
                     bool replace) {
  const std::string temporary = TemporaryName();
  Fd file(OpenAt(folder, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                 0600));
  if (!file) return ReasonOfErrno(errno);
  bool done = WriteAll(file.get(), bytes) && (!sync || fsync(file.get()) == 0);
  if (done && replace) {
    done = renameat(folder, temporary.c_str(), folder, name) == 0;
  } else if (done) {
    // Unlike rename, link never replaces; unlike O_EXCL on the name itself, nobody sees half a file.
    done = linkat(folder, temporary.c_str(), folder, name, 0) == 0;
  }
  const int error = errno;
  if (!done || !replace) unlinkat(folder, temporary.c_str(), 0);
  if (!done) return ReasonOfErrno(error);
  if (sync) fsync(folder);
  return Reason::None;
}

}  // namespace

bool FillRandom(void* bytes, size_t count) {
  char* at = static_cast<char*>(bytes);
  while (count > 0) {
    const ssize_t got = getrandom(at, count, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    at += got;
    count -= static_cast<size_t>(got);
  }
  return true;
}

Reason ReasonOfErrno(int error) {
  switch (error) {
    case ENOENT: return Reason::Missing;
    case ELOOP: return Reason::Symlink;
    case ENOTDIR:
    case EISDIR:
    case ENXIO: return Reason::NotAFile;
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return Reason::Full;
    case EROFS:
    case EACCES:
    case EPERM: return Reason::ReadOnly;
    default: return Reason::Unwritable;
  }
}

Folder OpenDirectory(const std::string& given, bool create) {
  Folder folder;
  std::string path = given;
  // A slash at the end would make the kernel follow a symlink.
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  if (path.empty() || path.find('\0') != std::string::npos) {
    folder.reason = "no directory is named for the store, and there is no home directory";
    return folder;
  }
  folder.fd = Fd(OpenAt(AT_FDCWD, path.c_str(), FolderFlags));
  if (!folder.fd && errno == ENOENT && create) {
    if (!MakeDirectories(path)) {
      folder.reason =
          fmt::format("'{}' is missing and cannot be made: {}", path, std::strerror(errno));
      return folder;
    }
    folder.fd = Fd(OpenAt(AT_FDCWD, path.c_str(), FolderFlags));
  }
  struct stat status;
  if (!folder.fd || fstat(folder.fd.get(), &status) != 0) {
    folder.reason = SentenceOfErrno(path, errno);
    folder.fd = Fd();
    return folder;
  }
  folder.owner = status.st_uid;
  folder.trust = Trust::Foreign;
  if (status.st_uid != geteuid()) {
    folder.reason = fmt::format("'{}' belongs to another user: it is only read", path);
  } else if ((status.st_mode & OthersMayWrite) != 0 && (status.st_mode & S_ISVTX) == 0) {
    folder.reason = fmt::format("others may write to '{}': it is only read", path);
  } else {
    folder.trust = Trust::Own;
    struct statvfs system;
    const bool read_only_disk =
        fstatvfs(folder.fd.get(), &system) == 0 && (system.f_flag & ST_RDONLY) != 0;
    folder.writable =
        !read_only_disk && faccessat(folder.fd.get(), ".", W_OK | X_OK, AT_EACCESS) == 0;
    if (!folder.writable) folder.reason = fmt::format("'{}' is read-only", path);
  }
  return folder;
}

std::expected<Fd, Reason> OpenSubFolder(int parent, const char* name, uid_t owner, bool create,
                                        bool sync) {
  Fd folder(OpenAt(parent, name, FolderFlags));
  if (!folder && errno == ENOENT && create) {
    if (mkdirat(parent, name, 0700) == 0 && sync) fsync(parent);
    folder = Fd(OpenAt(parent, name, FolderFlags));
  }
  struct stat status;
  if (!folder) {
    const int error = errno;
    return std::unexpected(IsSymlink(parent, name) ? Reason::Symlink : ReasonOfErrno(error));
  }
  if (fstat(folder.get(), &status) != 0) return std::unexpected(Reason::Unreadable);
  if (status.st_uid != owner && status.st_uid != geteuid()) return std::unexpected(Reason::Owner);
  if ((status.st_mode & OthersMayWrite) != 0 && create) return std::unexpected(Reason::Owner);
  return folder;
}

std::expected<ReadBytes, Reason> ReadFile(int folder, const char* name, uid_t owner,
                                          uint64_t max_bytes) {
  Fd file(OpenAt(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file) {
    const Reason reason = ReasonOfErrno(errno);
    return std::unexpected(
        reason == Reason::ReadOnly || reason == Reason::Unwritable ? Reason::Unreadable : reason);
  }
  ReadBytes read;
  if (fstat(file.get(), &read.status) != 0) return std::unexpected(Reason::Unreadable);
  if (!S_ISREG(read.status.st_mode)) return std::unexpected(Reason::NotAFile);
  if (read.status.st_uid != owner && read.status.st_uid != geteuid())
    return std::unexpected(Reason::Owner);
  const auto size = static_cast<uint64_t>(read.status.st_size);
  if (size > max_bytes) return std::unexpected(Reason::Size);
  read.bytes.resize(size);
  size_t at = 0;
  while (at < size) {
    const ssize_t count = ::read(file.get(), read.bytes.data() + at, size - at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::unexpected(Reason::Unreadable);
    if (count == 0) return std::unexpected(Reason::Truncated);
    at += static_cast<size_t>(count);
  }
  return read;
}

Reason WriteFile(int folder, const char* name, std::string_view bytes, bool sync) {
  return WriteThenMove(folder, name, bytes, sync, true);
}

Reason WriteNewFile(int folder, const char* name, std::string_view bytes, bool sync) {
  return WriteThenMove(folder, name, bytes, sync, false);
}

void ForEachName(int folder, const std::function<void(const char* name)>& visit) {
  // A second descriptor: reading moves its position, and other threads may be reading too.
  const int again = OpenAt(folder, ".", FolderFlags);
  DIR* stream = again < 0 ? nullptr : fdopendir(again);
  if (stream == nullptr) {
    if (again >= 0) close(again);
    return;
  }
  while (const dirent* entry = readdir(stream)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") visit(entry->d_name);
  }
  closedir(stream);
}

}  // namespace frazil::store
