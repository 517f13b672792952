#include "store/inspect.h"

#include <errno.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace frazil::store {
namespace {

// The folder that would be written if `path` were made.
std::filesystem::path NearestFolder(std::filesystem::path path) {
  std::error_code ignored;
  while (!std::filesystem::exists(path, ignored) && path.has_relative_path())
    path = path.parent_path();
  return path;
}

Condition InspectKey(const std::string& directory) {
  const std::string path = directory + "/key";
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return {true, "none yet, it is made on first use"};
    return {false, fmt::format("{}: {}", path, ::strerror(errno))};
  }
  const bool good =
      S_ISREG(info.st_mode) && info.st_uid == ::geteuid() && (info.st_mode & 077) == 0;
  return {good,
          fmt::format("{}, mode {:04o}{}", path, info.st_mode & 07777,
                      good ? "" : ", but it must be a file of its user that nobody else can read")};
}

}  // namespace

Result<std::unique_ptr<Store>> OpenExisting(StoreOptions options) {
  const bool read_only = options.read_only;
  // First only to look: what is no store must not become one.
  options.read_only = true;
  std::unique_ptr<Store> store = Store::Open(options);
  if (!store->usable()) return Fail(Diag::StoreUnusable, store->reason());
  if (!LooksLikeStore(store->directory()))
    return Fail(Diag::StoreUnusable,
                fmt::format("{} is no store: it holds other files, but neither cas/ nor ac/",
                            store->directory()));
  if (read_only) return store;
  options.read_only = false;
  store = Store::Open(options);
  if (!store->writable()) return Fail(Diag::StoreUnusable, store->reason());
  return store;
}

Result<Store::Entry> FindEntry(const Store& store, std::string_view key_prefix) {
  std::vector<Store::Entry> found;
  for (Store::Entry& entry : store.List())
    if (entry.key_digest.starts_with(key_prefix)) found.push_back(std::move(entry));
  if (found.size() == 1) return std::move(found[0]);
  return Fail(Diag::BadUsage,
              fmt::format("{} {} of {} have a key that starts with '{}', not one", found.size(),
                          found.size() == 1 ? "entry" : "entries", store.directory(), key_prefix));
}

std::string_view SealName(EntryForm::Seal seal) {
  switch (seal) {
    case EntryForm::Seal::Here: return "here";
    case EntryForm::Seal::Elsewhere: return "elsewhere: a proposal, verified again before use";
    case EntryForm::Seal::Unusable: break;
  }
  return "not usable";
}

EntryForm InspectForm(Store& store, const StoreKey& key) {
  constexpr verify::Policy Any = {verify::Grade::None, verify::Grade::None};
  EntryForm found;
  if (const auto form = store.FindVerified(key, Any)) {
    found.seal = EntryForm::Seal::Here;
    found.candidate = (*form)->candidate_exact;
    found.evidence = form->evidence();
    found.payload_bytes = (*form)->payload.size();
    if (const auto* time = std::get_if<exec::CallTime>(&(*form)->cost))
      found.ns_per_call = time->ns_per_call;
  } else if (const auto foreign = store.FindForeign(key)) {
    found.seal = EntryForm::Seal::Elsewhere;
    found.candidate = foreign->candidate_exact;
  } else if (const StoreStats stats = store.stats(); !stats.refused.empty()) {
    found.refused = stats.refused.begin()->first;
  }
  return found;
}

SealCounts CountSeals(Store& store) {
  SealCounts counts;
  for (const Store::Entry& entry : store.List())
    if (const std::optional<std::string> sealed = store.Find(entry.key))
      ++(store.SealedHere(*sealed) ? counts.here : counts.elsewhere);
  return counts;
}

StoreCondition InspectStore(StoreOptions options) {
  options.read_only = true;
  StoreCondition condition;
  const std::string directory = Store::Open(options)->directory();
  std::error_code ignored;
  condition.exists = directory.empty() || std::filesystem::exists(directory, ignored);
  if (!condition.exists) {
    const std::filesystem::path parent = NearestFolder(directory);
    const bool good = ::access(parent.c_str(), W_OK | X_OK) == 0;
    condition.store = {good, good ? fmt::format("{}, made on first use", directory)
                                  : fmt::format("{} cannot be made: {} is not writable", directory,
                                                parent.string())};
    return condition;
  }
  options.read_only = false;
  const std::unique_ptr<Store> store = Store::Open(options);
  condition.store = {store->writable(), store->writable() ? fmt::format("{} is writable", directory)
                                                          : store->reason()};
  if (condition.store.good) condition.key = InspectKey(directory);
  return condition;
}

}  // namespace frazil::store
