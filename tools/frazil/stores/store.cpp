// frazil store: what is kept on disk, whether it holds, and making it smaller. Looking never changes anything: only
// `gc` opens the store for writing.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/duration.h"
#include "cli.h"
#include "ir/digest.h"
#include "store_flags.h"

namespace frazil::cli {
namespace {

std::string Count(uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
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
  const auto add = [&](const char* name, const char* what, const char* example, auto body) {
    CLI::App* added = AddCommand(*command, name, what, example);
    SetBody(added, session, [&session, flags, body] { return body(session, *flags); });
    return added;
  };
  add("ls", "every entry, the longest unused first", "  frazil store ls", ListStore);
  add("show", "one entry, with its evidence", "  frazil store show 1f3a", ShowEntry)
      ->add_option("key", flags->prefix, "the first digits of its key")
      ->required();
  add("audit", "read and check everything; exit code 4 if something does not hold",
      "  frazil store audit", AuditStore);
  CLI::App* collect =
      add("gc", "remove what is damaged, too old or too much", "  frazil store gc", Collect);
  collect->add_option("--max-bytes", flags->max_bytes, "bytes that may stay")
      ->capture_default_str();
  collect->add_option("--max-age-days", flags->max_age_days, "days without use")
      ->capture_default_str();
}

}  // namespace frazil::cli
