// Guards on anything: an error, or a guard that prints and reads back the same.
#include <string_view>

#include "base/check.h"
#include "ir/guard.h"
#include "ir/text/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace frazil;
  static const ir::Program program = *ir::ParseText(
      "frz 1\nfunc @main(%a: i32, %f: f32, %x: buffer<f32>, %y: buffer<f32>, %n: index) "
      "{\nreturn\n}\n");
  auto guard = ir::ParseGuard({reinterpret_cast<const char*>(data), size}, program);
  if (!guard) {
    CHECK(ClassOf(guard.error().diag) != ErrorClass::Internal);
    return 0;
  }
  std::string printed = ir::PrintGuard(*guard);
  auto again = ir::ParseGuard(printed, program);
  CHECK(again.has_value() && ir::PrintGuard(*again) == printed);
  CHECK(ir::GuardBytes(*guard) == ir::GuardBytes(*again));
  return 0;
}
