// A loop that gets fast by itself: the first calls are interpreted, the last ones are compiled code.
#include <cstdio>
#include <vector>

#include "frazil/frazil.h"

int main(int argc, char** argv) {
  frazil::Engine engine;
  auto horner =
      engine.Load(frazil::Program::Read(argc > 1 ? argv[1] : "examples/horner.frz").value())
          .value();
  std::vector<float> x(4096, 0.5f), y(4096, 0.0f);
  for (int i = 0; i < 200000; ++i) horner(int64_t{4096}, frazil::Buffer(x), frazil::Buffer(y));
  std::printf("y[0] = %g\n%s", y[0], horner.why().c_str());
}
