// Reads a program from text, runs it with the reference interpreter and prints the answer.
#include <cstdlib>
#include <iostream>

#include "exec/interpreter.h"
#include "ir/text.h"

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
  using namespace frazil;
  const auto program = ir::ParseText(Sum);
  if (!program) {
    std::cerr << program.error().ToString() << "\n";
    return 1;
  }
  const int64_t n = argc > 1 ? std::atoll(argv[1]) : 10;
  const exec::Value arguments[] = {exec::Value::Int(ir::types::I64, n)};
  const auto outcome = exec::Interpret(*program, arguments);
  if (!outcome || outcome->trap) {
    std::cerr << (outcome ? outcome->trap->ToString() : outcome.error().ToString()) << "\n";
    return 1;
  }
  std::cout << exec::PrintValue(outcome->results[0]) << "\n";
}
