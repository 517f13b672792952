// The WASM reader on anything.
#include <string_view>

#include "base/check.h"
#include "targets/wasm/wasm.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace frazil;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Result<std::string> wat = targets::wasm::PrintWat(bytes);
  if (!wat) CHECK(ClassOf(wat.error().diag) != ErrorClass::Internal);
  (void)targets::wasm::FunctionBody(bytes, "main");
  return 0;
}
