// frazil proposers: who proposed what, and what became of it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli.h"
#include "engine/attempt.h"
#include "store/store.h"

namespace frazil::cli {
namespace {

struct Flags {
  std::string store;
  bool attempts = false;
};

nlohmann::ordered_json JsonOf(const engine::Attempt& attempt) {
  return {{"proposer", attempt.proposer},
          {"target", attempt.target},
          {"fate", engine::FateName(attempt.fate)},
          {"reason", attempt.reason},
          {"source", attempt.source_exact},
          {"candidate", attempt.candidate_exact},
          {"guard", attempt.guard},
          {"static", {attempt.source_static, attempt.candidate_static}},
          {"cost", {attempt.cost_before, attempt.cost_after}}};
}

// By how much the winners were cheaper, in the geometric mean; 0: none of them has a cost on both sides.
double Factor(const engine::Account& account) {
  return account.won == 0 ? 0 : std::exp2(account.gained / static_cast<double>(account.won));
}

Result<int> Show(Session& session, const Flags& flags) {
  store::StoreOptions options;
  options.directory = flags.store;
  options.read_only = true;
  const auto store = store::Store::Open(options);
  if (!store->usable()) return Fail(Diag::FileUnreadable, store->reason());
  std::vector<engine::Attempt> attempts;
  for (const std::string& line : store->Attempts())
    if (auto attempt = engine::ParseAttempt(line)) attempts.push_back(std::move(*attempt));
  // The records themselves, a line each: what a proposer learns from.
  if (flags.attempts) {
    for (const engine::Attempt& attempt : attempts) fmt::print("{}\n", JsonOf(attempt).dump());
    return 0;
  }
  const auto accounts = engine::AddUp(attempts);
  if (session.json) {
    auto list = nlohmann::ordered_json::array();
    for (const auto& [name, account] : accounts)
      list.push_back({{"proposer", name.first},
                      {"target", name.second},
                      {"asked", account.asked},
                      {"won", account.won},
                      {"lost", account.lost},
                      {"refused", account.refused},
                      {"refuted", account.refuted},
                      {"factor", Factor(account)},
                      {"reasons", account.reasons}});
    PrintJson({{"directory", store->directory()}, {"proposers", list}});
    return 0;
  }
  fmt::print("{:<12}  {:<7}  {:>8} {:>6} {:>6} {:>8} {:>8}  {:>7}\n", "proposer", "target",
             "proposed", "won", "lost", "refused", "refuted", "faster");
  for (const auto& [name, account] : accounts) {
    fmt::print("{:<12}  {:<7}  {:>8} {:>6} {:>6} {:>8} {:>8}  {:>7}\n", name.first, name.second,
               account.asked, account.won, account.lost, account.refused, account.refuted,
               account.won == 0 ? "" : fmt::format("{:.1f} x", Factor(account)));
    for (const auto& [reason, count] : account.reasons)
      fmt::print("{:<23}{:>8}   {}\n", "", count, reason);
  }
  fmt::print("{} {} in {}\n", attempts.size(), attempts.size() == 1 ? "proposal" : "proposals",
             store->directory());
  return 0;
}

}  // namespace

void AddProposers(CLI::App& app, Session& session) {
  CLI::App* command = AddCommand(app, "proposers", "who proposed what, and what became of it",
                                 "  frazil proposers\n"
                                 "  frazil proposers --attempts > attempts.jsonl");
  auto flags = std::make_shared<Flags>();
  command->add_option("--store", flags->store, "folder of the store");
  command->add_flag("--attempts", flags->attempts, "every record, a JSON line each");
  SetBody(command, session, [&session, flags] { return Show(session, *flags); });
}

}  // namespace frazil::cli
