// The second process of a user: asks the worker's file who would make code today, opens the store, readmits one form, maps
// it and calls it once.
//   first_call DIRECTORY NUMBER      prints the microseconds since main began
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "exec/native/native_code.h"
#include "exec/native/native_toolchain.h"
#include "sample_form.h"

int main(int argc, char** argv) {
  using namespace frazil;
  const auto start = std::chrono::steady_clock::now();
  if (argc != 3) return 2;
  const std::string self = argv[0];
  if (exec::NativeToolchainOf(self.substr(0, self.rfind('/')) + "/frazil-worker").empty()) return 6;
  store::StoreOptions options;
  options.directory = argv[1];
  const auto store = store::Store::Open(options);
  const auto form = store->FindVerified(bench::SampleKey(std::strtoull(argv[2], nullptr, 10)), {});
  if (!form) return 3;
  const auto code = exec::NativeCode::Map(*exec::ParseImage((*form)->payload));
  if (!code) return 4;
  const uint64_t arguments[] = {40, 2};
  uint64_t result = 0;
  if ((*code)->entry()(arguments, &result, nullptr) != 0 || result != 42) return 5;
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  std::printf("%.1f\n", took.count());
  return 0;
}
