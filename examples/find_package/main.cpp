// Loads a program, calls it until compiled code answers, and prints the answer and why it may be trusted.
#include <frazil/frazil.h>

#include <cstdlib>
#include <iostream>

constexpr const char* Sum = R"(frz 1

// 1 + 2 + ... + n
func @main(%n: i64) -> (i64) {
  %zero = const 0 : i64
  %one = const 1 : i64
  %end = add %n, %one : i64
  %sum = for %i = %one to %end step 1 carry (%acc = %zero) {
    %next = add %acc, %i : i64
    yield %next
  }
  return %sum
}
)";

int main(int argc, char** argv) {
  frazil::Engine engine;
  auto sum = engine.Load(Sum);
  if (!sum) {
    std::cerr << sum.error().ToString() << "\n";
    return 1;
  }
  const int64_t n = argc > 1 ? std::atoll(argv[1]) : 10;
  frazil::Outcome outcome = (*sum)(n);
  for (int i = 0; i < 100'000 && outcome; ++i) outcome = (*sum)(n);
  engine.Settle(20'000);  // only to show the end of it: a program need not wait
  if (!outcome) {
    std::cerr << outcome.error() << "\n";
    return 1;
  }
  std::cout << outcome.get<int64_t>() << "\n" << sum->why();
}
