// frazil store: what is kept on disk, whether it holds, and making it smaller. Looking never changes anything: only
// `gc` opens the store for writing.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/duration.h"
#include "cli.h"
#include "ir/digest.h"
#include "store/inspect.h"

namespace frazil::cli {
namespace {

struct StoreFlags {
  std::string directory;
  std::string prefix;  // of a key digest
  uint64_t max_bytes = store::StoreOptions{}.max_bytes;
  uint64_t max_age_days = store::StoreOptions{}.max_age_days;
};

Result<std::unique_ptr<store::Store>> OpenStore(const Session& session, const StoreFlags& flags,
                                                bool read_only) {
  store::StoreOptions options;
  options.directory = flags.directory;
  options.max_entry_bytes = session.limits.store_entry_bytes;
  options.read_only = read_only;
  return store::OpenExisting(options);
}

std::string Count(uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
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

Result<int> ListStore(Session& session, const StoreFlags& flags) {
  const auto store = TRY(OpenStore(session, flags, true));
  const std::vector<store::Store::Entry> entries = store->List();
  uint64_t bytes = 0;
  auto list = nlohmann::ordered_json::array();
  for (const store::Store::Entry& entry : entries) {
    bytes += entry.bytes;
    if (session.json)
      list.push_back(JsonOf(entry));
    else
      fmt::print("{}  {:>9} bytes  {:<8}  {:<12}  program {}  if {}\n",
                 entry.key_digest.substr(0, 12), entry.bytes, entry.key.profile,
                 PrintAgo(entry.modified), ir::ShortDigest(entry.key.source_exact),
                 entry.key.guard);
  }
  if (session.json)
    PrintJson({{"directory", store->directory()}, {"entries", list}, {"bytes", bytes}});
  else
    fmt::print("{}, {} bytes in {}\n", Count(entries.size(), "entry", "entries"), bytes,
               store->directory());
  return 0;
}

// What the sealed bytes say, as far as they may be believed.
nlohmann::ordered_json FormOf(store::Store& store, const store::StoreKey& key) {
  constexpr verify::Policy Any = {verify::Grade::None, verify::Grade::None};
  nlohmann::ordered_json json;
  if (auto form = store.FindVerified(key, Any)) {
    json["sealed"] = "here";
    json["candidate"] = (*form)->candidate_exact;
    json["meaning"] = verify::Describe(form->evidence().meaning);
    json["lowering"] = verify::Describe(form->evidence().lowering);
    json["bytes"] = (*form)->payload.size();
    if (const auto* time = std::get_if<exec::CallTime>(&(*form)->cost))
      json["ns_per_call"] = time->ns_per_call;
  } else if (auto foreign = store.FindForeign(key)) {
    json["sealed"] = "elsewhere: a proposal, verified again before use";
    json["candidate"] = foreign->candidate_exact;
  } else {
    json["sealed"] = "not usable";
    const store::StoreStats stats = store.stats();
    if (!stats.refused.empty()) json["refused"] = stats.refused.begin()->first;
  }
  return json;
}

Result<int> ShowEntry(Session& session, const StoreFlags& flags) {
  const auto store = TRY(OpenStore(session, flags, true));
  const store::Store::Entry entry = TRY(store::FindEntry(*store, flags.prefix));
  nlohmann::ordered_json json = JsonOf(entry);
  json["used"] = session.json ? json["used"] : nlohmann::ordered_json(PrintAgo(entry.modified));
  json.update(FormOf(*store, entry.key));
  if (session.json) {
    PrintJson(json);
    return 0;
  }
  for (const auto& [name, value] : json.items())
    PrintFact(session, name, value.is_string() ? value.get<std::string>() : value.dump());
  return 0;
}

Result<int> AuditStore(Session& session, const StoreFlags& flags) {
  const auto store = TRY(OpenStore(session, flags, true));
  const Progress progress(session, "auditing");
  const std::vector<store::Store::AuditLine> lines = store->Audit();
  const auto [ours, foreign] = store::CountSeals(*store);
  if (session.json) {
    auto list = nlohmann::ordered_json::array();
    for (const auto& line : lines) list.push_back({{"path", line.path}, {"problem", line.problem}});
    PrintJson({{"directory", store->directory()},
               {"sealed_here", ours},
               {"foreign", foreign},
               {"problems", list}});
  } else {
    for (const auto& line : lines) fmt::print("{}: {}\n", line.path, line.problem);
    fmt::print("{} sealed here, {} foreign, {} in {}\n", Count(ours, "entry", "entries"), foreign,
               Count(lines.size(), "problem", "problems"), store->directory());
  }
  return lines.empty() ? 0 : ExitCodeOf(ErrorClass::Environment);
}

Result<int> Collect(Session& session, const StoreFlags& flags) {
  const auto store = TRY(OpenStore(session, flags, false));
  const Progress progress(session, "collecting");
  const store::Store::Collected collected =
      store->CollectGarbage(flags.max_bytes, flags.max_age_days);
  if (session.json)
    PrintJson({{"directory", store->directory()},
               {"files", collected.files},
               {"bytes", collected.bytes}});
  else
    fmt::print("{} removed, {} bytes freed in {}\n", Count(collected.files, "file", "files"),
               collected.bytes, store->directory());
  return 0;
}

}  // namespace

void AddStore(CLI::App& app, Session& session) {
  CLI::App* command =
      AddCommand(app, "store", "look at the store of verified code: ls, show, audit, gc",
                 "  frazil store ls\n  frazil store show 1f3a\n  frazil store audit --json\n"
                 "  frazil store gc --max-bytes 100000000");
  command->require_subcommand(1);
  auto flags = std::make_shared<StoreFlags>();
  command->add_option("--store", flags->directory,
                      "folder of the store (default: $FRAZIL_STORE, then the user's)");
  CLI::App* list =
      AddCommand(*command, "ls", "every entry, the longest unused first", "  frazil store ls");
  SetBody(list, session, [&session, flags] { return ListStore(session, *flags); });
  CLI::App* show =
      AddCommand(*command, "show", "one entry, with its evidence", "  frazil store show 1f3a");
  show->add_option("key", flags->prefix, "the first digits of its key")->required();
  SetBody(show, session, [&session, flags] { return ShowEntry(session, *flags); });
  CLI::App* audit = AddCommand(*command, "audit",
                               "read and check everything; exit code 4 if something does not hold",
                               "  frazil store audit");
  SetBody(audit, session, [&session, flags] { return AuditStore(session, *flags); });
  CLI::App* collect = AddCommand(*command, "gc", "remove what is damaged, too old or too much",
                                 "  frazil store gc");
  collect->add_option("--max-bytes", flags->max_bytes, "bytes that may stay")
      ->capture_default_str();
  collect->add_option("--max-age-days", flags->max_age_days, "days without use")
      ->capture_default_str();
  SetBody(collect, session, [&session, flags] { return Collect(session, *flags); });
}

}  // namespace frazil::cli
