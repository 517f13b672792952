// A Trident program with all that is said about it; sources.h is for who wants the program alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "frontends/trident/trident.h"

namespace frazil::sources {

struct TridentOptions {
  frontends::trident::Options build;
  std::vector<std::string> search;  // folders with more modules
};

// Every error and warning of a text, in order.
struct TridentNotes {
  std::vector<Error> errors;
  std::vector<Error> warnings;
  std::vector<std::string> files;  // where each function is written
};

// Modules are looked for beside `path`. The error is the last of `notes.errors`, if there are any there.
Result<ir::Program> ParseTrident(const std::string& path, std::string_view text,
                                 const TridentOptions& options, TridentNotes& notes);

}  // namespace frazil::sources
