// A loop that gets fast by itself: the first calls are interpreted, the last ones are compiled code.
#include <cstdio>
#include <vector>

#include "frazil/frazil.h"

int main(int argc, char** argv) {
  frazil::Engine engine;
  auto saxpy =
      engine.Load(frazil::Program::Read(argc > 1 ? argv[1] : "examples/saxpy.frz").value()).value();
  std::vector<float> x(4096, 1.0f), y(4096, 0.0f);
  for (int i = 0; i < 200000; ++i) saxpy(0.5f, int64_t{4096}, frazil::Buffer(x), frazil::Buffer(y));
  std::printf("y[0] = %g\n%s", y[0], saxpy.why().c_str());
}
