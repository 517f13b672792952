// A fuzz target for the test of fuzz_seeds.cpp itself: sound, unless it is told to trap on an input that
// only a mutation can make (the unchanged corpus file is larger than the first input and never odd there).
#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool crash = std::getenv("FUZZ_SELFTEST_CRASH") != nullptr;
  static const size_t first_size = size;
  if (crash && size > 0 && size != first_size && data[size - 1] == '\n') __builtin_trap();
  return 0;
}
