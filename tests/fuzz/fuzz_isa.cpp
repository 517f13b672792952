// The assembler on any text: refused with a place, or a module that is printed and assembled again the same.
#include <string_view>

#include "base/check.h"
#include "machines/simt/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace frazil;
  using namespace frazil::machines::simt;
  Result<Module> module = Assemble({reinterpret_cast<const char*>(data), size});
  if (!module) {
    CHECK(!module.error().message.empty());
    return 0;
  }
  Result<Module> again = Assemble(Print(*module));
  CHECK(again.has_value() && again->bytes == module->bytes);
  return 0;
}
