// A question in words, its exact answer, and why that may be trusted.
#include <cstdio>

#include "frazil/ask.h"

int main(int argc, char** argv) {
  const auto answer = frazil::Ask(argc > 1 ? argv[1] : "Sum 1 to 1000000");
  if (!answer) {
    std::fprintf(stderr, "%s\n", answer.error().ToString().c_str());
    return 1;
  }
  std::printf("%s%s\n%s\n", answer->canonical.c_str(), answer->text.c_str(),
              frazil::DescribeEvidence(answer->evidence.lowering).c_str());
}
