// Kernels as typed C++ functions: a call, a launch that is refused, and a recorded sequence.
#include <iostream>
#include <vector>

#include "my_ops.hpp"

int main() {
  std::vector<float> x = {1, -2, 3}, y = {10, 20, 30};
  if (const auto status = my_ops::saxpy(2.0f, x, y); !status) {
    std::cerr << status.ToString() << "\n";
    return 1;
  }
  std::cout << y[0] << " " << y[1] << " " << y[2] << "\n";

  y.push_back(0);
  std::cout << my_ops::saxpy(2.0f, x, y).ToString() << "\n";
  y.pop_back();

  frazil::embed::Sequence step;
  if (!step.Add(my_ops::saxpy_bind(-10.0f, x, y)) || !step.Add(my_ops::relu_bind(y, y))) return 1;
  for (int i = 0; i < 3; ++i)
    if (!step.Run()) return 1;
  std::cout << y[0] << " " << y[1] << " " << y[2] << "\n";
}
