// Words on anything: understood or refused with a place; what is understood is a well-formed program.
#include <string_view>

#include "base/check.h"
#include "frontends/words/words.h"
#include "ir/check/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace frazil;
  auto reading = frontends::words::Parse({reinterpret_cast<const char*>(data), size}, Limits());
  if (reading)
    CHECK(ir::Check(reading->program).has_value());
  else
    CHECK(ClassOf(reading.error().diag) != ErrorClass::Internal);
  return 0;
}
