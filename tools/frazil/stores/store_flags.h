// What the sub-commands of `frazil store` share.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli.h"
#include "store/inspect.h"

namespace frazil::cli {

struct StoreFlags {
  std::string directory;
  std::string prefix;  // of a key digest
  uint64_t max_bytes = store::StoreOptions{}.max_bytes;
  uint64_t max_age_days = store::StoreOptions{}.max_age_days;
};

Result<std::unique_ptr<store::Store>> OpenStore(const Session& session, const StoreFlags& flags,
                                                bool read_only);
nlohmann::ordered_json JsonOf(const store::Store::Entry& entry);
Result<int> ShowEntry(Session& session, const StoreFlags& flags);

}  // namespace frazil::cli
