// The door of seed 001: Trident programs (.tri) -> IR.
//
// A program's entry in the IR takes no parameters and gives no results: it reads `input` and `hint` values of type field,
// and writes `output`. With RAM built-ins it has one parameter, `ram`: an inout buffer<field> (targets/tasm/tasm.h says
// what that is on the machine). A library function built on its own is an entry with its parameters and results, one IR
// parameter per leaf of its types.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "frontends/trident/syntax/ast.h"
#include "ir/program.h"

namespace frazil::frontends::trident {

// --- text <-> tree (reader) -----------------------------------------------------------------------------------
struct ReadResult {
  Module module;
  std::vector<Error>
      errors;  // all of them, in order of place; the module is whole only if there are none
  std::vector<Error>
      warnings;  // the module is whole all the same: `else if`, which is read as else { if }
};
ReadResult Read(std::string_view text, std::string_view file, const Limits& limits = {});
// The one layout (`frazil tri fmt`): comments kept, reading it again gives the same tree, formatting twice changes nothing.
std::string Format(const Module& module);

// --- modules --------------------------------------------------------------------------------------------------
// Gives a module's text by its dotted name, or nothing. The default looks beside the program's file (and up to the
// folder that the program's own name points from), then in the standard library, which is part of this library.
struct Source {
  std::string file;
  std::string text;
};
using Loader = std::function<std::optional<Source>(std::string_view module)>;
Loader DefaultLoader(std::string program_file, std::vector<std::string> search_folders = {});
std::vector<std::string> StandardModules();  // "std.hash", ...

struct Package {
  std::vector<std::unique_ptr<Module>> modules;  // the program last; what it uses before it
  std::vector<Error> warnings;                   // unused imports, what the reader had to say
};
// Reads the program and all it uses; circles and missing modules are errors. (Recursion between functions: Build.)
Result<Package> Load(std::string_view text, std::string_view file, const Loader& loader,
                     std::vector<Error>* errors, const Limits& limits = {});

// --- tree -> IR (elaborator) ------------------------------------------------------------------------------------
struct Options {
  std::string function;         // empty: `main`, else this function of the last module is the entry
  std::vector<uint64_t> sizes;  // its size arguments
  bool contracts = false;       // requires and ensures become assertions
  std::vector<std::string> cfg;  // flags that hold
  Limits limits;
};
struct Built {
  ir::Program program;
  std::vector<Error> warnings;
  std::vector<std::string> files;  // in which each function is written; empty: made by the compiler
};
// Types everything that can be typed and gives every error; IR only if there are none.
Result<Built> Build(const Package& package, const Options& options, std::vector<Error>* errors);
// Types everything and builds nothing, so modules without `main` too; gives the warnings.
Result<std::vector<Error>> CheckAll(const Package& package, const Options& options,
                                    std::vector<Error>* errors);
std::vector<std::string> Tests(
    const Package& package);  // names of #[test] functions of the last module

}  // namespace frazil::frontends::trident
