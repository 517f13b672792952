// Planted miscompiles: does the judge find every one? See README.md.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "check.h"
#include "list.h"
#include "process.h"
#include "search.h"
#include "simplify.h"
#include "trial.h"

namespace frazil::mutants {
namespace {

constexpr int UsageStatus = 64;

int Usage() {
  fmt::print(
      stderr,
      "usage: mutants LISTS PROGRAMS [--jobs N] [--table] [--only N] [--share I/N] [--known FILE]\n"
      "               [--salt WORD]\n"
      "       mutants LISTS PROGRAMS --search [--jobs N] [--from N] [--to N] [--all]\n"
      "               [--inputs N] [--forms N] [--most-forms N] [--seconds N]\n"
      "       mutants LISTS PROGRAMS --simplify [--jobs N]\n"
      "The first tests: every mutant is wrong, and none is admitted. The second looks for "
      "witnesses\n"
      "of the mutations that have none, or of all: inputs for each program, forms that are judged\n"
      "and forms that are tried, seconds for each mutation. The third makes witnesses simpler.\n");
  return UsageStatus;
}

int Main(int argc, char** argv) {
  LetCrash();
  std::vector<std::string> folders;
  SearchOptions search;
  CheckOptions check;
  bool searches = false, simplifies = false;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto number = [&] { return i + 1 < argc ? std::atoi(argv[++i]) : 0; };
    const auto size = [&] { return static_cast<size_t>(number()); };
    if (word == "--search") {
      searches = true;
    } else if (word == "--simplify") {
      simplifies = true;
    } else if (word == "--all") {
      search.all = true;
    } else if (word == "--known" && i + 1 < argc) {
      check.known = argv[++i];
    } else if (word == "--salt" && i + 1 < argc) {
      check.salt = argv[++i];
    } else if (word == "--table") {
      check.table = true;
    } else if (word == "--only") {
      check.only = number();
    } else if (word == "--from") {
      search.first = number();
    } else if (word == "--to") {
      search.last = number();
    } else if (word == "--jobs") {
      search.processes = check.processes = size();
    } else if (word == "--inputs") {
      search.inputs = size();
    } else if (word == "--forms") {
      search.forms = size();
    } else if (word == "--most-forms") {
      search.most_forms = size();
    } else if (word == "--seconds") {
      search.most_seconds = number();
    } else if (word == "--share" && i + 1 < argc) {
      if (std::sscanf(argv[++i], "%zu/%zu", &check.share, &check.shares) != 2 || check.shares == 0)
        return Usage();
    } else if (word.starts_with("--")) {
      return Usage();
    } else {
      folders.push_back(word);
    }
  }
  if (folders.size() != 2) return Usage();
  const Result<std::vector<Mutation>> mutations = ReadLists(folders[0]);
  const Result<Programs> programs = Programs::Read(folders[1]);
  if (!mutations || !programs) {
    fmt::print(stderr, "mutants: {}\n",
               (!mutations ? mutations.error() : programs.error()).ToString());
    return 1;
  }
  if (simplifies) return Simplify(*mutations, *programs, check.processes);
  if (searches) return Search(*mutations, *programs, search);
  return Check(*mutations, *programs, check) == 0 ? 0 : 1;
}

}  // namespace
}  // namespace frazil::mutants

int main(int argc, char** argv) { return frazil::mutants::Main(argc, argv); }
