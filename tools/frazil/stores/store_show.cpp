// frazil store show: one entry, and what its form is worth.
#include <nlohmann/json.hpp>

#include "base/duration.h"
#include "store_flags.h"

namespace frazil::cli {

Result<std::unique_ptr<store::Store>> OpenStore(const Session& session, const StoreFlags& flags,
                                                bool read_only) {
  store::StoreOptions options;
  options.directory = flags.directory;
  options.max_entry_bytes = session.limits.store_entry_bytes;
  options.read_only = read_only;
  return store::OpenExisting(options);
}

nlohmann::ordered_json JsonOf(const store::Store::Entry& entry) {
  return {{"key", entry.key_digest},
          {"content", entry.content_digest},
          {"bytes", entry.bytes},
          {"used", entry.modified},
          {"source", entry.key.source_exact},
          {"guard", entry.key.guard},
          {"target", entry.key.target},
          {"toolchain", entry.key.toolchain},
          {"profile", entry.key.profile}};
}

namespace {

nlohmann::ordered_json JsonOf(const store::EntryForm& form) {
  nlohmann::ordered_json json = {{"sealed", store::SealName(form.seal)}};
  if (!form.candidate.empty()) json["candidate"] = form.candidate;
  if (form.seal == store::EntryForm::Seal::Here) {
    json["meaning"] = verify::Describe(form.evidence.meaning);
    json["lowering"] = verify::Describe(form.evidence.lowering);
    json["bytes"] = form.payload_bytes;
    if (form.ns_per_call) json["ns_per_call"] = *form.ns_per_call;
  }
  if (!form.refused.empty()) json["refused"] = form.refused;
  return json;
}

}  // namespace

Result<int> ShowEntry(Session& session, const StoreFlags& flags) {
  const auto store = TRY(OpenStore(session, flags, true));
  const store::Store::Entry entry = TRY(store::FindEntry(*store, flags.prefix));
  nlohmann::ordered_json json = JsonOf(entry);
  json["used"] = session.json ? json["used"] : nlohmann::ordered_json(PrintAgo(entry.modified));
  json.update(JsonOf(store::InspectForm(*store, entry.key)));
  if (session.json) {
    PrintJson(json);
    return 0;
  }
  for (const auto& [name, value] : json.items())
    PrintFact(session, name, value.is_string() ? value.get<std::string>() : value.dump());
  return 0;
}

}  // namespace frazil::cli
