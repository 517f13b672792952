// Logs of what was seen and tried: profiles, and what became of proposals. A process appends lines to a file of its own,
// each with a check: whatever a crash or two writers do to a line costs that line. Whoever reads takes all files together.
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

// "exact calls ns"; nothing else is a line of a profile.
bool ParseProfile(std::string_view text, std::string& exact, Store::Observed& observed) {
  if (text.size() < 64 + 4 || !IsDigest(text.substr(0, 64)) || text[64] != ' ') return false;
  const char* end = text.data() + text.size();
  auto [calls_end, calls_error] = std::from_chars(text.data() + 65, end, observed.calls);
  if (calls_error != std::errc() || calls_end == end || *calls_end != ' ') return false;
  auto [ns_end, ns_error] = std::from_chars(calls_end + 1, end, observed.ns);
  if (ns_error != std::errc() || ns_end != end) return false;
  exact = text.substr(0, 64);
  return true;
}

}  // namespace

void Store::Impl::Append(Log& log, std::string_view text) {
  if (!HomeWritable() || text.contains('\n')) return;
  // A line that a crash left unfinished ends here, not in the middle of ours.
  const std::string line = fmt::format("\n{} {}\n", CheckOf(text), text);
  std::lock_guard lock(log.mutex);
  // A child of fork has a log of its own.
  if (!log.file || log.owner != getpid()) {
    const Folder& home = *Home();
    auto folder = OpenSubFolder(home.fd.get(), log.folder, home.owner, true, options.sync);
    if (!folder) return Count(folder.error());
    const std::string name = fmt::format("{}.log", getpid());
    constexpr int Flags =
        O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    Fd file(openat(folder->get(), name.c_str(), Flags, 0600));
    struct stat status;
    if (!file || fstat(file.get(), &status) != 0) return Count(ReasonOfErrno(errno));
    if (!S_ISREG(status.st_mode)) return Count(Reason::NotAFile);
    log.file = std::move(file);
    log.owner = getpid();
  }
  if (write(log.file.get(), line.data(), line.size()) < 0) Count(ReasonOfErrno(errno));
}

void Store::Impl::ForEachLine(const Log& log, const Folder* home,
                              const std::function<void(std::string_view)>& use) const {
  if (home == nullptr || !home->fd) return;
  auto folder = OpenSubFolder(home->fd.get(), log.folder, home->owner, false, false);
  if (!folder) return;
  ForEachName(folder->get(), [&](const char* name) {
    if (!std::string_view(name).ends_with(".log")) return;
    auto file = ReadFile(folder->get(), name, home->owner, MaxLogBytes);
    if (!file) return;
    std::string_view rest = file->bytes;
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      if (line.size() < CheckChars + 1 || line[CheckChars] != ' ') continue;
      const std::string_view text = line.substr(CheckChars + 1);
      if (CheckOf(text) == line.substr(0, CheckChars)) use(text);
    }
  });
}

void Store::AppendProfile(std::string_view exact, const Observed& observed) {
  if (IsDigest(exact))
    impl_->Append(impl_->profiles, fmt::format("{} {} {}", exact, observed.calls, observed.ns));
}

std::map<std::string, Store::Observed> Store::MergedProfiles() const {
  std::map<std::string, Observed> merged;
  impl_->ForEachLine(impl_->profiles, impl_->Home(), [&](std::string_view text) {
    std::string exact;
    Observed observed;
    if (!ParseProfile(text, exact, observed)) return;
    merged[exact].calls += observed.calls;
    merged[exact].ns += observed.ns;
  });
  return merged;
}

void Store::AppendAttempt(std::string_view line) { impl_->Append(impl_->attempts, line); }

std::vector<std::string> Store::Attempts() const {
  std::vector<std::string> lines;
  // Of the folder that was asked about, whoever it belongs to: they are looked at, and decide nothing.
  impl_->ForEachLine(impl_->attempts, &impl_->folder,
                     [&](std::string_view text) { lines.emplace_back(text); });
  return lines;
}

}  // namespace frazil::store
