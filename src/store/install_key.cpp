// Whoever knows the key can vouch for code, so a key file that was readable by others even once is never used again:
// the process gets a key of its own and says why. A file of the wrong length is no secret worth keeping: replaced.
#include "store/install_key.h"

#include <cstring>

#include "base/check.h"

namespace frazil::store {
namespace {

constexpr const char* KeyName = "key";
constexpr uint64_t MaxKeyFileBytes = 4096;

// None: key is set. Missing and Truncated mean that a new one may be written.
Reason ReadKey(const Folder& folder, verify::InstallKey& key) {
  auto read = ReadFile(folder.fd.get(), KeyName, folder.owner, MaxKeyFileBytes);
  if (!read) return read.error();
  if ((read->status.st_mode & (S_IRWXG | S_IRWXO)) != 0) return Reason::Owner;
  if (read->bytes.size() != key.size()) return Reason::Truncated;
  std::memcpy(key.data(), read->bytes.data(), key.size());
  return Reason::None;
}

std::string SentenceOf(Reason reason) {
  if (reason == Reason::Owner)
    return "the key file is not ours alone (owner, mode 0600): a key of this process is used";
  if (reason == Reason::Missing)
    return "there is no key file and none can be written: a key of this process is used";
  return "the key file cannot be used (" + std::string(ReasonName(reason)) +
         "): a key of this process is used";
}

verify::InstallKey FreshKey() {
  verify::InstallKey key;
  // Without randomness there is no secret, and a guessable key would let anybody vouch.
  CHECK(FillRandom(key.data(), key.size()));
  return key;
}

}  // namespace

LoadedKey LoadInstallKey(const Folder* folder, bool writable, bool sync) {
  LoadedKey loaded;
  if (folder == nullptr || folder->trust != Trust::Own)
    return {FreshKey(), "no folder of ours can hold a key: a key of this process is used"};
  Reason reason = ReadKey(*folder, loaded.key);
  if (reason == Reason::None) return loaded;
  const bool missing = reason == Reason::Missing;
  const bool cut = reason == Reason::Truncated;
  if ((missing || cut) && writable) {
    const verify::InstallKey fresh = FreshKey();
    const std::string_view bytes(reinterpret_cast<const char*>(fresh.data()), fresh.size());
    if (missing)
      WriteNewFile(folder->fd.get(), KeyName, bytes, sync);
    else
      WriteFile(folder->fd.get(), KeyName, bytes, sync);
    // Whether it was written or somebody else was first, what is there now is the key.
    reason = ReadKey(*folder, loaded.key);
    if (reason == Reason::None) return loaded;
  }
  return {FreshKey(), SentenceOf(reason)};
}

Reason InspectKey(const Folder& folder) {
  verify::InstallKey key;
  return ReadKey(folder, key);
}

}  // namespace frazil::store
