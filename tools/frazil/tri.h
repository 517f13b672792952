// What the `frazil tri` commands share: flags, and calls of the library (frazil/tri.h) with the session's limits.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "cli.h"
#include "frazil/tri.h"

namespace frazil::cli {

namespace mt = machines::tasm;

// Flags that say which program and what it reads.
struct TriFlags {
  tri::Source source;
  std::string profile = "dot";
  tri::InputTexts inputs;
  uint64_t cycles = tri::Options().cycles;
};
void AddProgramOptions(CLI::App* command, TriFlags& flags);
void AddInputOptions(CLI::App* command, TriFlags& flags);
Result<tri::Source> SourceOf(const TriFlags& flags);

// All errors but the last are printed; the last is the command's. In JSON there is one document: the first, and how many
// more there are.
Error TakeLast(Session& session, std::vector<Error> errors);
void PrintWarnings(const Session& session, const std::vector<Error>& warnings);

// Calls the library: steps are shown while they last, and what was noted about the text is printed.
template <typename Body>
auto CallTri(Session& session, uint64_t cycles, Body body)
    -> decltype(body(std::declval<const tri::Options&>())) {
  tri::Notes notes;
  std::optional<Progress> progress;
  tri::Options options;
  options.limits = session.limits;
  options.cycles = cycles;
  options.standard_input = true;
  options.notes = &notes;
  options.on_step = [&](std::string_view what) {
    progress.reset();
    if (!what.empty()) progress.emplace(session, std::string(what));
  };
  auto result = body(std::as_const(options));
  if (!notes.errors.empty()) return std::unexpected(TakeLast(session, std::move(notes.errors)));
  PrintWarnings(session, notes.warnings);
  return result;
}

// Whether what ran was judged; nothing of assembly that somebody wrote.
void PrintStanding(const Session& session, tri::Standing standing);
std::string_view StandingName(tri::Standing standing);
// "1, 2, 3"
std::string PrintElements(const std::vector<uint64_t>& elements);
// The nine heights, by the tables' names.
nlohmann::ordered_json HeightsJson(const mt::TableProfile& profile);
// The crash as a sentence, with the line of the source, and its exit code (tri_crash.cpp).
int ReportCrash(const Session& session, const tri::CrashReport& report,
                nlohmann::ordered_json json);
// What the next cliffs cost (tri_cliff.cpp).
void PrintCliff(const Session& session, const mt::CliffReport& report);
nlohmann::ordered_json CliffJson(const mt::CliffReport& report);

// tri_run.cpp, tri_build.cpp, tri_prove.cpp, tri_profile.cpp, tri_source.cpp: each adds its commands to `tri`.
void AddTriBuild(CLI::App& tri, Session& session);
void AddTriRun(CLI::App& tri, Session& session);
void AddTriProve(CLI::App& tri, Session& session);
void AddTriProfile(CLI::App& tri, Session& session);
void AddTriSource(CLI::App& tri, Session& session);

}  // namespace frazil::cli
