// A Trident program from C++: its assembly with the judge's word on it, what a proof of this run will cost, and, where a
// file for it is named, the proof.
#include <cstdio>
#include <string>

#include "frazil/tri.h"

namespace tri = frazil::tri;

int main(int argc, char** argv) {
  const tri::Source source{.file = argc > 1 ? argv[1] : "examples/trident/fibonacci.tri"};
  const tri::InputTexts inputs{.input = {argc > 2 ? argv[2] : "10"}};
  const auto fail = [](const frazil::Error& error) {
    std::fprintf(stderr, "%s\n", error.ToString().c_str());
    return 1;
  };
  const auto built = tri::Build(source, inputs);
  if (!built) return fail(built.error());
  if (!built->cliff) return std::fprintf(stderr, "the program stopped\n"), 1;
  std::printf("output %s\n%s\n%s\n", std::to_string(built->trace.run.output.at(0)).c_str(),
              frazil::verify::Describe(*built->lowering).c_str(), built->cliff->Line().c_str());
  if (argc <= 3) return 0;
  const auto proof = tri::Prove(source, inputs, {.file = argv[3]});
  if (!proof) return fail(proof.error());
  std::printf("proved in %.2f s\n", proof->answer.prove_seconds);
}
