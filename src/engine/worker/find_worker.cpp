// The search, and what the installed package told about itself.
#include "engine/worker/find_worker.h"

#include <errno.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>

#include "base/system/file.h"
#include "engine/worker/package.h"

namespace frazil::engine {
namespace {

constexpr const char* ProgramName = "frazil-worker";
std::atomic<const char*> package_libexec = nullptr;

// Why a file cannot be started; empty: it can.
std::string ProblemOf(const std::string& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) return ::strerror(errno);
  if (!S_ISREG(status.st_mode)) return "not a file";
  return ::access(path.c_str(), X_OK) == 0 ? "" : ::strerror(errno);
}

class Search {
 public:
  // True: this is the one.
  bool Try(std::string path, std::string_view origin) {
    WorkerSearch::Place place{std::move(path), std::string(origin), {}};
    place.problem = ProblemOf(place.path);
    if (place.problem.empty()) found_.program = place.path;
    found_.tried.push_back(std::move(place));
    return !found_.program.empty();
  }
  bool TryIn(std::string_view folder, std::string_view origin) {
    return !folder.empty() && Try(fmt::format("{}/{}", folder, ProgramName), origin);
  }
  WorkerSearch Done() { return std::move(found_); }

 private:
  WorkerSearch found_;
};

}  // namespace

bool NotePackage(const char* libexec) {
  package_libexec = libexec;
  return true;
}

std::string WorkerSearch::Sentence() const {
  if (!program.empty()) return fmt::format("{} ({})", program, tried.back().origin);
  std::string text = fmt::format("{} was not found; tried", ProgramName);
  std::string_view between = " ";
  for (const Place& place : tried) {
    text += fmt::format("{}{} ({}: {})", between, place.path, place.origin, place.problem);
    between = ", ";
  }
  return text;
}

WorkerSearch FindWorker(const std::string& program) {
  Search search;
  if (!program.empty()) {
    search.Try(program, "the options");
    return search.Done();
  }
  if (const char* named = ::secure_getenv("FRAZIL_WORKER"); named != nullptr && *named != '\0') {
    search.Try(named, "FRAZIL_WORKER");
    return search.Done();
  }
  const char* package = package_libexec;
  if (package != nullptr && search.TryIn(package, "the installed package")) return search.Done();
  const std::string here = FolderOfThisProgram();
  if (search.TryIn(here, "beside this program")) return search.Done();
  if (!here.empty() && search.TryIn(here + "/../libexec/frazil", "near this program"))
    return search.Done();
  search.TryIn(FRAZIL_CONFIGURED_LIBEXEC, "the configured prefix");
  return search.Done();
}

}  // namespace frazil::engine
