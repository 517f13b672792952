// Others may be able to write where these go (a folder under /tmp, say), and may have put a symlink there in time: only
// real folders of our own are used, and only names that are free.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "store/store_impl.h"

namespace frazil::store {
namespace {

// One program may be caught more than once.
constexpr int MostOfOneName = 100;

std::optional<std::string> WriteUnderFreeName(int folder, const std::string& path,
                                              std::string_view name, std::string_view text) {
  for (int i = 1; i <= MostOfOneName; ++i) {
    const std::string file =
        i == 1 ? fmt::format("{}.txt", name) : fmt::format("{}-{}.txt", name, i);
    struct stat status;
    if (fstatat(folder, file.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) continue;
    if (WriteNewFile(folder, file.c_str(), text, false) == Reason::None)
      return fmt::format("{}/{}", path, file);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> Store::WriteReproducer(std::string_view name, std::string_view text) {
  if (!impl_->HomeWritable()) return std::nullopt;
  const Folder& home = *impl_->Home();
  const auto folder = OpenSubFolder(home.fd.get(), "reproducers", home.owner, true, false);
  if (!folder) {
    impl_->Count(folder.error());
    return std::nullopt;
  }
  const std::string of = &home == &impl_->folder ? directory() : UserDirectory();
  return WriteUnderFreeName(folder->get(), of + "/reproducers", name, text);
}

std::optional<std::string> WriteReproducerIn(const std::string& folder, std::string_view name,
                                             std::string_view text) {
  const Folder opened = OpenDirectory(folder, true);
  if (opened.trust != Trust::Own || !opened.writable) return std::nullopt;
  return WriteUnderFreeName(opened.fd.get(), folder, name, text);
}

}  // namespace frazil::store
