// A store for people to look at. A running program takes a store that is in disorder for a miss; here it is an error with a
// sentence, and looking never makes or changes anything.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/store.h"

namespace frazil::store {

// A store that is there. Only what is one is ever opened for writing.
Result<std::unique_ptr<Store>> OpenExisting(StoreOptions options);

// The one entry whose key starts so.
Result<Store::Entry> FindEntry(const Store& store, std::string_view key_prefix);

// What an entry's sealed bytes say, as far as they may be believed. Shown, not called: no policy is asked.
struct EntryForm {
  enum class Seal : uint8_t { Here, Elsewhere, Unusable };
  Seal seal = Seal::Unusable;
  std::string candidate;          // exact digest; empty: unusable
  verify::EvidencePair evidence;  // sealed here
  uint64_t payload_bytes = 0;
  std::optional<double> ns_per_call = {};
  std::string refused = {};  // unusable: the reason, if one is known
};
std::string_view SealName(EntryForm::Seal seal);  // "here"
EntryForm InspectForm(Store& store, const StoreKey& key);

struct SealCounts {
  uint64_t here = 0, elsewhere = 0;
};
SealCounts CountSeals(Store& store);

// Whether it can be used, made where it is not there yet, and what there is to say about it.
struct Condition {
  bool good = false;
  std::string text;
};
struct StoreCondition {
  Condition store;
  bool exists = false;
  Condition key;  // of a store that is there and good
};
StoreCondition InspectStore(StoreOptions options);

}  // namespace frazil::store
