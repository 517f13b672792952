// Bans: a ban is a file whose name alone counts, so that no damage to it can lift it; the text inside is for people.
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.h"
#include "store/store_impl.h"

namespace frazil::store {
namespace {

// A digest as it is; anything else by its digest, so that no name leaves the folder.
std::string BanName(std::string_view digest) {
  return IsDigest(digest) ? std::string(digest) : Sha256Hex(digest);
}

}  // namespace

void Store::Ban(std::string_view digest, std::string_view why) {
  const std::string name = BanName(digest);
  {
    std::lock_guard lock(impl_->mutex);
    impl_->bans.insert(name);
  }
  if (!impl_->HomeWritable()) return;
  const Folder& home = *impl_->Home();
  auto folder = OpenSubFolder(home.fd.get(), "ban", home.owner, true, impl_->options.sync);
  const Reason reason =
      !folder ? folder.error()
              : WriteFile(folder->get(), name.c_str(), Frame(Kind::Ban, why), impl_->options.sync);
  if (reason != Reason::None) impl_->Count(reason);
}

bool Store::IsBanned(std::string_view digest) {
  const std::string name = BanName(digest);
  {
    std::lock_guard lock(impl_->mutex);
    if (impl_->bans.contains(name)) return true;
  }
  const Folder* home = impl_->Home();
  if (home == nullptr) return false;
  auto folder = OpenSubFolder(home->fd.get(), "ban", home->owner, false, false);
  struct stat status;
  return folder && fstatat(folder->get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
}

}  // namespace frazil::store
