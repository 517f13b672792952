// Bans and profiles: small things that are kept beside the entries. A ban is a file whose name alone counts, so that
// no damage to it can lift it; the text inside is for people. A profile is a log of lines that a process appends to,
// each with a check of its own: whatever a crash or two writers do to a line costs that line.
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>

#include "base/sha256.h"
#include "store/store_impl.h"

namespace frazil::store {
namespace {

constexpr uint64_t MaxLogBytes = 64ull << 20;
constexpr size_t CheckChars = 8;

std::string CheckOf(std::string_view text) { return Sha256Hex(text).substr(0, CheckChars); }

// A digest as it is; anything else by its digest, so that no name leaves the folder.
std::string BanName(std::string_view digest) {
  return IsDigest(digest) ? std::string(digest) : Sha256Hex(digest);
}

// "check exact calls ns"; nothing else is a line.
bool ParseLine(std::string_view line, std::string& exact, Store::Observed& observed) {
  if (line.size() < CheckChars + 1 + 64 + 4 || line[CheckChars] != ' ') return false;
  const std::string_view text = line.substr(CheckChars + 1);
  if (CheckOf(text) != line.substr(0, CheckChars) || !IsDigest(text.substr(0, 64)) ||
      text[64] != ' ')
    return false;
  const char* end = text.data() + text.size();
  auto [calls_end, calls_error] = std::from_chars(text.data() + 65, end, observed.calls);
  if (calls_error != std::errc() || calls_end == end || *calls_end != ' ') return false;
  auto [ns_end, ns_error] = std::from_chars(calls_end + 1, end, observed.ns);
  if (ns_error != std::errc() || ns_end != end) return false;
  exact = text.substr(0, 64);
  return true;
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

void Store::AppendProfile(std::string_view exact, const Observed& observed) {
  if (!impl_->HomeWritable() || !IsDigest(exact)) return;
  const std::string text = fmt::format("{} {} {}", exact, observed.calls, observed.ns);
  // A line that a crash left unfinished ends here, not in the middle of ours.
  const std::string line = fmt::format("\n{} {}\n", CheckOf(text), text);
  std::lock_guard lock(impl_->profile_mutex);
  // A child of fork has a log of its own.
  if (!impl_->profile_log || impl_->profile_owner != getpid()) {
    const Folder& home = *impl_->Home();
    auto folder = OpenSubFolder(home.fd.get(), "profile", home.owner, true, impl_->options.sync);
    if (!folder) return impl_->Count(folder.error());
    const std::string name = fmt::format("{}.log", getpid());
    constexpr int Flags =
        O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    Fd log(openat(folder->get(), name.c_str(), Flags, 0600));
    struct stat status;
    if (!log || fstat(log.get(), &status) != 0) return impl_->Count(ReasonOfErrno(errno));
    if (!S_ISREG(status.st_mode)) return impl_->Count(Reason::NotAFile);
    impl_->profile_log = std::move(log);
    impl_->profile_owner = getpid();
  }
  if (write(impl_->profile_log.get(), line.data(), line.size()) < 0)
    impl_->Count(ReasonOfErrno(errno));
}

std::map<std::string, Store::Observed> Store::MergedProfiles() const {
  std::map<std::string, Observed> merged;
  const Folder* home = impl_->Home();
  if (home == nullptr) return merged;
  auto folder = OpenSubFolder(home->fd.get(), "profile", home->owner, false, false);
  if (!folder) return merged;
  ForEachName(folder->get(), [&](const char* name) {
    if (!std::string_view(name).ends_with(".log")) return;
    auto log = ReadFile(folder->get(), name, home->owner, MaxLogBytes);
    if (!log) return;
    std::string_view rest = log->bytes;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      std::string exact;
      Observed observed;
      if (ParseLine(rest.substr(0, end), exact, observed)) {
        merged[exact].calls += observed.calls;
        merged[exact].ns += observed.ns;
      }
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  });
  return merged;
}

}  // namespace frazil::store
