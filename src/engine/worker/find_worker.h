// Where frazil-worker is looked for. In this order, and the first that can be started is taken:
//
//   1. the path that the caller's options name    (then nothing else is tried)
//   2. the path in $FRAZIL_WORKER                 (then nothing else is tried)
//   3. libexec/frazil of the installed package that the program was built with, as find_package(frazil) found it
//   4. beside the running program, then ../libexec/frazil from there
//   5. libexec/frazil of the prefix that this library was configured for
#pragma once

#include <string>
#include <vector>

namespace frazil::engine {

struct WorkerSearch {
  struct Place {
    std::string path;
    std::string origin;   // who says so: "FRAZIL_WORKER", "the installed package", ...
    std::string problem;  // why it cannot be used; empty: this is the one
  };
  std::string program;       // empty: there is none
  std::vector<Place> tried;  // in order; what was found is the last one

  // For people: where it was found, or that it was not, with every path that was tried.
  std::string Sentence() const;
};

// `program`: what the options name; empty: nothing. Looks anew at each call; a few microseconds.
WorkerSearch FindWorker(const std::string& program);

}  // namespace frazil::engine
