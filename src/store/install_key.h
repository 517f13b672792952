// The key of an installation: 32 random bytes in a file that only its owner can read.
#pragma once

#include <optional>
#include <string>

#include "store/files.h"
#include "verify/verified.h"

namespace frazil::store {

struct LoadedKey {
  verify::InstallKey key;
  std::string reason;  // why it is one of this process alone; empty: it is kept
};

// From `folder` (one of ours), made there on first use if that is writable. Several processes may do so at once: one
// of them wins and all get its key. No folder, or a key file that anybody else can read: a fresh key in memory.
LoadedKey LoadInstallKey(const Folder* folder, bool writable, bool sync);
// What is wrong with the key file, as far as it is there.
Reason InspectKey(const Folder& folder);

}  // namespace frazil::store
