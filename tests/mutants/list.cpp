// schemata.py reads the same lines when the mutated sources are made, and is the one to complain about them.
#include "list.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "mutants/selected.h"

namespace frazil::mutants {

Result<std::vector<Mutation>> ReadLists(const std::string& folder) {
  std::vector<Mutation> mutations;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".mutants") continue;
    std::ifstream list(entry.path());
    std::string file;
    for (std::string line; std::getline(list, line);) {
      const size_t start = line.find_first_not_of(' ');
      if (start == std::string::npos || line[start] == '#') continue;
      if (line.starts_with("file ")) {
        file = line.substr(5);
      } else if (start == 0) {
        const size_t space = line.find(' ');
        if (space == std::string::npos || mutations.size() + 1 >= MostMutants)
          return Fail(Diag::BadUsage, fmt::format("{}: {}", entry.path().string(), line));
        mutations.push_back({std::atoi(line.c_str()), line.substr(space + 1), file, {}, {}, {}});
      } else if (!mutations.empty() && line.size() > start + 2) {
        const std::string rest = line.substr(start + 2);
        if (line[start] == '-') mutations.back().old_text = rest;
        if (line[start] == '+') mutations.back().new_text = rest;
        if (line[start] == '=') mutations.back().witness = rest;
      }
    }
  }
  std::ranges::sort(mutations, {}, &Mutation::number);
  return mutations;
}

}  // namespace frazil::mutants
